/*-------------------------------------------------------------------------
 *
 * hg_graph_key.h
 *	  The keys of resident HashGraphs, as joins make them, and of what is resident.
 *
 * A graph's words are made by an encoder (hg_key.h) of the equality of each column's type, under
 * the column's collation.  A join may have a graph whose words are what its own encoder makes of
 * that side: the parts of both tell (resident/hg_resident_graph_key.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_GRAPH_KEY_H
#define HG_GRAPH_KEY_H

#include "hg_compat.h"

#include "batch/hg_batch.h"
#include "batch/hg_key.h"
#include "resident/hg_resident_graph_key.h"
#include "resident/hg_resident_version.h"

/* The columns of a source's batches by which its rows are joined, all of which a table has. */
struct HgSourceKey
{
	int ncolumns;
	int columns[HG_GRAPH_COLUMNS];
	HgGraphPart parts[HG_GRAPH_COLUMNS];
};

/*
 * How an encoder makes words of a side, in parts[encoder->nparts].  False: no graph has such words:
 * they are too many, a NULL is equal to one, or a function is not PostgreSQL's own, or calls those
 * of other types.
 */
extern bool hg_graph_parts(const HgKeyEncoder *encoder, HgSide side, HgGraphPart *parts);

/* Are the words of a key the integers of its only column? */
static inline bool
hg_graph_key_is_integer(const HgGraphKey *key)
{
	return key->ncolumns == 1 && key->parts[0].encoding == HG_KEY_BITS && key->parts[0].bits == 0;
}

/*
 * Make the encoder of a graph of these columns, in CurrentMemoryContext, and tell what it is of.
 * Either side of it makes the words.  NULL: they can't have one.
 */
extern HgKeyEncoder *hg_graph_key_create(int ncolumns, const HgResidentColumn *columns,
										 HgGraphKey *key);

/* Have part order[i] of an encoder's words be part i, of both sides. */
extern void hg_graph_order_encoder(HgKeyEncoder *encoder, const int *order);

/* The words of the rows of segment versions. */
typedef struct HgGraphWords
{
	HgKeyEncoder *encoder;
	HgGraphKey key;
	/* of the version that they are of now: */
	uint32 nrows;
	HgSegmentArray arrays[HG_GRAPH_COLUMNS];
	/* of a batch of rows: */
	HgBatch *batch;
	char *rooms[HG_GRAPH_COLUMNS]; /* for values that do not lie in arrays as they are; or NULL */
	uint64 *words;				   /* [HG_BATCH_ROWS] */
	bool *nulls;				   /* [HG_BATCH_ROWS] the row has no word */
	MemoryContext temporary;
} HgGraphWords;

/* In CurrentMemoryContext; NULL: columns can't have a graph. */
extern HgGraphWords *hg_graph_words_create(int ncolumns, const HgResidentColumn *columns);

/* Those of a version's rows from now on.  False: it has not all of the columns. */
extern bool hg_graph_words_begin(HgGraphWords *words, const HgSegmentVersion *version);

/*
 * Does a value lie out of line?  Whoever has no snapshot that sees the row may not look at it then,
 * and so make no words of the version.
 */
extern bool hg_graph_words_lie_outside(HgGraphWords *words);

/* The words of rows from first on, in words->words; returns of how many. */
extern int hg_graph_words_next(HgGraphWords *words, uint32 first);

#endif /* HG_GRAPH_KEY_H */
