/*-------------------------------------------------------------------------
 *
 * hg_key_operator.h
 *	  Operators that join keys: their catalog entries, and what they compare.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_KEY_OPERATOR_H
#define HG_KEY_OPERATOR_H

#include "postgres.h"

#include "engine/hg_engine.h"

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

/* get_commutator(), from the cache. */
extern Oid hg_key_commutator(Oid operator_oid);

#endif /* HG_KEY_OPERATOR_H */
