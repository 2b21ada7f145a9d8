/*-------------------------------------------------------------------------
 *
 * test_engine_filter_numbers.c
 *	  The part of the suite of filters (test_engine_filters.h) that is about numbers they compute.
 *
 * A filter is a condition on a column, and one on numbers, in one of several forms.  Which rows
 * pass, and whether a number of one does not fit, is found by the form, with numbers as those of
 * computed columns are found (test_engine_computed.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_engine_filter_numbers.h"

#include "hg_tap.h"
#include "test_engine_computed.h"
#include "test_engine_replica_lookups.h"

#include <stdlib.h>
#include <string.h>

/* Columns of a filter: those of programs, by their numbers. */
#define COLUMNS TEST_PROGRAM_COLUMNS

/* How a condition on a column is joined with one on numbers. */
typedef enum Join
{
	REQUIRED, /* it stands ahead of that, which is not asked for other rows */
	BOTH,
	EITHER,
	NEITHER,
	JOINS
} Join;

/* What is compared. */
typedef enum Compared
{
	IN_RANGE,
	NUMBERS,	   /* two of them */
	WITH_COLUMN,   /* a number with a column */
	COLUMN_WITH,   /* a column with a number */
	COMPARED_KINDS /* number of kinds, not a kind */
} Compared;

typedef struct Condition
{
	Join join;
	Compared compared;
	bool negated;		   /* of IN_RANGE */
	uint8_t allowed;	   /* of the others */
	uint32_t columns[2];   /* the one of the condition ahead, and the one that is compared */
	HgFilterRange ahead;   /* of that column */
	HgFilterRange range;   /* of IN_RANGE */
	HgProgram programs[2]; /* NUMBERS has two */
} Condition;

/* ------------------------------------------------------------------------
 * What must come of it
 * ------------------------------------------------------------------------ */

static bool
is_within(const HgFilterRange *range, int64_t value)
{
	return range->low <= value && value <= range->high;
}

/* The value of row i in a column; returns whether it is NULL. */
static bool
column_value(const TestReplicaSide *table, uint32_t column, uint32_t i, int64_t *value)
{
	uint64_t bits;
	const bool null = test_replica_value(table, column, i, true, &bits);

	*value = (int64_t) bits;
	return null;
}

/* Does what is compared hold for row i? */
static bool
naive_compared(const Condition *condition, const TestReplicaSide *table, uint32_t i, bool *lost)
{
	int64_t left;
	int64_t right = 0;
	bool null = test_program_value(&condition->programs[0], table, i, &left, lost);

	if (condition->compared == IN_RANGE)
		return !null && is_within(&condition->range, left) != condition->negated;
	if (condition->compared == NUMBERS)
		null |= test_program_value(&condition->programs[1], table, i, &right, lost);
	else
		null |= column_value(table, condition->columns[1], i, &right);
	if (condition->compared == COLUMN_WITH)
	{
		const int64_t swap = left;

		left = right;
		right = swap;
	}
	return !null && (condition->allowed & (left < right	   ? HG_FILTER_LESS
										   : left == right ? HG_FILTER_EQUAL
														   : HG_FILTER_GREATER)) != 0;
}

/* Does row i pass?  *lost becomes true where that is not known. */
static bool
naive_passes(const Condition *condition, const TestReplicaSide *table, uint32_t i, bool *lost)
{
	int64_t value;
	const bool null = column_value(table, condition->columns[0], i, &value);
	const bool ahead = !null && is_within(&condition->ahead, value);
	bool holds;

	if (condition->join == REQUIRED && !ahead)
		return false;
	holds = naive_compared(condition, table, i, lost);
	switch (condition->join)
	{
		case EITHER:
			return ahead || holds;
		case NEITHER:
			return !(ahead || holds);
		default:
			return ahead && holds;
	}
}

/* Are there places without a row that no mask leaves out? */
static bool
has_gaps(const TestReplicaSide *table)
{
	const HgReplicaShape shape = test_replica_shape(table);
	const uint32_t stride = test_replica_column_shape(table, 0).stride;
	bool *taken = test_malloc((size_t) shape.parts * stride);
	bool gaps = false;

	memset(taken, false, (size_t) shape.parts * stride);
	for (uint32_t i = 0; i < table->spread.count; i++)
		taken[hg_replica_ordinal(stride, table->rows[i])] = true;
	for (uint32_t part = 0; part < shape.parts; part++)
		for (uint32_t number = 0; number < stride; number++)
		{
			const uint32_t row = HG_FLAT_ROW(part, number);

			gaps |= !taken[(size_t) part * stride + number] &&
					(table->words == NULL || (table->words[row / 64] >> row % 64 & 1) != 0);
		}
	free(taken);
	return gaps;
}

/* Does a number not fit that is computed of what tests put where there is no row? */
static bool
gap_is_lost(const Condition *condition)
{
	unsigned char values[sizeof(uint64_t)];
	TestReplicaSide gap = {.spread = {.count = 1, .ncolumns = COLUMNS}};
	bool lost = false;

	memset(values, TEST_REPLICA_GAP, sizeof(values));
	for (uint32_t column = 0; column < COLUMNS; column++)
		gap.columns[column].values = values;
	(void) naive_passes(condition, &gap, 0, &lost);
	return lost;
}

/* Have rows of a table pass or not; returns whether a number of one that counts does not fit. */
static bool
apply(const Condition *condition, TestReplicaSide *table)
{
	uint8_t *passed = test_malloc((size_t) table->spread.count + 1);
	bool lost = gap_is_lost(condition) && has_gaps(table);

	for (uint32_t i = 0; i < table->spread.count; i++)
	{
		bool row_lost = false;

		passed[i] = naive_passes(condition, table, i, &row_lost);
		lost |= row_lost && test_replica_counts(table, i);
	}
	table->passed = passed;
	return lost;
}

/* ------------------------------------------------------------------------
 * Making filters
 * ------------------------------------------------------------------------ */

static void
add_step(HgRowFilters *filters, HgFilterStep step)
{
	uint32_t at = 0;

	for (uint32_t f = 0; f < filters->nfilters; f++)
		at += filters->filters[f].nsteps;
	filters->steps[at] = step;
	filters->filters[filters->nfilters - 1].nsteps++;
}

/* Add a range; returns its number. */
static uint16_t
add_range(HgRowFilters *filters, HgFilterRange range)
{
	filters->ranges[filters->nranges] = range;
	return (uint16_t) filters->nranges++;
}

/* Add a number that is computed, of columns from this one on; returns its number. */
static uint8_t
add_number(HgRowFilters *filters, const HgProgram *program, uint32_t columns)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < filters->nnumbers; i++)
		first += filters->numbers[i].count;
	for (uint32_t i = 0; i < program->nsteps; i++)
	{
		filters->number_steps[first + i] = program->steps[i];
		if (program->steps[i].kind == HG_STEP_COLUMN)
			filters->number_steps[first + i].column += (uint8_t) columns;
	}
	filters->numbers[filters->nnumbers] =
		(HgFilterNumber){(uint16_t) first, (uint16_t) program->nsteps};
	return (uint8_t) filters->nnumbers++;
}

/* Have a star's rows of a lookup, as HgRowFilter has it, filtered by a condition. */
static void
add_filter(TestStar *star, uint32_t lookup, const Condition *condition)
{
	HgRowFilters *filters = &star->filters;
	const uint32_t columns = filters->ncolumns;
	const uint8_t compared = (uint8_t) (columns + condition->columns[1]);
	HgFilterStep step = {.kind = HG_FILTER_ORDER,
						 .is_signed = 1,
						 .allowed = condition->allowed,
						 .computed = HG_FILTER_COMPUTED};

	filters->filters[filters->nfilters++] = (HgRowFilter){.lookup = lookup};
	for (uint32_t i = 0; i < COLUMNS; i++)
	{
		star->filtered[filters->ncolumns] = i;
		filters->columns[filters->ncolumns++].lookup = lookup;
	}
	add_step(filters, (HgFilterStep){.kind = HG_FILTER_IN,
									 .column = (uint8_t) (columns + condition->columns[0]),
									 .is_signed = 1,
									 .first = add_range(filters, condition->ahead),
									 .count = 1});
	if (condition->join == REQUIRED)
		add_step(filters, (HgFilterStep){.kind = HG_FILTER_REQUIRED});
	step.column = add_number(filters, &condition->programs[0], columns);
	switch (condition->compared)
	{
		case IN_RANGE:
			step.kind = HG_FILTER_IN;
			step.allowed = 0;
			step.negated = condition->negated;
			step.first = add_range(filters, condition->range);
			step.count = 1;
			break;
		case NUMBERS:
			step.other = add_number(filters, &condition->programs[1], columns);
			step.computed |= HG_FILTER_OTHER_COMPUTED;
			break;
		case WITH_COLUMN:
			step.other = compared;
			break;
		default:
			step.other = step.column;
			step.column = compared;
			step.computed = HG_FILTER_OTHER_COMPUTED;
			break;
	}
	add_step(filters, step);
	add_step(filters,
			 (HgFilterStep){.kind = condition->join >= EITHER ? HG_FILTER_OR : HG_FILTER_AND});
	if (condition->join == NEITHER)
		add_step(filters, (HgFilterStep){.kind = HG_FILTER_NOT});
}

static void
draw_condition(Condition *condition, uint32_t steps, uint64_t *state)
{
	memset(condition, 0, sizeof(*condition));
	condition->join = (Join) test_replica_random(state, JOINS);
	condition->compared = (Compared) test_replica_random(state, COMPARED_KINDS);
	condition->negated = test_replica_random(state, 2) == 0;
	condition->allowed = (uint8_t) test_replica_random(state, 8);
	for (int i = 0; i < 2; i++)
	{
		condition->columns[i] = (uint32_t) test_replica_random(state, COLUMNS);
		test_program_draw(&condition->programs[i], steps, state);
	}
	condition->ahead.low = -3;
	condition->ahead.high = (int64_t) test_replica_random(state, 7) - 2;
	condition->range.low = (int64_t) test_replica_random(state, 60) - 50;
	condition->range.high = condition->range.low + (int64_t) test_replica_random(state, 50);
}

/* ------------------------------------------------------------------------
 * Joins
 * ------------------------------------------------------------------------ */

static TestStarSpread
side_of(uint32_t rows, uint32_t parts, uint64_t values)
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

/* Join two stars: HG_OVERFLOW where it must be, and else what is right. */
static bool
is_right(HgEngine *engine, TestHost *host, TestStar stars[2], bool lost, uint64_t *state)
{
	HgError error = {0};
	HgStatus status = test_star_join(engine, &host->host, &stars[HG_OUTER], &stars[HG_INNER], 1500,
									 state, &error);

	if (status == (lost ? HG_OVERFLOW : HG_OK))
		return true;
	hg_tap_diag("status %d, where numbers %s: %s %s", (int) status, lost ? "don't fit" : "fit",
				error.message, error.detail);
	return false;
}

/* Make two stars, of which the tables stay where they are. */
static bool
make_stars(HgEngine *engine, TestHost *host, TestStar stars[2])
{
	HgError error = {0};
	bool made = true;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		made = made && test_star_make(engine, &host->host, &stars[side], &error) == HG_OK;
	return made;
}

/* Returns whether nothing is left of them. */
static bool
destroy_stars(HgEngine *engine, TestHost *host, TestStar stars[2])
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		test_star_release(engine, &stars[side]);
		test_star_destroy(&stars[side]);
	}
	return host->held_bytes == 0 && !host->misused;
}

/* Conditions of all forms on both sides and what one looks up, with masks of all kinds. */
static void
test_conditions(HgEngine *engine, const HgHost *base)
{
	const uint32_t rows = hg_tap_suite() == HG_SUITE_TINY ? 300 : 3000;
	uint64_t seed = 9400;

	for (uint32_t round = 0; round < 60; round++)
	{
		const uint32_t nlookups = round % 2;
		const int mask = (int) (round / 2 % TEST_MASKS);
		/* of three of the larger ones no product fits */
		TestStarSpread outer = side_of(rows, 3, round % 3 == 0 ? 4000000 : 12);
		TestStarSpread inner = side_of(rows / 2, 2, 12);
		Condition condition;
		TestHost host;
		TestStar stars[2];
		bool lost = false;
		bool good;

		if (!hg_tap_turn())
			continue;
		test_host_init(&host, base);
		outer.nlookups = nlookups;
		outer.side.mask = (TestReplicaMask) mask;
		inner.side.mask = (TestReplicaMask) ((mask + nlookups) % TEST_MASKS);
		outer.lookups[0] = (TestLookupSpread){
			.found = side_of(rows / 3, 2, 12).side, .width = 4, .nulls = 10, .misses = 10};
		outer.lookups[0].found.hot = 0;
		test_star_create(&stars[HG_OUTER], &outer, &seed);
		test_star_create(&stars[HG_INNER], &inner, &seed);
		good = make_stars(engine, &host, stars);
		for (uint32_t lookup = 0; lookup <= nlookups; lookup++)
		{
			draw_condition(&condition, 1 + round % 7, &seed);
			add_filter(&stars[HG_OUTER], lookup, &condition);
			lost |= apply(&condition, test_star_table(&stars[HG_OUTER], lookup));
		}
		draw_condition(&condition, 1 + round % 16, &seed);
		add_filter(&stars[HG_INNER], 0, &condition);
		lost |= apply(&condition, &stars[HG_INNER].side);
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			test_star_filtered(&stars[side]);
		good = good && is_right(engine, &host, stars, lost, &seed);
		good &= destroy_stars(engine, &host, stars);
		hg_tap_ok(good, "%s: filters over numbers of up to %u steps, %u lookups, mask %d%s",
				  engine->name, 1 + round % 16, nlookups, mask, lost ? ", overflow" : "");
	}
}

/* Numbers of rows that a condition leaves out are not computed where it is required, and else are.
 */
static void
test_required(HgEngine *engine, const HgHost *base)
{
	const TestStarSpread spread = side_of(500, 2, 12);
	uint64_t seed = 9500;

	for (Join join = REQUIRED; join <= BOTH; join++)
	{
		Condition condition = {
			.join = join,
			.range = {INT32_MIN, INT32_MAX},
			.columns = {0, 1},
			.ahead = {-2, 2},
			.programs = {
				{.nsteps = 3,
				 .steps = {{.kind = HG_STEP_COLUMN, .bits = 64, .column = 1, .is_signed = 1},
						   {.kind = HG_STEP_CONSTANT, .bits = 64, .constant = 1},
						   {.kind = HG_STEP_ADD, .bits = 32}}}}};
		const int32_t most = INT32_MAX;
		TestHost host;
		TestStar stars[2];
		bool lost;
		bool good;

		if (!hg_tap_turn())
			continue;
		test_host_init(&host, base);
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			test_star_create(&stars[side], &spread, &seed);
		for (uint32_t i = 0; i < spread.side.count; i++)
		{
			int64_t value;

			if (column_value(&stars[HG_OUTER].side, 0, i, &value) || value < -2 || value > 2)
				memcpy(stars[HG_OUTER].side.columns[1].values + (size_t) i * sizeof(most), &most,
					   sizeof(most));
		}
		good = make_stars(engine, &host, stars);
		add_filter(&stars[HG_OUTER], 0, &condition);
		lost = apply(&condition, &stars[HG_OUTER].side);
		good = good && lost == (join != REQUIRED) && is_right(engine, &host, stars, lost, &seed);
		good &= destroy_stars(engine, &host, stars);
		hg_tap_ok(good, "%s: a condition ahead of numbers that don't fit is %s", engine->name,
				  join == REQUIRED ? "required" : "not required");
	}
}

/* ------------------------------------------------------------------------
 * What is refused
 * ------------------------------------------------------------------------ */

/* A way to spoil a filter that compares a number of three steps with another one of three. */
static void
spoil(HgRowFilters *filters, int way)
{
	HgFilterStep *compares = &filters->steps[2];
	HgStep *steps = filters->number_steps;

	switch (way)
	{
		case 0:
			filters->nnumbers = HG_MAX_FILTER_NUMBERS + 1;
			break;
		case 1:
			compares->column = 2;
			break;
		case 2:
			compares->other = UINT8_MAX;
			break;
		case 3:
			compares->is_signed = 0;
			break;
		case 4:
			compares->computed = 4;
			break;
		case 5:
			compares->kind = HG_FILTER_IN; /* has no other one */
			break;
		case 6:
			compares->kind = HG_FILTER_IS_NULL; /* of a number */
			break;
		case 7:
			filters->numbers[0].first = HG_MAX_FILTER_NUMBER_STEPS;
			break;
		case 8:
			filters->numbers[1].first = UINT16_MAX;
			break;
		case 9:
			filters->numbers[0].count = UINT16_MAX;
			break;
		case 10:
			filters->numbers[1].count = 2; /* leaves two numbers */
			break;
		case 11:
			filters->numbers[0].count = 0;
			break;
		case 12:
			steps[0].column = COLUMNS;
			break;
		case 13:
			steps[0].is_signed = 2;
			break;
		case 14:
			steps[0].is_signed = 0; /* of 8 bytes */
			break;
		case 15:
			steps[1].bits = 8;
			break;
		case 16:
			steps[2].kind = HG_STEP_KINDS;
			break;
		case 17:
			steps[1] = (HgStep){.kind = HG_STEP_MODULO, .bits = 64};
			break;
		case 18:
			filters->steps[0].kind = HG_FILTER_REQUIRED; /* of nothing */
			break;
		default:
			break;
	}
}

#define SPOILED 19

/* A job whose filter computes what makes no sense is refused. */
static void
test_refused(HgEngine *engine, const HgHost *base)
{
	const TestStarSpread spread = side_of(50, 2, 12);
	const HgProgram program = {.nsteps = 3,
							   .steps = {{.kind = HG_STEP_COLUMN, .bits = 64, .is_signed = 1},
										 {.kind = HG_STEP_CONSTANT, .bits = 64, .constant = 7},
										 {.kind = HG_STEP_SUBTRACT, .bits = 64}}};
	const Condition condition = {.join = REQUIRED,
								 .compared = NUMBERS,
								 .allowed = HG_FILTER_LESS,
								 .ahead = {-3, 3},
								 .programs = {program, program}};
	HgJobSpec spec = {.key_width = 8, .device = -1};
	TestStarUse uses[2];
	TestHost host;
	TestStar stars[2];
	uint64_t seed = 9600;
	int refused = 0;
	bool good;

	if (!hg_tap_turn())
		return;
	test_host_init(&host, base);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		test_star_create(&stars[side], &spread, &seed);
	good = make_stars(engine, &host, stars);
	add_filter(&stars[HG_OUTER], 0, &condition);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		test_star_use(&stars[side], (HgSide) side, &uses[side], &spec);
	for (int way = 0; way <= SPOILED; way++)
	{
		const HgRowFilters sane = uses[HG_OUTER].filters;
		HgError error = {0};
		HgJob *job = NULL;
		HgStatus status;

		spoil(&uses[HG_OUTER].filters, way);
		status = engine->open(engine, &host.host, &spec, &job, &error);
		if (status == HG_OK)
			engine->join->close(job);
		if (status != (way < SPOILED ? HG_INVALID : HG_OK))
			hg_tap_diag("way %d: status %d", way, (int) status);
		else
			refused++;
		uses[HG_OUTER].filters = sane;
	}
	good = good && refused == SPOILED + 1;
	good &= destroy_stars(engine, &host, stars);
	hg_tap_ok(good, "%s: numbers of filters that make no sense are refused", engine->name);
}

void
hg_engine_filter_numbers_suite(HgEngine *engine, const HgHost *host)
{
	test_conditions(engine, host);
	test_required(engine, host);
	test_refused(engine, host);
}
