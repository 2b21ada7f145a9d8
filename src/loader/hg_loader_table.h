/*-------------------------------------------------------------------------
 *
 * hg_loader_table.h
 *	  Loads a table's segments, each in a transaction of its own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_TABLE_H
#define HG_LOADER_TABLE_H

#include "hg_compat.h"

#include "resident/hg_resident_key.h"

/*
 * Loads what is requested of a table, makes its graphs and sends their replicas, until is_left
 * returns true.  Returns false if some of it was not possible now (a lock, a broken chain), and is
 * still requested.  What outlives a transaction is allocated in context.
 */
extern bool hg_loader_take_in(HgResidentRelation key, bool (*is_left)(void), MemoryContext context);

#endif /* HG_LOADER_TABLE_H */
