/*-------------------------------------------------------------------------
 *
 * hg_aggregate_groups.h
 *	  The groups of an aggregation: a hash table of their keys, filled by batches.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_GROUPS_H
#define HG_AGGREGATE_GROUPS_H

#include "access/tupdesc.h"

#include "backend/hg_budget.h"
#include "batch/hg_batch.h"
#include "executor/aggregate/hg_aggregate_key.h"

/*
 * A group: its values, the flags of those that are NULL, and the states of the aggregates,
 * at the offsets that HgGroups knows.
 */
typedef struct HgGroup
{
	uint64 hash;
	Datum values[FLEXIBLE_ARRAY_MEMBER];
} HgGroup;

/* A place in the hash table. */
typedef struct HgGroupSlot
{
	uint32 hash;   /* the low bits of the group's */
	uint32 number; /* of the group, from 1; 0 = free */
} HgGroupSlot;

/* Groups that are near, by their logarithm: their pointers take 8 kB. */
#define HG_GROUPS_NEAR_LOG2 10

typedef struct HgGroups
{
	/* as made */
	int nkeys;
	HgGroupKey *keys; /* [nkeys] */
	int nvalues;	  /* group columns, then others that are the same in a group's rows */
	int *columns;	  /* [nvalues] of the batch */
	int16 *attlens;	  /* [nvalues] */
	bool *byvals;	  /* [nvalues] */
	Size nulls_offset;
	Size states_offset;
	Size group_bytes;

	/* what they hold */
	HgCharge charge;
	MemoryContext context;	 /* table and groups; reset with them */
	MemoryContext values;	 /* by-reference values of groups and states; reset with them */
	MemoryContext temporary; /* of hash and equality functions */
	HgGroupSlot *slots;		 /* [mask + 1] */
	uint64 mask;
	char **chunks; /* [nchunks] of 2^chunk_log2 groups */
	int chunk_log2;
	int nchunks;
	int max_chunks;
	char *piece_next; /* where the next chunk goes ... */
	int piece_left;	  /* ... and how many more fit there */
	uint64 bytes;	  /* of slots and pieces */
	uint32 count;

	/* of one key that is a word: groups that were found last, by a part of the word's product */
	HgGroup *near[1 << HG_GROUPS_NEAR_LOG2];
	int near_rest; /* batches to come that are not looked up there ... */
	int near_step; /* ... and how many they were at first */
} HgGroups;

/*
 * An empty table, in a context of its own below CurrentMemoryContext.  Values are the
 * columns[nvalues] of batches, the first nkeys of them the keys'; types are those of desc's
 * attributes attnos[columns[i]].  keys[nkeys] is kept.  A group has room for states of
 * state_bytes, which begin as zeros.  What groups and states have by reference lives in values.
 * All of that, and what the table will be when it must grow next, is charged to budget.
 */
extern HgGroups *hg_groups_create(int nkeys, HgGroupKey *keys, int nvalues, const int *columns,
								  TupleDesc desc, const int *attnos, Size state_bytes,
								  MemoryContext values, MemoryContext temporary, HgBudget *budget);

/* The hashes[nrows] of a batch's rows. */
extern void hg_groups_hash(HgGroups *groups, const HgBatch *batch, uint64 *hashes);

/*
 * Find the groups of a batch's rows, if all of them were found lately; false where that is not so,
 * or the keys are not such as are looked up fast: then found is undefined.
 */
extern bool hg_groups_find_near(HgGroups *groups, const HgBatch *batch, HgGroup **found);

/*
 * Find the groups of a batch's rows, which have these hashes.  A row of a group that is not
 * there makes it, where add is set, and gets NULL where not.  New groups are numbered in the order
 * of their rows.
 */
extern void hg_groups_find(HgGroups *groups, const HgBatch *batch, const uint64 *hashes, bool add,
						   HgGroup **found);

/* One more group, of the values of a row, or of none where batch is NULL. */
extern HgGroup *hg_groups_add(HgGroups *groups, const HgBatch *batch, int row, uint64 hash);

/* Forget all groups and free their memory. */
extern void hg_groups_reset(HgGroups *groups);

/* States have grown, or may have: charge what they take now. */
extern void hg_groups_charge(HgGroups *groups);

/*
 * Take out all but the first count groups; none of the others was there when the table last grew.
 */
extern void hg_groups_truncate(HgGroups *groups, uint32 count);

/* A group by its number, from 0. */
static inline HgGroup *
hg_groups_get(const HgGroups *groups, uint32 number)
{
	return (HgGroup *) (groups->chunks[number >> groups->chunk_log2] +
						(number & ((1U << groups->chunk_log2) - 1)) * groups->group_bytes);
}

static inline bool *
hg_group_nulls(const HgGroups *groups, HgGroup *group)
{
	return (bool *) ((char *) group + groups->nulls_offset);
}

#endif /* HG_AGGREGATE_GROUPS_H */
