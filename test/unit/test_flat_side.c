/*-------------------------------------------------------------------------
 *
 * test_flat_side.c
 *	  Sides of joins of flat HashGraphs, and what the join of two of them must give.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_flat_side.h"

#include "../../src/engine/hg_features.h"
#include "hg_tap.h"

#include <stdlib.h>
#include <string.h>

/* Row numbers, without a part's spare ones, are below this. */
#define MAX_DENSE (1 << 18)

uint64_t
test_random_next(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	return hg_mix64(*state);
}

uint64_t
test_random_below(uint64_t *state, uint64_t limit)
{
	return test_random_next(state) % limit;
}

int64_t
test_flat_key(const TestFlatSide *side, uint32_t i)
{
	return side->width == 4 ? ((int32_t *) side->keys)[i] : ((int64_t *) side->keys)[i];
}

void
test_flat_set_key(TestFlatSide *side, uint32_t i, int64_t key)
{
	if (side->width == 4)
		((int32_t *) side->keys)[i] = (int32_t) key;
	else
		((int64_t *) side->keys)[i] = key;
}

/* A number for a row without gaps between parts. */
static uint32_t
dense(uint32_t row)
{
	return HG_FLAT_PART(row) * TEST_FLAT_PART_ROWS + HG_FLAT_NUMBER(row);
}

/*
 * Count rows with keys from -keys / 2 on, of which the first hot ones have one key.  With far, some
 * keys of 8 bytes do not fit into 4.
 */
void
test_flat_create(TestFlatSide *side, uint64_t *state, uint32_t width, uint32_t count, uint64_t keys,
				 uint32_t hot, bool far)
{
	uint32_t step = (count + TEST_FLAT_PIECES - 1) / TEST_FLAT_PIECES;

	memset(side, 0, sizeof(*side));
	side->width = width;
	side->count = count;
	side->nparts = count / TEST_FLAT_PART_ROWS + 1;
	side->keys = test_malloc((size_t) count * width + 1);
	side->rows = test_malloc((size_t) count * sizeof(uint32_t) + 1);
	for (uint32_t i = 0; i < count; i++)
	{
		int64_t key = (int64_t) test_random_below(state, keys) - (int64_t) (keys / 2);

		if (far && width == 8 && test_random_below(state, 4) == 0)
			key += INT64_C(1) << 32;
		test_flat_set_key(side, i, i < hot ? -7 : key);
		side->rows[i] = HG_FLAT_ROW(i / TEST_FLAT_PART_ROWS, i % TEST_FLAT_PART_ROWS);
	}
	for (uint32_t p = 0; p < TEST_FLAT_PIECES; p++)
	{
		uint32_t from = p * step < count ? p * step : count;
		uint32_t end = from + step < count ? from + step : count;

		side->pieces[p].keys = (char *) side->keys + (size_t) from * width;
		side->pieces[p].rows = side->rows + from;
		side->pieces[p].count = end - from;
	}
	side->shape = hg_flat_shape(width, count);

	/* the last part has no state: it does not count */
	side->mask.nparts = side->nparts - (count > TEST_FLAT_PART_ROWS ? 1 : 0);
	side->states = test_malloc(side->nparts);
	side->bits = test_malloc(side->nparts * sizeof(uint64_t *));
	for (uint32_t p = 0; p < side->nparts; p++)
	{
		side->states[p] = (uint8_t) test_random_below(state, 3);
		side->bits[p] = test_malloc((TEST_FLAT_PART_ROWS + 63) / 64 * sizeof(uint64_t));
		for (uint32_t w = 0; w < (TEST_FLAT_PART_ROWS + 63) / 64; w++)
			side->bits[p][w] = test_random_next(state);
	}
	side->mask.states = side->states;
	side->mask.bits = (const uint64_t *const *) side->bits;
}

void
test_flat_destroy(TestFlatSide *side)
{
	free(side->keys);
	free(side->rows);
	for (uint32_t p = 0; p < side->nparts; p++)
		free(side->bits[p]);
	free(side->bits);
	free(side->states);
	free(side->masked);
	if (side->graph != NULL)
		hg_flat_destroy(test_host_plain(), side->graph);
}

bool
test_flat_counts(const TestFlatSide *side, uint32_t i)
{
	uint32_t row = side->rows[i];
	uint32_t part = HG_FLAT_PART(row);
	uint32_t number = HG_FLAT_NUMBER(row);

	if (side->used_mask == NULL)
		return true;
	if (part >= side->mask.nparts || side->states[part] == HG_FLAT_NONE)
		return false;
	return side->states[part] == HG_FLAT_ALL || (side->bits[part][number / 64] >> number % 64 & 1);
}

HgFlatSide
test_flat_side(TestFlatSide *side)
{
	HgFlatSide result = {.graph = side->graph, .mask = side->used_mask};
	uint64_t bytes;

	if (!side->marks || side->used_mask == NULL)
		return result;
	free(side->masked);
	bytes = hg_flat_vertices_bytes(&side->graph->shape);
	side->masked = test_malloc(bytes);
	memset(side->masked, 0, bytes);
	for (uint32_t i = 0; i < side->count; i++)
	{
		int64_t key = test_flat_key(side, i);

		if (!test_flat_counts(side, i))
			hg_flat_mark_vertices(&side->graph->shape, &key, 1, side->masked);
	}
	result.masked = side->masked;
	return result;
}

bool
test_flat_make(TestFlatSide *side)
{
	return hg_flat_make(test_host_plain(), &side->shape, side->pieces, TEST_FLAT_PIECES,
						&side->graph, NULL) == HG_OK;
}

/* A row with its key, sorted by both. */
typedef struct Entry
{
	int64_t key;
	uint32_t row;
} Entry;

static int
compare_entries(const void *a, const void *b)
{
	const Entry *left = a;
	const Entry *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return left->row < right->row ? -1 : left->row > right->row;
}

static int
compare_words(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *) a;
	uint64_t right = *(const uint64_t *) b;

	return left < right ? -1 : left > right;
}

void
test_pairs_add(TestPairs *pairs, uint32_t outer, uint32_t inner)
{
	if (pairs->count == pairs->room)
	{
		pairs->room = pairs->room * 2 + 1024;
		pairs->pairs = realloc(pairs->pairs, pairs->room * sizeof(uint64_t));
		if (pairs->pairs == NULL)
			abort();
	}
	pairs->pairs[pairs->count++] = (uint64_t) outer << 32 | inner;
}

static void
pairs_sort(TestPairs *pairs)
{
	if (pairs->count > 0)
		qsort(pairs->pairs, pairs->count, sizeof(uint64_t), compare_words);
}

/* All pairs that there should be, sorted. */
void
test_flat_naive(const TestFlatSide *outer, const TestFlatSide *inner, TestPairs *pairs)
{
	Entry *entries = test_malloc((size_t) inner->count * sizeof(Entry) + 1);
	uint32_t n = 0;

	memset(pairs, 0, sizeof(*pairs));
	for (uint32_t i = 0; i < inner->count; i++)
		if (test_flat_counts(inner, i))
			entries[n++] = (Entry){test_flat_key(inner, i), inner->rows[i]};
	qsort(entries, n, sizeof(Entry), compare_entries);
	for (uint32_t i = 0; i < outer->count; i++)
	{
		int64_t key = test_flat_key(outer, i);
		uint32_t low = 0;
		uint32_t high = n;

		if (!test_flat_counts(outer, i))
			continue;
		while (low < high)
		{
			uint32_t middle = low + (high - low) / 2;

			if (entries[middle].key < key)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < n && entries[low].key == key; low++)
			test_pairs_add(pairs, outer->rows[i], entries[low].row);
	}
	free(entries);
	pairs_sort(pairs);
}

/* Each outer row once, with the inner rows that it may have: of sorted pairs. */
size_t
test_pairs_outer_rows(const TestPairs *pairs)
{
	size_t n = 0;

	for (size_t i = 0; i < pairs->count; i++)
		n += i == 0 || pairs->pairs[i] >> 32 != pairs->pairs[i - 1] >> 32;
	return n;
}

/* Take all that a join returns, with chunks of capacity. */
bool
test_pairs_read(HgFlatJoin *join, HgMatchMode mode, size_t capacity, bool with_inner,
				TestPairs *pairs)
{
	uint32_t *outer = test_malloc(capacity * sizeof(uint32_t));
	uint32_t *inner = test_malloc(capacity * sizeof(uint32_t));
	HgMatches matches = {.outer = outer, .inner = with_inner ? inner : NULL, .capacity = capacity};
	bool good;

	memset(pairs, 0, sizeof(*pairs));
	while (
		(good = hg_flat_next(join, mode, &matches, NULL) == HG_OK && matches.count <= capacity) &&
		matches.count > 0)
		for (size_t i = 0; i < matches.count; i++)
			test_pairs_add(pairs, outer[i], with_inner ? inner[i] : 0);
	free(outer);
	free(inner);
	return good;
}

/* Do the pairs of each outer row follow each other? */
static bool
pairs_together(const TestPairs *pairs)
{
	static bool seen[MAX_DENSE];
	bool good = true;

	memset(seen, 0, sizeof(seen));
	for (size_t i = 0; i < pairs->count; i++)
	{
		uint32_t row = (uint32_t) (pairs->pairs[i] >> 32);

		if (i > 0 && pairs->pairs[i - 1] >> 32 == row)
			continue;
		good = good && !seen[dense(row)];
		seen[dense(row)] = true;
	}
	return good;
}

/* Are they the wanted pairs, or, of FIRST, one of them for each outer row?  Sorts them. */
bool
test_pairs_right(TestPairs *pairs, const TestPairs *wanted, HgMatchMode mode, bool with_inner)
{
	size_t at = 0;
	bool good = pairs_together(pairs);

	pairs_sort(pairs);
	if (mode == HG_MATCH_ALL && pairs->count != wanted->count)
		return false;
	if (mode == HG_MATCH_FIRST && pairs->count != test_pairs_outer_rows(wanted))
		return false;
	for (size_t i = 0; i < pairs->count && good; i++)
	{
		if (mode == HG_MATCH_ALL)
			good = with_inner ? pairs->pairs[i] == wanted->pairs[i]
							  : pairs->pairs[i] >> 32 == wanted->pairs[i] >> 32;
		else
		{
			good = i == 0 || pairs->pairs[i] >> 32 != pairs->pairs[i - 1] >> 32;
			while (at < wanted->count && wanted->pairs[at] >> 32 < pairs->pairs[i] >> 32)
				at++;
			while (with_inner && at < wanted->count && wanted->pairs[at] < pairs->pairs[i])
				at++;
			good = good && at < wanted->count &&
				   (with_inner ? wanted->pairs[at] == pairs->pairs[i]
							   : wanted->pairs[at] >> 32 == pairs->pairs[i] >> 32);
		}
	}
	return good;
}

/* Does a graph hold just the rows of a side that count, each where it belongs? */
bool
test_flat_graph_right(const HgFlatGraph *graph, const TestFlatSide *side)
{
	uint64_t bins = UINT64_C(1) << graph->shape.bins_log2;
	Entry *wanted = test_malloc((size_t) side->count * sizeof(Entry) + 1);
	Entry *found = test_malloc((size_t) side->count * sizeof(Entry) + 1);
	uint32_t nwanted = 0;
	uint64_t nfound = 0;
	bool good = true;

	for (uint32_t i = 0; i < side->count; i++)
		if (test_flat_counts(side, i))
			wanted[nwanted++] = (Entry){test_flat_key(side, i), side->rows[i]};
	for (uint64_t b = 0; b < bins && good; b++)
	{
		const HgFlatBin *bin = graph->bins[b];
		const uint32_t *rows;
		const void *keys;
		uint64_t n = hg_flat_scan(graph, (uint32_t) b, &keys, &rows);
		uint32_t vertex = 0;

		if (n == 0)
			continue;
		good = bin->rows == n && bin->offset_width == (n > 65535 ? 4 : 2) && nfound + n <= nwanted;
		for (uint64_t i = 0; i < n && good; i++)
		{
			int64_t key =
				side->width == 4 ? ((const int32_t *) keys)[i] : ((const int64_t *) keys)[i];
			uint32_t hash = hg_hash_of_mixed64(hg_mix64((uint64_t) key));
			uint32_t v =
				hg_vertex_of_hash(hash, graph->shape.bins_log2 + graph->shape.vertices_log2) &
				((UINT32_C(1) << graph->shape.vertices_log2) - 1);
			const void *offsets = bin + 1;
			uint32_t low =
				n > 65535 ? ((const uint32_t *) offsets)[v] : ((const uint16_t *) offsets)[v];
			uint32_t high = n > 65535 ? ((const uint32_t *) offsets)[v + 1]
									  : ((const uint16_t *) offsets)[v + 1];

			good = hg_vertex_of_hash(hash, graph->shape.bins_log2) == b && v >= vertex &&
				   low <= i && i < high;
			vertex = v;
			found[nfound++] = (Entry){key, rows[i]};
		}
	}
	good = good && nfound == nwanted && graph->rows == nwanted;
	if (good)
	{
		qsort(wanted, nwanted, sizeof(Entry), compare_entries);
		qsort(found, nfound, sizeof(Entry), compare_entries);
		for (uint32_t i = 0; i < nwanted && good; i++)
			good = compare_entries(&wanted[i], &found[i]) == 0;
	}
	free(wanted);
	free(found);
	return good;
}

const char *
test_flat_limit_isa(int isa)
{
	static const char *const names[TEST_FLAT_ISAS] = {
		[HG_CPU_PORTABLE] = "portable", [HG_CPU_AVX2] = "avx2", [HG_CPU_AVX512] = "avx512"};

	hg_cpu_limit_features((HgCpuFeatures) isa);
	if (hg_cpu_features() == (HgCpuFeatures) isa)
		return names[isa];
	hg_tap_skip("this machine has not got it", "flat HashGraphs with %s", names[isa]);
	return NULL;
}

void
test_flat_failures(const TestFlatStretch *stretches, size_t count)
{
	uint64_t state = 41;
	TestFlatSide sides[3];
	bool made = true;

	for (int s = 0; s < 3; s++)
	{
		/* long lists, too */
		test_flat_create(&sides[s], &state, 4, 40000, 50000, s == 1 ? 3 : 10000, false);
		made = test_flat_make(&sides[s]) && made;
	}
	for (size_t i = 0; i < count; i++)
	{
		bool good = made;
		HgError error;
		TestHost host;
		uint64_t allocations;
		uint64_t polls;

		test_host_init(&host, test_host_plain());
		good = good && stretches[i].run(&host.host, sides, &error) == HG_OK &&
			   host.held_bytes == 0 && !host.misused;
		allocations = host.allocations;
		polls = host.polls;
		for (uint64_t n = 1; n <= allocations && good; n++)
		{
			test_host_init(&host, test_host_plain());
			host.fail_allocation = n;
			good = stretches[i].run(&host.host, sides, &error) == HG_OUT_OF_MEMORY &&
				   error.status == HG_OUT_OF_MEMORY && host.held_bytes == 0 && !host.misused;
		}
		hg_tap_ok(good && allocations > 0, "%s: each of %d allocations may be refused",
				  stretches[i].name, (int) allocations);
		for (uint64_t n = 1; n <= polls && good; n++)
		{
			test_host_init(&host, test_host_plain());
			host.cancel_poll = n;
			good = stretches[i].run(&host.host, sides, &error) == HG_CANCELLED &&
				   error.status == HG_CANCELLED && host.polls == n && host.held_bytes == 0;
		}
		hg_tap_ok(good && polls >= stretches[i].least_polls, "%s: each of %d polls may cancel",
				  stretches[i].name, (int) polls);
	}
	for (int s = 0; s < 3; s++)
		test_flat_destroy(&sides[s]);
}
