/*-------------------------------------------------------------------------
 *
 * hg_table_erased.h
 *	  Reads a batch as words and rows, and looks up whether a batch erases a row.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_ERASED_H
#define HG_TABLE_ERASED_H

#include "hg_table_base.h"

/* A scan of a batch. */
struct HgTableSource
{
	const HgTableBatch *batch;
	uint64_t at; /* the next row */
	/* set only: the words of the two markers were among those read (hg_table_base.h) */
	bool marked[2];
};

/* Reads up to HG_TABLE_CHUNK next words and rows; *count is 0 at the end. It polls. */
extern HgStatus hg_source_next(HgTable *table, HgTableSource *source, uint64_t *words,
							   uint32_t *rows, uint32_t *count, HgError *error);

/*
 * The rows that a batch erases: a hash table of row ordinals of the batch, which stays in place.
 */
typedef struct HgTableErased
{
	const HgTableBatch *batch;
	uint32_t width;
	bool by_key;
	uint32_t *slots; /* [1 << log2] ordinal of a row in the batch, or HG_NO_ROW */
	uint32_t log2;
} HgTableErased;

/* Builds the table from the unread rest of a source. On failure no memory stays allocated. */
extern HgStatus hg_erased_create(HgTable *table, HgTableErased *erased, HgTableSource *source,
								 HgError *error);

/* Frees the table. */
extern void hg_erased_free(HgTable *table, HgTableErased *erased);

/* Returns true if the batch erases a row with this word and row number. */
extern bool hg_erased_has(const HgTableErased *erased, uint64_t word, uint32_t row);

/* Returns the bytes of the table for a batch of so many rows. */
extern uint64_t hg_erased_bytes(uint64_t rows);

#endif /* HG_TABLE_ERASED_H */
