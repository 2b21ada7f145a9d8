/*-------------------------------------------------------------------------
 *
 * hg_join_progress.h
 *	  The join node's phase, and its record of what was done.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_PROGRESS_H
#define HG_JOIN_PROGRESS_H

#include "backend/hg_progress.h"
#include "backend/hg_stats.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/* The phases of the node.  hg_join_chunk.h has what each does. */
typedef enum HgJoinPhase
{
	HG_JOIN_READ_INNER,
	HG_JOIN_NEXT_PARTITION,
	HG_JOIN_READ_OUTER,
	HG_JOIN_BUILD, /* shown during READ_OUTER and while processes build together */
	HG_JOIN_RETURN,
	HG_JOIN_END_CHUNK,
	HG_JOIN_NEXT_INNER,
	HG_JOIN_DONE
} HgJoinPhase;

/* The state of an execution.  Each file adds what it does to the record. */
typedef struct HgJoinProgress
{
	HgJoinPhase phase;
	double started;		 /* when the first row was requested; 0 before */
	HgJoinRecord record; /* over all executions, without the live matcher */
	HgProgress shown;	 /* what other sessions see */
	uint64 before[2];	 /* by HgSide: rows read in earlier executions */
} HgJoinProgress;

/* Records that a row was requested.  Returns true if it is the first one of an execution. */
static inline bool
hg_join_progress_start(HgJoinProgress *progress)
{
	if (progress->started > 0)
		return false;
	progress->started = hg_clock_ms();
	progress->record.processes = 1;
	return true;
}

/* Returns the milliseconds of the current execution, not yet in the record; 0: there is none. */
static inline double
hg_join_running_ms(const HgJoinProgress *progress)
{
	return progress->phase != HG_JOIN_DONE && progress->started > 0
			   ? hg_clock_ms() - progress->started
			   : 0;
}

/* Enters a phase.  HG_JOIN_DONE ends the execution. */
static inline void
hg_join_enter(HgJoinProgress *progress, HgJoinPhase phase)
{
	if (phase == HG_JOIN_DONE)
		progress->record.total_ms += hg_join_running_ms(progress);
	progress->phase = phase;
	if (progress->shown.slot == NULL)
		return;
	if (phase == HG_JOIN_DONE)
		hg_progress_report_done(&progress->shown);
	else
		hg_progress_report_phase(&progress->shown);
}

/* Counts rows that were returned at once, possibly with the last ones of an execution. */
static inline void
hg_join_count_returned(HgJoinProgress *progress, uint64 rows)
{
	progress->record.rows_out += rows;
	if (progress->phase != HG_JOIN_DONE)
		hg_progress_step(&progress->shown, 0);
	else if (rows > 0)
		hg_progress_report_done(&progress->shown);
}

/* Ends the current execution, if any, and prepares another one, which starts with READ_INNER. */
static inline void
hg_join_restart(HgJoinProgress *progress)
{
	if (progress->phase != HG_JOIN_DONE)
		hg_join_enter(progress, HG_JOIN_DONE);
	progress->started = 0;
	progress->phase = HG_JOIN_READ_INNER;
}

/* Makes the execution visible to other sessions, until the node ends. */
extern void hg_join_show(HgJoinState *state);

/* Sets *record to what this process and the known workers have done, live matcher included. */
extern void hg_join_current_record(const HgJoinState *state, HgJoinRecord *record);

#endif /* HG_JOIN_PROGRESS_H */
