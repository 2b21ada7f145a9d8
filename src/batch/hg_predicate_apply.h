/*-------------------------------------------------------------------------
 *
 * hg_predicate_apply.h
 *	  Predicates, evaluated for the rows of a batch at once.
 *
 * That can't fail, and has no effects.  Some rows may stay UNDECIDED: those with values that are
 * compressed, out of line, or of a kind that is not understood, and those for which some number of
 * a batch that is computed does not fit.  They are left to the expression.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PREDICATE_APPLY_H
#define HG_PREDICATE_APPLY_H

#include "batch/hg_batch.h"
#include "batch/hg_predicate.h"

/*
 * Sets holds[i] to whether the predicate holds for row i of a batch.  Where that is not known it
 * sets recheck[i], which it leaves alone elsewhere: the caller evaluates the whole qual for such
 * rows.  Returns true if it has set one.
 */
extern bool hg_predicate_apply(HgPredicate *predicate, const HgBatch *batch, bool *holds,
							   bool *recheck);

/* Of one over a column's bytes: does it hold for a value?  False: that is not known. */
extern bool hg_predicate_apply_one(const HgPredicate *predicate, Datum value, bool *holds);

/*
 * Of a predicate over a column's bytes, does it hold for the values of all codes of a dictionary?
 * predicate->verdicts tells it by code then; false: of some value it does not know.
 */
extern bool hg_predicate_judge_codes(HgPredicate *predicate, const HgDictionary *dictionary);

#endif /* HG_PREDICATE_APPLY_H */
