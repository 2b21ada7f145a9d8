/*-------------------------------------------------------------------------
 *
 * hg_participants.h
 *	  Implements the engine's participants of a shared job with a barrier and a DSA area.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PARTICIPANTS_H
#define HG_PARTICIPANTS_H

#include "backend/hg_host.h"
#include "engine/wire/hg_wire_client.h"
#include "storage/barrier.h"
#include "utils/dsa.h"

typedef struct HgDeviceParticipantsShared HgDeviceParticipantsShared; /* hg_device_participants.h */

/* What the participants of a join have in common. */
typedef struct HgParticipantsSpec
{
	HgParticipantsState *state; /* in shared memory; zeros before the first begins */
	Barrier *barrier;			/* this process is attached to it */
	dsa_area *area;
	uint32 arrived;	 /* the engine's arrives that were over when it attached */
	bool whole_bins; /* all outer rows of an inner row go to one process */
	bool spread;	 /* each process returns its part of the matches, whichever process read the
					  * rows */

	/*
	 * For covered rows (HgMatcherSpec). next_part is the next part of the join of both sides'
	 * covered rows, which one process takes. no_delta: no process has delta keys of one of the
	 * sides, so nothing is built together.
	 */
	pg_atomic_uint32 *next_part;
	bool at_once; /* the first process takes all parts and has a device count the pairs */
	bool no_delta;

	HgDeviceParticipantsShared *device; /* state of the join on a device, which is tried first;
										 * in shared memory */

	/* Returns the numbers of the rows of a side, once all processes' rows are there. */
	const HgRowNumbers *(*numbers)(void *arg, HgSide side);
	void *arg;

	int processes;		/* the most processes there may be, the same for all */
	uint64 match_bytes; /* memory for stored matches, of all processes */
} HgParticipantsSpec;

/* One participant's state. */
typedef struct HgPgParticipants
{
	HgParticipants participants; /* what the engine sees */
	HgParticipantsSpec spec;
	HgPgHost *host; /* keeps errors that must not unwind through the engine */
} HgPgParticipants;

/* Initializes this process's participant; the caller keeps host and the objects of spec. */
extern void hg_participants_init(HgPgParticipants *participants, const HgParticipantsSpec *spec,
								 HgPgHost *host);

/* Frees the shared memory of a job that all participants have closed; resets its state. */
extern void hg_participants_reset(HgParticipantsState *state, dsa_area *area);

#endif /* HG_PARTICIPANTS_H */
