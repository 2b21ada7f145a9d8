/*-------------------------------------------------------------------------
 *
 * hg_loader_keep.c
 *	  Giving a device copies of a table's HashGraphs.
 *
 * A graph is pinned meanwhile, and immutable.  Its edges go through the loader's own connection and
 * a lease of staging, bin by bin, as keys of a join do: the device process puts this job behind
 * those that came before it, and no session waits for more than a slot of it.  A graph is the
 * device's under the number of its version (resident/hg_resident_graph_version.h), so that nobody
 * ever gets another one, and is dropped there when the version is freed here.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/xact.h"

#include "backend/device/hg_device.h"
#include "backend/hg_host.h"
#include "loader/hg_loader_keep.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_graph.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_statistics.h"

/* How long a process that is ready may take to greet, in ms. */
#define HG_KEEP_PATIENCE_MS 1000

typedef struct HgKeeping
{
	HgPgHost host; /* the first member: what it is given as */
	bool (*is_interrupted)(void *arg);
	bool (*is_left)(void);
} HgKeeping;

/* The engine's question, every few milliseconds. */
static bool
hg_keep_is_cancelled(void *arg)
{
	HgKeeping *keeping = arg;

	return keeping->is_interrupted(arg) || keeping->is_left();
}

/* Send the edges of a graph to a job that was opened for it. */
static HgStatus
hg_keep_put(HgEngine *engine, HgJob *job, const HgFlatGraph *graph, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32 bin = 0; bin < (uint32) 1 << graph->shape.bins_log2 && status == HG_OK; bin++)
	{
		const void *keys;
		const uint32_t *rows;
		uint64 count = hg_flat_scan(graph, bin, &keys, &rows);

		if (count > 0)
			status = engine->put_edges(job, keys, rows, count, error);
	}
	return status;
}

/* Have the device keep a graph; *bytes is what it takes there. */
static HgStatus
hg_keep_send(HgEngine *engine, const HgHost *host, const HgKeptSpec *keep,
			 const HgFlatGraph *graph, uint64 *bytes, HgError *error)
{
	const HgJobSpec spec = {.key_width = keep->shape.key_width, .device = -1, .keep = keep};
	HgKept *kept;
	HgJob *job;
	HgStatus status = engine->open(engine, host, &spec, &job, error);

	if (status != HG_OK)
		return status;
	status = hg_keep_put(engine, job, graph, error);
	if (status == HG_OK)
		status = engine->build(job, error);
	if (status == HG_OK)
		status = engine->keep(job, &kept, bytes, error);
	engine->close(job);
	return status;
}

/* Give a pinned graph to the device process.  False: it can't be had at all, or is not to be. */
static bool
hg_keep_give(const HgPinnedGraph *pinned, bool (*is_left)(void))
{
	HgResidentGraph *version = hg_graph_version(pinned->pointer);
	const HgKeptSpec keep = {.name = {hg_resident_epoch(), version->serial},
							 .shape = hg_graph_version_kept_shape(version)};
	HgKeeping keeping = {.is_left = is_left};
	HgEngine *engine = NULL;
	uint64 bytes = 0;
	HgStatus status;
	HgError error;

	hg_host_init(&keeping.host, CurrentMemoryContext);
	keeping.is_interrupted = keeping.host.host.cancelled;
	keeping.host.host.cancelled = hg_keep_is_cancelled;
	if (hg_device_state(false, HG_KEEP_PATIENCE_MS, &error) == HG_DEVICE_READY)
		engine = hg_device_engine(true);
	if (engine == NULL)
		return false;
	status = hg_keep_send(engine, &keeping.host.host, &keep, &pinned->flat, &bytes, &error);
	hg_host_rethrow(&keeping.host);
	if (status == HG_OK)
	{
		hg_graph_version_set_kept(version, hg_device_connection.epoch, bytes);
		hg_resident_count(HG_COUNT_GRAPHS_KEPT, 1);
		return true;
	}
	ereport(DEBUG1, (errmsg_internal("the device keeps no copy of a HashGraph: %s", error.message),
					 error.detail[0] != '\0' ? errdetail_internal("%s", error.detail) : 0));
	if (status == HG_CANCELLED)
		return false;
	hg_graph_version_set_missed(version, hg_device_connection.epoch);
	if (status != HG_CONNECTION_LOST && status != HG_DEVICE_FAILED)
		return true;
	hg_device_discard_lost();
	return false;
}

/* Give the graph of a key to the device process, if it is to have it; false as above. */
static bool
hg_keep_one(HgResidentRelation key, const HgKeyNumbers *numbers, bool (*is_left)(void),
			MemoryContext context)
{
	volatile bool there = true;

	PG_TRY();
	{
		HgPinnedGraph *pinned;

		StartTransactionCommand();
		pinned = hg_resident_graph_pin_to_keep(key, numbers, hg_graph_keeper());
		if (pinned != NULL)
		{
			there = hg_keep_give(pinned, is_left);
			hg_resident_graph_unpin(pinned);
		}
		CommitTransactionCommand();
		MemoryContextSwitchTo(context);
	}
	PG_CATCH();
	{
		(void) hg_loader_recover(context);
		there = false;
	}
	PG_END_TRY();
	return there;
}

void
hg_loader_keep_graphs(HgResidentRelation key, bool (*is_left)(void), MemoryContext context)
{
	HgKeyNumbers *keys;
	int n;

	if (hg_graph_keeper() == 0)
		return;
	n = hg_directory_graph_keys(key, &keys);
	for (int i = 0; i < n && !is_left() && hg_keep_one(key, &keys[i], is_left, context); i++)
		;
}
