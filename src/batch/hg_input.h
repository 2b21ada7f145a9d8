/*-------------------------------------------------------------------------
 *
 * hg_input.h
 *	  One input of a join: the rows of a child plan or of partitions on disk, and those in memory.
 *
 * The join node creates an input for each side.  An input reads rows from its child plan
 * (hg_child_rows.h), or from a partition of a spill set (hg_spill.h).  They go into memory
 * (hg_input_fill()), to a spill set (hg_input_spill()), or to a stream (HgInputStream).  Each row's
 * key is a word (hg_key.h), which the engine joins.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_H
#define HG_INPUT_H

#include "batch/hg_child_rows.h"
#include "batch/hg_held_rows.h"
#include "batch/hg_spill.h"

/* A partition of a spill set, which is read instead of the child. */
typedef struct HgInputPartition
{
	HgSpill *spill; /* NULL: the child is read */
	int number;
} HgInputPartition;

typedef struct HgInput
{
	HgChildRows child;
	HgHeldRows held;
	HgInputPartition partition;
	bool at_end; /* the partition, or the child, has no more rows */
} HgInput;

/*
 * Creates an empty input in CurrentMemoryContext.  columns[ncolumns] are needed above, in the scan
 * slot of parent.  Rows in memory are charged to budget.  See hg_child_init() for the rest.
 */
extern HgInput *hg_input_create(HgSide side, PlanState *plan, ScanState *parent,
								HgKeyEncoder *encoder, List *key_exprs, int ncolumns,
								const HgInputColumn *columns, bool keep_null_keys,
								HgSourceMaker make_source, HgBudget *budget);

/*
 * Reads rows into memory until the end (at_end is then set), until the budget is full or the
 * engine's most rows are in memory, or until max_rows rows are.  Rows are read by batches.  A
 * partition that is read again has the same batches, so that reading can stop again at the same
 * number of rows.
 */
extern void hg_input_fill(HgInput *input, uint64 max_rows);

/*
 * Reads keys into the bitmap, after hg_held_begin_bits(), until the end (at_end is then set).
 * Returns false if the next key cannot be added.  The rows read but not added are then in words,
 * and the input can be spilled.
 */
extern bool hg_input_fill_bits(HgInput *input);

/* Returns true if no row is in memory or was read from the child since its start. */
static inline bool
hg_input_is_unread(const HgInput *input)
{
	return !input->at_end && input->child.batch->nrows == 0 && input->partition.spill == NULL &&
		   hg_held_count(&input->held) == 0;
}

/*
 * Returns true if the input has no row in memory, covered or left to read.  It may fetch the
 * child's next batch, whose rows are read later.
 */
extern bool hg_input_is_empty(HgInput *input);

/*
 * Reads the next rows without storing them: sets *rows, and *keys by row of the batch.  Both are
 * valid until the next call.  Returns false at the end, and sets at_end.
 */
extern bool hg_input_read(HgInput *input, HgInputRows *rows, HgSpillKeys *keys);

/* Reads the next rows as a run, as hg_child_read_run() does. */
extern bool hg_input_read_run(HgInput *input, int max_rows, HgRun *run);

/* Returns the number of ordinals (hg_covered.h) of covered rows and rows in memory. */
static inline uint64
hg_input_count_ordinals(const HgInput *input)
{
	const uint64 rows = input->held.words->rows;

	return input->child.covered != NULL ? hg_covered_count_ordinals(input->child.covered, rows)
										: rows;
}

/*
 * Fetches the needed columns of rows[nrows], at most HG_BATCH_ROWS numbers, into rows 0 .. nrows -
 * 1 of a batch whose columns are the join's scan slot's.  Either all of them are covered or none
 * is.
 */
extern void hg_input_get(HgInput *input, const uint32 *rows, int nrows, HgBatch *batch);

/*
 * Moves the rows in memory to a spill set, frees their memory, and writes all further rows there.
 * Rows that the child's filter rejects are left out.
 */
extern void hg_input_spill(HgInput *input, HgSpill *spill);

/* Removes the rows in memory, and makes the input read a partition of spill from its start. */
extern void hg_input_set_partition(HgInput *input, HgSpill *spill, int number);

/* Removes the rows in memory, after all partitions were read, and sets at_end. */
extern void hg_input_end_partitions(HgInput *input);

/* Calls hg_child_begin_uncover(), after which the input is not at its end. */
extern void hg_input_begin_uncover(HgInput *input, pg_atomic_uint32 *next_part);

/*
 * Removes the rows in memory, and makes the input read the child from its start; the caller rescans
 * it.  The filter stays, because it depends on the other side only.
 */
extern void hg_input_restart(HgInput *input);

/* Restarts the input and rescans the child, unless changed parameters make it rescan itself. */
extern void hg_input_rescan(HgInput *input);

/*
 * Rows of an input that are joined as they are read, without storing them.
 *
 * A stream returns one batch of the child's rows at a time, or a run (HgRun).  It holds the rows'
 * key words for the engine, and copies the columns that are needed above directly into the join's
 * rows.  If every row of a batch has one match, as in a star's dimensions, columns are passed on
 * without a copy.
 */

typedef struct HgInputStream
{
	HgInput *input;
	HgBatch *out; /* the batch that gets the columns */
	/* [input->held.ncolumns] the original arrays of out, which hg_input_stream_end() restores */
	Datum **values;
	bool **nulls;

	/* the current rows, numbered from 0 */
	int nrows;
	const void *keys; /* [nrows] words of the engine's width */
	bool in_run;	  /* the rows are in run; otherwise in rows and words */
	HgRun run;
	HgInputRows rows;
	HgSpillKeys words;
	union
	{
		uint32 narrow[HG_BATCH_ROWS];
		uint64 wide[HG_BATCH_ROWS];
	} packed; /* words of the rows that have a key, if they had to be moved */
} HgInputStream;

/*
 * Creates a stream of an input's rows, in CurrentMemoryContext.  out has the columns of the join's
 * scan slot.
 */
extern HgInputStream *hg_input_stream_create(HgInput *input, HgBatch *out);

/*
 * Reads the next rows, at least one: sets nrows and keys, which are valid until the next call. Rows
 * with a NULL key, and rows that the child's filter rejects, are skipped. Returns false, with nrows
 * 0 and the input's at_end set, if there are no more.
 */
extern bool hg_input_stream_next(HgInputStream *stream);

/*
 * Fetches rows numbers[n] of the current rows, at most HG_BATCH_ROWS, into rows 0 .. n - 1 of
 * out.  With in_place, out may get the child's own arrays, which must then not be written to.
 */
extern void hg_input_stream_get(HgInputStream *stream, const uint32 *numbers, int n, bool in_place);

/*
 * Ends the current rows and puts out's original arrays back in place of the child's arrays.  Does
 * not free the stream: its memory context does.
 */
extern void hg_input_stream_end(HgInputStream *stream);

#endif /* HG_INPUT_H */
