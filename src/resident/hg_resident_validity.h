/*-------------------------------------------------------------------------
 *
 * hg_resident_validity.h
 *	  Which blocks of which segment versions a snapshot may be served.
 *
 * Nothing else decides that.  The decision is made once for a scan, and holds as long as the
 * snapshot is registered: rescans and cursors use it as it is.  Each process of a parallel query
 * makes it for itself, or takes over what another one has made.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_VALIDITY_H
#define HG_RESIDENT_VALIDITY_H

#include "hg_compat.h"

#include "utils/snapshot.h"

#include "resident/hg_resident_directory.h"

typedef struct HgServedSegment
{
	dsa_pointer pointer;
	const HgSegmentVersion *version;
	const HgBlockBits *blocks; /* of the segment, that are served */
} HgServedSegment;

/* What a scan is served, pinned. */
typedef struct HgServed
{
	HgCleanup cleanup;
	int nsegments;
	BlockNumber nblocks;							 /* that are served, of all segments */
	HgServedSegment segments[FLEXIBLE_ARRAY_MEMBER]; /* ascending */
} HgServed;

/* The same in memory that processes share, not pinned by it. */
typedef struct HgServedCopy
{
	dsa_pointer version;
	HgBlockBits blocks;
} HgServedCopy;

/* May a table be resident at all?  HG_REASON_NONE if so. */
extern HgResidentReason hg_validity_may_take_in(Relation rel);

/*
 * May what a scan of the relation under a snapshot reads be served?  Else *why_not says why not, in
 * words.  Not for the rechecks of EvalPlanQual, which the caller knows of.
 */
extern bool hg_validity_may_serve(Relation rel, Snapshot snapshot, const char **why_not);

/*
 * What may be served of a table's first nblocks blocks in all of these columns.  NULL: nothing.
 * The snapshot is registered, the relation locked, and hg_validity_may_serve says yes.
 *
 * The result lies in CurrentMemoryContext, where nothing frees it by itself, and pins what it names
 * until hg_validity_release, the reset of the context or the end of CurrentResourceOwner, whichever
 * comes first.
 */
extern HgServed *hg_validity_serve(Relation rel, Snapshot snapshot, BlockNumber nblocks,
								   const HgResidentColumn *columns, int ncolumns);

/*
 * The same of what another process of the query is served, which does not let go of it meanwhile.
 * The copies stay in place as long as it is used.
 */
extern HgServed *hg_validity_serve_too(const HgServedCopy *copies, int ncopies);
extern void hg_validity_release(HgServed *served);

#endif /* HG_RESIDENT_VALIDITY_H */
