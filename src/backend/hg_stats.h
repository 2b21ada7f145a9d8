/*-------------------------------------------------------------------------
 *
 * hg_stats.h
 *	  Statistics of joins: what a matcher did, this session's last joins, and shared
 *	  counters.
 *
 * Each execution of a join adds its matcher's report to an HgJoinRecord (hg_stats_add_report).
 * hg_stats_record then publishes the record.  Statements are numbered so that the session's list
 * is emptied when a new statement records a join.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_STATS_H
#define HG_STATS_H

#include "datatype/timestamp.h"

#include "engine/hg_engine.h"

typedef struct HgMatcherReport
{
	char backend[8];	/* "cuda" if a device has answered any part, or else "cpu" */
	char device[96];	/* name of the device; "" on the CPU */
	char fallback[160]; /* why auto used the CPU after trying a device; or "" */
	/* why a join in partition passes used one device although the server has several; or "" */
	char left[160];
	HgJobStats job;
	uint64 uploaded_rows;  /* keys sent to the device while the sides were read */
	uint64 uploaded_pages; /* pages of tables sent instead of keys */
	double start_ms;	   /* time to choose the backend and wait for the device */
	double device_ms;	   /* expected time of the job on the device */
	double cpu_ms;		   /* the same on the CPU; both 0 if there was no choice */
	uint32 gathered;	   /* number of columns whose values came with the matches */
	uint32 filters;		   /* number of tables whose quals the device has applied */
} HgMatcherReport;

/* Returns why a join did not run as intended, for users; "" if it did. */
static inline const char *
hg_report_fallback(const HgMatcherReport *report)
{
	return report->fallback[0] != '\0' ? report->fallback : report->left;
}

/* hg_counters.c: counters of each database's joins, shared by all sessions */

/*
 * Counters of one database since the last reset.  PostgreSQL's statistics file contains this
 * struct, so new counters go to the end (hg_counters.c).
 */
typedef struct HgStatCounters
{
	uint64 joins;	   /* number of HgJoinRecords */
	uint64 cpu_joins;  /* joins on the CPU */
	uint64 cuda_joins; /* joins on a GPU */
	uint64 fallbacks;  /* joins that fell back from a device to the CPU */
	uint64 errors;	   /* device failures that became an error */
	uint64 outer_rows;
	uint64 inner_rows;
	uint64 matches;
	uint64 rows_out;
	uint64 spilled_joins;
	uint64 spilled_bytes;
	double scan_ms;
	double transfer_ms;
	double bin_ms;
	double build_ms;
	double match_ms;
	double total_ms;
	uint64 lookups;	 /* executions that looked few outer rows up in an index */
	uint64 switches; /* executions that found more outer rows, and hashed the inner side */
	TimestampTz reset_at;
} HgStatCounters;

/*
 * Chooses where the counters are stored.  There are none unless the library is in
 * shared_preload_libraries.  Call it once, from _PG_init.
 */
extern void hg_counters_init(void);

/*
 * Locks this database's counters and returns them, or returns NULL if the server has none.  The
 * caller may read and change them until hg_counters_unlock.  Meanwhile it must not wait, take a
 * lock or raise an error.
 */
extern HgStatCounters *hg_counters_lock(void);

/* Unlocks the counters; call it only if hg_counters_lock() returned some. */
extern void hg_counters_unlock(void);

/* Sets locked counters to 0, and the time of their reset. */
extern void hg_counters_clear(HgStatCounters *counters, TimestampTz reset_at);

/* hg_stats.c: statistics of finished joins: this session's last ones, and shared counters */

/* A finished join, of a plan node or of a SQL function. */
typedef struct HgJoinRecord
{
	Oid user;				   /* as which it ran */
	char node[32];			   /* "HashGraphJoin" or "hashgraph_join" */
	char join_type[16];		   /* "Inner", "Left", "Right Anti", ... */
	HgMatcherReport report;	   /* times and counts are sums over all executions */
	uint64 executions;		   /* executions that built HashGraphs */
	uint64 lookups;			   /* executions that looked few outer rows up in an index */
	uint64 switches;		   /* executions that counted too many for that */
	uint64 null_keys[2];	   /* rows left out because a key is NULL, by HgSide */
	uint64 resident_blocks[2]; /* blocks read from cached columns, by HgSide */
	uint64 heap_blocks[2];	   /* blocks read from the tables, by HgSide */
	uint64 filtered_rows;	   /* rows that a runtime filter left out during the scan */
	uint64 rows_out;		   /* rows that the node returned */
	uint64 partitions;		   /* 1 if everything stayed in memory */
	uint64 memory_bytes;	   /* peak of work memory */
	uint64 spilled_bytes;	   /* written to temporary files */
	bool recheck;			   /* keys were hashes, so every match was rechecked */
	int processes;			   /* processes of a parallel query that ran the node; else 0 or 1 */
	double scan_ms;			   /* reading both sides and encoding their keys */
	double total_ms;		   /* from the first requested row to the end */
} HgJoinRecord;

/* Installs the hooks that number statements, and the counters in shared_preload_libraries. */
extern void hg_stats_init(void);

/* Returns true while a statement runs. */
extern bool hg_stats_is_running(void);

/* Returns the session's number of the running statement, or of the next one if none runs. */
extern uint64 hg_stats_statement(void);

/* Returns the number of DISCARD ALL commands that this session has executed. */
extern uint64 hg_stats_discards(void);

/*
 * Returns true if a plan that starts now is the outermost statement's own plan, and not one that a
 * function or trigger of the statement runs.  EXECUTE, EXPLAIN, DECLARE and CREATE TABLE AS have
 * one plan of their own: the first call while they run returns true, later calls return false.  An
 * EXPLAIN inside another statement has a plan of its own too.
 */
extern bool hg_stats_starts_plan(void);

/*
 * Returns true if a utility command runs whose own plan has not started yet; false if none runs.
 */
extern bool hg_stats_expects_plan(void);

/* Makes the next hg_stats_starts_plan() in the running EXPLAIN return true once more. */
extern void hg_stats_expect_plan(void);

/*
 * Adds a matcher's report to a record, as one more execution.  Counts and times are summed; peak
 * memory, passes, gathered and filters are maxima; backend is "cuda" if it was in any execution.
 * Everything else, such as the number of rows, is the last execution's.
 */
extern void hg_stats_add_report(HgJoinRecord *record, const HgMatcherReport *report);

/*
 * Adds the record of another process of the same join to *record.  Counts and memory are summed;
 * times and executions are maxima, as the processes work at the same time.
 */
extern void hg_stats_merge(HgJoinRecord *record, const HgJoinRecord *other);

/*
 * Adds the record of a later execution of the join by the same processes to *record.  Counts and
 * times are summed; memory and processes are maxima.
 */
extern void hg_stats_append(HgJoinRecord *record, const HgJoinRecord *later);

/* Copies a finished join to this session's list, of at most 1000, and adds it to the counters. */
extern void hg_stats_record(const HgJoinRecord *record);

/* Adds 1 to the database's counter of device failures that became an error. */
extern void hg_stats_count_error(void);

/*
 * Returns the joins of the last statement of this session that recorded any, oldest first, of all
 * users; *count is their number.  The array lives until the next hg_stats_record or DISCARD ALL.
 */
extern const HgJoinRecord *hg_stats_last_joins(int *count);

/* Copies this database's counters; returns false if the server does not preload the library. */
extern bool hg_stats_read(HgStatCounters *result);

/* Resets this database's counters; returns false if the server does not preload the library. */
extern bool hg_stats_reset(void);

#endif /* HG_STATS_H */
