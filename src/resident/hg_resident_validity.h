/*-------------------------------------------------------------------------
 *
 * hg_resident_validity.h
 *	  Which blocks of which segment versions are valid for a snapshot.
 *
 * Nothing else determines that.  It is determined once for a scan, and holds as long as the
 * snapshot is registered: rescans and cursors use it as it is.  Each process of a parallel query
 * does so for itself, or takes over the result of another one.
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

typedef struct HgValidSegment
{
	dsa_pointer pointer;
	const HgSegmentVersion *version;
	const HgBlockBits *blocks; /* the segment's valid blocks */
} HgValidSegment;

/* The valid blocks of a scan, pinned. */
typedef struct HgValidBlocks
{
	HgCleanup cleanup;
	int nsegments;
	BlockNumber nblocks;							/* number of valid blocks of all segments */
	HgValidSegment segments[FLEXIBLE_ARRAY_MEMBER]; /* ascending */
} HgValidBlocks;

/* The same in memory that processes share, not pinned by it. */
typedef struct HgValidCopy
{
	dsa_pointer version;
	HgBlockBits blocks;
} HgValidCopy;

/* Tells whether a table may be resident at all: HG_REASON_NONE if so. */
extern HgResidentReason hg_validity_may_take_in(Relation rel);

/*
 * True if blocks may be valid for a scan of the relation under a snapshot.  Otherwise *why_not
 * says why not, in words.  Not for the rechecks of EvalPlanQual, which the caller knows of.
 */
extern bool hg_validity_may_use(Relation rel, Snapshot snapshot, const char **why_not);

/*
 * Finds those of a table's first nblocks blocks that are valid in all of these columns.  NULL:
 * none is.  The snapshot is registered, the relation locked, and hg_validity_may_use says yes.
 *
 * The result lies in CurrentMemoryContext, where nothing frees it by itself, and pins what it names
 * until hg_validity_release, the reset of the context or the end of CurrentResourceOwner, whichever
 * comes first.
 */
extern HgValidBlocks *hg_validity_find(Relation rel, Snapshot snapshot, BlockNumber nblocks,
									   const HgResidentColumn *columns, int ncolumns);

/*
 * Pins the valid blocks that another process of the query has pinned, and does not let go of
 * meanwhile.  The copies stay in place as long as it is used.
 */
extern HgValidBlocks *hg_validity_share(const HgValidCopy *copies, int ncopies);
extern void hg_validity_release(HgValidBlocks *valid);

#endif /* HG_RESIDENT_VALIDITY_H */
