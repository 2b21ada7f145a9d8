/*-------------------------------------------------------------------------
 *
 * hg_participants.h
 *	  What PostgreSQL lends to the participants of a shared job: a barrier and a DSA.
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

/* What the processes that join together have in common. */
typedef struct HgParticipantsSpec
{
	HgParticipantsState *state; /* in shared memory; zeros before the first of them begins */
	Barrier *barrier;			/* this process is attached to it */
	dsa_area *area;
	uint32 arrived;	 /* arrives of the engine that were over when it attached */
	bool whole_bins; /* all outer rows of an inner row go to one process */
	bool spread;	 /* each process is to return its part of the matches, whoever read the rows */

	/*
	 * Where rows are covered (HgMatcherSpec): the next part of the join of two sides' covered
	 * rows, which one of the processes takes.  no_delta is true if no process has delta keys of
	 * one of the sides, so that no process builds anything with the others.
	 */
	pg_atomic_uint32 *next_part;
	bool at_once; /* ... or all of it is the first one's, who has a device count the pairs */
	bool no_delta;

	HgDeviceParticipantsShared *device; /* what they do first, in shared memory */

	/* which numbers rows of a side have: asked for when those of all processes are there */
	const HgRowNumbers *(*numbers)(void *arg, HgSide side);
	void *arg;

	int processes;		/* that there may be, the same for all */
	uint64 match_bytes; /* that the matches may take where they are kept; for all */
} HgParticipantsSpec;

/* A participant's part of it. */
typedef struct HgPgParticipants
{
	HgParticipants participants; /* what the engine sees */
	HgParticipantsSpec spec;
	HgPgHost *host; /* keeps the errors that must not unwind through the engine */
} HgPgParticipants;

extern void hg_participants_init(HgPgParticipants *participants, const HgParticipantsSpec *spec,
								 HgPgHost *host);

/*
 * Free the shared memory of a job that all have closed, and make its state ready for
 * another one.
 */
extern void hg_participants_reset(HgParticipantsState *state, dsa_area *area);

#endif /* HG_PARTICIPANTS_H */
