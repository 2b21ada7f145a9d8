/*-------------------------------------------------------------------------
 *
 * hg_stats.h
 *	  What HashGraph joins did: this session's last ones, and shared counters.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_STATS_H
#define HG_STATS_H

#include "backend/hg_counters.h"
#include "backend/hg_report.h"

/* One finished join, of a plan node or of a function. */
typedef struct HgJoinRecord
{
	Oid user;				/* that it ran as, whoever ends it */
	char node[32];			/* "HashGraphJoin" or "hashgraph_join" */
	char join_type[16];		/* "Inner", "Left", "Right Anti", ... */
	HgMatcherReport report; /* times and counts summed over all executions */
	uint64 executions;		/* how often the node built its graphs */
	uint64 lookups;			/* ... and joined few outer rows by a nested loop into an index, ... */
	uint64 switches;		/* ... or found more of them when it had counted */
	uint64 null_keys[2];	/* rows left out because a key was NULL, by HgSide */
	uint64 resident_blocks[2]; /* of tables that were scanned, read from cached columns ... */
	uint64 heap_blocks[2];	   /* ... and read from the table, by HgSide */
	uint64 filtered_rows;	   /* outer rows that a runtime filter left out while they were read */
	uint64 rows_out;		   /* rows that the node returned */
	uint64 partitions;		   /* 1 where everything stayed in memory */
	uint64 memory_bytes;	   /* most work memory held */
	uint64 spilled_bytes;	   /* written to temporary files */
	bool recheck;			   /* keys were hashes, and every match was rechecked */
	int processes;			   /* of a parallel query that were asked for rows; else 0 or 1 */
	double scan_ms;			   /* reading both sides and encoding their keys */
	double total_ms;		   /* from the first row asked for to the end */
} HgJoinRecord;

/*
 * See where statements begin, and have joins counted where the library is in
 * shared_preload_libraries.
 */
extern void hg_stats_init(void);

/* Returns true inside of a statement. */
extern bool hg_stats_is_running(void);

/* The number of the statement that runs, or of the one that begins next. */
extern uint64 hg_stats_statement(void);

/* How often the session has forgotten what it did: DISCARD ALL. */
extern uint64 hg_stats_discards(void);

/*
 * Returns true if a plan that starts now is a statement's own: the statement is one, or executes or
 * explains one, and has not been told of it before.  EXPLAIN has one within other statements too.
 */
extern bool hg_stats_starts_plan(void);

/* Returns true if the utility command that runs has not started its own plan yet. */
extern bool hg_stats_expects_plan(void);

/* Have the statement that runs, which explains plans, start another one. */
extern void hg_stats_expect_plan(void);

/*
 * Add what a matcher did to a record, as one more execution.  Counts and times are
 * summed, memory and ranges are the most there were, the backend is a device's if that of any
 * execution was, the rest is the last one's.
 */
extern void hg_stats_add_report(HgJoinRecord *record, const HgMatcherReport *report);

/*
 * Add what another process did of the same join.  Counts are summed, and times are the
 * longest of all processes, as they work at the same time.
 */
extern void hg_stats_merge(HgJoinRecord *record, const HgJoinRecord *other);

/*
 * Add what the same processes did in a later execution of the join.  Counts and times are
 * summed, memory and processes are the most there were.
 */
extern void hg_stats_append(HgJoinRecord *record, const HgJoinRecord *later);

/* File one finished join: into this session's list and into the counters. */
extern void hg_stats_record(const HgJoinRecord *record);

/* Count a device failure that ended in an error. */
extern void hg_stats_count_error(void);

/*
 * The joins of this session's last statement that had one, oldest first, whoever they ran as.
 * The array lives until the next hg_stats_record or the end of the statement.
 */
extern const HgJoinRecord *hg_stats_last_joins(int *count);

/* This database's counters; false where the library is not preloaded by the server. */
extern bool hg_stats_read(HgStatCounters *result);

/* Reset this database's counters; false as above. */
extern bool hg_stats_reset(void);

#endif /* HG_STATS_H */
