/*-------------------------------------------------------------------------
 *
 * hg_device_spread.c
 *	  Jobs that are spread over several of the server's GPUs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "port/pg_bitutils.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_load.h"
#include "backend/device/hg_device_shared.h"
#include "backend/device/hg_device_spread.h"
#include "backend/hg_host.h"
#include "engine/hg_ranges.h"
#include "engine/hg_wide.h"

/* How long a process that is READY may take to greet, before it is left out. */
#define HG_SPREAD_GREETING_MS 200

/* How long it may take then to say what memory it has, before it is said to be silent. */
#define HG_SPREAD_ROOM_MS 1000

/*
 * A device with less memory than the greatest one's, divided by this, has no part in a job: its
 * part of the rows would be less than what a member costs.
 */
#define HG_SPREAD_ROOM_PART 16

/* No device has more than that, whatever it says. */
#define HG_SPREAD_MOST_ROOM (UINT64CONST(1) << 47)

/* Bytes of memory that jobs can have, as each process said when it was asked last. */
static uint64 rooms[HG_GPU_DEVICES];

/* The engine over a set of devices.  Jobs have its address, so that it stays once it was made. */
typedef struct HgSpread
{
	struct HgSpread *next;
	HgDeviceSet device_set;
	int device_no[HG_GPU_DEVICES]; /* by member */
	HgWide wide;
	HgRanges ranges;
} HgSpread;

static HgSpread *spreads = NULL;

bool
hg_device_spread_is_possible(void)
{
	return hg_device_shared_count() > 1;
}

/* Ask a device to which this session is connected what memory jobs can have there. */
static bool
hg_spread_ask_room(int device_no)
{
	HgDeviceStatus status;
	const bool known = hg_device_ask_status(device_no, HG_SPREAD_ROOM_MS, &status);

	rooms[device_no] = known ? Min(status.memory_budget, HG_SPREAD_MOST_ROOM) : 0;
	return known;
}

/* Those of the devices that have enough memory to be of use beside the others. */
static HgDeviceSet
hg_spread_with_room(HgDeviceSet device_set)
{
	HgDeviceSet with_room = 0;
	uint64 most = 0;

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0)
			most = Max(most, rooms[device_no]);
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0 && rooms[device_no] >= most / HG_SPREAD_ROOM_PART)
			with_room |= HG_DEVICE_BIT(device_no);
	return with_room;
}

HgDeviceSet
hg_device_spread_devices(HgError *why)
{
	HgDeviceSet left = hg_devices_wanted();
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
			hg_device_state(device_no, HG_SPREAD_GREETING_MS, &error) == HG_DEVICE_READY &&
			hg_spread_ask_room(device_no))
			device_set |= HG_DEVICE_BIT(device_no);
	}
	if (pg_popcount32(device_set) < 2)
	{
		hg_error_set(why, HG_UNAVAILABLE, NULL, "no other device is ready");
		return 0;
	}
	device_set = hg_spread_with_room(device_set);
	if (pg_popcount32(device_set) == 1)
		hg_error_set(why, HG_UNAVAILABLE, NULL, "others have next to no memory beside it");
	return device_set;
}

/* The engine in the process that has a member now, for hg_wide.h. */
static HgEngine *
hg_spread_member(void *arg, uint32_t member)
{
	const HgSpread *spread = arg;
	HgWireClient *client = hg_device_client(spread->device_no[member]);

	return client != NULL ? hg_wire_client_engine(client) : NULL;
}

/* What a member has memory for. */
static uint64_t
hg_spread_room(void *arg, uint32_t member)
{
	return rooms[((const HgSpread *) arg)->device_no[member]];
}

/* The engine over all of them, for hg_ranges.h. */
static HgEngine *
hg_spread_wide(void *arg)
{
	return &((HgSpread *) arg)->wide.engine;
}

/* The engines over a set of devices; NULL: out of memory. */
static HgSpread *
hg_spread_find(HgDeviceSet device_set)
{
	HgSpread *spread = spreads;
	uint32 members = 0;

	while (spread != NULL && spread->device_set != device_set)
		spread = spread->next;
	if (spread != NULL)
		return spread;
	spread = calloc(1, sizeof(*spread));
	if (spread == NULL)
		return NULL;
	spread->device_set = device_set;
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0)
			spread->device_no[members++] = device_no;
	hg_wide_init(&spread->wide, "cuda", members, HG_WIDE_DEAL_ROWS, hg_spread_member, spread);
	spread->wide.room = hg_spread_room;
	hg_ranges_init(&spread->ranges, "cuda", hg_spread_wide, spread);
	spread->next = spreads;
	spreads = spread;
	return spread;
}

HgEngine *
hg_device_spread_engine(HgDeviceSet device_set)
{
	HgSpread *spread = hg_spread_find(device_set);

	return spread != NULL ? &spread->ranges.engine : NULL;
}

HgEngine *
hg_device_spread_slices(HgDeviceSet device_set)
{
	HgSpread *spread = hg_spread_find(device_set);

	return spread != NULL ? &spread->wide.engine : NULL;
}

int
hg_device_spread_called(HgDeviceSet device_set)
{
	const HgSpread *spread = hg_spread_find(device_set);

	return spread != NULL ? spread->device_no[spread->wide.called] : pg_rightmost_one_pos32(device_set);
}

void
hg_device_spread_name(HgDeviceSet device_set, char *name, Size size)
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
hg_device_spread_discard_lost(HgDeviceSet device_set)
{
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0)
			hg_device_discard_lost(device_no);
}

HgStatus
hg_device_spread_distrust(HgDeviceSet device_set, HgError *error)
{
	HgStatus status = HG_OK;

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0)
			status = hg_device_distrust(device_no, error);
	return status;
}

/* Is there a question that a device's process has not answered? */
static bool
hg_spread_awaits(int device_no)
{
	HgWireClient *client = hg_device_client(device_no);

	return client != NULL && hg_wire_client_awaits(client);
}

HgStatus
hg_device_spread_complain(HgDeviceSet device_set, HgError *error)
{
	const bool alone = pg_popcount32(device_set) == 1;
	HgStatus status = hg_error_set(error, HG_UNAVAILABLE, "It is busy with other joins, or hangs.",
								   "the device did not answer in time");

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0 && (alone || hg_spread_awaits(device_no)))
			status = hg_device_complain(device_no, error);
	return status;
}
