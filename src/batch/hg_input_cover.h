/*-------------------------------------------------------------------------
 *
 * hg_input_cover.h
 *	  Covered rows of an input, whose keys a cached HashGraph has.
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
 * Estimates how many of the child's rows may be covered.  That takes keys that are columns of the
 * table, and a cached HashGraph of them with the same words.
 */
extern HgGraphExtent hg_input_may_cover(const HgInput *input);

/*
 * Covers rows, before any row is read.  Returns false if no row can be covered.  The arguments are
 * those of HgBatchSource.cover.
 */
extern bool hg_input_cover(HgInput *input, bool pending, HgSharedCovered *shared, dsa_area *area);

/*
 * Cover the rows of this input that the leader of a parallel query has covered.
 * hg_input_pin_covered() only pins their versions, and is quick; the leader must have them pinned
 * meanwhile.  hg_input_attach_covered() covers the rows, and raises an error if they cannot be
 * covered here.
 */
extern void hg_input_pin_covered(HgInput *input, const HgSharedCovered *shared, dsa_area *area,
								 HgSharedPins *pins);
extern void hg_input_attach_covered(HgInput *input, const HgSharedCovered *shared, dsa_area *area,
									const HgSharedPins *pins);

/* Applies pending predicates to the covered rows, as hg_covered_apply() does. */
extern void hg_input_apply_pending(HgInput *input);

/*
 * Ends covering, after all covered rows but left have been joined.  The rows left are read behind
 * the delta rows in this scan of the child.  No row is covered until hg_input_uncover().
 */
extern void hg_input_end_covered(HgInput *input, const HgIntegers *left);

/* Uncovers all rows, after hg_input_restart() and a rescan of the child. */
extern void hg_input_uncover(HgInput *input);

/*
 * Uncovers the rows of a child that several processes read, in this scan: they are read behind the
 * delta rows.  *next_part, a counter that all processes share, gives each segment to one process.
 * The rows' memory stays until hg_input_uncover().
 */
extern void hg_input_begin_uncover(HgInput *input, pg_atomic_uint32 *next_part);

/* Returns the ordinal of a row by its number (hg_covered.h). */
static inline uint64
hg_input_ordinal(const HgInput *input, uint32 row)
{
	return input->covered != NULL ? hg_covered_ordinal(input->covered, row) : row;
}

/* Returns the number of ordinals. */
static inline uint64
hg_input_count_ordinals(const HgInput *input)
{
	return input->covered != NULL ? hg_covered_count_ordinals(input->covered, input->words->rows)
								  : input->words->rows;
}

/*
 * Fetches rows[nrows] into rows 0 .. nrows - 1 of a batch of the join's scan slot.  Either all of
 * them are covered or none is.
 */
extern void hg_input_get(HgInput *input, const uint32 *rows, int nrows, HgBatch *batch);

#endif /* HG_INPUT_COVER_H */
