/*-------------------------------------------------------------------------
 *
 * hg_join_explain.h
 *	  EXPLAIN of the join node: one property for each fact.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_EXPLAIN_H
#define HG_JOIN_EXPLAIN_H

#include "nodes/execnodes.h"

/* The executor callback of that name. */
extern void hg_join_explain(CustomScanState *node, List *ancestors, ExplainState *es);

/* Show bytes as kilobytes, rounded up. */
extern void hg_explain_bytes(const char *label, uint64 bytes, ExplainState *es);

#endif /* HG_JOIN_EXPLAIN_H */
