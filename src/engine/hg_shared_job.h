/*-------------------------------------------------------------------------
 *
 * hg_shared_job.h
 *	  Shared jobs: what their participants provide to the engine.
 *
 * Several processes or threads can work on one job together, as its participants.  Each
 * participant opens a job of its own and makes it part of the shared job with share.  It then
 * appends the rows that it has read, with numbers that no other participant uses.  All call build,
 * which waits until all have called it.  Then next or count returns to each participant the
 * matches of the part of the work that it took.  All participants together get each match once.
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
	 * Shared state of a job, in memory that all participants see, possibly at different addresses:
	 * it has no pointers.  The creator fills it with zeros; only the engine accesses it.
	 */
	typedef struct HgParticipantsState
	{
		uint64_t rows[2];	 /* of all participants, by HgSide */
		uint64_t runs[2];	 /* the last published chunk of each chain of chunks */
		uint64_t bounds[2];	 /* least and greatest inner key, for keys as vertices */
		uint64_t room;		 /* least room for a direct table of any participant, inverted */
		uint64_t work;		 /* position of the work that is still to be taken */
		uint32_t failure[2]; /* before each arrive: a status, 0 if no failure */
	} HgParticipantsState;

	/* Maximum bytes of a chunk of shared memory. */
#define HG_SHARED_JOB_CHUNK_BYTES (UINT64_C(8) << 20)

	/* Number of times that the participants wait for each other, all of them in build. */
#define HG_SHARED_JOB_ARRIVES 2

	/*
	 * What a participant provides to its job.  The callbacks get arg; none may unwind.  The struct
	 * and state must stay in place until close.
	 *
	 * A participant that has called share must arrive: it calls build even if it has no rows, or
	 * if its append has failed.  If build fails in one participant before the last arrive, it
	 * fails in all of them.  A participant that leaves without build must be removed by the
	 * mechanism behind arrive.  After build no participant waits.
	 */
	typedef struct HgParticipants
	{
		HgParticipantsState *state;

		/*
		 * Number of arrives that were completed when this participant attached.  It appends rows
		 * only if this is 0.  From HG_SHARED_JOB_ARRIVES on its build does not wait.
		 */
		uint32_t arrived;

		/*
		 * True: all outer rows that may match an inner row go to one participant, so that it knows
		 * which inner rows have no match.  False: the rows of a frequent key are shared out.
		 */
		bool whole_bins;

		/*
		 * 0, or the number of participants, if processing a match may take much longer than
		 * finding it.  Then no participant returns the matches of many more outer rows than
		 * another because it has appended them or taken a unit.
		 */
		uint32_t spread;

		/* Returns a handle of new shared memory, aligned to at least 8; 0 on failure. */
		uint64_t (*alloc)(void *arg, size_t bytes);

		/* Returns its address in this process, valid until close or free; NULL on failure. */
		void *(*address)(void *arg, uint64_t handle);

		/* Frees shared memory of alloc. */
		void (*free)(void *arg, uint64_t handle);

		/*
		 * Waits until all participants that have joined and not left have called this as often.
		 * Returns false if the wait was cancelled: the participant has then left, does not call
		 * this again, and no participant waits for it.  Afterwards all participants see what each
		 * wrote before.
		 */
		bool (*arrive)(void *arg);

		void *arg;
	} HgParticipants;

#ifdef __cplusplus
}
#endif

#endif /* HG_SHARED_JOB_H */
