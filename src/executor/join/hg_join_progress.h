/*-------------------------------------------------------------------------
 *
 * hg_join_progress.h
 *	  Where the join node stands, and what it has done.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_PROGRESS_H
#define HG_JOIN_PROGRESS_H

#include "backend/hg_elapsed.h"
#include "backend/hg_progress.h"
#include "backend/hg_stats.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/* Where the node stands; hg_join.c tells the way. */
typedef enum HgJoinPhase
{
	HG_JOIN_READ_INNER,
	HG_JOIN_STAR,
	HG_JOIN_PAGES,
	HG_JOIN_LOOKUP,
	HG_JOIN_NEXT_PARTITION,
	HG_JOIN_READ_OUTER,
	HG_JOIN_BUILD, /* a part of that, and of what processes do together */
	HG_JOIN_STREAM,
	HG_JOIN_REDUCE,
	HG_JOIN_MATCH,
	HG_JOIN_COUNT,
	HG_JOIN_END_CHUNK,
	HG_JOIN_UNMATCHED,
	HG_JOIN_NULL_KEYS,
	HG_JOIN_END_OUTER,
	HG_JOIN_INNER_UNMATCHED,
	HG_JOIN_INNER_NULL_KEYS,
	HG_JOIN_NEXT_INNER,
	HG_JOIN_DONE
} HgJoinPhase;

/* Each file adds to the record what it does. */
typedef struct HgJoinProgress
{
	HgJoinPhase phase;
	instr_time started;	 /* when the first row was asked for; zero before */
	HgJoinRecord record; /* over all executions, of everything but the live matcher */
	HgProgress shown;	 /* what others see of it */
	uint64 before[2];	 /* by HgSide: rows of earlier executions */
} HgJoinProgress;

/* Notes that a row is asked for.  Returns true if it is the first one of an execution. */
static inline bool
hg_join_progress_start(HgJoinProgress *progress)
{
	if (!INSTR_TIME_IS_ZERO(progress->started))
		return false;
	INSTR_TIME_SET_CURRENT(progress->started);
	progress->record.processes = 1;
	return true;
}

/*
 * How long the execution has taken that is not over and not in the record; 0 where there is none.
 */
static inline double
hg_join_running_ms(const HgJoinProgress *progress)
{
	return progress->phase != HG_JOIN_DONE && !INSTR_TIME_IS_ZERO(progress->started)
			   ? hg_elapsed_ms(progress->started)
			   : 0;
}

/* Go on with a phase, which ends the execution if it is the last one. */
static inline void
hg_join_enter(HgJoinProgress *progress, HgJoinPhase phase)
{
	if (phase == HG_JOIN_DONE)
		progress->record.total_ms += hg_join_running_ms(progress);
	progress->phase = phase;
	if (progress->shown.slot == NULL)
		return;
	if (phase == HG_JOIN_DONE)
		hg_progress_tell_done(&progress->shown);
	else
		hg_progress_tell_phase(&progress->shown);
}

/* So many rows have gone up at once, perhaps with the last ones of an execution. */
static inline void
hg_join_count_returned(HgJoinProgress *progress, uint64 rows)
{
	progress->record.rows_out += rows;
	if (progress->phase != HG_JOIN_DONE)
		hg_progress_step(&progress->shown, 0);
	else if (rows > 0)
		hg_progress_tell_done(&progress->shown);
}

/* Begin another execution, wherever the one before stands; its first row has not been asked for. */
static inline void
hg_join_restart(HgJoinProgress *progress, HgJoinPhase phase)
{
	if (progress->phase != HG_JOIN_DONE)
		hg_join_enter(progress, HG_JOIN_DONE);
	INSTR_TIME_SET_ZERO(progress->started);
	progress->phase = phase;
}

/* An execution begins: have others see it, from now on to the end of the node. */
extern void hg_join_show(HgJoinState *state);

/* What this process and the workers that it knows of have done, the live matcher included. */
extern void hg_join_current_record(const HgJoinState *state, HgJoinRecord *record);

#endif /* HG_JOIN_PROGRESS_H */
