/*-------------------------------------------------------------------------
 *
 * hg_matcher_internal.h
 *	  The parts of a matcher: its life and its stream, its backend, its job.
 *
 *	hg_matcher.c		what the callers see: create, stream, count, reduce, falling back
 *	hg_matcher_choose.c	the backend that the join is for, and how long a device may take
 *	hg_matcher_job.c	the job of that backend: open, keys and columns, build
 *
 * What the matches of a device leave for the CPU to do when it takes over is hg_delivered.h's.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCHER_INTERNAL_H
#define HG_MATCHER_INTERNAL_H

#include "backend/hg_cleanup.h"
#include "backend/matcher/hg_delivered.h"
#include "backend/matcher/hg_device_team.h"
#include "backend/hg_host.h"
#include "backend/matcher/hg_matcher.h"
#include "backend/matcher/hg_sender.h"

struct HgMatcher
{
	MemoryContext context;
	HgCleanup cleanup;
	HgPgHost host;
	HgPgTeam team;		 /* where spec has one */
	HgDeviceTeam device; /* and what it does on a device */

	HgMatcherSpec spec;
	HgKeySet sides[2];
	bool on_cpu;
	bool may_fall_back; /* hashgraph.backend was auto when the matcher was made */
	HgEngine *engine;	/* that the job belongs to */
	HgJob *job;			/* NULL once closed */
	bool reducing;		/* the job has the columns of spec.reduction, or will have them ... */
	HgGather gather;	/* ... or some of spec.columns */
	HgMatcherReport report;
	bool streaming; /* match() was called for the current stream */

	uint64 fetched; /* matches of the team's device that this process has returned */

	HgMatchBlock *block; /* that chunks come in; NULL before the first */
	uint32 *outer;		 /* its arrays */
	uint32 *inner;

	HgDelivered delivered; /* of a device, where the CPU may take over */
};

/* Could the CPU take over from the device that the matches come from? */
static inline bool
hg_matcher_has_way_back(const HgMatcher *matcher)
{
	return matcher->may_fall_back && !matcher->on_cpu;
}

/* From now on matches come from this engine; the job is not opened, and without columns so far. */
extern void hg_matcher_set_engine(HgMatcher *matcher, HgEngine *engine);

/* Choose the engine, as hashgraph.backend says, and the columns of its job. */
extern void hg_matcher_choose(HgMatcher *matcher);

/*
 * Join on a device with the other processes of the team.  False: the CPU is to do it, in all of
 * them.
 */
extern bool hg_matcher_join_on_device(HgMatcher *matcher);

/* How long this join may wait for a device, in milliseconds, unless it wants that and no other. */
extern double hg_matcher_patience(const HgMatcher *matcher);

/* So many matches have come, which the CPU would have taken time for: allow that much more. */
extern void hg_matcher_extend_patience(HgMatcher *matcher, uint64 pairs);

/* What is asked of the matcher's own job, but for the rows: with or without columns. */
extern void hg_matcher_fill_spec(const HgMatcher *matcher, HgJobSpec *spec);

/*
 * Open a job on the engine chosen and build it: with its columns if there is room for them.  On any
 * status but HG_OK the job may be open.
 */
extern HgStatus hg_matcher_build(HgMatcher *matcher, HgError *error);

/* Begin again, with a job that has no columns: the device has no room for them. */
extern HgStatus hg_matcher_build_keys_alone(HgMatcher *matcher, HgError *error);

#endif /* HG_MATCHER_INTERNAL_H */
