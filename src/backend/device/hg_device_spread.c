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

/* The engine over a set of places.  Jobs have its address, so that it stays once it was made. */
typedef struct HgSpread
{
	struct HgSpread *next;
	HgPlaces places;
	int place[HG_GPU_DEVICES]; /* by member */
	HgWide wide;
	HgRanges ranges;
} HgSpread;

static HgSpread *spreads = NULL;

bool
hg_device_spread_is_possible(void)
{
	return hg_device_shared_places() > 1;
}

/* Ask a place to which this session is connected what memory jobs can have there. */
static bool
hg_spread_ask_room(int place)
{
	HgDeviceStatus status;
	const bool known = hg_device_ask_status(place, HG_SPREAD_ROOM_MS, &status);

	rooms[place] = known ? Min(status.memory_budget, HG_SPREAD_MOST_ROOM) : 0;
	return known;
}

/* Those of the places that have enough memory to be of use beside the others. */
static HgPlaces
hg_spread_with_room(HgPlaces places)
{
	HgPlaces with_room = 0;
	uint64 most = 0;

	for (int place = 0; place < HG_GPU_DEVICES; place++)
		if ((places & HG_PLACE(place)) != 0)
			most = Max(most, rooms[place]);
	for (int place = 0; place < HG_GPU_DEVICES; place++)
		if ((places & HG_PLACE(place)) != 0 && rooms[place] >= most / HG_SPREAD_ROOM_PART)
			with_room |= HG_PLACE(place);
	return with_room;
}

HgPlaces
hg_device_spread_places(HgError *why)
{
	HgPlaces left = hg_device_places_wanted();
	HgPlaces places = 0;

	for (int place = 0; place < HG_GPU_DEVICES; place++)
	{
		HgError error;

		if (hg_device_load_of_group(place) > 0)
		{
			hg_error_set(why, HG_UNAVAILABLE, NULL, "its query has another one on a device");
			return 0;
		}
		if ((left & HG_PLACE(place)) != 0 &&
			hg_device_state(place, HG_SPREAD_GREETING_MS, &error) == HG_DEVICE_READY &&
			hg_spread_ask_room(place))
			places |= HG_PLACE(place);
	}
	if (pg_popcount32(places) < 2)
	{
		hg_error_set(why, HG_UNAVAILABLE, NULL, "no other device is ready");
		return 0;
	}
	places = hg_spread_with_room(places);
	if (pg_popcount32(places) == 1)
		hg_error_set(why, HG_UNAVAILABLE, NULL, "others have next to no memory beside it");
	return places;
}

/* The engine in the process that has a member now, for hg_wide.h. */
static HgEngine *
hg_spread_member(void *arg, uint32_t member)
{
	const HgSpread *spread = arg;
	HgWireClient *client = hg_device_client(spread->place[member]);

	return client != NULL ? hg_wire_client_engine(client) : NULL;
}

/* What a member has memory for. */
static uint64_t
hg_spread_room(void *arg, uint32_t member)
{
	return rooms[((const HgSpread *) arg)->place[member]];
}

/* The engine over all of them, for hg_ranges.h. */
static HgEngine *
hg_spread_wide(void *arg)
{
	return &((HgSpread *) arg)->wide.engine;
}

/* The engines over a set of places; NULL: out of memory. */
static HgSpread *
hg_spread_find(HgPlaces places)
{
	HgSpread *spread = spreads;
	uint32 members = 0;

	while (spread != NULL && spread->places != places)
		spread = spread->next;
	if (spread != NULL)
		return spread;
	spread = calloc(1, sizeof(*spread));
	if (spread == NULL)
		return NULL;
	spread->places = places;
	for (int place = 0; place < HG_GPU_DEVICES; place++)
		if ((places & HG_PLACE(place)) != 0)
			spread->place[members++] = place;
	hg_wide_init(&spread->wide, "cuda", members, HG_WIDE_DEAL_ROWS, hg_spread_member, spread);
	spread->wide.room = hg_spread_room;
	hg_ranges_init(&spread->ranges, "cuda", hg_spread_wide, spread);
	spread->next = spreads;
	spreads = spread;
	return spread;
}

HgEngine *
hg_device_spread_engine(HgPlaces places)
{
	HgSpread *spread = hg_spread_find(places);

	return spread != NULL ? &spread->ranges.engine : NULL;
}

HgEngine *
hg_device_spread_slices(HgPlaces places)
{
	HgSpread *spread = hg_spread_find(places);

	return spread != NULL ? &spread->wide.engine : NULL;
}

int
hg_device_spread_called(HgPlaces places)
{
	const HgSpread *spread = hg_spread_find(places);

	return spread != NULL ? spread->place[spread->wide.called] : pg_rightmost_one_pos32(places);
}

void
hg_device_spread_name(HgPlaces places, char *name, Size size)
{
	const char *first = hg_device_name(pg_rightmost_one_pos32(places));
	bool same = true;

	for (int place = 0; place < HG_GPU_DEVICES; place++)
		if ((places & HG_PLACE(place)) != 0)
			same = same && strcmp(hg_device_name(place), first) == 0;
	if (pg_popcount32(places) == 1)
		strlcpy(name, first, size);
	else if (same)
		snprintf(name, size, "%d x %s", pg_popcount32(places), first);
	else
		snprintf(name, size, "%d devices, %s among them", pg_popcount32(places), first);
}

void
hg_device_spread_discard_lost(HgPlaces places)
{
	for (int place = 0; place < HG_GPU_DEVICES; place++)
		if ((places & HG_PLACE(place)) != 0)
			hg_device_discard_lost(place);
}

HgStatus
hg_device_spread_distrust(HgPlaces places, HgError *error)
{
	HgStatus status = HG_OK;

	for (int place = 0; place < HG_GPU_DEVICES; place++)
		if ((places & HG_PLACE(place)) != 0)
			status = hg_device_distrust(place, error);
	return status;
}

/* Is there a question that a place's process has not answered? */
static bool
hg_spread_awaits(int place)
{
	HgWireClient *client = hg_device_client(place);

	return client != NULL && hg_wire_client_awaits(client);
}

HgStatus
hg_device_spread_complain(HgPlaces places, HgError *error)
{
	const bool alone = pg_popcount32(places) == 1;
	HgStatus status = hg_error_set(error, HG_UNAVAILABLE, "It is busy with other joins, or hangs.",
								   "the device did not answer in time");

	for (int place = 0; place < HG_GPU_DEVICES; place++)
		if ((places & HG_PLACE(place)) != 0 && (alone || hg_spread_awaits(place)))
			status = hg_device_complain(place, error);
	return status;
}
