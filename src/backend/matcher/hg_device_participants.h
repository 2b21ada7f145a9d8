/*-------------------------------------------------------------------------
 *
 * hg_device_participants.h
 *	  A join that the participants of a parallel query do together on a device.
 *
 * Each process connects to the server's device process and opens the same job there
 * (HgJobSpec.participants_id). All go through the same steps and agree after each:
 *
 *	1	Each appends the keys that it has read, and the columns of the job: those of a reduction, or
 *		those whose values come with the matches.
 *	2	One has the job built, checks that the rows of all are there, and has the matches counted,
 *		or reduced: then it has the groups.
 *	3	If matches are needed, each fetches its share of them, with their values if all of
 *		these fit work memory. If the matches alone need more than that, each begins to fetch,
 *		without values, and continues while it returns them.
 *
 * Each step ends with an arrive at the participants' barrier. A step that fails for one process
 * fails for all; no row has been returned and all keys are still there. The steps up to a failure
 * or success are an attempt. The attempts, each with its own job, are:
 *
 *	early	The job of the processes' uploads (hg_upload.h), if they have them. Its expected rows
 *			are the planner's. Step 1 needs no arrive if all uploads had finished when all rows
 *			were read.
 *	whole	Without an early job, or if its first step failed: a job for the actual rows.
 *	keys	If the device has no memory for columns: a job without them.
 *
 * One more arrive between two attempts ensures that the first job is gone. After the last attempt
 * the processes join on the CPU or raise an error.
 *
 * Under backend auto nothing can fail after the last step of a successful attempt: each process
 * has its matches in memory, and the device is no longer needed. If they need more than work
 * memory, the attempt fails. Backend cuda streams them instead; a device failure while rows are
 * returned is then an error.
 *
 * The processes must have fetched as many matches as were counted. Otherwise the device process
 * has lied to one of them, and the attempt has failed.
 *
 * A participant that attaches after the first step has no rows and takes no matches. It arrives
 * with the others as often as they still do.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_PARTICIPANTS_H
#define HG_DEVICE_PARTICIPANTS_H

#include "port/atomics.h"

#include "backend/matcher/hg_match_source.h"
#include "backend/matcher/hg_matcher_spec.h"
#include "engine/hg_costs.h"

typedef enum HgDeviceTry
{
	HG_TRY_UPLOADED,
	HG_TRY_WHOLE,
	HG_TRY_KEYS,
	HG_TRIES
} HgDeviceTry;

/* The state of one attempt. */
typedef struct HgDeviceAttempt
{
	pg_atomic_uint32 failed;		/* step that has failed, 0 = none */
	HgError failure;				/* why: written by one process, read after its arrive */
	pg_atomic_uint32 nparticipants; /* that have the job; added before their arrive of step 2 */
	pg_atomic_uint32 asked;			/* a process does step 2 for all */
	uint64 matches;					/* of all processes; written before the arrive of step 2 */
	bool reduced;					/* the matches were reduced to groups; likewise */
	bool streamed;					/* the matches are fetched while they are returned; likewise */
	pg_atomic_uint64 fetched;		/* matches fetched by all, added before their next arrive or
									 * before streaming decreases */
	pg_atomic_uint32 streaming;		/* processes that still stream matches */
} HgDeviceAttempt;

/* The state that the processes share, in their shared memory. */
struct HgDeviceParticipantsShared
{
	int device_no;				 /* of the device that has the job */
	uint64 job;					 /* HgJobSpec.participants_id; 0: no device is used */
	uint64 upload_job;			 /* id of the uploads' job; 0: there are no uploads */
	uint64 pages_job;			 /* id of the job that gets pages (hg_page_job.h) */
	HgJobColumns upload_columns; /* of the uploads' job */
	HgEngineCosts costs;		 /* as the leader read them, so that all processes choose the
								  * same */
	bool costs_known;
	pg_atomic_uint64 rows[2];	 /* by HgSide, of all processes; added before they build */
	pg_atomic_uint32 unfinished; /* some upload had not finished when all rows were read */
	HgDeviceAttempt attempts[HG_TRIES];
	pg_atomic_uint32 counted; /* a process has taken the number of matches */
};

/* One process's state. */
typedef struct HgDeviceParticipants
{
	HgDeviceParticipantsShared *shared;
	HgMatchTask *task;
	const HgReduction *reduction; /* whose columns the job has or will have; or NULL */
	HgGather *gather;			  /* columns whose values come with the matches */
	HgDeviceAttempt *attempt;	  /* the current attempt */
	HgError failure;			  /* why it has failed */
	bool had_job;				  /* this process has had a part in a job */
	HgEngine calls;				  /* copy of the job's engine, which may go with its connection */
	HgJob *job;					  /* NULL if closed or not opened */
	HgJobStats stats;			  /* of the job when it was closed */
	HgGroupSet groups;			  /* groups that this process has got */
	uint64 uploaded_rows;		  /* rows that this process's upload sent while it read */

	HgMatchList fetched; /* matches of this process; if streamed, the last block */
} HgDeviceParticipants;

/*
 * For the leader, before other processes see *shared: prepares it for an execution. It gets a
 * device if hashgraph.backend allows one, there is one, and possible is true: matches from a
 * device would be acceptable.
 */
extern void hg_device_participants_init(HgDeviceParticipantsShared *shared, bool possible);

/*
 * For the leader, after that: what the processes will send before they have read all rows. That is
 * pages, or uploads for a job with upload_columns, or neither (NULL).
 */
extern void hg_device_participants_init_early(HgDeviceParticipantsShared *shared, bool pages,
											  const HgJobColumns *upload_columns);

/*
 * Called once this process has read its rows: finishes its upload (hg_upload_finish) if the
 * upload's job was admitted, and otherwise records that an upload has not finished.
 */
extern void hg_device_participants_finish_upload(HgDeviceParticipantsShared *shared,
												 HgUpload *upload, const HgKeySet sides[2]);

/*
 * Does all steps; *device was zeroed. The task has this process's keys and, in its spec, its upload
 * if there is one. It, reduction, gather and the shared state must last until close. The job
 * gets the columns of reduction, or those of gather, which loses them if there is no room; either
 * may have none. job_spec has the expected rows of all and no participants_id. All waits except for
 * a greeting are limited by the task's host. Returns true if all processes have joined on the
 * device. Returns false if none has: *error says why, and task->participants.participants.arrived
 * is as if they had not tried. Throws an interrupt's error.
 */
extern bool hg_device_participants_join(HgDeviceParticipants *device, HgMatchTask *task,
										const HgReduction *reduction, HgGather *gather,
										const HgJobSpec *job_spec, HgError *error);

/* Returns the matches of all processes to the first process that calls it; 0 to the others. */
extern uint64 hg_device_participants_take_count(HgDeviceParticipants *device);

/*
 * Sets *block to the next block of this process's matches, NULL at the end. If they are streamed,
 * the block replaces the last one, and the call may wait or fail; otherwise it returns HG_OK.
 */
extern HgStatus hg_device_participants_next(HgDeviceParticipants *device,
											const HgMatchBlock **block, HgError *error);

/* Sets *stats to the job's statistics: as of now, or as of its end if it was closed. */
extern void hg_device_participants_stats(HgDeviceParticipants *device, HgJobStats *stats);

/* Closes the job if it is open; works in any state. */
extern void hg_device_participants_close(HgDeviceParticipants *device);

#endif /* HG_DEVICE_PARTICIPANTS_H */
