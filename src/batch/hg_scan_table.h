/*-------------------------------------------------------------------------
 *
 * hg_scan_table.h
 *	  The table of a sequential scan, and which of its blocks are read from cached columns.
 *
 * The valid blocks are determined once, before the scan's first row is read.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_TABLE_H
#define HG_SCAN_TABLE_H

#include "nodes/execnodes.h"

#include "batch/hg_batch.h"
#include "batch/hg_graph_key.h"
#include "batch/hg_scan_resident.h"
#include "batch/hg_scan_runs.h"
#include "batch/hg_scan_select.h"

/* The fields are read-only for other files. */
typedef struct HgScanTable
{
	SeqScanState *node;
	HgBatchSource *source; /* the source that scans the table */
	int nattnos;
	AttrNumber *attnos; /* [nattnos] the consumer's columns */
	HgScanSelect *select;
	Bitmapset *qual_attnos;	  /* attributes that the qual uses */
	bool qual_is_odd;		  /* the qual also uses system columns or the whole row */
	bool decided;			  /* the valid blocks are known */
	HgResidentScan *resident; /* NULL if no block is valid */
	HgScanRuns *runs;		  /* reads resident; NULL if that is NULL */
} HgScanTable;

/*
 * Returns the table whose attributes are attnos[nattnos] of a plan's rows, in
 * CurrentMemoryContext.  Returns NULL if the plan is not a sequential scan that can be read by
 * pages.  The source says whether cached columns may be used, and counts the table's blocks.
 */
extern HgScanTable *hg_scan_table_create(PlanState *plan, int nattnos, const int *attnos,
										 HgBatchSource *source);

/* Returns true if the open transaction has created the table or its file. */
extern bool hg_scan_table_is_new(const HgScanTable *table);

/*
 * Adds the blocks of the table to *blocks: those that a scan would now read from the cache, and
 * the others.
 */
extern void hg_scan_table_expect(const HgScanTable *table, HgScanBlocks *blocks);

/* Returns why a scanned table with cached columns was not read from them, or NULL. */
extern const char *hg_scan_table_why_not(const HgScanTable *table);

/* Sets the key that a graph must have to cover rows, with the table's columns. */
extern void hg_scan_table_graph_key(const HgScanTable *table, HgGraphKey *key);

/* Determines the valid blocks of an unread scan of at least nblocks blocks. */
extern void hg_scan_table_decide(HgScanTable *table, BlockNumber nblocks);

/* Opens a scan whose valid blocks are known, in CurrentMemoryContext. */
extern void hg_scan_table_open(HgScanTable *table, HgValidBlocks *valid, uint32 nsegments);

/* Begins the plan's scan, if needed, determines its valid blocks, and returns it. */
extern TableScanDesc hg_scan_table_begin(HgScanTable *table);

#endif /* HG_SCAN_TABLE_H */
