/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_static_kernels.h
 *	  The kernels that look up in static HashGraphs: hg_cuda_table_static.cu says when each runs.
 *
 * Word is uint32_t or uint64_t, a mixed word.  FORM is the HgStaticForm of slots, FORMAT the
 * HgTableKind, which decides where the slots of a list are.  Rows and slots are fewer than 2^32.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_STATIC_KERNELS_H
#define HG_CUDA_TABLE_STATIC_KERNELS_H

#include "../kernels/hg_cuda_search.h"
#include "../kernels/hg_cuda_tuning.h"
#include "../kernels/hg_cuda_word.h"
#include "hg_cuda_table_static.h"

constexpr int HG_STATIC_THREADS = HG_STREAM_THREADS;

/* ------------------------------------------------------------------------
 * Slots
 * ------------------------------------------------------------------------ */

/* A word and its row, for one access.  With words of 8 bytes, 4 of 16 bytes are unused. */
template <typename Word> struct HgStaticPair;

template <> struct __align__(8) HgStaticPair<uint32_t>
{
	uint32_t word;
	uint32_t row;
};

template <> struct __align__(16) HgStaticPair<uint64_t>
{
	uint64_t word;
	uint32_t row;
	uint32_t unused;
};

/* A slot that was read. */
template <typename Word, int FORM> struct HgStaticSlot
{
	Word word;
	uint32_t row; /* HG_FORM_AOS: the row; row_of() returns it for all forms */

	/* Reads slot i. */
	__device__ __forceinline__
	HgStaticSlot(const HgStaticSlots &slots, uint32_t i)
	{
		row = 0;
		if (FORM == HG_FORM_AOS)
		{
			const HgStaticPair<Word> pair = static_cast<const HgStaticPair<Word> *>(slots.words)[i];

			word = pair.word;
			row = pair.row;
		}
		else
			word = static_cast<const Word *>(slots.words)[i];
	}

	/* Returns the row of this slot, number i; HG_CUDA_EMPTY_ROW if it is empty. */
	__device__ __forceinline__ uint32_t
	row_of(const HgStaticSlots &slots, uint32_t i) const
	{
		if (FORM == HG_FORM_SET)
			return word == HG_CUDA_EMPTY_WORD<Word> ? HG_CUDA_EMPTY_ROW : 0;
		return FORM == HG_FORM_AOS ? row : slots.rows[i];
	}
};

/* Writes slot i. */
template <typename Word, int FORM>
__device__ __forceinline__ void
hg_static_put(const HgStaticSlots &slots, uint32_t i, Word word, uint32_t row)
{
	if (FORM == HG_FORM_AOS)
	{
		HgStaticPair<Word> pair = {};

		pair.word = word;
		pair.row = row;
		static_cast<HgStaticPair<Word> *>(slots.words)[i] = pair;
		return;
	}
	static_cast<Word *>(slots.words)[i] = word;
	if (FORM == HG_FORM_SOA)
		slots.rows[i] = row;
}

/* ------------------------------------------------------------------------
 * Lists
 * ------------------------------------------------------------------------ */

/* Sets the list of a vertex: slots *from .. *end - 1. */
template <int FORMAT>
__host__ __device__ __forceinline__ void
hg_static_list(const HgStaticLists &lists, uint32_t vertex, uint32_t *from, uint32_t *end)
{
	if (FORMAT == HG_TABLE_CSR)
	{
		*from = lists.starts[vertex];
		*end = lists.starts[vertex + 1];
	}
	else if (FORMAT == HG_TABLE_ELLPACK)
	{
		*from = vertex * lists.length;
		*end = *from + lists.length;
	}
	else
	{
		const uint32_t slice = vertex >> lists.slice_log2;
		const uint32_t start = lists.starts[slice];
		const uint32_t length = (lists.starts[slice + 1] - start) >> lists.slice_log2;

		*from = start + (vertex & ((1u << lists.slice_log2) - 1)) * length;
		*end = *from + length;
	}
}

/* Advances *from towards the first slot of a list whose word is not below word, but not beyond. */
template <typename Word, int FORM>
__device__ __forceinline__ void
hg_static_narrow(const HgStaticSlots &slots, uint32_t *from, uint32_t end, Word word)
{
	while (end - *from > HG_LIST_WALKED)
	{
		const uint32_t middle = *from + (end - *from) / 2;

		if (HgStaticSlot<Word, FORM>(slots, middle).word < word)
			*from = middle + 1;
		else
			end = middle;
	}
}

/* Returns the first slot of a list whose word is not below word, or end. */
template <typename Word, int FORM>
__device__ __forceinline__ uint32_t
hg_static_lower(const HgStaticSlots &slots, uint32_t from, uint32_t end, Word word)
{
	hg_static_narrow<Word, FORM>(slots, &from, end, word);
	while (from < end && HgStaticSlot<Word, FORM>(slots, from).word < word)
		from++;
	return from;
}

/* Returns the first slot from from on, where word begins, with another word or none; or end. */
template <typename Word, int FORM>
__device__ __forceinline__ uint32_t
hg_static_upper(const HgStaticSlots &slots, uint32_t from, uint32_t end, Word word)
{
	while (from < end)
	{
		/* most often a key has one row or none */
		const uint32_t at = end - from > HG_LIST_WALKED ? from + (end - from) / 2 : from;
		const HgStaticSlot<Word, FORM> slot(slots, at);

		if (slot.word == word && slot.row_of(slots, at) != HG_CUDA_EMPTY_ROW)
			from = at + 1;
		else
			end = at;
	}
	return from;
}

/* Sets rows[i] to a row of keys[i], or HG_NO_ROW, for keys first .. n - 1. */
template <typename Word, int FORM, int FORMAT>
__global__ void
__launch_bounds__(HG_STATIC_THREADS)
	hg_static_find_kernel(HgStaticLists lists, const Word *keys, uint64_t first, uint64_t n,
						  uint32_t *rows)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STATIC_THREADS + threadIdx.x;
	uint32_t row = HG_NO_ROW;
	uint32_t from;
	uint32_t end;

	if (i >= n)
		return;

	const Word word = hg_word_mix(keys[i]);

	hg_static_list<FORMAT>(lists, hg_word_vertex(word, 32 - lists.log2), &from, &end);
	hg_static_narrow<Word, FORM>(lists.slots, &from, end, word);
	for (; from < end; from++)
	{
		const HgStaticSlot<Word, FORM> slot(lists.slots, from);

		/* an empty slot has no row, and the greatest word */
		if (slot.word == word)
			row = slot.row_of(lists.slots, from);
		if (slot.word >= word)
			break;
	}
	rows[i] = row;
}

/* Sets answers[i] to the number of rows of keys[i], or, with LOCATE, to the first slot of them. */
template <typename Word, int FORM, int FORMAT, bool LOCATE>
__global__ void
__launch_bounds__(HG_STATIC_THREADS)
	hg_static_count_kernel(HgStaticLists lists, const Word *keys, uint64_t first, uint64_t n,
						   uint32_t *answers)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STATIC_THREADS + threadIdx.x;
	uint32_t from;
	uint32_t end;

	if (i >= n)
		return;

	const Word word = hg_word_mix(keys[i]);

	hg_static_list<FORMAT>(lists, hg_word_vertex(word, 32 - lists.log2), &from, &end);
	from = hg_static_lower<Word, FORM>(lists.slots, from, end, word);
	answers[i] = LOCATE ? from : hg_static_upper<Word, FORM>(lists.slots, from, end, word) - from;
}

/* Writes the rows of key i, from slot begins[i] on, to rows[offsets[i] - offsets[0]]; n keys. */
template <typename Word, int FORM>
__global__ void
__launch_bounds__(HG_STATIC_THREADS)
	hg_static_match_kernel(HgStaticSlots slots, const uint32_t *begins, uint32_t n,
						   const uint64_t *offsets, uint32_t *rows)
{
	const uint64_t base = offsets[0];
	const uint64_t pairs = offsets[n] - base;
	const uint64_t step = (uint64_t) gridDim.x * HG_STATIC_THREADS;

	for (uint64_t i = (uint64_t) blockIdx.x * HG_STATIC_THREADS + threadIdx.x; i < pairs; i += step)
	{
		const uint32_t key = hg_search_owner(offsets, 0, n - 1, base + i);
		const uint32_t at = begins[key] + (uint32_t) (i - (offsets[key] - base));

		rows[i] = HgStaticSlot<Word, FORM>(slots, at).row_of(slots, at);
	}
}

#endif /* HG_CUDA_TABLE_STATIC_KERNELS_H */
