/*-------------------------------------------------------------------------
 *
 * hg_scan_table.h
 *	  The table of a sequential scan, and which of its blocks are read from cached columns.
 *
 * hg_scan_create() makes a source of batches (hg_batch.h) for a child plan.  For each table that it
 * scans, the source has an HgScanTable, and calls hg_scan_table_fill() or hg_scan_table_run() for
 * rows.  A block is valid if the cache has its rows as the snapshot sees them.  The valid blocks
 * are determined once, before the scan's first row is read: HgScanRuns reads them from cached
 * columns, and HgScanHeap reads the other blocks.  A join may cover rows (hg_covered.h) before
 * that.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_TABLE_H
#define HG_SCAN_TABLE_H

#include "access/relscan.h"
#include "nodes/execnodes.h"

#include "batch/hg_batch.h"
#include "batch/hg_graph_key.h"
#include "batch/hg_scan_qual.h"
#include "batch/hg_scan_resident.h"
#include "batch/hg_shared_covered.h"

/* hg_scan_heap.c: reads rows of a table scan from the heap, a page at a time */

typedef struct HgScanHeap HgScanHeap;

/* Creates a reader of the table's attributes attnos[nattnos], in CurrentMemoryContext. */
extern HgScanHeap *hg_scan_heap_create(HgScanSelect *select, int nattnos, const AttrNumber *attnos);

/*
 * Appends rows of the scan that pass the select's check and qual to a batch, as
 * hg_scan_table_fill() does.  Counts the blocks in source->tables.  Returns false at the end.
 */
extern bool hg_scan_heap_fill(HgScanHeap *heap, TableScanDesc scan, HgBatch *batch,
							  const HgBatchSource *source);

/*
 * Reads the block run->block from the heap, from row run->taken on, and appends its rows that pass
 * to a batch; hg_scan_heap_fits() must be true.  Rows older than an added column may take max_bytes
 * for its default; 0 is no limit.  Returns the number of rows read, and sets *all to whether they
 * are the block's last.
 */
extern int hg_scan_heap_add_block(HgScanHeap *heap, TableScanDesc scan, const HgResidentRun *run,
								  HgBatch *batch, Size max_bytes, bool *all);

/* Returns true if the rows of one more block may be appended to the batch. */
extern bool hg_scan_heap_fits(const HgScanHeap *heap, const HgBatch *batch);

/* Returns true if the batch has rows with by-reference values, which point into a pinned page. */
extern bool hg_scan_heap_holds(const HgScanHeap *heap, const HgBatch *batch);

/* hg_scan_runs.c: reads rows of a table scan from cached columns */

typedef struct HgScanRuns HgScanRuns;

/*
 * Creates a reader of the table's attributes attnos[nattnos], in CurrentMemoryContext.  The qual
 * uses qual_attnos[nqual], which must outlive the reader.  resident must have all of them.
 */
extern HgScanRuns *hg_scan_runs_create(HgScanSelect *select, HgResidentScan *resident, int nattnos,
									   const AttrNumber *attnos, int nqual,
									   const AttrNumber *qual_attnos);

/*
 * Returns true if no row of the run's segment can pass the check and the qual.  The run's rows are
 * then counted as returned by the scan and removed by one of them.
 */
extern bool hg_scan_runs_rule_out(HgScanRuns *runs, const HgResidentRun *run);

/*
 * Makes an unread scan that no other process shares read segments in the order of their least or
 * greatest values of an attribute, which resident has (HgRowOrder).  Call it once.
 */
extern void hg_scan_runs_set_order(HgScanRuns *runs, AttrNumber attno, HgRowOrder *order);

/*
 * Appends the next rows of a run that pass the check and the qual to a batch, up to HG_BATCH_ROWS
 * in all; hg_scan_runs_rule_out() must have returned false.  By-reference values may take *room
 * bytes, from which theirs are subtracted.  Returns the number of rows read, which are counted as
 * returned by the scan; the caller skips them.  It may use the scan's slot, which is then empty.
 */
extern int hg_scan_runs_add(HgScanRuns *runs, const HgResidentRun *run, HgBatch *batch, Size *room);

/*
 * Returns the share of a segment's rows that pass the qual, by the bounds of the segment's values.
 * The scan's columns must be at this segment (hg_resident_scan_stand()).
 */
extern HgPredicateShare hg_scan_runs_share(HgScanRuns *runs, uint32 segment);

/*
 * Sets bits[] of the rows first .. first + nrows - 1 that pass the qual, by row number in the
 * segment at which the columns are, and keeps other bits.  Counts filtered rows for EXPLAIN.
 * Returns the number of bits set.  hg_scan_runs_share() comes first.
 */
extern uint32 hg_scan_runs_mark(HgScanRuns *runs, uint32 first, uint32 nrows, uint64 *bits);

/* As hg_scan_runs_mark(), for the rows first .. end - 1 whose bit in seen[] is set. */
extern uint32 hg_scan_runs_mark_seen(HgScanRuns *runs, const uint64 *seen, uint32 first, uint32 end,
									 uint64 *bits);

/* Returns true if rows of the current run may be appended to the batch: their scales agree. */
extern bool hg_scan_runs_join(const HgScanRuns *runs, const HgBatch *batch);

/*
 * Sets values[] to the arrays in the cache of the run's next values, one for each of attnos.
 * Returns false if a column has NULLs or is by reference; the rows then need a batch.
 */
extern bool hg_scan_runs_values(const HgScanRuns *runs, const HgResidentRun *run,
								const void **values);

/* Returns true if hg_scan_runs_values() would find all values in arrays. */
extern bool hg_scan_runs_has_values(const HgScanRuns *runs, const HgResidentRun *run);

/*
 * hg_scan_table.c: the table of a sequential scan, and which of its blocks are read from cached
 * columns
 */

/* The fields are read-only for other files. */
typedef struct HgScanTable
{
	SeqScanState *node;
	const HgBatchSource *source; /* the source that scans the table */
	int nattnos;
	AttrNumber *attnos; /* [nattnos] the consumer's columns */
	HgScanSelect *select;
	Bitmapset *qual_attnos;	  /* attributes that the qual uses */
	bool qual_is_odd;		  /* the qual also uses system columns or the whole row */
	HgGraphKey *key;		  /* the key by which rows are joined; NULL if no graph can have it */
	bool decided;			  /* the valid blocks are known */
	HgResidentScan *resident; /* NULL if no block is valid */
	HgScanRuns *runs;		  /* reads resident; NULL if that is NULL */
	HgScanHeap *heap;		  /* reads pages of the table */
	bool takes_runs;		  /* the consumer has requested an HgRun since the last batch */
	bool projected;			  /* the consumer's columns are computed from the table's */
	bool ordered;			  /* segments are read in the order that the source wants */
} HgScanTable;

/* Numbers of blocks, by where a scan has read them or would read them. */
typedef struct HgScanBlocks
{
	uint64 resident; /* read from cached columns */
	uint64 heap;	 /* read from the table */
} HgScanBlocks;

/* The tables that a source scans: one, or those of an Append. */
struct HgScanTables
{
	HgScanBlocks blocks; /* blocks that were read, over all scans */
	List *list;			 /* of HgScanTables, also those below subquery scans */
	/* The table if the source scans nothing else, so that rows can be covered; or NULL. */
	HgScanTable *only;
};

/*
 * Creates a reader of the table's attributes attnos[nattnos], from 1 and each once, in
 * CurrentMemoryContext.  Returns NULL if the plan is not a sequential scan that can be read by
 * pages.  The caller adds it to source->tables before it is read.
 */
extern HgScanTable *hg_scan_table_create(PlanState *plan, int nattnos, const int *attnos,
										 const HgBatchSource *source);

/*
 * Returns the blocks that were read, over all scans.  This and the following functions accept NULL
 * in place of the tables of a source that scans none.
 */
extern HgScanBlocks hg_scan_tables_blocks(const HgScanTables *tables);

/* Estimates the blocks that a scan would now read from the cache, and the others. */
extern HgScanBlocks hg_scan_tables_expect(const HgScanTables *tables);

/* Returns, after a scan, why a table with cached columns was not read from them, or NULL. */
extern const char *hg_scan_tables_why_not(const HgScanTables *tables);

/*
 * Sets the key by which rows are joined, before the first row is read: columns[ncolumns] of the
 * source's batches, whose values parts[ncolumns] encode into words.  A table from whose columns
 * the source computes its own gets no key.
 */
extern void hg_scan_tables_set_key(HgScanTables *tables, int ncolumns, const int *columns,
								   const HgGraphPart *parts);

/* Adds to *blocks the table's blocks that a scan would now read from the cache, and the others. */
extern void hg_scan_table_expect(const HgScanTable *table, HgScanBlocks *blocks);

/* Determines the valid blocks of an unread scan of at least nblocks blocks, and pins their data. */
extern void hg_scan_table_decide(HgScanTable *table, BlockNumber nblocks);

/*
 * Gives an unread scan its valid blocks, which the caller knows (hg_resident_scan_open()).
 * Allocates in CurrentMemoryContext.
 */
extern void hg_scan_table_open(HgScanTable *table, HgValidBlocks *valid, uint32 nsegments);

/* Returns the plan's scan; begins it and determines its valid blocks if that was not done. */
extern TableScanDesc hg_scan_table_begin(HgScanTable *table);

/* ---------------------------------------------------------------------
 * Rows (hg_scan_pages.c)
 * ---------------------------------------------------------------------
 */

/*
 * Appends rows that pass the plan's qual to a batch.  Returns true if it has appended rows. Returns
 * false when the scan has ended, perhaps with some last rows; it must then not be called again
 * until a rescan.  By-reference values point into a page that is pinned until the next call, into
 * cached columns, or to defaults of added columns.  The latter two are bounded as hg_batch.h says.
 * The check (or NULL) is applied if that pays, and sets batch->checked; the batch of a caller with
 * a check is empty.
 */
extern bool hg_scan_table_fill(HgScanTable *table, HgBatch *batch, HgRowCheck *check);

/*
 * Sets *run to the next rows, up to max_rows, as arrays in the cache (hg_batch.h).  run->values has
 * room for nattnos.  Returns false if the plan has a qual, or the next rows are not in the cache or
 * need a batch; it has then at most passed over rows that the source's check rejects.
 */
extern bool hg_scan_table_run(HgScanTable *table, int max_rows, HgRun *run);

/* ---------------------------------------------------------------------
 * Covered rows (hg_scan_cover.c), of a table with a key
 * ---------------------------------------------------------------------
 */

/*
 * Estimates how much of the table a cached graph with its key, which is not NULL, would cover,
 * before the qual.  All zeroes if there is none, if the qual is not over columns alone, or if the
 * scan may not read the cache.
 */
extern HgGraphExtent hg_scan_table_may_cover(const HgScanTable *table);

/*
 * Pins the graph that hg_scan_table_may_cover() has found, as long as CurrentMemoryContext lives.
 * Sets numbers[ncolumns] to the table's attribute numbers of the source's columns
 * columns[ncolumns].  Returns NULL if there is no graph.
 */
extern HgPinnedGraph *hg_scan_table_pin_graph(const HgScanTable *table, int ncolumns,
											  const int *columns, AttrNumber *numbers);

/*
 * Finds the n-th graph, from 0, of the table whose columns are those of the key in any order.  Sets
 * order[]: column i of the graph is column order[i] of the key.  Returns false if there is none.
 */
extern bool hg_scan_table_graph_order(const HgScanTable *table, int n, int *order);

/*
 * Covers the rows that a cached HashGraph has and that pass the qual, before the first row is read,
 * in CurrentMemoryContext.  The source then returns the other rows, in this scan and its rescans.
 * Returns NULL if no row is covered.
 *
 * shared is NULL, or the shared state of a parallel scan that has not begun.  In the latter case
 * the leader calls this, and it publishes what is covered in shared and in the query's DSA.  If
 * pending is true and shared is NULL, the qual may stay a pending predicate of the covered rows
 * (hg_covered.h).
 */
extern HgCovered *hg_scan_table_cover(HgScanTable *table, bool pending, HgSharedCovered *shared);

/*
 * In a worker, before the first row is read: covers the rows that the leader has covered, in
 * CurrentMemoryContext.  pins has their versions (hg_shared_covered.h).
 */
extern HgCovered *hg_scan_table_attach_covered(HgScanTable *table, const HgSharedCovered *shared,
											   const HgSharedPins *pins);

/* hg_scan.c: reads the child plan of a join as batches */

/*
 * Creates a source of the attributes attnos[nattnos] (from 1, each once) of a plan's rows, in that
 * order, in CurrentMemoryContext.  Sequential scans of heap tables are read by pages, also below
 * an Append or a subquery scan; any other plan by ExecProcNode.  Nothing else may read the plan.
 * The caller rescans the plan (ExecReScan); the source itself rescans a plan with changed
 * parameters (chgParam).
 */
extern HgBatchSource *hg_scan_create(PlanState *plan, int nattnos, const int *attnos);

#endif /* HG_SCAN_TABLE_H */
