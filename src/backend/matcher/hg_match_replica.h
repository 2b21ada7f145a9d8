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
	bool given;		   /* there is an answer; if not, this process must find the pairs */
	HgStatus status;   /* the reason if there is no answer */
	uint64 pairs;	   /* number of pairs */
	HgGroupSet groups; /* the groups, if they were asked for */
	HgJobStats stats;  /* of the job */
} HgReplicaAnswer;

/* Returns true if a device may be asked for the number of pairs of covered rows. */
extern bool hg_match_replica_may_count(const HgMatcherSpec *spec);
/* Returns true if a device may be asked for groups of these pairs. */
extern bool hg_match_replica_may_reduce(const HgMatcherSpec *spec);

/*
 * Asks a device. reduction is NULL to ask only for the number. Returns HG_OK with or without an
 * answer, or HG_CANCELLED. If it ereports, a job may stay open until hg_match_replica_close.
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

/* Creates the source of a task in which a side has, or had, covered rows. */
extern HgMatchSource *hg_match_resident_create(HgMatchTask *task);

#endif /* HG_MATCH_REPLICA_H */
