/*-------------------------------------------------------------------------
 *
 * hg_lies.h
 *	  Lies on the wire: one end says what is not so, or writes where the other one reads.
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
 * Lie from now on, as what says: "KIND ONE_IN SEED", where one of so many messages is altered.  The
 * kinds are
 *
 *	row		of each chunk of matches, the first outer row is number 0xFFFFFFF0
 *	twice	the first outer row of each chunk comes again after another one
 *	count	there are 2^40 matches more than there are, and groups are made of them
 *	fewer	each chunk of matches has one less than there are
 *	seen	answers that a client must see through, or that do no harm: whatever it returns is right
 *	any		any word of any message, and any word of the results
 *	memory	the same, and any word of staging at any time, as fast as a thread can write
 *
 * Lies of the first five kinds are the device process's alone.  Ends the program where what is
 * something else.
 */
extern void hg_lies_begin(const char *what, unsigned char *staging, uint64_t staging_bytes);

/* Be honest again; staging is not written to any more. */
extern void hg_lies_end(void);

/* How many lies have been told. */
extern uint64_t hg_lies_told(void);

/* A random number, which depends on the seed and on how many were asked for since. */
extern uint64_t hg_lies_random(void);
extern void hg_lies_seed(uint64_t seed);

#endif /* HG_LIES_H */
