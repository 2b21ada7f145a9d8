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

#include "batch/hg_batch.h"

/* The executor callback of that name. */
extern void hg_join_explain(CustomScanState *node, List *ancestors, ExplainState *es);

/* What blocks from either place are called. */
typedef struct HgBlockLabels
{
	const char *resident;
	const char *heap;
	const char *not_cached; /* why none of them came from resident columns */
} HgBlockLabels;

/* Show where blocks of tables came from, where they could have come from resident columns. */
extern void hg_explain_blocks(const HgBlockLabels *labels, HgScanBlocks blocks, ExplainState *es);

/*
 * Shows what of a source's tables would be read from the cache as things stand, if anything would
 * be.
 */
extern void hg_explain_expected_blocks(const HgBatchSource *source, const HgBlockLabels *labels,
									   ExplainState *es);

/* Shows why a source's tables were not read from the cache, where they have cached columns. */
extern void hg_explain_not_cached(const HgBatchSource *source, const HgBlockLabels *labels,
								  ExplainState *es);

/* Show bytes as kilobytes, rounded up. */
extern void hg_explain_bytes(const char *label, uint64 bytes, ExplainState *es);

#endif /* HG_JOIN_EXPLAIN_H */
