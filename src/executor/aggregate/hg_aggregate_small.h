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

/* Maximal number of kinds of rows in a batch. */
#define HG_SMALL_KINDS 16

/* The rows of a batch by kind.  Rows of one kind have identical Datums in some columns. */
typedef struct HgSmallDomain
{
	int nkinds;
	uint16 first[HG_SMALL_KINDS];	 /* [nkinds] the first row of each kind */
	int counts[HG_SMALL_KINDS];		 /* [nkinds] the number of rows of each kind */
	uint16 *members[HG_SMALL_KINDS]; /* [nkinds] the rows of each kind, ascending; NULL: all */
	uint16 rows[HG_BATCH_ROWS];
	uint8 kinds[HG_BATCH_ROWS]; /* the kind of each row */
} HgSmallDomain;

/*
 * Divides a batch's rows into kinds by the Datums of columns[ncolumns].  Rows with identical
 * Datums are of one kind; rows with equal values may be of several.  Returns false if there are
 * more than HG_SMALL_KINDS kinds or too many columns.
 */
extern bool hg_small_find(HgSmallDomain *small, const HgBatch *batch, int ncolumns,
						  const int *columns);

/* Sets same[i] if row i has the same Datums in columns[ncolumns] as the row before it. */
extern void hg_small_mark_same(const HgBatch *batch, int ncolumns, const int *columns, bool *same);

#endif /* HG_AGGREGATE_SMALL_H */
