/*-------------------------------------------------------------------------
 *
 * hg_bench_gpus.h
 *	  Measures builds and joins that several GPUs have together.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BENCH_GPUS_H
#define HG_BENCH_GPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "hg_bench_report.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* What is measured: each order and number of duplicates, builds and joins. */
	typedef struct HgBenchGpus
	{
		const char *counts; /* of GPUs, with commas: more than there are share them */
		uint32_t rows_log2; /* of each side: a GPU's, or, strong, those of all GPUs together */
		bool strong;
		bool quick; /* one order, and two numbers of duplicates */
		int repeat;
	} HgBenchGpus;

	/*
	 * Measure, print a line for each and report it; returns whether all is right.  A time goes from
	 * keys in the memory of each GPU to all graphs, or all pairs, there.
	 *
	 * Defined in hg_bench_gpus.cu, and only where HG_WITH_CUDA is defined.
	 */
	extern bool hg_bench_gpus(const HgBenchGpus *options, HgBenchReport *report);

#ifdef __cplusplus
}
#endif

#endif /* HG_BENCH_GPUS_H */
