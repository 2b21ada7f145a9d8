/*-------------------------------------------------------------------------
 *
 * hg_predicate_apply.h
 *	  Applies predicates to the rows of a batch.
 *
 * That raises no error and has no effects.  Some rows need a recheck by the SQL expression.  Their
 * values are compressed, out of line or not understood, or a computed number of their batch does
 * not fit.
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
 * Sets holds[i] to whether the predicate holds for row i of a batch.  If that is unknown, it sets
 * recheck[i], and the caller evaluates the whole qual for the row.  Other elements of recheck keep
 * their values.  Returns true if it has set one.
 */
extern bool hg_predicate_apply(HgPredicate *predicate, const HgBatch *batch, bool *holds,
							   bool *recheck);

/* Applies a predicate over a column's bytes to a value.  Returns false if *holds is unknown. */
extern bool hg_predicate_apply_one(const HgPredicate *predicate, Datum value, bool *holds);

/*
 * Applies a predicate over a column's bytes to all values of a dictionary.  Returns true if
 * predicate->verdicts then has a boolean for each code, and false if some value is not known.
 */
extern bool hg_predicate_judge_codes(HgPredicate *predicate, const HgDictionary *dictionary);

#endif /* HG_PREDICATE_APPLY_H */
