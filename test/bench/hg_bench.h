/*-------------------------------------------------------------------------
 *
 * hg_bench.h
 *	  What the benchmark asks of a backend: one workload, measured.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BENCH_H
#define HG_BENCH_H

#include "../../src/engine/hg_engine.h"
#include "hg_workload.h"

#ifdef __cplusplus
extern "C"
{
#endif

	typedef enum HgBenchLayout
	{
		HG_BENCH_GRAPHS,   /* both HashGraphs are built and left in memory */
		HG_BENCH_AUTO,	   /* whatever the backend does by itself */
		HG_BENCH_PREBUILT, /* both HashGraphs are there, and are intersected */
		HG_BENCH_COUNTED,  /* the same, and pairs are counted only */
		HG_BENCH_JOB	   /* as auto, by a job of the engine, with keys and pairs in host memory */
	} HgBenchLayout;

	/* Is a layout about graphs that are there, before and after a run? */
#define HG_BENCH_HAS_GRAPHS(layout) ((layout) != HG_BENCH_AUTO && (layout) != HG_BENCH_JOB)

	/* A measurement.  Times are of the run whose total is the median of all runs. */
	typedef struct HgBenchResult
	{
		char device[96];					/* what it ran on */
		double total_ms;					/* build, probe and write; for cuda without transfers */
		double phase_ms[HG_PHASE_COUNT];	/* 0 where unknown */
		double phase_bytes[HG_PHASE_COUNT]; /* that it must read and write; 0 where unknown */
		double copy_rate;	 /* bytes read and written by a copy, GB/s; 0 where unknown */
		uint64_t peak_bytes; /* memory held at most; 0 where unknown */
		uint64_t pairs;		 /* found, to be compared with the workload's */
		uint64_t checksum;	 /* of the pairs written */
		bool
			graphs_valid; /* where there are graphs: offsets and edges were checked and are right */
	} HgBenchResult;

	/*
	 * Measure a workload with the CUDA engine on the current device, but for whole jobs: keys and
	 * pairs in device memory, each run from keys to written pairs, repeat runs after one to warm
	 * up.  Checksum (hg_workload_pair) and graphs are checked outside the time measured.  Returns
	 * HG_UNAVAILABLE where there is no usable device.
	 *
	 * Defined in hg_bench_cuda.cu, and only where HG_WITH_CUDA is defined.
	 */
	extern HgStatus hg_bench_cuda(const HgWorkload *workload, HgBenchLayout layout, int repeat,
								  HgBenchResult *result, HgError *error);

	/*
	 * The same for building one HashGraph, by Algorithm 2, of 2^rows_log2 keys of 4 bytes, each
	 * of them duplicates times: from keys to offsets and edges in device memory.  ordered: the
	 * edges of a list are to be in the order of their keys, as the inner graph's are.
	 */
	extern HgStatus hg_bench_cuda_build(uint32_t rows_log2, uint32_t duplicates, bool ordered,
										int repeat, HgBenchResult *result, HgError *error);

	/*
	 * Have the device copy from and to memory of the host by itself, until it is unpinned, which
	 * comes before it is freed.
	 */
	extern HgStatus hg_bench_cuda_pin(void *memory, uint64_t bytes, HgError *error);
	extern void hg_bench_cuda_unpin(void *memory);

#ifdef __cplusplus
}
#endif

#endif /* HG_BENCH_H */
