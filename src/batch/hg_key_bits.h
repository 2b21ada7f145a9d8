/*-------------------------------------------------------------------------
 *
 * hg_key_bits.h
 *	  A set of join keys as a bitmap, for joins that only test whether a key exists.
 *
 * It serves an input of which the join reads no other column, and whose keys are unique or may be
 * counted once.  It then keeps one bit for each possible key instead of the rows.  Ten million
 * consecutive keys take a megabyte.
 *
 * Words come from an exact encoder (hg_key.h).  The bitmap has the keys' range modulo 2^32 or
 * 2^64, so that negative and positive numbers are neighbours.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_KEY_BITS_H
#define HG_KEY_BITS_H

#include "postgres.h"

#include "backend/hg_budget.h"
#include "backend/matcher/hg_matcher_spec.h"

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
 * Allocates a bitmap for all words of pieces[npieces], before any is added.  A bitmap that grows
 * word by word takes more memory.  Returns false if the words do not fit the limit.
 */
extern bool hg_key_bits_reserve(HgKeyBits *bits, const HgKeyPiece *pieces, int npieces);

/*
 * Adds the array words[nwords], whose elements have the set's width.  Returns the number of words
 * added.  It is less than nwords if the next word does not fit, or is in the set already while
 * repeats is false.
 */
extern uint64 hg_key_bits_add(HgKeyBits *bits, const void *words, uint64 nwords);

/*
 * Adds words[which[nwords]], or words[nwords] if which is NULL.  Returns the number of words added,
 * as hg_key_bits_add() does.
 */
extern int hg_key_bits_add_words(HgKeyBits *bits, const uint64 *words, const uint16 *which,
								 int nwords);

/*
 * Reads up to max keys from *position on, which is 0 at first, and advances it.  Returns the
 * number of keys; 0 at the end.
 */
extern int hg_key_bits_next(const HgKeyBits *bits, uint64 *position, uint64 *words, int max);

#endif /* HG_KEY_BITS_H */
