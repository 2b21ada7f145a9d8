/*-------------------------------------------------------------------------
 *
 * hg_scan_table.h
 *	  The table of a sequential scan, and which of its blocks are read from cached columns.
 *
 * The valid blocks are determined once, before the scan's first row is asked for.
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

/* This file's own: others read it. */
typedef struct HgScanTable
{
	SeqScanState *node;
	HgBatchSource *source; /* that this belongs to */
	int nattnos;
	AttrNumber *attnos; /* [nattnos] of the table's columns */
	HgScanSelect *select;
	Bitmapset *qual_attnos;	  /* attributes of the table that the qual is made of */
	bool qual_is_odd;		  /* ... and of what can't be resident */
	bool decided;			  /* true once the valid blocks are known */
	HgResidentScan *resident; /* NULL: nothing */
	HgScanRuns *runs;		  /* of that; or NULL */
} HgScanTable;

/*
 * Returns the table behind the attributes attnos[nattnos] of a plan's result rows, in
 * CurrentMemoryContext; NULL where the plan is no sequential scan that can be read by pages.  The
 * source that it belongs to tells whether cached columns may be used, and counts the table's
 * blocks.
 */
extern HgScanTable *hg_scan_table_create(PlanState *plan, int nattnos, const int *attnos,
										 HgBatchSource *source);

/* Was the table, or its file, made by the transaction that is still open? */
extern bool hg_scan_table_is_new(const HgScanTable *table);

/*
 * Adds the blocks of the table: those that a scan would read from the cache as things stand, and
 * others.
 */
extern void hg_scan_table_expect(const HgScanTable *table, HgScanBlocks *blocks);

/* Why the table, which has cached columns, was not read from them where it was scanned; or NULL. */
extern const char *hg_scan_table_why_not(const HgScanTable *table);

/* The key that a graph must have to cover rows, with the table's columns as they are. */
extern void hg_scan_table_graph_key(const HgScanTable *table, HgGraphKey *key);

/* Determines the valid blocks of a scan that has not been read, of so many blocks at least. */
extern void hg_scan_table_decide(HgScanTable *table, BlockNumber nblocks);

/*
 * Opens a scan whose valid blocks are known, of a table of so many segments, in
 * CurrentMemoryContext.
 */
extern void hg_scan_table_open(HgScanTable *table, HgValidBlocks *valid, uint32 nsegments);

/* Returns the scan of the plan, begun, with its valid blocks determined. */
extern TableScanDesc hg_scan_table_begin(HgScanTable *table);

#endif /* HG_SCAN_TABLE_H */
