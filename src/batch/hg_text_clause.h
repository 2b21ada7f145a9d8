/*-------------------------------------------------------------------------
 *
 * hg_text_clause.h
 *	  Text conditions: collations that compare texts as bytes, and LIKE.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TEXT_CLAUSE_H
#define HG_TEXT_CLAUSE_H

#include "nodes/primnodes.h"

#include "batch/hg_predicate.h"

/*
 * Returns true if texts are known to be equal (or, if equality is false, to be ordered) as their
 * bytes are, under a collation.
 */
extern bool hg_text_is_bytewise(Oid collation, bool equality);

/* Returns true if the operator is LIKE of text or char(n). */
extern bool hg_text_is_like(Oid opno);

/*
 * Returns the predicate "column LIKE pattern", or NOT LIKE if negated, in CurrentMemoryContext.
 * The pattern is not NULL.  Returns NULL if it has wildcards other than %, or cannot be compared
 * as bytes.
 */
extern HgPredicate *hg_predicate_from_like(AttrNumber attno, const Const *pattern, Oid collation,
										   bool negated);

#endif /* HG_TEXT_CLAUSE_H */
