/*-------------------------------------------------------------------------
 *
 * hg_input.h
 *	  One input of a join: read, encoded, and kept as columns.
 *
 * An input reads rows from its child plan, or back from a partition of a spill set,
 * into
 *
 *	words		the key words, which the engine joins by row number;
 *	rows		the columns that are needed above, under the same row numbers;
 *	null_rows	the same for rows whose key is NULL, where the join returns them.
 *
 * Where nobody looks at the rows, and words are many, they may become bits (hg_key_bits.h) in place
 * of all of that.
 *
 * Where a resident HashGraph has the keys of some of the child's rows, the join may COVER these
 * (hg_covered.h).  Covered rows are not read, and have the graph's numbers.  Delta rows, which are
 * read, have numbers behind them.
 *
 * Where only some of the rows in memory are to be joined, words and rows are copies of these, and
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
	bool keep_null_keys; /* rows with a NULL key are returned by the join */

	/* how rows come from the child */
	HgBatchSource *child;
	HgBatch *batch;	   /* its rows: columns that are needed for keys or above */
	int *batch_attnos; /* [batch->ncolumns] places of its columns in the child's rows, from 0 */
	HgInputKeys keys;  /* of these rows */
	int encoded;	   /* rows of the batch that have been returned with their keys */

	TupleDesc scan_desc; /* of the join's scan slot */
	int ncolumns;		 /* columns needed above */
	int *from;	/* [ncolumns] their places in keys.values, whose first columns are batch's */
	int *to;	/* [ncolumns] their places in the scan slot, from 0 */
	int *dense; /* [ncolumns] 0, 1, 2, ... */

	bool may_run;			 /* a key in an array is a word: rows may come as runs */
	const void **run_values; /* [batch->ncolumns] of a run */

	HgFilter *filter; /* rows of the child that it refuses are left out; or NULL */
	HgRowCheck check; /* asks the filter, for the child; columns is NULL where it can't be asked */
	int *check_columns;	 /* [nparts] the keys' columns in its batches */
	bool filtered;		 /* some were, since the child was last read from its start */
	HgFilter *collector; /* the keys of the child's rows are added to it; or NULL */

	HgCovered *covered;			   /* rows that are not read; or NULL */
	MemoryContext covered_context; /* theirs */
	HgCharge covered_charge;	   /* of what they take */
	uint64 covered_read;		   /* ... of which so many are among rows_read */
	int *covered_to;   /* [batch->ncolumns] as to, of those that are needed above; or -1 */
	HgUncover uncover; /* rows that were covered, and are read now */

	HgProgress *progress; /* of what the rows are read for; or NULL */

	HgSender *sender; /* keys are sent by it as they are read; or NULL */
	uint64 send_at;	  /* when there are so many */

	HgBudget budget; /* of what follows, with what the engine needs to join it */
	HgKeyColumn *words;
	HgColumnStore *rows;
	HgColumnStore *null_rows;
	HgKeyBits *bits;		   /* the keys, but for those in words; or NULL: they are not bits */
	bool selected;			   /* words and rows are a selection of the rows in memory */
	HgKeyColumn *spare_words;  /* then the words of all rows; otherwise empty, or NULL */
	HgColumnStore *spare_rows; /* likewise */

	HgSpill *source;	   /* read from here, not from the child; or NULL */
	int partition;		   /* of the source */
	HgBatch *stored_batch; /* rows on the way from or to a spill set: the needed columns */
	bool at_end;		   /* the source, or the child, has no more rows */

	/* over all scans of the child */
	uint64 rows_read; /* rows that have come from it, but for those that a filter refused */
	uint64 null_keys; /* ... whose key was NULL */
	uint64 refused;	  /* rows that a filter refused, here or in the child: no key is one */
} HgInput;

/* Rows wherever they were read: column i of a row is column at[i] of the batch. */
typedef struct HgInputRows
{
	const HgBatch *batch;
	const int *at;
	int nkeys;			 /* rows with a key ... */
	const uint16 *which; /* ... are these; NULL: the first ones, which are all */
	int nnull;			 /* rows without a key that are kept */
	uint16 key_rows[HG_BATCH_ROWS];
	uint16 null_rows[HG_BATCH_ROWS];
} HgInputRows;

/*
 * What makes the source of a child plan: of the attributes attnos[nattnos] (from 1, each once)
 * of its rows, in that order, in CurrentMemoryContext.
 */
typedef HgBatchSource *(*HgSourceMaker)(PlanState *plan, int nattnos, const int *attnos);

/* A column that is kept with the rows of an input. */
typedef struct HgInputColumn
{
	int attno; /* of the child's rows, from 1; or 0: it is the value of a key ... */
	int part;  /* ... of this one, which is no column of the child */
	int to;	   /* its place in the scan slot of the join, from 0 */
} HgInputColumn;

/*
 * Makes an empty input in CurrentMemoryContext.  key_exprs[encoder->nparts] refer to the child's
 * columns as OUTER_VAR or INNER_VAR, by side; parent owns them, and its scan slot.  Rows in memory
 * are charged to budget, as the input's part of it.
 */
extern HgInput *hg_input_create(HgSide side, PlanState *plan, ScanState *parent,
								HgKeyEncoder *encoder, List *key_exprs, int ncolumns,
								const HgInputColumn *columns, bool keep_null_keys,
								HgSourceMaker make_source, HgBudget *budget);

/* Make an empty store of the columns of an input, in CurrentMemoryContext and its budget. */
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

/* Returns the memory that is allocated, whether there are rows in it or not. */
extern uint64 hg_input_reserved(const HgInput *input);

/* Bytes a row will take, for estimates before there is one; width is the plan's. */
extern uint64 hg_input_row_bytes(uint32 key_width, int row_width);

/* Returns the number of rows in memory, those with a NULL key included. */
static inline uint64
hg_input_rows(const HgInput *input)
{
	return input->words->rows + input->null_rows->rows;
}

/*
 * Reads on until the end (at_end is set), until the budget is full or as many rows as an engine
 * takes are in memory, or until max_rows rows are.  Rows are read by batches, and a partition that
 * is read again comes in the same batches: a number of rows at which reading stopped is one at
 * which it can stop again.
 */
extern void hg_input_fill(HgInput *input, uint64 max_rows);

/*
 * True if the input has no row: none in memory, none covered, and none left to be read.  Fetches
 * the child's next batch if that is needed to know; the rows of that batch are read later.
 */
extern bool hg_input_is_empty(HgInput *input);

/* Returns the number of rows in memory that have a key; keys that are bits count once each. */
static inline uint64
hg_input_keys(const HgInput *input)
{
	return input->words->rows + (input->bits != NULL ? input->bits->map.keys : 0);
}

/*
 * The next rows of the source or the child, instead of holding them, with their keys' words by
 * their places in the batch; valid until the next call.  False at the end, and at_end is set.
 */
extern bool hg_input_read(HgInput *input, HgInputRows *rows, HgSpillKeys *keys);

/*
 * The same of rows that lie in arrays, where they come so and the keys are there as the engine
 * takes them: nobody looks at a row then.  run->values is input->run_values.  False: they are read
 * as batches.
 */
extern bool hg_input_read_run(HgInput *input, int max_rows, HgRun *run);

/* Hold rows with a key that hg_input_read has returned: their words and columns, under the same
 * numbers. */
extern void hg_input_keep(HgInput *input, const HgInputRows *rows, const HgSpillKeys *keys);

/* Returns the first number of the rows in memory. */
static inline uint32
hg_input_first_number(const HgInput *input)
{
	return input->covered != NULL ? input->covered->first_other : 0;
}

/* Add the keys of rows that the child returns to a begun filter, from now on; NULL: to none. */
extern void hg_input_set_collector(HgInput *input, HgFilter *collector);

/* From now on a sender gets the keys that are in memory; NULL: none does. */
extern void hg_input_set_sender(HgInput *input, HgSender *sender);

/*
 * Leave out the child's rows that a filter refuses, from now on; NULL: none.  The filter before
 * is destroyed.
 */
extern void hg_input_set_filter(HgInput *input, HgFilter *filter);

/* Forgets the rows in memory, but keeps the memory for the next rows; at_end stays as it is. */
extern void hg_input_clear(HgInput *input);

/* Forgets the rows in memory, and frees the memory; at_end stays as it is. */
extern void hg_input_release(HgInput *input);

/*
 * Forgets the rows in memory, and reads from the child again, which the caller rescans.  A filter
 * stays: it tells of the rows of the other side.
 */
extern void hg_input_restart(HgInput *input);

/* The same, and rescan the child, unless it does that itself as its parameters have changed. */
extern void hg_input_rescan(HgInput *input);

#endif /* HG_INPUT_H */
