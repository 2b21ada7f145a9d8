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
#include "backend/hg_stats.h"

/* Where the node stands; hg_join.c tells the way. */
typedef enum HgJoinPhase
{
	HG_JOIN_READ_INNER,
	HG_JOIN_NEXT_PARTITION,
	HG_JOIN_READ_OUTER,
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
} HgJoinProgress;

/* A row is asked for: it is the first one of an execution, or another. */
static inline void
hg_join_progress_start(HgJoinProgress *progress)
{
	if (!INSTR_TIME_IS_ZERO(progress->started))
		return;
	INSTR_TIME_SET_CURRENT(progress->started);
	progress->record.processes = 1;
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
}

/* Begin another execution, wherever the one before stands; its first row has not been asked for. */
static inline void
hg_join_restart(HgJoinProgress *progress, HgJoinPhase phase)
{
	hg_join_enter(progress, HG_JOIN_DONE);
	INSTR_TIME_SET_ZERO(progress->started);
	progress->phase = phase;
}

#endif /* HG_JOIN_PROGRESS_H */
