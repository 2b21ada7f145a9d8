/*-------------------------------------------------------------------------
 *
 * test_replica_star.c
 *	  Sides of joins whose rows look up others on the way, and what such a side comes to.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_replica_star.h"

#include <stdlib.h>
#include <string.h>

/* One in so many rows that are looked up has the key of the one before it. */
#define DOUBLES_EVERY 10

/* Rows that look up which the side has not, for each hundred that it has. */
#define EXTRA_ROWS 5

/* A number with what it belongs to. */
typedef struct Pair
{
	int64_t number;
	uint32_t i;
} Pair;

static int
compare_pairs(const void *a, const void *b)
{
	const Pair *left = a;
	const Pair *right = b;

	return left->number < right->number ? -1 : left->number > right->number;
}

static void
sort_pairs(Pair *pairs, uint32_t count)
{
	if (count > 0)
		qsort(pairs, count, sizeof(Pair), compare_pairs);
}

/* The first of sorted pairs whose number is not less. */
static uint32_t
lower_bound(const Pair *pairs, uint32_t count, int64_t number)
{
	uint32_t low = 0;

	while (count > 0)
	{
		const uint32_t half = count / 2;

		if (pairs[low + half].number < number)
		{
			low += half + 1;
			count -= half + 1;
		}
		else
			count = half;
	}
	return low;
}

/* ------------------------------------------------------------------------
 * Drawing
 * ------------------------------------------------------------------------ */

static void
set_key(TestReplicaSide *side, uint32_t i, int64_t key)
{
	if (side->spread.width == 4)
		((int32_t *) side->keys)[i] = (int32_t) key;
	else
		((int64_t *) side->keys)[i] = key;
}

static bool
is_double(const TestLookupSpread *spread, uint32_t i)
{
	return spread->doubles != TEST_DOUBLES_NONE && i + 1 >= DOUBLES_EVERY &&
		   (i % DOUBLES_EVERY == 0 || (i + 1) % DOUBLES_EVERY == 0);
}

/* The key of row i of those that are looked up: no two the same. */
static int64_t
found_key(const TestReplicaSide *found, uint32_t i)
{
	const bool wide = found->spread.width == 8;
	const int64_t key = (int64_t) i * 3 - found->spread.count;

	if (i == 1)
		return wide ? INT64_MIN : INT32_MIN;
	if (i == 2)
		return wide ? INT64_MAX : INT32_MAX;
	return wide && i % 8 == 0 ? key + (INT64_C(1) << 32) : key;
}

/* Rows that are looked up. */
static void
draw_found(TestReplicaSide *found, const TestLookupSpread *spread, uint64_t *state)
{
	test_replica_side_create(found, &spread->found, state);
	for (uint32_t i = 0; i < found->spread.count; i++)
		set_key(found, i, found_key(found, i));
	for (uint32_t i = DOUBLES_EVERY;
		 spread->doubles != TEST_DOUBLES_NONE && i < found->spread.count; i += DOUBLES_EVERY)
	{
		const uint32_t row = found->rows[i];

		set_key(found, i, test_replica_key(found, i - 1));
		if (spread->doubles == TEST_DOUBLES_MASKED)
			found->words[row / 64] &= ~(UINT64_C(1) << row % 64);
	}
}

/* What a row looks for, which may be what no row has. */
static int64_t
draw_key(const TestReplicaSide *found, const TestLookupSpread *spread, bool counts, uint64_t *state)
{
	const uint32_t count = found->spread.count;

	if (count == 0 || test_replica_random(state, 100) < spread->misses)
		return (int64_t) test_replica_random(state, 3 * (uint64_t) count + 10) * 3 + 1 - count;
	for (;;)
	{
		const uint32_t i = (uint32_t) test_replica_random(state, count);

		if (spread->doubles != TEST_DOUBLES_UNSEEN || !counts || !is_double(spread, i))
			return test_replica_key(found, i);
	}
}

static void
add_own(TestReplicaSide *own, uint32_t row, int64_t key)
{
	own->rows[own->spread.count] = row;
	set_key(own, own->spread.count++, key);
}

/* Rows that look up: those of a table, but for some, and some that it has not. */
static void
draw_own(TestStarLookup *lookup, const TestReplicaSide *table, uint64_t *state)
{
	const TestLookupSpread *spread = &lookup->spread;
	const uint32_t count = table->spread.count;
	const uint32_t most = count + count * EXTRA_ROWS / 100;
	const HgReplicaShape shape = test_replica_shape(table);
	uint64_t *taken = calloc(hg_replica_mask_words(&shape), sizeof(uint64_t));
	TestReplicaSide *own = &lookup->own;

	memset(own, 0, sizeof(*own));
	own->spread = (TestReplicaSpread){.width = spread->by_key ? table->spread.width : spread->width,
									  .parts = table->spread.parts};
	own->keys = test_malloc((size_t) most * own->spread.width + 1);
	own->rows = test_malloc((size_t) most * sizeof(uint32_t) + 1);
	if (taken == NULL)
		abort();
	for (uint32_t i = 0; i < count; i++)
	{
		taken[table->rows[i] / 64] |= UINT64_C(1) << table->rows[i] % 64;
		if (spread->by_key)
			add_own(own, table->rows[i], test_replica_key(table, i));
		else if (test_replica_random(state, 100) >= spread->nulls)
			add_own(own, table->rows[i],
					draw_key(&lookup->found, spread, test_replica_counts(table, i), state));
	}
	for (uint32_t i = count; i < most && !spread->by_key; i++)
	{
		const uint32_t number = table->spread.numbers > 0 ? table->spread.numbers : 1 << 19;
		const uint32_t row = HG_FLAT_ROW(test_replica_random(state, table->spread.parts),
										 test_replica_random(state, number));

		if ((taken[row / 64] >> row % 64 & 1) == 0 && spread->doubles != TEST_DOUBLES_SEEN)
			add_own(own, row, draw_key(&lookup->found, spread, true, state));
		taken[row / 64] |= UINT64_C(1) << row % 64;
	}
	free(taken);
}

/* ------------------------------------------------------------------------
 * What it comes to
 * ------------------------------------------------------------------------ */

/* The rows of a lookup's table. */
static const TestReplicaSide *
table_of(const TestStar *star, uint32_t from)
{
	return from == 0 ? &star->side : &star->lookups[from - 1].found;
}

/* Find what each row of a table that looks up finds. */
static void
find(TestStarLookup *lookup, const TestReplicaSide *table)
{
	const TestReplicaSide *found = &lookup->found;
	const TestReplicaSide *own = &lookup->own;
	Pair *keys = test_malloc((size_t) found->spread.count * sizeof(Pair) + 1);
	Pair *rows = test_malloc((size_t) own->spread.count * sizeof(Pair) + 1);
	uint32_t nkeys = 0;

	for (uint32_t i = 0; i < found->spread.count; i++)
		if (test_replica_counts(found, i))
			keys[nkeys++] = (Pair){test_replica_key(found, i), i};
	sort_pairs(keys, nkeys);
	for (uint32_t i = 0; i < own->spread.count; i++)
		rows[i] = (Pair){own->rows[i], i};
	sort_pairs(rows, own->spread.count);
	lookup->ordinals = test_malloc((size_t) table->spread.count * sizeof(uint32_t) + 1);
	for (uint32_t i = 0; i < table->spread.count; i++)
	{
		const uint32_t row = lower_bound(rows, own->spread.count, table->rows[i]);
		int64_t key;
		uint32_t at;

		lookup->ordinals[i] = HG_FOUND_NONE;
		if (row == own->spread.count || rows[row].number != table->rows[i])
			continue;
		key = test_replica_key(own, rows[row].i);
		at = lower_bound(keys, nkeys, key);
		if (at == nkeys || keys[at].number != key)
			continue;
		lookup->ordinals[i] =
			at + 1 < nkeys && keys[at + 1].number == key ? HG_FOUND_TWO : keys[at].i;
	}
	free(keys);
	free(rows);
}

/* What row i of the side finds by all lookups; does it count then? */
static bool
follow(TestStar *star, uint32_t i, uint32_t found[HG_MAX_LOOKUPS])
{
	bool counts = test_replica_counts(&star->side, i);

	for (uint32_t l = 0; l < star->nlookups; l++)
	{
		const TestStarLookup *lookup = &star->lookups[l];
		const uint32_t from = lookup->spread.from;
		const uint32_t looking = from == 0 ? i : found[from - 1];

		found[l] = looking < HG_FOUND_TWO ? lookup->ordinals[looking] : HG_FOUND_NONE;
		if (counts && found[l] == HG_FOUND_TWO)
			star->unique = false;
		counts = counts && (found[l] < HG_FOUND_TWO || lookup->spread.unmatched);
	}
	return counts;
}

/* The value of a column of row i of the side, which has found these, becomes that of row to. */
static void
set_value(TestStar *star, uint32_t number, uint32_t i, const uint32_t *found, uint32_t to)
{
	const uint32_t width = test_replica_widths[number];
	const uint32_t source = star->sources[number];
	const uint32_t from = source == 0 ? i : found[source - 1];
	const TestReplicaColumn *column = &table_of(star, source)->columns[number];
	TestReplicaColumn *flat = &star->flat.columns[number];

	memset(flat->values + (size_t) to * width, 0, width);
	flat->nulls[to] = 1;
	if (from >= HG_FOUND_TWO)
		return;
	memcpy(flat->values + (size_t) to * width, column->values + (size_t) from * width, width);
	flat->nulls[to] = column->nulls != NULL && column->nulls[from] != 0;
}

static void
flatten(TestStar *star)
{
	const TestReplicaSide *side = &star->side;
	const uint32_t count = side->spread.count;
	TestReplicaSide *flat = &star->flat;

	flat->spread = side->spread;
	flat->spread.mask = TEST_MASK_NONE;
	flat->spread.count = 0;
	flat->keys = test_malloc((size_t) count * side->spread.width + 1);
	flat->rows = test_malloc((size_t) count * sizeof(uint32_t) + 1);
	for (uint32_t column = 0; column < side->spread.ncolumns; column++)
	{
		flat->columns[column].values =
			test_malloc((size_t) count * test_replica_widths[column] + 1);
		flat->columns[column].nulls = test_malloc((size_t) count + 1);
	}
	for (uint32_t i = 0; i < count; i++)
	{
		const uint32_t to = flat->spread.count;
		uint32_t found[HG_MAX_LOOKUPS];

		if (!follow(star, i, found))
			continue;
		flat->rows[to] = side->rows[i];
		set_key(flat, to, test_replica_key(side, i));
		for (uint32_t column = 0; column < side->spread.ncolumns; column++)
			set_value(star, column, i, found, to);
		flat->spread.count++;
	}
}

void
test_star_create(TestStar *star, const TestStarSpread *spread, uint64_t *state)
{
	memset(star, 0, sizeof(*star));
	star->unique = true;
	star->nlookups = spread->nlookups;
	test_replica_side_create(&star->side, &spread->side, state);
	for (uint32_t l = 0; l < star->nlookups; l++)
	{
		TestStarLookup *lookup = &star->lookups[l];

		lookup->spread = spread->lookups[l];
		lookup->spread.found.ncolumns = spread->side.ncolumns;
		draw_found(&lookup->found, &lookup->spread, state);
		draw_own(lookup, table_of(star, lookup->spread.from), state);
		find(lookup, table_of(star, lookup->spread.from));
	}
	for (uint32_t column = 0; column < HG_MAX_COLUMNS; column++)
		star->sources[column] = (column + 1) % (star->nlookups + 1);
	if (star->nlookups > 0)
		flatten(star);
}

TestReplicaSide *
test_star_table(TestStar *star, uint32_t lookup)
{
	return lookup == 0 ? &star->side : &star->lookups[lookup - 1].found;
}

void
test_star_filtered(TestStar *star)
{
	star->unique = true;
	for (uint32_t l = 0; l < star->nlookups; l++)
	{
		free(star->lookups[l].ordinals);
		find(&star->lookups[l], table_of(star, star->lookups[l].spread.from));
	}
	if (star->nlookups == 0)
		return;
	test_replica_side_destroy(&star->flat);
	memset(&star->flat, 0, sizeof(star->flat));
	flatten(star);
}

void
test_star_destroy(TestStar *star)
{
	test_replica_side_destroy(&star->side);
	for (uint32_t l = 0; l < star->nlookups; l++)
	{
		test_replica_side_destroy(&star->lookups[l].own);
		test_replica_side_destroy(&star->lookups[l].found);
		free(star->lookups[l].ordinals);
	}
	if (star->nlookups > 0)
		test_replica_side_destroy(&star->flat);
}

const TestReplicaSide *
test_star_flat(const TestStar *star)
{
	return star->nlookups > 0 ? &star->flat : &star->side;
}

/* ------------------------------------------------------------------------
 * Jobs
 * ------------------------------------------------------------------------ */

HgStatus
test_star_make(HgEngine *engine, const HgHost *host, TestStar *star, HgError *error)
{
	HgStatus status = HG_OK;

	if (star->side.spread.way == TEST_REPLICA_GRAPH)
		status = test_replica_make(engine, host, &star->side, error);
	for (uint32_t l = 0; l < star->nlookups && status == HG_OK; l++)
	{
		status = test_replica_make(engine, host, &star->lookups[l].own, error);
		if (status == HG_OK)
			status = test_replica_make(engine, host, &star->lookups[l].found, error);
	}
	return status;
}

void
test_star_release(HgEngine *engine, TestStar *star)
{
	test_replica_release(engine, &star->side);
	for (uint32_t l = 0; l < star->nlookups; l++)
	{
		test_replica_release(engine, &star->lookups[l].own);
		test_replica_release(engine, &star->lookups[l].found);
	}
}

void
test_star_compute(TestStar *star, uint32_t column, int64_t constant)
{
	star->programs[star->nprograms] = (HgProgram){
		.nsteps = 1, .steps = {{.kind = HG_STEP_CONSTANT, .bits = 64, .constant = constant}}};
	star->computed[column] = ++star->nprograms;
}

static HgReplicaUse
use_of(const TestReplicaSide *side)
{
	return (HgReplicaUse){.shape = test_replica_shape(side),
						  .masked = side->spread.mask != TEST_MASK_NONE,
						  .graph = side->graph};
}

/* The stride of a table's ordinals, which all columns of it have. */
static uint32_t
stride_of(const TestReplicaSide *side)
{
	return test_replica_column_shape(side, 0).stride;
}

static void
use_filters(const TestStar *star, HgSide which, TestStarUse *use, HgJobSpec *spec)
{
	if (star->filters.nfilters == 0)
		return;
	use->filters = star->filters;
	for (uint32_t i = 0; i < use->filters.ncolumns; i++)
	{
		HgReplicaColumnUse *column = &use->filters.columns[i];
		const TestReplicaSide *table = table_of(star, column->lookup);

		column->shape = test_replica_column_shape(table, star->filtered[i]);
		column->column = table->columns[star->filtered[i]].replica;
	}
	spec->sides[which].replica.filters = &use->filters;
}

void
test_star_use(const TestStar *star, HgSide which, TestStarUse *use, HgJobSpec *spec)
{
	const TestReplicaSide *side = &star->side;

	memset(use, 0, sizeof(*use));
	spec->sides[which].ncolumns = side->spread.ncolumns;
	memcpy(spec->sides[which].column_width, test_replica_widths, sizeof(test_replica_widths));
	if (side->spread.way != TEST_REPLICA_GRAPH)
	{
		spec->key_width = side->spread.width;
		spec->sides[which].expected_rows = side->spread.count;
		return;
	}
	use->side = use_of(side);
	for (uint32_t i = 0; i < side->spread.ncolumns; i++)
	{
		const TestReplicaSide *table = table_of(star, star->sources[i]);

		if (star->computed[i] > 0)
		{
			use->columns[i].shape = test_replica_column_shape(side, i);
			use->columns[i].program = star->computed[i];
			continue;
		}
		use->columns[i].shape = test_replica_column_shape(table, i);
		use->columns[i].column = table->columns[i].replica;
		use->columns[i].lookup = star->sources[i];
	}
	for (uint32_t l = 0; l < star->nlookups; l++)
	{
		const TestStarLookup *lookup = &star->lookups[l];

		use->lookups[l].from = lookup->spread.from;
		use->lookups[l].unmatched = lookup->spread.unmatched;
		use->lookups[l].stride = stride_of(table_of(star, lookup->spread.from));
		use->lookups[l].found_stride = stride_of(&lookup->found);
		use->lookups[l].own = use_of(&lookup->own);
		use->lookups[l].found = use_of(&lookup->found);
	}
	spec->sides[which].kind = HG_SOURCE_REPLICA;
	spec->sides[which].replica.use = &use->side;
	spec->sides[which].replica.columns = use->columns;
	memcpy(use->programs, star->programs, sizeof(use->programs));
	spec->sides[which].replica.nprograms = star->nprograms;
	spec->sides[which].replica.programs = use->programs;
	use_filters(star, which, use, spec);
	spec->sides[which].replica.nlookups = star->nlookups;
	spec->sides[which].replica.lookups = use->lookups;
}

HgStatus
test_star_build(HgEngine *engine, const HgHost *host, const TestStar *outer, const TestStar *inner,
				HgJob **job, HgError *error)
{
	const TestStar *const stars[2] = {outer, inner};
	HgJobSpec spec = {.key_width = 8, .device = -1};
	TestStarUse uses[2];
	HgStatus status;

	*job = NULL;
	for (int which = HG_OUTER; which <= HG_INNER; which++)
		test_star_use(stars[which], (HgSide) which, &uses[which], &spec);
	status = engine->open(engine, host, &spec, job, error);
	/* nothing of it is looked at any more */
	memset(uses, 0x5a, sizeof(uses));
	for (int which = HG_OUTER; which <= HG_INNER && status == HG_OK; which++)
	{
		status = test_replica_append(engine, *job, (HgSide) which, 0, &stars[which]->side, error);
		for (uint32_t l = 0; l < stars[which]->nlookups && status == HG_OK; l++)
			status = test_replica_append(engine, *job, (HgSide) which, l + 1,
										 &stars[which]->lookups[l].found, error);
	}
	return status == HG_OK ? engine->join->build(*job, error) : status;
}
