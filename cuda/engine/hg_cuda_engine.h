/*-------------------------------------------------------------------------
 *
 * hg_cuda_engine.h
 *	  The CUDA engine, and the devices that it can run on.
 *
 * A C interface: a file that includes it needs no CUDA.
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

	/* Special values of a device number. */
#define HG_CUDA_EMPTIEST (-1) /* the device with the most free memory */
#define HG_CUDA_FIRST (-2)	  /* the first usable device */
#define HG_CUDA_EACH (-3)	  /* all devices */

	/*
	 * Starts the engine on a device: a number, HG_CUDA_EMPTIEST or HG_CUDA_FIRST. A process has
	 * one engine, which all its threads share. memory_budget is the most bytes of device memory
	 * that all jobs may hold together; 0 means 80 % of the device's. HG_UNAVAILABLE, with the
	 * reason, if there is no driver, no device, or no code in this build for the device.
	 *
	 * The engine's append copies the keys before it returns.
	 */
	extern HgStatus hg_cuda_engine_start(int device, uint64_t memory_budget, HgEngine **engine,
										 HgError *error);

	/*
	 * Returns the bytes of device memory that a job needs at least for the rows that it expects; 0
	 * if there are more rows than a job may have.
	 */
	extern uint64_t hg_cuda_engine_job_bytes(const HgJobSpec *spec);

	/* Returns the number of the engine's device. */
	extern int hg_cuda_engine_device(const HgEngine *engine);

	/*
	 * Stores the budget of device memory, the bytes that jobs hold, and the most that they held.
	 * The budget is below memory_budget if other processes left less at the last measurement.
	 */
	extern void hg_cuda_engine_memory(HgEngine *engine, uint64_t *budget, uint64_t *held,
									  uint64_t *peak);

	/* Returns the calls of the device's tables, whose memory counts against the same budget. */
	extern HgTables *hg_cuda_engine_tables(HgEngine *engine);

	/* Measures what other processes have left of the device, at most once a second. */
	extern void hg_cuda_engine_measure(HgEngine *engine);

	/* Gives memory back to the driver that jobs do not need. To be called about each second. */
	extern void hg_cuda_engine_tidy(HgEngine *engine);

	/* Gives device memory that no job holds back to the driver. */
	extern void hg_cuda_engine_trim(HgEngine *engine);

	/* Frees the engine. All jobs and tables must be closed, and all replicas released. */
	extern void hg_cuda_engine_stop(HgEngine *engine);

	/*
	 * Registers host memory with the device, so that copies are fast and asynchronous. The memory
	 * must stay mapped while the process lives. After a failure copies work, but are slower.
	 */
	extern HgStatus hg_cuda_engine_register(unsigned char *memory, uint64_t bytes, HgError *error);

	/*
	 * Fills up to capacity infos with the machine's devices and returns their number. Returns 0 if
	 * there is none, and fills *error, which may be NULL. Free memory and usability are given for
	 * device `used` only, or for all with HG_CUDA_EACH, because finding out takes a context, and
	 * so memory, on the device. Other devices have the state HG_DEVICE_UNUSED.
	 */
	extern int hg_cuda_engine_list(int used, HgDeviceInfo *infos, int capacity, HgError *error);

	/* Returns the CUDA version that this was built with: 13000 for 13.0. */
	extern int hg_cuda_engine_build_version(void);

#ifdef __cplusplus
}
#endif

#endif /* HG_CUDA_ENGINE_H */
