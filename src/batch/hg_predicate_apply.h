/*-------------------------------------------------------------------------
 *
 * hg_predicate_apply.h
 *	  Predicates, decided for the rows of a batch at once.
 *
 * That can't fail, and has no effects.  Some rows may stay UNDECIDED: those with values that are
 * compressed, out of line, or of a kind that is not understood.  They are left to the expression.
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
 * holds[i] = is row i of a batch in it?  undecided[i] is set where that is not known, and left
 * alone elsewhere.  Returns whether it has set one.
 */
extern bool hg_predicate_apply(HgPredicate *predicate, const HgBatch *batch, bool *holds,
							   bool *undecided);

/* Is it told by the integers that are inside the values of one column alone? */
static inline bool
hg_predicate_is_plain(const HgPredicate *predicate)
{
	return predicate->kind == HG_PREDICATE_INTEGER && predicate->order == HG_ORDER_SIGNED &&
		   predicate->nfast <= 1;
}

/* Then: the same of values[n] that lie one behind the other, none of them NULL. */
extern void hg_predicate_apply_plain(const HgPredicate *predicate, const void *values, int n,
									 bool *holds);

#endif /* HG_PREDICATE_APPLY_H */
