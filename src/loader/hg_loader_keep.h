/*-------------------------------------------------------------------------
 *
 * hg_loader_keep.h
 *	  Giving devices copies of a table's HashGraphs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_KEEP_H
#define HG_LOADER_KEEP_H

#include "hg_compat.h"

#include "resident/hg_resident_key.h"

/*
 * Give the server's device processes those graphs of a table that they are to have and have not,
 * until is_left says to go.  What they do not take is offered again later.  No transaction is open,
 * and none is left so.
 */
extern void hg_loader_keep_graphs(HgResidentRelation key, bool (*is_left)(void),
								  MemoryContext context);

#endif /* HG_LOADER_KEEP_H */
