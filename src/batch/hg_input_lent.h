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
#include "batch/hg_lent_rows.h"
#include "batch/hg_shared_lent.h"

/*
 * What of the child's table may be lent?  Rows are where the keys are columns of its that have a
 * resident HashGraph, and words as that has them.
 */
extern HgGraphExtent hg_input_may_lend(const HgInput *input);

/*
 * Have rows lent from now on, of which none was read; false where none may be.  The rest is as in
 * HgBatchSource.lend.
 */
extern bool hg_input_lend(HgInput *input, bool defer, HgSharedLent *shared, dsa_area *area);

/*
 * Have the rows lent that the leader of a parallel query has lent of this input.  The first
 * function pins them, and does nothing else that takes long; the caller sees to it that the leader
 * holds them meanwhile.  The second one lends them.  It throws an error if they can't be lent here.
 */
extern void hg_input_pin_lent(HgInput *input, const HgSharedLent *shared, dsa_area *area,
							  HgSharedPins *pins);
extern void hg_input_borrow(HgInput *input, const HgSharedLent *shared, dsa_area *area,
							const HgSharedPins *pins);

/* Have it decided which rows are lent, where it is not: hg_lent_decide(). */
extern void hg_input_decide_lent(HgInput *input);

/*
 * The lent rows have been joined, but for some, which are read behind those that are not lent in
 * this scan of the child: there are no others from now on, until hg_input_return_lent().
 */
extern void hg_input_end_lent(HgInput *input, const HgIntegers *left);

/*
 * Have all rows be read, after hg_input_restart() and a rescan of the child; none may be lent any
 * more.
 */
extern void hg_input_return_lent(HgInput *input);

/*
 * Of a child that processes read together: have the lent rows be read behind the others, in this
 * scan of it, those of each segment by the process that *next_part, a counter of all, gives it to.
 * They are lent no more, but stay where they are until hg_input_return_lent().
 */
extern void hg_input_begin_back(HgInput *input, pg_atomic_uint32 *next_part);

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
