/*-------------------------------------------------------------------------
 *
 * hg_input_stream.h
 *	  Rows of an input that are joined as they are read, without storing them.
 *
 * A stream returns one batch of the child's rows at a time, or a run.  It holds the rows' key words
 * for the engine, and copies the columns that are needed above directly into the join's rows.  If
 * every row of a batch has one match, as in a star's dimensions, columns are passed on without a
 * copy.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_STREAM_H
#define HG_INPUT_STREAM_H

#include "batch/hg_input.h"

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
 * Reads the next rows, which are valid until the next call.  Rows with a NULL key are skipped.
 * Returns false at the end.
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

#endif /* HG_INPUT_STREAM_H */
