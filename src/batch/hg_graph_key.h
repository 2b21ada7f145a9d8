/*-------------------------------------------------------------------------
 *
 * hg_graph_key.h
 *	  The keys of cached HashGraphs, and the words of the rows of cached columns.
 *
 * A graph's words come from an encoder (hg_key.h) of each column type's equality, under the
 * column's collation.  A join can use a graph if its own encoder makes the same words of that
 * side.  The parts of both are compared for that (resident/hg_resident_graph_key.h).
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

/*
 * Describes in parts[encoder->nparts] how an encoder makes words of a side.  Returns false if no
 * graph can have such words.  That is so if there are too many parts, if an operator is not
 * strict, or if a hash function is not PostgreSQL's own or calls functions of other types.
 */
extern bool hg_graph_parts(const HgKeyEncoder *encoder, HgSide side, HgGraphPart *parts);

/* Returns true if the key has one column, and its words are that column's integers. */
static inline bool
hg_graph_key_is_integer(const HgGraphKey *key)
{
	return key->ncolumns == 1 && key->parts[0].encoding == HG_KEY_BITS && key->parts[0].bits == 0;
}

/*
 * Creates the encoder of a graph of columns[ncolumns], at most HG_GRAPH_COLUMNS, in
 * CurrentMemoryContext, and fills in *key.  Both sides of the encoder make the same words.  Returns
 * NULL if the columns cannot have a graph.
 */
extern HgKeyEncoder *hg_graph_key_create(int ncolumns, const HgResidentColumn *columns,
										 HgGraphKey *key);

/* Reorders an encoder's parts, for both sides: part order[i] becomes part i. */
extern void hg_graph_order_encoder(HgKeyEncoder *encoder, const int *order);

/*
 * Computes the words of the rows of segment versions: create it, begin a version, and call
 * hg_graph_words_next() from row 0 on until nrows.
 */
typedef struct HgGraphWords
{
	HgKeyEncoder *encoder;
	HgGraphKey key;
	/* of the current version: */
	uint32 nrows;
	HgSegmentArray arrays[HG_GRAPH_COLUMNS];
	/* of the current batch: */
	HgBatch *batch;
	/* Memory for values that must be decoded from an array; NULL if none is needed. */
	char *rooms[HG_GRAPH_COLUMNS];
	uint64 *words; /* [HG_BATCH_ROWS] */
	bool *nulls;   /* [HG_BATCH_ROWS] the row has no word */
	MemoryContext temporary;
} HgGraphWords;

/*
 * Creates it in CurrentMemoryContext, with a copy of the columns, of which there are at most
 * HG_GRAPH_COLUMNS. Returns NULL if they cannot have a graph.
 */
extern HgGraphWords *hg_graph_words_create(int ncolumns, const HgResidentColumn *columns);

/* Begins the rows of a version, which must stay pinned.  Returns false if it lacks a column. */
extern bool hg_graph_words_begin(HgGraphWords *words, const HgSegmentVersion *version);

/*
 * Returns true if the current version has a key value out of line (TOAST).  Without a snapshot that
 * sees the row, such a value must not be fetched, so that the version gets no words.
 */
extern bool hg_graph_words_lie_outside(HgGraphWords *words);

/* Sets words[] and nulls[] for up to HG_BATCH_ROWS rows from first on.  Returns their number. */
extern int hg_graph_words_next(HgGraphWords *words, uint32 first);

#endif /* HG_GRAPH_KEY_H */
