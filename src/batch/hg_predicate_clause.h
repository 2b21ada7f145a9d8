/*-------------------------------------------------------------------------
 *
 * hg_predicate_clause.h
 *	  Expressions of a table scan's qual as predicates.
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
 * The rows for which an expression over columns of one table is TRUE, or with holds = false FALSE,
 * in CurrentMemoryContext; NULL where it is none of those that are understood.  Constants of the
 * expression stay where they are.
 */
extern HgPredicate *hg_predicate_from_clause(Node *clause, bool holds);

#endif /* HG_PREDICATE_CLAUSE_H */
