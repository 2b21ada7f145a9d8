/*-------------------------------------------------------------------------
 *
 * hg_uncover.h
 *	  Uncovered rows: covered rows that the processes of a parallel query read after all.
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

/* The position of a process in the segments of covered rows. */
typedef struct HgUncover
{
	HgCovered *covered;			 /* NULL if no row is uncovered */
	int *columns;				 /* [covered->ncolumns] 0, 1, 2, ... */
	pg_atomic_uint32 *next_part; /* shared: the next segment that no process has taken */
	uint32 part;				 /* the segment that is read now */
	/* ordinal of the next row; behind the segment's last if it is read */
	uint64 at;
} HgUncover;

/*
 * Begins reading covered rows, in CurrentMemoryContext.  *next_part is a counter that all
 * processes share and that begins with 0; each segment is read by one process.
 */
extern void hg_uncover_begin(HgUncover *uncover, HgCovered *covered, pg_atomic_uint32 *next_part);

/* Fills a batch, whose columns are covered->columns.  Returns false at the end. */
extern bool hg_uncover_next(HgUncover *uncover, HgBatch *batch);

#endif /* HG_UNCOVER_H */
