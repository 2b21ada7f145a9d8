/*-------------------------------------------------------------------------
 *
 * hg_aggregate_alike.h
 *	  Rows of a batch that are alike, where there are few kinds of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_ALIKE_H
#define HG_AGGREGATE_ALIKE_H

#include "batch/hg_batch.h"

/* No batch has more kinds of rows that are told apart. */
#define HG_ALIKE_KINDS 16

/* The rows of a batch by the values of some columns. */
typedef struct HgAlike
{
	int nkinds;
	uint16 first[HG_ALIKE_KINDS];	 /* [nkinds] the first row of each kind */
	int counts[HG_ALIKE_KINDS];		 /* [nkinds] how many there are ... */
	uint16 *members[HG_ALIKE_KINDS]; /* [nkinds] ... and which, in order; NULL: all */
	uint16 rows[HG_BATCH_ROWS];
	uint8 kinds[HG_BATCH_ROWS]; /* of each row */
} HgAlike;

/*
 * Tell the rows of a batch apart by the Datums of columns[ncolumns], as they are: what is the same
 * there is of one kind, and equal values may be of several.  False where there are too many kinds.
 */
extern bool hg_alike_find(HgAlike *alike, const HgBatch *batch, int ncolumns, const int *columns);

/*
 * same[i] = has row i the very same Datums in some columns as the row ahead of it; of the first one
 * false.
 */
extern void hg_alike_mark_same(const HgBatch *batch, int ncolumns, const int *columns, bool *same);

#endif /* HG_AGGREGATE_ALIKE_H */
