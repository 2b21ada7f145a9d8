/*-------------------------------------------------------------------------
 *
 * test_engine_computed.c
 *	  The part of the suite of graph replicas that is about computed columns.
 *
 * Columns 0 and 4 of a side are of the width of computed ones.  What they must be is found by
 * following the expression that a program stands for from its last step on, of what the side comes
 * to without lookups.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_engine_computed.h"

#include "hg_tap.h"
#include "test_engine_replica_lookups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The column that is computed of those before it. */
#define COMPUTED TEST_PROGRAM_COLUMNS

static const uint8_t widths[] = {16, 32, 64};

static HgStep
column_step(uint32_t column, bool is_signed, uint32_t bits)
{
	return (HgStep){.kind = HG_STEP_COLUMN,
					.bits = (uint8_t) bits,
					.column = (uint8_t) column,
					.is_signed = is_signed};
}

static HgStep
constant_step(int64_t constant, uint32_t bits)
{
	return (HgStep){.kind = HG_STEP_CONSTANT, .bits = (uint8_t) bits, .constant = constant};
}

static HgStep
step(HgStepKind kind, uint32_t bits)
{
	return (HgStep){.kind = (uint8_t) kind, .bits = (uint8_t) bits};
}

static void
add_step(HgProgram *program, HgStep added)
{
	program->steps[program->nsteps++] = added;
}

/* ------------------------------------------------------------------------
 * What must come of it
 * ------------------------------------------------------------------------ */

/* Where the expression begins whose last step is this. */
static uint32_t
begin_of(const HgProgram *program, uint32_t last)
{
	uint32_t begin = last;

	for (uint32_t i = 0; i < hg_step_takes(&program->steps[last]); i++)
		begin = begin_of(program, begin - 1);
	return begin;
}

/* The number of a row by the expression with this last step; returns whether it is NULL. */
static bool
naive_value(const HgProgram *program, uint32_t last, const TestReplicaSide *side, uint32_t row,
			int64_t *value, bool *overflow)
{
	const HgStep *taken = &program->steps[last];
	bool null = false;
	bool lost = false;
	int64_t left = 0;
	int64_t right = 0;
	uint64_t bits;

	if (taken->kind == HG_STEP_COLUMN)
	{
		null = test_replica_value(side, taken->column, row, taken->is_signed != 0, &bits);
		left = (int64_t) bits;
		lost = left < 0 && !taken->is_signed;
	}
	else if (taken->kind == HG_STEP_CONSTANT)
		left = taken->constant;
	else if (hg_step_takes(taken) == 1)
		null = naive_value(program, last - 1, side, row, &left, overflow);
	else
	{
		null = naive_value(program, begin_of(program, last - 1) - 1, side, row, &left, overflow);
		null |= naive_value(program, last - 1, side, row, &right, overflow);
	}
	if (taken->kind == HG_STEP_MODULO)
		left = taken->constant == -1 ? 0 : left % taken->constant;
	else if (taken->kind == HG_STEP_NEGATE)
		lost = __builtin_sub_overflow((int64_t) 0, left, &left);
	else if (taken->kind == HG_STEP_ADD)
		lost = __builtin_add_overflow(left, right, &left);
	else if (taken->kind == HG_STEP_SUBTRACT)
		lost = __builtin_sub_overflow(left, right, &left);
	else if (taken->kind == HG_STEP_MULTIPLY)
		lost = __builtin_mul_overflow(left, right, &left);
	lost |= taken->bits == 32 && left != (int32_t) left;
	lost |= taken->bits == 16 && left != (int16_t) left;
	*overflow |= lost && !null;
	*value = null ? 0 : left;
	return null;
}

bool
test_program_value(const HgProgram *program, const TestReplicaSide *side, uint32_t i,
				   int64_t *value, bool *overflow)
{
	return naive_value(program, program->nsteps - 1, side, i, value, overflow);
}

/* Compute a column of what a star comes to; returns whether a row that counts overflows. */
static bool
compute_column(TestStar *star, uint32_t number)
{
	TestReplicaSide *side = star->nlookups > 0 ? &star->flat : &star->side;
	const HgProgram *program = &star->programs[star->computed[number] - 1];
	TestReplicaColumn *column = &side->columns[number];
	bool overflows = false;

	if (column->nulls == NULL)
		column->nulls = test_malloc((size_t) side->spread.count + 1);
	for (uint32_t i = 0; i < side->spread.count; i++)
	{
		bool overflow = false;
		int64_t value;

		column->nulls[i] = test_program_value(program, side, i, &value, &overflow);
		memcpy(column->values + (size_t) i * HG_COMPUTED_WIDTH, &value, HG_COMPUTED_WIDTH);
		overflows |= overflow && test_replica_counts(side, i);
	}
	return overflows;
}

/* Have a column of a star be computed by a program, whose graphs and columns are made already. */
static bool
compute(TestStar *star, uint32_t number, const HgProgram *program)
{
	star->programs[star->nprograms++] = *program;
	star->computed[number] = star->nprograms;
	return compute_column(star, number);
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
}

static void
pair_make(Pair *pair)
{
	for (int side = HG_OUTER; side <= HG_INNER && pair->status == HG_OK; side++)
		pair->status =
			test_star_make(pair->engine, &pair->host.host, &pair->stars[side], &pair->error);
}

/* Join them: HG_OVERFLOW where it must be, and else what is right. */
static bool
pair_is_right(Pair *pair, bool overflows, uint64_t *state)
{
	HgStatus status = pair->status;

	if (status == HG_OK)
		status = test_star_join(pair->engine, &pair->host.host, &pair->stars[HG_OUTER],
								&pair->stars[HG_INNER], 1500, state, &pair->error);
	if (status == (overflows ? HG_OVERFLOW : HG_OK))
		return true;
	hg_tap_diag("status %d, where numbers %s: %s %s", (int) status, overflows ? "overflow" : "fit",
				pair->error.message, pair->error.detail);
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
side_of(uint32_t rows, uint32_t parts)
{
	return (TestStarSpread){.side = {.width = 8,
									 .parts = parts,
									 .count = rows,
									 .keys = rows / 2 + 1,
									 .hot = rows / 100,
									 .numbers = rows / parts + 100,
									 .ncolumns = 5,
									 .values = 12,
									 .nulls = 20}};
}

/* ------------------------------------------------------------------------
 * Random expressions
 * ------------------------------------------------------------------------ */

/* Draw an expression of at most so many steps, with so many numbers left before it. */
static void
draw_expression(HgProgram *program, uint32_t steps, uint32_t numbers, uint64_t *state)
{
	static const int64_t divisors[] = {1, -1, 7, -3, INT64_MIN};
	const uint32_t bits = test_replica_random(state, 8) == 0 ? 32 : 64;
	const uint32_t kind = (uint32_t) test_replica_random(state, 8);
	uint32_t left;

	if (steps >= 3 && numbers + 2 <= HG_MAX_STEP_NUMBERS && kind < 5)
	{
		left = 1 + (uint32_t) test_replica_random(state, steps - 2);
		draw_expression(program, left, numbers, state);
		draw_expression(program, steps - 1 - left, numbers + 1, state);
		add_step(program, step((HgStepKind) (HG_STEP_ADD + kind % 3), bits));
	}
	else if (steps >= 2 && kind < 7)
	{
		draw_expression(program, steps - 1, numbers, state);
		add_step(program, step(kind == 5 ? HG_STEP_NEGATE : HG_STEP_FIT, bits));
		if (kind == 6 && program->nsteps % 2 == 0)
		{
			program->steps[program->nsteps - 1].kind = HG_STEP_MODULO;
			program->steps[program->nsteps - 1].constant =
				divisors[test_replica_random(state, LENGTH(divisors))];
		}
	}
	else if (kind % 4 > 0)
		add_step(program, column_step((uint32_t) test_replica_random(state, COMPUTED), true, 64));
	else
		add_step(program, constant_step((int64_t) test_replica_random(state, 7) - 3, bits));
}

void
test_program_draw(HgProgram *program, uint32_t steps, uint64_t *state)
{
	*program = (HgProgram){0};
	draw_expression(program, steps, 0, state);
}

/* Expressions of columns of the side and of what it finds, with masks of all kinds. */
static void
test_expressions(HgEngine *engine, const HgHost *base)
{
	const uint32_t rows = hg_tap_suite() == HG_SUITE_TINY ? 300 : 3000;
	uint64_t seed = 8000;

	for (uint32_t nlookups = 0; nlookups <= 2; nlookups++)
		for (int mask = 0; mask < TEST_MASKS; mask++)
			for (uint32_t steps = 1; steps <= HG_MAX_STEPS; steps += steps < 5 ? 1 : 9)
			{
				TestStarSpread outer = side_of(rows, 3);
				TestStarSpread inner = side_of(rows / 2, 2);
				HgProgram programs[2];
				bool overflows = false;
				Pair pair;
				bool good;

				if (!hg_tap_turn())
					continue;
				outer.nlookups = nlookups;
				/* of three of these no product fits */
				outer.side.values = nlookups == 1 ? 4000000 : 12;
				outer.side.mask = (TestReplicaMask) mask;
				inner.side.mask = (TestReplicaMask) ((mask + nlookups) % TEST_MASKS);
				for (uint32_t l = 0; l < nlookups; l++)
				{
					outer.lookups[l] = (TestLookupSpread){.unmatched = mask % 2 == 0,
														  .found = side_of(rows / 3, 2).side,
														  .width = 4,
														  .nulls = 10,
														  .misses = 10};
					outer.lookups[l].found.hot = 0;
				}
				pair_create(&pair, engine, base, &outer, &inner, &seed);
				pair_make(&pair);
				for (int side = HG_OUTER; side <= HG_INNER; side++)
				{
					test_program_draw(&programs[side], steps, &seed);
					overflows |= compute(&pair.stars[side], COMPUTED, &programs[side]);
				}
				good = pair_is_right(&pair, overflows, &seed);
				good &= pair_destroy(&pair);
				hg_tap_ok(good, "%s: columns computed in %u and %u steps, %u lookups, mask %d%s",
						  engine->name, programs[0].nsteps, programs[1].nsteps, nlookups, mask,
						  overflows ? ", overflow" : "");
			}
}

/* A column that is computed of computed ones, and several by one program. */
static void
test_shared(HgEngine *engine, const HgHost *base)
{
	TestStarSpread outer = side_of(700, 2);
	const TestStarSpread inner = side_of(500, 1);
	HgProgram first = {0};
	HgProgram second = {0};
	uint64_t seed = 8100;
	bool overflows;
	Pair pair;
	bool good;

	if (!hg_tap_turn())
		return;
	outer.side.ncolumns = 5;
	pair_create(&pair, engine, base, &outer, &inner, &seed);
	pair_make(&pair);
	add_step(&first, constant_step(-41, 64));
	add_step(&second, column_step(0, true, 64));
	add_step(&second, column_step(1, true, 64));
	add_step(&second, step(HG_STEP_MULTIPLY, 64));
	overflows = compute(&pair.stars[HG_OUTER], 0, &first);
	overflows |= compute(&pair.stars[HG_OUTER], COMPUTED, &second);
	overflows |= compute(&pair.stars[HG_INNER], 0, &first);
	pair.stars[HG_INNER].computed[COMPUTED] = 1;
	overflows |= compute_column(&pair.stars[HG_INNER], COMPUTED);
	good = !overflows && pair_is_right(&pair, false, &seed);
	good &= pair_destroy(&pair);
	hg_tap_ok(good, "%s: columns computed of computed ones, and two by one program", engine->name);
}

/* ------------------------------------------------------------------------
 * Overflow
 * ------------------------------------------------------------------------ */

/* A step of each kind, of numbers around where they begin to overflow. */
static void
test_steps(HgEngine *engine, const HgHost *base)
{
	static const int64_t numbers[] = {
		0,		   1,		  -1,		 2,			-2,		   INT16_MAX, INT16_MIN,
		INT32_MAX, INT32_MIN, INT32_MAX, INT64_MAX, INT64_MIN, 46341,	  INT64_C(3037000500),
	};
	const TestStarSpread one = {
		.side = {.width = 8, .parts = 1, .count = 1, .keys = 1, .numbers = 1, .ncolumns = 5}};
	const size_t stride = hg_tap_suite() == HG_SUITE_TINY ? 5 : 1;
	uint64_t seed = 8200;

	for (uint32_t kind = 0; kind < HG_STEP_KINDS; kind++)
	{
		bool good = true;
		uint32_t overflown = 0;
		Pair pair;

		if (!hg_tap_turn())
			continue;
		for (size_t n = 0; n < LENGTH(numbers) * LENGTH(numbers) * LENGTH(widths); n += stride)
		{
			const int64_t left = numbers[n % LENGTH(numbers)];
			const int64_t right = numbers[n / LENGTH(numbers) % LENGTH(numbers)];
			const uint32_t bits = widths[n / LENGTH(numbers) / LENGTH(numbers)];
			HgProgram program = {0};
			HgStep tested = step((HgStepKind) kind, bits);
			bool overflows;

			pair_create(&pair, engine, base, &one, &one, &seed);
			memcpy(pair.stars[HG_OUTER].side.columns[0].values, &left, sizeof(left));
			memcpy(pair.stars[HG_INNER].side.keys, pair.stars[HG_OUTER].side.keys, sizeof(int64_t));
			pair_make(&pair);
			if (hg_step_takes(&tested) > 0)
				add_step(&program, column_step(0, true, 64));
			if (hg_step_takes(&tested) > 1)
				add_step(&program, constant_step(right, 64));
			/* of an unsigned column, too */
			tested.is_signed = kind == HG_STEP_COLUMN && right % 2 == 0;
			tested.constant = kind == HG_STEP_CONSTANT ? right
							  : kind == HG_STEP_MODULO ? right | 1
													   : 0;
			add_step(&program, tested);
			overflows = compute(&pair.stars[HG_OUTER], COMPUTED, &program);
			overflown += overflows;
			good &= pair_is_right(&pair, overflows, &seed);
			good &= pair_destroy(&pair);
		}
		hg_tap_ok(good && overflown > 0, "%s: steps of kind %u, of which %u overflow", engine->name,
				  kind, overflown);
	}
}

/* Is a row among those that count of what a side comes to? */
static bool
is_among(const TestReplicaSide *flat, uint32_t row)
{
	for (uint32_t i = 0; i < flat->spread.count; i++)
		if (flat->rows[i] == row && test_replica_counts(flat, i))
			return true;
	return false;
}

/* Numbers that overflow of rows that don't count, by a mask or for what they find; and of one. */
static void
test_rows(HgEngine *engine, const HgHost *base)
{
	const int32_t most = INT32_MAX;
	uint64_t seed = 8300;

	for (uint32_t nlookups = 0; nlookups <= 1; nlookups++)
		for (int overflows = 0; overflows < 2; overflows++)
		{
			TestStarSpread outer = side_of(600, 2);
			const TestStarSpread inner = side_of(300, 1);
			HgProgram program = {0};
			TestStar *star;
			Pair pair;
			uint32_t dropped = 0;
			bool good;

			if (!hg_tap_turn())
				continue;
			outer.side.mask = TEST_MASK_SOME;
			outer.nlookups = nlookups;
			outer.lookups[0] = (TestLookupSpread){
				.found = side_of(200, 1).side, .width = 8, .nulls = 10, .misses = 30};
			outer.lookups[0].found.hot = 0;
			pair_create(&pair, engine, base, &outer, &inner, &seed);
			star = &pair.stars[HG_OUTER];
			for (uint32_t i = 0; i < star->side.spread.count; i++)
				if (!is_among(test_star_flat(star), star->side.rows[i]))
				{
					memcpy(star->side.columns[1].values + (size_t) i * sizeof(most), &most,
						   sizeof(most));
					dropped++;
				}
			add_step(&program, column_step(1, true, 32));
			add_step(&program, constant_step(overflows ? INT32_MAX : 1, 32));
			add_step(&program, step(HG_STEP_ADD, 32));
			pair_make(&pair);
			good = compute(star, COMPUTED, &program) == (overflows != 0);
			good &= dropped > 0 && dropped < star->side.spread.count &&
					pair_is_right(&pair, overflows != 0, &seed);
			good &= pair_destroy(&pair);
			hg_tap_ok(good, "%s: %u rows don't count whose numbers overflow, %u lookups, %s",
					  engine->name, dropped, nlookups, overflows ? "one does" : "none does");
		}
}

/* ------------------------------------------------------------------------
 * What can't be
 * ------------------------------------------------------------------------ */

/* A job of two sides, of which the outer one is asked to be computed so. */
static bool
is_refused(Pair *pair, const HgProgram *program, uint32_t number, const char *what)
{
	HgJobSpec spec = {.key_width = 8, .device = -1};
	TestStarUse uses[2];
	HgJob *job = NULL;
	HgError error = {0};
	HgStatus status;

	pair->stars[HG_OUTER].nprograms = 1;
	pair->stars[HG_OUTER].programs[0] = *program;
	pair->stars[HG_OUTER].computed[COMPUTED] = number;
	for (int which = HG_OUTER; which <= HG_INNER; which++)
		test_star_use(&pair->stars[which], (HgSide) which, &uses[which], &spec);
	status = pair->engine->open(pair->engine, &pair->host.host, &spec, &job, &error);
	if (status == HG_OK)
		pair->engine->join->close(job);
	if (status != HG_INVALID)
		hg_tap_diag("%s: status %d", what, (int) status);
	return status == HG_INVALID;
}

/* A program of some steps. */
static HgProgram
program_of(uint32_t nsteps, HgStep repeated)
{
	HgProgram program = {0};

	while (program.nsteps < nsteps)
		add_step(&program, repeated);
	return program;
}

static bool
refuses_programs(Pair *pair)
{
	HgProgram program = program_of(1, column_step(0, true, 64));
	HgProgram many = program_of(HG_MAX_STEPS, step(HG_STEP_NEGATE, 64));
	bool good = is_refused(pair, &program, 2, "a program that there is not");

	many.steps[0] = column_step(0, true, 64);
	many.nsteps++;
	good &= is_refused(pair, &many, 1, "too many steps");
	program.nsteps = UINT32_MAX;
	good &= is_refused(pair, &program, 1, "very many steps");
	program = program_of(0, step(HG_STEP_FIT, 64));
	good &= is_refused(pair, &program, 1, "no step");
	program = program_of(2, constant_step(1, 64));
	good &= is_refused(pair, &program, 1, "two numbers are left");
	program = program_of(1, step(HG_STEP_NEGATE, 64));
	good &= is_refused(pair, &program, 1, "no number to be taken");
	program = program_of(2, constant_step(1, 64));
	program.steps[1] = step(HG_STEP_ADD, 64);
	good &= is_refused(pair, &program, 1, "one number of two");
	program = program_of(2, step(HG_STEP_MODULO, 64));
	program.steps[0] = column_step(0, true, 64);
	good &= is_refused(pair, &program, 1, "division by 0");
	program = program_of(2 * HG_MAX_STEP_NUMBERS + 1, step(HG_STEP_ADD, 64));
	for (int i = 0; i <= HG_MAX_STEP_NUMBERS; i++)
		program.steps[i] = constant_step(1, 64);
	good &= is_refused(pair, &program, 1, "too many numbers");
	return good;
}

static bool
refuses_steps(Pair *pair)
{
	HgProgram program = program_of(1, column_step(COMPUTED, true, 64));
	bool good = is_refused(pair, &program, 1, "a column of itself");

	program = program_of(1, column_step(255, true, 64));
	good &= is_refused(pair, &program, 1, "a column that there is not");
	program = program_of(1, column_step(0, true, 63));
	good &= is_refused(pair, &program, 1, "63 bits");
	program = program_of(1, column_step(0, true, 0));
	good &= is_refused(pair, &program, 1, "no bits");
	program = program_of(1, column_step(0, true, 64));
	program.steps[0].is_signed = 2;
	good &= is_refused(pair, &program, 1, "neither signed nor not");
	program = program_of(1, step(HG_STEP_KINDS, 64));
	good &= is_refused(pair, &program, 1, "an unknown kind");
	return good;
}

static void
test_bad_use(HgEngine *engine, const HgHost *base)
{
	const TestStarSpread spread = side_of(100, 1);
	uint64_t seed = 8400;
	Pair pair;
	bool good;

	if (!hg_tap_turn())
		return;
	pair_create(&pair, engine, base, &spread, &spread, &seed);
	pair_make(&pair);
	good = pair.status == HG_OK;
	hg_tap_ok(good && refuses_programs(&pair), "%s: programs that can't be are refused",
			  engine->name);
	hg_tap_ok(good && refuses_steps(&pair), "%s: steps that can't be are refused", engine->name);
	hg_tap_ok(pair_destroy(&pair), "%s: none of it leaves anything of programs", engine->name);
}

void
hg_engine_computed_suite(HgEngine *engine, const HgHost *host)
{
	test_bad_use(engine, host);
	test_steps(engine, host);
	test_expressions(engine, host);
	test_shared(engine, host);
	test_rows(engine, host);
}
