/*-------------------------------------------------------------------------
 *
 * hg_predicate_arrays.h
 *	  Predicates, evaluated for rows of a segment straight over its arrays.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PREDICATE_ARRAYS_H
#define HG_PREDICATE_ARRAYS_H

#include "batch/hg_batch.h"
#include "batch/hg_predicate.h"
#include "resident/hg_resident_array.h"

/* A column of a segment. */
typedef struct HgPredicateColumn
{
	const HgSegmentArray *array;
	const HgDictionary *dictionary; /* where the array has one */
} HgPredicateColumn;

/*
 * Can a predicate be evaluated over the arrays of its columns, in less time than over values that
 * are made of them?  Then it is ready for that.
 */
extern bool hg_predicate_takes_arrays(HgPredicate *predicate, const HgPredicateColumn *columns);

/* holds[i] = does it hold for row first + i, for i < n, which are HG_BATCH_ROWS at most. */
extern void hg_predicate_apply_arrays(const HgPredicate *predicate,
									  const HgPredicateColumn *columns, uint32 first, int n,
									  bool *holds);

#endif /* HG_PREDICATE_ARRAYS_H */
