/*-------------------------------------------------------------------------
 *
 * hg_counters.h
 *	  Counters of each database's joins, shared by all sessions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COUNTERS_H
#define HG_COUNTERS_H

#include "datatype/timestamp.h"

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

#endif /* HG_COUNTERS_H */
