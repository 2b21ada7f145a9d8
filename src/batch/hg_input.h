/*-------------------------------------------------------------------------
 *
 * hg_input.h
 *	  One input of a join: read, encoded, and stored as columns.
 *
 * An input reads rows from its child plan, or from a partition of a spill set, into three stores:
 *
 * - words: the key words, which the engine joins by row number.
 * - rows: the columns that are needed above, under the same row numbers.
 * - null_rows: the columns of rows whose key is NULL, if the join returns them.
 *
 * If the join reads no column of many rows, a bitmap of keys (hg_key_bits.h) may replace all
 * three.
 *
 * If a cached HashGraph has the keys of some of the child's rows, the join may cover these
 * (hg_covered.h).  Covered rows are not read, and have the graph's numbers.  Delta rows are read,
 * and have the numbers behind.
 *
 * If only some of the rows in memory are to be joined, words and rows have copies of them, and
 * spare_words and spare_rows have all rows (hg_input_select.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_H
#define HG_INPUT_H

#include "nodes/execnodes.h"

#include "backend/hg_budget.h"
#include "backend/hg_progress.h"
#include "batch/hg_column_store.h"
#include "batch/hg_filter.h"
#include "batch/hg_input_keys.h"
#include "batch/hg_key.h"
#include "batch/hg_key_bits.h"
#include "batch/hg_key_column.h"
#include "batch/hg_uncover.h"
#include "batch/hg_spill.h"

typedef struct HgInput
{
	HgSide side;
	PlanState *plan;	 /* the child */
	bool keep_null_keys; /* the join returns rows with a NULL key */

	/* the child's rows */
	HgBatchSource *child;
	HgBatch *batch;	   /* columns that are needed for keys or above */
	int *batch_attnos; /* [batch->ncolumns] attributes of the child's rows, from 0 */
	HgInputKeys keys;  /* of the batch */
	int encoded;	   /* rows of the batch that have been returned with their keys */

	TupleDesc scan_desc; /* of the join's scan slot */
	int ncolumns;		 /* of the columns that are needed above */
	/* [ncolumns] columns of keys.values, whose first columns are batch's. */
	int *from;
	int *to;	/* [ncolumns] columns of the scan slot, from 0 */
	int *dense; /* [ncolumns] 0, 1, 2, ... */

	bool may_run;			 /* an array of keys has words, so that rows may come as runs */
	const void **run_values; /* [batch->ncolumns] of a run */

	HgFilter *filter; /* removes rows of the child; or NULL */
	/* Applies the filter in the child; columns is NULL if that is impossible. */
	HgRowCheck check;
	int *check_columns;	 /* [nparts] the keys' columns in the check's batches */
	bool filtered;		 /* some row was removed since the child was last read from its start */
	HgFilter *collector; /* a filter to which the child's keys are added; or NULL */

	HgCovered *covered;			   /* covered rows; or NULL */
	MemoryContext covered_context; /* of covered rows */
	HgCharge covered_charge;	   /* of covered rows */
	uint64 covered_read;		   /* covered rows that are counted in rows_read */
	/* [batch->ncolumns] column of the scan slot, or -1 if the column is not needed above. */
	int *covered_to;
	HgUncover uncover; /* rows that were covered and are now read */

	HgProgress *progress; /* progress of what the rows are read for; or NULL */

	HgUpload *upload; /* asynchronous upload of keys as they are read; or NULL */
	uint64 upload_at; /* number of words at which to send next */

	HgBudget budget; /* of the following, and of the engine's memory to join it */
	HgKeyColumn *words;
	HgColumnStore *rows;
	HgColumnStore *null_rows;
	HgKeyBits *bits;		   /* a bitmap of keys, except those in words; or NULL */
	bool selected;			   /* words and rows are a selection of the rows in memory */
	HgKeyColumn *spare_words;  /* if selected, the words of all rows; otherwise empty, or NULL */
	HgColumnStore *spare_rows; /* if selected, all rows; otherwise empty, or NULL */

	HgSpill *source;	   /* partitions to read instead of the child; or NULL */
	int partition;		   /* of the source */
	HgBatch *stored_batch; /* rows that are moved from or to a spill set */
	bool at_end;		   /* the source, or the child, has no more rows */

	/* counters over all scans of the child: */
	uint64 rows_read; /* rows that were not removed by a filter */
	uint64 null_keys; /* rows among them with a NULL key */
	uint64 refused;	  /* rows that a filter removed, here or in the child */
} HgInput;

/* Rows that were read.  Column i of a row is column at[i] of the batch. */
typedef struct HgInputRows
{
	const HgBatch *batch;
	const int *at;
	int nkeys;			 /* rows with a key */
	const uint16 *which; /* [nkeys] the rows with a key; NULL for the first nkeys */
	int nnull;			 /* rows with a NULL key, if the join returns them */
	uint16 key_rows[HG_BATCH_ROWS];
	uint16 null_rows[HG_BATCH_ROWS];
} HgInputRows;

/*
 * Creates the source of a child plan: the attributes attnos[nattnos] (from 1, each once) of its
 * rows, in that order, in CurrentMemoryContext.
 */
typedef HgBatchSource *(*HgSourceMaker)(PlanState *plan, int nattnos, const int *attnos);

/* A column that an input stores with its rows. */
typedef struct HgInputColumn
{
	int attno; /* of the child's rows, from 1; 0 for the value of a key */
	int part;  /* if attno is 0: the key's number */
	int to;	   /* column of the join's scan slot, from 0 */
} HgInputColumn;

/*
 * Creates an empty input in CurrentMemoryContext.  key_exprs[encoder->nparts] refer to the child's
 * columns as OUTER_VAR or INNER_VAR, by side.  parent owns them and the scan slot.  Rows in memory
 * are charged to budget.
 */
extern HgInput *hg_input_create(HgSide side, PlanState *plan, ScanState *parent,
								HgKeyEncoder *encoder, List *key_exprs, int ncolumns,
								const HgInputColumn *columns, bool keep_null_keys,
								HgSourceMaker make_source, HgBudget *budget);

/* Creates an empty store of the input's columns, in CurrentMemoryContext. */
static inline HgColumnStore *
hg_input_create_store(HgInput *input)
{
	int *attnos = palloc(Max(input->ncolumns, 1) * sizeof(int));
	HgColumnStore *store;

	for (int i = 0; i < input->ncolumns; i++)
		attnos[i] = input->to[i] + 1;
	store = hg_column_store_create(CurrentMemoryContext, input->scan_desc, input->ncolumns, attnos,
								   &input->budget);
	pfree(attnos);
	return store;
}

/* Returns the bytes of the stores' memory, used or not. */
extern uint64 hg_input_reserved(const HgInput *input);

/* Returns the estimated bytes of a row; row_width is the plan's. */
extern uint64 hg_input_row_bytes(uint32 key_width, int row_width);

/* Returns the number of rows in memory, including those with a NULL key. */
static inline uint64
hg_input_rows(const HgInput *input)
{
	return input->words->rows + input->null_rows->rows;
}

/*
 * Reads rows into memory until the end (at_end is then set), until the budget is full or the
 * engine's most rows are in memory, or until max_rows rows are.  Rows are read by batches.  A
 * partition that is read again has the same batches, so that reading can stop again at the same
 * number of rows.
 */
extern void hg_input_fill(HgInput *input, uint64 max_rows);

/*
 * Returns true if the input has no row in memory, covered or left to read.  It may fetch the
 * child's next batch, whose rows are read later.
 */
extern bool hg_input_is_empty(HgInput *input);

/* Returns the number of rows in memory with a key; each key of a bitmap counts once. */
static inline uint64
hg_input_keys(const HgInput *input)
{
	return input->words->rows + (input->bits != NULL ? input->bits->map.keys : 0);
}

/*
 * Reads the next rows without storing them.  keys has their words by row of the batch.  Both are
 * valid until the next call.  Returns false at the end, and sets at_end.
 */
extern bool hg_input_read(HgInput *input, HgInputRows *rows, HgSpillKeys *keys);

/*
 * Reads the next rows as a run, of which the key's array has the engine's words.  Sets run->values
 * to input->run_values.  Returns false if the next rows must be read as a batch.
 */
extern bool hg_input_read_run(HgInput *input, int max_rows, HgRun *run);

/* Stores rows with a key that hg_input_read() has returned: their words and columns. */
extern void hg_input_store(HgInput *input, const HgInputRows *rows, const HgSpillKeys *keys);

/* Returns the number of the first row in memory; covered rows have lower numbers. */
static inline uint32
hg_input_first_number(const HgInput *input)
{
	return input->covered != NULL ? input->covered->first_other : 0;
}

/* Adds the keys of the child's next rows to a Bloom filter; NULL ends that. */
extern void hg_input_set_collector(HgInput *input, HgFilter *collector);

/* Uploads keys asynchronously through an upload as they are stored; NULL ends that. */
extern void hg_input_set_upload(HgInput *input, HgUpload *upload);

/*
 * Removes the child's next rows that a filter rejects; NULL ends that.  The input owns the filter;
 * the previous one is destroyed.
 */
extern void hg_input_set_filter(HgInput *input, HgFilter *filter);

/* Removes the rows in memory, and keeps the memory for the next ones.  at_end does not change. */
extern void hg_input_clear(HgInput *input);

/* Removes the rows in memory, and frees the memory.  at_end does not change. */
extern void hg_input_release(HgInput *input);

/*
 * Removes the rows in memory, and reads the child from its start; the caller rescans it.  The
 * filter stays, because it depends on the other side only.
 */
extern void hg_input_restart(HgInput *input);

/* Does the same, and rescans the child, unless changed parameters make the child rescan itself. */
extern void hg_input_rescan(HgInput *input);

#endif /* HG_INPUT_H */
