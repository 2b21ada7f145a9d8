/*-------------------------------------------------------------------------
 *
 * hg_loader_plan.h
 *	  What to load: which columns and segments of a table, and which partitions of a
 *	  partitioned one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_PLAN_H
#define HG_LOADER_PLAN_H

#include "hg_compat.h"

#include "resident/hg_resident_directory.h"

/*
 * Bytes of the area that loading leaves free, so that tables can be requested when it is full.
 * dsa keeps blocks of 64 kB for chunks of each size, some of which remain after an attempt that
 * found no room.
 */
#define HG_LOADER_LEFT_ROOM (4 * HG_DIRECTORY_ROOM)

typedef struct HgLoaderPlan
{
	/* returns true if the loader has to exit */
	bool (*is_left)(void);
	HgResidentRelation key;
	HgResidentFile file;
	int ncolumns;
	HgResidentColumn *columns; /* [ncolumns] to be loaded */
	int nsegments;
	uint32 *segments; /* [nsegments] to be loaded, ascending */
} HgLoaderPlan;

/* Marks a locked entry as declined, with a reason. */
extern void hg_loader_decline(HgDirectoryEntry *entry, HgResidentReason reason);

/*
 * Returns true if an open table may be cached.  Otherwise declines its entry and frees all of its
 * versions, because no witness observes the table any more, or removes the entry if it names
 * another table.
 */
extern bool hg_loader_check_table(Relation rel);

/*
 * Makes an open table's entry wanted if a requested column has another definition than when a
 * loader last planned it: ALTER TABLE may keep bytes and file.
 */
extern void hg_loader_check_columns(Relation rel);

/*
 * Makes the plan for an open table, in context; the caller sets is_left.  Sets the entry's file,
 * slots and columns, and its state to HG_RESIDENT_LOADING.  Returns NULL if the table is not to be
 * loaded; its entry then says why, unless there is none.
 */
extern HgLoaderPlan *hg_loader_make_plan(Relation rel, MemoryContext context);

/* Returns true if the plan's file and columns are still those of the open table. */
extern bool hg_loader_plan_holds(const HgLoaderPlan *plan, Relation rel);

/*
 * Returns true if a version of a locked entry has all columns of the plan, and no column that is
 * not requested any more.  It may have columns that were evicted from other segments.
 */
extern bool hg_loader_has_columns(const HgDirectoryEntry *entry, dsa_pointer pointer,
								  const HgLoaderPlan *plan);

/*
 * Entries of partitioned tables, which stand for their present and future partitions.
 *
 * The entry of a partitioned table has columns and graphs, but no slots.  Each partition that is a
 * table has an entry of its own, which names the partitioned table as its parent.  The witnesses
 * let the partitions' entries follow the catalog.
 */

/*
 * Makes entries for the partitions of an open table, with the columns and graphs of its own entry.
 * Removes entries of tables that are no partitions any more.  Returns false if memory is full.
 */
extern bool hg_partitions_follow(Relation rel);

/* Removes the columns with these names from the entries that name the parent; NIL: the entries. */
extern void hg_partitions_forget(HgResidentRelation parent, List *columns);

/* Returns the number of entries that name the parent.  *keys becomes an array of their tables. */
extern int hg_partitions_list(HgResidentRelation parent, HgResidentRelation **keys);

#endif /* HG_LOADER_PLAN_H */
