/*-------------------------------------------------------------------------
 *
 * hg_match_star.h
 *	  A multi-way join on a device that has graph replicas of all tables.
 *
 * Two tables are the sides of a job; their rows look up the other tables (engine/hg_replica.h).
 * Only a device does that. Without an answer the caller joins the tables two by two.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_STAR_H
#define HG_MATCH_STAR_H

#include "backend/hg_report.h"
#include "backend/matcher/hg_matcher_spec.h"

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

#endif /* HG_MATCH_STAR_H */
