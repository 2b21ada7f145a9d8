/*-------------------------------------------------------------------------
 *
 * hg_loader_replica.c
 *	  Sends replicas of a table's graphs to devices.
 *
 * The graph is pinned meanwhile, and immutable.  Its edges go through the loader's own connection
 * and a lease of staging, bin by bin, like the keys of a join.  The device process queues this job
 * behind earlier ones, and no session waits for more than one slot of it.  The device knows the
 * graph by the serial number of its version (resident/hg_resident_graph_version.h), so nobody ever
 * gets another one.  The replica is dropped when the version is freed.
 *
 * Columns that joins have requested follow the graph (hg_loader_replica.h).
 *
 * A graph is partitioned over several devices if it takes more than half of any device's memory
 * for replicas, so that no two such graphs would fit.  It is also partitioned if joins need more
 * memory together with it than any device has (resident/hg_resident_graph_version.h).  Each device
 * gets a partition of the graph (hg_loader_replica.h) and of the columns.  Graphs by
 * which rows of it look others up are co-partitioned with it.
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
#include "loader/hg_loader_replica.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_graph.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_statistics.h"

/* How long a ready device process may take to answer the greeting, in ms. */
#define HG_REPLICA_TIMEOUT_MS 1000

/* A graph that takes at most this part of a device's memory for replicas stays whole. */
#define HG_REPLICA_WHOLE_SHARE 2

/* Actual needs of joins exceed the reported ones by this part. */
#define HG_REPLICA_DEMAND_PART 8

typedef struct HgReplicaHost
{
	HgPgHost host; /* must be first: callbacks get its address */
	bool (*is_interrupted)(void *arg);
	bool (*is_left)(void);
	bool sent; /* the replica is complete soon: wait for it, so that it can be dropped later */
} HgReplicaHost;

/* Cancel callback, called every few milliseconds. */
static bool
hg_replica_is_cancelled(void *arg)
{
	HgReplicaHost *sending = arg;

	return sending->is_interrupted(arg) || (!sending->sent && sending->is_left());
}

/* Sends the edges of a graph to a job that was opened for it. */
static HgStatus
hg_replica_put_graph(HgEngine *engine, HgJob *job, const HgFlatGraph *graph, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32 bin = 0; bin < (uint32) 1 << graph->shape.bins_log2 && status == HG_OK; bin++)
	{
		const void *keys;
		const uint32_t *rows;
		uint64 count = hg_flat_scan(graph, bin, &keys, &rows);

		if (count > 0)
			status = engine->store->put_edges(job, keys, rows, count, error);
	}
	return status;
}

/* ---------------------------------------------------------------------
 * Jobs
 * ---------------------------------------------------------------------
 */

/* A replica to be made, of a graph or of a column. */
typedef struct HgReplicaTask
{
	HgJobSpec spec;
	HgReplicaColumn *column;
	HgReplicaPartition part; /* the partition; partitions is NULL for all of it */
} HgReplicaTask;

/* Sends the replica's keys or values to a job that was opened for it. */
static HgStatus
hg_replica_put(const HgReplicaTask *task, HgEngine *engine, HgJob *job, HgError *error)
{
	if (task->column != NULL)
		return hg_replica_column_put(task->column, engine, job, task->part.partitions,
									 task->part.partition, error);
	if (task->part.partitions != NULL)
		return hg_replica_put_partition(engine, job, &task->part, error);
	return hg_replica_put_graph(engine, job, &task->part.graph->flat, error);
}

/* Makes the replica on the device.  *bytes becomes its device memory. */
static HgStatus
hg_replica_send(const HgReplicaTask *task, HgEngine *engine, HgReplicaHost *sending, uint64 *bytes,
				HgError *error)
{
	HgReplica *replica;
	HgJob *job;
	HgStatus status;

	HG_TRY(engine->open(engine, &sending->host.host, &task->spec, &job, error));
	status = hg_replica_put(task, engine, job, error);
	sending->sent = true;
	if (status == HG_OK)
		status = engine->join->build(job, error);
	if (status == HG_OK)
		status = engine->store->take_replica(job, &replica, bytes, error);
	engine->join->close(job);
	return status;
}

/*
 * Sends a replica to a device's process, and records the result.  Returns false if the process can
 * take no replica at all, or the loader has to exit.
 */
static bool
hg_replica_upload(const HgReplicaTask *task, HgDeviceCopy *copies, int device_no,
				  bool (*is_left)(void))
{
	HgDeviceCopy *copy = &copies[device_no];
	HgReplicaHost sending = {.is_left = is_left};
	HgEngine *engine = NULL;
	uint64 bytes = 0;
	HgStatus status;
	HgError error;

	hg_host_init(&sending.host, CurrentMemoryContext);
	sending.is_interrupted = sending.host.host.cancelled;
	sending.host.host.cancelled = hg_replica_is_cancelled;
	if (hg_device_state(device_no, HG_REPLICA_TIMEOUT_MS, &error) == HG_DEVICE_READY)
		engine = hg_device_engine(device_no, true);
	if (engine == NULL)
		return false;
	status = hg_replica_send(task, engine, &sending, &bytes, &error);
	hg_host_rethrow(&sending.host);
	if (status == HG_OK)
	{
		hg_device_copy_set_present(copy, hg_device_connection(device_no)->epoch, bytes);
		hg_resident_count(HG_COUNT_GRAPHS_REPLICATED, task->column == NULL);
		return true;
	}
	ereport(DEBUG1, (errmsg_internal("the device keeps no copy of a HashGraph: %s", error.message),
					 error.detail[0] != '\0' ? errdetail_internal("%s", error.detail) : 0));
	if (status == HG_CANCELLED)
		return false;
	hg_device_copy_set_missing(copy, hg_device_connection(device_no)->epoch);
	if (status != HG_CONNECTION_LOST && status != HG_DEVICE_FAILED)
		return true;
	hg_device_discard_lost(device_no);
	return false;
}

/* What a device shall have of a pinned graph: all of it, or a partition. */
typedef struct HgReplicaPart
{
	HgResidentRelation key;
	const HgPinnedGraph *pinned;
	HgResidentGraph *version;
	HgGraphPartitions *partitioning;  /* NULL: all of it, or a co-partitioning */
	const HgPartitioning *partitions; /* of partitioning, or of with */
	uint32 partition;
	/* co-partitioning with another graph; or NULL */
	HgGraphCopartition *copartition;
	const HgPinnedGraph *with; /* that other graph */
	int device_no;
	uint64 epoch;
	bool (*is_left)(void);
} HgReplicaPart;

/* Returns the partition of a part, or all of it. */
static HgReplicaPartition
hg_replica_partition_of(const HgReplicaPart *part)
{
	return (HgReplicaPartition){.graph = part->pinned,
								.with = part->with,
								.partitions = part->partitions,
								.partition = part->partition};
}

/* Sends a graph to a device's process. */
static bool
hg_replica_graph(const HgReplicaPart *part)
{
	HgReplicaSpec new_replica = {.name = hg_graph_version_name(part->version, InvalidAttrNumber),
								 .shape = hg_graph_version_shape(part->version)};
	const HgReplicaTask task = {
		.spec = {.key_width = new_replica.shape.key_width,
				 .device = -1,
				 .product = {HG_PRODUCT_GRAPH, .graph = &new_replica}},
		.part = hg_replica_partition_of(part),
	};

	if (part->copartition != NULL)
	{
		new_replica.name.partition = hg_copartition_number(
			part->copartition->partitioning, part->partitions->count, part->partition);
		new_replica.shape =
			hg_copartition_shape(part->partitions, part->partition, new_replica.shape.key_width,
								 part->copartition->rows[part->partition]);
		return hg_replica_upload(&task, part->copartition->copies, part->device_no, part->is_left);
	}
	if (part->partitions != NULL)
	{
		new_replica.name.partition = hg_partition_number(part->partitions->count, part->partition);
		new_replica.shape =
			hg_partition_shape(part->partitions, part->partition, new_replica.shape.key_width);
	}
	return hg_replica_upload(&task, hg_graph_version_copies(part->version, part->partitioning),
							 part->device_no, part->is_left);
}

/* Sends a column of its rows to a device's process. */
static bool
hg_replica_column(const HgReplicaPart *part, int number)
{
	HgGraphColumn *asked = &part->version->columns[number];
	HgDeviceCopy *copies =
		hg_graph_version_column_copies(part->version, part->partitioning, number);
	HgReplicaColumn *column = hg_replica_column_pin(
		part->key, part->pinned, (AttrNumber) pg_atomic_read_u32(&asked->number), part->is_left);
	HgReplicaColumnSpec new_replica;
	const HgReplicaTask task = {
		.spec = {.key_width = sizeof(uint64),
				 .device = -1,
				 .product = {HG_PRODUCT_COLUMN, .column = &new_replica}},
		.column = column,
		.part = hg_replica_partition_of(part),
	};
	bool there = true;

	if (column != NULL)
	{
		new_replica = column->spec;
		asked->shape = new_replica.shape;
		if (part->partitions != NULL)
		{
			new_replica.name.partition =
				hg_partition_number(part->partitions->count, part->partition);
			new_replica.shape = hg_partition_column_shape(part->partitions, part->partition,
														  new_replica.shape.width);
		}
		there = hg_replica_upload(&task, copies, part->device_no, part->is_left);
		hg_replica_column_unpin(column);
	}
	else if (part->is_left())
		there = false;
	else
		hg_device_copy_set_missing(&copies[part->device_no], part->epoch);
	return there;
}

/* Sends a device's process what it shall have of a graph.  Returns as hg_replica_upload(). */
static bool
hg_replica_pinned_at(const HgReplicaPart *part)
{
	HgDeviceCopy *copy =
		&hg_graph_version_copies(part->version, part->partitioning)[part->device_no];

	if (hg_device_copy_needs_upload(copy, part->epoch))
	{
		if (!hg_replica_graph(part))
			return false;
		/* a large graph may find room on another device */
		if (part->partitions == NULL && !hg_device_copy_is_present(copy, part->epoch))
			hg_graph_version_remove_home(part->version, part->device_no);
	}
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
		if (pg_atomic_read_u32(&part->version->columns[i].number) != InvalidAttrNumber &&
			hg_device_copy_is_present(copy, part->epoch) &&
			hg_device_copy_needs_upload(&hg_graph_version_column_copies(
											part->version, part->partitioning, i)[part->device_no],
										part->epoch) &&
			!hg_replica_column(part, i))
			return false;
	return true;
}

/* ---------------------------------------------------------------------
 * Which devices are to have it
 * ---------------------------------------------------------------------
 */

/* Reads the status of a device process; returns false if it does not answer. */
static bool
hg_replica_status_at(int device_no, HgDeviceStatus *status)
{
	HgError error;

	return hg_device_state(device_no, HG_REPLICA_TIMEOUT_MS, &error) == HG_DEVICE_READY &&
		   hg_device_ask_status(device_no, HG_REPLICA_TIMEOUT_MS, status);
}

/*
 * Chooses the home of a large graph: the device with most free memory among those that have not
 * refused it lately.  A full device evicts replicas that were used less recently.
 */
static void
hg_replica_find_home(HgResidentGraph *version, const HgReplicaHolders *holders)
{
	int64 most = 0;
	int home = -1;

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
	{
		HgDeviceStatus status;
		int64 room;

		if (!hg_device_copy_needs_upload(&version->copies[device_no], holders->epochs[device_no]) ||
			!hg_replica_status_at(device_no, &status))
			continue;
		room = (int64) status.replica_limit - (int64) status.replica_bytes;
		if (home < 0 || room > most)
		{
			most = room;
			home = device_no;
		}
	}
	if (home >= 0)
		hg_graph_version_add_homes(version, HG_DEVICE_BIT(home));
}

/* The devices' memory for replicas, in bytes. */
typedef struct HgReplicaLimits
{
	uint64 of[HG_GPU_DEVICES]; /* by device number; 0: no process, or no answer */
	uint64 most;
} HgReplicaLimits;

static void
hg_replica_ask_limits(const HgReplicaHolders *holders, HgReplicaLimits *limits)
{
	*limits = (HgReplicaLimits){0};
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
	{
		HgDeviceStatus status;

		if (holders->epochs[device_no] == 0 || !hg_replica_status_at(device_no, &status))
			continue;
		limits->of[device_no] = status.replica_limit;
		limits->most = Max(limits->most, limits->of[device_no]);
	}
}

/* Returns true if this many devices have memory for a graph and what joins need with it. */
static bool
hg_replica_is_room(const HgReplicaLimits *limits, uint64 bytes, const HgGraphDemand *demand,
				   uint32 devices)
{
	const uint64 each = hg_graph_demand_each(demand, devices);

	return bytes / devices <= limits->most / HG_REPLICA_WHOLE_SHARE &&
		   each + each / HG_REPLICA_DEMAND_PART <= limits->most;
}

/*
 * Partitions a graph that is too large for any device, alone or with what joins need, over the
 * devices that have memory for an equal share.  Returns false if it is too large, and another
 * device will be ready in a moment.
 */
static bool
hg_replica_find_partitioning(HgResidentGraph *version, const HgReplicaHolders *holders)
{
	const uint64 bytes = hg_graph_version_least_bytes(version);
	HgGraphDemand demand = hg_graph_wishes_load(&version->wishes);
	HgReplicaLimits limits;
	HgDeviceSet device_set = 0;
	uint32 n;

	hg_replica_ask_limits(holders, &limits);
	if (!hg_replica_is_room(&limits, bytes, &demand, 1) && holders->starting != 0)
		return false;
	hg_graph_wishes_set_weighed(&version->wishes);
	if (hg_replica_is_room(&limits, bytes, &demand, 1))
		return true;
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if (limits.of[device_no] >= limits.most / HG_REPLICA_WHOLE_SHARE &&
			limits.of[device_no] > 0)
			device_set |= HG_DEVICE_BIT(device_no);
	n = (uint32) pg_popcount32(device_set);
	/* needs that partitioning would not satisfy do not count */
	if (n < 2 || !hg_replica_is_room(&limits, bytes, &demand, n))
		demand = (HgGraphDemand){0};
	if (n > 1 && !hg_replica_is_room(&limits, bytes, &demand, 1) &&
		hg_replica_is_room(&limits, bytes, &demand, n))
		hg_graph_version_set_partitioning(version, device_set, true);
	return true;
}

/* Sends the devices what they shall have of a graph.  Returns as hg_replica_pinned(). */
static bool
hg_replica_part(HgReplicaPart *part, HgDeviceSet device_set, const HgReplicaHolders *holders,
				bool *tried)
{
	bool there = false;

	for (int device_no = 0; device_no < HG_GPU_DEVICES && !part->is_left(); device_no++)
	{
		if ((device_set & HG_DEVICE_BIT(device_no)) == 0 || holders->epochs[device_no] == 0)
			continue;
		*tried = true;
		part->device_no = device_no;
		part->epoch = holders->epochs[device_no];
		if (part->partitioning != NULL)
			part->partition = hg_graph_partition_at(part->partitioning, device_no);
		there |= hg_replica_pinned_at(part);
	}
	return there;
}

/* Partitions the graph if needed, and sends the partitions. */
static bool
hg_replica_partitions(HgReplicaPart *part, const HgReplicaHolders *holders, bool *tried)
{
	const HgDeviceSet partitioning = hg_graph_version_partitioning(part->version, holders);
	HgPartitioning view;
	bool there;

	if (partitioning == 0)
		return false;
	if (hg_graph_version_needs_partitions(part->version, holders) &&
		!hg_replica_partition(part->key, part->pinned, partitioning, part->is_left))
		return false;
	part->partitioning = hg_graph_version_partitions(part->version);
	there = part->partitioning != NULL && part->partitioning->device_set == partitioning;
	if (there)
	{
		hg_graph_partitions_view(part->partitioning, CurrentMemoryContext, &view);
		part->partitions = &view;
		there = hg_replica_part(part, partitioning, holders, tried);
	}
	part->partitioning = NULL;
	part->partitions = NULL;
	return there;
}

/*
 * Computes how a graph is co-partitioned with another one, whose partitions part->partitions are;
 * NULL if is_left returned true or there is no room.
 */
static HgGraphCopartition *
hg_replica_find_copartition(const HgReplicaPart *part, const HgGraphPartitions *partitioning)
{
	HgResidentGraph *with = hg_graph_version(part->with->pointer);
	HgGraphCopartition *copartition =
		hg_graph_copartition_find(part->version, with, partitioning->device_set);
	uint64 rows[HG_GPU_DEVICES];

	if (copartition == NULL && hg_replica_count_copartition(part->pinned, part->with,
															part->partitions, rows, part->is_left))
	{
		hg_graph_version_end_whole(part->version);
		copartition = hg_graph_copartition_add(part->version, with, partitioning, rows);
	}
	return copartition;
}

/* Sends the partitions of a graph as it is co-partitioned with part->with. */
static bool
hg_replica_copartition_with(HgReplicaPart *part, const HgReplicaHolders *holders, bool *tried)
{
	HgResidentGraph *with = hg_graph_version(part->with->pointer);
	HgGraphPartitions *partitioning = hg_graph_copartition_partitions(with, holders);
	HgPartitioning view;
	bool there = false;

	if (partitioning == NULL || !hg_graph_copartition_needs_loader(part->version, with, holders))
		return false;
	hg_graph_partitions_view(partitioning, CurrentMemoryContext, &view);
	part->partitions = &view;
	part->copartition = hg_replica_find_copartition(part, partitioning);
	for (int device_no = 0;
		 device_no < HG_GPU_DEVICES && part->copartition != NULL && !part->is_left(); device_no++)
	{
		if ((partitioning->device_set & HG_DEVICE_BIT(device_no)) == 0 ||
			!hg_device_copy_needs_upload(&part->copartition->copies[device_no],
										 holders->epochs[device_no]))
			continue;
		*tried = true;
		part->device_no = device_no;
		part->epoch = holders->epochs[device_no];
		part->partition = hg_graph_partition_at(partitioning, device_no);
		there |= hg_replica_graph(part);
	}
	return there;
}

/* Does so for each graph of the table that it is requested to be co-partitioned with. */
static bool
hg_replica_copartition(const HgReplicaPart *part, const HgReplicaHolders *holders, bool *tried)
{
	AttrNumber columns[HG_GRAPH_COPARTITIONS];
	const int n = hg_graph_copartition_asked(part->version, columns);
	bool there = false;

	for (int i = 0; i < n && !part->is_left(); i++)
	{
		const HgKeyNumbers numbers = {.n = 1, .numbers = {columns[i]}};
		HgPinnedGraph *with = hg_resident_graph_pin_to_send(part->key, &numbers, NULL);
		HgReplicaPart copartition = *part;

		if (with == NULL)
			continue;
		copartition.with = with;
		if (with->pointer != part->pinned->pointer)
			there |= hg_replica_copartition_with(&copartition, holders, tried);
		hg_resident_graph_unpin(with);
	}
	return there;
}

/*
 * Sends all that device processes shall have of a pinned graph.  Returns false if none of them
 * could be sent anything, or the loader has to exit.
 */
static bool
hg_replica_pinned(HgResidentRelation key, const HgPinnedGraph *pinned,
				  const HgReplicaHolders *holders, bool (*is_left)(void))
{
	HgResidentGraph *version = hg_graph_version(pinned->pointer);
	HgReplicaPart part = {.key = key, .pinned = pinned, .version = version, .is_left = is_left};
	bool tried = false;
	bool there;

	if (((hg_graph_version_partitioning(version, holders) == 0 &&
		  !hg_graph_version_is_replicated(version, holders)) ||
		 hg_graph_version_needs_devices(version, holders)) &&
		!hg_replica_find_partitioning(version, holders))
		return !is_left();
	if (hg_graph_version_needs_home(version, holders))
		hg_replica_find_home(version, holders);
	hg_graph_version_note_upload(version);
	there = hg_replica_partitions(&part, holders, &tried);
	there |= hg_replica_part(&part, hg_graph_version_homes(version, holders), holders, &tried);
	there |= hg_replica_copartition(&part, holders, &tried);
	return (there || !tried) && !is_left();
}

/* Does the same for the graph of a key. */
static bool
hg_replica_one(HgResidentRelation key, const HgKeyNumbers *numbers, bool (*is_left)(void),
			   MemoryContext context)
{
	volatile bool there = true;
	HgReplicaHolders holders;

	hg_graph_replica_holders(&holders);
	PG_TRY();
	{
		HgPinnedGraph *pinned;

		StartTransactionCommand();
		pinned = hg_resident_graph_pin_to_send(key, numbers, &holders);
		if (pinned != NULL)
		{
			there = hg_replica_pinned(key, pinned, &holders, is_left);
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
hg_loader_replicate_graphs(HgResidentRelation key, bool (*is_left)(void), MemoryContext context)
{
	HgKeyNumbers *keys;
	HgReplicaHolders holders;
	int n;

	if (!hg_graph_replica_holders(&holders))
		return;
	n = hg_directory_graph_keys(key, &keys);
	for (int i = 0; i < n && !is_left() && hg_replica_one(key, &keys[i], is_left, context); i++)
		;
}
