/*-------------------------------------------------------------------------
 *
 * hg_device_main.c
 *	  hashgraph_device: the device process with the CUDA engine.
 *
 * The only program of hashgraph that touches CUDA.  The CUDA runtime is linked
 * statically and loads the driver at run time, so that the program starts, and says
 * what is missing, on a machine that has neither.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_engine.h"
#include "hg_device_process.h"

#include <stdio.h>

/* What the process was told: hg_cuda_engine_list does not know of it. */
static uint64_t memory_budget;
static HgEngine *started;

static HgStatus
cuda_start(const HgDeviceOptions *options, unsigned char *staging, HgEngine **engine,
		   HgError *error)
{
	HgStatus status;

	memory_budget = options->memory_budget;
	status = hg_cuda_engine_start(options->device, memory_budget, engine, error);
	started = status == HG_OK ? *engine : NULL;
	if (status == HG_OK)
		status = hg_cuda_engine_register(staging, options->staging_bytes, error);
	return status;
}

static void
cuda_rest(void)
{
	hg_cuda_engine_trim(started);
}

static void
cuda_memory_use(HgMemoryUse *use)
{
	hg_cuda_engine_memory(started, &use->budget, &use->held, &use->peak);
}

static int
cuda_list(HgDeviceInfo *infos, int capacity, HgError *error)
{
	int count = hg_cuda_engine_list(infos, capacity, error);

	for (int i = 0; i < count; i++)
		if (memory_budget > 0)
			infos[i].memory_budget = memory_budget;
	return count;
}

int
main(int argc, char **argv)
{
	char description[64];
	HgDeviceKind kind = {
		.description = description,
		.start = cuda_start,
		.list = cuda_list,
		.job_bytes = hg_cuda_engine_job_bytes,
		.memory_use = cuda_memory_use,
		.rest = cuda_rest,
		.engine_copies_keys = true,
	};

	snprintf(description, sizeof(description), "built with CUDA %d.%d",
			 hg_cuda_engine_build_version() / 1000, hg_cuda_engine_build_version() % 1000 / 10);
	return hg_device_process_main(argc, argv, &kind);
}
