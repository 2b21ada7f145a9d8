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
 * COLUMNS that joins have asked for follow it, those whose values lie in arrays of a width that an
 * engine has.  A column is of the rows of the segment versions that the graph lists, all of which
 * have to be there still: else the next graph is soon made, and its columns are those of the
 * versions that there are then.
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
 * Columns
 * ---------------------------------------------------------------------
 */

/* Values that are put at a time, with bytes that tell NULL. */
#define HG_KEEP_ROWS 65536

/* A column of the rows of a pinned graph. */
typedef struct HgKeepColumn
{
	HgCleanup cleanup; /* of pins */
	HgResidentColumn column;
	uint32 nparts;
	dsa_pointer *versions; /* [nparts] pinned; invalid: the graph has no row of the segment */
	uint8 *nulls;		   /* [HG_KEEP_ROWS] */
	HgKeptColumnSpec spec;
} HgKeepColumn;

/* Let go of the versions. */
static void
hg_keep_unpin(void *arg)
{
	HgKeepColumn *keep = arg;

	for (uint32 part = 0; part < keep->nparts; part++)
		if (DsaPointerIsValid(keep->versions[part]))
			hg_segment_version_release(keep->versions[part]);
	keep->nparts = 0;
}

/* Pin the segment versions that a graph lists; false where one is not there any more. */
static bool
hg_keep_pin(HgKeepColumn *keep, HgResidentRelation key, const HgPinnedGraph *graph,
			AttrNumber number)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, false);
	const HgDirectoryColumn *column;
	const HgSegmentSlot *slots;
	bool all;

	if (entry == NULL)
		return false;
	column = hg_directory_find_column(entry, number);
	slots = hg_directory_slots(entry);
	all = column != NULL && column->planned.number == number;
	for (uint32 part = 0; part < graph->nsegments && all; part++)
	{
		const uint64 serial = graph->serials[part];

		keep->versions[part] = InvalidDsaPointer;
		keep->nparts = part + 1;
		if (serial == 0 || (serial & HG_GRAPH_PASSED) != 0)
			continue;
		all = part < entry->nslots && DsaPointerIsValid(slots[part].version) &&
			  hg_segment_version(slots[part].version)->serial == serial;
		if (!all)
			break;
		hg_segment_version_pin(hg_segment_version(slots[part].version));
		keep->versions[part] = slots[part].version;
	}
	if (all)
		keep->column = column->planned;
	hg_directory_unlock(entry);
	return all;
}

/* Find out the shape of the column; false where its values can't be kept. */
static bool
hg_keep_shape(HgKeepColumn *keep)
{
	HgKeptColumnShape *shape = &keep->spec.shape;
	const int16 length = keep->column.length;

	if (!keep->column.by_value || (length != 1 && length != 2 && length != 4 && length != 8))
		return false;
	*shape =
		(HgKeptColumnShape){.width = (uint32) length, .parts = Max(keep->nparts, 1), .stride = 1};
	for (uint32 part = 0; part < keep->nparts; part++)
	{
		const HgSegmentVersion *version;
		int at;

		if (!DsaPointerIsValid(keep->versions[part]))
			continue;
		version = hg_segment_version(keep->versions[part]);
		at = hg_segment_find_column(version, &keep->column);
		if (at < 0 || version->columns[at].form.encoding != HG_ENCODING_FIXED ||
			version->columns[at].form.width != length)
			return false;
		shape->stride = Max(shape->stride, version->nrows);
	}
	return true;
}

/* Bytes that tell which of some rows are NULL; NULL: none is. */
static const uint8 *
hg_keep_nulls(const HgKeepColumn *keep, const HgSegmentArray *array, uint32 first, uint32 count)
{
	bool any = false;

	if (array->valid == NULL)
		return NULL;
	for (uint32 i = 0; i < count; i++)
	{
		keep->nulls[i] = !hg_segment_bit(array->valid, first + i);
		any |= keep->nulls[i];
	}
	return any ? keep->nulls : NULL;
}

/* Send the values of a segment to a job that was opened for the column. */
static HgStatus
hg_keep_put_segment(const HgKeepColumn *keep, HgEngine *engine, HgJob *job, uint32 part,
					HgError *error)
{
	const HgSegmentVersion *version = hg_segment_version(keep->versions[part]);
	const uint64 place = (uint64) part * keep->spec.shape.stride;
	HgStatus status = HG_OK;
	HgSegmentArray array =
		hg_segment_array(version, hg_segment_find_column(version, &keep->column));

	for (uint32 first = 0; first < version->nrows && status == HG_OK; first += HG_KEEP_ROWS)
	{
		const uint32 count = Min(HG_KEEP_ROWS, version->nrows - first);

		status = engine->put_values(job, array.values + (Size) first * array.width,
									hg_keep_nulls(keep, &array, first, count), count, place + first,
									error);
	}
	return status;
}

static HgStatus
hg_keep_put_column(const HgKeepColumn *keep, HgEngine *engine, HgJob *job, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32 part = 0; part < keep->nparts && status == HG_OK; part++)
		if (DsaPointerIsValid(keep->versions[part]))
			status = hg_keep_put_segment(keep, engine, job, part, error);
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
	const HgKeepColumn *column;
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
	status = task->column != NULL ? hg_keep_put_column(task->column, engine, job, error)
								  : hg_keep_put(engine, job, task->graph, error);
	keeping->sent = true;
	if (status == HG_OK)
		status = engine->build(job, error);
	if (status == HG_OK)
		status = engine->keep(job, &kept, bytes, error);
	engine->close(job);
	return status;
}

/* Give it to the device process, and note so.  False: that can't be had at all, or is not to be. */
static bool
hg_keep_give(const HgKeepTask *task, HgDeviceCopy *copy, bool (*is_left)(void))
{
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
	status = hg_keep_send(task, engine, &keeping, &bytes, &error);
	hg_host_rethrow(&keeping.host);
	if (status == HG_OK)
	{
		hg_device_copy_set_kept(copy, hg_device_connection.epoch, bytes);
		hg_resident_count(HG_COUNT_GRAPHS_KEPT, task->column == NULL);
		return true;
	}
	ereport(DEBUG1, (errmsg_internal("the device keeps no copy of a HashGraph: %s", error.message),
					 error.detail[0] != '\0' ? errdetail_internal("%s", error.detail) : 0));
	if (status == HG_CANCELLED)
		return false;
	hg_device_copy_set_missed(copy, hg_device_connection.epoch);
	if (status != HG_CONNECTION_LOST && status != HG_DEVICE_FAILED)
		return true;
	hg_device_discard_lost();
	return false;
}

/* Give a pinned graph to the device process. */
static bool
hg_keep_graph(const HgPinnedGraph *pinned, bool (*is_left)(void))
{
	HgResidentGraph *version = hg_graph_version(pinned->pointer);
	const HgKeptSpec keep = {.name = hg_graph_version_name(version, InvalidAttrNumber),
							 .shape = hg_graph_version_shape(version)};
	const HgKeepTask task = {
		.spec = {.key_width = keep.shape.key_width, .device = -1, .keep = &keep},
		.graph = &pinned->flat,
	};

	return hg_keep_give(&task, &version->copy, is_left);
}

/* The same of a column of its rows. */
static bool
hg_keep_column(HgResidentRelation key, const HgPinnedGraph *pinned, HgGraphColumn *asked,
			   bool (*is_left)(void))
{
	const HgResidentGraph *version = hg_graph_version(pinned->pointer);
	const AttrNumber number = (AttrNumber) pg_atomic_read_u32(&asked->number);
	HgKeepColumn *keep = palloc0(sizeof(HgKeepColumn));
	HgKeepTask task = {.spec = {.key_width = sizeof(uint64), .device = -1}, .column = keep};
	bool there = true;

	keep->versions = palloc(Max(pinned->nsegments, 1) * sizeof(dsa_pointer));
	keep->nulls = palloc(HG_KEEP_ROWS);
	hg_cleanup_register(&keep->cleanup, CurrentMemoryContext, hg_keep_unpin, keep);
	if (hg_keep_pin(keep, key, pinned, number) && hg_keep_shape(keep))
	{
		keep->spec.name = hg_graph_version_name(version, number);
		task.spec.keep_column = &keep->spec;
		asked->shape = keep->spec.shape;
		there = hg_keep_give(&task, &asked->copy, is_left);
	}
	else
		hg_device_copy_set_missed(&asked->copy, hg_graph_keeper());
	hg_keep_unpin(keep);
	return there;
}

/* Give the device process what it is to have of a pinned graph; false as above. */
static bool
hg_keep_pinned(HgResidentRelation key, const HgPinnedGraph *pinned, bool (*is_left)(void))
{
	HgResidentGraph *version = hg_graph_version(pinned->pointer);
	uint64 keeper = hg_graph_keeper();

	hg_graph_version_offer(version);
	if (hg_device_copy_is_due(&version->copy, keeper) && !hg_keep_graph(pinned, is_left))
		return false;
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
	{
		HgGraphColumn *asked = &version->columns[i];

		if (pg_atomic_read_u32(&asked->number) != InvalidAttrNumber &&
			hg_device_copy_is_kept(&version->copy, keeper) &&
			hg_device_copy_is_due(&asked->copy, keeper) &&
			!hg_keep_column(key, pinned, asked, is_left))
			return false;
	}
	return true;
}

/* Give it what it is to have of the graph of a key; false as above. */
static bool
hg_keep_one(HgResidentRelation key, const HgKeyNumbers *numbers, bool (*is_left)(void),
			MemoryContext context)
{
	volatile bool there = true;

	PG_TRY();
	{
		HgPinnedGraph *pinned;

		StartTransactionCommand();
		pinned = hg_resident_graph_pin_due(key, numbers, hg_graph_keeper());
		if (pinned != NULL)
		{
			there = hg_keep_pinned(key, pinned, is_left);
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
