/*-------------------------------------------------------------------------
 *
 * hg_device_main.c
 *	  hashgraph_device: the device process with the CUDA engine.
 *
 * The only program of hashgraph that touches CUDA. The CUDA runtime is linked statically and loads
 * the driver at run time. So the program starts on a machine without CUDA and without a driver,
 * and reports what is missing.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../src/engine/cpu/hg_cpu.h"
#include "../../src/engine/hg_cost_table.h"
#include "../engine/hg_cuda_engine.h"
#include "hg_device_process.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the command line, for hg_cuda_engine_list, which does not know the budget. */
static uint64_t memory_budget;
static HgEngine *started;

/* ------------------------------------------------------------------------
 * Costs
 * ------------------------------------------------------------------------ */

static bool
host_never_cancelled(void *arg)
{
	(void) arg;
	return false;
}

static const HgHost measuring_host = {
	.alloc = hg_process_alloc, .free = hg_process_free, .cancelled = host_never_cancelled};

/* Measures an engine with both key widths, and with fewer rows if its memory is too small. */
static HgStatus
measure_engine(HgEngine *engine, void *keys, uint64_t bytes, HgCosts costs[HG_COSTS_WIDTHS],
			   HgError *error)
{
	for (uint32_t width = 4; width <= 8; width += 4)
	{
		HgStatus status = HG_DEVICE_OUT_OF_MEMORY;

		for (uint64_t rows = HG_COSTS_ROWS;
			 status == HG_DEVICE_OUT_OF_MEMORY && rows >= HG_COSTS_LEAST_ROWS; rows /= 2)
			if (rows * width <= bytes)
				status = hg_costs_measure(engine, &measuring_host, width, keys, rows,
										  &costs[hg_costs_width_index(width)], error);
		if (status != HG_OK)
			return status;
	}
	return HG_OK;
}

/* The CPU is measured while the device starts, which takes longer. */
static struct
{
	pthread_t thread;
	bool running;
	HgStatus status;
	HgError error;
	HgCosts costs[HG_COSTS_WIDTHS];
} cpu_measure;

static void *
measure_cpu(void *arg)
{
	const uint64_t bytes = HG_COSTS_ROWS * sizeof(uint64_t);
	void *keys = malloc(bytes);

	(void) arg;
	if (keys == NULL)
		cpu_measure.status =
			hg_error_set(&cpu_measure.error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	else
		cpu_measure.status =
			measure_engine(hg_cpu_engine(), keys, bytes, cpu_measure.costs, &cpu_measure.error);
	free(keys);
	return NULL;
}

static HgStatus
cuda_start(const HgDeviceOptions *options, HgEngine **engine, HgError *error)
{
	/* a server has a process for each device, and a session one of its own */
	const int any = options->listen >= 0 ? HG_CUDA_FIRST : HG_CUDA_EMPTIEST;
	HgStatus status;

	memory_budget = options->memory_budget;
	/* streams in one queue of the device wait for each other; participants have several each */
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
	cpu_measure.running = pthread_create(&cpu_measure.thread, NULL, measure_cpu, NULL) == 0;
	status = hg_cuda_engine_start(options->device >= 0 ? options->device : any, memory_budget,
								  engine, error);
	started = status == HG_OK ? *engine : NULL;
	return status;
}

static HgStatus
cuda_measure(const HgDeviceOptions *options, unsigned char *staging, HgEngineCosts *costs,
			 HgError *error)
{
	HgStatus status =
		measure_engine(started, staging, options->staging_bytes, costs->device, error);

	if (cpu_measure.running)
		pthread_join(cpu_measure.thread, NULL);
	else
		measure_cpu(NULL);
	if (status == HG_OK && cpu_measure.status != HG_OK)
	{
		*error = cpu_measure.error;
		status = cpu_measure.status;
	}
	memcpy(costs->cpu, cpu_measure.costs, sizeof(costs->cpu));
	costs->connect_ms = HG_CONNECT_NS / 1e6;
	return status;
}

static void
cuda_rest(void)
{
	hg_cuda_engine_trim(started);
}

static void
cuda_tidy(void)
{
	hg_cuda_engine_tidy(started);
}

static void
cuda_measure_use(void)
{
	hg_cuda_engine_measure(started);
}

static void
cuda_memory_use(HgMemoryUse *use)
{
	hg_cuda_engine_memory(started, &use->budget, &use->held, &use->peak);
}

static int
cuda_list(HgDeviceInfo *infos, int capacity, HgError *error)
{
	const int used = started != NULL ? hg_cuda_engine_device(started) : HG_CUDA_EACH;
	int count = hg_cuda_engine_list(used, infos, capacity, error);
	uint64_t held;
	uint64_t peak;

	for (int i = 0; i < count; i++)
	{
		if (memory_budget > 0)
			infos[i].memory_budget = memory_budget;
		if (started != NULL && infos[i].ordinal == hg_cuda_engine_device(started))
			hg_cuda_engine_memory(started, &infos[i].memory_budget, &held, &peak);
	}
	return count;
}

int
main(int argc, char **argv)
{
	char description[64];
	HgDeviceKind kind = {
		.description = description,
		.start = cuda_start,
		.pin = hg_cuda_engine_register,
		.measure = cuda_measure,
		.list = cuda_list,
		.evict_ms = HG_SERVER_EVICT_MS,
		.job_bytes = hg_cuda_engine_job_bytes,
		.memory_use = cuda_memory_use,
		.measure_use = cuda_measure_use,
		.rest = cuda_rest,
		.tidy = cuda_tidy,
	};

	snprintf(description, sizeof(description), "built with CUDA %d.%d",
			 hg_cuda_engine_build_version() / 1000, hg_cuda_engine_build_version() % 1000 / 10);
	return hg_device_process_main(argc, argv, &kind);
}
