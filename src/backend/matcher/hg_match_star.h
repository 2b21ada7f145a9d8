/*-------------------------------------------------------------------------
 *
 * hg_match_star.h
 *	  Rows of several tables that a device joins at once, as it has graph replicas of all of them.
 *
 * Two tables are the sides of a job, and what else is joined is looked up by rows of these on the
 * way (engine/hg_replica.h).  Nobody but a device does that: where it has no answer the caller
 * joins the tables two by two.
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
	bool given;				   /* what was asked for is here, else the report tells why not: */
	HgDeviceSet missed;		   /* of the device that had not all of it any more, ... */
	HgMissingReplicas missing; /* ... but for this; */
	bool ambiguous;			   /* a row would have found more than one */
	uint64 pairs;			   /* the number of joined rows */
	HgGroupSet groups;		   /* and where they were to be reduced, what to */
	HgMatcherReport report;	   /* backend "cuda" where it is given */
} HgStarAnswer;

/*
 * Asks for the number of joined rows, or for groups of them where spec has a reduction.  Of spec,
 * the fields covered, kept, reduction, pairs and the progress matter; replica is that of both
 * sides.  The answer lies in CurrentMemoryContext.  It may ereport, and nothing is left open then.
 */
extern void hg_match_star_ask(const HgMatcherSpec *spec, HgStarAnswer *answer);

#endif /* HG_MATCH_STAR_H */
