/*-------------------------------------------------------------------------
 *
 * hg_cuda_reduce_table.h
 *	  The table of groups, in which kernels find or make the group of a pair.
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
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_REDUCE_TABLE_H
#define HG_CUDA_REDUCE_TABLE_H

#include "../../src/engine/hg_hash.h"
#include "../../src/engine/hg_reduce.h"

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

#endif /* HG_CUDA_REDUCE_TABLE_H */
