/*-------------------------------------------------------------------------
 *
 * hg_predicate_clause.h
 *	  Turns expressions of a table scan's qual into predicates.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PREDICATE_CLAUSE_H
#define HG_PREDICATE_CLAUSE_H

#include "nodes/nodes.h"

#include "batch/hg_predicate.h"

/*
 * Returns the rows for which an expression over columns of one table is TRUE, or FALSE if holds is
 * false, in CurrentMemoryContext.  Constants of the expression are not copied.  Returns NULL if
 * the expression is not supported.
 */
extern HgPredicate *hg_predicate_from_clause(Node *clause, bool holds);

#endif /* HG_PREDICATE_CLAUSE_H */
