/*-------------------------------------------------------------------------
 *
 * hg_key_bits.h
 *	  Keys that are near each other, as bits: for those who ask of a key only whether it is there.
 *
 * Where nobody looks at the rows behind the keys of an input, and no key is there twice or twice is
 * as good as once, a bit is all that has to be kept of a row.  Ten million keys without gaps take
 * a megabyte.
 *
 * Words are those of an encoder that is exact (hg_key.h).  They are near each other where their
 * differences, modulo 2^32 or 2^64, are: an interval of a circle, as those of negative and positive
 * numbers are.
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
	bool repeats;	 /* a key may come again */
	uint64 limit;	 /* bytes that bits may take, while there are more of them too */
	HgKeyBitmap map; /* size is a multiple of 64; 0: there are none so far */
	uint32 *bits;	 /* the map's */
} HgKeyBits;

/* Bits of no key, in a context of their own below parent, charged to a budget. */
extern HgKeyBits *hg_key_bits_create(MemoryContext parent, uint32 width, bool repeats, uint64 limit,
									 HgBudget *budget);
extern void hg_key_bits_destroy(HgKeyBits *bits);

/*
 * Have bits for all of these words at once, before any is added; false: there is no room for them.
 * What grows word by word comes to have more than it needs.
 */
extern bool hg_key_bits_reserve(HgKeyBits *bits, const HgKeyPiece *pieces, int npieces);

/*
 * Add words[nwords], of the width, that lie in an array.  Returns how many of them have been added:
 * fewer than all where the next one is there already and may not be, or there is no room for it.
 */
extern uint64 hg_key_bits_add(HgKeyBits *bits, const void *words, uint64 nwords);

/* The same of words[which[nwords]], or words[nwords] where which is NULL. */
extern int hg_key_bits_add_words(HgKeyBits *bits, const uint64 *words, const uint16 *which,
								 int nwords);

/*
 * The next keys behind *place, which is 0 at first, at most max of them: their number, 0 when there
 * are no more.
 */
extern int hg_key_bits_next(const HgKeyBits *bits, uint64 *place, uint64 *words, int max);

#endif /* HG_KEY_BITS_H */
