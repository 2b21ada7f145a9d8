/*-------------------------------------------------------------------------
 *
 * hg_input_lent.h
 *	  Rows of an input that are lent, because a resident HashGraph has their keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_LENT_H
#define HG_INPUT_LENT_H

#include "batch/hg_input.h"

/*
 * What share of the child's rows may be lent, whose table has *rows of them?  They are where the
 * key is a column of its that has a resident HashGraph, and is the integer that it is there.
 */
extern double hg_input_may_lend(const HgInput *input, double *rows);

/* Have rows lent from now on, of which none was read; false where none may be. */
extern bool hg_input_lend(HgInput *input);

/* Have all rows be read, after hg_input_restart() and a rescan of the child. */
extern void hg_input_return_lent(HgInput *input);

/* The place of a row by its number, and how many places there are (hg_lent.h). */
static inline uint64
hg_input_place(const HgInput *input, uint32 row)
{
	return input->lent != NULL ? hg_lent_place(input->lent, row) : row;
}

static inline uint64
hg_input_places(const HgInput *input)
{
	return input->lent != NULL ? hg_lent_places(input->lent, input->words->rows)
							   : input->words->rows;
}

/*
 * Fetch rows[nrows], all of them lent or all of them held, into rows 0 .. nrows - 1 of a batch of
 * the join's scan slot.
 */
extern void hg_input_get(HgInput *input, const uint32 *rows, int nrows, HgBatch *batch);

#endif /* HG_INPUT_LENT_H */
