/*-------------------------------------------------------------------------
 *
 * hg_key_column.h
 *	  The keys of one side: their words in the order of its rows, or a bitmap of those that
 *	  exist.
 *
 * A word is a key of 4 or 8 bytes (hg_key.h).  Words are in blocks that never move, so that an
 * engine reads them in place.  Each block is twice as large as the one before, up to a limit.  A
 * piece is a run of words that are consecutive in a block and in row numbers.  A piece may also be
 * another owner's array, which must live until the column is cleared.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_KEY_COLUMN_H
#define HG_KEY_COLUMN_H

#include "postgres.h"

#include "backend/hg_budget.h"
#include "backend/matcher/hg_matcher_spec.h"

typedef struct HgKeyBlock
{
	char *words;
	uint64 capacity; /* in words */
} HgKeyBlock;

typedef struct HgKeyColumn
{
	MemoryContext context; /* owns everything below */
	uint32 width;		   /* of a word: 4 or 8 */
	uint64 row_bytes;	   /* charge of a word, including the engine's memory for it */
	HgCharge charge;
	uint64 rows;
	HgKeyPiece *pieces; /* [npieces] */
	int npieces;
	int max_pieces;
	HgKeyBlock *blocks; /* [nblocks] */
	int nblocks;		/* includes blocks that are unused after a clear */
	int max_blocks;
	int blocks_used;
	uint64 next_row;	  /* 1 + the row of the last word */
	const char *external; /* end of the last word, if another owner has it; else NULL */
	char *next;			  /* where the next word goes */
	char *end;			  /* end of the current block */
} HgKeyColumn;

/*
 * Creates an empty column of words of width bytes, in its own context below parent.  Words, and
 * the memory that the CPU engine takes to join them, are charged to a budget (or NULL).
 */
extern HgKeyColumn *hg_key_column_create(MemoryContext parent, uint32 width, HgBudget *budget);

/* Returns the part of the column's charge that is for the engine's memory. */
static inline uint64
hg_key_column_job_bytes(const HgKeyColumn *column)
{
	return column->rows * (column->row_bytes - column->width);
}

/* Returns the charge of one word of 4 or 8 bytes, HgKeyColumn.row_bytes. */
extern uint64 hg_key_column_row_bytes(uint32 width);

/* Removes the words and their charge, and keeps the memory, uncharged, for the next ones. */
extern void hg_key_column_clear(HgKeyColumn *column);

/* Removes the words and frees their memory.  The column stays usable. */
extern void hg_key_column_release(HgKeyColumn *column);

/* Returns the column as a key set, valid until the next add, clear or release. */
extern HgKeySet hg_key_column_set(const HgKeyColumn *column);

/* Returns the bytes of the column's own blocks, used or not. */
static inline uint64
hg_key_column_reserved(const HgKeyColumn *column)
{
	uint64 words = 0;

	for (int i = 0; i < column->nblocks; i++)
		words += column->blocks[i].capacity;
	return words * column->width;
}

/*
 * Appends copies of nwords words, words[which[i]] or words[i] if which is NULL, as rows from
 * first_row on, cut to the column's width. If first_row does not follow the last row, a piece
 * begins, which only a shared job may have (HgKeyPiece). Charges the budget without checking it;
 * raises an error if there is no memory.
 */
extern void hg_key_column_add(HgKeyColumn *column, uint64 first_row, const uint64 *words,
							  const uint16 *which, int nwords);

/* Appends an array of words of the column's width, without a copy, as rows from first_row on. */
extern void hg_key_column_add_external(HgKeyColumn *column, uint64 first_row, const void *words,
									   int nwords);

/*
 * A set of join keys as a bitmap, for joins that only test whether a key exists.
 *
 * It serves an input of which the join reads no other column, and whose keys are unique or may be
 * counted once.  It then keeps one bit for each possible key instead of the rows.  Ten million
 * consecutive keys take a megabyte.
 *
 * Words come from an exact encoder (hg_key.h).  The bitmap has the keys' range modulo 2^32 or
 * 2^64, so that negative and positive numbers are neighbours.
 */

typedef struct HgKeyBits
{
	MemoryContext context;
	HgCharge charge;
	uint32 width;	 /* bytes of a word: 4 or 8 */
	bool repeats;	 /* a key may occur more than once */
	uint64 limit;	 /* most bytes of the bitmap; while it grows, of the old and new one together */
	HgKeyBitmap map; /* size is a multiple of 64; 0 before the first key */
	uint32 *bits;	 /* the same memory as map.bits */
} HgKeyBits;

/* Creates an empty set in its own context below parent; charges it to budget. */
extern HgKeyBits *hg_key_bits_create(MemoryContext parent, uint32 width, bool repeats, uint64 limit,
									 HgBudget *budget);
/* Frees the set. */
extern void hg_key_bits_destroy(HgKeyBits *bits);

/*
 * Allocates a bitmap for all words of pieces[npieces], before any is added; it does not add them.
 * A bitmap that grows word by word takes more memory.  Returns false if the words do not fit the
 * limit or memory is short.
 */
extern bool hg_key_bits_reserve(HgKeyBits *bits, const HgKeyPiece *pieces, int npieces);

/*
 * Adds the array words[nwords], whose elements have the set's width.  Returns the number of words
 * added.  It is less than nwords if the next word does not fit the limit or memory, or is in the
 * set already while repeats is false.
 */
extern uint64 hg_key_bits_add(HgKeyBits *bits, const void *words, uint64 nwords);

/*
 * Adds words[which[nwords]], or words[nwords] if which is NULL.  Returns the number of words added,
 * as hg_key_bits_add() does.
 */
extern int hg_key_bits_add_words(HgKeyBits *bits, const uint64 *words, const uint16 *which,
								 int nwords);

/*
 * Stores up to max keys in words, each once, in the order of the bitmap: ascending from map.least,
 * modulo 2^32 or 2^64. Keys of 4 bytes are zero-extended. Begins at *position, which is 0 at first,
 * and advances it. Returns the number of keys; 0 at the end.
 */
extern int hg_key_bits_next(const HgKeyBits *bits, uint64 *position, uint64 *words, int max);

#endif /* HG_KEY_COLUMN_H */
