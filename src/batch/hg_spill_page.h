/*-------------------------------------------------------------------------
 *
 * hg_spill_page.h
 *	  Pages: some rows of a spill set's partition, as they are written to its file.
 *
 * hg_spill.c alone uses pages.  A page has a header, its rows one after the other, and the values
 * that are not in the rows (by-reference values).  A row has a fixed number of bytes:
 *
 *	uint8[]	bitmap of the columns that are NULL, and behind them a bit for a NULL key
 *	uint64	the word of the key, if the set keeps words
 *	...		the by-value columns and the scaled integers, without alignment
 *
 * The other values follow behind all rows, row by row, each at its type's alignment.  Varlenas
 * with a short header are not aligned, as in a heap tuple.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SPILL_PAGE_H
#define HG_SPILL_PAGE_H

#include "batch/hg_column_store.h"

/*
 * Memory of a page that is being filled, unless one row needs more.  64 of them and the buffers of
 * their files, which a join takes even with less work memory, are 672 kB.
 */
#define HG_SPILL_PAGE_BYTES ((Size) 1792)

/* The keys of the rows of a batch. */
typedef struct HgSpillKeys
{
	uint64 words[HG_BATCH_ROWS];   /* of a NULL key: any, and selects the partition */
	bool null_keys[HG_BATCH_ROWS]; /* the row matches nothing */
} HgSpillKeys;

/* The form of the rows of a page. */
typedef struct HgSpillFormat
{
	int ncolumns;
	const HgColumn *columns; /* [ncolumns] */
	bool keeps_words;
	int8 *scales; /* [ncolumns] as HgBatch.scales; written into the header */
	int *offsets; /* [ncolumns] of the value in a row; -1: not in the row */
	int nothers;
	int *others; /* [nothers] the columns that are not in the row */
	Size bitmap_bytes;
	Size header_bytes;
	Size row_bytes;
} HgSpillFormat;

/* The header of a page.  Behind it are the scales of the columns, an int8 each. */
typedef struct HgSpillHeader
{
	uint32 nrows;
	uint32 other_bytes; /* of the values that are not in the rows */
} HgSpillHeader;

/* A page that is being filled. */
typedef struct HgSpillPage
{
	char *memory; /* header and rows, and values that are not in the rows from others_at on */
	int nrows;
	int max_rows;
	Size others_at;
	Size other_bytes; /* used so far */
	Size max_other_bytes;
} HgSpillPage;

/* Initializes a format for rows without scaled integers, in CurrentMemoryContext. */
extern void hg_spill_format_init(HgSpillFormat *format, const HgColumnStore *layout,
								 bool keeps_words);

/* Copies scales[ncolumns], which are negative for columns without scaled integers, to a format. */
extern void hg_spill_format_set(HgSpillFormat *format, const int8 *scales);

/* Frees a format's arrays, except columns, which are the layout's. */
extern void hg_spill_format_free(HgSpillFormat *format);

/*
 * Returns the bytes that a row's values outside the row need at most, with alignment.  Column i of
 * the format is column at[i] of the batch.
 */
extern Size hg_spill_other_bytes(const HgSpillFormat *format, const HgBatch *batch, const int *at,
								 int row);

/* Returns the bytes of a page with one row that has other_bytes outside the row. */
extern Size hg_spill_page_bytes(const HgSpillFormat *format, Size other_bytes);

/*
 * Makes a page empty.  page->memory has `bytes` bytes, enough for a row with `needed` bytes outside
 * the row.  Rows are expected to have other_bytes outside the row on average.
 */
extern void hg_spill_page_start(HgSpillPage *page, const HgSpillFormat *format, Size bytes,
								Size needed, double other_bytes);

/* Returns true if a page has room for a row with other_bytes outside the row. */
static inline bool
hg_spill_page_has_room(const HgSpillPage *page, Size other_bytes)
{
	return page->nrows < page->max_rows && page->other_bytes + other_bytes <= page->max_other_bytes;
}

/*
 * Adds a row of a batch to a page that has room for it: copies its values outside the row, and
 * returns where hg_spill_put_rows() must put the row itself.
 */
extern char *hg_spill_page_add(HgSpillPage *page, const HgSpillFormat *format, const HgBatch *batch,
							   const int *at, int row);

/*
 * Writes the rows which[nrows] of a batch, or its first nrows rows if which is NULL, to
 * targets[nrows], which hg_spill_page_add() has returned.  Column i of the format is column at[i]
 * of the batch.
 */
extern void hg_spill_put_rows(const HgSpillFormat *format, const HgSpillKeys *keys,
							  const HgBatch *batch, const int *at, const uint16 *which, int nrows,
							  char *const *targets);

/* Completes the header of a page, which is at the start of its memory. */
extern void hg_spill_page_finish(HgSpillPage *page, const HgSpillFormat *format);

/*
 * Appends a page's rows to a batch, and their keys to keys: nrows rows at `rows`, and the values
 * outside them at `others`, which is maximally aligned.  By-reference values point there.
 */
extern void hg_spill_take_rows(const HgSpillFormat *format, const char *rows, int nrows,
							   char *others, HgBatch *batch, HgSpillKeys *keys);

#endif /* HG_SPILL_PAGE_H */
