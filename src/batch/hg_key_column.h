/*-------------------------------------------------------------------------
 *
 * hg_key_column.h
 *	  The key words of one side, in the order of its rows.
 *
 * Words lie in blocks that never move, so that an engine may read them in place.
 * The first block is small and each following one twice as large, up to a limit.  A piece is
 * what follows one another both in a block and in row numbers.  Words may lie in arrays of others
 * too, which are never moved or freed before the column is cleared.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_KEY_COLUMN_H
#define HG_KEY_COLUMN_H

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
	uint32 width;		   /* bytes of a word: 4 or 8 */
	uint64 row_bytes;	   /* what a word is charged, with what the engine will take for it */
	HgCharge charge;
	uint64 rows;
	HgKeyPiece *pieces; /* [npieces] */
	int npieces;
	int max_pieces;
	HgKeyBlock *blocks; /* [nblocks] */
	int nblocks;		/* blocks there are, some unused after a clear */
	int max_blocks;
	int blocks_used;
	uint64 next_row;	  /* behind the row of the last word */
	const char *borrowed; /* behind the last word, where that is another's; else NULL */
	char *next;			  /* where the next word goes ... */
	char *end;			  /* ... and where the current block ends */
} HgKeyColumn;

/*
 * An empty column of words of width bytes, in a context of its own below parent.  The words are
 * charged to a budget (or NULL), and with them what the CPU engine takes to join them.
 */
extern HgKeyColumn *hg_key_column_create(MemoryContext parent, uint32 width, HgBudget *budget);

/* What of a column's charge is for what the engine will take. */
static inline uint64
hg_key_column_job_bytes(const HgKeyColumn *column)
{
	return column->rows * (column->row_bytes - column->width);
}

/* What a word of a width is charged. */
extern uint64 hg_key_column_row_bytes(uint32 width);

/* Forget the words, keep the memory for the next ones. */
extern void hg_key_column_clear(HgKeyColumn *column);

/* Free the words and their memory; the column itself stays usable. */
extern void hg_key_column_release(HgKeyColumn *column);

/* The column as a matcher takes it; valid until the next add, clear or release. */
extern HgKeySet hg_key_column_set(const HgKeyColumn *column);

/* Memory that the column holds, whether there are words in it or not. */
static inline uint64
hg_key_column_reserved(const HgKeyColumn *column)
{
	uint64 words = 0;

	for (int i = 0; i < column->nblocks; i++)
		words += column->blocks[i].capacity;
	return words * column->width;
}

/*
 * Append words[which[0]] .. words[which[nwords - 1]], or words[0] .. where which is NULL; the
 * rows are numbered from first_row on.
 */
extern void hg_key_column_add(HgKeyColumn *column, uint64 first_row, const uint64 *words,
							  const uint16 *which, int nwords);

/* Append words, of the column's width, that stay where they are. */
extern void hg_key_column_borrow(HgKeyColumn *column, uint64 first_row, const void *words,
								 int nwords);

#endif /* HG_KEY_COLUMN_H */
