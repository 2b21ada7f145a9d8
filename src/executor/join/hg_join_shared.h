/*-------------------------------------------------------------------------
 *
 * hg_join_shared.h
 *	  The join node below a Gather: what its processes share, and this process's place among them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_SHARED_H
#define HG_JOIN_SHARED_H

#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "storage/barrier.h"
#include "storage/lwlock.h"
#include "storage/sharedfileset.h"

#include "backend/hg_budget.h"
#include "backend/hg_stats.h"
#include "backend/matcher/hg_device_participants.h"
#include "batch/hg_filter.h"
#include "batch/hg_row_bits.h"
#include "batch/hg_shared_columns.h"
#include "batch/hg_shared_covered.h"
#include "batch/hg_spill.h"
#include "executor/join/hg_join_pages.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/* In the query's DSM: no pointers. */
typedef struct HgJoinShared
{
	int nprocesses;		/* the most that there can be, the leader included */
	dsm_handle segment; /* that this lies in */
	Barrier barrier;	/* hg_join_together.c tells its phases */
	HgParticipantsState participants;
	HgDeviceParticipantsShared device;
	HgJoinPagesShared pages;		 /* that are sent before anything is read */
	HgSharedBudget budget;			 /* of the inputs of all, and of the filter */
	pg_atomic_uint64 counted;		 /* outer rows, where there may be few to be looked up ... */
	pg_atomic_uint32 hashes;		 /* ... or there are too many: the inner side is hashed */
	pg_atomic_uint32 spill_bits;	 /* 0, or the join has gone to 2^this partitions */
	pg_atomic_uint32 next_partition; /* not yet taken */
	pg_atomic_uint32 ended;			 /* some process has been the last */
	pg_atomic_uint32 reader_found;	 /* of the side that is read once, if there is one */
	HgSharedColumns columns[2];		 /* by HgSide, as everything below */
	HgSharedBits matched[2];
	HgSharedSpill spills[2];
	HgSharedFilter filter;
	bool may_use_cache[2]; /* workers' scans from resident columns; set by the leader */
	HgSharedCovered covered[2];
	LWLock cover_lock; /* guards covers; shared while a worker pins covered rows */
	bool covers;	   /* the leader holds the covered rows, and sets this with the lock held */
	pg_atomic_uint32 next_part; /* of the pairs of covered rows */
	bool at_once;				/* a device is to count these pairs; set by the leader */
	bool stays_covered;			/* delta rows that don't fit go to disk alone; set by the leader */
	SharedFileSet files;
	HgJoinRecord
		records[FLEXIBLE_ARRAY_MEMBER]; /* by process; processes is 0 where it did nothing */
} HgJoinShared;

/*
 * This process's place among those that join; hg_join_together.c attaches it and joins.  Zeros:
 * there are no others.
 */
typedef struct HgJoinParticipants
{
	HgJoinShared *shared; /* or NULL */
	dsm_segment *segment; /* in the leader: that shared lies in; or NULL */
	int process;		  /* 0: the leader */
	bool attached;		  /* to the others' barrier: they wait for this process */
	bool joined;		  /* the two sides are being joined by the processes together, in memory */
	bool ends_join;		  /* all others are done: rows without a match are this one's to return */
	HgJoinRecord others;  /* what other processes did, as far as it is known */
} HgJoinParticipants;

/*
 * Nobody shall wait for this process any more: it has returned its matches (finished), or
 * returns no more of them.
 */
extern void hg_join_leave(HgJoinParticipants *participants, bool finished);

/* The executor callbacks of these names. */
extern Size hg_join_estimate_dsm(CustomScanState *node, ParallelContext *pcxt);
extern void hg_join_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate);
extern void hg_join_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt,
									 void *coordinate);
extern void hg_join_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate);
extern void hg_join_shutdown(CustomScanState *node);

/* The node ends: what is left of the shared memory may do without it. */
extern void hg_join_end_shared(HgJoinState *state);

#endif /* HG_JOIN_SHARED_H */
