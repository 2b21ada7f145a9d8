/*-------------------------------------------------------------------------
 *
 * hg_progress.h
 *	  Progress of running joins: each process reports its own, and all sessions can see it.
 *
 * A running join has a slot in shared memory.  Only its process writes to the slot, without a
 * lock, as for pg_stat_activity: the change count is odd during a write, and a reader that sees a
 * change starts again.  The slot's contents come from functions of the join (HgProgressCallbacks).
 * Code that does a part of the join's work calls hg_progress_step after a batch of rows or a step
 * of the engine, and need not know the join.
 *
 * Slots exist if the library is in shared_preload_libraries, HG_PROGRESS_JOINS for each process.
 * A join that begins while its process has that many unfinished joins is not shown.  Joins that
 * are finished, while their statement goes on, make room.
 *
 * A slot is freed when the join ends, or on any other way out of its statement (hg_cleanup.h),
 * including termination.  Slots of a process that ended without that are not shown, and its
 * successor clears them.
 *
 * test/t/join_progress.pl tests this.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PROGRESS_H
#define HG_PROGRESS_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "backend/hg_cleanup.h"

/* Number of joins of one process that are shown at the same time. */
#define HG_PROGRESS_JOINS 8

/* Number of relations of each side that are shown: the first ones. */
#define HG_PROGRESS_RELATIONS 8

/* Rows after which a join is reported again, and what a batch counts for at least. */
#define HG_PROGRESS_STEP_ROWS 1024
#define HG_PROGRESS_LEAST_ROWS 128

/* What does not change while the join runs. */
typedef struct HgProgressJoin
{
	Oid user; /* as which it runs */
	int plan_node;
	char join_type[16]; /* "Inner", "Left", "Right Anti", ... */
	int nrelations[2];	/* by HgSide */
	Oid relations[2][HG_PROGRESS_RELATIONS];
} HgProgressJoin;

/* The progress over all executions. */
typedef struct HgProgressCounts
{
	uint64 rows[2];		  /* rows read from the children, by HgSide */
	uint64 expected[2];	  /* rows expected in the executions so far */
	uint64 executions;	  /* number of times that HashGraphs were built */
	uint64 partitions;	  /* partitions on disk, including joined ones */
	uint64 joined;		  /* joined partitions; of shared ones by any process */
	uint64 matches;		  /* matches found */
	uint64 rows_out;	  /* rows returned */
	uint64 memory_bytes;  /* work memory in use */
	uint64 spilled_bytes; /* bytes written to temporary files */
} HgProgressCounts;

/* Name of a phase; as in EXPLAIN, if that has one. */
typedef struct HgProgressPhase
{
	char words[32];
} HgProgressPhase;

/* Functions that describe a join.  They must not fail, and take only some loads and stores. */
typedef struct HgProgressCallbacks
{
	/* phase and backend return static data; backend returns "" while it is not chosen. */
	const HgProgressPhase *(*phase)(const void *arg);
	const char *(*backend)(const void *arg);
	void (*count)(const void *arg, HgProgressCounts *counts);
} HgProgressCallbacks;

/* One join, as other sessions see it. */
typedef struct HgProgressRow
{
	int pid;	/* 0: no join */
	int leader; /* pid of a parallel worker's leader, or 0 */
	Oid database;
	TimestampTz started; /* when the first row was requested */
	HgProgressJoin join;
	HgProgressPhase phase;
	char backend[8];
	HgProgressCounts counts;
} HgProgressRow;

typedef struct HgProgressSlot
{
	int st_changecount; /* for PGSTAT_BEGIN_WRITE_ACTIVITY and related macros */
	HgProgressRow row;
} HgProgressSlot;

/* A join's own state, in its process.  All zeros: nothing is reported. */
typedef struct HgProgress
{
	volatile HgProgressSlot *slot; /* or NULL */
	const HgProgressCallbacks *callbacks;
	const void *arg;
	const HgProgressPhase *phase; /* as in the slot */
	const char *backend;
	uint32 unreported; /* rows since the last report */
	bool done;		   /* other joins may take the slot, until more is reported */
	HgCleanup cleanup;
} HgProgress;

/* Reserves shared memory if the library is in shared_preload_libraries. */
extern void hg_progress_init(void);

/* Returns true if there is shared memory, and the session has track_activities on. */
extern bool hg_progress_is_enabled(void);

/*
 * Shows a join, if there is a slot, until hg_progress_end, the reset of context or the release of
 * CurrentResourceOwner.  *progress, callbacks and arg must stay in place until then; *join is
 * copied.  *progress is all zeros, or was ended.
 */
extern void hg_progress_begin(HgProgress *progress, const HgProgressJoin *join,
							  const HgProgressCallbacks *callbacks, const void *arg,
							  MemoryContext context);

/* Calls the callbacks and writes the results to the join's slot, if it has one. */
extern void hg_progress_report(HgProgress *progress);

/* Writes the phase alone to the join's slot, if it has changed. */
extern void hg_progress_report_phase(HgProgress *progress);

/* Reports a join that is finished for now.  Other joins of this process may take its slot. */
extern void hg_progress_report_done(HgProgress *progress);

/* Stops showing the join. */
extern void hg_progress_end(HgProgress *progress);

/* Called after a batch of rows; reports once they add up to HG_PROGRESS_STEP_ROWS.  NULL: none. */
static inline void
hg_progress_step(HgProgress *progress, int rows)
{
	if (progress == NULL || progress->slot == NULL)
		return;
	progress->unreported += Max(rows, HG_PROGRESS_LEAST_ROWS);
	if (progress->unreported >= HG_PROGRESS_STEP_ROWS)
		hg_progress_report(progress);
}

/* Returns true if there is shared memory for slots. */
extern bool hg_progress_exists(void);

/* Copies the next running join of any process to *row; false at the end.  *index starts at 0. */
extern bool hg_progress_next(int *index, HgProgressRow *row);

#endif /* HG_PROGRESS_H */
