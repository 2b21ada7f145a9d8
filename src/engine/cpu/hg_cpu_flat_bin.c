/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_bin.c
 *	  Makes a bin of a flat HashGraph: rows in the order of vertices, long lists sorted.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_flat_bin.h"

#include "hg_cpu_flat_rows.h"

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
				HgStatus status = hg_host_check_cancel(host, error);

				if (status != HG_OK)
					return status;
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
	HgStatus status;
	uint32_t n;

	memset(offsets, 0, ((size_t) mask + 2) * sizeof(uint32_t));
	for (uint64_t at = 0; at < bin->rows; at += n)
	{
		if ((status = hg_cpu_flat_poll_piece(host, at, error)) != HG_OK)
			return status;
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
		if ((status = hg_cpu_flat_poll_piece(host, at, error)) != HG_OK)
			return status;
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
