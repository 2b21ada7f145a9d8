/*-------------------------------------------------------------------------
 *
 * test_engine_filters.c
 *	  The part of the suite of graph replicas that is about filters of their rows.
 *
 * Filters are drawn over columns of all widths of a side and of what it looks up.  Which rows pass
 * is found by following the expression that a filter stands for from its last step on, with a walk
 * over all ranges for each value.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_engine_filters.h"

#include "hg_tap.h"
#include "test_engine_filter_numbers.h"
#include "test_engine_replica_lookups.h"

#include <stdlib.h>
#include <string.h>

/* Columns of a side, of all widths. */
#define COLUMNS 5

/* ------------------------------------------------------------------------
 * What must come of it
 * ------------------------------------------------------------------------ */

/* Where the expression begins whose last step is this. */
static uint32_t
begin_of(const HgFilterStep *steps, uint32_t last)
{
	uint32_t begin = last;

	for (uint32_t i = 0; i < hg_filter_takes(&steps[last]); i++)
		begin = begin_of(steps, begin - 1);
	return begin;
}

/* Is row i of a table in the set of a step that looks at a column? */
static bool
naive_look(const TestStar *star, const HgFilterStep *step, const TestReplicaSide *table, uint32_t i)
{
	uint64_t bits[2] = {0};
	int64_t value;
	int64_t other;
	const bool null =
		test_replica_value(table, star->filtered[step->column], i, step->is_signed != 0, &bits[0]);

	if (step->kind == HG_FILTER_IS_NULL || step->kind == HG_FILTER_NOT_NULL)
		return null == (step->kind == HG_FILTER_IS_NULL);
	if (null)
		return false;
	value = (int64_t) bits[0];
	if (step->kind == HG_FILTER_IN)
	{
		bool in = false;

		for (uint32_t r = step->first; r < (uint32_t) step->first + step->count; r++)
			in |= star->filters.ranges[r].low <= value && value <= star->filters.ranges[r].high;
		return in != (step->negated != 0);
	}
	if (test_replica_value(table, star->filtered[step->other], i, step->is_signed != 0, &bits[1]))
		return false;
	other = (int64_t) bits[1];
	if (value == other)
		return (step->allowed & HG_FILTER_EQUAL) != 0;
	return (step->allowed & (value < other ? HG_FILTER_LESS : HG_FILTER_GREATER)) != 0;
}

/* Is it in that of the expression whose last step is this? */
static bool
naive_holds(const TestStar *star, const HgFilterStep *steps, uint32_t last,
			const TestReplicaSide *table, uint32_t i)
{
	const HgFilterStep *step = &steps[last];
	bool left;
	bool right;

	if (step->kind == HG_FILTER_NONE || step->kind == HG_FILTER_ALL)
		return step->kind == HG_FILTER_ALL;
	if (step->kind == HG_FILTER_NOT)
		return !naive_holds(star, steps, last - 1, table, i);
	if (hg_filter_looks(step))
		return naive_look(star, step, table, i);
	right = naive_holds(star, steps, last - 1, table, i);
	left = naive_holds(star, steps, begin_of(steps, last - 1) - 1, table, i);
	return step->kind == HG_FILTER_AND ? left && right : left || right;
}

/* Have a star come to what its filters let through; returns how many rows they stop. */
static uint32_t
apply(TestStar *star)
{
	const HgFilterStep *steps = star->filters.steps;
	uint32_t stopped = 0;

	for (uint32_t f = 0; f < star->filters.nfilters; f++)
	{
		const HgRowFilter *filter = &star->filters.filters[f];
		TestReplicaSide *table = test_star_table(star, filter->lookup);

		table->passed = test_malloc((size_t) table->spread.count + 1);
		for (uint32_t i = 0; i < table->spread.count; i++)
		{
			table->passed[i] = naive_holds(star, steps, filter->nsteps - 1, table, i);
			stopped += !table->passed[i];
		}
		steps += filter->nsteps;
	}
	test_star_filtered(star);
	return stopped;
}

/* ------------------------------------------------------------------------
 * Drawing
 * ------------------------------------------------------------------------ */

static void
add_step(TestStar *star, HgRowFilter *filter, HgFilterStep step)
{
	uint32_t at = 0;

	for (uint32_t f = 0; f < star->filters.nfilters; f++)
		at += star->filters.filters[f].nsteps;
	star->filters.steps[at] = step;
	filter->nsteps++;
}

/* A column of the rows that a filter is of, which may be a new one. */
static uint8_t
draw_column(TestStar *star, const HgRowFilter *filter, uint64_t *state)
{
	HgRowFilters *filters = &star->filters;
	const uint32_t number = (uint32_t) test_replica_random(state, COLUMNS);
	uint32_t last = 0;

	for (uint32_t i = 0; i < filters->ncolumns; i++)
		if (filters->columns[i].lookup == filter->lookup)
		{
			last = i;
			if (star->filtered[i] == number)
				return (uint8_t) i;
		}
	/* the last ones are for filters that have none yet */
	if (filters->ncolumns + 3 >= HG_MAX_FILTER_COLUMNS && last > 0)
		return (uint8_t) last;
	filters->columns[filters->ncolumns].lookup = filter->lookup;
	star->filtered[filters->ncolumns] = number;
	return (uint8_t) filters->ncolumns++;
}

static uint32_t
width_of(const TestStar *star, uint8_t column)
{
	return test_replica_widths[star->filtered[column]];
}

/* Ranges around 0, where most values are, and now and then to the ends of all numbers. */
static void
draw_ranges(HgRowFilters *filters, HgFilterStep *step, uint64_t *state)
{
	const uint32_t most = HG_MAX_FILTER_RANGES - filters->nranges;
	const uint32_t wanted = (uint32_t) test_replica_random(state, 5);
	int64_t at = -8;

	step->first = (uint16_t) filters->nranges;
	step->count = (uint16_t) (wanted < most ? wanted : most);
	for (uint32_t i = 0; i < step->count; i++)
	{
		HgFilterRange *range = &filters->ranges[filters->nranges++];

		range->low = at + (int64_t) test_replica_random(state, 5);
		range->high = range->low + (int64_t) test_replica_random(state, 4);
		if (i == 0 && test_replica_random(state, 6) == 0)
			range->low = INT64_MIN;
		if (i + 1 == step->count && test_replica_random(state, 6) == 0)
			range->high = INT64_MAX;
		at = range->high < 1000 ? range->high + 1 : at;
	}
}

static void
draw_look(TestStar *star, HgRowFilter *filter, uint64_t *state)
{
	HgFilterStep step = {.kind = (uint8_t) (HG_FILTER_IN + test_replica_random(state, 5)),
						 .column = draw_column(star, filter, state)};

	if (step.kind > HG_FILTER_NOT_NULL)
		step.kind = HG_FILTER_IN;
	if (step.kind == HG_FILTER_ORDER)
	{
		step.other = draw_column(star, filter, state);
		step.allowed = (uint8_t) test_replica_random(state, 8);
	}
	if (step.kind <= HG_FILTER_ORDER)
		step.is_signed = width_of(star, step.column) == 8 || width_of(star, step.other) == 8 ||
						 test_replica_random(state, 2) == 0;
	if (step.kind == HG_FILTER_IN)
	{
		step.negated = (uint8_t) test_replica_random(state, 2);
		draw_ranges(&star->filters, &step, state);
	}
	add_step(star, filter, step);
}

/* Draw an expression of at most so many steps, with so many sets left before it. */
static void
draw_expression(TestStar *star, HgRowFilter *filter, uint32_t steps, uint32_t sets, uint64_t *state)
{
	const uint32_t kind = (uint32_t) test_replica_random(state, 12);
	uint32_t left;

	if (steps >= 3 && sets + 2 <= HG_MAX_FILTER_SETS && kind < 8)
	{
		left = 1 + (uint32_t) test_replica_random(state, steps - 2);
		draw_expression(star, filter, left, sets, state);
		draw_expression(star, filter, steps - 1 - left, sets + 1, state);
		add_step(star, filter, (HgFilterStep){.kind = (uint8_t) (HG_FILTER_AND + kind % 2)});
	}
	else if (steps >= 2 && kind < 9)
	{
		draw_expression(star, filter, steps - 1, sets, state);
		add_step(star, filter, (HgFilterStep){.kind = HG_FILTER_NOT});
	}
	else if (steps >= 3 && kind == 9)
	{
		add_step(star, filter, (HgFilterStep){.kind = (uint8_t) test_replica_random(state, 2)});
		draw_look(star, filter, state);
		add_step(star, filter, (HgFilterStep){.kind = HG_FILTER_OR});
	}
	else
		draw_look(star, filter, state);
}

/* Have a filter of the rows of a lookup, or of a star's own. */
static void
draw_filter(TestStar *star, uint32_t lookup, uint32_t steps, uint64_t *state)
{
	HgRowFilter *filter = &star->filters.filters[star->filters.nfilters];

	*filter = (HgRowFilter){.lookup = lookup};
	star->filters.nfilters++;
	draw_expression(star, filter, steps, 0, state);
}

/* ------------------------------------------------------------------------
 * Joins
 * ------------------------------------------------------------------------ */

/* Two stars, in host memory of the test's. */
typedef struct Pair
{
	HgEngine *engine;
	TestHost host;
	TestStar stars[2];
	HgStatus status; /* of making them */
	HgError error;
} Pair;

static void
pair_create(Pair *pair, HgEngine *engine, const HgHost *base, const TestStarSpread *outer,
			const TestStarSpread *inner, uint64_t *state)
{
	memset(pair, 0, sizeof(*pair));
	pair->engine = engine;
	test_host_init(&pair->host, base);
	test_star_create(&pair->stars[HG_OUTER], outer, state);
	test_star_create(&pair->stars[HG_INNER], inner, state);
	for (int side = HG_OUTER; side <= HG_INNER && pair->status == HG_OK; side++)
		pair->status =
			test_star_make(pair->engine, &pair->host.host, &pair->stars[side], &pair->error);
}

/* Join them, and see that it is right; where a row finds two that is how it ends. */
static bool
pair_is_right(Pair *pair, uint64_t *state)
{
	const bool unique = pair->stars[HG_OUTER].unique && pair->stars[HG_INNER].unique;
	HgStatus status = pair->status;

	if (status == HG_OK)
		status = test_star_join(pair->engine, &pair->host.host, &pair->stars[HG_OUTER],
								&pair->stars[HG_INNER], 1500, state, &pair->error);
	if (status == (unique ? HG_OK : HG_NOT_UNIQUE))
		return true;
	hg_tap_diag("status %d: %s %s", (int) status, pair->error.message, pair->error.detail);
	return false;
}

/* Returns whether nothing is left of them. */
static bool
pair_destroy(Pair *pair)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		test_star_release(pair->engine, &pair->stars[side]);
		test_star_destroy(&pair->stars[side]);
	}
	return pair->host.held_bytes == 0 && !pair->host.misused;
}

/* A side of so many rows, with small values. */
static TestStarSpread
side_of(uint32_t rows, uint32_t parts, uint32_t values)
{
	return (TestStarSpread){.side = {.width = 8,
									 .parts = parts,
									 .count = rows,
									 .keys = rows / 2 + 1,
									 .hot = rows / 100,
									 .numbers = rows / parts + 100,
									 .stride = rows / parts + 117,
									 .ncolumns = COLUMNS,
									 .values = values,
									 .nulls = 20}};
}

/* Filters of all sizes on both sides and what they look up, with masks of all kinds beside them. */
static void
test_filters(HgEngine *engine, const HgHost *base)
{
	const uint32_t rows = hg_tap_suite() == HG_SUITE_TINY ? 300 : 3000;
	uint64_t seed = 9000;

	for (uint32_t nlookups = 0; nlookups <= 2; nlookups++)
		for (int mask = 0; mask < TEST_MASKS; mask++)
			for (uint32_t steps = 1; steps <= 16; steps += steps < 5 ? 1 : 11)
			{
				TestStarSpread outer = side_of(rows, 3, steps == 4 ? 0 : 12);
				TestStarSpread inner = side_of(rows / 2, 2, 12);
				uint32_t stopped = 0;
				Pair pair;
				bool good;

				if (!hg_tap_turn())
					continue;
				outer.nlookups = nlookups;
				outer.side.mask = (TestReplicaMask) mask;
				inner.side.mask = (TestReplicaMask) ((mask + nlookups) % TEST_MASKS);
				for (uint32_t l = 0; l < nlookups; l++)
				{
					outer.lookups[l] = (TestLookupSpread){.from = mask % 2 == 0 ? l : 0,
														  .unmatched = steps % 2 == 0,
														  .found = side_of(rows / 3, 2, 12).side,
														  .width = 4,
														  .nulls = 10,
														  .misses = 10};
					outer.lookups[l].found.hot = 0;
					outer.lookups[l].found.mask = (TestReplicaMask) ((mask + l) % TEST_MASKS);
				}
				pair_create(&pair, engine, base, &outer, &inner, &seed);
				/* of some of those that there could be */
				for (uint32_t l = 0; l <= nlookups; l++)
					if (l > 0 || steps % 3 != 0)
						draw_filter(&pair.stars[HG_OUTER], l, steps, &seed);
				if (steps % 2 == 0)
					draw_filter(&pair.stars[HG_INNER], 0, steps, &seed);
				for (int side = HG_OUTER; side <= HG_INNER; side++)
					stopped += apply(&pair.stars[side]);
				good = pair_is_right(&pair, &seed);
				good &= pair_destroy(&pair);
				hg_tap_ok(good, "%s: filters of %u steps, %u lookups, mask %d: %u rows stopped",
						  engine->name, steps, nlookups, mask, stopped);
			}
}

/* One of two rows that a row finds is left by a filter, or neither is. */
static void
test_doubles(HgEngine *engine, const HgHost *base)
{
	const TestStarSpread inner = side_of(300, 1, 12);
	uint64_t seed = 9100;

	for (int all = 0; all < 2; all++)
	{
		TestStarSpread outer = side_of(900, 2, 12);
		TestStar *star;
		Pair pair;
		bool good;

		if (!hg_tap_turn())
			continue;
		outer.nlookups = 1;
		outer.lookups[0] = (TestLookupSpread){
			.found = side_of(400, 2, 2).side, .width = 8, .doubles = TEST_DOUBLES_SEEN};
		outer.lookups[0].found.hot = outer.lookups[0].found.nulls = 0;
		pair_create(&pair, engine, base, &outer, &inner, &seed);
		star = &pair.stars[HG_OUTER];
		good = !star->unique;
		draw_filter(star, 1, 1, &seed);
		star->filters.steps[0] =
			(HgFilterStep){.kind = HG_FILTER_IN, .is_signed = 1, .negated = 1, .count = 1};
		/* values are of two kinds: none is left, or those are that are neither */
		star->filters.nranges = 1;
		star->filters.ranges[0] = (HgFilterRange){INT64_MIN, all == 0 ? INT64_MAX : -100};
		(void) apply(star);
		good &= star->unique == (all == 0) && pair_is_right(&pair, &seed);
		good &= pair_destroy(&pair);
		hg_tap_ok(good, "%s: rows that find two, of which a filter leaves %s", engine->name,
				  all == 0 ? "none" : "both");
	}
}

/* Edges of ranges: the least and the greatest values of each width. */
static void
test_extremes(HgEngine *engine, const HgHost *base)
{
	uint64_t seed = 9200;

	for (uint32_t column = 0; column < COLUMNS; column++)
		for (int is_signed = 0; is_signed < 2; is_signed++)
		{
			const uint32_t bits = test_replica_widths[column] * 8;
			const TestStarSpread spread = side_of(64, 1, 0);
			const int64_t least = is_signed ? (int64_t) (UINT64_MAX << (bits - 1)) : 0;
			Pair pair;
			TestStar *star = &pair.stars[HG_OUTER];
			uint32_t stopped = 0;
			bool good = true;

			if (!hg_tap_turn())
				continue;
			if (bits == 64 && is_signed == 0)
			{
				hg_tap_ok(true, "unsigned values of 8 bytes are compared by none");
				continue;
			}
			pair_create(&pair, engine, base, &spread, &spread, &seed);
			for (uint32_t i = 0; i < 64; i += 2)
				memset(star->side.columns[column].values + (size_t) i * bits / 8,
					   i % 4 == 0 ? 0xff : 0, bits / 8);
			/* that is not the replica */
			test_star_release(engine, star);
			pair.status = test_star_make(engine, &pair.host.host, star, &pair.error);
			star->filters.nfilters = star->filters.ncolumns = star->filters.nranges = 1;
			star->filters.filters[0].nsteps = 1;
			star->filtered[0] = column;
			star->filters.steps[0] =
				(HgFilterStep){.kind = HG_FILTER_IN, .is_signed = (uint8_t) is_signed, .count = 1};
			star->filters.ranges[0] = (HgFilterRange){least, is_signed ? -1 : 0};
			stopped = apply(star);
			good = stopped > 0 && stopped < 64 && pair_is_right(&pair, &seed);
			good &= pair_destroy(&pair);
			hg_tap_ok(good, "%s: a filter of the extremes of %u bits, %s", engine->name, bits,
					  is_signed ? "signed" : "not signed");
		}
}

/* ------------------------------------------------------------------------
 * What is refused
 * ------------------------------------------------------------------------ */

/* A way to spoil a filter of a column of 4 bytes, and one of 8, in one range each, and ORDER. */
static void
spoil(HgRowFilters *filters, int way)
{
	static const uint8_t none = HG_FILTER_KINDS;

	switch (way)
	{
		case 0:
			filters->nfilters = HG_MAX_FILTERS + 1;
			break;
		case 1:
			filters->ncolumns = HG_MAX_FILTER_COLUMNS + 1;
			break;
		case 2:
			filters->nranges = HG_MAX_FILTER_RANGES + 1;
			break;
		case 3:
			filters->filters[0].nsteps = HG_MAX_FILTER_STEPS + 1;
			break;
		case 4:
			filters->filters[0].nsteps = 0;
			break;
		case 5:
			filters->filters[0].lookup = 1;
			break;
		case 6:
			filters->nfilters = 2;
			filters->filters[1] = filters->filters[0];
			break;
		case 7:
			filters->steps[0].kind = none;
			break;
		case 8:
			filters->steps[0].column = 2;
			break;
		case 9:
			filters->steps[1].other = 2;
			break;
		case 10:
			filters->steps[0].first = 2;
			break;
		case 11:
			filters->steps[0].count = 3;
			break;
		case 12:
			filters->ranges[0].high = filters->ranges[0].low - 1;
			break;
		case 13:
			filters->ranges[1].low = filters->ranges[0].high;
			break;
		case 14:
			filters->steps[1].is_signed = 0; /* of 8 bytes */
			break;
		case 15:
			filters->steps[0].is_signed = 2;
			break;
		case 16:
			filters->steps[0].negated = 2;
			break;
		case 17:
			filters->steps[1].allowed = 8;
			break;
		case 18:
			filters->steps[2].kind = HG_FILTER_ALL; /* three sets are left */
			break;
		case 19:
			filters->steps[0].kind = HG_FILTER_NOT; /* of nothing */
			break;
		case 20:
			filters->columns[0].lookup = 1;
			break;
		case 21:
			filters->columns[1].program = 1;
			break;
		case 22:
			filters->columns[0].shape.stride++;
			break;
		case 23:
			filters->columns[1].shape.parts++;
			break;
		case 24:
			filters->columns[0].shape.width = 3;
			break;
		case 25:
			for (int s = 0; s < 3; s++) /* it looks at nothing */
				filters->steps[s] = (HgFilterStep){.kind = s < 2 ? HG_FILTER_ALL : HG_FILTER_OR};
			break;
		default:
			break;
	}
}

#define SPOILED 26

/* A job whose filter makes no sense is refused, and one whose column is not there. */
static void
test_refused(HgEngine *engine, const HgHost *base)
{
	const TestStarSpread spread = side_of(50, 2, 12);
	HgJobSpec spec = {.key_width = 8, .device = -1};
	TestStarUse uses[2];
	TestStar *star;
	uint64_t seed = 9300;
	HgJob *job = NULL;
	HgError error = {0};
	int refused = 0;
	Pair pair;
	bool good;

	if (!hg_tap_turn())
		return;
	pair_create(&pair, engine, base, &spread, &spread, &seed);
	star = &pair.stars[HG_OUTER];
	star->filters = (HgRowFilters){
		.nfilters = 1,
		.ncolumns = 2,
		.nranges = 2,
		.filters = {{.nsteps = 3}},
		.steps = {{.kind = HG_FILTER_IN, .count = 2},
				  {.kind = HG_FILTER_ORDER, .other = 1, .is_signed = 1, .allowed = HG_FILTER_LESS},
				  {.kind = HG_FILTER_AND}},
		.ranges = {{-5, 3}, {5, 9}}};
	for (uint32_t i = 0; i < COLUMNS; i++)
		if (test_replica_widths[i] == 4 || test_replica_widths[i] == 8)
			star->filtered[test_replica_widths[i] == 8] = i;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		test_star_use(&pair.stars[side], (HgSide) side, &uses[side], &spec);
	for (int way = 0; way <= SPOILED; way++)
	{
		const HgRowFilters sane = uses[HG_OUTER].filters;
		HgStatus status;

		spoil(&uses[HG_OUTER].filters, way);
		status = engine->open(engine, &pair.host.host, &spec, &job, &error);
		if (status == HG_OK)
			engine->join->close(job);
		if (status != (way < SPOILED ? HG_INVALID : HG_OK))
			hg_tap_diag("way %d: status %d", way, (int) status);
		else
			refused++;
		uses[HG_OUTER].filters = sane;
	}
	good = pair.status == HG_OK && refused == SPOILED + 1;
	uses[HG_OUTER].filters.columns[1].column = NULL;
	good &= engine->open(engine, &pair.host.host, &spec, &job, &error) == HG_NO_REPLICA;
	good &= pair_destroy(&pair);
	hg_tap_ok(good, "%s: filters that make no sense are refused", engine->name);
}

void
hg_engine_filters_suite(HgEngine *engine, const HgHost *host)
{
	test_filters(engine, host);
	test_doubles(engine, host);
	test_extremes(engine, host);
	test_refused(engine, host);
	hg_engine_filter_numbers_suite(engine, host);
}
