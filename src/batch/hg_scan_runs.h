/*-------------------------------------------------------------------------
 *
 * hg_scan_runs.h
 *	  Rows of a table scan that are read from cached columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_RUNS_H
#define HG_SCAN_RUNS_H

#include "batch/hg_scan_resident.h"
#include "batch/hg_scan_select.h"

typedef struct HgScanRuns HgScanRuns;

/*
 * A reader of the table's attributes attnos[nattnos], where the qual is made of qual_attnos[nqual].
 * The scan of resident columns has all of them.  In CurrentMemoryContext.
 */
extern HgScanRuns *hg_scan_runs_create(HgScanSelect *select, HgResidentScan *resident, int nattnos,
									   const AttrNumber *attnos, int nqual,
									   const AttrNumber *qual_attnos);

/*
 * Is it known of a run's segment that the qual leaves none of its rows?  Then they are counted as
 * rows that were returned by the scan, and left out by the qual.
 */
extern bool hg_scan_runs_rule_out(HgScanRuns *runs, const HgResidentRun *run);

/*
 * Of a run that hg_scan_runs_rule_out() does not rule out, which is to be asked first: add the next
 * rows that are not left out to a batch, as many as their values by
 * reference, of which *room bytes may be added, allow; *room becomes what is left.  Returns how
 * many were looked at, which are counted as returned by the scan.  The scan's slot may have been
 * used, and is empty then.
 */
extern int hg_scan_runs_add(HgScanRuns *runs, const HgResidentRun *run, HgBatch *batch, Size *room);

/*
 * What is known of the rows of the segment that the scan stands at: does the qual leave all of
 * them, or none?
 */
extern HgPredicateShare hg_scan_runs_judge(HgScanRuns *runs, uint32 segment);

/*
 * Set the bits of those of its rows first .. first + nrows - 1 that the qual leaves, by their
 * numbers in the segment; the plan's counters are raised.  Returns how many they are.
 */
extern uint32 hg_scan_runs_mark(HgScanRuns *runs, uint32 first, uint32 nrows, uint64 *bits);

/* The same of those of rows first .. end - 1 alone that have their bit set in seen[]. */
extern uint32 hg_scan_runs_mark_seen(HgScanRuns *runs, const uint64 *seen, uint32 first, uint32 end,
									 uint64 *bits);

/* May rows of a run go behind those of a batch? */
extern bool hg_scan_runs_join(const HgScanRuns *runs, const HgBatch *batch);

/* Where the next rows of a run lie, as HgRun has it; false where they don't lie so. */
extern bool hg_scan_runs_values(const HgScanRuns *runs, const HgResidentRun *run,
								const void **values);

/* Do they lie so? */
extern bool hg_scan_runs_lie(const HgScanRuns *runs, const HgResidentRun *run);

#endif /* HG_SCAN_RUNS_H */
