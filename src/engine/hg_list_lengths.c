/*-------------------------------------------------------------------------
 *
 * hg_list_lengths.c
 *	  Lengths of the adjacency lists of a HashGraph, without building it.
 *
 * Most lists are short: their lengths are tallied in an array.  Longer ones are tallied in a table
 * with open addressing.  There are few different lengths: lists of k different lengths have at
 * least k * (k + 1) / 2 rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_list_lengths.h"

#include "hg_hash.h"
#include "hg_shape.h"

#include <stdlib.h>
#include <string.h>

/* Keys that are counted, and vertices that are read, between two polls: 2 ms at most. */
#define POLL_KEYS ((uint64_t) 1 << 16)

/* Counts that are cleared between two polls, in fresh memory. */
#define POLL_COUNTS ((uint64_t) 1 << 20)

/* Lengths below this are tallied in an array. */
#define SHORT 256

typedef struct Tally
{
	uint64_t lists_short[SHORT]; /* by length: the number of lists */
	HgListLength *lists_long;	 /* [mask + 1] by a hash of the length; empty if vertices is 0 */
	uint64_t mask;
	uint64_t different; /* number of different lengths */
} Tally;

uint64_t
hg_list_lengths_bytes(uint64_t rows, double load_factor)
{
	double c = load_factor > 0 ? load_factor : 1.0;

	return sizeof(uint32_t) << hg_shape_vertices_log2(rows, c);
}

HgStatus
hg_list_lengths_open(HgListLengths *lists, const HgHost *host, uint32_t key_width,
					 double load_factor, uint64_t rows, HgError *error)
{
	const HgJobSpec spec = {.key_width = key_width, .shape.load_factor = load_factor, .device = -1};
	uint64_t vertices;
	void *counts;
	HgStatus status;

	HG_TRY(hg_spec_check(&spec, error));
	if (rows > HG_MAX_ROWS)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows for one HashGraph");
	vertices = hg_list_lengths_bytes(rows, load_factor) / sizeof(uint32_t);
	status = hg_host_memory_alloc(host, vertices * sizeof(uint32_t), &counts, error);
	if (status != HG_OK)
		return status;
	*lists = (HgListLengths){.host = host,
							 .key_width = key_width,
							 .vertices_log2 = hg_ceil_log2(vertices),
							 .counts = counts};
	for (uint64_t v = 0; v < vertices && status == HG_OK; v += POLL_COUNTS)
	{
		uint64_t left = vertices - v;

		memset(lists->counts + v, 0, (left < POLL_COUNTS ? left : POLL_COUNTS) * sizeof(uint32_t));
		status = hg_host_check_cancel(host, error);
	}
	if (status != HG_OK)
		hg_list_lengths_close(lists);
	return status;
}

HgStatus
hg_list_lengths_add(HgListLengths *lists, const void *keys, uint64_t count, HgError *error)
{
	const uint32_t *keys32 = keys;
	const uint64_t *keys64 = keys;
	HgStatus status = HG_OK;

	if (count > HG_MAX_ROWS - lists->rows)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows for one HashGraph");
	for (uint64_t from = 0; from < count && status == HG_OK; from += POLL_KEYS)
	{
		uint64_t to = count - from < POLL_KEYS ? count : from + POLL_KEYS;

		for (uint64_t i = from; i < to; i++)
		{
			uint32_t hash = lists->key_width == 4 ? hg_hash_of_mixed32(hg_mix32(keys32[i]))
												  : hg_hash_of_mixed64(hg_mix64(keys64[i]));

			lists->counts[hg_vertex_of_hash(hash, lists->vertices_log2)]++;
		}
		status = hg_host_check_cancel(lists->host, error);
	}
	lists->rows += count;
	return status;
}

/* Returns the slot of a long length in the table, which has the length or is empty. */
static HgListLength *
tally_find_slot(const Tally *tally, uint32_t length)
{
	for (uint64_t at = hg_mix32(length) & tally->mask;; at = (at + 1) & tally->mask)
		if (tally->lists_long[at].vertices == 0 || tally->lists_long[at].length == length)
			return &tally->lists_long[at];
}

/* Tallies all lists. */
static HgStatus
tally_lists(const HgListLengths *lists, Tally *tally, HgError *error)
{
	uint64_t vertices = UINT64_C(1) << lists->vertices_log2;
	HgStatus status = HG_OK;

	for (uint64_t v = 0; v < vertices && status == HG_OK; v++)
	{
		uint32_t length = lists->counts[v];

		if (length < SHORT)
			tally->different += tally->lists_short[length]++ == 0;
		else
		{
			HgListLength *slot = tally_find_slot(tally, length);

			slot->length = length;
			tally->different += slot->vertices++ == 0;
		}
		if (v % POLL_KEYS == 0)
			status = hg_host_check_cancel(lists->host, error);
	}
	return status;
}

static int
compare_lengths(const void *left, const void *right)
{
	uint64_t a = ((const HgListLength *) left)->length;
	uint64_t b = ((const HgListLength *) right)->length;

	return (a > b) - (a < b);
}

/* Copies the tally to lengths, in ascending order. */
static void
tally_copy(const Tally *tally, HgListLength *lengths)
{
	uint64_t n = 0;
	uint64_t first_long;

	for (uint64_t length = 0; length < SHORT; length++)
		if (tally->lists_short[length] > 0)
			lengths[n++] = (HgListLength){length, tally->lists_short[length]};
	first_long = n;
	for (uint64_t at = 0; at <= tally->mask; at++)
		if (tally->lists_long[at].vertices > 0)
			lengths[n++] = tally->lists_long[at];
	qsort(lengths + first_long, n - first_long, sizeof(*lengths), compare_lengths);
}

HgStatus
hg_list_lengths_make(HgListLengths *lists, HgError *error)
{
	Tally tally = {.mask = 1};
	uint64_t table_bytes;
	void *memory = NULL;
	HgStatus status;

	/* twice as many slots as there can be different lengths, sqrt(2 * rows) */
	while (tally.mask * tally.mask < 8 * lists->rows)
		tally.mask *= 2;
	table_bytes = tally.mask-- * sizeof(HgListLength);
	HG_TRY(hg_host_memory_alloc(lists->host, table_bytes, &memory, error));
	tally.lists_long = memory;
	memset(memory, 0, table_bytes);
	status = tally_lists(lists, &tally, error);
	if (status == HG_OK)
	{
		lists->lengths_bytes = tally.different * sizeof(HgListLength);
		status = hg_host_memory_alloc(lists->host, lists->lengths_bytes, &memory, error);
	}
	if (status == HG_OK)
	{
		lists->lengths = memory;
		lists->count = tally.different;
		tally_copy(&tally, lists->lengths);
	}
	hg_host_memory_free(lists->host, tally.lists_long, table_bytes);
	return status;
}

void
hg_list_lengths_close(HgListLengths *lists)
{
	hg_host_memory_free(lists->host, lists->counts, sizeof(uint32_t) << lists->vertices_log2);
	hg_host_memory_free(lists->host, lists->lengths, lists->lengths_bytes);
}
