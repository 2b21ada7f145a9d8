/*-------------------------------------------------------------------------
 *
 * hg_loader_table.h
 *	  Taking a table's segments in, each in a transaction of its own.
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
 * Take in what is wanted of a table, until is_left says to go.  False: some of it could not be had
 * now (a lock, a chain that broke), and is still wanted.  What outlives a transaction lies in
 * context.
 */
extern bool hg_loader_take_in(HgResidentRelation key, bool (*is_left)(void), MemoryContext context);

#endif /* HG_LOADER_TABLE_H */
