/*-------------------------------------------------------------------------
 *
 * hg_input_cover.h
 *	  Covered rows of an input: a resident HashGraph has their keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_COVER_H
#define HG_INPUT_COVER_H

#include "batch/hg_input.h"
#include "batch/hg_covered_rows.h"
#include "batch/hg_shared_covered.h"

/*
 * Returns what of the child's table may be covered.  Rows may be where the keys are columns of the
 * table that have a resident HashGraph, and are encoded as the graph's words.
 */
extern HgGraphExtent hg_input_may_cover(const HgInput *input);

/*
 * Covers rows from now on; no row has been read yet.  Returns false if no row can be covered.  The
 * arguments are those of HgBatchSource.cover.
 */
extern bool hg_input_cover(HgInput *input, bool pending, HgSharedCovered *shared, dsa_area *area);

/*
 * Cover the rows that the leader of a parallel query has covered of this input.  The first
 * function pins their versions, and does nothing else that takes long; the caller makes sure that
 * the leader holds them meanwhile.  The second function covers the rows.  It throws an error if
 * they can't be covered here.
 */
extern void hg_input_pin_covered(HgInput *input, const HgSharedCovered *shared, dsa_area *area,
								 HgSharedPins *pins);
extern void hg_input_attach_covered(HgInput *input, const HgSharedCovered *shared, dsa_area *area,
									const HgSharedPins *pins);

/* Applies pending predicates to the covered rows: hg_covered_apply(). */
extern void hg_input_apply_pending(HgInput *input);

/*
 * The covered rows have been joined, but for some.  These are read behind the delta rows in this
 * scan of the child.  No other rows are covered from now on, until hg_input_uncover().
 */
extern void hg_input_end_covered(HgInput *input, const HgIntegers *left);

/*
 * Makes all rows be read, after hg_input_restart() and a rescan of the child.  None may be covered
 * any more.
 */
extern void hg_input_uncover(HgInput *input);

/*
 * Of a child that processes read together: makes the covered rows be read behind the delta rows,
 * in this scan.  *next_part, a counter of all processes, gives each segment to one process.  The
 * rows are not covered any more, but stay where they are until hg_input_uncover().
 */
extern void hg_input_begin_uncover(HgInput *input, pg_atomic_uint32 *next_part);

/* The place of a row by its number, and how many places there are (hg_covered.h). */
static inline uint64
hg_input_place(const HgInput *input, uint32 row)
{
	return input->covered != NULL ? hg_covered_place(input->covered, row) : row;
}

static inline uint64
hg_input_places(const HgInput *input)
{
	return input->covered != NULL ? hg_covered_places(input->covered, input->words->rows)
								  : input->words->rows;
}

/*
 * Fetches rows[nrows], all of them covered or all of them delta rows, into rows 0 ..  nrows - 1 of
 * a batch of the join's scan slot.
 */
extern void hg_input_get(HgInput *input, const uint32 *rows, int nrows, HgBatch *batch);

#endif /* HG_INPUT_COVER_H */
