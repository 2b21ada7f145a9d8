/*-------------------------------------------------------------------------
 *
 * hg_counters.h
 *	  The counters of each database's joins, which all sessions share.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COUNTERS_H
#define HG_COUNTERS_H

#include "datatype/timestamp.h"

/*
 * Counters since the last reset, of one database.  PostgreSQL's statistics file has them as they
 * are here, so that new ones go to the end (hg_counters.c).
 */
typedef struct HgStatCounters
{
	uint64 joins;	   /* HgJoinRecords */
	uint64 cpu_joins;  /* ... that ran on the CPU */
	uint64 cuda_joins; /* ... that ran on a GPU */
	uint64 fallbacks;  /* ... that turned from the device to the CPU */
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
	uint64 lookups;	 /* executions that joined few outer rows by a nested loop into an index */
	uint64 switches; /* executions that counted more outer rows, and hashed the inner side */
	TimestampTz reset_at;
} HgStatCounters;

/*
 * Choose where the counters live.  There are none if the library is not in
 * shared_preload_libraries.  Call once, from _PG_init.
 */
extern void hg_counters_init(void);

/*
 * Lock this database's counters and return them, or NULL if the server has none.  They may be read
 * and changed until hg_counters_unlock.  Until then the caller must not wait, take a lock or raise
 * an error.
 */
extern HgStatCounters *hg_counters_lock(void);
extern void hg_counters_unlock(void);

/* Set locked counters to 0, as of a time. */
extern void hg_counters_clear(HgStatCounters *counters, TimestampTz reset_at);

#endif /* HG_COUNTERS_H */
