/*-------------------------------------------------------------------------
 *
 * hg_cuda_reduce_kernels.h
 *	  The kernels that group matches, and the table of groups.
 *
 * ENTRIES.  Records are changed by atomics, which would queue for a group with many pairs.  So
 * each block has entries in shared memory, and adds them to the records at its end.  Group g can
 * use entry g modulo the number of entries.  It gets the entry if its pair comes first, which is
 * likely for a frequent group.  Pairs of other groups are added to the record.  An entry has
 * 32-bit numbers, where possible, which shared memory adds at once:
 *
 *	minimum, maximum	64 bits, first, for each such item
 *	owner				32 bits, the group, or HG_NO_GROUP
 *	pairs				32 bits, as a launch has less than 2^32 of them
 *	counts				32 bits, for each item
 *	sums				three times 32 bits, low first: less than 2^32 numbers of 64 bits
 *
 * CROWDS.  If many pairs of a warp are of one group, they are added up first, and one lane adds
 * their sum.  One by one, the lanes would wait for each other.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_REDUCE_KERNELS_H
#define HG_CUDA_REDUCE_KERNELS_H

#include "../../src/engine/hg_hash.h"
#include "../../src/engine/hg_reduce.h"
#include "hg_cuda_tuning.h"

/*
 * The table of groups, in which kernels find or make the group of a pair.
 *
 * Groups are numbered in the order in which they are found.  The record of group g is records[g *
 * words ..], laid out as in hg_engine.h.  A table of slots maps the hash of the keys to the
 * number, with linear probing.  A slot is
 *
 *	0						empty
 *	1						busy: being filled; a thread that meets it reads it again
 *	tag, number				the high half is 31 bits of the hash and a set bit
 *
 * The thread that turns an empty slot busy takes the next number, writes the record, and then the
 * slot, so that a thread that reads the slot finds the record.  No number is left if the slots
 * would be more than half full or there would be too many groups.  Then the thread empties the
 * slot again, and its pair is left over for a launch with a larger table.
 */

/* The type that atomics take. */
typedef unsigned long long HgAtomicWord;

constexpr HgAtomicWord HG_SLOT_EMPTY = 0;
constexpr HgAtomicWord HG_SLOT_BUSY = 1;
constexpr uint32_t HG_SLOT_TAG = UINT32_C(1) << 31;

/* No group: the pair is left over, or there is no pair. */
constexpr uint32_t HG_NO_GROUP = UINT32_MAX;

/* A column of a side in device memory, by position. */
struct HgReduceValues
{
	const void *values;
	const uint8_t *nulls; /* NULL if no value is NULL */
	uint8_t width;
	bool is_signed;
	uint8_t side;
};

/* An item, the index of its part in a record, and in an entry of a block in 32-bit words. */
struct HgReduceField
{
	HgReduceValues argument;
	uint8_t kind; /* HgReduceKind */
	uint8_t word;
	uint8_t count; /* in the entry: index of the count */
	uint8_t value; /* in the entry: index of the sum, minimum or maximum */
};

/* Parameters of the kernels.  Arrays are in device memory. */
struct HgReduceTask
{
	uint32_t nkeys;
	uint32_t nitems;
	uint32_t words;
	HgReduceValues keys[HG_MAX_REDUCE_KEYS];
	HgReduceField items[HG_MAX_REDUCE_ITEMS];

	HgAtomicWord *slots;
	uint64_t slot_mask;
	HgAtomicWord *records;
	uint64_t limit;			/* upper bound on the numbers of groups, exclusive */
	uint64_t made;			/* groups of earlier launches, whose records are complete */
	HgAtomicWord *counters; /* [2] numbers taken, which may exceed limit; pairs left over */

	uint32_t entries; /* entries of a block */
	uint32_t entry_words;
	uint32_t entry_owner; /* index of owner and pairs in an entry, in 32-bit words */
	uint32_t entry_pairs;

	const uint32_t *outer; /* by pair */
	const uint32_t *inner;
	const uint32_t *selection; /* [count] pairs, or NULL: 0 .. count - 1 */
	uint32_t *pending;		   /* [count] pairs left over */
	uint32_t count;
};

/* Returns the initial value of a minimum or maximum. */
__host__ __device__ __forceinline__ uint64_t
hg_reduce_neutral(uint32_t kind, bool is_signed)
{
	if (kind == HG_REDUCE_MIN)
		return is_signed ? (uint64_t) INT64_MAX : UINT64_MAX;
	return is_signed ? (uint64_t) INT64_MIN : 0;
}

/* Sets *value to a row's value, widened.  Returns true if it is NULL. */
__device__ __forceinline__ bool
hg_reduce_load(const HgReduceValues &column, uint32_t outer, uint32_t inner, uint64_t *value)
{
	const uint32_t row = column.side == HG_OUTER ? outer : inner;

	switch (column.width)
	{
		case 1:
			*value = column.is_signed
						 ? (uint64_t) (int64_t) static_cast<const int8_t *>(column.values)[row]
						 : static_cast<const uint8_t *>(column.values)[row];
			break;
		case 2:
			*value = column.is_signed
						 ? (uint64_t) (int64_t) static_cast<const int16_t *>(column.values)[row]
						 : static_cast<const uint16_t *>(column.values)[row];
			break;
		case 4:
			*value = column.is_signed
						 ? (uint64_t) (int64_t) static_cast<const int32_t *>(column.values)[row]
						 : static_cast<const uint32_t *>(column.values)[row];
			break;
		default:
			*value = static_cast<const uint64_t *>(column.values)[row];
	}
	return column.nulls != nullptr && column.nulls[row] != 0;
}

/* The first words of a record: keys, and a bit for each NULL key. */
struct HgReduceHead
{
	uint64_t keys[HG_MAX_REDUCE_KEYS]; /* 0 behind the last, and if NULL */
	uint64_t nulls;
};

/* Returns the hash of a group's keys. */
__device__ __forceinline__ uint64_t
hg_reduce_hash(const HgReduceHead &head)
{
	uint64_t hash = head.nulls;

#pragma unroll
	for (int k = 0; k < HG_MAX_REDUCE_KEYS; k++)
		hash = hg_mix64(hash ^ head.keys[k]) + UINT64_C(0x9E3779B97F4A7C15);
	return hash;
}

/* Reads the head of a group's record.  Another thread may have written it, but is done. */
__device__ __forceinline__ HgReduceHead
hg_reduce_head_of(const HgReduceTask &task, uint64_t group)
{
	const volatile HgAtomicWord *record = task.records + group * task.words;
	HgReduceHead head;

#pragma unroll
	for (int k = 0; k < HG_MAX_REDUCE_KEYS; k++)
		head.keys[k] = k < (int) task.nkeys ? record[k] : 0;
	head.nulls = record[task.nkeys];
	return head;
}

/* Returns true if two groups are the same. */
__device__ __forceinline__ bool
hg_reduce_same(const HgReduceHead &a, const HgReduceHead &b)
{
	bool same = a.nulls == b.nulls;

#pragma unroll
	for (int k = 0; k < HG_MAX_REDUCE_KEYS; k++)
		same = same && a.keys[k] == b.keys[k];
	return same;
}

/* Writes the record of a new group, without pairs. */
__device__ __forceinline__ void
hg_reduce_write_record(const HgReduceTask &task, const HgReduceHead &head, uint64_t group)
{
	HgAtomicWord *record = task.records + group * task.words;

#pragma unroll
	for (int k = 0; k < HG_MAX_REDUCE_KEYS; k++)
		if (k < (int) task.nkeys)
			record[k] = head.keys[k];
	record[task.nkeys] = head.nulls;
	record[task.nkeys + 1] = 0;
	for (uint32_t i = 0; i < task.nitems; i++)
	{
		const HgReduceField &item = task.items[i];

		record[item.word] = 0;
		if (item.kind == HG_REDUCE_SUM)
			record[item.word + 1] = record[item.word + 2] = 0;
		else if (item.kind != HG_REDUCE_COUNT)
			record[item.word + 1] = hg_reduce_neutral(item.kind, item.argument.is_signed);
	}
}

/* Returns the group of a pair, made if it is new, or HG_NO_GROUP if its number would be limit. */
__device__ __forceinline__ uint32_t
hg_reduce_find(const HgReduceTask &task, uint32_t outer, uint32_t inner)
{
	HgReduceHead head;
	uint64_t hash;
	uint32_t tag;

	if (task.nkeys == 0)
		return 0;
	head.nulls = 0;
#pragma unroll
	for (int k = 0; k < HG_MAX_REDUCE_KEYS; k++)
	{
		head.keys[k] = 0;
		if (k < (int) task.nkeys && hg_reduce_load(task.keys[k], outer, inner, &head.keys[k]))
		{
			head.keys[k] = 0;
			head.nulls |= UINT64_C(1) << k;
		}
	}
	hash = hg_reduce_hash(head);
	tag = (uint32_t) (hash >> 32) | HG_SLOT_TAG;

	for (uint64_t at = hash & task.slot_mask;;)
	{
		HgAtomicWord *slot = task.slots + at;
		HgAtomicWord state = *(volatile HgAtomicWord *) slot;

		if (state == HG_SLOT_EMPTY)
		{
			if (*(volatile HgAtomicWord *) task.counters >= task.limit)
				return HG_NO_GROUP;
			state = atomicCAS(slot, HG_SLOT_EMPTY, HG_SLOT_BUSY);
			if (state == HG_SLOT_EMPTY)
			{
				HgAtomicWord group = atomicAdd(task.counters, (HgAtomicWord) 1);

				if (group >= task.limit)
				{
					atomicExch(slot, HG_SLOT_EMPTY);
					return HG_NO_GROUP;
				}
				hg_reduce_write_record(task, head, group);
				__threadfence();
				atomicExch(slot, (HgAtomicWord) tag << 32 | group);
				return (uint32_t) group;
			}
		}
		if (state == HG_SLOT_BUSY)
			continue;
		if ((uint32_t) (state >> 32) == tag)
		{
			/* a record of this launch was written before its slot: read it after the slot */
			if ((uint32_t) state >= task.made)
				__threadfence();
			if (hg_reduce_same(hg_reduce_head_of(task, (uint32_t) state), head))
				return (uint32_t) state;
		}
		at = (at + 1) & task.slot_mask;
	}
}

/* ------------------------------------------------------------------------
 * Adding up
 * ------------------------------------------------------------------------ */

/* A partial result of an item: count, and 128-bit sum, or the minimum or maximum in low. */
struct HgReducePart
{
	uint32_t count;
	uint64_t low;
	uint64_t high;
};

/* Returns the lesser of a and b if kind is HG_REDUCE_MIN, else the greater. */
__device__ __forceinline__ uint64_t
hg_reduce_better(uint32_t kind, bool is_signed, uint64_t a, uint64_t b)
{
	bool less = is_signed ? (int64_t) a < (int64_t) b : a < b;

	return less == (kind == HG_REDUCE_MIN) ? a : b;
}

/* Adds other to *part. */
__device__ __forceinline__ void
hg_reduce_join(const HgReduceField &item, HgReducePart *part, const HgReducePart &other)
{
	part->count += other.count;
	if (item.kind == HG_REDUCE_SUM)
	{
		part->low += other.low;
		part->high += other.high + (part->low < other.low);
	}
	else
		part->low = hg_reduce_better(item.kind, item.argument.is_signed, part->low, other.low);
}

/* Returns an item's part of one pair: an empty one if there is no pair, or the value is NULL. */
__device__ __forceinline__ HgReducePart
hg_reduce_part_of(const HgReduceField &item, bool is_pair, uint32_t outer, uint32_t inner)
{
	HgReducePart part;
	uint64_t value;

	part.count = 0;
	part.high = 0;
	part.low =
		item.kind == HG_REDUCE_SUM ? 0 : hg_reduce_neutral(item.kind, item.argument.is_signed);
	if (is_pair && !hg_reduce_load(item.argument, outer, inner, &value))
	{
		part.count = 1;
		part.low = value;
		if (item.kind == HG_REDUCE_SUM && item.argument.is_signed && (int64_t) value < 0)
			part.high = UINT64_MAX;
	}
	return part;
}

/* Updates a minimum or maximum, in memory of either kind, by a value. */
__device__ __forceinline__ void
hg_reduce_improve(const HgReduceField &item, HgAtomicWord *target, uint64_t value)
{
	if (item.argument.is_signed)
	{
		long long *number = reinterpret_cast<long long *>(target);

		if (item.kind == HG_REDUCE_MIN)
			atomicMin(number, (long long) value);
		else
			atomicMax(number, (long long) value);
	}
	else if (item.kind == HG_REDUCE_MIN)
		atomicMin(target, (HgAtomicWord) value);
	else
		atomicMax(target, (HgAtomicWord) value);
}

/* Adds a part to a record. */
__device__ __forceinline__ void
hg_reduce_add_to_record(const HgReduceField &item, HgAtomicWord *record, const HgReducePart &part)
{
	HgAtomicWord *words = record + item.word;

	if (part.count == 0)
		return;
	atomicAdd(words, (HgAtomicWord) part.count);
	if (item.kind == HG_REDUCE_SUM)
	{
		uint64_t before = atomicAdd(words + 1, (HgAtomicWord) part.low);
		uint64_t high = part.high + (before + part.low < before);

		if (high != 0)
			atomicAdd(words + 2, (HgAtomicWord) high);
	}
	/* most of the time there is nothing to improve */
	else if (item.kind != HG_REDUCE_COUNT &&
			 hg_reduce_better(item.kind, item.argument.is_signed,
							  *(volatile HgAtomicWord *) (words + 1), part.low) == part.low)
		hg_reduce_improve(item, words + 1, part.low);
}

/* Adds a part to an entry. */
__device__ __forceinline__ void
hg_reduce_add_to_entry(const HgReduceField &item, uint32_t *entry, const HgReducePart &part)
{
	if (part.count == 0)
		return;
	atomicAdd(entry + item.count, part.count);
	if (item.kind == HG_REDUCE_SUM)
	{
		const uint32_t limbs[2] = {(uint32_t) part.low, (uint32_t) (part.low >> 32)};
		uint32_t high = (uint32_t) part.high;
		uint32_t carry = 0;

#pragma unroll
		for (int i = 0; i < 2; i++)
		{
			const uint32_t limb = limbs[i] + carry;

			carry = limb < carry;
			if (limb != 0)
				carry += atomicAdd(entry + item.value + i, limb) > UINT32_MAX - limb;
		}
		high += carry;
		if (high != 0)
			atomicAdd(entry + item.value + 2, high);
	}
	else if (item.kind != HG_REDUCE_COUNT)
		hg_reduce_improve(item, reinterpret_cast<HgAtomicWord *>(entry + item.value), part.low);
}

/* Returns an entry's part of an item. */
__device__ __forceinline__ HgReducePart
hg_reduce_part_of_entry(const HgReduceField &item, const uint32_t *entry)
{
	HgReducePart part;

	part.count = entry[item.count];
	part.low = part.high = 0;
	if (item.kind == HG_REDUCE_SUM)
	{
		part.low = (uint64_t) entry[item.value + 1] << 32 | entry[item.value];
		part.high = (uint64_t) (int64_t) (int32_t) entry[item.value + 2];
	}
	else if (item.kind != HG_REDUCE_COUNT)
		part.low = *reinterpret_cast<const HgAtomicWord *>(entry + item.value);
	return part;
}

/* Returns the entry of a group, or NULL if another group has it. */
__device__ __forceinline__ uint32_t *
hg_reduce_entry_of(const HgReduceTask &task, uint32_t *entries, uint32_t group)
{
	uint32_t *entry = entries + group % task.entries * task.entry_words;
	const uint32_t owner = atomicCAS(entry + task.entry_owner, HG_NO_GROUP, group);

	return owner == HG_NO_GROUP || owner == group ? entry : nullptr;
}

/* Add a number of pairs, and an item's part, to the entry, or to the record if entry is NULL. */
__device__ __forceinline__ void
hg_reduce_add_pairs(const HgReduceTask &task, uint32_t *entry, uint32_t group, uint32_t pairs)
{
	if (entry != nullptr)
		atomicAdd(entry + task.entry_pairs, pairs);
	else
		atomicAdd(task.records + (uint64_t) group * task.words + task.nkeys + 1,
				  (HgAtomicWord) pairs);
}

__device__ __forceinline__ void
hg_reduce_add_part(const HgReduceTask &task, uint32_t *entry, uint32_t group,
				   const HgReduceField &item, const HgReducePart &part)
{
	if (entry != nullptr)
		hg_reduce_add_to_entry(item, entry, part);
	else
		hg_reduce_add_to_record(item, task.records + (uint64_t) group * task.words, part);
}

/* Adds a pair to its group. */
__device__ __forceinline__ void
hg_reduce_add_pair(const HgReduceTask &task, uint32_t *entries, uint32_t group, uint32_t outer,
				   uint32_t inner)
{
	uint32_t *entry = hg_reduce_entry_of(task, entries, group);

	hg_reduce_add_pairs(task, entry, group, 1);
	for (uint32_t i = 0; i < task.nitems; i++)
		hg_reduce_add_part(task, entry, group, task.items[i],
						   hg_reduce_part_of(task.items[i], true, outer, inner));
}

/* Returns the sum of the parts of all lanes of a warp, to each of them. */
__device__ __forceinline__ HgReducePart
hg_reduce_join_warp(const HgReduceField &item, HgReducePart part)
{
#pragma unroll
	for (int distance = 16; distance > 0; distance /= 2)
	{
		HgReducePart other;

		other.count = __shfl_xor_sync(UINT32_MAX, part.count, distance);
		other.low = __shfl_xor_sync(UINT32_MAX, part.low, distance);
		other.high = __shfl_xor_sync(UINT32_MAX, part.high, distance);
		hg_reduce_join(item, &part, other);
	}
	return part;
}

/* Adds the pairs of a crowd, a mask of lanes, to their group.  All threads of the warp call it. */
__device__ __forceinline__ void
hg_reduce_add_crowd(const HgReduceTask &task, uint32_t *entries, uint32_t crowd, uint32_t group,
					uint32_t outer, uint32_t inner)
{
	const uint32_t lane = threadIdx.x % 32;
	const bool is_one = (crowd >> lane & 1) != 0;
	uint32_t *entry = nullptr;

	if (lane == 0)
	{
		entry = hg_reduce_entry_of(task, entries, group);
		hg_reduce_add_pairs(task, entry, group, (uint32_t) __popc(crowd));
	}
	for (uint32_t i = 0; i < task.nitems; i++)
	{
		const HgReduceField &item = task.items[i];
		const HgReducePart part =
			hg_reduce_join_warp(item, hg_reduce_part_of(item, is_one, outer, inner));

		if (lane == 0)
			hg_reduce_add_part(task, entry, group, item, part);
	}
}

/* ------------------------------------------------------------------------
 * Kernels
 * ------------------------------------------------------------------------ */

/* Makes the only group of a task without keys; one thread. */
static __global__ void
hg_reduce_first_kernel(HgReduceTask task)
{
	HgReduceHead head = {};

	hg_reduce_write_record(task, head, 0);
	task.counters[0] = 1;
}

/* Fills empty slots with groups 0 .. groups - 1, and sets counters[0] to groups. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS) hg_reduce_slots_kernel(HgReduceTask task, uint64_t groups)
{
	const uint64_t group = (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	uint64_t hash;
	HgAtomicWord state;

	if (group == 0)
		task.counters[0] = groups;
	if (group >= groups)
		return;
	hash = hg_reduce_hash(hg_reduce_head_of(task, group));
	state = (HgAtomicWord) ((uint32_t) (hash >> 32) | HG_SLOT_TAG) << 32 | group;
	for (uint64_t at = hash & task.slot_mask;
		 atomicCAS(task.slots + at, HG_SLOT_EMPTY, state) != HG_SLOT_EMPTY;
		 at = (at + 1) & task.slot_mask)
		;
}

/* Adds pairs to their groups, in any number of blocks, with entries in shared memory. */
static __global__ void
__launch_bounds__(HG_REDUCE_THREADS) hg_reduce_kernel(HgReduceTask task)
{
	extern __shared__ __align__(16) unsigned char hg_reduce_shared[];
	uint32_t *entries = reinterpret_cast<uint32_t *>(hg_reduce_shared);

	for (uint32_t i = threadIdx.x; i < task.entries * task.entry_words; i += HG_REDUCE_THREADS)
		entries[i] = 0;
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < task.entries; i += HG_REDUCE_THREADS)
	{
		uint32_t *entry = entries + i * task.entry_words;

		entry[task.entry_owner] = HG_NO_GROUP;
		for (uint32_t k = 0; k < task.nitems; k++)
		{
			const HgReduceField &item = task.items[k];

			if (item.kind == HG_REDUCE_MIN || item.kind == HG_REDUCE_MAX)
				*reinterpret_cast<HgAtomicWord *>(entry + item.value) =
					hg_reduce_neutral(item.kind, item.argument.is_signed);
		}
	}
	__syncthreads();

	for (uint32_t first = blockIdx.x * HG_REDUCE_THREADS; first < task.count;
		 first += gridDim.x * HG_REDUCE_THREADS)
	{
		const uint32_t i = first + threadIdx.x;
		uint32_t group = HG_NO_GROUP;
		uint32_t outer = 0;
		uint32_t inner = 0;
		uint32_t peers;
		uint32_t crowded;

		if (i < task.count)
		{
			const uint32_t pair = task.selection != nullptr ? task.selection[i] : i;

			outer = task.outer[pair];
			inner = task.inner[pair];
			group = hg_reduce_find(task, outer, inner);
			if (group == HG_NO_GROUP)
				task.pending[atomicAdd(task.counters + 1, (HgAtomicWord) 1)] = pair;
		}

		peers = __match_any_sync(UINT32_MAX, group);
		crowded =
			__ballot_sync(UINT32_MAX, group != HG_NO_GROUP && __popc(peers) >= HG_REDUCE_CROWD);
		/* a crowd is added by another lane than those that have seen the group's record */
		__syncwarp();
		for (uint32_t left = crowded; left != 0;)
		{
			const int lane = __ffs((int) left) - 1;
			const uint32_t crowd = __shfl_sync(UINT32_MAX, peers, lane);

			hg_reduce_add_crowd(task, entries, crowd, __shfl_sync(UINT32_MAX, group, lane), outer,
								inner);
			left &= ~crowd;
		}
		if (group != HG_NO_GROUP && (crowded >> threadIdx.x % 32 & 1) == 0)
			hg_reduce_add_pair(task, entries, group, outer, inner);
	}

	__syncthreads();
	for (uint32_t i = threadIdx.x; i < task.entries; i += HG_REDUCE_THREADS)
	{
		const uint32_t *entry = entries + i * task.entry_words;
		const uint32_t group = entry[task.entry_owner];
		HgAtomicWord *record;

		if (group == HG_NO_GROUP)
			continue;
		record = task.records + (uint64_t) group * task.words;
		atomicAdd(record + task.nkeys + 1, (HgAtomicWord) entry[task.entry_pairs]);
		for (uint32_t k = 0; k < task.nitems; k++)
			hg_reduce_add_to_record(task.items[k], record,
									hg_reduce_part_of_entry(task.items[k], entry));
	}
}

#endif /* HG_CUDA_REDUCE_KERNELS_H */
