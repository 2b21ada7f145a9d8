/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_key.h
 *	  What a resident HashGraph is of: columns of a table, and how their values become words.
 *
 * A key is a word for each row, made of the values of its columns in their order, as a join makes
 * it (batch/hg_key.h): so what a join has as words of a side, and a graph as keys, is the same
 * where both are made alike of the same columns.  How that is done is told by plain words, which
 * are compared.  All functions that they name are PostgreSQL's own, which nobody replaces while a
 * graph is there.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_GRAPH_KEY_H
#define HG_RESIDENT_GRAPH_KEY_H

#include "hg_compat.h"

#include "resident/hg_resident_key.h"

/* Most columns of a key. */
#define HG_GRAPH_COLUMNS 8

/* The columns of a key by their numbers, in its order; behind them zeroes. */
typedef struct HgKeyNumbers
{
	int16 n;
	AttrNumber numbers[HG_GRAPH_COLUMNS];
} HgKeyNumbers;

/* How a column's values take part in the words; what does not matter is 0. */
typedef struct HgGraphPart
{
	uint8 encoding; /* HgKeyEncoding */
	uint8 image;	/* HgKeyImage of HG_KEY_BITS: that of a lone integer is any */
	uint8 bits;		/* ... and how many bits of the word are its, but for a lone integer's */
	Oid function;	/* that hashes them */
	Oid collation;	/* that this is given */
} HgGraphPart;

typedef struct HgGraphKey
{
	int ncolumns;
	HgResidentColumn columns[HG_GRAPH_COLUMNS];
	HgGraphPart parts[HG_GRAPH_COLUMNS];
} HgGraphKey;

/* What there is of a table in a graph of a key, as things stand. */
typedef struct HgGraphExtent
{
	double share;	  /* of the table's blocks that are valid; 0: there is no such graph */
	double rows;	  /* of the graph */
	double changed;	  /* blocks that have changed, of which it has rows ... */
	double older;	  /* ... and the share of the table that these rows are, as far as is known */
	bool has_replica; /* the device process that is ready has a replica, as far as is known here,
						 ... */
	bool copartition; /* ... or several do, as it is co-partitioned with another one of its table */
} HgGraphExtent;

/* Can rows of it be in a star that devices join? */
static inline bool
hg_graph_extent_is_of_stars(const HgGraphExtent *extent)
{
	return extent->share > 0 && (extent->has_replica || extent->copartition);
}

static inline bool
hg_key_numbers_equal(const HgKeyNumbers *a, const HgKeyNumbers *b)
{
	return a->n == b->n && memcmp(a->numbers, b->numbers, a->n * sizeof(AttrNumber)) == 0;
}

static inline bool
hg_key_numbers_have(const HgKeyNumbers *key, AttrNumber number)
{
	for (int i = 0; i < key->n; i++)
		if (key->numbers[i] == number)
			return true;
	return false;
}

static inline HgKeyNumbers
hg_graph_key_numbers(const HgGraphKey *key)
{
	HgKeyNumbers numbers = {.n = (int16) key->ncolumns};

	for (int i = 0; i < key->ncolumns; i++)
		numbers.numbers[i] = key->columns[i].number;
	return numbers;
}

static inline bool
hg_graph_part_equal(const HgGraphPart *a, const HgGraphPart *b)
{
	return a->encoding == b->encoding && a->image == b->image && a->bits == b->bits &&
		   a->function == b->function && a->collation == b->collation;
}

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

/*
 * Has a key the columns of another one, in another order or the same?  Column i of it is column
 * order[i] of the other one.
 */
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
