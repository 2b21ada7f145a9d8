/*-------------------------------------------------------------------------
 *
 * hg_uncover.h
 *	  Covered rows that are read after all, by the processes of a parallel query together.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_UNCOVER_H
#define HG_UNCOVER_H

#include "hg_compat.h"

#include "port/atomics.h"

#include "batch/hg_covered.h"

/* A process's way through the segments of covered rows. */
typedef struct HgUncover
{
	HgCovered *covered;			 /* NULL: none is read */
	int *columns;				 /* [covered->ncolumns] 0, 1, 2, ... */
	pg_atomic_uint32 *next_part; /* the next segment that no process has taken */
	uint32 part;				 /* the one that is read now ... */
	uint64 at;					 /* ... and the place in it; behind it: none is */
} HgUncover;

/*
 * Read rows from now on, in CurrentMemoryContext: those of each segment by the process that
 * *next_part, a counter of all that begins with 0, gives it to.
 */
extern void hg_uncover_begin(HgUncover *uncover, HgCovered *covered, pg_atomic_uint32 *next_part);

/* Fill a batch, whose columns are those that are wanted of the rows; false at the end. */
extern bool hg_uncover_next(HgUncover *uncover, HgBatch *batch);

#endif /* HG_UNCOVER_H */
