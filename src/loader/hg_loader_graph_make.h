/*-------------------------------------------------------------------------
 *
 * hg_loader_graph_make.h
 *	  Making a HashGraph of the segments that it is to have, bin by bin.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_GRAPH_MAKE_H
#define HG_LOADER_GRAPH_MAKE_H

#include "hg_compat.h"

#include "loader/hg_loader_graph_take.h"
#include "resident/hg_resident_memory.h"

/* How an attempt at a graph has ended. */
typedef enum HgGraphOutcome
{
	HG_GRAPH_DONE,		/* also where there was nothing to do */
	HG_GRAPH_LEFT,		/* the loader is to go */
	HG_GRAPH_NO_MEMORY, /* in the area */
	HG_GRAPH_NO_BIN,	/* a bin passes what rows may be collected in */
	HG_GRAPH_REPLACED	/* the table has another file meanwhile, or a column has gone */
} HgGraphOutcome;

/* Make a graph of what was taken; *pointer is the claim's. */
extern HgGraphOutcome hg_graph_make(HgGraphMaking *making, HgResidentClaim *claim,
									dsa_pointer *pointer);

#endif /* HG_LOADER_GRAPH_MAKE_H */
