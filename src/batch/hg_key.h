/*-------------------------------------------------------------------------
 *
 * hg_key.h
 *	  Join keys as words of a fixed width.
 *
 * The engine joins words.  An encoder turns the values of a row's join clauses
 * into one word, the same on both sides wherever the clauses' operators say that
 * the values are equal:
 *
 *	exact	every operator is a built-in one whose equality is equality of an
 *			image of at most 64 bits: the integer itself, sign-extended to the
 *			wider of two types; the bits of a floating-point number, once zeros
 *			have no sign and NaNs are alike; the bytes of a short value that is
 *			passed by reference.  The images are packed side by side; equal words
 *			mean equal values.
 *	hash	anything else: a 64-bit hash.  Where the operator is a built-in one
 *			whose equality is equality of bytes (texts of a deterministic
 *			collation), one of these; else by the hash functions of the
 *			operator's family, under its collation.  Equal words mean nothing
 *			until the operators have been asked ("recheck").
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_KEY_H
#define HG_KEY_H

#include "fmgr.h"

#include "batch/hg_batch.h"
#include "batch/hg_key_operator.h"

/* One join clause: outer expression OPERATOR inner expression. */
typedef struct HgKeyClause
{
	Oid operator_oid; /* hashable, with the outer side on its left */
	Oid collation;	  /* input collation of the operator */
} HgKeyClause;

typedef enum HgKeyEncoding
{
	HG_KEY_BITS,	/* the value's image */
	HG_KEY_BYTES,	/* a hash of its bytes, without those of its header */
	HG_KEY_HASH_64, /* extended hash function */
	HG_KEY_HASH_32	/* hash function, where there is no extended one */
} HgKeyEncoding;

/* How one clause takes part in the word. */
typedef struct HgKeyPart
{
	HgKeyEncoding encoding;
	bool strict;		 /* NULL matches nothing */
	HgKeyImage image[2]; /* HG_KEY_BITS: by HgSide */
	uint8 bits;			 /* HG_KEY_BITS: width in the word */
	uint8 shift;		 /* HG_KEY_BITS: its place in the word */
	Oid collation;
	FmgrInfo hash[2]; /* otherwise: hash function by HgSide */
} HgKeyPart;

typedef struct HgKeyEncoder
{
	uint32 width; /* bytes of a word: 4 or 8 */
	bool exact;	  /* equal words mean equal values */
	int nparts;
	HgKeyPart parts[FLEXIBLE_ARRAY_MEMBER];
} HgKeyEncoder;

/*
 * True when an encoder of these clauses would be exact; *width (may be NULL) is
 * the width of its words.
 */
extern bool hg_key_is_exact(int nclauses, const HgKeyClause *clauses, uint32 *width);

/* Make an encoder in CurrentMemoryContext.  All operators must be usable. */
extern HgKeyEncoder *hg_key_encoder_create(int nclauses, const HgKeyClause *clauses);

/* Is a key word of a side the value itself, as it lies in an array of its own width? */
extern bool hg_key_is_value(const HgKeyEncoder *encoder, HgSide side);

/* Is a key of a side one integer, a column's value itself, as wide as that? */
extern bool hg_key_is_integer(const HgKeyEncoder *encoder, HgSide side);

#endif /* HG_KEY_H */
