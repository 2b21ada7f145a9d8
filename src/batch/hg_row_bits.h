/*-------------------------------------------------------------------------
 *
 * hg_row_bits.h
 *	  A bit for each row of a chunk: has it found a match yet?
 *
 * Where a side is read several times in the same chunks, the bits of one reading are
 * needed in the next one.  They go to a temporary file then, so that only those of
 * the current chunk are in memory:
 *
 *	reading 1	reset, set ..., save, reset, set ..., save, ..., next_reading
 *	reading 2	restore, set ..., save, restore, ..., next_reading
 *	last one	restore, set ..., restore, ..., forget
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ROW_BITS_H
#define HG_ROW_BITS_H

#include "storage/buffile.h"

/* The rows of a chunk, as an input holds them. */
typedef struct HgRowCounts
{
	uint64 rows; /* with a key: the ones that have a bit */
	uint64 null_rows;
} HgRowCounts;

typedef struct HgRowBits
{
	MemoryContext context; /* owns the bits and the files */
	uint8 *bits;
	Size allocated;	   /* bytes */
	BufFile *previous; /* the chunks of the reading before, or NULL */
	BufFile *current;  /* ... and of this one, or NULL */
} HgRowBits;

/* No bits, in CurrentMemoryContext. */
extern HgRowBits *hg_row_bits_create(void);

/* Make all bits of a chunk of rows zero. */
extern void hg_row_bits_reset(HgRowBits *set, uint64 rows);

/* Write the bits of a chunk behind those of the chunks before. */
extern void hg_row_bits_save(HgRowBits *set, HgRowCounts counts);

/*
 * Take up the bits of the next chunk of the reading before; its rows in *counts.  False
 * after the last one.
 */
extern bool hg_row_bits_restore(HgRowBits *set, HgRowCounts *counts);

/* What was saved is what will be restored from now on. */
extern void hg_row_bits_next_reading(HgRowBits *set);

/* Is there a reading before? */
static inline bool
hg_row_bits_saved(const HgRowBits *set)
{
	return set->previous != NULL;
}

/* Memory of the bits and of the files' buffers. */
extern uint64 hg_row_bits_memory(const HgRowBits *set);

/* Delete what was saved. */
extern void hg_row_bits_forget(HgRowBits *set);

static inline bool
hg_row_bits_test(const HgRowBits *set, uint64 row)
{
	return (set->bits[row / 8] & (1 << (row % 8))) != 0;
}

static inline void
hg_row_bits_set(HgRowBits *set, uint64 row)
{
	set->bits[row / 8] |= 1 << (row % 8);
}

#endif /* HG_ROW_BITS_H */
