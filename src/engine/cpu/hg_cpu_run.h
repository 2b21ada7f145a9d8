/*-------------------------------------------------------------------------
 *
 * hg_cpu_run.h
 *	  Runs: rows copied in the order of their bins, the first half of Algorithm 2.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_RUN_H
#define HG_CPU_RUN_H

#include "hg_cpu_job.h"

/* Copies all rows of a side's pieces to runs. */
extern HgStatus hg_cpu_bin_side(HgJob *job, HgSide which, HgError *error);

#endif /* HG_CPU_RUN_H */
