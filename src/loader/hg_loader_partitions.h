/*-------------------------------------------------------------------------
 *
 * hg_loader_partitions.h
 *	  Partitioned tables that are resident stand for their partitions, present and future.
 *
 * The entry of such a table has columns and nothing else; each of its partitions that is a table
 * has an entry of its own, which says what it is there for.  Who looks after the database has these
 * follow what there is: partitions that came, or went.
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
 * Have each partition of an open table have an entry with the columns that its own has, and
 * take out those that are no partitions of it any more.  False: no memory.
 */
extern bool hg_partitions_follow(Relation rel);

/*
 * Take out all that was taken in for a partitioned table, or of these the columns of these names.
 */
extern void hg_partitions_forget(HgResidentRelation parent, List *columns);

/* Keys of what was taken in for a partitioned table.  Returns their number. */
extern int hg_partitions_list(HgResidentRelation parent, HgResidentRelation **keys);

#endif /* HG_LOADER_PARTITIONS_H */
