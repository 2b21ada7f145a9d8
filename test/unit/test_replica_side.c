/*-------------------------------------------------------------------------
 *
 * test_replica_side.c
 *	  Sides of joins with graph replicas, and what the join of two of them must give.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_replica_side.h"

#include <stdlib.h>
#include <string.h>

/* Edges, keys and values that one call brings, and ordinals. */
#define PIECE 1237
#define VALUES_PIECE 1001
#define ORDINALS_PIECE 100003

const uint8_t test_replica_widths[HG_MAX_COLUMNS] = {8, 4, 2, 1, 8, 4, 2, 1};

uint64_t
test_replica_random(uint64_t *state, uint64_t limit)
{
	return hg_mix64(*state += UINT64_C(0x9E3779B97F4A7C15)) % limit;
}

/* ------------------------------------------------------------------------
 * Sides
 * ------------------------------------------------------------------------ */

int64_t
test_replica_key(const TestReplicaSide *side, uint32_t i)
{
	return side->spread.width == 4 ? ((const int32_t *) side->keys)[i]
								   : ((const int64_t *) side->keys)[i];
}

HgReplicaShape
test_replica_shape(const TestReplicaSide *side)
{
	return (HgReplicaShape){
		.key_width = side->spread.width, .parts = side->spread.parts, .rows = side->spread.count};
}

/* What the numbers of a graph replica's rows in their parts are below. */
static uint32_t
numbers_of(const TestReplicaSide *side)
{
	return side->spread.numbers > 0 ? side->spread.numbers : UINT32_C(1) << HG_FLAT_ROW_BITS;
}

HgReplicaColumnShape
test_replica_column_shape(const TestReplicaSide *side, uint32_t column)
{
	return (HgReplicaColumnShape){.width = test_replica_widths[column],
								  .parts = side->spread.parts,
								  .stride = side->spread.stride > 0 ? side->spread.stride
																	: numbers_of(side)};
}

bool
test_replica_value(const TestReplicaSide *side, uint32_t column, uint32_t i, bool is_signed,
				   uint64_t *bits)
{
	const TestReplicaColumn *values = &side->columns[column];
	const uint32_t width = test_replica_widths[column];
	const uint32_t above = 64 - 8 * width;

	*bits = 0;
	memcpy(bits, values->values + (size_t) i * width, width);
	if (is_signed)
		*bits = (uint64_t) ((int64_t) (*bits << above) >> above);
	return values->nulls != NULL && values->nulls[i] != 0;
}

/* A key: those of 8 bytes are some times one whose low half would be another key of 4. */
static int64_t
draw_key(const TestReplicaSpread *spread, uint64_t *state)
{
	static const int64_t extremes[] = {
		0,			-1,		   1,		  INT32_MIN, INT32_MAX,
		UINT32_MAX, INT64_MIN, INT64_MAX, -7,		 INT64_C(-7) & UINT32_MAX,
	};
	int64_t key = (int64_t) test_replica_random(state, spread->keys) - (int64_t) (spread->keys / 2);

	/* of many rows not more than a few: those of both sides are all partners */
	if (test_replica_random(state, 64 + spread->count / 8) < 2)
		return extremes[test_replica_random(state, sizeof(extremes) / sizeof(extremes[0]))];
	return test_replica_random(state, 8) == 0 ? key + (INT64_C(1) << 32) : key;
}

/* Row numbers of a graph replica: all over its parts, in no order. */
static void
draw_rows(TestReplicaSide *side, uint64_t *state)
{
	const uint32_t count = side->spread.count;
	const uint32_t numbers = numbers_of(side);
	const uint64_t all = (uint64_t) side->spread.parts * numbers;
	const uint64_t end = all < HG_MAX_ROWS ? all : HG_MAX_ROWS;
	const uint64_t step = count > 0 ? end / count : 1;

	for (uint32_t i = 0; i < count; i++)
	{
		const uint64_t at = i == count - 1 ? end - 1 : i * step + test_replica_random(state, step);

		side->rows[i] = HG_FLAT_ROW(at / numbers, at % numbers);
	}
	for (uint32_t i = count; i > 1; i--)
	{
		const uint64_t other = test_replica_random(state, i);
		const uint32_t row = side->rows[other];

		side->rows[other] = side->rows[i - 1];
		side->rows[i - 1] = row;
	}
}

/* Which rows of a side count. */
static void
draw_mask(TestReplicaSide *side, uint64_t *state)
{
	const HgReplicaShape shape = test_replica_shape(side);
	const uint64_t words = hg_replica_mask_words(&shape);
	const TestReplicaMask mask = side->spread.mask;

	if (side->spread.way != TEST_REPLICA_GRAPH || mask == TEST_MASK_NONE)
		return;
	side->words = test_malloc(words * sizeof(uint64_t));
	for (uint64_t w = 0; w < words; w++)
	{
		/* pieces in turn are of any words, all zero, all ones, and few bits */
		const uint64_t any = hg_mix64(*state += 0x12345);
		const uint64_t kinds[] = {any, 0, UINT64_MAX, any & any << 7 & any << 13};

		if (mask == TEST_MASK_ZERO)
			side->words[w] = 0;
		else if (mask == TEST_MASK_NEVER || (mask == TEST_MASK_FEW && w / TEST_MASK_PIECE != 1))
			side->words[w] = UINT64_MAX;
		else
			side->words[w] = kinds[w / TEST_MASK_PIECE % 4];
	}
}

/* A column's values: narrow ones of any bits are negative as often as not. */
static void
draw_column(TestReplicaSide *side, uint32_t number, uint64_t *state)
{
	static const uint64_t extremes[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t) INT64_MIN};
	const TestReplicaSpread *spread = &side->spread;
	const uint32_t width = test_replica_widths[number];
	TestReplicaColumn *column = &side->columns[number];

	column->values = test_malloc((size_t) spread->count * width + 1);
	if (spread->nulls > 0 && number % 2 == 0)
		column->nulls = test_malloc((size_t) spread->count + 1);
	for (uint32_t i = 0; i < spread->count; i++)
	{
		uint64_t bits = hg_mix64(*state += 0x54321);

		if (spread->values > 0)
			bits = bits % spread->values - spread->values / 2;
		else if (bits % 4 == 0)
			bits = extremes[bits / 4 % 5];
		memcpy(column->values + (size_t) i * width, &bits, width);
		if (column->nulls != NULL)
			column->nulls[i] = test_replica_random(state, 100) < spread->nulls ? 0x40 : 0;
	}
}

void
test_replica_side_create(TestReplicaSide *side, const TestReplicaSpread *spread, uint64_t *state)
{
	const uint32_t count = spread->count;

	memset(side, 0, sizeof(*side));
	side->spread = *spread;
	side->keys = test_malloc((size_t) count * spread->width + 1);
	side->rows = test_malloc((size_t) count * sizeof(uint32_t) + 1);
	for (uint32_t i = 0; i < count; i++)
	{
		const int64_t key = i < spread->hot ? -7 : draw_key(spread, state);
		const uint32_t blocks = (count + TEST_REPLICA_BLOCK - 1) / TEST_REPLICA_BLOCK;

		if (spread->width == 4)
			((int32_t *) side->keys)[i] = (int32_t) key;
		else
			((int64_t *) side->keys)[i] = key;
		side->rows[i] = i;
		if (spread->way == TEST_REPLICA_NUMBERED)
			side->rows[i] = (blocks - 1 - i / TEST_REPLICA_BLOCK) * (TEST_REPLICA_BLOCK + 5) +
							i % TEST_REPLICA_BLOCK;
	}
	if (spread->way == TEST_REPLICA_GRAPH)
		draw_rows(side, state);
	draw_mask(side, state);
	for (uint32_t column = 0; column < spread->ncolumns; column++)
		draw_column(side, column, state);
}

void
test_replica_side_destroy(TestReplicaSide *side)
{
	free(side->keys);
	free(side->rows);
	free(side->words);
	free(side->passed);
	free(side->pages.bytes);
	for (uint32_t column = 0; column < side->spread.ncolumns; column++)
	{
		free(side->columns[column].values);
		free(side->columns[column].nulls);
	}
}

bool
test_replica_counts(const TestReplicaSide *side, uint32_t i)
{
	const uint32_t row = side->rows[i];

	return (side->words == NULL || (side->words[row / 64] >> row % 64 & 1) != 0) &&
		   (side->passed == NULL || side->passed[i] != 0);
}

/* ------------------------------------------------------------------------
 * Jobs
 * ------------------------------------------------------------------------ */

/* The values of a column by ordinal, and what tells NULL; ordinals without a row have anything. */
static void
ordinal_values(const TestReplicaSide *side, uint32_t number, unsigned char *values, uint8_t *nulls)
{
	const HgReplicaColumnShape shape = test_replica_column_shape(side, number);
	const TestReplicaColumn *column = &side->columns[number];

	memset(values, TEST_REPLICA_GAP, hg_replica_ordinals(&shape) * shape.width);
	memset(nulls, 0, hg_replica_ordinals(&shape));
	for (uint32_t i = 0; i < side->spread.count; i++)
	{
		const uint64_t ordinal = hg_replica_ordinal(shape.stride, side->rows[i]);

		memcpy(values + ordinal * shape.width, column->values + (size_t) i * shape.width,
			   shape.width);
		nulls[ordinal] = column->nulls != NULL ? column->nulls[i] : 0;
	}
}

/*
 * Put values by ordinal, from the end on, with what tells NULL only where a piece has any.  Some
 * are put wrong before, as NULL.
 */
static HgStatus
put_ordinals(HgEngine *engine, HgJob *job, const HgReplicaColumnShape *shape,
			 const unsigned char *values, const uint8_t *nulls, bool wrong, HgError *error)
{
	const uint64_t ordinals = hg_replica_ordinals(shape);
	const uint64_t third = wrong ? ordinals / 3 : 0;
	uint8_t *ones = test_malloc(third + 1);
	HgStatus status;

	memset(ones, 1, third + 1);
	status = engine->store->put_values(job, values, wrong ? ones : NULL, third, third, error);
	for (uint64_t end = ordinals; end > 0 && status == HG_OK;)
	{
		const uint64_t first = (end - 1) / ORDINALS_PIECE * ORDINALS_PIECE;
		const bool has_nulls = memchr(nulls + first, 0x40, end - first) != NULL;

		status =
			engine->store->put_values(job, values + first * shape->width,
									  has_nulls ? nulls + first : NULL, end - first, first, error);
		end = first;
	}
	free(ones);
	return status;
}

static HgStatus
make_column(HgEngine *engine, const HgHost *host, TestReplicaSide *side, uint32_t number,
			HgError *error)
{
	const HgReplicaColumnSpec new_replica = {.shape = test_replica_column_shape(side, number)};
	const HgJobSpec spec = {
		.key_width = 8, .device = -1, .product = {HG_PRODUCT_COLUMN, .column = &new_replica}};
	const uint64_t ordinals = hg_replica_ordinals(&new_replica.shape);
	TestReplicaColumn *column = &side->columns[number];
	unsigned char *values = test_malloc(ordinals * new_replica.shape.width);
	uint8_t *nulls = test_malloc(ordinals);
	HgJob *job = NULL;
	HgStatus status = engine->open(engine, host, &spec, &job, error);

	ordinal_values(side, number, values, nulls);
	if (status == HG_OK)
		status =
			put_ordinals(engine, job, &new_replica.shape, values, nulls, number % 3 == 1, error);
	if (status == HG_OK)
		status = engine->join->build(job, error);
	if (status == HG_OK)
		status = engine->store->take_replica(job, &column->replica, &column->bytes, error);
	if (job != NULL)
		engine->join->close(job);
	free(values);
	free(nulls);
	return status;
}

void
test_replica_release(HgEngine *engine, TestReplicaSide *side)
{
	if (side->graph != NULL)
		engine->store->release(engine, side->graph);
	side->graph = NULL;
	for (uint32_t column = 0; column < side->spread.ncolumns; column++)
	{
		if (side->columns[column].replica != NULL)
			engine->store->release(engine, side->columns[column].replica);
		side->columns[column].replica = NULL;
	}
}

HgStatus
test_replica_make(HgEngine *engine, const HgHost *host, TestReplicaSide *side, HgError *error)
{
	const HgReplicaSpec new_replica = {.shape = test_replica_shape(side)};
	const HgJobSpec spec = {.key_width = side->spread.width,
							.device = -1,
							.product = {HG_PRODUCT_GRAPH, .graph = &new_replica}};
	const uint32_t count = side->spread.count;
	HgJob *job = NULL;
	HgStatus status = engine->open(engine, host, &spec, &job, error);

	for (uint32_t at = 0, n; at < count && status == HG_OK; at += n)
	{
		n = count - at < PIECE || at == 3 * PIECE ? count - at : PIECE;
		status = engine->store->put_edges(
			job, (char *) side->keys + (size_t) at * side->spread.width, side->rows + at, n, error);
	}
	if (status == HG_OK)
		status = engine->join->build(job, error);
	if (status == HG_OK)
		status = engine->store->take_replica(job, &side->graph, &side->bytes, error);
	if (job != NULL)
		engine->join->close(job);
	for (uint32_t column = 0; column < side->spread.ncolumns && status == HG_OK; column++)
		status = make_column(engine, host, side, column, error);
	return status;
}

HgStatus
test_replica_open(HgEngine *engine, const HgHost *host, const TestReplicaSide *outer,
				  const TestReplicaSide *inner, HgJob **job, HgError *error)
{
	const TestReplicaSide *const sides[2] = {outer, inner};
	HgJobSpec spec = {.key_width = 8, .device = -1};
	HgReplicaColumnUse columns[2][HG_MAX_COLUMNS];
	HgReplicaUse uses[2];

	memset(uses, 0, sizeof(uses));
	memset(columns, 0, sizeof(columns));
	*job = NULL;
	for (int which = HG_OUTER; which <= HG_INNER; which++)
	{
		const TestReplicaSide *side = sides[which];

		spec.sides[which].ncolumns = side->spread.ncolumns;
		memcpy(spec.sides[which].column_width, test_replica_widths, sizeof(test_replica_widths));
		if (side->spread.way == TEST_REPLICA_GRAPH)
		{
			for (uint32_t i = 0; i < side->spread.ncolumns; i++)
			{
				columns[which][i].shape = test_replica_column_shape(side, i);
				columns[which][i].column = side->columns[i].replica;
			}
			if (side->spread.ncolumns > 0)
				spec.sides[which].replica.columns = columns[which];
			uses[which].shape = test_replica_shape(side);
			uses[which].masked = side->spread.mask != TEST_MASK_NONE;
			uses[which].graph = side->graph;
			spec.sides[which].kind = HG_SOURCE_REPLICA;
			spec.sides[which].replica.use = &uses[which];
			continue;
		}
		if (side->spread.way == TEST_REPLICA_PAGES)
		{
			spec.sides[which].kind = HG_SOURCE_PAGES;
			spec.sides[which].pages = &side->pages.spec;
		}
		spec.key_width = side->spread.width;
		spec.sides[which].expected_rows = side->spread.count;
	}
	return engine->open(engine, host, &spec, job, error);
}

static HgStatus
append_rows(HgEngine *engine, HgJob *job, HgSide which, const TestReplicaSide *side, HgError *error)
{
	const bool numbered = side->spread.way == TEST_REPLICA_NUMBERED;
	const uint32_t piece = numbered ? TEST_REPLICA_BLOCK : PIECE;
	const uint32_t count = side->spread.count;
	HgStatus status = HG_OK;

	for (uint32_t at = 0, n; at < count && status == HG_OK; at += n)
	{
		const char *keys = (const char *) side->keys + (size_t) at * side->spread.width;

		n = count - at < piece || (!numbered && at == 3 * piece) ? count - at : piece;
		status = numbered ? engine->join->append_rows(job, which, keys, n, side->rows[at], error)
						  : engine->join->append(job, which, keys, n, error);
	}
	return status;
}

static HgStatus
append_columns(HgEngine *engine, HgJob *job, HgSide which, const TestReplicaSide *side,
			   HgError *error)
{
	const bool numbered = side->spread.way == TEST_REPLICA_NUMBERED;
	const uint32_t piece = numbered ? TEST_REPLICA_BLOCK : VALUES_PIECE;
	const uint32_t count = side->spread.count;
	HgStatus status = HG_OK;

	for (uint32_t number = 0; number < side->spread.ncolumns; number++)
	{
		const TestReplicaColumn *column = &side->columns[number];
		const uint32_t width = test_replica_widths[number];

		for (uint32_t at = 0, n; at < count && status == HG_OK; at += n)
		{
			n = count - at < piece ? count - at : piece;
			status = engine->columns->append_column(
				job, which, number, column->values + (size_t) at * width,
				column->nulls != NULL ? column->nulls + at : NULL, n, side->rows[at], error);
		}
	}
	return status;
}

/* Give pages, from their end on, as many at a time as have ordinals that follow one another. */
static HgStatus
append_pages(HgEngine *engine, HgJob *job, HgSide which, const TestReplicaSide *side,
			 HgError *error)
{
	const TestReplicaPages *pages = &side->pages;
	HgStatus status = HG_OK;

	for (uint64_t end = pages->count; end > 0 && status == HG_OK;)
	{
		const uint64_t first = (end - 1) / pages->run * pages->run;

		status =
			engine->pages->append_pages(job, which, pages->bytes + first * pages->spec.page_size,
										end - first, test_pages_ordinal(pages, first), error);
		end = first;
	}
	return status;
}

/* Give a mask, from its end on; a piece may be given as what it is not before. */
static HgStatus
set_mask(HgEngine *engine, HgJob *job, HgSide which, uint32_t lookup, const TestReplicaSide *side,
		 HgError *error)
{
	const HgReplicaShape shape = test_replica_shape(side);
	const uint64_t words = hg_replica_mask_words(&shape);
	const TestReplicaMask mask = side->spread.mask;
	HgStatus status = HG_OK;

	if (mask == TEST_MASK_ZERO)
		return engine->masks->mask(job, which, lookup, 0, words, NULL, error);
	if (mask == TEST_MASK_FEW)
		return engine->masks->mask(job, which, lookup, TEST_MASK_PIECE, TEST_MASK_PIECE,
								   side->words + TEST_MASK_PIECE, error);
	for (uint64_t end = words; mask == TEST_MASK_SOME && end > 0 && status == HG_OK;)
	{
		const uint64_t first = (end - 1) / TEST_MASK_PIECE * TEST_MASK_PIECE;
		const bool zero = first / TEST_MASK_PIECE % 4 == 1;

		if (!zero && first / TEST_MASK_PIECE % 3 == 0)
			status = engine->masks->mask(job, which, lookup, first, end - first, NULL, error);
		if (status == HG_OK)
			status = engine->masks->mask(job, which, lookup, first, end - first,
										 zero ? NULL : side->words + first, error);
		end = first;
	}
	return status;
}

HgStatus
test_replica_append(HgEngine *engine, HgJob *job, HgSide which, uint32_t lookup,
					const TestReplicaSide *side, HgError *error)
{
	HgStatus status;

	if (side->spread.way == TEST_REPLICA_GRAPH)
		return set_mask(engine, job, which, lookup, side, error);
	if (side->spread.way == TEST_REPLICA_PAGES)
		return append_pages(engine, job, which, side, error);
	status = append_rows(engine, job, which, side, error);
	return status == HG_OK ? append_columns(engine, job, which, side, error) : status;
}

HgStatus
test_replica_build(HgEngine *engine, const HgHost *host, const TestReplicaSide *outer,
				   const TestReplicaSide *inner, HgJob **job, HgError *error)
{
	const TestReplicaSide *const sides[2] = {outer, inner};
	HgStatus status = test_replica_open(engine, host, outer, inner, job, error);

	for (int which = HG_OUTER; which <= HG_INNER && status == HG_OK; which++)
		status = test_replica_append(engine, *job, (HgSide) which, 0, sides[which], error);
	return status == HG_OK ? engine->join->build(*job, error) : status;
}

/* ------------------------------------------------------------------------
 * Pairs
 * ------------------------------------------------------------------------ */

void
test_replica_add(TestReplicaPairs *pairs, uint32_t outer, uint32_t inner)
{
	if (pairs->count == pairs->room)
	{
		pairs->room = pairs->room * 2 + 1024;
		pairs->pairs = realloc(pairs->pairs, pairs->room * sizeof(uint64_t));
		if (pairs->pairs == NULL)
			abort();
	}
	if (pairs->count == 0 || pairs->pairs[pairs->count - 1] >> 32 != outer)
		pairs->runs++;
	pairs->pairs[pairs->count++] = (uint64_t) outer << 32 | inner;
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
	const uint64_t left = *(const uint64_t *) a;
	const uint64_t right = *(const uint64_t *) b;

	return left < right ? -1 : left > right;
}

static void
sort_pairs(TestReplicaPairs *pairs)
{
	if (pairs->count > 0)
		qsort(pairs->pairs, pairs->count, sizeof(uint64_t), compare_words);
}

/* The rows of a side that count, sorted. */
static Entry *
sort_rows(const TestReplicaSide *side, uint32_t *count)
{
	Entry *entries = test_malloc((size_t) side->spread.count * sizeof(Entry) + 1);

	*count = 0;
	for (uint32_t i = 0; i < side->spread.count; i++)
		if (test_replica_counts(side, i))
			entries[(*count)++] = (Entry){test_replica_key(side, i), side->rows[i]};
	qsort(entries, *count, sizeof(Entry), compare_entries);
	return entries;
}

void
test_replica_naive(const TestReplicaSide *outer, const TestReplicaSide *inner,
				   TestReplicaPairs *wanted)
{
	uint32_t nouter;
	uint32_t ninner;
	Entry *left = sort_rows(outer, &nouter);
	Entry *right = sort_rows(inner, &ninner);
	uint32_t low = 0;

	memset(wanted, 0, sizeof(*wanted));
	for (uint32_t i = 0; i < nouter; i++)
	{
		while (low < ninner && right[low].key < left[i].key)
			low++;
		for (uint32_t j = low; j < ninner && right[j].key == left[i].key; j++)
			test_replica_add(wanted, left[i].row, right[j].row);
	}
	free(left);
	free(right);
	sort_pairs(wanted);
}

uint64_t
test_replica_wanted(const TestReplicaPairs *wanted, HgMatchMode mode)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < wanted->count; i++)
		rows += i == 0 || wanted->pairs[i] >> 32 != wanted->pairs[i - 1] >> 32;
	return mode == HG_MATCH_ALL ? wanted->count : rows;
}

HgStatus
test_replica_read(HgEngine *engine, HgJob *job, size_t capacity, uint64_t chunks,
				  TestReplicaPairs *pairs, HgError *error)
{
	uint32_t *room = test_malloc(2 * capacity * sizeof(uint32_t));
	HgMatches matches = {.outer = room, .inner = room + capacity, .capacity = capacity, .count = 1};
	HgStatus status = HG_OK;

	for (; chunks > 0 && status == HG_OK && matches.count > 0; chunks--)
	{
		status = engine->join->next(job, &matches, error);
		if (status == HG_OK && matches.count > capacity)
			status = HG_INVALID;
		for (size_t i = 0; i < matches.count && status == HG_OK; i++)
			test_replica_add(pairs, matches.outer[i], matches.inner[i]);
	}
	free(room);
	return status;
}

bool
test_replica_right(TestReplicaPairs *pairs, const TestReplicaPairs *wanted, HgMatchMode mode)
{
	const size_t runs = pairs->runs;
	size_t at = 0;

	sort_pairs(pairs);
	if (pairs->count != test_replica_wanted(wanted, mode) ||
		runs != test_replica_wanted(pairs, HG_MATCH_FIRST) ||
		(mode == HG_MATCH_FIRST && runs != pairs->count))
		return false;
	for (size_t i = 0; i < pairs->count; i++, at++)
	{
		while (mode == HG_MATCH_FIRST && at < wanted->count && wanted->pairs[at] < pairs->pairs[i])
			at++;
		if (at >= wanted->count || wanted->pairs[at] != pairs->pairs[i])
			return false;
	}
	return true;
}
