/*-------------------------------------------------------------------------
 *
 * hg_device_shards.c
 *	  Jobs that are sharded over several of the server's GPUs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "port/pg_bitutils.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_placement.h"
#include "backend/device/hg_device_shared.h"
#include "backend/device/hg_device_shards.h"
#include "backend/hg_host.h"
#include "engine/hg_passes.h"
#include "engine/hg_sharded.h"

/* How long a READY process may take to greet before it is left out. */
#define HG_SHARDS_GREETING_MS 200

/* How long it may then take to report its memory before it counts as silent. */
#define HG_SHARDS_ROOM_MS 1000

/*
 * A device with less than 1/16 of the largest device's memory gets no shard: its part of the rows
 * would save less than a shard costs.
 */
#define HG_SHARDS_ROOM_PART 16

/* Upper bound of a device's memory, whatever it reports. */
#define HG_SHARDS_MOST_ROOM (UINT64CONST(1) << 47)

/* Bytes of memory for jobs, as last reported by each process. */
static uint64 rooms[HG_GPU_DEVICES];

/* The engine over a set of devices. Jobs keep its address, so it is never freed. */
typedef struct HgDeviceShards
{
	struct HgDeviceShards *next;
	HgDeviceSet device_set;
	int device_no[HG_GPU_DEVICES]; /* by shard */
	HgSharded sharded;
	HgPasses passes;
} HgDeviceShards;

static HgDeviceShards *sets = NULL;

bool
hg_device_shards_is_possible(void)
{
	return hg_device_shared_count() > 1;
}

/* Asks a connected device how much memory jobs can have; false if it does not answer. */
static bool
hg_device_shards_ask_room(int device_no)
{
	HgDeviceStatus status;
	const bool known = hg_device_ask_status(device_no, HG_SHARDS_ROOM_MS, &status);

	rooms[device_no] = known ? Min(status.memory_budget, HG_SHARDS_MOST_ROOM) : 0;
	return known;
}

/* Returns the devices whose memory is large enough compared to the others. */
static HgDeviceSet
hg_device_shards_with_room(HgDeviceSet device_set)
{
	HgDeviceSet with_room = 0;
	uint64 most = 0;

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0)
			most = Max(most, rooms[device_no]);
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0 &&
			rooms[device_no] >= most / HG_SHARDS_ROOM_PART)
			with_room |= HG_DEVICE_BIT(device_no);
	return with_room;
}

HgDeviceSet
hg_device_shards_devices(HgError *why)
{
	HgDeviceSet left = hg_devices_request();
	HgDeviceSet device_set = 0;

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
	{
		HgError error;

		if (hg_device_load_of_group(device_no) > 0)
		{
			hg_error_set(why, HG_UNAVAILABLE, NULL, "its query has another one on a device");
			return 0;
		}
		if ((left & HG_DEVICE_BIT(device_no)) != 0 &&
			hg_device_state(device_no, HG_SHARDS_GREETING_MS, &error) == HG_DEVICE_READY &&
			hg_device_shards_ask_room(device_no))
			device_set |= HG_DEVICE_BIT(device_no);
	}
	if (pg_popcount32(device_set) < 2)
	{
		hg_error_set(why, HG_UNAVAILABLE, NULL, "no other device is ready");
		return 0;
	}
	device_set = hg_device_shards_with_room(device_set);
	if (pg_popcount32(device_set) == 1)
		hg_error_set(why, HG_UNAVAILABLE, NULL, "others have next to no memory beside it");
	return device_set;
}

/* The engine in the process that has a shard now, for hg_sharded.h. */
static HgEngine *
hg_device_shards_shard(void *arg, uint32_t shard)
{
	const HgDeviceShards *set = arg;
	HgWireClient *client = hg_device_client(set->device_no[shard]);

	return client != NULL ? hg_wire_client_engine(client) : NULL;
}

/* The memory of a shard's device in bytes, for hg_sharded.h. */
static uint64_t
hg_device_shards_room(void *arg, uint32_t shard)
{
	return rooms[((const HgDeviceShards *) arg)->device_no[shard]];
}

/* The sharded engine, for hg_passes.h. */
static HgEngine *
hg_device_shards_sharded(void *arg)
{
	return &((HgDeviceShards *) arg)->sharded.engine;
}

/* Returns the engines over a set of devices; NULL: out of memory. */
static HgDeviceShards *
hg_device_shards_find(HgDeviceSet device_set)
{
	HgDeviceShards *set = sets;
	uint32 shards = 0;

	while (set != NULL && set->device_set != device_set)
		set = set->next;
	if (set != NULL)
		return set;
	set = calloc(1, sizeof(*set));
	if (set == NULL)
		return NULL;
	set->device_set = device_set;
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0)
			set->device_no[shards++] = device_no;
	hg_sharded_init(&set->sharded, "cuda", shards, HG_SHARDED_DEAL_ROWS, hg_device_shards_shard,
					set);
	set->sharded.room = hg_device_shards_room;
	hg_passes_init(&set->passes, "cuda", hg_device_shards_sharded, set);
	set->next = sets;
	sets = set;
	return set;
}

HgEngine *
hg_device_shards_engine(HgDeviceSet device_set)
{
	HgDeviceShards *set = hg_device_shards_find(device_set);

	return set != NULL ? &set->passes.engine : NULL;
}

HgEngine *
hg_device_shards_partitions(HgDeviceSet device_set)
{
	HgDeviceShards *set = hg_device_shards_find(device_set);

	return set != NULL ? &set->sharded.engine : NULL;
}

int
hg_device_shards_called(HgDeviceSet device_set)
{
	const HgDeviceShards *set = hg_device_shards_find(device_set);

	return set != NULL ? set->device_no[set->sharded.called] : pg_rightmost_one_pos32(device_set);
}

void
hg_device_shards_name(HgDeviceSet device_set, char *name, Size size)
{
	const char *first = hg_device_name(pg_rightmost_one_pos32(device_set));
	bool same = true;

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0)
			same = same && strcmp(hg_device_name(device_no), first) == 0;
	if (pg_popcount32(device_set) == 1)
		strlcpy(name, first, size);
	else if (same)
		snprintf(name, size, "%d x %s", pg_popcount32(device_set), first);
	else
		snprintf(name, size, "%d devices, %s among them", pg_popcount32(device_set), first);
}

void
hg_device_shards_discard_lost(HgDeviceSet device_set)
{
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0)
			hg_device_discard_lost(device_no);
}

HgStatus
hg_device_shards_distrust(HgDeviceSet device_set, HgError *error)
{
	HgStatus status = HG_OK;

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0)
			status = hg_device_distrust(device_no, error);
	return status;
}

/* Returns true if a device's process owes an answer. */
static bool
hg_device_shards_awaits(int device_no)
{
	HgWireClient *client = hg_device_client(device_no);

	return client != NULL && hg_wire_client_awaits(client);
}

HgStatus
hg_device_shards_complain(HgDeviceSet device_set, HgError *error)
{
	const bool alone = pg_popcount32(device_set) == 1;
	HgStatus status = hg_error_set(error, HG_UNAVAILABLE, "It is busy with other joins, or hangs.",
								   "the device did not answer in time");

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0 &&
			(alone || hg_device_shards_awaits(device_no)))
			status = hg_device_complain(device_no, error);
	return status;
}
