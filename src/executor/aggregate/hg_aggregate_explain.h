/*-------------------------------------------------------------------------
 *
 * hg_aggregate_explain.h
 *	  EXPLAIN of the aggregate node.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_EXPLAIN_H
#define HG_AGGREGATE_EXPLAIN_H

#include "nodes/execnodes.h"

/* The ExplainCustomScan callback of the aggregate node. */
extern void hg_aggregate_explain(CustomScanState *node, List *ancestors, ExplainState *es);

#endif /* HG_AGGREGATE_EXPLAIN_H */
