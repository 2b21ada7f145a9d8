/*-------------------------------------------------------------------------
 *
 * hg_join_recheck.h
 *	  Rechecks of matches by comparing the bytes of key values, without calling the operator.
 *
 * If keys are hashes, each match is rechecked.  The values of most matches are equal, and most
 * equal values have the same bytes.  For types whose values are equal if their bytes are, the
 * built-in operator is called only for the other matches.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_RECHECK_H
#define HG_JOIN_RECHECK_H

#include "nodes/pg_list.h"

#include "batch/hg_batch.h"

/* The columns to compare; opaque. */
typedef struct HgJoinRecheck HgJoinRecheck;

/*
 * Prepares the comparison for a qual, a list of clauses over the columns of a batch of joined rows
 * (varattno 1 is the first column), in CurrentMemoryContext.  Returns NULL if equal bytes do not
 * imply that the qual is true.
 */
extern HgJoinRecheck *hg_join_recheck_create(List *qual);

/*
 * Sets same[i] if the bytes of row i show that the qual is true.  False decides nothing; rows with
 * a NULL get false.
 */
extern void hg_join_recheck_rows(const HgJoinRecheck *recheck, const HgBatch *batch, bool *same);

#endif /* HG_JOIN_RECHECK_H */
