/*-------------------------------------------------------------------------
 *
 * hg_device_team.h
 *	  A join that the processes of a parallel query have on a device together.
 *
 * Each process connects to the server's device process and opens the same job there
 * (HgJobSpec.team).  All then go through the same steps, and are of one mind after each:
 *
 *	1	each appends the keys that it has read, and the columns of a reduction
 *	2	the job is built, and its matches are counted, or reduced: then one process has the groups
 *	3	where matches are wanted, each fetches chunks of them until there are no more
 *
 * Each step ends with an arrive at the team's barrier.  Where a step has failed for one of the
 * processes it has failed for all: no row has been returned yet, all keys are where they were,
 * and the processes go on to join on the CPU, or to an error.  After the last step nothing can
 * fail any more: the matches that a process has fetched are in its memory, and the device is no
 * longer needed.
 *
 * Where the device has no memory for the columns of a reduction they all close the job, arrive once
 * more, and try again without, as another job.
 *
 * A process that joins the team after the first step has no rows.  It takes no matches
 * either, and arrives with the others as often as they still do.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_TEAM_H
#define HG_DEVICE_TEAM_H

#include "port/atomics.h"

#include "backend/hg_matcher.h"

#include "engine/hg_costs.h"

/* How one attempt at the steps fared. */
typedef struct HgDeviceAttempt
{
	pg_atomic_uint32 failed; /* the step that has failed, 0 = none */
	HgError failure;		 /* ... and why: written by one, read after its arrive */
} HgDeviceAttempt;

/* With the columns of a reduction, and without. */
#define HG_DEVICE_ATTEMPTS 2

/* What the processes have in common, in their shared memory. */
struct HgDeviceTeamShared
{
	uint64 job;			 /* HgJobSpec.team; 0: the device is left out of it */
	HgEngineCosts costs; /* as the leader knew them, so that all choose alike */
	bool costs_known;
	pg_atomic_uint64 rows[2]; /* by HgSide, of all processes; added before they build */
	HgDeviceAttempt attempts[HG_DEVICE_ATTEMPTS];
	pg_atomic_uint32 counted; /* a process has taken the number of matches */
	pg_atomic_uint32 crowded; /* some process was told that there are too many groups */
};

/* One process's part. */
typedef struct HgDeviceTeam
{
	HgDeviceTeamShared *shared;
	HgPgTeam *team;
	HgDeviceAttempt *attempt; /* that is being made */
	HgEngine *engine;		  /* NULL where this process has not come to it */
	HgJob *job;				  /* NULL where it is closed or was not opened */
	HgJobStats stats;		  /* of the job, when it was closed */
	uint64 matches;			  /* of all processes, once they are counted */
	bool joined;			  /* all steps are done, in all processes */
	bool reduced;			  /* ... and all matches, to groups */
	HgGroupSet groups;		  /* those that this process has got */

	/* what this process has fetched */
	MemoryContext context;
	uint32 *outer; /* [capacity] */
	uint32 *inner;
	uint64 count;
	uint64 capacity;
} HgDeviceTeam;

/*
 * The leader's, before the others can see it: make it ready for an execution, with a device if
 * there is one that hashgraph.backend allows, and the matches that it would give do (possible).
 */
extern void hg_device_team_init(HgDeviceTeamShared *shared, bool possible);

/*
 * Do all steps that are left to this process; device has its first three members and context set.
 * job_spec has the expected rows of all.  The wait for a greeting takes patience_ms at most,
 * other waits what the team's host allows.  True: all processes have joined on the device.
 * False: none has, *error says why, and team->team.arrived is what it would be had they not
 * tried.  An interrupt's error is thrown.
 */
extern bool hg_device_team_join(HgDeviceTeam *device, const HgMatcherSpec *spec,
								const HgJobSpec *job_spec, const HgKeySet sides[2],
								double patience_ms, HgError *error);

/* The number of matches of all, for the one process that asks first; 0 for the others. */
extern uint64 hg_device_team_take_count(HgDeviceTeam *device);

/* Close the job, if it is open; in any state. */
extern void hg_device_team_close(HgDeviceTeam *device);

#endif /* HG_DEVICE_TEAM_H */
