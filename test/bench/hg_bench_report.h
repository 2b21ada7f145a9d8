/*-------------------------------------------------------------------------
 *
 * hg_bench_report.h
 *	  What hg_bench tells of a run: a line, its phases, and an object in the JSON.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BENCH_REPORT_H
#define HG_BENCH_REPORT_H

#include "hg_bench.h"
#include "hg_bench_json.h"

typedef struct HgBenchReport
{
	bool phases;	  /* print the time of each */
	HgBenchJson json; /* where that of all runs goes */
} HgBenchReport;

/*
 * Tell what a run of a workload did.  Its pairs and checksum are compared with the workload's;
 * returns whether they are right, and valid says that all else is.
 */
extern bool hg_bench_report(HgBenchReport *report, const HgWorkload *workload, const char *backend,
							const HgBenchResult *result, bool valid);

/* Tell why a run failed; returns false. */
extern bool hg_bench_report_failure(HgBenchReport *report, const HgWorkload *workload,
									const char *backend, HgStatus status, const HgError *error);

#endif /* HG_BENCH_REPORT_H */
