/*-------------------------------------------------------------------------
 *
 * hg_row_bits.h
 *	  One bit for each row of a chunk, which says whether the row has found a match.
 *
 * If a side is read several times in the same chunks, the bits of one reading are needed in the
 * next.  They go to a temporary file, so that only the current chunk's are in memory:
 *
 *	reading 1	reset, set ..., save, reset, set ..., save, ..., next_reading
 *	reading 2	restore, set ..., save, restore, ..., next_reading
 *	last one	restore, set ..., restore, ..., forget
 *
 * A row is identified by its ordinal (hg_covered.h).  Bits before a chunk's first row, of rows that
 * belong to all chunks, stay in memory.  The participants of a parallel join set the bits of all
 * rows in shared memory instead.
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

/* The numbers of rows of a chunk. */
typedef struct HgRowCounts
{
	uint64 rows; /* rows with a key, which have a bit */
	uint64 null_rows;
} HgRowCounts;

/* Bits in shared memory, in segments of limited size. */
#define HG_BITS_SEGMENT_LOG2 26
#define HG_BITS_SEGMENTS (1 << (32 - HG_BITS_SEGMENT_LOG2))

typedef struct HgSharedBits
{
	/* Each has 2^HG_BITS_SEGMENT_LOG2 rows, or is invalid. */
	dsa_pointer segments[HG_BITS_SEGMENTS];
} HgSharedBits;

typedef struct HgRowBits
{
	MemoryContext context; /* owns the bits and the files */
	HgCharge charge;
	uint8 *bits;
	Size allocated;				 /* bytes */
	BufFile *previous;			 /* chunks of the previous reading, or NULL */
	BufFile *current;			 /* chunks of this reading, or NULL */
	pg_atomic_uint32 **segments; /* shared bits, which have no files; else NULL */
} HgRowBits;

/* Creates an empty set in CurrentMemoryContext.  Bits and file buffers are charged to a budget. */
extern HgRowBits *hg_row_bits_create(HgBudget *budget);

/* Clears all bits of the set's own memory. */
extern void hg_row_bits_clear(HgRowBits *set);

/*
 * Makes room for a chunk of rows from first on, and clears their bits.  Bits before first keep
 * their values; new ones are zero.
 */
extern void hg_row_bits_reset(HgRowBits *set, uint64 first, uint64 rows);

/* Appends counts, and the bits of counts.rows rows from first on, to the file of this reading. */
extern void hg_row_bits_save(HgRowBits *set, uint64 first, HgRowCounts counts);

/*
 * Reads the bits of the next chunk of the previous reading, from first on, and sets *counts.
 * Returns false after the last chunk.
 */
extern bool hg_row_bits_restore(HgRowBits *set, uint64 first, HgRowCounts *counts);

/* Begins a reading: the file of saved chunks becomes the one that is restored. */
extern void hg_row_bits_next_reading(HgRowBits *set);

/* Returns true if an earlier reading has saved bits, which hg_row_bits_restore() returns. */
static inline bool
hg_row_bits_has_previous(const HgRowBits *set)
{
	return set->previous != NULL;
}

/* Deletes the bits that this reading and the previous one have saved. */
extern void hg_row_bits_forget(HgRowBits *set);

/* Allocates zeroed shared bits; one process does it for all.  Returns their bytes. */
extern uint64 hg_shared_bits_create(HgSharedBits *shared, dsa_area *area, uint64 rows);

/* Frees the shared bits. */
extern void hg_shared_bits_release(HgSharedBits *shared, dsa_area *area);

/* Makes a set use shared bits, or its own again if shared is NULL. */
extern void hg_row_bits_share(HgRowBits *set, const HgSharedBits *shared, dsa_area *area);

/* Returns the word of shared bits that has a row's bit, and sets *bit to its mask. */
static inline pg_atomic_uint32 *
hg_row_bits_word(const HgRowBits *set, uint64 row, uint32 *bit)
{
	*bit = (uint32) 1 << (row % 32);
	return &set->segments[row >> HG_BITS_SEGMENT_LOG2]
						 [(row & ((1 << HG_BITS_SEGMENT_LOG2) - 1)) / 32];
}

/* Returns true if a row's bit is set. */
static inline bool
hg_row_bits_test(const HgRowBits *set, uint64 row)
{
	uint32 bit;

	if (set->segments == NULL)
		return (set->bits[row / 8] & (1 << (row % 8))) != 0;
	return (pg_atomic_read_u32(hg_row_bits_word(set, row, &bit)) & bit) != 0;
}

/* Sets a row's bit.  Returns false if it was already set, by any process. */
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
