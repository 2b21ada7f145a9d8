/*-------------------------------------------------------------------------
 *
 * hg_tables_desk.h
 *	  What a workload of tables works with: arrays in two places, a table, steps that are timed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLES_DESK_H
#define HG_TABLES_DESK_H

#include "hg_tables.h"

#define HG_BENCH_MAX_ARRAYS 12

#define HG_BENCH_TRY(call)                                                                         \
	do                                                                                             \
	{                                                                                              \
		HgStatus try_status = (call);                                                              \
		if (try_status != HG_OK)                                                                   \
			return try_status;                                                                     \
	} while (0)

/* An array of the host, and the same where the engine has its tables. */
typedef struct HgBenchArray
{
	size_t bytes;
	void *host;
	void *there;
} HgBenchArray;

/* What a workload works with; all of it is given back at its end. */
typedef struct HgBenchDesk
{
	HgBenchCourse *course;
	const HgBenchTables *bench;
	uint32_t width; /* of keys */
	HgBenchTable *table;
	HgBenchArray arrays[HG_BENCH_MAX_ARRAYS];
	int narrays;
} HgBenchDesk;

/* An empty desk, and one that is cleared, with its table if that is still open. */
extern void hg_desk_open(HgBenchDesk *desk, HgBenchCourse *course);
extern void hg_desk_close(HgBenchDesk *desk);

/* Make an array in both places. */
extern HgStatus hg_desk_make(HgBenchDesk *desk, uint64_t count, size_t width, HgBenchArray **array,
							 HgError *error);

/* Copy it to where the engine has its tables. */
extern HgStatus hg_desk_put(HgBenchDesk *desk, const HgBenchArray *array, HgError *error);

/* Fetch the first count words of 4 bytes. */
extern HgStatus hg_desk_get_rows(HgBenchDesk *desk, const HgBenchArray *array, uint64_t count,
								 const uint32_t **rows, HgError *error);

/*
 * The key with a number below 2^29.  No set marks a slot with its word: those of 4 bytes which do
 * have higher numbers.
 */
extern void hg_desk_set_key(const HgBenchDesk *desk, HgBenchArray *keys, uint64_t at,
							uint64_t number);
extern uint64_t hg_desk_get_key(const HgBenchDesk *desk, const HgBenchArray *keys, uint64_t at);

/* Where keys and rows from one on begin, for the engine. */
extern const void *hg_desk_keys(const HgBenchDesk *desk, const HgBenchArray *keys, uint64_t at);
extern const uint32_t *hg_desk_rows(const HgBenchArray *rows, uint64_t at);

/* Permutations of the numbers below a power of two. */
extern uint64_t hg_desk_shuffled(uint64_t number, uint64_t count);
extern uint64_t hg_desk_shuffled_again(uint64_t number, uint64_t count);

/* What a lookup of a key with this number answers where it stands in the table. */
extern uint32_t hg_desk_row(const HgBenchDesk *desk, uint64_t number, uint64_t rows);

/* Have an empty table of the course's spec. */
extern HgStatus hg_desk_open_table(HgBenchDesk *desk, uint64_t expected_rows, HgError *error);

/* Close the table; finish looks at it before. */
extern void hg_desk_close_table(HgBenchDesk *desk);
extern HgStatus hg_desk_finish_table(HgBenchDesk *desk, HgError *error);

/* The step with a name, which is new in the first run. */
extern HgBenchStep *hg_desk_step(HgBenchCourse *course, const char *name);

/* Start the clock; and note what so many operations since then took, as one run of a step. */
extern HgStatus hg_desk_start(HgBenchDesk *desk, HgError *error);
extern HgStatus hg_desk_stop(HgBenchDesk *desk, const char *name, uint64_t operations,
							 HgError *error);

/* Note whether an answer was right. */
extern void hg_desk_expect(HgBenchDesk *desk, bool right);

/* Is another run wanted, after so many of them since a moment? */
extern bool hg_desk_want_run(const HgBenchCourse *course, int done, double since);

/* The workloads' runs (hg_tables_work.c), and how many variants functions has. */
#define HG_BENCH_FUNCTION_VARIANTS 7
extern HgStatus hg_bench_run_unique(HgBenchCourse *course, int variant, HgError *error);
extern HgStatus hg_bench_run_small(HgBenchCourse *course, int variant, HgError *error);
extern HgStatus hg_bench_run_functions(HgBenchCourse *course, int variant, HgError *error);
extern HgStatus hg_bench_run_duplicates(HgBenchCourse *course, int variant, HgError *error);
extern HgStatus hg_bench_run_draws(HgBenchCourse *course, int variant, HgError *error);
extern HgStatus hg_bench_run_batches(HgBenchCourse *course, int variant, HgError *error);

#endif /* HG_TABLES_DESK_H */
