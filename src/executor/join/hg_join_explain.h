/*-------------------------------------------------------------------------
 *
 * hg_join_explain.h
 *	  EXPLAIN of the join node, and functions for that of this extension's other nodes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_EXPLAIN_H
#define HG_JOIN_EXPLAIN_H

#include "nodes/execnodes.h"

#include "batch/hg_scan_table.h"

/* The ExplainCustomScan callback of the join node. */
extern void hg_join_explain(CustomScanState *node, List *ancestors, ExplainState *es);

/* Shows an implicitly ANDed list of clauses under a label, as core shows a qual; NIL: nothing. */
extern void hg_explain_qual(CustomScanState *node, List *clauses, const char *label,
							List *ancestors, ExplainState *es);

/* Labels of the block counts of a scan. */
typedef struct HgBlockLabels
{
	const char *resident;
	const char *heap;
	const char *not_cached; /* reason why no block came from cached columns */
} HgBlockLabels;

/* Shows how many blocks came from cached columns and from the heap, if there is a cache. */
extern void hg_explain_blocks(const HgBlockLabels *labels, HgScanBlocks blocks, ExplainState *es);

/* Shows how many blocks of a source's tables would now come from the cache, if any would. */
extern void hg_explain_expected_blocks(const HgBatchSource *source, const HgBlockLabels *labels,
									   ExplainState *es);

/* Shows why a source's tables were not read from the cache, if they have cached columns. */
extern void hg_explain_not_cached(const HgBatchSource *source, const HgBlockLabels *labels,
								  ExplainState *es);

/* Shows bytes under a label, as kilobytes, rounded up. */
extern void hg_explain_bytes(const char *label, uint64 bytes, ExplainState *es);

#endif /* HG_JOIN_EXPLAIN_H */
