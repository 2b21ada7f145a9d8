/*-------------------------------------------------------------------------
 *
 * hg_loader_plan.h
 *	  What is to be taken in of a table: which columns, which segments.
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
 * What is taken in leaves of the area, in bytes, so that tables can be asked for where it is full.
 * Chunks of each size have blocks of 64 kB of their own, some of which stay where an attempt has
 * found no room.
 */
#define HG_LOADER_LEFT_ROOM (4 * HG_DIRECTORY_ROOM)

typedef struct HgLoaderPlan
{
	bool (*is_left)(void); /* is the loader to go? */
	HgResidentRelation key;
	HgResidentFile file;
	int ncolumns;
	HgResidentColumn *columns; /* [ncolumns] that are taken in */
	int nsegments;
	uint32 *segments; /* [nsegments] that are wanted, ascending */
} HgLoaderPlan;

/* Say of a locked entry that its table is not taken in, and why. */
extern void hg_loader_decline(HgDirectoryEntry *entry, HgResidentReason reason);

/*
 * May an open table be resident?  If not, its entry is told why, and keeps nothing of it: nobody
 * observes it any more.  An entry that names another table is forgotten.
 */
extern bool hg_loader_check_table(Relation rel);

/*
 * Have a table be wanted whose columns are not any more what they were taken in as: a type that
 * changes to one of the same bytes leaves the file as it is.
 */
extern void hg_loader_check_columns(Relation rel);

/*
 * Make the plan for an open table, in a memory context that lives beyond the transaction.  NULL:
 * the table is not to be taken in, which its entry is told, or has none.
 */
extern HgLoaderPlan *hg_loader_make_plan(Relation rel, MemoryContext context);

/* Is what the plan says of an open table still so? */
extern bool hg_loader_plan_holds(const HgLoaderPlan *plan, Relation rel);

/*
 * Has a version of a locked entry all columns of the plan, and none that is not asked for any more?
 * It may have some that were evicted from other segments.
 */
extern bool hg_loader_has_columns(const HgDirectoryEntry *entry, dsa_pointer pointer,
								  const HgLoaderPlan *plan);

#endif /* HG_LOADER_PLAN_H */
