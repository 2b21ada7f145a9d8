/*-------------------------------------------------------------------------
 *
 * hg_held_rows.h
 *	  The rows of an input of a join that are in memory, as key words and columns.
 *
 * hg_input.c fills three stores as it reads:
 *
 * - words: the key words, which the engine joins by row number.
 * - rows: the columns that are needed above, under the same row numbers.
 * - null_rows: the columns of rows whose key is NULL, if the join returns them.
 *
 * If the join reads no column of many rows, a bitmap of keys (hg_key_column.h) may replace all
 * three.
 *
 * If only some of the rows are to be joined, words and rows have copies of them, and spare_words
 * and spare_rows have all rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HELD_ROWS_H
#define HG_HELD_ROWS_H

#include "backend/hg_budget.h"
#include "backend/matcher/hg_upload.h"
#include "batch/hg_column_store.h"
#include "batch/hg_filter.h"
#include "batch/hg_input_keys.h"
#include "batch/hg_key_column.h"
#include "batch/hg_spill.h"

typedef struct HgHeldRows
{
	TupleDesc scan_desc; /* of the join's scan slot */
	int ncolumns;		 /* number of columns that are needed above */
	int *to;			 /* [ncolumns] columns of the scan slot, from 0 */
	int *dense;			 /* [ncolumns] 0, 1, 2, ... */
	HgBudget budget;	 /* of the following, and of the engine's memory to join it */
	HgKeyColumn *words;
	HgColumnStore *rows;
	HgColumnStore *null_rows;
	HgKeyBits *bits;		   /* a bitmap of keys, except those in words; or NULL */
	bool selected;			   /* words and rows are copies of some of the rows in memory */
	HgKeyColumn *spare_words;  /* if selected, the words of all rows; otherwise empty, or NULL */
	HgColumnStore *spare_rows; /* if selected, all rows; otherwise empty, or NULL */
	HgBatch *moved;			   /* rows that are moved between stores, or from or to a spill set */
	HgUpload *upload;		   /* asynchronous upload of keys as they are stored; or NULL */
	uint64 upload_at;		   /* number of words at which to send next */
} HgHeldRows;

/*
 * Initializes *held, which is zeroed, for rows of columns[ncolumns], in CurrentMemoryContext; words
 * have key_width (4 or 8) bytes.  Memory is charged to held->budget, a part of budget.
 */
extern void hg_held_init(HgHeldRows *held, TupleDesc scan_desc, int ncolumns,
						 const HgInputColumn *columns, uint32 key_width, HgBudget *budget);

/* Returns the bytes of the stores' memory, used or not. */
extern uint64 hg_held_reserved(const HgHeldRows *held);

/* Returns the estimated bytes of a row with its key; row_width is the plan's estimate in bytes. */
extern uint64 hg_held_row_bytes(uint32 key_width, int row_width);

/* Returns the number of rows, including those with a NULL key. */
static inline uint64
hg_held_count(const HgHeldRows *held)
{
	return held->words->rows + held->null_rows->rows;
}

/* Returns the number of rows with a key; each key of a bitmap counts once. */
static inline uint64
hg_held_keys(const HgHeldRows *held)
{
	return held->words->rows + (held->bits != NULL ? held->bits->map.keys : 0);
}

/* Copies the rows with a key, of rows that were read, to words and rows. */
extern void hg_held_store(HgHeldRows *held, const HgInputRows *rows, const HgSpillKeys *keys);

/* Sends keys that are stored later through an asynchronous upload; with NULL none are sent. */
extern void hg_held_set_upload(HgHeldRows *held, HgUpload *upload);

/* Sends the keys of a side that are new since the last call to the device, if there are enough. */
extern void hg_held_upload(HgHeldRows *held, HgSide side);

/*
 * Moves the rows to a spill set, except those with a key that filter rejects, and frees their
 * memory.  Keys of a bitmap are also added to collector.  Both filters may be NULL.
 */
extern void hg_held_spill(HgHeldRows *held, HgSpill *spill, HgFilter *collector, HgFilter *filter);

/* Removes the rows, and keeps the memory for the next ones. */
extern void hg_held_clear(HgHeldRows *held);

/* Removes the rows, and frees the memory. */
extern void hg_held_release(HgHeldRows *held);

/*
 * Copies the rows that a filter lets through, in order, so that only they are joined.  The copies
 * may take limit bytes, in CurrentMemoryContext.  Returns false, and selects all rows, if there are
 * too many.  There must be no row with a NULL key.
 */
extern bool hg_held_select(HgHeldRows *held, HgFilter *filter, uint64 limit);

/* Ends the selection, so that all rows are joined. */
extern void hg_held_select_all(HgHeldRows *held);

/*
 * Replaces the keys by a bitmap of at most limit bytes.  The join must need no column of the side.
 * If repeats is true, duplicate keys count once.  Returns false, and changes nothing, if the keys
 * do not fit, or if a key is a duplicate and repeats is false.
 */
extern bool hg_held_begin_bits(HgHeldRows *held, bool repeats, uint64 limit);

#endif /* HG_HELD_ROWS_H */
