/*-------------------------------------------------------------------------
 *
 * hg_loader_keep.c
 *	  Giving devices copies of a table's HashGraphs.
 *
 * A graph is pinned meanwhile, and immutable.  Its edges go through the loader's own connection and
 * a lease of staging, bin by bin, as keys of a join do: the device process puts this job behind
 * those that came before it, and no session waits for more than a slot of it.  A graph is the
 * device's under the number of its version (resident/hg_resident_graph_version.h), so that nobody
 * ever gets another one, and is dropped there when the version is freed here.
 *
 * Columns that joins have asked for follow it (hg_loader_keep_column.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/xact.h"

#include "backend/device/hg_device.h"
#include "backend/hg_cleanup.h"
#include "backend/hg_host.h"
#include "loader/hg_loader_keep.h"
#include "loader/hg_loader_keep_column.h"
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
	bool
		sent; /* what is made of it is the device's soon, which is waited for: to be dropped then */
} HgKeeping;

/* The engine's question, every few milliseconds. */
static bool
hg_keep_is_cancelled(void *arg)
{
	HgKeeping *keeping = arg;

	return keeping->is_interrupted(arg) || (!keeping->sent && keeping->is_left());
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

/* ---------------------------------------------------------------------
 * Jobs
 * ---------------------------------------------------------------------
 */

/* What is to be kept: a graph, or a column. */
typedef struct HgKeepTask
{
	HgJobSpec spec;
	const HgFlatGraph *graph;
	HgKeepColumn *column;
} HgKeepTask;

/* Have the device keep it; *bytes is what it takes there. */
static HgStatus
hg_keep_send(const HgKeepTask *task, HgEngine *engine, HgKeeping *keeping, uint64 *bytes,
			 HgError *error)
{
	HgKept *kept;
	HgJob *job;
	HgStatus status = engine->open(engine, &keeping->host.host, &task->spec, &job, error);

	if (status != HG_OK)
		return status;
	status = task->column != NULL ? hg_keep_column_put(task->column, engine, job, error)
								  : hg_keep_put(engine, job, task->graph, error);
	keeping->sent = true;
	if (status == HG_OK)
		status = engine->build(job, error);
	if (status == HG_OK)
		status = engine->keep(job, &kept, bytes, error);
	engine->close(job);
	return status;
}

/*
 * Give it to the device process at a place, and note so.  False: that can't be had at all, or is
 * not to be.
 */
static bool
hg_keep_give(const HgKeepTask *task, HgDeviceCopy *copies, int place, bool (*is_left)(void))
{
	HgDeviceCopy *copy = &copies[place];
	HgKeeping keeping = {.is_left = is_left};
	HgEngine *engine = NULL;
	uint64 bytes = 0;
	HgStatus status;
	HgError error;

	hg_host_init(&keeping.host, CurrentMemoryContext);
	keeping.is_interrupted = keeping.host.host.cancelled;
	keeping.host.host.cancelled = hg_keep_is_cancelled;
	if (hg_device_state(place, HG_KEEP_PATIENCE_MS, &error) == HG_DEVICE_READY)
		engine = hg_device_engine(place, true);
	if (engine == NULL)
		return false;
	status = hg_keep_send(task, engine, &keeping, &bytes, &error);
	hg_host_rethrow(&keeping.host);
	if (status == HG_OK)
	{
		hg_device_copy_set_kept(copy, hg_device_connection(place)->epoch, bytes);
		hg_resident_count(HG_COUNT_GRAPHS_KEPT, task->column == NULL);
		return true;
	}
	ereport(DEBUG1, (errmsg_internal("the device keeps no copy of a HashGraph: %s", error.message),
					 error.detail[0] != '\0' ? errdetail_internal("%s", error.detail) : 0));
	if (status == HG_CANCELLED)
		return false;
	hg_device_copy_set_missed(copy, hg_device_connection(place)->epoch);
	if (status != HG_CONNECTION_LOST && status != HG_DEVICE_FAILED)
		return true;
	hg_device_discard_lost(place);
	return false;
}

/* Give a pinned graph to the device process at a place. */
static bool
hg_keep_graph(const HgPinnedGraph *pinned, int place, bool (*is_left)(void))
{
	HgResidentGraph *version = hg_graph_version(pinned->pointer);
	const HgKeptSpec keep = {.name = hg_graph_version_name(version, InvalidAttrNumber),
							 .shape = hg_graph_version_shape(version)};
	const HgKeepTask task = {
		.spec = {.key_width = keep.shape.key_width, .device = -1, .keep = &keep},
		.graph = &pinned->flat,
	};

	return hg_keep_give(&task, version->copies, place, is_left);
}

/* The same of a column of its rows. */
static bool
hg_keep_column(HgResidentRelation key, const HgPinnedGraph *pinned, HgGraphColumn *asked, int place,
			   uint64 epoch, bool (*is_left)(void))
{
	const AttrNumber number = (AttrNumber) pg_atomic_read_u32(&asked->number);
	HgKeepColumn *column = hg_keep_column_pin(key, pinned, number, is_left);
	HgKeepTask task = {.spec = {.key_width = sizeof(uint64), .device = -1}, .column = column};
	bool there = true;

	if (column != NULL)
	{
		task.spec.keep_column = &column->spec;
		asked->shape = column->spec.shape;
		there = hg_keep_give(&task, asked->copies, place, is_left);
		hg_keep_column_unpin(column);
	}
	else if (is_left())
		there = false;
	else
		hg_device_copy_set_missed(&asked->copies[place], epoch);
	return there;
}

/* Give the process at a place what it is to have of a pinned graph; false as above. */
static bool
hg_keep_pinned_at(HgResidentRelation key, const HgPinnedGraph *pinned, int place, uint64 epoch,
				  bool (*is_left)(void))
{
	HgResidentGraph *version = hg_graph_version(pinned->pointer);
	HgDeviceCopy *copy = &version->copies[place];

	if (hg_device_copy_is_due(copy, epoch))
	{
		if (!hg_keep_graph(pinned, place, is_left))
			return false;
		/* a large one may find the room that it has not found here at another place */
		if (!hg_device_copy_is_kept(copy, epoch))
			hg_graph_version_remove_home(version, place);
	}
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
	{
		HgGraphColumn *asked = &version->columns[i];

		if (pg_atomic_read_u32(&asked->number) != InvalidAttrNumber &&
			hg_device_copy_is_kept(copy, epoch) &&
			hg_device_copy_is_due(&asked->copies[place], epoch) &&
			!hg_keep_column(key, pinned, asked, place, epoch, is_left))
			return false;
	}
	return true;
}

/*
 * The bytes that the process at a place may keep yet, or is to make room for where that is
 * negative; false where it does not tell.
 */
static bool
hg_keep_room_at(int place, int64 *room)
{
	HgWireClient *client = NULL;
	HgDeviceStatus status;
	HgPgHost host;
	HgStatus told = HG_UNAVAILABLE;
	HgError error;

	hg_host_init(&host, CurrentMemoryContext);
	hg_host_set_patience(&host, HG_KEEP_PATIENCE_MS);
	if (hg_device_state(place, HG_KEEP_PATIENCE_MS, &error) == HG_DEVICE_READY)
		client = hg_device_client(place);
	/* it may have gone since */
	if (client != NULL)
		told = hg_wire_client_status(client, &host.host, &status, &error);
	hg_host_rethrow(&host);
	if (told != HG_OK)
		return false;
	*room = (int64) status.kept_limit - (int64) status.kept_bytes;
	return true;
}

/*
 * Give a large graph its home: where there is most room, of those that have not refused it lately.
 * One that is full makes room, where it keeps what was used less lately.
 */
static void
hg_keep_find_home(HgResidentGraph *version, const HgKeepers *keepers)
{
	int64 most = 0;
	int64 room;
	int home = -1;

	for (int place = 0; place < HG_GPU_DEVICES; place++)
	{
		if (hg_device_copy_is_due(&version->copies[place], keepers->epochs[place]) &&
			hg_keep_room_at(place, &room) && (home < 0 || room > most))
		{
			most = room;
			home = place;
		}
	}
	if (home >= 0)
		hg_graph_version_add_homes(version, HG_PLACE(home));
}

/*
 * Give the processes of its homes what they are to have of a pinned graph; false where none of them
 * could be given anything, or nothing more is to be.
 */
static bool
hg_keep_pinned(HgResidentRelation key, const HgPinnedGraph *pinned, const HgKeepers *keepers,
			   bool (*is_left)(void))
{
	HgResidentGraph *version = hg_graph_version(pinned->pointer);
	bool tried = false;
	bool there = false;
	HgPlaces homes;

	if (hg_graph_version_homes(version, keepers) == 0)
		hg_keep_find_home(version, keepers);
	homes = hg_graph_version_homes(version, keepers);
	hg_graph_version_offer(version);
	for (int place = 0; place < HG_GPU_DEVICES && !is_left(); place++)
		if ((homes & HG_PLACE(place)) != 0 && keepers->epochs[place] != 0)
		{
			tried = true;
			there |= hg_keep_pinned_at(key, pinned, place, keepers->epochs[place], is_left);
		}
	return (there || !tried) && !is_left();
}

/* Give it what it is to have of the graph of a key; false as above. */
static bool
hg_keep_one(HgResidentRelation key, const HgKeyNumbers *numbers, bool (*is_left)(void),
			MemoryContext context)
{
	volatile bool there = true;
	HgKeepers keepers;

	hg_graph_keepers(&keepers);
	PG_TRY();
	{
		HgPinnedGraph *pinned;

		StartTransactionCommand();
		pinned = hg_resident_graph_pin_due(key, numbers, &keepers);
		if (pinned != NULL)
		{
			there = hg_keep_pinned(key, pinned, &keepers, is_left);
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
	HgKeepers keepers;
	int n;

	if (!hg_graph_keepers(&keepers))
		return;
	n = hg_directory_graph_keys(key, &keys);
	for (int i = 0; i < n && !is_left() && hg_keep_one(key, &keys[i], is_left, context); i++)
		;
}
