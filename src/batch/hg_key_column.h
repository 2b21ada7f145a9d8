/*-------------------------------------------------------------------------
 *
 * hg_key_column.h
 *	  The key words of one side, in the order of its rows.
 *
 * Words lie in pieces that never move, so that an engine may read them in place.
 * The first piece is small and each following one twice as large, up to a limit.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_KEY_COLUMN_H
#define HG_KEY_COLUMN_H

#include "backend/hg_matcher.h"

typedef struct HgKeyColumn
{
	MemoryContext context; /* owns everything below */
	uint32 width;		   /* bytes of a word: 4 or 8 */
	uint64 rows;
	HgKeyPiece *pieces; /* [npieces], the ones in use */
	uint64 *capacities; /* [allocated], words that each piece has room for */
	int npieces;
	int allocated;	/* pieces there are, some unused after a clear */
	int max_pieces; /* length of the arrays */
	void *next;		/* where the next word goes ... */
	void *end;		/* ... and where the current piece ends */
} HgKeyColumn;

/* An empty column of words of width bytes, in a context of its own below parent. */
extern HgKeyColumn *hg_key_column_create(MemoryContext parent, uint32 width);

/* Forget the words, keep the memory for the next ones. */
extern void hg_key_column_clear(HgKeyColumn *column);

/* Free the words and their memory; the column itself stays usable. */
extern void hg_key_column_release(HgKeyColumn *column);

/* The column as a matcher takes it; valid until the next add, clear or release. */
extern HgKeySet hg_key_column_set(HgKeyColumn *column);

/* Bytes of the words held. */
static inline uint64
hg_key_column_bytes(const HgKeyColumn *column)
{
	return column->rows * column->width;
}

/* Memory that the column holds, whether there are words in it or not. */
static inline uint64
hg_key_column_reserved(const HgKeyColumn *column)
{
	uint64 words = 0;

	for (int i = 0; i < column->allocated; i++)
		words += column->capacities[i];
	return words * column->width;
}

/* Append words[which[0]] .. words[which[nwords - 1]], or words[0] .. where which is NULL. */
extern void hg_key_column_add(HgKeyColumn *column, const uint64 *words, const uint16 *which,
							  int nwords);

#endif /* HG_KEY_COLUMN_H */
