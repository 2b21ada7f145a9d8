/*-------------------------------------------------------------------------
 *
 * hg_device_participants.h
 *	  A join that the processes of a parallel query have on a device together.
 *
 * Each process connects to the server's device process and opens the same job there
 * (HgJobSpec.participants_id).  All then go through the same steps, and agree after each:
 *
 *	1	each appends the keys that it has read, and the columns that the job is to have: those of
 *		a reduction, or those whose values come with the matches
 *	2	one of them has the job built, sees that the rows of all are there, and has its matches
 *		counted, or reduced: then it has the groups
 *	3	where matches are wanted, each fetches chunks of them until there are no more, with their
 *		values where all of these fit work memory; or, where the matches alone need more than that,
 *		begins to, without values, and goes on while they are returned
 *
 * Each step ends with an arrive at the participants' barrier.  Where a step has failed for one of
 * the processes it has failed for all: no row has been returned yet, and all keys are where they
 * were.  That is an attempt.  There are these, each with a job of its own:
 *
 *	early	The job that the processes have senders for (hg_sender.h), if they do: its expected
 *			rows are the planner's.  The first step takes no arrive where all of them had finished
 *			when all rows were read.
 *	whole	Where there was none, or its first step has failed: a job for the rows that there are.
 *	keys	Where the device has no memory for columns: a job without.
 *
 * Between two attempts there is one more arrive, behind which the job of the first is gone.  After
 * the last the processes go on to join on the CPU, or to an error.
 *
 * Under backend auto nothing can fail any more after the last step of an attempt that succeeds: the
 * matches that a process has fetched are in its memory, and the device is no longer needed.  Where
 * they need more than work memory the attempt has failed.  Backend cuda, which may fail, streams
 * them then: what goes wrong with the device while rows are returned is an error.
 *
 * What the processes have fetched must be as many matches as were counted: else the device process
 * has lied, to whichever of them, and the attempt has failed.
 *
 * A participant that attaches after the first step has no rows.  It takes no matches either, and
 * arrives with the others as often as they still do.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_PARTICIPANTS_H
#define HG_DEVICE_PARTICIPANTS_H

#include "port/atomics.h"

#include "backend/matcher/hg_match_list.h"
#include "backend/matcher/hg_matcher_spec.h"
#include "engine/hg_costs.h"

typedef enum HgDeviceTry
{
	HG_TRY_EARLY,
	HG_TRY_WHOLE,
	HG_TRY_KEYS,
	HG_TRIES
} HgDeviceTry;

/* How one attempt at the steps fared. */
typedef struct HgDeviceAttempt
{
	pg_atomic_uint32 failed;	/* the step that has failed, 0 = none */
	HgError failure;			/* ... and why: written by one, read after its arrive */
	pg_atomic_uint32 asked;		/* a process does the second step for all ... */
	uint64 matches;				/* ... and has written this before its arrive: of all processes, */
	bool reduced;				/* or that it has reduced them to groups; ... */
	bool streamed;				/* ... the matches are fetched while they are returned */
	pg_atomic_uint64 fetched;	/* matches that the processes have, added before they arrive; ... */
	pg_atomic_uint32 streaming; /* ... or before they are no more of those that stream them */
} HgDeviceAttempt;

/* What the processes have in common, in their shared memory. */
struct HgDeviceParticipantsShared
{
	int device_no;				/* of the device that has the job */
	uint64 job;					/* HgJobSpec.participants_id; 0: the device is left out of it */
	uint64 early_job;			/* the same, of the job that senders have; 0: there are none */
	uint64 pages_job;			/* the same, of the one that gets pages (hg_page_job.h) */
	HgJobColumns early_columns; /* that it has */
	HgEngineCosts costs;		/* as the leader knew them, so that all choose alike */
	bool costs_known;
	pg_atomic_uint64 rows[2]; /* by HgSide, of all processes; added before they build */
	pg_atomic_uint32 unsent;  /* some sender had not finished when all rows were read */
	HgDeviceAttempt attempts[HG_TRIES];
	pg_atomic_uint32 counted; /* a process has taken the number of matches */
};

/* One process's part. */
typedef struct HgDeviceParticipants
{
	HgDeviceParticipantsShared *shared;
	HgPgParticipants *participants;
	HgSender *sender;			  /* or NULL */
	const HgReduction *reduction; /* whose columns the job has, or will have; or NULL ... */
	HgGather *gather;			  /* ... or these */
	MemoryContext context;		  /* of groups, as the list of what is fetched has its own */
	HgDeviceAttempt *attempt;	  /* that is being made */
	HgError failure;			  /* why it has failed */
	bool came;					  /* this process has had a part in a job, that is ... */
	HgEngine calls;				  /* ... an engine, which may go with its connection */
	HgJob *job;					  /* NULL where it is closed or was not opened */
	HgJobStats stats;			  /* of the job, when it was closed */
	uint64 matches;				  /* of all processes, once they are counted */
	bool reduced;				  /* the matches of all were reduced to groups */
	bool streamed;				  /* ... or are still to be fetched */
	HgGroupSet groups;			  /* those that this process has got */
	uint64 sent_rows;			  /* by this process's sender while it read */

	HgMatchList fetched; /* by this process; where the matches are streamed, last */
} HgDeviceParticipants;

/*
 * The leader's, before the others can see it: make it ready for an execution, with a device if
 * there is one that hashgraph.backend allows, and the matches that it would give do (possible).
 */
extern void hg_device_participants_init(HgDeviceParticipantsShared *shared, bool possible);

/*
 * The leader's, at the same time: the processes are to have senders, for a job with these columns.
 */
extern void hg_device_participants_init_early(HgDeviceParticipantsShared *shared,
											  const HgJobColumns *columns);

/* The leader's, at the same time: the processes are to send pages first, where there is a device.
 */
extern void hg_device_participants_init_pages(HgDeviceParticipantsShared *shared);

/*
 * This process has read its rows, and others may not have: have its sender finished, if it needs
 * not wait for its turn.
 */
extern void hg_device_participants_finish_sending(HgDeviceParticipantsShared *shared,
												  HgSender *sender, const HgKeySet sides[2]);

/*
 * Set up this process's part, all zero before; what is given stays in place, the sender until all
 * steps are done.  The job is to have the columns of reduction, or those of gather, which loses
 * them where there is no room; either may have none.  Matches and groups are allocated in context.
 */
extern void hg_device_participants_begin(HgDeviceParticipants *device,
										 HgPgParticipants *participants, HgSender *sender,
										 const HgReduction *reduction, HgGather *gather,
										 MemoryContext context);

/*
 * Do all steps that are left to this process.  job_spec has the expected rows of all, and no
 * participants_id.  All waits but that for a greeting take what the participants' host allows.
 * True: all processes have joined on the device.  False: none has, *error says why, and
 * participants->participants.arrived is what it would be had they not tried.  An interrupt's error
 * is thrown.
 */
extern bool hg_device_participants_join(HgDeviceParticipants *device, const HgMatcherSpec *spec,
										const HgJobSpec *job_spec, const HgKeySet sides[2],
										HgError *error);

/* The number of matches of all, for the one process that asks first; 0 for the others. */
extern uint64 hg_device_participants_take_count(HgDeviceParticipants *device);

/*
 * The next of the matches that this process has fetched or, where they are streamed, fetches now in
 * place of the last; *block is NULL at the end.
 */
extern HgStatus hg_device_participants_next(HgDeviceParticipants *device,
											const HgMatchBlock **block, HgError *error);

/* What the job did, of all processes, and is doing, if it is open. */
extern void hg_device_participants_stats(HgDeviceParticipants *device, HgJobStats *stats);

/* Close the job, if it is open; in any state. */
extern void hg_device_participants_close(HgDeviceParticipants *device);

#endif /* HG_DEVICE_PARTICIPANTS_H */
