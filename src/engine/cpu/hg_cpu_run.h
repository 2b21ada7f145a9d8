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

/* The instructions that kernels may use, in ascending order. */
typedef enum HgCpuFeatures
{
	HG_CPU_PORTABLE,
	HG_CPU_AVX2,
	HG_CPU_AVX512
} HgCpuFeatures;

/*
 * The best that this machine has, up to a limit that tests may set: kernels for less
 * are to be tested on machines that have more.
 */
extern HgCpuFeatures hg_cpu_features(void);
extern void hg_cpu_limit_features(HgCpuFeatures most);

/* Bin all rows that the side's pieces have. */
extern HgStatus hg_cpu_bin_side(HgJob *job, HgSide which, HgError *error);

#endif /* HG_CPU_RUN_H */
