/*-------------------------------------------------------------------------
 *
 * hg_match_replica.h
 *	  Covered rows of which a device keeps the HashGraphs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_REPLICA_H
#define HG_MATCH_REPLICA_H

#include "backend/matcher/hg_match_source.h"

/* A device's answer about the pairs of both sides' covered rows. */
typedef struct HgReplicaAnswer
{
	HgEngine *engine;  /* of the job below */
	HgJob *job;		   /* that is asked; NULL: none is open */
	bool given;		   /* else they are to be found here, and the task's report tells why ... */
	HgStatus status;   /* ... as this does */
	uint64 pairs;	   /* how many there are */
	HgGroupSet groups; /* and where they were to be reduced, what to */
	HgJobStats stats;  /* of its job */
} HgReplicaAnswer;

/*
 * True if a device may be asked for the number of pairs of both sides' covered rows, or for their
 * groups.
 */
extern bool hg_match_replica_may_count(const HgMatcherSpec *spec);
extern bool hg_match_replica_may_reduce(const HgMatcherSpec *spec);

/*
 * Ask it; reduction is NULL for their number alone.  Returns HG_OK, whether there is an answer or
 * not, or HG_CANCELLED. Where it ereports a job may be left open, which hg_match_replica_close
 * closes.
 */
extern HgStatus hg_match_replica_ask(HgMatchTask *task, const HgReduction *reduction,
									 HgReplicaAnswer *answer, HgError *error);

extern void hg_match_replica_close(HgReplicaAnswer *answer);

#endif /* HG_MATCH_REPLICA_H */
