/*-------------------------------------------------------------------------
 *
 * hg_tables_many.c
 *	  Keys that come more than once: their matches, and their numbers.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tables_desk.h"

#include "../../src/engine/hg_hash.h"

#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------
 * duplicates
 * ------------------------------------------------------------------------ */

typedef struct Duplicates
{
	HgBenchDesk desk;
	uint64_t rows;
	uint64_t each; /* rows of a key */
	uint64_t distinct;
	HgBenchArray *keys;
	HgBenchArray *probes; /* [distinct]: each key once */
	HgBenchArray *counts; /* [distinct] */
	HgBenchArray *found;  /* [rows] */
} Duplicates;

/* The number of a row's key, and of a probe's. */
static uint64_t
duplicate_of(const Duplicates *duplicates, uint64_t row)
{
	return hg_desk_shuffled(row, duplicates->rows) / duplicates->each;
}

static uint64_t
duplicate_probe(const Duplicates *duplicates, uint64_t probe)
{
	return hg_desk_shuffled_again(probe, duplicates->distinct);
}

static HgStatus
duplicates_make(Duplicates *duplicates, HgError *error)
{
	HgBenchDesk *desk = &duplicates->desk;

	HG_BENCH_TRY(hg_desk_make(desk, duplicates->rows, desk->width, &duplicates->keys, error));
	HG_BENCH_TRY(hg_desk_make(desk, duplicates->distinct, desk->width, &duplicates->probes, error));
	HG_BENCH_TRY(
		hg_desk_make(desk, duplicates->distinct, sizeof(uint32_t), &duplicates->counts, error));
	HG_BENCH_TRY(hg_desk_make(desk, duplicates->rows, sizeof(uint32_t), &duplicates->found, error));
	for (uint64_t row = 0; row < duplicates->rows; row++)
		hg_desk_set_key(desk, duplicates->keys, row, duplicate_of(duplicates, row));
	for (uint64_t i = 0; i < duplicates->distinct; i++)
		hg_desk_set_key(desk, duplicates->probes, i, duplicate_probe(duplicates, i));
	HG_BENCH_TRY(hg_desk_put(desk, duplicates->keys, error));
	return hg_desk_put(desk, duplicates->probes, error);
}

/* Each list has rows of its key alone, and all lists together have every row once. */
static bool
duplicates_are_right(const Duplicates *duplicates, const uint32_t *counts, const uint32_t *rows)
{
	uint64_t sum = 0;
	uint64_t expected = 0;
	bool right = true;

	for (uint64_t i = 0; i < duplicates->distinct; i++)
		right &= counts[i] == duplicates->each;
	for (uint64_t i = 0; i < duplicates->rows; i++)
	{
		right &=
			rows[i] < duplicates->rows &&
			duplicate_of(duplicates, rows[i]) == duplicate_probe(duplicates, i / duplicates->each);
		sum += hg_mix64(rows[i]);
		expected += hg_mix64(i);
	}
	return right && sum == expected;
}

static HgStatus
duplicates_run(Duplicates *duplicates, HgError *error)
{
	HgBenchDesk *desk = &duplicates->desk;
	HgTableBatch all = {.keys = duplicates->keys->there, .count = duplicates->rows};
	const uint32_t *counts;
	const uint32_t *rows;

	HG_BENCH_TRY(hg_desk_open_table(desk, duplicates->rows, error));
	HG_BENCH_TRY(hg_desk_start(desk, error));
	HG_BENCH_TRY(desk->bench->change(desk->table, NULL, &all, error));
	HG_BENCH_TRY(hg_desk_stop(desk, "build", duplicates->rows, error));
	HG_BENCH_TRY(hg_desk_start(desk, error));
	HG_BENCH_TRY(desk->bench->count(desk->table, duplicates->probes->there, duplicates->distinct,
									duplicates->counts->there, error));
	HG_BENCH_TRY(hg_desk_stop(desk, "count", duplicates->distinct, error));
	HG_BENCH_TRY(hg_desk_start(desk, error));
	HG_BENCH_TRY(desk->bench->match(desk->table, duplicates->probes->there, duplicates->distinct,
									duplicates->found->there, duplicates->rows, error));
	HG_BENCH_TRY(hg_desk_stop(desk, "match", duplicates->rows, error));
	HG_BENCH_TRY(hg_desk_get_rows(desk, duplicates->counts, duplicates->distinct, &counts, error));
	HG_BENCH_TRY(hg_desk_get_rows(desk, duplicates->found, duplicates->rows, &rows, error));
	hg_desk_expect(desk, duplicates_are_right(duplicates, counts, rows));
	return hg_desk_finish_table(desk, error);
}

static HgStatus
duplicates_runs(Duplicates *duplicates, HgError *error)
{
	double since = hg_clock_ms();

	HG_BENCH_TRY(duplicates_make(duplicates, error));
	for (int run = 0; hg_desk_want_run(duplicates->desk.course, run, since); run++)
		HG_BENCH_TRY(duplicates_run(duplicates, error));
	return HG_OK;
}

HgStatus
hg_bench_run_duplicates(HgBenchCourse *course, int variant, HgError *error)
{
	Duplicates duplicates = {.rows = UINT64_C(1) << course->rows_log2,
							 .each = UINT64_C(1) << variant};
	HgStatus status;

	duplicates.distinct = duplicates.rows / duplicates.each;
	snprintf(course->detail, sizeof(course->detail), "x%u", 1u << variant);
	hg_desk_open(&duplicates.desk, course);
	status = duplicates_runs(&duplicates, error);
	hg_desk_close(&duplicates.desk);
	return status;
}

/* ------------------------------------------------------------------------
 * draws
 * ------------------------------------------------------------------------ */

typedef struct Draws
{
	HgBenchDesk desk;
	uint64_t draws;
	uint64_t domain;
	HgBenchArray *keys;
	HgBenchArray *found;	/* [draws] */
	HgBenchArray *exported; /* [domain] keys */
} Draws;

static uint64_t
draw(const Draws *draws, uint64_t i)
{
	return hg_mix64(i) & (draws->domain - 1);
}

static HgStatus
draws_make(Draws *draws, HgError *error)
{
	HgBenchDesk *desk = &draws->desk;

	HG_BENCH_TRY(hg_desk_make(desk, draws->draws, desk->width, &draws->keys, error));
	HG_BENCH_TRY(hg_desk_make(desk, draws->draws, sizeof(uint32_t), &draws->found, error));
	HG_BENCH_TRY(hg_desk_make(desk, draws->domain, desk->width, &draws->exported, error));
	for (uint64_t i = 0; i < draws->draws; i++)
		hg_desk_set_key(desk, draws->keys, i, draw(draws, i));
	return hg_desk_put(desk, draws->keys, error);
}

/*
 * Each draw's number is below the number of keys and leads to its key; so that two keys have
 * different numbers.  All numbers below it are those of keys that were drawn.
 */
static bool
draws_are_right(const Draws *draws, const uint32_t *numbers, uint64_t keys)
{
	uint8_t *seen = calloc(draws->domain, 1);
	uint64_t distinct = 0;
	bool right = seen != NULL && keys <= draws->domain;

	for (uint64_t i = 0; i < draws->draws && right; i++)
	{
		right = numbers[i] < keys && hg_desk_get_key(&draws->desk, draws->exported, numbers[i]) ==
										 hg_desk_get_key(&draws->desk, draws->keys, i);
		distinct += right && !seen[numbers[i]];
		if (right)
			seen[numbers[i]] = 1;
	}
	free(seen);
	return right && distinct == keys;
}

static HgStatus
draws_run(Draws *draws, HgError *error)
{
	HgBenchDesk *desk = &draws->desk;
	HgTableBatch all = {.keys = draws->keys->there, .count = draws->draws};
	HgTableStats stats;
	const uint32_t *numbers;

	HG_BENCH_TRY(hg_desk_open_table(desk, 0, error));
	HG_BENCH_TRY(hg_desk_start(desk, error));
	HG_BENCH_TRY(desk->bench->change(desk->table, NULL, &all, error));
	HG_BENCH_TRY(hg_desk_stop(desk, "build", draws->draws, error));
	HG_BENCH_TRY(hg_desk_start(desk, error));
	HG_BENCH_TRY(desk->bench->find(desk->table, draws->keys->there, draws->draws,
								   draws->found->there, error));
	HG_BENCH_TRY(hg_desk_stop(desk, "find", draws->draws, error));
	HG_BENCH_TRY(hg_desk_get_rows(desk, draws->found, draws->draws, &numbers, error));
	HG_BENCH_TRY(desk->bench->describe(desk->table, &stats, error));
	if (stats.rows <= draws->domain)
	{
		HG_BENCH_TRY(desk->bench->export_entries(desk->table, draws->exported->there, error));
		HG_BENCH_TRY(desk->bench->get(draws->exported->there, draws->exported->host,
									  stats.rows * desk->width, error));
	}
	hg_desk_expect(desk, draws_are_right(draws, numbers, stats.rows));
	return hg_desk_finish_table(desk, error);
}

static HgStatus
draws_runs(Draws *draws, HgError *error)
{
	double since = hg_clock_ms();

	HG_BENCH_TRY(draws_make(draws, error));
	for (int run = 0; hg_desk_want_run(draws->desk.course, run, since); run++)
		HG_BENCH_TRY(draws_run(draws, error));
	return HG_OK;
}

HgStatus
hg_bench_run_draws(HgBenchCourse *course, int variant, HgError *error)
{
	Draws draws = {.draws = UINT64_C(1) << course->rows_log2};
	HgStatus status;

	draws.domain = variant == 0 ? draws.draws / 32 : 1024;
	snprintf(course->detail, sizeof(course->detail), "of %u", (unsigned) draws.domain);
	hg_desk_open(&draws.desk, course);
	status = draws_runs(&draws, error);
	hg_desk_close(&draws.desk);
	return status;
}
