/*-------------------------------------------------------------------------
 *
 * hg_bench_json.h
 *	  The JSON of the benchmarks: an object of what was measured, which has a list of courses.
 *
 * test/bench/plot reads it.  Where no file was asked for there is nothing to write: callers look
 * whether there is one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BENCH_JSON_H
#define HG_BENCH_JSON_H

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C"
{
#endif

	typedef struct HgBenchJson
	{
		FILE *file; /* NULL: none was asked for */
		bool first; /* nothing stands in the list yet */
	} HgBenchJson;

	/* Have a file of this name, or end the program. */
	extern void hg_bench_json_open(HgBenchJson *json, const char *name);

	/* Begin it with the benchmark's name and its runs of each course. */
	extern void hg_bench_json_begin(const HgBenchJson *json, const char *benchmark, int runs);

	/* Separate the course that is to be written from the one before. */
	extern void hg_bench_json_next(HgBenchJson *json);

	/* Write a text as JSON has it, with quotes. */
	extern void hg_bench_json_text(const HgBenchJson *json, const char *text);

	/* Write the end; returns false, and says why, where not all is in the file. */
	extern bool hg_bench_json_end(HgBenchJson *json, const char *program);

#ifdef __cplusplus
}
#endif

#endif /* HG_BENCH_JSON_H */
