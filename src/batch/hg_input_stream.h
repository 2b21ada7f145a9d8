/*-------------------------------------------------------------------------
 *
 * hg_input_stream.h
 *	  Rows of an input that are joined as they come, instead of being collected in memory.
 *
 * A stream hands over a batch of the child's rows after the other, or what lies in arrays: the
 * words of their keys for the engine, and the columns that are needed above, which go straight
 * from there into the join's rows.  Nothing is copied into a store, and where all rows of a batch
 * have found one match, as they do in the dimensions of a star, its columns are passed on as they
 * are.
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
	HgBatch *out;	/* that columns go to, */
	Datum **values; /* [input->ncolumns] with its own arrays for them ... */
	bool **nulls;	/* [input->ncolumns] ... and their flags */

	/* the current rows, which have numbers from 0 */
	int nrows;
	const void *keys; /* [nrows] words, of the width that the engine takes */
	bool in_run;	  /* they lie in arrays ... */
	HgRun run;		  /* ... these; else */
	HgInputRows rows; /* they are rows of a batch, */
	HgSpillKeys words;
	union
	{
		uint32 narrow[HG_BATCH_ROWS];
		uint64 wide[HG_BATCH_ROWS];
	} packed; /* whose words are moved together */
} HgInputStream;

/*
 * A stream of an input's rows, in CurrentMemoryContext, whose columns go to a batch, by their
 * places in the join's scan slot.
 */
extern HgInputStream *hg_input_stream_create(HgInput *input, HgBatch *out);

/* The next rows, valid until the next call; false at the end of the input: there are none. */
extern bool hg_input_stream_next(HgInputStream *stream);

/*
 * Fetch the columns of rows numbers[n] of the current ones, at most HG_BATCH_ROWS, into rows 0 ..
 * n - 1 of out.  With in_place they may be the child's own arrays, which nobody may write to then.
 */
extern void hg_input_stream_get(HgInputStream *stream, const uint32 *numbers, int n, bool in_place);

/* There are no current rows, and out has its own arrays again. */
extern void hg_input_stream_end(HgInputStream *stream);

#endif /* HG_INPUT_STREAM_H */
