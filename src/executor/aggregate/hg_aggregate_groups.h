/*-------------------------------------------------------------------------
 *
 * hg_aggregate_groups.h
 *	  The groups of an aggregation: a hash table of their keys, filled batch by batch.
 *
 * For each batch, a caller tries hg_groups_find_near(), or else computes hg_groups_hash() and calls
 * hg_groups_find().  It then advances the states in the groups that were found.
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
 * A group.  Behind its values follow a NULL flag for each value (at nulls_offset) and the states
 * of the aggregates (at states_offset); HgGroups has the offsets.
 */
typedef struct HgGroup
{
	uint64 hash;
	Datum values[FLEXIBLE_ARRAY_MEMBER];
} HgGroup;

/* A slot of the hash table. */
typedef struct HgGroupSlot
{
	uint32 hash;   /* the low 32 bits of the group's hash */
	uint32 number; /* number of the group, from 1; 0: the slot is free */
} HgGroupSlot;

/* log2 of the size of HgGroups.near, whose pointers take 8 kB. */
#define HG_GROUPS_NEAR_LOG2 10

typedef struct HgGroups
{
	/* set by hg_groups_create() */
	int nkeys;
	HgGroupKey *keys; /* [nkeys] */
	int nvalues;	  /* the group columns, then other columns with one value per group */
	int *columns;	  /* [nvalues] columns of the batch */
	int16 *attlens;	  /* [nvalues] */
	bool *byvals;	  /* [nvalues] */
	Size nulls_offset;
	Size states_offset;
	Size group_bytes;

	/* the table and its groups */
	HgCharge charge;
	MemoryContext context;	 /* owns the table and the groups */
	MemoryContext values;	 /* by-reference values of groups and states; reset with them */
	MemoryContext temporary; /* hash and equality functions run in it */
	HgGroupSlot *slots;		 /* [mask + 1] */
	uint64 mask;
	uint64 *present;   /* a bit for each prefix of a hash that a group may have; NULL: not made */
	int present_shift; /* a hash shifted right by this is its prefix */
	char **chunks;	   /* [nchunks] each of 2^chunk_log2 groups */
	int chunk_log2;
	int nchunks;
	int max_chunks;
	char *piece_next; /* address of the next chunk */
	int piece_left;	  /* number of chunks that still fit there */
	int nfreed;		  /* number of chunks that are freed */
	uint64 bytes;	  /* memory of slots and pieces */
	uint32 count;

	/* for a single key that is a word: recently found groups, by bits of the key's product */
	HgGroup *near[1 << HG_GROUPS_NEAR_LOG2];
	int near_rest; /* number of coming batches that skip near */
	int near_step; /* value that near_rest had at first */
} HgGroups;

/*
 * Creates an empty table in CurrentMemoryContext; its groups live in a child context.  Values are
 * the columns[nvalues] of the batches, of which the first nkeys are the keys.  Their types are
 * those of attributes attnos[columns[i]] of desc.  The table refers to keys[nkeys] afterwards.
 *
 * Each group has state_bytes of room for states, which start as zeros.  By-reference values are
 * copied into values.  The table's memory, and the memory that its next growth needs, is charged
 * to budget.
 */
extern HgGroups *hg_groups_create(int nkeys, HgGroupKey *keys, int nvalues, const int *columns,
								  TupleDesc desc, const int *attnos, Size state_bytes,
								  MemoryContext values, MemoryContext temporary, HgBudget *budget);

/* Sets hashes[batch->nrows] to the hashes of the keys of a batch's rows. */
extern void hg_groups_hash(HgGroups *groups, const HgBatch *batch, uint64 *hashes);

/*
 * Sets found[batch->nrows] to the groups of a batch's rows, if all were found recently.  Returns
 * false, with found undefined, if one was not, if the key is not a single word
 * (HG_GROUP_KEY_WORD), or if the batch has NULL keys.
 */
extern bool hg_groups_find_near(HgGroups *groups, const HgBatch *batch, HgGroup **found);

/*
 * Sets found[batch->nrows] to the groups of a batch's rows, whose hashes are given.  If a group
 * does not exist, it is created if add is set; otherwise found is NULL for its rows.  New groups
 * are numbered in the order of their rows, and live until a reset, truncate or release.
 */
extern void hg_groups_find(HgGroups *groups, const HgBatch *batch, const uint64 *hashes, bool add,
						   HgGroup **found);

/*
 * Adds a group with the values of a row, or with NULLs if batch is NULL.  The caller enters it
 * into the hash table, unless there are no keys.  Raises an error at 2^31 - 1 groups.
 */
extern HgGroup *hg_groups_add(HgGroups *groups, const HgBatch *batch, int row, uint64 hash);

/* Removes all groups and frees their memory, by-reference values included. */
extern void hg_groups_reset(HgGroups *groups);

/* Sets the charge to the current memory of groups and states, which may have grown. */
extern void hg_groups_charge(HgGroups *groups);

/*
 * Removes all but the first count groups, frees their by-reference values but not those of states,
 * and sets the charge.  The hash table's slots have not grown since there were count groups.
 */
extern void hg_groups_truncate(HgGroups *groups, uint32 count);

/*
 * Frees the hash table, and the memory of the first count groups where no later groups lie beside
 * them.  These groups are not used any more, and none is looked up or added until a reset.
 */
extern void hg_groups_release(HgGroups *groups, uint32 count);

/* Returns a group by its number, from 0. */
static inline HgGroup *
hg_groups_get(const HgGroups *groups, uint32 number)
{
	return (HgGroup *) (groups->chunks[number >> groups->chunk_log2] +
						(number & ((1U << groups->chunk_log2) - 1)) * groups->group_bytes);
}

/* Returns the NULL flags [nvalues] of a group. */
static inline bool *
hg_group_nulls(const HgGroups *groups, HgGroup *group)
{
	return (bool *) ((char *) group + groups->nulls_offset);
}

/* Maximal number of kinds of rows in a batch. */
#define HG_SMALL_KINDS 16

/* The rows of a batch by kind.  Rows of one kind have identical Datums in some columns. */
typedef struct HgSmallDomain
{
	int nkinds;
	uint16 first[HG_SMALL_KINDS];	 /* [nkinds] the first row of each kind */
	int counts[HG_SMALL_KINDS];		 /* [nkinds] the number of rows of each kind */
	uint16 *members[HG_SMALL_KINDS]; /* [nkinds] the rows of each kind, ascending; NULL: all */
	uint16 rows[HG_BATCH_ROWS];
	uint8 kinds[HG_BATCH_ROWS]; /* the kind of each row */
} HgSmallDomain;

/*
 * Divides a batch's rows into kinds by the Datums of columns[ncolumns].  Rows with identical
 * Datums are of one kind; rows with equal values may be of several.  Returns false if there are
 * more than HG_SMALL_KINDS kinds or too many columns.
 */
extern bool hg_small_find(HgSmallDomain *small, const HgBatch *batch, int ncolumns,
						  const int *columns);

/* Sets same[i] if row i has the same Datums in columns[ncolumns] as the row before it. */
extern void hg_small_mark_same(const HgBatch *batch, int ncolumns, const int *columns, bool *same);

#endif /* HG_AGGREGATE_GROUPS_H */
