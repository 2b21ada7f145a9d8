/*-------------------------------------------------------------------------
 *
 * hg_scan_runs.h
 *	  Reads rows of a table scan from cached columns.
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
 * Creates a reader of the table's attributes attnos[nattnos], in CurrentMemoryContext.  The qual
 * uses qual_attnos[nqual].  resident must have all of them.
 */
extern HgScanRuns *hg_scan_runs_create(HgScanSelect *select, HgResidentScan *resident, int nattnos,
									   const AttrNumber *attnos, int nqual,
									   const AttrNumber *qual_attnos);

/*
 * Returns true if no row of the run's segment can pass the qual.  The run's rows are then counted
 * as returned by the scan and removed by the qual.
 */
extern bool hg_scan_runs_rule_out(HgScanRuns *runs, const HgResidentRun *run);

/*
 * Appends the next rows of a run that pass the check and the qual to a batch;
 * hg_scan_runs_rule_out() must have returned false.  By-reference values may take *room bytes,
 * from which theirs are subtracted.  Returns the number of rows read, which are counted as
 * returned by the scan.  It may use the scan's slot, which is then empty.
 */
extern int hg_scan_runs_add(HgScanRuns *runs, const HgResidentRun *run, HgBatch *batch, Size *room);

/* Returns the share of rows that pass the qual, in the segment that the scan is at. */
extern HgPredicateShare hg_scan_runs_judge(HgScanRuns *runs, uint32 segment);

/*
 * Sets the bits of the rows first .. first + nrows - 1 that pass the qual, by row number in the
 * segment.  Raises the plan's counters.  Returns the number of bits set.
 */
extern uint32 hg_scan_runs_mark(HgScanRuns *runs, uint32 first, uint32 nrows, uint64 *bits);

/* Does the same for the rows first .. end - 1 whose bit in seen[] is set. */
extern uint32 hg_scan_runs_mark_seen(HgScanRuns *runs, const uint64 *seen, uint32 first, uint32 end,
									 uint64 *bits);

/* Returns true if rows of the current run may be appended to the batch. */
extern bool hg_scan_runs_join(const HgScanRuns *runs, const HgBatch *batch);

/*
 * Sets values[] to the arrays of the run's next values, one for each of attnos.  Returns false,
 * and the rows must be appended to a batch instead, if a column has NULLs or is by reference.
 */
extern bool hg_scan_runs_values(const HgScanRuns *runs, const HgResidentRun *run,
								const void **values);

/* Returns what hg_scan_runs_values() would return. */
extern bool hg_scan_runs_lie(const HgScanRuns *runs, const HgResidentRun *run);

#endif /* HG_SCAN_RUNS_H */
