/*-------------------------------------------------------------------------
 *
 * hg_predicate_arrays.h
 *	  Applies predicates directly to the arrays of a segment.
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
	const HgDictionary *dictionary; /* of an array with codes */
} HgPredicateColumn;

/*
 * Returns true if the predicate can be applied to the arrays of its columns faster than to values
 * fetched from them.  It is then prepared for that.
 */
extern bool hg_predicate_takes_arrays(HgPredicate *predicate, const HgPredicateColumn *columns);

/*
 * Sets holds[i] to whether the predicate holds for row first + i, for i < n <= HG_BATCH_ROWS.
 * hg_predicate_takes_arrays() must have returned true.
 */
extern void hg_predicate_apply_arrays(const HgPredicate *predicate,
									  const HgPredicateColumn *columns, uint32 first, int n,
									  bool *holds);

#endif /* HG_PREDICATE_ARRAYS_H */
