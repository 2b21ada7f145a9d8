/*-------------------------------------------------------------------------
 *
 * hg_tables.h
 *	  The benchmark of tables: what it asks of an engine, and a course of measurements.
 *
 *	hg_tables.c			options, and what is printed
 *	hg_tables_work.c	the workloads, which are in
 *	hg_tables_unique.c, hg_tables_many.c and hg_tables_batches.c, over
 *	hg_tables_desk.c	what these work with
 *	hg_tables_cpu.c		tables of the CPU
 *	hg_tables_cuda.cu	tables in device memory
 *
 * The arrays of a table's calls lie where the engine has its tables: in memory of the host, or of
 * the device.  So what is measured is the table, and no transfer.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLES_H
#define HG_TABLES_H

#include "../../src/engine/hg_table.h"

#ifdef __cplusplus
extern "C"
{
#endif

	typedef struct HgBenchTable HgBenchTable; /* an engine's own */

	/* An engine.  One table at a time is open, and calls return when what they do is done. */
	typedef struct HgBenchTables
	{
		const char *name; /* "cpu", "cuda" */
		char device[96];  /* what it runs on */

		/* Arrays, and copies into and out of them. */
		HgStatus (*make)(size_t bytes, void **array, HgError *error);
		void (*drop)(void *array, size_t bytes);
		HgStatus (*put)(void *array, const void *from, size_t bytes, HgError *error);
		HgStatus (*get)(const void *array, void *to, size_t bytes, HgError *error);

		/* The clock: from the first of what is done between start and stop to the last. */
		HgStatus (*start)(HgError *error);
		HgStatus (*stop)(double *ms, HgError *error);

		HgStatus (*open)(const HgTableSpec *spec, HgBenchTable **table, HgError *error);
		void (*close)(HgBenchTable *table);

		/* Erase, then insert; either is NULL where there is nothing to do.  Builds an empty table.
		 */
		HgStatus (*change)(HgBenchTable *table, const HgTableBatch *out, const HgTableBatch *in,
						   HgError *error);
		HgStatus (*find)(HgBenchTable *table, const void *keys, uint64_t count, uint32_t *rows,
						 HgError *error);

		/* counts[count] of each key. */
		HgStatus (*count)(HgBenchTable *table, const void *keys, uint64_t count, uint32_t *counts,
						  HgError *error);

		/* All rows of each key, one key's after the other's; pairs of them. */
		HgStatus (*match)(HgBenchTable *table, const void *keys, uint64_t count, uint32_t *rows,
						  uint64_t pairs, HgError *error);
		HgStatus (*export_entries)(HgBenchTable *table, void *keys, HgError *error);
		HgStatus (*describe)(HgBenchTable *table, HgTableStats *stats, HgError *error);
	} HgBenchTables;

	/* The engines.  HG_UNAVAILABLE where there is no device. */
	extern HgStatus hg_tables_cpu_bench(const HgBenchTables **bench, HgError *error);
	extern HgStatus hg_tables_cuda_bench(const HgBenchTables **bench, HgError *error);

#define HG_BENCH_MAX_RUNS 101
#define HG_BENCH_MAX_STEPS 8
#define HG_BENCH_MAX_BATCHES 256

	/* One thing that is timed in each run. */
	typedef struct HgBenchStep
	{
		const char *name;
		uint64_t operations;
		double ms[HG_BENCH_MAX_RUNS];
		int runs;
	} HgBenchStep;

	/* All runs of a workload with one table. */
	typedef struct HgBenchCourse
	{
		const HgBenchTables *bench;
		HgTableSpec spec;
		const char *workload;
		unsigned rows_log2;
		int runs;		 /* that are wanted */
		char detail[32]; /* of the workload: how many rows a key has, and so on */

		HgBenchStep steps[HG_BENCH_MAX_STEPS];
		int nsteps;
		bool wrong;							 /* an answer was not what is known */
		HgTableStats stats;					 /* of the last table */
		double filled[HG_BENCH_MAX_BATCHES]; /* after each batch, of the first run */
		int nfilled;
	} HgBenchCourse;

	/*
	 * A workload, for the tables that can have its content.  run makes the keys of one of its
	 * variants, measures the course's runs of it and compares all answers.  HG_INVALID is a table's
	 * refusal.
	 */
	typedef struct HgBenchWork
	{
		const char *name;
		const char *what;
		HgTableContent content; /* a map may be a set too */
		bool layouts;			/* HashGraphs in both layouts */
		bool cuckoo;			/* for cuckoo tables alone */
		int variants;
		HgStatus (*run)(HgBenchCourse *course, int variant, HgError *error);
	} HgBenchWork;

	extern const HgBenchWork hg_bench_works[];
	extern const int hg_bench_work_count;

#ifdef __cplusplus
}
#endif

#endif /* HG_TABLES_H */
