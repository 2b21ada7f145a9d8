/*-------------------------------------------------------------------------
 *
 * hg_join_recheck.h
 *	  Matches whose key values have the same bytes, which need not be asked the operator.
 *
 * Where keys are hashes each match is rechecked.  The values of most matches are equal, and most
 * equal values have the same bytes: a built-in operator of a type whose values are equal if their
 * bytes are has nothing to add to that, and is asked of the others alone.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_RECHECK_H
#define HG_JOIN_RECHECK_H

#include "nodes/pg_list.h"

#include "batch/hg_batch.h"

/* What is compared; opaque. */
typedef struct HgJoinRecheck HgJoinRecheck;

/*
 * The comparison of a qual, a list of clauses over the columns of a batch of joined rows (1 is the
 * first one), in CurrentMemoryContext.  NULL: bytes do not tell what it says.
 */
extern HgJoinRecheck *hg_join_recheck_create(List *qual);

/*
 * same[i] = the qual is true of row i of a batch, as the bytes of its columns tell.  False: they
 * don't, as those of a NULL do not.
 */
extern void hg_join_recheck_rows(const HgJoinRecheck *recheck, const HgBatch *batch, bool *same);

#endif /* HG_JOIN_RECHECK_H */
