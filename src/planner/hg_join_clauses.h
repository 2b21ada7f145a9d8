/*-------------------------------------------------------------------------
 *
 * hg_join_clauses.h
 *	  Which clauses of a join the join node can hash.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_CLAUSES_H
#define HG_JOIN_CLAUSES_H

#include "nodes/pathnodes.h"

#include "batch/hg_key.h"

/* The clauses of a join that can be hash keys: RestrictInfos, whose outer_is_left is set. */
extern List *hg_find_hash_clauses(RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
								  JoinType join_type, List *restrictlist);

/* The same as an encoder wants them, in clauses[list_length(hash_clauses)]. */
extern void hg_hash_clause_operators(List *hash_clauses, HgKeyClause *clauses);

/* Do an encoder's keys of these need no recheck?  *width: bytes of a key. */
extern bool hg_hash_clauses_exact(List *hash_clauses, uint32 *width);

#endif /* HG_JOIN_CLAUSES_H */
