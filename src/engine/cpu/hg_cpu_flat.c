/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat.c
 *	  The shape of a flat HashGraph, and its sizes.
 *
 * Lists have some 4 to 8 rows, more than those of a job's graphs. Comparing two short lists all
 * with all, in a register each, takes no longer than finding out how long they are. Offsets then
 * take a quarter to half a byte a row.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_bits.h"
#include "hg_cpu_flat.h"
#include "hg_cpu_flat_filter.h"

/* Most rows of a list, and of a bin, on average. */
#define LIST_ROWS 8
#define BIN_ROWS 8192

HgStatus
hg_cpu_flat_check(const HgFlatShape *shape, HgError *error)
{
	if (shape->key_width != 4 && shape->key_width != 8)
		return hg_error_set(error, HG_INVALID, NULL, "keys of %u bytes",
							(unsigned) shape->key_width);
	if (shape->bins_log2 > HG_MAX_BINS_LOG2 || shape->vertices_log2 > HG_MAX_BINS_LOG2 ||
		shape->bins_log2 + shape->vertices_log2 > HG_MAX_VERTICES_LOG2)
		return hg_error_set(error, HG_INVALID, NULL, "2^%u bins of 2^%u vertices",
							(unsigned) shape->bins_log2, (unsigned) shape->vertices_log2);
	return HG_OK;
}

HgFlatShape
hg_flat_shape(uint32_t key_width, uint64_t rows)
{
	HgFlatShape shape = {.key_width = key_width};
	uint32_t list_log2 = 0;

	while (rows >> shape.bins_log2 > BIN_ROWS && shape.bins_log2 < HG_MAX_BINS_LOG2)
		shape.bins_log2++;
	while (rows >> (shape.bins_log2 + list_log2) > LIST_ROWS &&
		   shape.bins_log2 + list_log2 < HG_MAX_VERTICES_LOG2)
		list_log2++;
	shape.vertices_log2 = list_log2;
	return shape;
}

uint64_t
hg_flat_bin_bytes(const HgFlatShape *shape, uint64_t rows)
{
	return rows == 0 ? 0 : hg_cpu_flat_layout(shape, rows).end;
}

uint64_t
hg_flat_vertices_bytes(const HgFlatShape *shape)
{
	return ((UINT64_C(1) << (shape->bins_log2 + shape->vertices_log2)) + 63) / 64 *
		   sizeof(uint64_t);
}

void
hg_flat_mark_vertices(const HgFlatShape *shape, const int64_t *keys, uint32_t count,
					  uint64_t *vertices)
{
	uint32_t log2 = shape->bins_log2 + shape->vertices_log2;

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t vertex = hg_vertex_of_hash(hg_cpu_flat_hash(keys[i]), log2);

		vertices[vertex / 64] |= UINT64_C(1) << vertex % 64;
	}
}

uint64_t
hg_flat_scan(const HgFlatGraph *graph, uint32_t bin, const void **keys, const uint32_t **rows)
{
	HgCpuFlatBin arrays = hg_cpu_flat_bin(graph, bin);

	*keys = arrays.keys;
	*rows = arrays.numbers;
	return arrays.rows;
}

/* ---------------------------------------------------------------------
 * Vectorised helpers that make flat HashGraphs
 * ---------------------------------------------------------------------
 */

#ifdef HG_CPU_X86

/* hg_mix64 of 8 keys. */
HG_CPU_TARGET_AVX512 static inline __m512i
mix_avx512(__m512i key)
{
	key = _mm512_xor_si512(key, _mm512_srli_epi64(key, 33));
	key = _mm512_mullo_epi64(key, _mm512_set1_epi64((int64_t) UINT64_C(0xff51afd7ed558ccd)));
	key = _mm512_xor_si512(key, _mm512_srli_epi64(key, 33));
	key = _mm512_mullo_epi64(key, _mm512_set1_epi64((int64_t) UINT64_C(0xc4ceb9fe1a85ec53)));
	return _mm512_xor_si512(key, _mm512_srli_epi64(key, 33));
}

/* Stores the vertices of whole vectors of keys, and returns the number of these keys. */
HG_CPU_TARGET_AVX512 static uint32_t
vertices_avx512(const void *keys, uint32_t width, uint32_t n, uint32_t log2, uint32_t *vertices)
{
	__m128i shift = _mm_cvtsi32_si128((int) (64 - log2));
	uint32_t i;

	for (i = 0; i + 8 <= n; i += 8)
	{
		__m512i key = width == 4 ? _mm512_cvtepi32_epi64(_mm256_loadu_si256(
									   (const __m256i *) ((const int32_t *) keys + i)))
								 : _mm512_loadu_si512((const int64_t *) keys + i);

		_mm256_storeu_si256((__m256i *) (vertices + i),
							_mm512_cvtepi64_epi32(_mm512_srl_epi64(mix_avx512(key), shift)));
	}
	return i;
}

HG_CPU_TARGET_AVX512 static uint32_t
count_avx512(const HgCpuFlatFilter *filter, const uint32_t *rows, uint32_t n)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i += 16)
	{
		__mmask16 lanes = (__mmask16) (n - i < 16 ? (1U << (n - i)) - 1 : 0xffff);
		__m512i numbers = _mm512_maskz_loadu_epi32(lanes, rows + i);

		count += count_bits(hg_cpu_flat_filter_avx512(filter, lanes, numbers));
	}
	return count;
}

HG_CPU_TARGET_AVX512 static uint32_t
copy_avx512(const HgCpuFlatFilter *filter, const void *keys, uint32_t width, const uint32_t *rows,
			uint32_t n, void *to_keys, uint32_t *to_rows)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i += 16)
	{
		__mmask16 lanes = (__mmask16) (n - i < 16 ? (1U << (n - i)) - 1 : 0xffff);
		__m512i numbers = _mm512_maskz_loadu_epi32(lanes, rows + i);
		__mmask16 selected = hg_cpu_flat_filter_avx512(filter, lanes, numbers);
		uint32_t more = count_bits(selected);
		__mmask16 written = (__mmask16) _bzhi_u32(0xffff, more);

		_mm512_mask_storeu_epi32(to_rows + count, written,
								 _mm512_maskz_compress_epi32(selected, numbers));
		if (width == 4)
			_mm512_mask_storeu_epi32(
				(uint32_t *) to_keys + count, written,
				_mm512_maskz_compress_epi32(
					selected, _mm512_maskz_loadu_epi32(selected, (const uint32_t *) keys + i)));
		else
			for (uint32_t half = 0; half < 16; half += 8)
			{
				__mmask8 low = (__mmask8) (selected >> half);
				uint32_t first = half == 0 ? 0 : count_bits(selected & 0xff);

				_mm512_mask_storeu_epi64(
					(uint64_t *) to_keys + count + first,
					(__mmask8) _bzhi_u32(0xff, count_bits(low)),
					_mm512_maskz_compress_epi64(
						low, _mm512_maskz_loadu_epi64(low, (const uint64_t *) keys + i + half)));
			}
		count += more;
	}
	return count;
}

static bool
have_avx512(void)
{
	return hg_cpu_features() >= HG_CPU_AVX512;
}

#endif

void
hg_cpu_flat_vertices(const void *keys, uint32_t width, uint32_t n, uint32_t log2,
					 uint32_t *vertices)
{
	uint32_t i = 0;

#ifdef HG_CPU_X86
	if (have_avx512())
		i = vertices_avx512(keys, width, n, log2, vertices);
#endif
	for (; i < n; i++)
		vertices[i] = hg_vertex_of_hash(hg_cpu_flat_hash(hg_cpu_flat_key(keys, width, i)), log2);
}

uint32_t
hg_cpu_flat_count_rows(const HgCpuFlatFilter *filter, const uint32_t *rows, uint32_t n)
{
	uint32_t count = 0;

	if (filter->mask == NULL)
		return n;
#ifdef HG_CPU_X86
	if (have_avx512())
		return count_avx512(filter, rows, n);
#endif
	for (uint32_t i = 0; i < n; i++)
		count += hg_cpu_flat_counts(filter->mask, rows[i]);
	return count;
}

uint32_t
hg_cpu_flat_copy_rows(const HgCpuFlatFilter *filter, const void *keys, uint32_t width,
					  const uint32_t *rows, uint32_t n, void *to_keys, uint32_t *to_rows)
{
	uint32_t count = 0;

	if (filter->mask == NULL)
	{
		memcpy(to_keys, keys, (size_t) n * width);
		memcpy(to_rows, rows, n * sizeof(uint32_t));
		return n;
	}
#ifdef HG_CPU_X86
	if (have_avx512())
		return copy_avx512(filter, keys, width, rows, n, to_keys, to_rows);
#endif
	for (uint32_t i = 0; i < n; i++)
	{
		if (!hg_cpu_flat_counts(filter->mask, rows[i]))
			continue;
		memcpy((char *) to_keys + (size_t) count * width, (const char *) keys + (size_t) i * width,
			   width);
		to_rows[count++] = rows[i];
	}
	return count;
}

/* ---------------------------------------------------------------------
 * Makes a bin of a flat HashGraph: rows in the order of vertices, long lists sorted
 * ---------------------------------------------------------------------
 */

/* Returns a key as a 64-bit word whose unsigned order is the key's order. */
static inline uint64_t
ordered(const void *keys, uint32_t width, uint64_t i)
{
	return (uint64_t) hg_cpu_flat_key(keys, width, i) ^ UINT64_C(1) << 63;
}

static inline void
swap_rows(char *keys, uint32_t width, uint32_t *numbers, uint64_t i, uint64_t j)
{
	uint32_t number = numbers[i];
	char key[8];

	memcpy(key, keys + i * width, width);
	memcpy(keys + i * width, keys + j * width, width);
	memcpy(keys + j * width, key, width);
	numbers[i] = numbers[j];
	numbers[j] = number;
}

/*
 * Sorts a list by key, in place, by exchange on the highest bit in which its keys differ: each
 * split fixes at least one bit more. *work is the work since the last poll.
 */
static HgStatus
sort_list(const HgHost *host, char *keys, uint32_t width, uint32_t *numbers, uint32_t n,
		  uint32_t *work, HgError *error)
{
	struct
	{
		uint32_t low;
		uint32_t high;
	} stack[64 + 1];
	int depth = 0;

	stack[depth].low = 0;
	stack[depth++].high = n;
	while (depth > 0)
	{
		uint32_t low = stack[--depth].low;
		uint32_t high = stack[depth].high;
		uint32_t i = low;
		uint32_t j = high;
		uint64_t differing = 0;
		uint64_t bit = UINT64_C(1) << 63;

		/* both passes over a part of the list are work */
		for (uint32_t k = low; k < high; k++)
		{
			differing |= ordered(keys, width, k) ^ ordered(keys, width, low);
			if ((*work += 2) >= HG_CPU_FLAT_POLL_ROWS)
			{
				HG_TRY(hg_host_check_cancel(host, error));
				*work = 0;
			}
		}
		if (differing == 0)
			continue;

		while ((differing & bit) == 0)
			bit >>= 1;
		while (i < j)
		{
			if ((ordered(keys, width, i) & bit) == 0)
				i++;
			else
				swap_rows(keys, width, numbers, i, --j);
		}

		stack[depth].low = low;
		stack[depth++].high = i;
		stack[depth].low = i;
		stack[depth++].high = high;
	}
	return HG_OK;
}

/*
 * Algorithm 1: puts the rows in the order of their vertices, in a bin whose head is set.
 * Afterwards offsets[v] is the end of list v.
 */
static HG_CPU_FLAT_INLINE HgStatus
order_rows(const HgHost *host, const HgFlatShape *shape, const HgFlatRows *rows, uint32_t width,
		   uint32_t *offsets, HgFlatBin *bin, uint32_t *longest, HgError *error)
{
	HgCpuFlatLayout layout = hg_cpu_flat_layout(shape, bin->rows);
	uint32_t log2 = shape->bins_log2 + shape->vertices_log2;
	uint32_t mask = (UINT32_C(1) << shape->vertices_log2) - 1;
	const char *from = rows->keys;
	void *stored = (char *) bin + layout.offsets;
	char *keys = (char *) bin + layout.keys;
	uint32_t *numbers = (uint32_t *) ((char *) bin + layout.numbers);
	uint32_t vertices[HG_CPU_FLAT_PIECE];
	uint32_t next = 0;
	uint32_t n;

	memset(offsets, 0, ((size_t) mask + 2) * sizeof(uint32_t));
	for (uint64_t at = 0; at < bin->rows; at += n)
	{
		HG_TRY(hg_cpu_flat_poll_piece(host, at, error));
		n = hg_cpu_flat_piece(at, bin->rows);
		hg_cpu_flat_vertices(from + at * width, width, n, log2, vertices);
		for (uint32_t i = 0; i < n; i++)
			offsets[vertices[i] & mask]++;
	}

	for (uint64_t v = 0; v <= (uint64_t) mask + 1; v++)
	{
		uint32_t count = offsets[v];

		*longest = count > *longest ? count : *longest;
		if (bin->offset_width == 2)
			((uint16_t *) stored)[v] = (uint16_t) next;
		else
			((uint32_t *) stored)[v] = next;
		offsets[v] = next;
		next += count;
	}

	for (uint64_t at = 0; at < bin->rows; at += n)
	{
		HG_TRY(hg_cpu_flat_poll_piece(host, at, error));
		n = hg_cpu_flat_piece(at, bin->rows);
		hg_cpu_flat_vertices(from + at * width, width, n, log2, vertices);
		for (uint32_t i = 0; i < n; i++)
		{
			uint64_t position = offsets[vertices[i] & mask]++;

			memcpy(keys + position * width, from + (at + i) * width, width);
			numbers[position] = rows->rows[at + i];
		}
	}
	memset(numbers + bin->rows, 0, layout.end - layout.numbers - bin->rows * sizeof(uint32_t));
	return HG_OK;
}

HgStatus
hg_cpu_flat_bin_make(const HgHost *host, const HgFlatShape *shape, const HgFlatRows *rows,
					 uint32_t *offsets, HgFlatBin *bin, HgError *error)
{
	HgCpuFlatLayout layout = hg_cpu_flat_layout(shape, rows->count);
	uint64_t vertices = UINT64_C(1) << shape->vertices_log2;
	uint32_t width = shape->key_width;
	char *keys = (char *) bin + layout.keys;
	uint32_t *numbers = (uint32_t *) ((char *) bin + layout.numbers);
	uint32_t longest = 0;
	uint32_t work = 0;
	uint32_t next = 0;
	HgStatus status;

	bin->rows = (uint32_t) rows->count;
	bin->offset_width = hg_cpu_flat_offset_width(rows->count);
	status = width == 4 ? order_rows(host, shape, rows, 4, offsets, bin, &longest, error)
						: order_rows(host, shape, rows, 8, offsets, bin, &longest, error);
	for (uint64_t v = 0; v < vertices && longest > HG_CPU_FLAT_SORTED && status == HG_OK; v++)
	{
		uint32_t length = offsets[v] - next;

		if (length > HG_CPU_FLAT_SORTED)
			status = sort_list(host, keys + (uint64_t) next * width, width, numbers + next, length,
							   &work, error);
		next = offsets[v];
	}
	return status;
}
