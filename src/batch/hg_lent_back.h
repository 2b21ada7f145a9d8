/*-------------------------------------------------------------------------
 *
 * hg_lent_back.h
 *	  Lent rows that are read after all, by the processes of a parallel query together.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LENT_BACK_H
#define HG_LENT_BACK_H

#include "hg_compat.h"

#include "port/atomics.h"

#include "batch/hg_lent.h"

/* A process's way through the segments of lent rows. */
typedef struct HgLentBack
{
	HgLent *lent;				 /* NULL: none is read */
	int *columns;				 /* [lent->ncolumns] 0, 1, 2, ... */
	pg_atomic_uint32 *next_part; /* the next segment that no process has taken */
	uint32 part;				 /* the one that is read now ... */
	uint64 at;					 /* ... and the place in it; behind it: none is */
} HgLentBack;

/*
 * Read rows from now on, in CurrentMemoryContext: those of each segment by the process that
 * *next_part, a counter of all that begins with 0, gives it to.
 */
extern void hg_lent_back_begin(HgLentBack *back, HgLent *lent, pg_atomic_uint32 *next_part);

/* Fill a batch, whose columns are those that are wanted of the rows; false at the end. */
extern bool hg_lent_back_next(HgLentBack *back, HgBatch *batch);

#endif /* HG_LENT_BACK_H */
