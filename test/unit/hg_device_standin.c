/*-------------------------------------------------------------------------
 *
 * hg_device_standin.c
 *	  A device process without a device: the CPU engine behind the real server.
 *
 * It takes the command line of hashgraph_device and speaks its messages, so that
 * everything but the kernels can be tested on a machine that has no GPU.  Tests
 * make it misbehave through the environment:
 *
 *	HG_STANDIN_UNAVAILABLE=1			says that there is no device
 *	HG_STANDIN_START_DELAY_MS=n			takes that long to start
 *	HG_STANDIN_DIE_AFTER_CHUNKS=n		dies, as of SIGKILL, when asked for chunk n + 1
 *	HG_STANDIN_OUT_OF_MEMORY=1			every build runs out of device memory
 *	HG_STANDIN_FAIL=1					every build fails as a broken device would
 *	HG_STANDIN_COUNT_MS=n				every count takes that long, and can be cancelled
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* usleep */
#endif

#include "../../cuda/hg_device_process.h"
#include "../../src/engine/cpu/hg_cpu.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t memory_budget;
static long chunks_to_live = -1;

/* A switch of the environment as a number; 0 where it is not set. */
static long
switch_value(const char *name)
{
	const char *text = getenv(name);

	return text != NULL ? strtol(text, NULL, 10) : 0;
}

/* A job of the CPU engine, and the host that it was opened with. */
typedef struct StandinJob
{
	HgJob *job;
	const HgHost *host;
} StandinJob;

/* The host's memory is the stand-in's device memory: what runs out of it is the device. */
static HgStatus
answer(HgStatus status, HgError *error)
{
	if (status != HG_OUT_OF_MEMORY)
		return status;
	if (error != NULL)
		error->status = HG_DEVICE_OUT_OF_MEMORY;
	return HG_DEVICE_OUT_OF_MEMORY;
}

static HgJob *
inside(HgJob *job)
{
	return ((StandinJob *) job)->job;
}

static HgStatus
standin_open(HgEngine *self, const HgHost *host, const HgJobSpec *spec, HgJob **opened,
			 HgError *error)
{
	HgJobSpec limited = *spec;
	StandinJob *job;
	HgStatus status;

	(void) self;
	if (spec->device > 0)
		return hg_error_set(error, HG_UNAVAILABLE, NULL, "there is no device %d",
							(int) spec->device);
	if (memory_budget > 0 && (limited.memory_limit == 0 || limited.memory_limit > memory_budget))
		limited.memory_limit = memory_budget;

	job = malloc(sizeof(*job));
	if (job == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	job->host = host;
	status = hg_cpu_engine()->open(hg_cpu_engine(), host, &limited, &job->job, error);
	if (status != HG_OK)
	{
		free(job);
		return answer(status, error);
	}
	*opened = (HgJob *) job;
	return HG_OK;
}

static HgStatus
standin_append(HgJob *job, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	return answer(hg_cpu_engine()->append(inside(job), side, keys, count, error), error);
}

static HgStatus
standin_build(HgJob *job, HgError *error)
{
	if (switch_value("HG_STANDIN_OUT_OF_MEMORY") != 0)
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, "The stand-in was told to fail.",
							"out of device memory");
	if (switch_value("HG_STANDIN_FAIL") != 0)
		return hg_error_set(error, HG_DEVICE_FAILED, "The stand-in was told to fail.",
							"the device failed");
	return answer(hg_cpu_engine()->build(inside(job), error), error);
}

static HgStatus
standin_match(HgJob *job, HgMatchMode mode, HgError *error)
{
	return hg_cpu_engine()->match(inside(job), mode, error);
}

static HgStatus
standin_next(HgJob *job, HgMatches *matches, HgError *error)
{
	if (chunks_to_live == 0)
		raise(SIGKILL);
	if (chunks_to_live > 0)
		chunks_to_live--;
	return hg_cpu_engine()->next(inside(job), matches, error);
}

static HgStatus
standin_count(HgJob *job, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	const HgHost *host = ((StandinJob *) job)->host;

	for (long left = switch_value("HG_STANDIN_COUNT_MS"); left > 0; left--)
	{
		if (host->cancelled(host->arg))
			return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
		usleep(1000);
	}
	return hg_cpu_engine()->count(inside(job), mode, matches, error);
}

static HgStatus
standin_describe(HgJob *job, HgSide side, HgGraphStats *stats, HgError *error)
{
	return hg_cpu_engine()->describe(inside(job), side, stats, error);
}

static HgStatus
standin_export_graph(HgJob *job, HgSide side, uint32_t *offsets, void *edge_keys,
					 uint32_t *edge_rows, HgError *error)
{
	return hg_cpu_engine()->export_graph(inside(job), side, offsets, edge_keys, edge_rows, error);
}

static void
standin_stats(HgJob *job, HgJobStats *stats)
{
	hg_cpu_engine()->stats(inside(job), stats);
}

static void
standin_close(HgJob *job)
{
	hg_cpu_engine()->close(inside(job));
	free(job);
}

static HgEngine engine = {
	.name = "cuda",
	.open = standin_open,
	.append = standin_append,
	.build = standin_build,
	.match = standin_match,
	.next = standin_next,
	.count = standin_count,
	.describe = standin_describe,
	.export_graph = standin_export_graph,
	.stats = standin_stats,
	.close = standin_close,
};

static HgStatus
standin_start(const HgDeviceOptions *options, unsigned char *staging, HgEngine **started,
			  HgError *error)
{
	(void) staging;
	usleep((useconds_t) switch_value("HG_STANDIN_START_DELAY_MS") * 1000);
	if (switch_value("HG_STANDIN_UNAVAILABLE") != 0)
		return hg_error_set(error, HG_UNAVAILABLE, "The stand-in was told to have none.",
							"no device");
	if (options->device > 0)
		return hg_error_set(error, HG_UNAVAILABLE, NULL, "there is no device %d", options->device);

	memory_budget = options->memory_budget;
	if (getenv("HG_STANDIN_DIE_AFTER_CHUNKS") != NULL)
		chunks_to_live = switch_value("HG_STANDIN_DIE_AFTER_CHUNKS");

	*started = &engine;
	return HG_OK;
}

static int
standin_list(HgDeviceInfo *infos, int capacity, HgError *error)
{
	HgDeviceInfo info;

	if (capacity < 1 || switch_value("HG_STANDIN_UNAVAILABLE") != 0)
	{
		hg_error_set(error, HG_UNAVAILABLE, "The stand-in was told to have none.", "no device");
		return 0;
	}
	memset(&info, 0, sizeof(info));
	snprintf(info.name, sizeof(info.name), "stand-in (CPU)");
	snprintf(info.state, sizeof(info.state), "ready");
	info.memory_total = info.memory_free = UINT64_C(1) << 30;
	info.memory_budget = memory_budget > 0 ? memory_budget : info.memory_total;
	infos[0] = info;
	return 1;
}

int
main(int argc, char **argv)
{
	const HgDeviceKind kind = {
		.description = "a stand-in on the CPU, for tests",
		.start = standin_start,
		.list = standin_list,
		.engine_copies_keys = false,
	};

	return hg_device_process_main(argc, argv, &kind);
}
