/*-------------------------------------------------------------------------
 *
 * hg_loader_replica.h
 *	  Sends replicas of a table's graphs to devices.
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
 * Sends the replicas of a table's graphs that device processes shall have and lack, until is_left
 * returns true.  A replica that a process refuses is sent again later.  No transaction is open
 * before or after.
 */
extern void hg_loader_replicate_graphs(HgResidentRelation key, bool (*is_left)(void),
									   MemoryContext context);

#endif /* HG_LOADER_REPLICA_H */
