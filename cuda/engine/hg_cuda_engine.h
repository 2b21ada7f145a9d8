/*-------------------------------------------------------------------------
 *
 * hg_cuda_engine.h
 *	  The CUDA engine, and the devices that it can run on.
 *
 * A C interface: what includes it needs no CUDA.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_ENGINE_H
#define HG_CUDA_ENGINE_H

#include "../../src/engine/hg_table.h"
#include "../../src/engine/wire/hg_wire_client.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* In place of the number of a device. */
#define HG_CUDA_EMPTIEST (-1) /* the one with the most free memory */
#define HG_CUDA_FIRST (-2)	  /* the first that can be used */
#define HG_CUDA_EACH (-3)	  /* all of them */

	/*
	 * Get a device ready, or HG_CUDA_EMPTIEST or HG_CUDA_FIRST, and give the engine that
	 * uses it: one for the process, for all its threads.  memory_budget is what all jobs
	 * together may hold of device memory at most; 0 means 80 % of it.  HG_UNAVAILABLE, with the
	 * reason, where there is no driver, device, or none that this build has code for.
	 *
	 * The engine's append copies the keys before it returns.
	 */
	extern HgStatus hg_cuda_engine_start(int device, uint64_t memory_budget, HgEngine **engine,
										 HgError *error);

	/*
	 * The device memory that a job needs at least, for the rows that it expects; 0 where
	 * they are too many to say.
	 */
	extern uint64_t hg_cuda_engine_job_bytes(const HgJobSpec *spec);

	/* The device that it uses. */
	extern int hg_cuda_engine_device(const HgEngine *engine);

	/*
	 * The budget of device memory, which is less than memory_budget where other processes have more
	 * than is left then, as measured last; what jobs hold of it, and the most that they held.
	 */
	extern void hg_cuda_engine_memory(HgEngine *engine, uint64_t *budget, uint64_t *held,
									  uint64_t *peak);

	/* The tables of its device, which take memory of the same budget. */
	extern HgTables *hg_cuda_engine_tables(HgEngine *engine);

	/* Measure what other processes have left, unless that was done in the last second. */
	extern void hg_cuda_engine_measure(HgEngine *engine);

	/* Called about each second while there are jobs: give back what these do not need. */
	extern void hg_cuda_engine_tidy(HgEngine *engine);

	/* Give device memory that no job holds back to the driver. */
	extern void hg_cuda_engine_trim(HgEngine *engine);

	/* Give everything back; jobs and tables must be closed, and graph replicas released. */
	extern void hg_cuda_engine_stop(HgEngine *engine);

	/*
	 * Register host memory with the device, so that copies are fast and asynchronous.
	 * It must stay mapped while the process lives.  Where that is refused they are slower.
	 */
	extern HgStatus hg_cuda_engine_register(unsigned char *memory, uint64_t bytes, HgError *error);

	/*
	 * Fill at most capacity of infos with the devices of this machine, and return their
	 * number; 0, with *error filled (if not NULL), where there is none.  Their free memory, and
	 * whether they can be used, is told of the one that is used, or of HG_CUDA_EACH: that takes a
	 * context, and so memory, of each of these.  Others are HG_DEVICE_UNUSED.
	 */
	extern int hg_cuda_engine_list(int used, HgDeviceInfo *infos, int capacity, HgError *error);

	/* The version of CUDA that this was built with: 13000 for 13.0. */
	extern int hg_cuda_engine_build_version(void);

#ifdef __cplusplus
}
#endif

#endif /* HG_CUDA_ENGINE_H */
