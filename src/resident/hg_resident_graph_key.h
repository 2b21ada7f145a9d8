/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_key.h
 *	  The key of a graph: columns of a table, and how their values become a word.
 *
 * A key is one word for each row, made from the values of its columns in their order, as a join
 * makes it (batch/hg_key.h).  An HgGraphPart describes how one column becomes part of the word.
 * The words of a join's side and of a graph are comparable if the columns and their parts are
 * equal.  All functions that a part names are PostgreSQL's own, which nobody replaces while a
 * graph exists.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_GRAPH_KEY_H
#define HG_RESIDENT_GRAPH_KEY_H

#include "hg_compat.h"

#include "resident/hg_resident_key.h"

/* Maximum number of columns of a key. */
#define HG_GRAPH_COLUMNS 8

/* The columns of a key by their numbers, in the key's order, padded with zeroes. */
typedef struct HgKeyNumbers
{
	int16 n;
	AttrNumber numbers[HG_GRAPH_COLUMNS];
} HgKeyNumbers;

/* How a column's values become part of the word; members that do not apply are 0. */
typedef struct HgGraphPart
{
	uint8 encoding; /* HgKeyEncoding */
	uint8 image;	/* HgKeyImage, for HG_KEY_BITS; 0 if the key is a single integer */
	uint8 bits;		/* bits of the word, for HG_KEY_BITS; 0 if the key is a single integer */
	Oid function;	/* hash function of the values */
	Oid collation;	/* collation passed to it */
} HgGraphPart;

typedef struct HgGraphKey
{
	int ncolumns;
	HgResidentColumn columns[HG_GRAPH_COLUMNS];
	HgGraphPart parts[HG_GRAPH_COLUMNS];
} HgGraphKey;

/* How much of a table a graph of a key covers now. */
typedef struct HgGraphExtent
{
	double share;	/* valid blocks whose rows it has, divided by the table's blocks; 0: no graph */
	double rows;	/* number of the graph's rows */
	double changed; /* changed blocks that it has rows of */
	double older;	/* estimated share of the table's rows that it still has in changed blocks */
	bool has_replica; /* devices have it, whole or in partitions */
	bool copartition; /* devices have all partitions of a co-partitioning */
} HgGraphExtent;

/* Returns true if the graph has valid blocks, and devices have it for multi-way joins. */
static inline bool
hg_graph_extent_is_of_stars(const HgGraphExtent *extent)
{
	return extent->share > 0 && (extent->has_replica || extent->copartition);
}

/* Returns true if two keys have the same columns in the same order. */
static inline bool
hg_key_numbers_equal(const HgKeyNumbers *a, const HgKeyNumbers *b)
{
	return a->n == b->n && memcmp(a->numbers, b->numbers, a->n * sizeof(AttrNumber)) == 0;
}

/* Returns true if a key has this column. */
static inline bool
hg_key_numbers_have(const HgKeyNumbers *key, AttrNumber number)
{
	for (int i = 0; i < key->n; i++)
		if (key->numbers[i] == number)
			return true;
	return false;
}

/* Returns the numbers of a key's columns. */
static inline HgKeyNumbers
hg_graph_key_numbers(const HgGraphKey *key)
{
	HgKeyNumbers numbers = {.n = (int16) key->ncolumns};

	for (int i = 0; i < key->ncolumns; i++)
		numbers.numbers[i] = key->columns[i].number;
	return numbers;
}

/* Returns true if values become part of the word in the same way. */
static inline bool
hg_graph_part_equal(const HgGraphPart *a, const HgGraphPart *b)
{
	return a->encoding == b->encoding && a->image == b->image && a->bits == b->bits &&
		   a->function == b->function && a->collation == b->collation;
}

/* Returns true if two keys have the same columns in the same order, and make the same words. */
static inline bool
hg_graph_key_equal(const HgGraphKey *a, const HgGraphKey *b)
{
	if (a->ncolumns != b->ncolumns)
		return false;
	for (int i = 0; i < a->ncolumns; i++)
		if (!hg_resident_column_equal(&a->columns[i], &b->columns[i]) ||
			!hg_graph_part_equal(&a->parts[i], &b->parts[i]))
			return false;
	return true;
}

/* Returns true if key is a permutation of other: its column i is column order[i], set here. */
static inline bool
hg_graph_key_permutes(const HgGraphKey *key, const HgGraphKey *other, int *order)
{
	if (key->ncolumns != other->ncolumns)
		return false;
	for (int i = 0; i < key->ncolumns; i++)
	{
		int k = 0;

		while (k < other->ncolumns &&
			   (!hg_resident_column_equal(&key->columns[i], &other->columns[k]) ||
				!hg_graph_part_equal(&key->parts[i], &other->parts[k])))
			k++;
		if (k == other->ncolumns)
			return false;
		order[i] = k;
	}
	return true;
}

#endif /* HG_RESIDENT_GRAPH_KEY_H */
