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

/* The device that this process chose last; -1: none yet. */
static int last_device_no = -1;

/* May this session's jobs run there?  A GPU whose number is not known yet may be any. */
static bool
hg_placement_is_allowed(const HgDeviceAvailability *state)
{
	return hg_gpu_devices.count == 0 || state->ordinal < 0 ||
		   hg_gpu_devices_find(&hg_gpu_devices, state->ordinal) >= 0;
}

static bool
hg_placement_is_ready(const HgDeviceAvailability *state)
{
	return state->state == HG_SERVER_DEVICE_READY && !state->silent;
}

/* Is a device better than another one, in what it has to do? */
static bool
hg_placement_is_idler(const HgDeviceLoad *load, const HgDeviceLoad *than)
{
	return load->bytes != than->bytes ? load->bytes < than->bytes : load->jobs < than->jobs;
}

/* Where the next job goes, of the READY ones; -1: there are none. */
static int
hg_placement_choose(const HgDeviceAvailability *states, int ndevices, HgDeviceSet among,
					HgDeviceLoad *least)
{
	int chosen = -1;
	uint32 most_of_group = 0;

	for (int i = 0; i < ndevices; i++)
	{
		const int device_no = ((last_device_no >= 0 ? last_device_no : MyProcPid) + i) % ndevices;
		const HgDeviceLoad load = hg_device_load_read(device_no);
		const uint32 of_group = hg_device_load_of_group(device_no);

		if ((among & HG_DEVICE_BIT(device_no)) == 0 || !hg_placement_is_ready(&states[device_no]) ||
			!hg_placement_is_allowed(&states[device_no]))
			continue;
		if (chosen >= 0 && (of_group < most_of_group ||
							(of_group == most_of_group && !hg_placement_is_idler(&load, least))))
			continue;
		chosen = device_no;
		most_of_group = of_group;
		*least = load;
	}
	return chosen;
}

/* How long a process may take to start before others that rest are thought to be faster, in ms. */
#define HG_PLACEMENT_START_MS (5 * 1000)

/* How soon a device that is not READY may be; less is sooner. */
static int
hg_placement_rank(const HgDeviceAvailability *state)
{
	switch (state->state)
	{
		case HG_SERVER_DEVICE_NONE:
			return 0;
		case HG_SERVER_DEVICE_STARTING:
			return TimestampDifferenceExceeds(state->starting_since, GetCurrentTimestamp(),
											  HG_PLACEMENT_START_MS)
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
 * Which device to wait for, where none is READY: one that has begun to start, but not one that
 * hangs meanwhile where another one rests, which is asked to start then; -1: none of these may have
 * this session's jobs.
 */
static int
hg_placement_await(const HgDeviceAvailability *states, int ndevices, HgDeviceSet among)
{
	int chosen = -1;

	for (int device_no = 0; device_no < ndevices; device_no++)
	{
		if ((among & HG_DEVICE_BIT(device_no)) == 0 || !hg_placement_is_allowed(&states[device_no]))
			continue;
		if (chosen < 0 ||
			hg_placement_rank(&states[device_no]) < hg_placement_rank(&states[chosen]))
			chosen = device_no;
	}
	return chosen;
}

/* Have a device that rests come up, as the others are busy. */
static void
hg_placement_wake(const HgDeviceAvailability *states, int ndevices)
{
	for (int device_no = 0; device_no < ndevices; device_no++)
		if (states[device_no].state == HG_SERVER_DEVICE_RESTING &&
			hg_placement_is_allowed(&states[device_no]))
		{
			hg_device_shared_ask(device_no);
			break;
		}
}

int
hg_device_number_ready(HgDeviceSet among)
{
	HgDeviceAvailability states[HG_GPU_DEVICES];
	HgDeviceLoad least = {0};
	int ndevices = hg_device_shared_survey(states);
	int chosen = hg_placement_choose(states, ndevices, among, &least);

	if (chosen < 0)
		return -1;
	/* its own group's jobs are no reason, as more of them go there all the same */
	if (least.jobs > hg_device_load_of_group(chosen))
		hg_placement_wake(states, ndevices);
	last_device_no = chosen;
	return chosen;
}

int
hg_device_number(HgDeviceSet among)
{
	HgDeviceAvailability states[HG_GPU_DEVICES];
	int ndevices;
	int chosen = hg_device_number_ready(among);

	if (chosen >= 0)
		return chosen;
	ndevices = hg_device_shared_survey(states);
	chosen = hg_placement_await(states, ndevices, among);
	/* where none may have any, the process that is asked says so */
	return chosen < 0 && (ndevices == 0 || among == HG_ALL_DEVICES) ? 0 : chosen;
}

HgDeviceSet
hg_devices_wanted(void)
{
	HgDeviceAvailability states[HG_GPU_DEVICES];
	const int ndevices = hg_device_shared_survey(states);
	HgDeviceSet ready = 0;

	for (int device_no = 0; device_no < ndevices; device_no++)
	{
		if (!hg_placement_is_allowed(&states[device_no]))
			continue;
		if (hg_placement_is_ready(&states[device_no]))
			ready |= HG_DEVICE_BIT(device_no);
		else if (states[device_no].state == HG_SERVER_DEVICE_RESTING)
			hg_device_shared_ask(device_no);
	}
	return ready;
}

int
hg_device_wanted_ordinal(void)
{
	HgDeviceAvailability states[HG_GPU_DEVICES];
	int ndevices;

	if (hg_gpu_devices.count == 0)
		return -1;
	if (hg_gpu_devices.count == 1)
		return hg_gpu_devices.ordinals[0];
	/* none of several is there: the process that is asked says so */
	ndevices = hg_device_shared_survey(states);
	for (int device_no = 0; device_no < ndevices; device_no++)
		if (hg_placement_is_allowed(&states[device_no]))
			return -1;
	return hg_gpu_devices.ordinals[0];
}
