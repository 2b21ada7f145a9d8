/*-------------------------------------------------------------------------
 *
 * hg_match_replica.h
 *	  Asks devices about pairs of covered rows whose indexes they have replicas of.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_REPLICA_H
#define HG_MATCH_REPLICA_H

#include "backend/matcher/hg_match_source.h"

/* A device's answer about the pairs of covered rows of both sides. */
typedef struct HgReplicaAnswer
{
	HgEngine *engine;  /* of the job */
	HgJob *job;		   /* the job that is asked; NULL: none is open */
	bool given;		   /* there is an answer; if not, this process must find the pairs */
	HgStatus status;   /* the reason if there is no answer */
	uint64 pairs;	   /* number of pairs */
	HgGroupSet groups; /* the groups, if they were asked for */
	HgJobStats stats;  /* of the job */
} HgReplicaAnswer;

/* Return true if a device may be asked for the number, or the groups, of pairs of covered rows. */
extern bool hg_match_replica_may_count(const HgMatcherSpec *spec);
extern bool hg_match_replica_may_reduce(const HgMatcherSpec *spec);

/*
 * Asks a device. reduction is NULL to ask only for the number. Returns HG_OK with or without an
 * answer, or HG_CANCELLED. If it ereports, a job may stay open until hg_match_replica_close.
 */
extern HgStatus hg_match_replica_ask(HgMatchTask *task, const HgReduction *reduction,
									 HgReplicaAnswer *answer, HgError *error);

/* Closes the job of an answer if one is open. */
extern void hg_match_replica_close(HgReplicaAnswer *answer);

#endif /* HG_MATCH_REPLICA_H */
