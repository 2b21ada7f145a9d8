/*-------------------------------------------------------------------------
 *
 * hg_loader_replica.h
 *	  Giving devices replicas of a table's HashGraphs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_REPLICA_H
#define HG_LOADER_REPLICA_H

#include "hg_compat.h"

#include "resident/hg_resident_key.h"

/*
 * Give the server's device processes replicas of those graphs of a table that they are to have and
 * have not, until is_left says to go.  What they do not take is offered again later.  No
 * transaction is open, and none is left so.
 */
extern void hg_loader_replicate_graphs(HgResidentRelation key, bool (*is_left)(void),
									   MemoryContext context);

#endif /* HG_LOADER_REPLICA_H */
