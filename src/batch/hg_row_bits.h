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
 * Bits ahead of a chunk's, of rows that are there for all chunks, stay in memory meanwhile.
 *
 * Where the processes of a parallel query join together, they set the bits of all rows in
 * shared memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ROW_BITS_H
#define HG_ROW_BITS_H

#include "port/atomics.h"
#include "storage/buffile.h"
#include "utils/dsa.h"

#include "backend/hg_budget.h"

/* The rows of a chunk, as an input holds them. */
typedef struct HgRowCounts
{
	uint64 rows; /* with a key: the ones that have a bit */
	uint64 null_rows;
} HgRowCounts;

/* Bits that several processes set, in shared memory, in segments that are not too large. */
#define HG_BITS_SEGMENT_LOG2 26
#define HG_BITS_SEGMENTS (1 << (32 - HG_BITS_SEGMENT_LOG2))

typedef struct HgSharedBits
{
	dsa_pointer segments[HG_BITS_SEGMENTS]; /* of 2^HG_BITS_SEGMENT_LOG2 rows; or invalid */
} HgSharedBits;

typedef struct HgRowBits
{
	MemoryContext context; /* owns the bits and the files */
	HgCharge charge;
	uint8 *bits;
	Size allocated;				 /* bytes */
	BufFile *previous;			 /* the chunks of the reading before, or NULL */
	BufFile *current;			 /* ... and of this one, or NULL */
	pg_atomic_uint32 **segments; /* of shared bits, which have no files; else NULL */
} HgRowBits;

/* No bits, in CurrentMemoryContext.  Bits and the files' buffers are charged to a budget. */
extern HgRowBits *hg_row_bits_create(HgBudget *budget);

/* Make all bits that there are zero. */
extern void hg_row_bits_clear(HgRowBits *set);

/*
 * Make the bits of a chunk of rows zero, from first on.  Those ahead of it stay as they are, and
 * are zero if they were not there.
 */
extern void hg_row_bits_reset(HgRowBits *set, uint64 first, uint64 rows);

/* Write the bits of a chunk, from first on, behind those of the chunks before. */
extern void hg_row_bits_save(HgRowBits *set, uint64 first, HgRowCounts counts);

/*
 * Take up the bits of the next chunk of the reading before, from first on; its rows in *counts.
 * False after the last one.
 */
extern bool hg_row_bits_restore(HgRowBits *set, uint64 first, HgRowCounts *counts);

/* What was saved is what will be restored from now on. */
extern void hg_row_bits_next_reading(HgRowBits *set);

/* Is there a reading before? */
static inline bool
hg_row_bits_saved(const HgRowBits *set)
{
	return set->previous != NULL;
}

/* Delete what was saved. */
extern void hg_row_bits_forget(HgRowBits *set);

/*
 * Allocate shared bits for so many rows, all of them zero: one process does it for all.  Returns
 * how many bytes they are.
 */
extern uint64 hg_shared_bits_create(HgSharedBits *shared, dsa_area *area, uint64 rows);

/* Free them. */
extern void hg_shared_bits_release(HgSharedBits *shared, dsa_area *area);

/* Make a set that of shared bits, or an ordinary one again with shared NULL. */
extern void hg_row_bits_share(HgRowBits *set, const HgSharedBits *shared, dsa_area *area);

/* The word of shared bits that a row is in, and its bit there. */
static inline pg_atomic_uint32 *
hg_row_bits_word(const HgRowBits *set, uint64 row, uint32 *bit)
{
	*bit = (uint32) 1 << (row % 32);
	return &set->segments[row >> HG_BITS_SEGMENT_LOG2]
						 [(row & ((1 << HG_BITS_SEGMENT_LOG2) - 1)) / 32];
}

static inline bool
hg_row_bits_test(const HgRowBits *set, uint64 row)
{
	uint32 bit;

	if (set->segments == NULL)
		return (set->bits[row / 8] & (1 << (row % 8))) != 0;
	return (pg_atomic_read_u32(hg_row_bits_word(set, row, &bit)) & bit) != 0;
}

/* Set a row's bit: false where it was set, by whichever process. */
static inline bool
hg_row_bits_set(HgRowBits *set, uint64 row)
{
	pg_atomic_uint32 *word;
	uint32 bit;

	if (set->segments == NULL)
	{
		bool unset = !hg_row_bits_test(set, row);

		set->bits[row / 8] |= 1 << (row % 8);
		return unset;
	}
	word = hg_row_bits_word(set, row, &bit);
	return (pg_atomic_read_u32(word) & bit) == 0 && (pg_atomic_fetch_or_u32(word, bit) & bit) == 0;
}

#endif /* HG_ROW_BITS_H */
