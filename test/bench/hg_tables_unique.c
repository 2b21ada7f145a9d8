/*-------------------------------------------------------------------------
 *
 * hg_tables_unique.c
 *	  Pairs with different keys: built, inserted in batches, looked up.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tables_desk.h"

#include <stdio.h>

#define INSERT_BATCHES 100

typedef struct Unique
{
	HgBenchDesk desk;
	uint64_t rows;
	uint64_t probes;
	uint64_t erased; /* so many rows, those with the first numbers */
	HgBenchArray *keys;
	HgBenchArray *numbers; /* the rows of keys */
	HgBenchArray *hits;	   /* [probes] */
	HgBenchArray *halves;  /* [probes] */
	HgBenchArray *found;   /* [probes] */
} Unique;

static uint32_t
unique_row(const Unique *unique, uint64_t number)
{
	if (number < unique->erased || number >= unique->rows)
		return HG_NO_ROW;
	return hg_desk_row(&unique->desk, number, unique->rows);
}

/* The number of the key that a probe looks for: of all, or of twice as many. */
static uint64_t
unique_probe(const Unique *unique, uint64_t probe, bool halves)
{
	return hg_desk_shuffled_again(probe, halves ? 2 * unique->rows : unique->rows);
}

static HgStatus
unique_make(Unique *unique, HgError *error)
{
	HgBenchDesk *desk = &unique->desk;

	HG_BENCH_TRY(hg_desk_make(desk, unique->rows, desk->width, &unique->keys, error));
	HG_BENCH_TRY(hg_desk_make(desk, unique->rows, sizeof(uint32_t), &unique->numbers, error));
	HG_BENCH_TRY(hg_desk_make(desk, unique->probes, desk->width, &unique->hits, error));
	HG_BENCH_TRY(hg_desk_make(desk, unique->probes, desk->width, &unique->halves, error));
	HG_BENCH_TRY(hg_desk_make(desk, unique->probes, sizeof(uint32_t), &unique->found, error));
	for (uint64_t i = 0; i < unique->rows; i++)
	{
		hg_desk_set_key(desk, unique->keys, i, i);
		((uint32_t *) unique->numbers->host)[i] = (uint32_t) hg_desk_shuffled(i, unique->rows);
	}
	for (uint64_t i = 0; i < unique->probes; i++)
	{
		hg_desk_set_key(desk, unique->hits, i, unique_probe(unique, i, false));
		hg_desk_set_key(desk, unique->halves, i, unique_probe(unique, i, true));
	}
	HG_BENCH_TRY(hg_desk_put(desk, unique->keys, error));
	HG_BENCH_TRY(hg_desk_put(desk, unique->numbers, error));
	HG_BENCH_TRY(hg_desk_put(desk, unique->hits, error));
	return hg_desk_put(desk, unique->halves, error);
}

static HgTableBatch
unique_batch(const Unique *unique, uint64_t from, uint64_t count)
{
	return (HgTableBatch){.keys = hg_desk_keys(&unique->desk, unique->keys, from),
						  .rows = hg_desk_rows(unique->numbers, from),
						  .count = count};
}

/* Look all probes up, as a step where it has a name, and compare the rows. */
static HgStatus
unique_find(Unique *unique, const char *name, bool halves, HgError *error)
{
	HgBenchDesk *desk = &unique->desk;
	const HgBenchArray *keys = halves ? unique->halves : unique->hits;
	const uint32_t *rows;
	bool right = true;

	HG_BENCH_TRY(hg_desk_start(desk, error));
	HG_BENCH_TRY(
		desk->bench->find(desk->table, keys->there, unique->probes, unique->found->there, error));
	if (name != NULL)
		HG_BENCH_TRY(hg_desk_stop(desk, name, unique->probes, error));
	HG_BENCH_TRY(hg_desk_get_rows(desk, unique->found, unique->probes, &rows, error));
	for (uint64_t i = 0; i < unique->probes; i++)
		right &= rows[i] == unique_row(unique, unique_probe(unique, i, halves));
	hg_desk_expect(desk, right);
	return HG_OK;
}

static HgStatus
unique_count(Unique *unique, HgError *error)
{
	HgBenchDesk *desk = &unique->desk;
	const uint32_t *counts;
	bool right = true;

	HG_BENCH_TRY(hg_desk_start(desk, error));
	HG_BENCH_TRY(desk->bench->count(desk->table, unique->hits->there, unique->probes,
									unique->found->there, error));
	HG_BENCH_TRY(hg_desk_stop(desk, "count", unique->probes, error));
	HG_BENCH_TRY(hg_desk_get_rows(desk, unique->found, unique->probes, &counts, error));
	for (uint64_t i = 0; i < unique->probes; i++)
		right &= counts[i] == 1;
	hg_desk_expect(desk, right);
	return HG_OK;
}

static HgStatus
unique_built(Unique *unique, HgError *error)
{
	HgBenchDesk *desk = &unique->desk;
	HgTableBatch all = unique_batch(unique, 0, unique->rows);

	HG_BENCH_TRY(hg_desk_open_table(desk, unique->rows, error));
	HG_BENCH_TRY(hg_desk_start(desk, error));
	HG_BENCH_TRY(desk->bench->change(desk->table, NULL, &all, error));
	HG_BENCH_TRY(hg_desk_stop(desk, "build", unique->rows, error));
	HG_BENCH_TRY(unique_find(unique, "find", false, error));
	HG_BENCH_TRY(unique_find(unique, "find, half", true, error));
	HG_BENCH_TRY(unique_count(unique, error));
	return hg_desk_finish_table(desk, error);
}

/* The same rows in batches, and a tenth of them erased in one. */
static HgStatus
unique_inserted(Unique *unique, HgError *error)
{
	HgBenchDesk *desk = &unique->desk;
	HgTableBatch erase = unique_batch(unique, 0, unique->rows / 10);

	HG_BENCH_TRY(hg_desk_open_table(desk, unique->rows, error));
	HG_BENCH_TRY(hg_desk_start(desk, error));
	for (uint64_t i = 0; i < INSERT_BATCHES; i++)
	{
		uint64_t from = unique->rows * i / INSERT_BATCHES;
		HgTableBatch batch =
			unique_batch(unique, from, unique->rows * (i + 1) / INSERT_BATCHES - from);

		HG_BENCH_TRY(desk->bench->change(desk->table, NULL, &batch, error));
	}
	HG_BENCH_TRY(hg_desk_stop(desk, "insert, 100", unique->rows, error));
	HG_BENCH_TRY(unique_find(unique, "find after", false, error));
	HG_BENCH_TRY(hg_desk_start(desk, error));
	HG_BENCH_TRY(desk->bench->change(desk->table, &erase, NULL, error));
	HG_BENCH_TRY(hg_desk_stop(desk, "erase", erase.count, error));
	unique->erased = erase.count;
	HG_BENCH_TRY(unique_find(unique, NULL, false, error));
	unique->erased = 0;
	hg_desk_close_table(desk);
	return HG_OK;
}

static HgStatus
unique_runs(Unique *unique, bool inserted, HgError *error)
{
	double since = hg_clock_ms();

	HG_BENCH_TRY(unique_make(unique, error));
	for (int run = 0; hg_desk_want_run(unique->desk.course, run, since); run++)
		HG_BENCH_TRY(unique_built(unique, error));
	since = hg_clock_ms();
	for (int run = 0; inserted && hg_desk_want_run(unique->desk.course, run, since); run++)
		HG_BENCH_TRY(unique_inserted(unique, error));
	return HG_OK;
}

HgStatus
hg_bench_run_unique(HgBenchCourse *course, int variant, HgError *error)
{
	Unique unique = {.rows = UINT64_C(1) << course->rows_log2,
					 .probes = UINT64_C(1) << course->rows_log2};
	HgStatus status;

	(void) variant;
	hg_desk_open(&unique.desk, course);
	status = unique_runs(&unique, true, error);
	hg_desk_close(&unique.desk);
	return status;
}

HgStatus
hg_bench_run_small(HgBenchCourse *course, int variant, HgError *error)
{
	Unique unique = {.rows = (UINT64_C(1) << course->rows_log2) / 32,
					 .probes = UINT64_C(4) << course->rows_log2};
	HgStatus status;

	(void) variant;
	hg_desk_open(&unique.desk, course);
	status = unique_runs(&unique, false, error);
	hg_desk_close(&unique.desk);
	return status;
}

static const struct
{
	uint32_t functions;
	double slots_factor;
} function_variants[HG_BENCH_FUNCTION_VARIANTS] = {{2, 2.2}, {3, 1.25}, {4, 1.05}, {4, 1.25},
												   {4, 2},	 {4, 4},	{5, 1.25}};

HgStatus
hg_bench_run_functions(HgBenchCourse *course, int variant, HgError *error)
{
	Unique unique = {.rows = UINT64_C(1) << course->rows_log2,
					 .probes = UINT64_C(1) << course->rows_log2};
	HgStatus status;

	course->spec.functions = function_variants[variant].functions;
	course->spec.slots_factor = function_variants[variant].slots_factor;
	snprintf(course->detail, sizeof(course->detail), "%u, %gN", course->spec.functions,
			 course->spec.slots_factor);
	hg_desk_open(&unique.desk, course);
	status = unique_runs(&unique, false, error);
	hg_desk_close(&unique.desk);
	return status;
}
