/*-------------------------------------------------------------------------
 *
 * hg_device_placement.c
 *	  Which of the server's GPUs a job goes to.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "backend/device/hg_device_load.h"
#include "backend/device/hg_device_placement.h"
#include "backend/device/hg_device_shared.h"

/* The place that this process chose last; -1: none yet. */
static int last_place = -1;

/* May this session's jobs run there?  A GPU whose number is not known yet may be any. */
static bool
hg_place_is_allowed(const HgPlaceState *state)
{
	return hg_gpu_devices.count == 0 || state->ordinal < 0 ||
		   hg_gpu_devices_find(&hg_gpu_devices, state->ordinal) >= 0;
}

static bool
hg_place_is_ready(const HgPlaceState *state)
{
	return state->state == HG_SERVER_DEVICE_READY && !state->silent;
}

/* Is a place better than another one, in what it has to do? */
static bool
hg_place_is_idler(const HgDeviceLoad *load, const HgDeviceLoad *than)
{
	return load->bytes != than->bytes ? load->bytes < than->bytes : load->jobs < than->jobs;
}

/* Where the next job goes, of the READY ones; -1: there are none. */
static int
hg_place_choose(const HgPlaceState *states, int places, HgPlaces among, HgDeviceLoad *least)
{
	int chosen = -1;
	uint32 most_of_group = 0;

	for (int i = 0; i < places; i++)
	{
		const int place = ((last_place >= 0 ? last_place : MyProcPid) + i) % places;
		const HgDeviceLoad load = hg_device_load_read(place);
		const uint32 of_group = hg_device_load_of_group(place);

		if ((among & HG_PLACE(place)) == 0 || !hg_place_is_ready(&states[place]) ||
			!hg_place_is_allowed(&states[place]))
			continue;
		if (chosen >= 0 && (of_group < most_of_group ||
							(of_group == most_of_group && !hg_place_is_idler(&load, least))))
			continue;
		chosen = place;
		most_of_group = of_group;
		*least = load;
	}
	return chosen;
}

/* How long a process may take to start before others that rest are thought to be faster, in ms. */
#define HG_PLACE_START_MS (5 * 1000)

/* How soon a place that is not READY may be; less is sooner. */
static int
hg_place_rank(const HgPlaceState *state)
{
	switch (state->state)
	{
		case HG_SERVER_DEVICE_NONE:
			return 0;
		case HG_SERVER_DEVICE_STARTING:
			return TimestampDifferenceExceeds(state->starting_since, GetCurrentTimestamp(),
											  HG_PLACE_START_MS)
					   ? 2
					   : 0;
		case HG_SERVER_DEVICE_RESTING:
			return 1;
		case HG_SERVER_DEVICE_READY:
			return 2; /* but silent */
		case HG_SERVER_DEVICE_UNAVAILABLE:
			break;
	}
	return 3;
}

/*
 * Which place to wait for, where none is READY: one that has begun to start, but not one that hangs
 * meanwhile where another one rests, which is asked to start then; -1: none of these may have this
 * session's jobs.
 */
static int
hg_place_await(const HgPlaceState *states, int places, HgPlaces among)
{
	int chosen = -1;

	for (int place = 0; place < places; place++)
	{
		if ((among & HG_PLACE(place)) == 0 || !hg_place_is_allowed(&states[place]))
			continue;
		if (chosen < 0 || hg_place_rank(&states[place]) < hg_place_rank(&states[chosen]))
			chosen = place;
	}
	return chosen;
}

/* Have a place that rests come up, as the others are busy. */
static void
hg_place_wake(const HgPlaceState *states, int places)
{
	for (int place = 0; place < places; place++)
		if (states[place].state == HG_SERVER_DEVICE_RESTING && hg_place_is_allowed(&states[place]))
		{
			hg_device_shared_ask(place);
			break;
		}
}

int
hg_device_place_ready(HgPlaces among)
{
	HgPlaceState states[HG_GPU_DEVICES];
	HgDeviceLoad least = {0};
	int places = hg_device_shared_survey(states);
	int chosen = hg_place_choose(states, places, among, &least);

	if (chosen < 0)
		return -1;
	/* its own group's jobs are no reason, as more of them go there all the same */
	if (least.jobs > hg_device_load_of_group(chosen))
		hg_place_wake(states, places);
	last_place = chosen;
	return chosen;
}

int
hg_device_place(HgPlaces among)
{
	HgPlaceState states[HG_GPU_DEVICES];
	int places;
	int chosen = hg_device_place_ready(among);

	if (chosen >= 0)
		return chosen;
	places = hg_device_shared_survey(states);
	chosen = hg_place_await(states, places, among);
	/* where none may have any, the process that is asked says so */
	return chosen < 0 && (places == 0 || among == HG_PLACES_ALL) ? 0 : chosen;
}

HgPlaces
hg_device_places_wanted(void)
{
	HgPlaceState states[HG_GPU_DEVICES];
	const int places = hg_device_shared_survey(states);
	HgPlaces ready = 0;

	for (int place = 0; place < places; place++)
	{
		if (!hg_place_is_allowed(&states[place]))
			continue;
		if (hg_place_is_ready(&states[place]))
			ready |= HG_PLACE(place);
		else if (states[place].state == HG_SERVER_DEVICE_RESTING)
			hg_device_shared_ask(place);
	}
	return ready;
}

int
hg_device_wanted_ordinal(void)
{
	HgPlaceState states[HG_GPU_DEVICES];
	int places;

	if (hg_gpu_devices.count == 0)
		return -1;
	if (hg_gpu_devices.count == 1)
		return hg_gpu_devices.ordinals[0];
	/* none of several is there: the process that is asked says so */
	places = hg_device_shared_survey(states);
	for (int place = 0; place < places; place++)
		if (hg_place_is_allowed(&states[place]))
			return -1;
	return hg_gpu_devices.ordinals[0];
}
