/*-------------------------------------------------------------------------
 *
 * hg_progress.h
 *	  How far joins have come: each process tells of its own, and all can be seen while they run.
 *
 * A join that runs has a slot in shared memory, which its process alone writes to, without a lock,
 * as it does to what pg_stat_activity shows: the count of changes is odd meanwhile, and a reader
 * who has met one begins again.  What a slot says is asked of the join, by the functions that it
 * has begun with (HgProgressTeller): whoever does a part of its work says that there is something
 * new, after a batch of rows or a step of the engine, and need not know what the join is
 * (hg_progress_step).
 *
 * There are slots where the library is in shared_preload_libraries, HG_PROGRESS_JOINS for each
 * process.  A join that finds none is not shown: that is one which begins while there are so many
 * others of its process that are not done.  Those that are done, and whose statement goes on, make
 * room.
 *
 * A slot is given back when the join ends, or on any other way out of its statement
 * (hg_cleanup.h), which is also the way of a process that is terminated.  Slots of a process that
 * has gone without are not shown, and its successor clears them.
 *
 * test/t/join_progress.pl holds all of this.
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

/* Joins of one process that are shown at the same time. */
#define HG_PROGRESS_JOINS 8

/* Relations that are shown of each side: the first ones. */
#define HG_PROGRESS_RELATIONS 8

/* Rows after which figures are told again, and what a batch counts for at least. */
#define HG_PROGRESS_STEP_ROWS 1024
#define HG_PROGRESS_LEAST_ROWS 128

/* What a join is, as long as it runs. */
typedef struct HgProgressJoin
{
	Oid user; /* that it runs as */
	int plan_node;
	char join_type[16]; /* "Inner", "Left", "Right Anti", ... */
	int nrelations[2];	/* by HgSide */
	Oid relations[2][HG_PROGRESS_RELATIONS];
} HgProgressJoin;

/* How far it has come, over all of its executions. */
typedef struct HgProgressCounts
{
	uint64 rows[2];		  /* read from the children, by HgSide ... */
	uint64 expected[2];	  /* ... and as many as are expected of the executions so far */
	uint64 executions;	  /* how often HashGraphs were built */
	uint64 partitions;	  /* on disk, those that are joined included ... */
	uint64 joined;		  /* ... which are these; of shared ones those that somebody has joined */
	uint64 matches;		  /* that were found */
	uint64 rows_out;	  /* that were returned */
	uint64 memory_bytes;  /* of work memory that are held now */
	uint64 spilled_bytes; /* written to temporary files */
} HgProgressCounts;

/* The words for a phase: EXPLAIN's, as far as it has some. */
typedef struct HgProgressPhase
{
	char words[32];
} HgProgressPhase;

/* What tells of a join.  None of these fails, nor takes longer than some loads and stores. */
typedef struct HgProgressTeller
{
	/* these stay in place; the backend is "" where it is open */
	const HgProgressPhase *(*phase)(const void *arg);
	const char *(*backend)(const void *arg);
	void (*count)(const void *arg, HgProgressCounts *counts);
} HgProgressTeller;

/* One join as everybody sees it. */
typedef struct HgProgressRow
{
	int pid;	/* 0: there is none */
	int leader; /* pid of a parallel worker's leader, or 0 */
	Oid database;
	TimestampTz started; /* when the first row was asked for */
	HgProgressJoin join;
	HgProgressPhase phase;
	char backend[8];
	HgProgressCounts counts;
} HgProgressRow;

typedef struct HgProgressSlot
{
	int st_changecount; /* for PGSTAT_BEGIN_WRITE_ACTIVITY and its like */
	HgProgressRow row;
} HgProgressSlot;

/* A join's own part of it, in its process.  Zeros: nothing is told. */
typedef struct HgProgress
{
	volatile HgProgressSlot *slot; /* or NULL */
	const HgProgressTeller *teller;
	const void *arg;
	const HgProgressPhase *phase; /* what is in the slot */
	const char *backend;
	uint32 untold; /* rows since all was told */
	bool done;	   /* until more is told: others may have the slot */
	HgCleanup cleanup;
} HgProgress;

/* Request shared memory where the library is in shared_preload_libraries. */
extern void hg_progress_init(void);

/* Can joins be told of, and has the session not said otherwise (track_activities)? */
extern bool hg_progress_is_wanted(void);

/*
 * Show a join, if there is a slot, until hg_progress_end, the reset of context or the release of
 * CurrentResourceOwner.  *progress stays in place until then, and so do teller and arg.
 */
extern void hg_progress_begin(HgProgress *progress, const HgProgressJoin *join,
							  const HgProgressTeller *teller, const void *arg,
							  MemoryContext context);

/* Tell all that there is to tell. */
extern void hg_progress_tell(HgProgress *progress);

/* Tell that the join is in another phase, nothing else. */
extern void hg_progress_tell_phase(HgProgress *progress);

/* Tell all of one that is done, though it may be begun again: others may have its slot. */
extern void hg_progress_tell_done(HgProgress *progress);

/* Show it no more. */
extern void hg_progress_end(HgProgress *progress);

/*
 * There is something new, after so many rows: all is told, unless it was shortly before.  progress
 * may be NULL.
 */
static inline void
hg_progress_step(HgProgress *progress, int rows)
{
	if (progress == NULL || progress->slot == NULL)
		return;
	progress->untold += Max(rows, HG_PROGRESS_LEAST_ROWS);
	if (progress->untold >= HG_PROGRESS_STEP_ROWS)
		hg_progress_tell(progress);
}

/* Are joins of this server shown at all? */
extern bool hg_progress_exists(void);

/*
 * The next join that runs, in the order of processes; *place is 0 before the first.  False: there
 * are no more.
 */
extern bool hg_progress_next(int *place, HgProgressRow *row);

#endif /* HG_PROGRESS_H */
