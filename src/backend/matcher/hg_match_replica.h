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

#include "backend/hg_stats.h"
#include "backend/matcher/hg_match_source.h"
#include "backend/matcher/hg_matcher_spec.h"

/* A device's answer about the pairs of covered rows of both sides. */
typedef struct HgReplicaAnswer
{
	HgEngine *engine;  /* of the job */
	HgJob *job;		   /* the job that is asked; NULL: none is open */
	bool given;		   /* there is an answer; if not, the caller must find the pairs */
	HgStatus status;   /* the reason if there is no answer */
	uint64 pairs;	   /* number of pairs */
	HgGroupSet groups; /* the groups, if they were asked for */
	HgJobStats stats;  /* of the job */
} HgReplicaAnswer;

/* Returns true if spec names replicas of both sides, so that a device may count the pairs. */
extern bool hg_match_replica_may_count(const HgMatcherSpec *spec);
/* Returns true if spec also has a reduction, and both replicas have its columns. */
extern bool hg_match_replica_may_reduce(const HgMatcherSpec *spec);

/*
 * Asks one of the devices of task->spec.replica_at, or all of them if they have partitions, and
 * waits for *answer. reduction is NULL to ask only for the number of pairs; otherwise the groups
 * are in the task's context. Returns HG_OK with or without an answer, or HG_CANCELLED. Under
 * backend cuda a failed device raises an error. After an error a job may stay open until
 * hg_match_replica_close.
 */
extern HgStatus hg_match_replica_ask(HgMatchTask *task, const HgReduction *reduction,
									 HgReplicaAnswer *answer, HgError *error);

/* Closes the job of an answer if one is open. */
extern void hg_match_replica_close(HgReplicaAnswer *answer);

/*
 * A multi-way join on a device that has graph replicas of all tables.
 *
 * Two tables are the sides of a job; their rows look up the other tables (engine/hg_replica.h).
 * Only a device does that. Without an answer the caller joins the tables two by two.
 */

typedef struct HgStarAnswer
{
	bool given;				   /* there is an answer; else the report says why not */
	HgDeviceSet missing_on;	   /* the device that no longer had all replicas */
	HgMissingReplicas missing; /* the replicas missing there */
	bool ambiguous;			   /* a lookup would have found more than one row */
	uint64 pairs;			   /* number of joined rows */
	HgGroupSet groups;		   /* if spec has a reduction; in CurrentMemoryContext */
	HgMatcherReport report;	   /* its backend is "cuda" if given */
} HgStarAnswer;

/*
 * Asks a device for the number of joined rows, or for groups if spec has a reduction. Of spec only
 * covered, replica (of both sides), reduction, pairs and progress matter. Stores the answer in
 * CurrentMemoryContext. If it ereports, nothing stays open.
 */
extern void hg_match_star_ask(const HgMatcherSpec *spec, HgStarAnswer *answer);

/*
 * Creates the match source (hg_match_source.h) of a task with a spec.first_row above 0: a side has
 * covered rows, which this matcher or another one joins.
 */
extern HgMatchSource *hg_match_resident_create(HgMatchTask *task);

#endif /* HG_MATCH_REPLICA_H */
