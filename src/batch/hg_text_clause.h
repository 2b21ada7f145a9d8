/*-------------------------------------------------------------------------
 *
 * hg_text_clause.h
 *	  What is known of texts: collations that compare them as bytes, and LIKE.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TEXT_CLAUSE_H
#define HG_TEXT_CLAUSE_H

#include "nodes/primnodes.h"

#include "batch/hg_predicate.h"

/* Are texts known to be equal if their bytes are, under a collation; else, ordered as these? */
extern bool hg_text_is_bytewise(Oid collation, bool equality);

/* Is an operator LIKE, of texts or of char(n)s? */
extern bool hg_text_is_like(Oid opno);

/*
 * "column LIKE pattern", of a pattern that is not NULL, or where negated NOT LIKE, in
 * CurrentMemoryContext; NULL where it has wildcards but %, or is not understood.
 */
extern HgPredicate *hg_predicate_from_like(AttrNumber attno, const Const *pattern, Oid collation,
										   bool negated);

#endif /* HG_TEXT_CLAUSE_H */
