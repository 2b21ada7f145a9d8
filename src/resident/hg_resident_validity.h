/*-------------------------------------------------------------------------
 *
 * hg_resident_validity.h
 *	  Determines which blocks of which segment versions are valid for a snapshot.
 *
 * A block is valid if its rows in a segment version (hg_resident_version.h) are those that the
 * snapshot sees.  That is determined once for a scan, and holds as long as the snapshot is
 * registered, through rescans and cursors.  No other file determines it.  Each process of a
 * parallel query determines it itself, or shares the result of another one.
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
	const HgBlockBits *blocks; /* bitmap of the segment's valid blocks */
} HgValidSegment;

/* The valid blocks of a scan, whose versions are pinned. */
typedef struct HgValidBlocks
{
	HgCleanup cleanup;
	int nsegments;
	BlockNumber nblocks;							/* number of valid blocks in all segments */
	HgValidSegment segments[FLEXIBLE_ARRAY_MEMBER]; /* in ascending order */
} HgValidBlocks;

/* A segment's valid blocks in memory that processes share; not pinned by it. */
typedef struct HgValidCopy
{
	dsa_pointer version;
	HgBlockBits blocks;
} HgValidCopy;

/* Returns HG_REASON_NONE if a table may be cached at all, or else why it may not. */
extern HgResidentReason hg_validity_may_take_in(Relation rel);

/*
 * Returns true if blocks may be valid for a scan of the relation under a snapshot.  Otherwise
 * *why_not says why not, for users.  The caller itself excludes rechecks of EvalPlanQual.
 */
extern bool hg_validity_may_use(Relation rel, Snapshot snapshot, const char **why_not);

/*
 * Finds the valid blocks among a table's first nblocks blocks that have all of these columns.
 * Returns NULL if there are none.  The snapshot must be registered, the relation locked, and
 * hg_validity_may_use() true.  Columns that a segment lacks are noted as missed.  While
 * hg_resident_memory_is_idle(), only versions that are pinned already are used.
 *
 * The result lies in CurrentMemoryContext.  It pins the versions until hg_validity_release(), the
 * reset of the context or the end of CurrentResourceOwner, whichever comes first.
 */
extern HgValidBlocks *hg_validity_find(Relation rel, Snapshot snapshot, BlockNumber nblocks,
									   const HgResidentColumn *columns, int ncolumns);

/*
 * Pins valid blocks that another process of the query has found, and keeps pinned meanwhile.  The
 * result is as that of hg_validity_find().  The copies must stay in place while it is used.
 */
extern HgValidBlocks *hg_validity_share(const HgValidCopy *copies, int ncopies);
/* Unpins the versions.  May be called more than once. */
extern void hg_validity_release(HgValidBlocks *valid);

#endif /* HG_RESIDENT_VALIDITY_H */
