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

#endif /* HG_CUDA_TABLE_DYCUCKOO_KERNELS_H */
