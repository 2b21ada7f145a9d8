/*-------------------------------------------------------------------------
 *
 * hg_sender.h
 *	  Give a device the keys of a join while its sides are still being read.
 *
 * A sender has a job on the device from the moment that its process begins to read, and hands keys
 * over to it whenever there is room for some, without ever waiting.  The keys stay where they
 * are: whatever goes wrong with that job, it is closed, and the join goes on as if there had been
 * none.
 *
 * What a device holds for a join whose sides are still being read is lost to others.  So that it
 * never takes long, a sender is for sides which are read in one go, without a query or a function
 * of the user's in between (the caller sees to that), and expected to be read in seconds; one
 * that has been at it for longer closes its job.
 *
 * What a sender holds is freed by hg_sender_destroy, by the reset of the memory context that it was
 * created in, or by the release of the resource owner that was current then, whichever
 * comes first.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SENDER_H
#define HG_SENDER_H

#include "backend/matcher/hg_matcher_spec.h"

typedef struct HgSenderSpec
{
	uint32 key_width;
	uint64 expected_rows[2]; /* by HgSide, of all processes */
	double pairs;			 /* matches that are expected to be streamed, of all processes ... */
	uint64 match_bytes;		 /* ... which keep them in so much memory, where they are several */
	double scan_cost;		 /* the planner's, of reading both sides in one process */
	bool streams;			 /* the CPU could join outer rows as they come instead */

	/*
	 * NULL, or what the matches may be reduced to: its columns are in the job, and sent when all
	 * rows are there.  It stays in place until the sender is destroyed.
	 */
	const HgReduction *reduction;

	/*
	 * By HgSide: NULL, or columns that come with the matches (HgMatcherSpec), which are sent at the
	 * same time; for hg_sender_is_wanted those that it may choose.
	 */
	const HgColumnSet *columns[2];
	int processes;			/* that the CPU's work would be shared by */
	uint64 participants_id; /* HgJobSpec.participants_id; 0: the job is this process's alone */
	int device_no; /* of the device that has the shared job; without participants_id it is ignored
					*/
} HgSenderSpec;

/*
 * Returns true if estimates say that a sender saves time and keeps no other session waiting.
 * *columns becomes those of the columns of spec that it sends.
 */
extern bool hg_sender_is_wanted(const HgSenderSpec *spec, HgJobColumns *columns);

/* Begin, in CurrentMemoryContext, without waiting for the device. */
extern HgSender *hg_sender_create(const HgSenderSpec *spec);

/*
 * Hand over keys of a side that are new since the last time, as many as there is room for now.
 * The pieces before the last one must not have changed.  It never waits, and fails in silence.
 */
extern void hg_sender_send(HgSender *sender, HgSide side, const HgKeySet *keys);

/* True if the device has admitted the job, as far as is known here, and has not failed. */
extern bool hg_sender_is_admitted(const HgSender *sender);

/* The place of the device that has its job, admitted or not; -1: it has no job. */
extern int hg_sender_device_no(const HgSender *sender);

/* True if its job has the columns of a reduction. */
extern bool hg_sender_reduces(const HgSender *sender);

/* The columns of a side that come with the matches of its job, or NULL. */
extern const HgColumnSet *hg_sender_columns(const HgSender *sender, HgSide side);

/*
 * All keys are there now: hand over the rest, and the columns, and wait, by means of host, until
 * the device has them.  On HG_OK nothing more can be sent.  On any other status *error says why,
 * and there is no job any more.
 */
extern HgStatus hg_sender_finish(HgSender *sender, HgPgHost *host, const HgKeySet sides[2],
								 HgError *error);

/* True if it has not asked for a job so far. */
extern bool hg_sender_is_unused(const HgSender *sender);

/* The job of a finished sender, which is the caller's from now on, with another host. */
extern HgJob *hg_sender_take(HgSender *sender, const HgHost *host);

/*
 * The same, as a job of an engine that cuts jobs into ranges (hg_ranges.h), which has yet to be
 * told of its keys.  Where this fails it is closed.
 */
extern HgStatus hg_sender_hand_over(HgSender *sender, HgEngine *ranges, const HgHost *host,
									const HgJobSpec *spec, HgJob **job, HgError *error);

/* Close the job, if it is there and not taken: nothing is to be sent any more. */
extern void hg_sender_give_up(HgSender *sender);

/* Keys of both sides that were handed over before the sender was told that it had all. */
extern uint64 hg_sender_sent_rows(const HgSender *sender);

/* Close the job, unless it was taken, and free the sender. */
extern void hg_sender_destroy(HgSender *sender);

#endif /* HG_SENDER_H */
