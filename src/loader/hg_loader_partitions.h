/*-------------------------------------------------------------------------
 *
 * hg_loader_partitions.h
 *	  Entries of partitioned tables, which stand for their present and future partitions.
 *
 * The entry of a partitioned table has columns and graphs, but no slots.  Each partition that is a
 * table has an entry of its own, which names the partitioned table as its parent.  The witnesses
 * let the partitions' entries follow the catalog.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_PARTITIONS_H
#define HG_LOADER_PARTITIONS_H

#include "hg_compat.h"

#include "resident/hg_resident_directory.h"

/*
 * Makes entries for the partitions of an open table, with the columns and graphs of its own entry.
 * Removes entries of tables that are no partitions any more.  Returns false if memory is full.
 */
extern bool hg_partitions_follow(Relation rel);

/* Removes the columns with these names from the entries that name the parent; NIL: the entries. */
extern void hg_partitions_forget(HgResidentRelation parent, List *columns);

/* Returns the number of entries that name the parent.  *keys becomes an array of their tables. */
extern int hg_partitions_list(HgResidentRelation parent, HgResidentRelation **keys);

#endif /* HG_LOADER_PARTITIONS_H */
