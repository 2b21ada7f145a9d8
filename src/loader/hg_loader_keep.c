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
 * A graph that takes more than half of what any device may keep, so that no two of that kind would
 * fit there, or that joins need more with than any may keep (resident/hg_resident_graph_needs.h),
 * is cut over several devices, which get a slice each (hg_loader_keep_slices.h), and slices of the
 * columns.  Graphs by which rows of such a one look others up are cut along with it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/xact.h"
#include "port/pg_bitutils.h"

#include "backend/device/hg_device.h"
#include "backend/hg_cleanup.h"
#include "backend/hg_host.h"
#include "loader/hg_loader_keep.h"
#include "loader/hg_loader_keep_column.h"
#include "loader/hg_loader_keep_slices.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_graph.h"
#include "resident/hg_resident_graph_along.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_statistics.h"

/* How long a process that is ready may take to greet, in ms. */
#define HG_KEEP_PATIENCE_MS 1000

/* A graph is a device's alone where it takes no more than this part of what that may keep. */
#define HG_KEEP_ALONE_SHARE 2

/* What joins need is more than can be told, by this part of it. */
#define HG_KEEP_NEEDS_PART 8

typedef struct HgKeeping
{
	HgPgHost host; /* the first member: what it is given as */
	bool (*is_interrupted)(void *arg);
	bool (*is_left)(void);
	bool sent; /* what is made of it is the device's soon, and is waited for: to be dropped then */
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
hg_keep_put_graph(HgEngine *engine, HgJob *job, const HgFlatGraph *graph, HgError *error)
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

/* What is to be kept: a graph, or a column; all of it, or a slice. */
typedef struct HgKeepTask
{
	HgJobSpec spec;
	HgKeepColumn *column;
	HgKeepSlice part; /* of a graph, or of a column; where slices are NULL: all of it */
} HgKeepTask;

/* Send what is to be kept to a job that was opened for it. */
static HgStatus
hg_keep_put(const HgKeepTask *task, HgEngine *engine, HgJob *job, HgError *error)
{
	if (task->column != NULL)
		return hg_keep_column_put(task->column, engine, job, task->part.slices, task->part.slice,
								  error);
	if (task->part.slices != NULL)
		return hg_keep_put_slice(engine, job, &task->part, error);
	return hg_keep_put_graph(engine, job, &task->part.graph->flat, error);
}

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
	status = hg_keep_put(task, engine, job, error);
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

/* What a place is to have of a pinned graph: all of it, or a slice. */
typedef struct HgKeepPart
{
	HgResidentRelation key;
	const HgPinnedGraph *pinned;
	HgResidentGraph *version;
	HgGraphSlices *cut;		/* or NULL: all of it */
	const HgSlices *slices; /* of cut */
	uint32 slice;
	HgGraphAlong *along;	   /* or NULL: in place of all that, how it is cut along ... */
	const HgPinnedGraph *with; /* ... with this one, whose slices those are */
	int place;
	uint64 epoch;
	bool (*is_left)(void);
} HgKeepPart;

/* The slice that a part is, or all of it. */
static HgKeepSlice
hg_keep_slice_of(const HgKeepPart *part)
{
	return (HgKeepSlice){
		.graph = part->pinned, .with = part->with, .slices = part->slices, .slice = part->slice};
}

/* Give a graph to the device process at a place. */
static bool
hg_keep_graph(const HgKeepPart *part)
{
	HgKeptSpec keep = {.name = hg_graph_version_name(part->version, InvalidAttrNumber),
					   .shape = hg_graph_version_shape(part->version)};
	const HgKeepTask task = {
		.spec = {.key_width = keep.shape.key_width, .device = -1, .keep = &keep},
		.part = hg_keep_slice_of(part),
	};

	if (part->along != NULL)
	{
		keep.name.slice = hg_slice_number_along(part->along->cut, part->slices->count, part->slice);
		keep.shape = hg_slice_shape_along(part->slices, part->slice, keep.shape.key_width,
										  part->along->rows[part->slice]);
		return hg_keep_give(&task, part->along->copies, part->place, part->is_left);
	}
	if (part->slices != NULL)
	{
		keep.name.slice = hg_slice_number(part->slices->count, part->slice);
		keep.shape = hg_slice_shape(part->slices, part->slice, keep.shape.key_width);
	}
	return hg_keep_give(&task, hg_graph_version_copies(part->version, part->cut), part->place,
						part->is_left);
}

/* The same of a column of its rows. */
static bool
hg_keep_column(const HgKeepPart *part, int number)
{
	HgGraphColumn *asked = &part->version->columns[number];
	HgDeviceCopy *copies = hg_graph_version_column_copies(part->version, part->cut, number);
	HgKeepColumn *column = hg_keep_column_pin(
		part->key, part->pinned, (AttrNumber) pg_atomic_read_u32(&asked->number), part->is_left);
	HgKeptColumnSpec keep;
	const HgKeepTask task = {
		.spec = {.key_width = sizeof(uint64), .device = -1, .keep_column = &keep},
		.column = column,
		.part = hg_keep_slice_of(part),
	};
	bool there = true;

	if (column != NULL)
	{
		keep = column->spec;
		asked->shape = keep.shape;
		if (part->slices != NULL)
		{
			keep.name.slice = hg_slice_number(part->slices->count, part->slice);
			keep.shape = hg_slice_column_shape(part->slices, part->slice, keep.shape.width);
		}
		there = hg_keep_give(&task, copies, part->place, part->is_left);
		hg_keep_column_unpin(column);
	}
	else if (part->is_left())
		there = false;
	else
		hg_device_copy_set_missed(&copies[part->place], part->epoch);
	return there;
}

/* Give the process at a place what it is to have of a pinned graph; false as above. */
static bool
hg_keep_pinned_at(const HgKeepPart *part)
{
	HgDeviceCopy *copy = &hg_graph_version_copies(part->version, part->cut)[part->place];

	if (hg_device_copy_is_due(copy, part->epoch))
	{
		if (!hg_keep_graph(part))
			return false;
		/* a large one may find the room that it has not found here at another place */
		if (part->slices == NULL && !hg_device_copy_is_kept(copy, part->epoch))
			hg_graph_version_remove_home(part->version, part->place);
	}
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
		if (pg_atomic_read_u32(&part->version->columns[i].number) != InvalidAttrNumber &&
			hg_device_copy_is_kept(copy, part->epoch) &&
			hg_device_copy_is_due(
				&hg_graph_version_column_copies(part->version, part->cut, i)[part->place],
				part->epoch) &&
			!hg_keep_column(part, i))
			return false;
	return true;
}

/* ---------------------------------------------------------------------
 * Which devices are to have it
 * ---------------------------------------------------------------------
 */

/* What a device process says of what it keeps; false where it does not tell. */
static bool
hg_keep_status_at(int place, HgDeviceStatus *status)
{
	HgError error;

	return hg_device_state(place, HG_KEEP_PATIENCE_MS, &error) == HG_DEVICE_READY &&
		   hg_device_ask_status(place, HG_KEEP_PATIENCE_MS, status);
}

/*
 * Give a large graph its home: where there is most room, of those that have not refused it lately.
 * One that is full makes room, where it keeps what was used less lately.
 */
static void
hg_keep_find_home(HgResidentGraph *version, const HgKeepers *keepers)
{
	int64 most = 0;
	int home = -1;

	for (int place = 0; place < HG_GPU_DEVICES; place++)
	{
		HgDeviceStatus status;
		int64 room;

		if (!hg_device_copy_is_due(&version->copies[place], keepers->epochs[place]) ||
			!hg_keep_status_at(place, &status))
			continue;
		room = (int64) status.kept_limit - (int64) status.kept_bytes;
		if (home < 0 || room > most)
		{
			most = room;
			home = place;
		}
	}
	if (home >= 0)
		hg_graph_version_add_homes(version, HG_PLACE(home));
}

/* What devices may keep. */
typedef struct HgKeepLimits
{
	uint64 of[HG_GPU_DEVICES]; /* by place; 0: there is none, or it does not tell */
	uint64 most;
} HgKeepLimits;

static void
hg_keep_ask_limits(const HgKeepers *keepers, HgKeepLimits *limits)
{
	*limits = (HgKeepLimits){0};
	for (int place = 0; place < HG_GPU_DEVICES; place++)
	{
		HgDeviceStatus status;

		if (keepers->epochs[place] == 0 || !hg_keep_status_at(place, &status))
			continue;
		limits->of[place] = status.kept_limit;
		limits->most = Max(limits->most, limits->of[place]);
	}
}

/* Do all of so many devices have room for a graph, or its slices, and for what joins need with it?
 */
static bool
hg_keep_is_room(const HgKeepLimits *limits, uint64 bytes, const HgGraphNeeds *needs, uint32 devices)
{
	const uint64 each = hg_graph_needs_each(needs, devices);

	return bytes / devices <= limits->most / HG_KEEP_ALONE_SHARE &&
		   each + each / HG_KEEP_NEEDS_PART <= limits->most;
}

/*
 * Have a graph cut that is too large for any device, alone or with what joins need beside it, over
 * those that have room for an equal share of it.  False: it is too large, and there is a device
 * that will be ready in a moment.
 */
static bool
hg_keep_find_cut(HgResidentGraph *version, const HgKeepers *keepers)
{
	const uint64 bytes = hg_graph_version_least_bytes(version);
	HgGraphNeeds needs = hg_graph_wishes_told(&version->wishes);
	HgKeepLimits limits;
	HgPlaces places = 0;
	uint32 n;

	hg_keep_ask_limits(keepers, &limits);
	if (!hg_keep_is_room(&limits, bytes, &needs, 1) && keepers->starting != 0)
		return false;
	hg_graph_wishes_set_weighed(&version->wishes);
	if (hg_keep_is_room(&limits, bytes, &needs, 1))
		return true;
	for (int place = 0; place < HG_GPU_DEVICES; place++)
		if (limits.of[place] >= limits.most / HG_KEEP_ALONE_SHARE && limits.of[place] > 0)
			places |= HG_PLACE(place);
	n = (uint32) pg_popcount32(places);
	/* needs that cutting does not help do not count */
	if (n < 2 || !hg_keep_is_room(&limits, bytes, &needs, n))
		needs = (HgGraphNeeds){0};
	if (n > 1 && !hg_keep_is_room(&limits, bytes, &needs, 1) &&
		hg_keep_is_room(&limits, bytes, &needs, n))
		hg_graph_version_set_cut(version, places, true);
	return true;
}

/* What devices have, or are to have, of a pinned graph; false as hg_keep_pinned(). */
static bool
hg_keep_part(HgKeepPart *part, HgPlaces places, const HgKeepers *keepers, bool *tried)
{
	bool there = false;

	for (int place = 0; place < HG_GPU_DEVICES && !part->is_left(); place++)
	{
		if ((places & HG_PLACE(place)) == 0 || keepers->epochs[place] == 0)
			continue;
		*tried = true;
		part->place = place;
		part->epoch = keepers->epochs[place];
		if (part->cut != NULL)
			part->slice = hg_graph_slice_at(part->cut, place);
		there |= hg_keep_pinned_at(part);
	}
	return there;
}

/* The same of its slices, which it is cut into first. */
static bool
hg_keep_slices(HgKeepPart *part, const HgKeepers *keepers, bool *tried)
{
	const HgPlaces cut = hg_graph_version_cut(part->version, keepers);
	HgSlices view;
	bool there;

	if (cut == 0)
		return false;
	if (hg_graph_version_is_to_be_cut(part->version, keepers) &&
		!hg_keep_cut(part->key, part->pinned, cut, part->is_left))
		return false;
	part->cut = hg_graph_version_slices(part->version);
	there = part->cut != NULL && part->cut->places == cut;
	if (there)
	{
		hg_graph_slices_view(part->cut, CurrentMemoryContext, &view);
		part->slices = &view;
		there = hg_keep_part(part, cut, keepers, tried);
	}
	part->cut = NULL;
	part->slices = NULL;
	return there;
}

/* Find out how it is cut along with another one, of whose slices this is a view; NULL: it is not.
 */
static HgGraphAlong *
hg_keep_find_along(const HgKeepPart *part, const HgGraphSlices *cut)
{
	HgResidentGraph *with = hg_graph_version(part->with->pointer);
	HgGraphAlong *along = hg_graph_along_find(part->version, with, cut->places);
	uint64 rows[HG_GPU_DEVICES];

	if (along == NULL &&
		hg_keep_count_along(part->pinned, part->with, part->slices, rows, part->is_left))
	{
		hg_graph_version_end_whole(part->version);
		along = hg_graph_along_add(part->version, with, cut, rows);
	}
	return along;
}

/* The same of the slices of it as it is cut along with a pinned graph. */
static bool
hg_keep_along_with(HgKeepPart *part, const HgKeepers *keepers, bool *tried)
{
	HgResidentGraph *with = hg_graph_version(part->with->pointer);
	HgGraphSlices *cut = hg_graph_along_slices(with, keepers);
	HgSlices view;
	bool there = false;

	if (cut == NULL || !hg_graph_along_is_due(part->version, with, keepers))
		return false;
	hg_graph_slices_view(cut, CurrentMemoryContext, &view);
	part->slices = &view;
	part->along = hg_keep_find_along(part, cut);
	for (int place = 0; place < HG_GPU_DEVICES && part->along != NULL && !part->is_left(); place++)
	{
		if ((cut->places & HG_PLACE(place)) == 0 ||
			!hg_device_copy_is_due(&part->along->copies[place], keepers->epochs[place]))
			continue;
		*tried = true;
		part->place = place;
		part->epoch = keepers->epochs[place];
		part->slice = hg_graph_slice_at(cut, place);
		there |= hg_keep_graph(part);
	}
	return there;
}

/* The same along with all graphs of the table that it is asked to be cut along with. */
static bool
hg_keep_along(const HgKeepPart *part, const HgKeepers *keepers, bool *tried)
{
	AttrNumber columns[HG_GRAPH_ALONGS];
	const int n = hg_graph_along_asked(part->version, columns);
	bool there = false;

	for (int i = 0; i < n && !part->is_left(); i++)
	{
		const HgKeyNumbers numbers = {.n = 1, .numbers = {columns[i]}};
		HgPinnedGraph *with = hg_resident_graph_pin_to_give(part->key, &numbers);
		HgKeepPart along = *part;

		if (with == NULL)
			continue;
		along.with = with;
		if (with->pointer != part->pinned->pointer)
			there |= hg_keep_along_with(&along, keepers, tried);
		hg_resident_graph_unpin(with);
	}
	return there;
}

/*
 * Give the processes that are to have it what they are to have of a pinned graph; false where none
 * of them could be given anything, or nothing more is to be.
 */
static bool
hg_keep_pinned(HgResidentRelation key, const HgPinnedGraph *pinned, const HgKeepers *keepers,
			   bool (*is_left)(void))
{
	HgResidentGraph *version = hg_graph_version(pinned->pointer);
	HgKeepPart part = {.key = key, .pinned = pinned, .version = version, .is_left = is_left};
	bool tried = false;
	bool there;

	if (((hg_graph_version_cut(version, keepers) == 0 &&
		  !hg_graph_version_is_kept(version, keepers)) ||
		 hg_graph_version_is_in_need(version, keepers) ||
		 hg_graph_version_may_widen(version, keepers)) &&
		!hg_keep_find_cut(version, keepers))
		return !is_left();
	if (hg_graph_version_lacks_home(version, keepers))
		hg_keep_find_home(version, keepers);
	hg_graph_version_offer(version);
	there = hg_keep_slices(&part, keepers, &tried);
	there |= hg_keep_part(&part, hg_graph_version_homes(version, keepers), keepers, &tried);
	there |= hg_keep_along(&part, keepers, &tried);
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
