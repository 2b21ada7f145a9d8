/*-------------------------------------------------------------------------
 *
 * hg_table_erased.h
 *	  A batch as words and rows, and what a batch erases, to be asked for by row.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_ERASED_H
#define HG_TABLE_ERASED_H

#include "hg_table_base.h"

/* A walk over a batch. */
struct HgTableSource
{
	const HgTableBatch *batch;
	uint64_t at;	/* the next row */
	bool marked[2]; /* a set: the keys beside the table were in what was read (hg_table_base.h) */
};

/*
 * The next words and rows of a batch, at most HG_TABLE_CHUNK; *count 0 at the end.  It polls.
 */
extern HgStatus hg_source_next(HgTable *table, HgTableSource *source, uint64_t *words,
							   uint32_t *rows, uint32_t *count, HgError *error);

/* What a batch erases: a table of numbers of the batch's rows, with open addressing. */
typedef struct HgTableErased
{
	const HgTableBatch *batch;
	uint32_t width;
	bool by_key;
	uint32_t *slots; /* [1 << log2] number of a row, or HG_NO_ROW */
	uint32_t log2;
} HgTableErased;

/* Make one of what is left of a source.  On failure it holds nothing. */
extern HgStatus hg_erased_create(HgTable *table, HgTableErased *erased, HgTableSource *source,
								 HgError *error);
extern void hg_erased_free(HgTable *table, HgTableErased *erased);

/* Is a row with this word to go? */
extern bool hg_erased_has(const HgTableErased *erased, uint64_t word, uint32_t row);

/* Bytes that one takes of a batch of so many rows. */
extern uint64_t hg_erased_bytes(uint64_t rows);

#endif /* HG_TABLE_ERASED_H */
