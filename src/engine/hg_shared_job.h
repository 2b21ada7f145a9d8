/*-------------------------------------------------------------------------
 *
 * hg_shared_job.h
 *	  Shared jobs: what their participants lend to the engine.
 *
 * Several processes, or threads, can work on one job together, as its participants.  Each
 * participant opens a job of its own, makes it part of the shared job with share, and appends the
 * rows that it has read, with numbers that no other participant uses.  All then call build, which
 * waits until all have come; then each gets from next or count the matches of the part of the work
 * that it took.  Together these are all matches, each once.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SHARED_JOB_H
#define HG_SHARED_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

	/*
	 * What the participants of a shared job have in common, in memory that all of
	 * them see, where it may lie at different addresses: no pointers.  Whoever makes
	 * it fills it with zeros; nobody but the engine looks into it.
	 */
	typedef struct HgParticipantsState
	{
		uint64_t rows[2];	 /* of all participants, by HgSide */
		uint64_t runs[2];	 /* the chunk published last: chunks are chained */
		uint64_t bounds[2];	 /* of inner keys that may be vertices ... */
		uint64_t room;		 /* ... and what each table of them may take, inverted */
		uint64_t work;		 /* where the work stands that is still to be taken */
		uint32_t failure[2]; /* a status, 0 if none, before each arrive */
	} HgParticipantsState;

	/* No chunk of shared memory is asked for that is bigger. */
#define HG_SHARED_JOB_CHUNK_BYTES (UINT64_C(8) << 20)

	/* How often the participants wait for each other: all of it in build. */
#define HG_SHARED_JOB_ARRIVES 2

	/*
	 * What a participant lends to its job.  The callbacks get arg; none may unwind.
	 * The struct and state must stay until close.
	 *
	 * A participant that has called share owes its arrives to the others: it calls
	 * build even if it has no rows, or if its append has failed, and build fails in
	 * all of them when it does in one before the last arrive.  Whoever leaves without build must be
	 * struck off by the means that arrive waits with.  After build nobody waits.
	 */
	typedef struct HgParticipants
	{
		HgParticipantsState *state;

		/*
		 * The arrives that were completed when this participant attached, that is, from which one
		 * on arrive counts it.  It brings no rows unless that is 0, and from HG_SHARED_JOB_ARRIVES
		 * on its build waits for nobody.
		 */
		uint32_t arrived;

		/*
		 * All outer rows that may match an inner row go to one participant, so that it
		 * knows which inner rows have no match.  Without, the rows of a key that is
		 * frequent are shared out.
		 */
		bool whole_bins;

		/*
		 * 0, or how many participants there may be where what follows a match may take much longer
		 * than finding it: then no participant is to return the matches of many more outer
		 * rows than another because it has appended them, or has taken a unit.
		 */
		uint32_t spread;

		/*
		 * The handle of new shared memory, at most HG_SHARED_JOB_CHUNK_BYTES, aligned to 8 at
		 * least; 0 where there is none.
		 */
		uint64_t (*alloc)(void *arg, size_t bytes);

		/* Where it lies in this process until close or free; NULL on failure. */
		void *(*address)(void *arg, uint64_t handle);

		void (*free)(void *arg, uint64_t handle);

		/*
		 * Wait until all participants that have joined and not left have called this
		 * as often.  It returns false when the wait was cancelled: the participant has
		 * left then, does not call this again, and nobody waits for it.  What a
		 * participant wrote before is seen by all afterwards.
		 */
		bool (*arrive)(void *arg);

		void *arg;
	} HgParticipants;

#ifdef __cplusplus
}
#endif

#endif /* HG_SHARED_JOB_H */
