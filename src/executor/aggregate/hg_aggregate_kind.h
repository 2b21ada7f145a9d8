/*-------------------------------------------------------------------------
 *
 * hg_aggregate_kind.h
 *	  Which aggregate functions the node computes, and how.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_KIND_H
#define HG_AGGREGATE_KIND_H

#include "postgres.h"

/* How an aggregate function is computed. */
typedef enum HgAggregateKind
{
	HG_AGGREGATE_UNSUPPORTED,
	HG_AGGREGATE_COUNT,		 /* of rows, or of values that are not NULL */
	HG_AGGREGATE_SUM_INT,	 /* sum of int2 or int4 */
	HG_AGGREGATE_AVG_INT,	 /* avg of int2 or int4 */
	HG_AGGREGATE_SUM_BIGINT, /* sum of int8 */
	HG_AGGREGATE_AVG_BIGINT, /* avg of int8 */
	HG_AGGREGATE_SUM_NUMERIC,
	HG_AGGREGATE_AVG_NUMERIC,
	HG_AGGREGATE_MIN, /* of a type that compares as an integer */
	HG_AGGREGATE_MAX,
	HG_AGGREGATE_MIN_NUMERIC,
	HG_AGGREGATE_MAX_NUMERIC,
	HG_AGGREGATE_TRANSITION /* any other: its own transition function is called */
} HgAggregateKind;

/*
 * Returns how an aggregate function, given by its OID, is computed.  A function is unsupported if
 * its result depends on the order of rows by more than which of two equal values is returned.
 * Sums, averages and variances of floats are supported if hashgraph.float_sums is on.
 */
extern HgAggregateKind hg_aggregate_kind(Oid function);

/* Returns true if a kind is computed from the integers of a column as they are. */
static inline bool
hg_aggregate_is_of_integers(HgAggregateKind kind)
{
	switch (kind)
	{
		case HG_AGGREGATE_SUM_INT:
		case HG_AGGREGATE_AVG_INT:
		case HG_AGGREGATE_SUM_BIGINT:
		case HG_AGGREGATE_AVG_BIGINT:
		case HG_AGGREGATE_MIN:
		case HG_AGGREGATE_MAX:
			return true;
		default:
			return false;
	}
}

#endif /* HG_AGGREGATE_KIND_H */
