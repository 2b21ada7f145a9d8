/*-------------------------------------------------------------------------
 *
 * hg_lies.h
 *	  Lies on the wire: one end sends wrong messages, or writes where the other one reads.
 *
 * A program that is linked with this file has its hg_wire_send and hg_wire_receive wrapped
 * (Makefile).  Until hg_lies_begin() it is honest.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LIES_H
#define HG_LIES_H

#include "../../src/engine/wire/hg_wire.h"

/*
 * Starts to lie.  what is "KIND ONE_IN SEED": one of ONE_IN messages is altered.  The kinds are
 *
 *	row		in each chunk of matches, the first outer row is number 0xFFFFFFF0
 *	twice	the first outer row of each chunk comes again after another one
 *	count	reports 2^40 matches too many, and makes groups of them
 *	fewer	each chunk of matches reports one less
 *	seen	answers that a client must detect, or that do no harm: whatever it returns is right
 *	any		any word of any message, and any word of the results
 *	memory	the same, and any word of staging at any time, as fast as a thread can write
 *
 * The first five kinds are for the device process only.  Ends the program if what is invalid.
 */
extern void hg_lies_begin(const char *what, unsigned char *staging, uint64_t staging_bytes);

/* Stops lying.  Staging is not written to any more. */
extern void hg_lies_end(void);

/* Returns the number of lies so far. */
extern uint64_t hg_lies_told(void);

/* random returns a random number, which follows from the seed and the numbers drawn since. */
extern uint64_t hg_lies_random(void);
extern void hg_lies_seed(uint64_t seed);

#endif /* HG_LIES_H */
