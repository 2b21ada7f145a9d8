/*-------------------------------------------------------------------------
 *
 * hg_bench_groups.c
 *	  Measure groups that are made of matches on a device, and check them.
 *
 * Two sides of as many unique keys are joined: each outer row has a number of 8 bytes, each inner
 * row one of 4 bytes that it is grouped by.  A line for each number of groups, share of the first
 * one and choice of items has the median times of counting the pairs and of reducing them, and what
 * is between them in ns for each pair.
 * The pairs and sums of all groups together are compared with the right ones; a difference
 * makes the exit status 1.
 *
 *	hg_bench_groups [log2 of the rows, 25] [runs, 5]
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../cuda/engine/hg_cuda_engine.h"
#include "../../src/engine/hg_hash.h"
#include "../../src/engine/hg_reduce.h"
#include "hg_bench_host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RUNS 101
#define FETCHED 65536 /* records at a time */

/* The rows of both sides: keys are a permutation of the row numbers, another for each. */
typedef struct Rows
{
	uint64_t rows;
	uint32_t *keys[2];
	int64_t *numbers; /* of outer rows: their keys */
	int32_t *groups;  /* of inner rows */
} Rows;

static int
compare_ms(const void *a, const void *b)
{
	double left = *(const double *) a;
	double right = *(const double *) b;

	return (left > right) - (left < right);
}

static void
fail(const char *what, const HgError *error)
{
	fprintf(stderr, "hg_bench_groups: %s: %s %s\n", what, error->message, error->detail);
	exit(1);
}

/* What is asked for: the sum alone, or each kind of item. */
static HgReduceSpec
make_spec(bool grouped, bool all_kinds)
{
	const HgReduceColumn number = {.side = HG_OUTER, .is_signed = 1};
	HgReduceSpec spec = {.nkeys = grouped ? 1 : 0,
						 .nitems = all_kinds ? 4 : 1,
						 .keys = {{.side = HG_INNER, .is_signed = 1}},
						 .items = {{.kind = HG_REDUCE_SUM, .argument = number},
								   {.kind = HG_REDUCE_COUNT, .argument = number},
								   {.kind = HG_REDUCE_MIN, .argument = number},
								   {.kind = HG_REDUCE_MAX, .argument = number}},
						 .max_groups = UINT64_MAX};

	return spec;
}

/* Are the pairs and sums of all groups those of all rows? */
static bool
groups_are_right(HgEngine *engine, HgJob *job, const HgReduceSpec *spec, const Rows *rows,
				 uint64_t groups)
{
	static uint64_t words[FETCHED * HG_MAX_REDUCE_WORDS];
	HgGroupRecords records = {.words = words, .capacity = FETCHED};
	uint64_t pairs = 0;
	uint64_t sum = 0;
	uint64_t fetched = 0;
	HgError error;

	do
	{
		if (engine->columns->next_groups(job, &records, &error) != HG_OK)
			fail("next_groups", &error);
		for (size_t i = 0; i < records.count; i++)
		{
			const uint64_t *record = words + i * hg_reduce_words(spec);

			pairs += record[spec->nkeys + 1];
			sum += record[spec->nkeys + 3];
		}
		fetched += records.count;
	} while (records.count > 0);
	return fetched == groups && pairs == rows->rows && sum == rows->rows * (rows->rows - 1) / 2;
}

/* Measure jobs with so many groups, 0 for none at all, hot of a hundred rows in the first. */
static bool
bench_groups(HgEngine *engine, Rows *rows, uint64_t groups, unsigned hot, bool all_kinds, int runs)
{
	const HgReduceSpec spec = make_spec(groups > 0, all_kinds);
	const HgJobSpec job_spec = {
		.key_width = 4,
		.device = -1,
		.sides = {{.expected_rows = rows->rows, .ncolumns = 1, .column_width = {8}},
				  {.expected_rows = rows->rows, .ncolumns = 1, .column_width = {4}}}};
	double count_ms[MAX_RUNS];
	double reduce_ms[MAX_RUNS];
	double appended_ms;
	uint64_t found = 0;
	uint64_t pairs;
	bool right;
	HgError error;
	HgJob *job;

	for (uint64_t row = 0; row < rows->rows; row++)
	{
		uint64_t drawn = hg_mix64(row);

		rows->groups[row] = groups == 0 || drawn % 100 < hot ? 0 : (int32_t) (drawn / 100 % groups);
	}
	if (engine->open(engine, &hg_bench_host, &job_spec, &job, &error) != HG_OK)
		fail("open", &error);
	for (int side = 0; side < 2; side++)
		if (engine->join->append(job, (HgSide) side, rows->keys[side], rows->rows, &error) != HG_OK)
			fail("append", &error);
	appended_ms = hg_clock_ms();
	if (engine->columns->append_column(job, HG_OUTER, 0, rows->numbers, NULL, rows->rows, 0,
									   &error) != HG_OK ||
		engine->columns->append_column(job, HG_INNER, 0, rows->groups, NULL, rows->rows, 0,
									   &error) != HG_OK)
		fail("append_column", &error);
	appended_ms = hg_clock_ms() - appended_ms;
	if (engine->join->build(job, &error) != HG_OK)
		fail("build", &error);
	for (int run = -1; run < runs; run++)
	{
		double start = hg_clock_ms();
		double middle;

		if (engine->join->count(job, HG_MATCH_ALL, &pairs, &error) != HG_OK)
			fail("count", &error);
		middle = hg_clock_ms();
		if (engine->columns->reduce(job, HG_MATCH_ALL, &spec, &found, &error) != HG_OK)
			fail("reduce", &error);
		if (run >= 0)
		{
			count_ms[run] = middle - start;
			reduce_ms[run] = hg_clock_ms() - middle;
		}
	}
	qsort(count_ms, (size_t) runs, sizeof(double), compare_ms);
	qsort(reduce_ms, (size_t) runs, sizeof(double), compare_ms);
	right = groups_are_right(engine, job, &spec, rows, found);
	printf("%10" PRIu64 " %4u%% %-5s %10.3f %10.3f %10.4f %10.1f  %s\n", found, hot,
		   all_kinds ? "all" : "sum", count_ms[runs / 2], reduce_ms[runs / 2],
		   (reduce_ms[runs / 2] - count_ms[runs / 2]) * 1e6 / (double) rows->rows,
		   (double) rows->rows * (8 + 4) / appended_ms / 1e6, right ? "yes" : "NO");
	fflush(stdout);
	engine->join->close(job);
	return right;
}

static void *
allocate(uint64_t bytes)
{
	void *memory = malloc(bytes);

	if (memory == NULL)
	{
		fprintf(stderr, "hg_bench_groups: out of memory\n");
		exit(1);
	}
	return memory;
}

int
main(int argc, char **argv)
{
	static const uint64_t numbers[] = {0, 1, 4, 10, 100, 1000, 100000, 10000000};
	static const struct
	{
		uint64_t groups;
		unsigned percent;
	} hot[] = {{1000, 25}, {1000, 50}, {1000, 95}, {10000000, 50}};
	const int log2 = argc > 1 ? atoi(argv[1]) : 25;
	const int runs = argc > 2 ? atoi(argv[2]) : 5;
	Rows rows = {.rows = UINT64_C(1) << log2};
	HgEngine *engine;
	HgError error;
	bool right = true;

	if (log2 < 1 || log2 > 28 || runs < 1 || runs > MAX_RUNS)
	{
		fprintf(stderr, "Usage: hg_bench_groups [log2 of the rows, 1 to 28] [runs, 1 to %d]\n",
				MAX_RUNS);
		return 2;
	}
	if (hg_cuda_engine_start(-1, 0, &engine, &error) != HG_OK)
		fail("no device", &error);
	for (int side = 0; side < 2; side++)
		rows.keys[side] = allocate(rows.rows * sizeof(uint32_t));
	rows.numbers = allocate(rows.rows * sizeof(int64_t));
	rows.groups = allocate(rows.rows * sizeof(int32_t));
	for (uint64_t row = 0; row < rows.rows; row++)
	{
		/* odd factors and masks permute the numbers below a power of two */
		rows.keys[HG_OUTER][row] =
			(uint32_t) ((row * UINT64_C(0x9E3779B1) ^ 0x155555) & (rows.rows - 1));
		rows.keys[HG_INNER][row] =
			(uint32_t) ((row * UINT64_C(0x85EBCA77) ^ 0x0AAAAA) & (rows.rows - 1));
		rows.numbers[row] = rows.keys[HG_OUTER][row];
	}
	printf("2^%d x 2^%d rows, as many pairs\n", log2, log2);
	printf("%10s %5s %-5s %10s %10s %10s %10s  %s\n", "groups", "hot", "items", "count ms",
		   "reduce ms", "ns/pair", "append GB/s", "right");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (int all_kinds = 0; all_kinds <= 1; all_kinds++)
			right &= bench_groups(engine, &rows, numbers[i], 0, all_kinds != 0, runs);
	for (size_t i = 0; i < sizeof(hot) / sizeof(hot[0]); i++)
		for (int all_kinds = 0; all_kinds <= 1; all_kinds++)
			right &=
				bench_groups(engine, &rows, hot[i].groups, hot[i].percent, all_kinds != 0, runs);
	hg_cuda_engine_stop(engine);
	return right ? 0 : 1;
}
