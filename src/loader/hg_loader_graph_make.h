/*-------------------------------------------------------------------------
 *
 * hg_loader_graph_make.h
 *	  Makes a graph version from segment versions, bin by bin.
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

/* Result of an attempt to make a graph. */
typedef enum HgGraphOutcome
{
	HG_GRAPH_DONE,		/* made, or nothing to do */
	HG_GRAPH_LEFT,		/* the loader has to exit */
	HG_GRAPH_NO_MEMORY, /* the area has no room */
	HG_GRAPH_NO_BIN,	/* a bin does not fit in maintenance_work_mem */
	HG_GRAPH_REPLACED	/* the table has another file now, or a column is gone */
} HgGraphOutcome;

/*
 * Makes a graph version from what hg_graph_take() has pinned.  *pointer becomes the version, whose
 * chunks belong to the claim.  Raises the engine's errors.
 */
extern HgGraphOutcome hg_graph_make(HgGraphMaking *making, HgResidentClaim *claim,
									dsa_pointer *pointer);

#endif /* HG_LOADER_GRAPH_MAKE_H */
