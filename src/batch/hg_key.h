/*-------------------------------------------------------------------------
 *
 * hg_key.h
 *	  Join keys as words of a fixed width.
 *
 * The engine joins words.  An encoder turns the values of a row's join clauses into one word.
 * Rows whose values the clauses' operators call equal get the same word on both sides.
 *
 * - exact: every operator is a built-in one whose equality is equality of an image of at most 64
 *   bits.  An image is an integer, sign-extended to the wider of two types; the bits of a
 *   floating-point number, after zeros and NaNs are normalized; or the bytes of a short
 *   by-reference value.  The images are packed side by side; equal words mean equal values.
 * - hash: anything else gets a 64-bit hash.  If equality is equality of bytes (texts of a
 *   deterministic collation), it is a hash of the bytes.  Otherwise the hash functions of the
 *   operator's family make it, under the operator's collation.  Rows with equal words are
 *   rechecked with the operators.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_KEY_H
#define HG_KEY_H

#include "postgres.h"

#include "fmgr.h"

#include "batch/hg_batch.h"
#include "engine/hg_engine.h"

/* hg_key_operator.c: operators that join keys: their catalog entries, and what they compare */

/* How a value becomes an image. */
typedef enum HgKeyImage
{
	HG_IMAGE_INT8, /* by value, signed, with this number of bits */
	HG_IMAGE_INT16,
	HG_IMAGE_INT32,
	HG_IMAGE_INT64,
	HG_IMAGE_FLOAT4,	  /* the bits of a float4 */
	HG_IMAGE_FLOAT4_WIDE, /* the bits of the float8 that a float4 converts to */
	HG_IMAGE_FLOAT8,
	HG_IMAGE_BYTES6, /* by reference, with this number of bytes */
	HG_IMAGE_BYTES8
} HgKeyImage;

/* A built-in equality function that compares images of values. */
typedef struct HgExactFunction
{
	Oid function;
	HgKeyImage image[2]; /* by HgSide */
} HgExactFunction;

/*
 * An operator's properties, cached until one of their catalogs changes (hg_key_operator.c),
 * because the planner reads them again and again.
 */
typedef struct HgOperator
{
	Oid operator_oid; /* hash key */
	bool usable;	  /* it has hash functions for both sides */
	bool extended;	  /* hash[] are the 64-bit functions */
	Oid hash[2];	  /* by HgSide, if usable */
	bool strict;
	Oid commutator;
	Oid function;
	const HgExactFunction *exact; /* NULL if the operator is not exact */
} HgOperator;

/* Returns the properties of an operator, as a copy. */
extern HgOperator hg_key_operator(Oid operator_oid);

/* Returns true if the operator has hash functions for both sides.  Never fails. */
extern bool hg_key_operator_usable(Oid operator_oid);

/* Does what get_commutator() does, from the cache. */
extern Oid hg_key_commutator(Oid operator_oid);

/* hg_key.c: join keys as words of a fixed width */

/* One join clause: outer expression OPERATOR inner expression. */
typedef struct HgKeyClause
{
	Oid operator_oid; /* hashable, with the outer side on its left */
	Oid collation;	  /* input collation of the operator */
} HgKeyClause;

typedef enum HgKeyEncoding
{
	HG_KEY_BITS,	/* the value's image */
	HG_KEY_BYTES,	/* a hash of its bytes, without the varlena header */
	HG_KEY_HASH_64, /* extended hash function */
	HG_KEY_HASH_32	/* hash function, where there is no extended one */
} HgKeyEncoding;

/* The part of one clause in the word. */
typedef struct HgKeyPart
{
	HgKeyEncoding encoding;
	bool strict;		 /* the operator is strict: NULL matches nothing */
	HgKeyImage image[2]; /* HG_KEY_BITS: by HgSide */
	uint8 bits;			 /* HG_KEY_BITS: width in the word */
	uint8 shift;		 /* HG_KEY_BITS: its lowest bit in the word */
	Oid collation;
	FmgrInfo hash[2]; /* otherwise: by HgSide */
} HgKeyPart;

typedef struct HgKeyEncoder
{
	uint32 width; /* bytes of a word: 4 or 8 */
	bool exact;	  /* equal words mean equal values */
	int nparts;
	HgKeyPart parts[FLEXIBLE_ARRAY_MEMBER];
} HgKeyEncoder;

/* Returns true if an encoder of the clauses is exact.  Sets *width, unless NULL, to its width. */
extern bool hg_key_is_exact(int nclauses, const HgKeyClause *clauses, uint32 *width);

/* Creates an encoder in CurrentMemoryContext.  All operators must be usable (HgOperator). */
extern HgKeyEncoder *hg_key_encoder_create(int nclauses, const HgKeyClause *clauses);

/* Returns true if the key of a side is one column's values as they are stored in an array. */
extern bool hg_key_is_value(const HgKeyEncoder *encoder, HgSide side);

/* Returns true if the key of a side is one integer, sign-extended to the word's width. */
extern bool hg_key_is_integer(const HgKeyEncoder *encoder, HgSide side);

/*
 * Encodes rows first .. first + nrows - 1 of a batch of a side.  Column at[i] has the values of
 * part i.  null_keys[row] becomes true if the key is NULL and the row matches nothing; otherwise it
 * becomes false, and words[row] the key.  Returns the number of rows with a key.  Hash functions
 * allocate in temporary, which may be reset, and may raise errors.
 */
extern int hg_key_encode(HgKeyEncoder *encoder, HgSide side, const HgBatch *batch, const int *at,
						 int first, int nrows, uint64 *words, bool *null_keys,
						 MemoryContext temporary);

#endif /* HG_KEY_H */
