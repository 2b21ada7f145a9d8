/*-------------------------------------------------------------------------
 *
 * hg_aggregate_small.h
 *	  Small-domain groups: rows of a batch that have few different values.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_SMALL_H
#define HG_AGGREGATE_SMALL_H

#include "batch/hg_batch.h"

/* The most kinds of rows in a batch. */
#define HG_SMALL_KINDS 16

/* The rows of a batch by their kinds: rows of one kind have the same Datums in some columns. */
typedef struct HgSmallDomain
{
	int nkinds;
	uint16 first[HG_SMALL_KINDS];	 /* [nkinds] the first row of each kind */
	int counts[HG_SMALL_KINDS];		 /* [nkinds] the number of rows of each kind */
	uint16 *members[HG_SMALL_KINDS]; /* [nkinds] the rows of each kind, in order; NULL: all */
	uint16 rows[HG_BATCH_ROWS];
	uint8 kinds[HG_BATCH_ROWS]; /* of each row */
} HgSmallDomain;

/*
 * Finds the kinds of a batch's rows by the Datums of columns[ncolumns], as they are: rows with the
 * same Datums are of one kind, and rows with equal values may be of several.  Returns false where
 * there are too many kinds.
 */
extern bool hg_small_find(HgSmallDomain *small, const HgBatch *batch, int ncolumns,
						  const int *columns);

/*
 * Sets same[i] if row i has the very same Datums in some columns as the row ahead of it; it is
 * false for the first row.
 */
extern void hg_small_mark_same(const HgBatch *batch, int ncolumns, const int *columns, bool *same);

#endif /* HG_AGGREGATE_SMALL_H */
