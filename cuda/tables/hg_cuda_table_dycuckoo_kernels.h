/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dycuckoo_kernels.h
 *	  DyCuckoo tables in device memory, and the kernels that read them and resize subtables.
 *
 * A bucket has HG_DY_BUCKET_BYTES, and HG_DY_LANES lanes of a warp read it, 16 bytes each.  Each
 * lane has its own key.  The lanes of a group read the buckets of all their keys, one key after
 * the other, with all loads in flight at the same time.
 *
 * Slots is HgDySlots of a word and whether there are rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_DYCUCKOO_KERNELS_H
#define HG_CUDA_TABLE_DYCUCKOO_KERNELS_H

#include "hg_cuda_table_slots.h"

constexpr uint32_t HG_DY_BUCKET_BYTES = 64;
constexpr uint32_t HG_DY_LANES = HG_DY_BUCKET_BYTES / 16;
constexpr int HG_DY_THREADS = 256;

/* Pairs of subtables. */
constexpr uint32_t HG_DY_PAIRS = HG_TABLE_MAX_SUBTABLES * (HG_TABLE_MAX_SUBTABLES - 1) / 2;

/* A lock that is free: memory is filled with it. */
constexpr uint32_t HG_DY_UNLOCKED = UINT32_MAX;

/* 1 / HG_DY_LAST of the slots of a first bucket are taken after those of the second. */
constexpr uint32_t HG_DY_LAST = 4;

/*
 * Blocks of the insert kernel on a multiprocessor.  A launch that changes the table has at most as
 * many blocks as fit 132 multiprocessors, since each adds its counts once to shared counters.
 */
constexpr int HG_DY_PUT_BLOCKS = 4;
constexpr unsigned HG_DY_CHANGE_BLOCKS = 4 * 132;

/* Pairs of a full bucket whose other buckets are read together, to find one with room. */
constexpr uint32_t HG_DY_CANDIDATES = 4;

/* The slots of a bucket. */
template <typename Key, bool ROWS> struct HgDySlots : HgCudaSlots<Key, ROWS>
{
	typedef HgCudaSlots<Key, ROWS> Base;
	typedef typename Base::Slot Slot;
	typedef Key Word;
	using Base::EMPTY;
	static constexpr uint32_t COUNT = HG_DY_BUCKET_BYTES / sizeof(Slot);
	static constexpr uint32_t PIECE = 16 / sizeof(Slot); /* slots that a lane reads */

	/* Returns true if a slot has a word. */
	static __device__ __forceinline__ bool
	has(Slot slot, Word key)
	{
		return slot != EMPTY && Base::word(slot) == key;
	}

	/* Returns true if no slot can have the word: sets ignore it, maps record it beside. */
	static __device__ __forceinline__ bool
	is_odd(Word word)
	{
		if constexpr (Base::PACKED)
			return false;
		else if constexpr (Base::APART)
			return word == EMPTY;
		else
			return word >= HG_CUDA_DELETED_WORD<Word>;
	}
};

/* A subtable.  Arrays are in device memory. */
struct HgDySubtable
{
	void *slots;	/* [COUNT << log2] */
	uint32_t *rows; /* the same, if they are apart, else NULL */
	uint64_t flip;	/* its function: (word ^ flip) * factor, from bit 32 on */
	uint64_t factor;
	uint32_t mask; /* buckets - 1 */
};

/* A table, as a parameter of kernels. */
struct HgDyTable
{
	HgDySubtable subtables[HG_TABLE_MAX_SUBTABLES];
	uint64_t flip; /* the function that chooses a pair of subtables */
	uint64_t factor;
	uint32_t count;					 /* subtables */
	uint32_t pairs;					 /* pairs of subtables */
	uint32_t threshold[HG_DY_PAIRS]; /* a key that draws less prefers the first of the pair */
	uint8_t first[HG_DY_PAIRS];
	uint8_t second[HG_DY_PAIRS];
};

/* Counters of a table, in device memory. */
struct HgDyState
{
	uint32_t rows[HG_TABLE_MAX_SUBTABLES]; /* rows of each subtable */
	uint32_t odd_row;					   /* row of the key beside the slots, or empty */
	uint32_t longest_chain;
	unsigned long long evictions;

	/* set to 0 before each use */
	uint32_t left;	 /* pairs whose buckets are full */
	uint32_t next;	 /* pairs that must be tried again */
	uint32_t failed; /* of these, pairs whose chain was too long */
	uint32_t absent;
	uint32_t empty_buckets;
	uint32_t fullest_bucket;
	unsigned long long exported;
};

/* A list of pairs that kernels append to, in device memory. */
template <typename Word> struct HgDyRoom
{
	Word *words;
	uint32_t *rows;
};

/* ------------------------------------------------------------------------
 * The buckets of a key
 * ------------------------------------------------------------------------ */

/* Copies a table to shared memory, where lanes can read different subtables at a time. */
__device__ __forceinline__ void
hg_dy_share(const HgDyTable &table, HgDyTable *shared)
{
	static_assert(sizeof(HgDyTable) % sizeof(uint32_t) == 0, "copied by words");
	const uint32_t *from = reinterpret_cast<const uint32_t *>(&table);
	uint32_t *to = reinterpret_cast<uint32_t *>(shared);

	for (uint32_t i = threadIdx.x; i < sizeof(HgDyTable) / sizeof(uint32_t); i += blockDim.x)
		to[i] = from[i];
	__syncthreads();
}

/* Sets the two subtables of a word, the preferred one first. */
__device__ __forceinline__ void
hg_dy_pair(const HgDyTable &table, uint64_t word, uint32_t *first, uint32_t *second)
{
	const uint64_t drawn = (((word ^ table.flip) * table.factor) >> 32) * table.pairs;
	const uint32_t pair = (uint32_t) (drawn >> 32);
	const bool ordered = (uint32_t) drawn < table.threshold[pair];

	*first = ordered ? table.first[pair] : table.second[pair];
	*second = ordered ? table.second[pair] : table.first[pair];
}

/* Returns the first slot of a word's bucket. */
template <typename Slots>
__device__ __forceinline__ uint64_t
hg_dy_bucket(const HgDySubtable &subtable, uint64_t word)
{
	const uint32_t hash = (uint32_t) (((word ^ subtable.flip) * subtable.factor) >> 32);

	return (uint64_t) (hash & subtable.mask) * Slots::COUNT;
}

/* Returns the slots of a subtable. */
template <typename Slots>
__device__ __forceinline__ typename Slots::Slot *
hg_dy_slots(const HgDySubtable &subtable)
{
	return static_cast<typename Slots::Slot *>(subtable.slots);
}

/* ------------------------------------------------------------------------
 * Looking at buckets
 * ------------------------------------------------------------------------ */

/* Returns slot k of a lane's piece. */
template <typename Slots>
__device__ __forceinline__ typename Slots::Slot
hg_dy_piece(const uint4 &piece, int k)
{
	if constexpr (sizeof(typename Slots::Slot) == 8)
		return k == 0 ? (uint64_t) piece.y << 32 | piece.x : (uint64_t) piece.w << 32 | piece.z;
	else
		return k == 0 ? piece.x : k == 1 ? piece.y : k == 2 ? piece.z : piece.w;
}

/*
 * Reads the buckets of those lanes of a group with wanted: pieces[r] becomes this lane's piece of
 * the bucket of lane r of the group, or empty slots without wanted.  All lanes of a warp call it.
 */
__device__ __forceinline__ void
hg_dy_load(const void *bucket, bool wanted, uint4 (&pieces)[HG_DY_LANES])
{
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t base = lane & ~(HG_DY_LANES - 1);
	const uint32_t wants = __ballot_sync(UINT32_MAX, wanted) >> base;

#pragma unroll
	for (uint32_t r = 0; r < HG_DY_LANES; r++)
	{
		const uint64_t from = __shfl_sync(
			UINT32_MAX, (unsigned long long) reinterpret_cast<uintptr_t>(bucket), (int) (base + r));

		pieces[r] = make_uint4(UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX);
		if (wants >> r & 1)
			pieces[r] = __ldcg(reinterpret_cast<const uint4 *>(from) + (lane - base));
	}
}

/*
 * Returns the slot of a lane's word in its bucket, or COUNT.  *row becomes the row in the slot, if
 * any.  All lanes of a warp call it.
 */
template <typename Slots>
__device__ __forceinline__ uint32_t
hg_dy_match(const uint4 (&pieces)[HG_DY_LANES], typename Slots::Word word, uint32_t *row)
{
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t base = lane & ~(HG_DY_LANES - 1);
	uint32_t at = Slots::COUNT;

#pragma unroll
	for (uint32_t r = 0; r < HG_DY_LANES; r++)
	{
		const typename Slots::Word wanted = __shfl_sync(UINT32_MAX, word, (int) (base + r));
		uint32_t mine = Slots::PIECE;
		uint32_t its_row = 0;

#pragma unroll
		for (uint32_t k = 0; k < Slots::PIECE; k++)
			if (Slots::has(hg_dy_piece<Slots>(pieces[r], k), wanted))
			{
				mine = k;
				its_row = Slots::row(hg_dy_piece<Slots>(pieces[r], k));
			}

		const uint32_t met =
			__ballot_sync(UINT32_MAX, mine < Slots::PIECE) >> base & ((1u << HG_DY_LANES) - 1);
		const uint32_t who = met != 0 ? __ffs((int) met) - 1 : 0;

		mine = __shfl_sync(UINT32_MAX, mine, (int) (base + who));
		its_row = __shfl_sync(UINT32_MAX, its_row, (int) (base + who));
		if (met != 0 && lane - base == r)
		{
			at = who * Slots::PIECE + mine;
			*row = its_row;
		}
	}
	return at;
}

/* Returns the slot of a bucket that a bit of a set of slots, as of hg_dy_empties(), stands for. */
template <typename Slots>
__device__ __forceinline__ uint32_t
hg_dy_slot_of(uint32_t bit)
{
	return bit % HG_DY_LANES * Slots::PIECE + bit / HG_DY_LANES;
}

/* Returns the set of empty slots of a lane's bucket.  All lanes of a warp call it. */
template <typename Slots>
__device__ __forceinline__ uint32_t
hg_dy_empties(const uint4 (&pieces)[HG_DY_LANES])
{
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t base = lane & ~(HG_DY_LANES - 1);
	uint32_t empties = 0;

#pragma unroll
	for (uint32_t r = 0; r < HG_DY_LANES; r++)
#pragma unroll
		for (uint32_t k = 0; k < Slots::PIECE; k++)
		{
			const uint32_t lanes =
				__ballot_sync(UINT32_MAX, hg_dy_piece<Slots>(pieces[r], k) == Slots::EMPTY) >>
					base &
				((1u << HG_DY_LANES) - 1);

			if (lane - base == r)
				empties |= lanes << k * HG_DY_LANES;
		}
	return empties;
}

/* Returns true if a lane's word is in its bucket.  All lanes of a warp call it. */
template <typename Slots>
__device__ __forceinline__ bool
hg_dy_is_in(const uint4 (&pieces)[HG_DY_LANES], typename Slots::Word word)
{
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t base = lane & ~(HG_DY_LANES - 1);
	bool in = false;

#pragma unroll
	for (uint32_t r = 0; r < HG_DY_LANES; r++)
	{
		const typename Slots::Word wanted = __shfl_sync(UINT32_MAX, word, (int) (base + r));
		bool mine = false;
		uint32_t lanes;

#pragma unroll
		for (uint32_t k = 0; k < Slots::PIECE; k++)
			mine |= Slots::has(hg_dy_piece<Slots>(pieces[r], k), wanted);
		lanes = __ballot_sync(UINT32_MAX, mine) >> base & ((1u << HG_DY_LANES) - 1);
		if (lane - base == r)
			in = lanes != 0;
	}
	return in;
}

/*
 * Sets the subtable and slot of a lane's word, if wanted.  Returns false if neither bucket has it.
 * All lanes of a warp call it.
 */
template <typename Slots>
__device__ __forceinline__ bool
hg_dy_look(const HgDyTable &table, typename Slots::Word word, bool wanted, uint32_t *subtable,
		   uint64_t *slot, uint32_t *row)
{
	uint4 pieces[HG_DY_LANES];
	uint32_t second;
	uint32_t at;

	hg_dy_pair(table, word, subtable, &second);
	*slot = hg_dy_bucket<Slots>(table.subtables[*subtable], word);
	hg_dy_load(hg_dy_slots<Slots>(table.subtables[*subtable]) + *slot, wanted, pieces);
	at = hg_dy_match<Slots>(pieces, word, row);
	wanted = wanted && at == Slots::COUNT;
	if (__any_sync(UINT32_MAX, wanted))
	{
		uint32_t again;

		if (wanted)
		{
			*subtable = second;
			*slot = hg_dy_bucket<Slots>(table.subtables[second], word);
		}
		hg_dy_load(hg_dy_slots<Slots>(table.subtables[*subtable]) + *slot, wanted, pieces);
		again = hg_dy_match<Slots>(pieces, word, row);
		if (wanted)
			at = again;
	}
	*slot += at;
	return at < Slots::COUNT;
}

/* What a lookup of a key answers. */
enum HgDyQuestion
{
	HG_DY_FIND,	 /* answers[i]: its row, or HG_NO_ROW */
	HG_DY_COUNT, /* answers[i]: 1, or 0 */
	HG_DY_MATCH, /* answers[offsets[i] - offsets[0]]: its row, if it has one */
	HG_DY_ABSENT /* state->absent: how many keys are not in the table */
};

/* Looks up keys first .. end - 1: see HgDyQuestion. */
template <typename Slots, HgDyQuestion QUESTION>
__global__ void
__launch_bounds__(HG_DY_THREADS)
	hg_dy_find_kernel(const __grid_constant__ HgDyTable table, const typename Slots::Word *keys,
					  uint64_t first, uint64_t end, const uint64_t *offsets, uint32_t *answers,
					  HgDyState *state)
{
	__shared__ HgDyTable shared;
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_DY_THREADS + threadIdx.x;
	typename Slots::Word word = 0;
	uint32_t subtable;
	uint64_t slot;
	uint32_t row = 0;
	bool found;

	hg_dy_share(table, &shared);
	if (i < end)
		word = hg_word_mix(keys[i]);
	found =
		hg_dy_look<Slots>(shared, word, i < end && !Slots::is_odd(word), &subtable, &slot, &row);
	if constexpr (Slots::APART)
	{
		if (found && (QUESTION == HG_DY_FIND || QUESTION == HG_DY_MATCH))
			row = shared.subtables[subtable].rows[slot];
		if (i < end && Slots::is_odd(word))
		{
			row = state->odd_row;
			found = row != HG_CUDA_EMPTY_ROW;
		}
	}
	if constexpr (QUESTION == HG_DY_ABSENT)
	{
		const uint32_t absent = __ballot_sync(UINT32_MAX, i < end && !found);

		if (threadIdx.x % 32 == 0 && absent != 0)
			atomicAdd(&state->absent, (uint32_t) __popc(absent));
	}
	else if (i < end)
	{
		if (QUESTION == HG_DY_FIND)
			answers[i] = found ? row : HG_NO_ROW;
		else if (QUESTION == HG_DY_COUNT)
			answers[i] = found;
		else if (found)
			answers[offsets[i] - offsets[0]] = row;
	}
}

/* ------------------------------------------------------------------------
 * Whole subtables: a thread a slot
 * ------------------------------------------------------------------------ */

/* Doubles a subtable: pairs of bucket b stay in bucket b, or move by the buckets of old. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DY_THREADS)
	hg_dy_double_kernel(HgDySubtable old, HgDySubtable twice, uint64_t first, uint64_t end)
{
	typedef typename Slots::Slot Slot;
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_DY_THREADS + threadIdx.x;
	const uint64_t distance = ((uint64_t) old.mask + 1) * Slots::COUNT;

	if (i < end)
	{
		const Slot slot = hg_dy_slots<Slots>(old)[i];
		const bool stays = slot == Slots::EMPTY || hg_dy_bucket<Slots>(twice, Slots::word(slot)) ==
													   i / Slots::COUNT * Slots::COUNT;

		hg_dy_slots<Slots>(twice)[i] = stays ? slot : Slots::EMPTY;
		hg_dy_slots<Slots>(twice)[i + distance] = stays ? Slots::EMPTY : slot;
		if (Slots::APART && slot != Slots::EMPTY)
			twice.rows[stays ? i : i + distance] = old.rows[i];
	}
}

/* Halves a subtable: buckets b and b + the buckets of half become one.  left gets the excess. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DY_THREADS)
	hg_dy_halve_kernel(HgDySubtable old, HgDySubtable half, uint32_t number, uint64_t first,
					   uint64_t end, HgDyRoom<typename Slots::Word> left, HgDyState *state)
{
	typedef typename Slots::Slot Slot;
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_DY_THREADS + threadIdx.x;
	const uint64_t distance = ((uint64_t) half.mask + 1) * Slots::COUNT;
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t base = lane & ~(Slots::COUNT - 1);
	const uint32_t before = (1u << (lane - base)) - 1;
	const uint32_t all = (1u << Slots::COUNT) - 1;
	uint32_t total = 0;

#pragma unroll
	for (int k = 0; k < 2; k++)
	{
		const uint64_t from = i + (k == 0 ? 0 : distance);
		const Slot slot = i < end ? hg_dy_slots<Slots>(old)[from] : Slots::EMPTY;
		const bool live = slot != Slots::EMPTY;
		const uint32_t lives = __ballot_sync(UINT32_MAX, live) >> base & all;
		const uint32_t position = total + __popc(lives & before);
		const bool over = live && position >= Slots::COUNT;
		const uint32_t row = Slots::APART && live ? old.rows[from] : Slots::row(slot);
		const uint32_t to = hg_slot_append(&state->left, over);
		const uint32_t overs = __ballot_sync(UINT32_MAX, over);

		total += __popc(lives);
		if (over)
		{
			left.words[to] = Slots::word(slot);
			if (Slots::HAS_ROWS)
				left.rows[to] = row;
		}
		else if (live)
		{
			hg_dy_slots<Slots>(half)[i - (lane - base) + position] = slot;
			if (Slots::APART)
				half.rows[i - (lane - base) + position] = row;
		}
		if (lane == 0 && overs != 0)
			atomicSub(&state->rows[number], (uint32_t) __popc(overs));
	}
	if (i < end && lane - base >= total)
		hg_dy_slots<Slots>(half)[i] = Slots::EMPTY;
}

/* Copies the pairs of slots first .. end - 1, as keys or words, behind those that are copied. */
template <typename Slots, bool KEYS>
__global__ void
__launch_bounds__(HG_DY_THREADS)
	hg_dy_export_kernel(HgDySubtable subtable, uint64_t first, uint64_t end,
						typename Slots::Word *words, uint32_t *rows, HgDyState *state)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_DY_THREADS + threadIdx.x;
	const typename Slots::Slot slot = i < end ? hg_dy_slots<Slots>(subtable)[i] : Slots::EMPTY;
	const uint32_t lives = __ballot_sync(UINT32_MAX, slot != Slots::EMPTY);
	const uint32_t lane = threadIdx.x % 32;
	unsigned long long base = 0;

	if (lane == 0 && lives != 0)
		base = atomicAdd(&state->exported, (unsigned long long) __popc(lives));
	base = __shfl_sync(UINT32_MAX, base, 0) + __popc(lives & ((1u << lane) - 1));
	if (slot != Slots::EMPTY)
	{
		words[base] = KEYS ? hg_word_unmix(Slots::word(slot)) : Slots::word(slot);
		if (rows != nullptr)
			rows[base] = Slots::APART ? subtable.rows[i] : Slots::row(slot);
	}
}

/* Copies the pair beside the slots, if there is one; one thread. */
template <typename Word>
__global__ void
hg_dy_export_odd_kernel(Word *keys, uint32_t *rows, HgDyState *state)
{
	if (state->odd_row != HG_CUDA_EMPTY_ROW)
	{
		keys[state->exported] = hg_word_unmix(HG_CUDA_EMPTY_WORD<Word>);
		if (rows != nullptr)
			rows[state->exported] = state->odd_row;
	}
}

/* Counts the empty buckets, and finds the rows of the fullest one. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DY_THREADS)
	hg_dy_describe_kernel(HgDySubtable subtable, uint64_t first, uint64_t end, HgDyState *state)
{
	__shared__ uint32_t empty;
	__shared__ uint32_t fullest;
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_DY_THREADS + threadIdx.x;
	const uint32_t base = threadIdx.x % 32 & ~(Slots::COUNT - 1);
	const bool live = i < end && hg_dy_slots<Slots>(subtable)[i] != Slots::EMPTY;
	const uint32_t length =
		__popc(__ballot_sync(UINT32_MAX, live) >> base & ((1u << Slots::COUNT) - 1));

	if (threadIdx.x == 0)
		empty = fullest = 0;
	__syncthreads();
	if (i < end && threadIdx.x % Slots::COUNT == 0)
	{
		if (length == 0)
			atomicAdd(&empty, 1u);
		atomicMax(&fullest, length);
	}
	__syncthreads();
	if (threadIdx.x == 0)
	{
		atomicAdd(&state->empty_buckets, empty);
		atomicMax(&state->fullest_bucket, fullest);
	}
}

/*
 * The kernels that change DyCuckoo tables: hg_cuda_table_dycuckoo.cu says when each runs.
 *
 * Slots is HgDySlots of a word and whether there are rows.
 */

/* Adds the lanes of a warp with each subtable to its count, which is in shared memory. */
__device__ __forceinline__ void
hg_dy_add_counts(const HgDyTable &table, uint32_t *counts, uint32_t subtable)
{
	for (uint32_t s = 0; s < table.count; s++)
	{
		const uint32_t lanes = __ballot_sync(UINT32_MAX, subtable == s);

		if (threadIdx.x % 32 == 0 && lanes != 0)
			atomicAdd(&counts[s], (uint32_t) __popc(lanes));
	}
}

/*
 * Merges sets of slots of a key's two buckets, as of hg_dy_empties(), into one set in the order in
 * which a key takes slots: most of the first bucket, where lookups search first; most of the
 * second; and the rest of both.  So buckets are full only when nearly all are.
 */
template <typename Slots>
__device__ __forceinline__ uint32_t
hg_dy_order(uint32_t first, uint32_t second)
{
	constexpr uint32_t MOST = Slots::COUNT - Slots::COUNT / HG_DY_LAST;
	constexpr uint32_t LAST = Slots::COUNT / HG_DY_LAST;
	constexpr uint32_t MASK = (1u << MOST) - 1;

	return (first & MASK) | (second & MASK) << MOST | first >> MOST << 2 * MOST |
		   second >> MOST << (2 * MOST + LAST);
}

/* Returns the slot of a bit of that set; *second: it is one of the second bucket. */
template <typename Slots>
__device__ __forceinline__ uint32_t
hg_dy_ordered(uint32_t bit, bool *second)
{
	constexpr uint32_t MOST = Slots::COUNT - Slots::COUNT / HG_DY_LAST;
	constexpr uint32_t LAST = Slots::COUNT / HG_DY_LAST;
	const bool last = bit >= 2 * MOST;
	const uint32_t at = last ? bit - 2 * MOST : bit;
	const uint32_t width = last ? LAST : MOST;

	*second = at >= width;
	return hg_dy_slot_of<Slots>((last ? MOST : 0) + (*second ? at - width : at));
}

/*
 * Inserts pair i of a list if its key is not in the table and one of its buckets has an empty
 * slot.  If both are full, it is appended to left.  Returns the subtable that it was put into, or
 * HG_TABLE_MAX_SUBTABLES.  All lanes of a warp call it.
 */
template <typename Slots, bool KEYS>
__device__ __forceinline__ uint32_t
hg_dy_put(const HgDyTable &table, const HgSlotBatch &list, uint32_t i,
		  const HgDyRoom<typename Slots::Word> &left, HgDyState *state)
{
	typedef typename Slots::Slot Slot;
	typename Slots::Word word = 0;
	uint4 pieces[2][HG_DY_LANES];
	uint32_t placed = HG_TABLE_MAX_SUBTABLES;
	uint32_t subtables[2];
	uint64_t buckets[2];
	bool wanted = i < list.count;
	bool over = false;
	uint32_t row = 0;

	if (wanted)
	{
		word = static_cast<const typename Slots::Word *>(list.keys)[i];
		if (KEYS)
			word = hg_word_mix(word);
		if (Slots::HAS_ROWS)
			row = list.rows != nullptr ? list.rows[i] : list.first_row + i;
		if (Slots::is_odd(word))
		{
			if (Slots::APART)
				atomicCAS(&state->odd_row, HG_CUDA_EMPTY_ROW, row);
			wanted = false;
		}
	}
	hg_dy_pair(table, word, &subtables[0], &subtables[1]);
#pragma unroll
	for (int k = 0; k < 2; k++)
	{
		buckets[k] = hg_dy_bucket<Slots>(table.subtables[subtables[k]], word);
		hg_dy_load(hg_dy_slots<Slots>(table.subtables[subtables[k]]) + buckets[k], wanted,
				   pieces[k]);
	}

	const bool found = hg_dy_is_in<Slots>(pieces[0], word) | hg_dy_is_in<Slots>(pieces[1], word);
	uint32_t empties =
		hg_dy_order<Slots>(hg_dy_empties<Slots>(pieces[0]), hg_dy_empties<Slots>(pieces[1]));

	if (wanted && !found)
	{
		over = true;
		while (over && empties != 0)
		{
			bool second;
			const uint32_t at = hg_dy_ordered<Slots>((uint32_t) __ffs((int) empties) - 1, &second);
			const uint32_t number = second ? subtables[1] : subtables[0];
			const HgDySubtable &subtable = table.subtables[number];
			const uint64_t slot = (second ? buckets[1] : buckets[0]) + at;
			const Slot there = hg_slot_cas(hg_dy_slots<Slots>(subtable) + slot, Slots::EMPTY,
										   Slots::make(word, row));

			empties &= empties - 1;
			if (there == Slots::EMPTY)
			{
				if (Slots::APART)
					subtable.rows[slot] = row;
				placed = number;
			}
			over = there != Slots::EMPTY && Slots::word(there) != word;
		}
	}
	__syncwarp();

	const uint32_t to = hg_slot_append(&state->left, over);

	if (over)
	{
		left.words[to] = word;
		if (Slots::HAS_ROWS)
			left.rows[to] = row;
	}
	return placed;
}

/*
 * Inserts pairs of a list, and appends those whose buckets are full to left.
 * hg_cuda_table_dycuckoo.cu says why a key is inserted once however often the list has it.
 */
template <typename Slots, bool KEYS>
__global__ void
__launch_bounds__(HG_DY_THREADS, HG_DY_PUT_BLOCKS)
	hg_dy_put_kernel(const __grid_constant__ HgDyTable table, HgSlotBatch list,
					 HgDyRoom<typename Slots::Word> left, HgDyState *state)
{
	__shared__ HgDyTable shared;
	__shared__ uint32_t counts[HG_TABLE_MAX_SUBTABLES];

	if (threadIdx.x < HG_TABLE_MAX_SUBTABLES)
		counts[threadIdx.x] = 0;
	hg_dy_share(table, &shared);
	for (uint32_t base = blockIdx.x * HG_DY_THREADS; base < list.count;
		 base += gridDim.x * HG_DY_THREADS)
		hg_dy_add_counts(shared, counts,
						 hg_dy_put<Slots, KEYS>(shared, list, base + threadIdx.x, left, state));
	__syncthreads();
	if (threadIdx.x < shared.count && counts[threadIdx.x] > 0)
		atomicAdd(&state->rows[threadIdx.x], counts[threadIdx.x]);
}

/* Reads a bucket, by one lane. */
__device__ __forceinline__ void
hg_dy_read(const void *bucket, uint4 (&pieces)[HG_DY_LANES])
{
#pragma unroll
	for (uint32_t p = 0; p < HG_DY_LANES; p++)
		pieces[p] = __ldcg(static_cast<const uint4 *>(bucket) + p);
}

/* Returns slot k of a bucket that a lane has read. */
template <typename Slots>
__device__ __forceinline__ typename Slots::Slot
hg_dy_cell(const uint4 (&pieces)[HG_DY_LANES], uint32_t k)
{
	typename Slots::Slot slot = Slots::EMPTY;

#pragma unroll
	for (uint32_t i = 0; i < Slots::COUNT; i++)
		if (i == k)
			slot = hg_dy_piece<Slots>(pieces[i / Slots::PIECE], i % Slots::PIECE);
	return slot;
}

/* Returns the lock of a bucket, given by its first slot.  Several buckets share a lock. */
template <typename Slots>
__device__ __forceinline__ uint32_t *
hg_dy_lock(uint32_t *locks, uint32_t mask, uint32_t subtable, uint64_t bucket)
{
	return &locks[((uint32_t) (bucket / Slots::COUNT) * HG_TABLE_MAX_SUBTABLES + subtable) & mask];
}

/* Frees a lock.  The next owner sees what was written under it. */
__device__ __forceinline__ void
hg_dy_unlock(uint32_t *lock)
{
	__threadfence();
	atomicExch(lock, HG_DY_UNLOCKED);
}

/* Returns the first empty slot of a bucket that a lane has read, or COUNT. */
template <typename Slots>
__device__ __forceinline__ uint32_t
hg_dy_empty(const uint4 (&pieces)[HG_DY_LANES])
{
	uint32_t at = Slots::COUNT;

#pragma unroll
	for (uint32_t i = Slots::COUNT; i-- > 0;)
		if (hg_dy_piece<Slots>(pieces[i / Slots::PIECE], i % Slots::PIECE) == Slots::EMPTY)
			at = i;
	return at;
}

/*
 * Returns the slot of a full bucket whose pair is evicted: one whose other bucket has room, as far
 * as can be seen without its lock, or a random one.  So nearly all chains end with the next
 * eviction; the kernel takes as long as the longest chain.
 */
template <typename Slots>
__device__ __forceinline__ uint32_t
hg_dy_victim(const HgDyTable &table, uint32_t subtable, const uint4 (&pieces)[HG_DY_LANES],
			 uint32_t random)
{
	uint32_t best = Slots::COUNT;

#pragma unroll
	for (uint32_t k = 0; k < Slots::COUNT; k += HG_DY_CANDIDATES)
	{
		uint4 theirs[HG_DY_CANDIDATES][HG_DY_LANES];

		if (best < Slots::COUNT)
			break;
#pragma unroll
		for (uint32_t c = 0; c < HG_DY_CANDIDATES; c++)
		{
			const uint64_t word = Slots::word(
				hg_dy_piece<Slots>(pieces[(k + c) / Slots::PIECE], (k + c) % Slots::PIECE));
			uint32_t first;
			uint32_t second;

			hg_dy_pair(table, word, &first, &second);

			const HgDySubtable &other = table.subtables[first == subtable ? second : first];

			hg_dy_read(hg_dy_slots<Slots>(other) + hg_dy_bucket<Slots>(other, word), theirs[c]);
		}
#pragma unroll
		for (uint32_t c = 0; c < HG_DY_CANDIDATES; c++)
			if (best == Slots::COUNT && hg_dy_empty<Slots>(theirs[c]) < Slots::COUNT)
				best = k + c;
	}
	return best < Slots::COUNT ? best : random % Slots::COUNT;
}

/*
 * Inserts the pairs of left, whose buckets are full, by evicting pairs to their other buckets.
 * The keys are not in the table; of equal ones one is inserted.  A chain has at most most
 * evictions; the pair that it then has in hand is appended to next.  So are pairs from index limit
 * on, for which there are no claims.  claims are filled with 0xff.
 *
 * A slot is taken, or its pair exchanged, by compare-and-swap; a lane that fails reads the bucket
 * again.  If rows are apart from words, that is not one operation, and the bucket is locked.  A
 * lane that does not get a lock tries again after the other lanes of its warp; a lane with a lock
 * waits for none.  locks are filled with HG_DY_UNLOCKED.
 *
 * In one piece: its phases share registers and shared memory.
 */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DY_THREADS)
	hg_dy_evict_kernel(const __grid_constant__ HgDyTable table, HgDyRoom<typename Slots::Word> left,
					   HgDyRoom<typename Slots::Word> next, uint32_t limit, uint32_t *claims,
					   uint32_t claims_mask, uint32_t *locks, uint32_t locks_mask, uint32_t most,
					   HgDyState *state)
{
	typedef typename Slots::Slot Slot;
	typedef typename Slots::Word Word;
	__shared__ HgDyTable shared;
	__shared__ uint32_t counts[HG_TABLE_MAX_SUBTABLES];
	__shared__ uint32_t evictions;
	__shared__ uint32_t longest;
	const uint32_t count = state->left;

	if (blockIdx.x * HG_DY_THREADS >= count)
		return;
	if (threadIdx.x < HG_TABLE_MAX_SUBTABLES)
		counts[threadIdx.x] = 0;
	if (threadIdx.x == 0)
		evictions = longest = 0;
	hg_dy_share(table, &shared);

	for (uint64_t i = blockIdx.x * HG_DY_THREADS + threadIdx.x; i < count;
		 i += gridDim.x * HG_DY_THREADS)
	{
		Word word = left.words[i];
		uint32_t row = Slots::HAS_ROWS ? left.rows[i] : 0;
		uint32_t subtable;
		uint32_t other;
		uint32_t chain = 0;
		bool retry = i >= limit;
		bool done = retry || !hg_slot_claim(left.words, (uint32_t) i,
											(uint32_t) ((uint64_t) word >> 32) ^ (uint32_t) word,
											claims, claims_mask);

		hg_dy_pair(shared, word, &subtable, &other);
		while (!done)
		{
			const uint64_t bucket = hg_dy_bucket<Slots>(shared.subtables[subtable], word);
			Slot *slots = hg_dy_slots<Slots>(shared.subtables[subtable]) + bucket;
			uint32_t *lock = hg_dy_lock<Slots>(locks, locks_mask, subtable, bucket);
			uint4 pieces[HG_DY_LANES];
			uint32_t at;
			bool room;

			if constexpr (Slots::APART)
			{
				if (atomicCAS(lock, HG_DY_UNLOCKED, 0) != HG_DY_UNLOCKED)
					continue;
				__threadfence();
			}
			hg_dy_read(slots, pieces);
			at = hg_dy_empty<Slots>(pieces);
			room = at < Slots::COUNT;
			if (!room && chain == most)
				done = retry = true;
			else
			{
				Slot out;
				uint32_t out_row;
				bool changed;

				if (!room)
					at = hg_dy_victim<Slots>(shared, subtable, pieces,
											 hg_mix32((uint32_t) word + chain * 0x9e3779b9u));
				out = hg_dy_cell<Slots>(pieces, at);
				out_row = Slots::row(out);
				if constexpr (Slots::APART)
				{
					uint32_t *rows = shared.subtables[subtable].rows + bucket;

					if (!room)
						out_row = __ldcg(&rows[at]);
					__stcg(&slots[at], Slots::make(word, row));
					__stcg(&rows[at], row);
					changed = true;
				}
				else
					changed = hg_slot_cas(&slots[at], out, Slots::make(word, row)) == out;
				if (changed && room)
				{
					atomicAdd(&counts[subtable], 1u);
					done = true;
				}
				else if (changed)
				{
					uint32_t first;
					uint32_t second;

					word = Slots::word(out);
					row = out_row;
					hg_dy_pair(shared, word, &first, &second);
					subtable = first == subtable ? second : first;
					chain++;
				}
			}
			if constexpr (Slots::APART)
				hg_dy_unlock(lock);
		}
		if (retry)
		{
			const uint32_t to = atomicAdd(&state->next, 1u);

			next.words[to] = word;
			if (Slots::HAS_ROWS)
				next.rows[to] = row;
			if (i < limit)
				atomicAdd(&state->failed, 1u);
		}
		if (chain > 0)
		{
			atomicAdd(&evictions, chain);
			atomicMax(&longest, chain);
		}
	}
	__syncthreads();
	if (threadIdx.x < shared.count && counts[threadIdx.x] > 0)
		atomicAdd(&state->rows[threadIdx.x], counts[threadIdx.x]);
	if (threadIdx.x == 0 && evictions > 0)
	{
		atomicAdd(&state->evictions, (unsigned long long) evictions);
		atomicMax(&state->longest_chain, longest);
	}
}

/*
 * Empties the slot of key i of a list, or, without by_key, of the pair.  Returns the subtable that
 * it was in, or HG_TABLE_MAX_SUBTABLES.  All lanes of a warp call it.
 */
template <typename Slots>
__device__ __forceinline__ uint32_t
hg_dy_erase(const HgDyTable &table, const HgSlotBatch &list, uint32_t i, bool by_key,
			HgDyState *state)
{
	const bool there = i < list.count;
	typename Slots::Word word = 0;
	uint32_t erased = HG_TABLE_MAX_SUBTABLES;
	uint32_t subtable;
	uint64_t slot;
	uint32_t row = 0;
	uint32_t wanted = 0;

	if (there)
	{
		word = hg_word_mix(static_cast<const typename Slots::Word *>(list.keys)[i]);
		if (!by_key)
			wanted = list.rows != nullptr ? list.rows[i] : list.first_row + i;
		if (Slots::APART && Slots::is_odd(word))
		{
			if (by_key)
				atomicExch(&state->odd_row, HG_CUDA_EMPTY_ROW);
			else
				atomicCAS(&state->odd_row, wanted, HG_CUDA_EMPTY_ROW);
		}
	}
	if (hg_dy_look<Slots>(table, word, there && !Slots::is_odd(word), &subtable, &slot, &row))
	{
		typename Slots::Slot *target = hg_dy_slots<Slots>(table.subtables[subtable]) + slot;

		if (Slots::APART && !by_key)
			row = table.subtables[subtable].rows[slot];
		/* of two lanes that name a slot, one erases it */
		if ((by_key || row == wanted) &&
			hg_slot_cas(target, Slots::make(word, row), Slots::EMPTY) == Slots::make(word, row))
			erased = subtable;
	}
	__syncwarp();
	return erased;
}

/* Erases the keys or pairs of a list. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DY_THREADS) hg_dy_erase_kernel(const __grid_constant__ HgDyTable table,
													HgSlotBatch list, bool by_key, HgDyState *state)
{
	__shared__ HgDyTable shared;
	__shared__ uint32_t counts[HG_TABLE_MAX_SUBTABLES];

	if (threadIdx.x < HG_TABLE_MAX_SUBTABLES)
		counts[threadIdx.x] = 0;
	hg_dy_share(table, &shared);
	for (uint32_t base = blockIdx.x * HG_DY_THREADS; base < list.count;
		 base += gridDim.x * HG_DY_THREADS)
		hg_dy_add_counts(shared, counts,
						 hg_dy_erase<Slots>(shared, list, base + threadIdx.x, by_key, state));
	__syncthreads();
	if (threadIdx.x < shared.count && counts[threadIdx.x] > 0)
		atomicSub(&state->rows[threadIdx.x], counts[threadIdx.x]);
}

#endif /* HG_CUDA_TABLE_DYCUCKOO_KERNELS_H */
