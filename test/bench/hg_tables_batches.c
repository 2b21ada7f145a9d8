/*-------------------------------------------------------------------------
 *
 * hg_tables_batches.c
 *	  Batches of inserts, finds and deletes, over which a table grows and shrinks.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tables_desk.h"

#include "../../src/engine/hg_hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BATCH_LOG2 20

/* One batch: where its inserts, finds and erases begin in the arrays, and how many there are. */
typedef struct MixedBatch
{
	uint64_t insert;
	uint64_t inserts;
	uint64_t find;
	uint64_t erase;
	uint64_t erases;
	uint64_t rows; /* in the table after it */
} MixedBatch;

typedef struct Mixed
{
	HgBenchDesk desk;
	uint64_t rows;
	uint64_t batch;
	MixedBatch batches[HG_BENCH_MAX_BATCHES];
	int nbatches;
	int growing; /* the first so many of them */
	uint64_t changes;
	uint64_t finds;
	HgBenchArray *keys;		/* of inserts and erases */
	HgBenchArray *numbers;	/* their rows */
	HgBenchArray *probes;	/* keys of finds */
	HgBenchArray *expected; /* rows of finds */
	HgBenchArray *found;	/* [batch] */

	/* while they are made: what stands in the table comes first in order[], position[] says where
	 */
	uint32_t *order;
	uint64_t standing;
	uint64_t known; /* so many numbers have been inserted at some time */
	uint32_t *position;
	uint64_t random;
} Mixed;

/* A number below a bound. */
static uint64_t
mixed_random(Mixed *mixed, uint64_t bound)
{
	return hg_mix64(++mixed->random) % bound;
}

static void
mixed_exchange(Mixed *mixed, uint64_t a, uint64_t b)
{
	uint32_t number = mixed->order[a];

	mixed->order[a] = mixed->order[b];
	mixed->order[b] = number;
	mixed->position[mixed->order[a]] = (uint32_t) a;
	mixed->position[mixed->order[b]] = (uint32_t) b;
}

/* Note the key at the border of those that stand in the table as the next change. */
static void
mixed_change(Mixed *mixed)
{
	uint32_t number = mixed->order[mixed->standing];

	hg_desk_set_key(&mixed->desk, mixed->keys, mixed->changes, number);
	((uint32_t *) mixed->numbers->host)[mixed->changes] =
		(uint32_t) hg_desk_shuffled(number, mixed->rows);
	mixed->changes++;
}

/* A new number goes in; or one of those that were erased, where all are known. */
static void
mixed_insert(Mixed *mixed)
{
	if (mixed->known < mixed->rows)
		mixed_exchange(mixed, mixed->standing, mixed->known++);
	else
		mixed_exchange(mixed, mixed->standing,
					   mixed->standing + mixed_random(mixed, mixed->known - mixed->standing));
	mixed_change(mixed);
	mixed->standing++;
}

/* Any that stands in the table goes out. */
static void
mixed_erase(Mixed *mixed)
{
	mixed->standing--;
	mixed_exchange(mixed, mixed->standing, mixed_random(mixed, mixed->standing + 1));
	mixed_change(mixed);
}

static void
mixed_find(Mixed *mixed)
{
	uint32_t number = (uint32_t) mixed_random(mixed, mixed->known);

	hg_desk_set_key(&mixed->desk, mixed->probes, mixed->finds, number);
	((uint32_t *) mixed->expected->host)[mixed->finds] =
		mixed->position[number] < mixed->standing ? hg_desk_row(&mixed->desk, number, mixed->rows)
												  : HG_NO_ROW;
	mixed->finds++;
}

static void
mixed_plan(Mixed *mixed, uint64_t inserts, uint64_t erases)
{
	MixedBatch *batch = &mixed->batches[mixed->nbatches++];

	*batch = (MixedBatch){.insert = mixed->changes,
						  .inserts = inserts,
						  .find = mixed->finds,
						  .erase = mixed->changes + inserts,
						  .erases = erases};
	for (uint64_t i = 0; i < inserts; i++)
		mixed_insert(mixed);
	for (uint64_t i = 0; i < mixed->batch; i++)
		mixed_find(mixed);
	for (uint64_t i = 0; i < erases; i++)
		mixed_erase(mixed);
	batch->rows = mixed->standing;
}

static HgStatus
mixed_make(Mixed *mixed, HgError *error)
{
	HgBenchDesk *desk = &mixed->desk;
	const uint64_t fewer = mixed->batch * 2 / 5;
	const uint64_t most = 2 * mixed->rows / mixed->batch;

	HG_BENCH_TRY(
		hg_desk_make(desk, most * (mixed->batch + fewer), desk->width, &mixed->keys, error));
	HG_BENCH_TRY(hg_desk_make(desk, most * (mixed->batch + fewer), sizeof(uint32_t),
							  &mixed->numbers, error));
	HG_BENCH_TRY(hg_desk_make(desk, most * mixed->batch, desk->width, &mixed->probes, error));
	HG_BENCH_TRY(
		hg_desk_make(desk, most * mixed->batch, sizeof(uint32_t), &mixed->expected, error));
	HG_BENCH_TRY(hg_desk_make(desk, mixed->batch, sizeof(uint32_t), &mixed->found, error));
	mixed->order = malloc(mixed->rows * sizeof(uint32_t));
	mixed->position = malloc(mixed->rows * sizeof(uint32_t));
	if (mixed->order == NULL || mixed->position == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory for a workload");
	for (uint64_t i = 0; i < mixed->rows; i++)
		mixed->order[i] = mixed->position[i] = (uint32_t) i;

	while (mixed->known < mixed->rows)
		mixed_plan(mixed, mixed->batch, fewer);
	mixed->growing = mixed->nbatches;
	while (mixed->standing >= mixed->batch)
		mixed_plan(mixed, fewer, mixed->batch);
	HG_BENCH_TRY(hg_desk_put(desk, mixed->keys, error));
	HG_BENCH_TRY(hg_desk_put(desk, mixed->numbers, error));
	return hg_desk_put(desk, mixed->probes, error);
}

static HgTableBatch
mixed_batch(const Mixed *mixed, uint64_t from, uint64_t count)
{
	return (HgTableBatch){.keys = hg_desk_keys(&mixed->desk, mixed->keys, from),
						  .rows = hg_desk_rows(mixed->numbers, from),
						  .count = count};
}

/* One batch, timed as one, with its finds compared; adds to *ms. */
static HgStatus
mixed_batch_run(Mixed *mixed, const MixedBatch *batch, double *ms, HgError *error)
{
	HgBenchDesk *desk = &mixed->desk;
	HgTableBatch insert = mixed_batch(mixed, batch->insert, batch->inserts);
	HgTableBatch erase = mixed_batch(mixed, batch->erase, batch->erases);
	const uint32_t *expected = (const uint32_t *) mixed->expected->host + batch->find;
	const uint32_t *rows;
	double took;

	HG_BENCH_TRY(hg_desk_start(desk, error));
	HG_BENCH_TRY(desk->bench->change(desk->table, NULL, &insert, error));
	HG_BENCH_TRY(desk->bench->find(desk->table, hg_desk_keys(desk, mixed->probes, batch->find),
								   mixed->batch, mixed->found->there, error));
	HG_BENCH_TRY(desk->bench->change(desk->table, &erase, NULL, error));
	HG_BENCH_TRY(desk->bench->stop(&took, error));
	*ms += took;
	HG_BENCH_TRY(hg_desk_get_rows(desk, mixed->found, mixed->batch, &rows, error));
	hg_desk_expect(desk, memcmp(rows, expected, mixed->batch * sizeof(uint32_t)) == 0);
	HG_BENCH_TRY(desk->bench->describe(desk->table, &desk->course->stats, error));
	hg_desk_expect(desk, desk->course->stats.rows == batch->rows);
	return HG_OK;
}

static HgStatus
mixed_run(Mixed *mixed, HgError *error)
{
	HgBenchCourse *course = mixed->desk.course;
	const bool first = course->nfilled == 0;
	double ms[2] = {0, 0};
	uint64_t operations[2] = {0, 0};

	HG_BENCH_TRY(hg_desk_open_table(&mixed->desk, 0, error));
	for (int i = 0; i < mixed->nbatches; i++)
	{
		const MixedBatch *batch = &mixed->batches[i];
		int phase = i >= mixed->growing;

		HG_BENCH_TRY(mixed_batch_run(mixed, batch, &ms[phase], error));
		operations[phase] += batch->inserts + mixed->batch + batch->erases;
		if (first)
			course->filled[course->nfilled++] = course->stats.filled;
	}
	for (int phase = 0; phase < 2; phase++)
	{
		HgBenchStep *step = hg_desk_step(course, phase == 0 ? "growing" : "shrinking");

		step->operations = operations[phase];
		step->ms[step->runs++] = ms[phase];
	}
	return hg_desk_finish_table(&mixed->desk, error);
}

static HgStatus
mixed_runs(Mixed *mixed, HgError *error)
{
	double since;

	HG_BENCH_TRY(mixed_make(mixed, error));
	since = hg_clock_ms();
	for (int run = 0; hg_desk_want_run(mixed->desk.course, run, since); run++)
		HG_BENCH_TRY(mixed_run(mixed, error));
	return HG_OK;
}

HgStatus
hg_bench_run_batches(HgBenchCourse *course, int variant, HgError *error)
{
	Mixed mixed = {.rows = UINT64_C(1) << course->rows_log2};
	HgStatus status;

	(void) variant;
	mixed.batch = mixed.rows / 16 < UINT64_C(1) << MAX_BATCH_LOG2 ? mixed.rows / 16
																  : UINT64_C(1) << MAX_BATCH_LOG2;
	snprintf(course->detail, sizeof(course->detail), "of %u", (unsigned) mixed.batch);
	hg_desk_open(&mixed.desk, course);
	status = mixed_runs(&mixed, error);
	hg_desk_close(&mixed.desk);
	free(mixed.order);
	free(mixed.position);
	return status;
}
