/*-------------------------------------------------------------------------
 *
 * hg_join_shared.h
 *	  The join node below a Gather: shared memory, and this process among the participants.
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
#include "batch/hg_column_store.h"
#include "batch/hg_filter.h"
#include "batch/hg_row_bits.h"
#include "batch/hg_shared_covered.h"
#include "batch/hg_spill.h"
#include "executor/join/hg_join_pages.h"
#include "executor/join/hg_join_progress.h"

/* Lies in the query's DSM, so it has no pointers. */
typedef struct HgJoinShared
{
	int nprocesses;		/* maximal number of processes, leader included */
	dsm_handle segment; /* the segment that this lies in */
	Barrier barrier;	/* phases: see hg_join_parallel.c */
	HgParticipantsState participants;
	HgDeviceParticipantsShared device;
	HgJoinPagesShared pages;		 /* sent before anything is read */
	HgSharedBudget budget;			 /* for the inputs of all processes and the filter */
	pg_atomic_uint64 counted;		 /* outer rows read so far by an adaptive join */
	pg_atomic_uint32 hashes;		 /* 1: an adaptive join hashes the inner side */
	pg_atomic_uint64 looked_up;		 /* outer rows with a key taken for lookups, or more */
	pg_atomic_uint32 spill_bits;	 /* log2 of the number of partitions on disk; 0: none */
	pg_atomic_uint32 next_partition; /* next partition that no process has taken */
	pg_atomic_uint32 ended;			 /* 1: a process left early, or the last one has finished */
	pg_atomic_uint32 reader_found;	 /* 1: a single-reader side has its reader */
	HgSharedColumns columns[2];		 /* the rows of each side */
	HgSharedBits matched[2];
	HgSharedSpill spills[2];
	HgSharedFilter filter;
	HgSharedCovered covered[2];
	LWLock cover_lock;			/* guards covers; held shared while a worker pins covered rows */
	bool covers;				/* the leader holds the covered rows; set with the lock held */
	pg_atomic_uint32 next_part; /* next part of the pairs of covered rows */
	bool at_once;				/* a device joins these pairs; set by the leader */
	bool stays_covered; /* if delta rows do not fit, only they go to disk; set by the leader */
	SharedFileSet files;
	HgJoinRecord records[FLEXIBLE_ARRAY_MEMBER]; /* by process; processes is 0 if it did nothing */
} HgJoinShared;

/* This process among the participants (hg_join_parallel.c).  All zeros: there are no others. */
typedef struct HgJoinParticipants
{
	HgJoinShared *shared; /* NULL: no other processes */
	dsm_segment *segment; /* in the leader: the segment of shared; or NULL */
	int process;		  /* 0: leader; n: worker n - 1 */
	bool attached;		  /* attached to the barrier: the others wait for this process */
	bool joined;		  /* participants join both sides together, in memory */
	bool ends_join;		  /* all others have finished: this one returns rows without a match */
	HgJoinRecord others;  /* what other processes did, as far as known */
} HgJoinParticipants;

/*
 * Detaches from the barrier, so that no process waits for this one.  finished: it has returned all
 * of its matches; otherwise it returns no more of them.
 */
extern void hg_join_leave(HgJoinParticipants *participants, bool finished);

/*
 * The callbacks of CustomExecMethods for parallel queries.
 *
 * EstimateDSMCustomScan: returns the bytes of HgJoinShared for the leader and its workers.
 */
extern Size hg_join_estimate_dsm(CustomScanState *node, ParallelContext *pcxt);

/* InitializeDSMCustomScan: initializes HgJoinShared at coordinate, in the leader. */
extern void hg_join_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate);

/*
 * ReInitializeDSMCustomScan: adds up what the workers of the last execution did, frees the shared
 * memory that it used, and initializes *coordinate again, in the leader.
 */
extern void hg_join_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt,
									 void *coordinate);

/* InitializeWorkerCustomScan: attaches a worker to HgJoinShared at coordinate. */
extern void hg_join_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate);

/*
 * ShutdownCustomScan: releases what this process uses in shared memory.  A worker also stores there
 * what it did.
 */
extern void hg_join_shutdown(CustomScanState *node);

/* Releases the shared memory, if it still exists, when the node ends. */
extern void hg_join_end_shared(HgJoinState *state);

/*
 * Does the work of READ_INNER and READ_OUTER with the others; returns the next phase.  In
 * hg_join_parallel.c.
 */
extern HgJoinPhase hg_join_parallel_read(HgJoinState *state);

#endif /* HG_JOIN_SHARED_H */
