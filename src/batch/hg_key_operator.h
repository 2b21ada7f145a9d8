/*-------------------------------------------------------------------------
 *
 * hg_key_operator.h
 *	  Operators that join keys: what the catalogs say of them, and what they compare.
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
	HG_IMAGE_INT8, /* by value, so many bits, signed */
	HG_IMAGE_INT16,
	HG_IMAGE_INT32,
	HG_IMAGE_INT64,
	HG_IMAGE_FLOAT4,	  /* as float4 */
	HG_IMAGE_FLOAT4_WIDE, /* as float8 */
	HG_IMAGE_FLOAT8,
	HG_IMAGE_BYTES6, /* by reference, so many bytes */
	HG_IMAGE_BYTES8
} HgKeyImage;

/* A built-in equality function that compares images of values. */
typedef struct HgExactFunction
{
	Oid function;
	HgKeyImage image[2]; /* by HgSide */
} HgExactFunction;

/*
 * An operator as this room sees it; kept, since the planner asks for it again and again, until
 * one of the catalogs that it was made from changes (hg_key_operator.c).
 */
typedef struct HgOperator
{
	Oid operator_oid; /* hash key */
	bool usable;	  /* it has hash functions for both sides: */
	bool extended;	  /* ... the 64-bit ones */
	Oid hash[2];	  /* ... by HgSide */
	bool strict;
	Oid commutator;
	Oid function;
	const HgExactFunction *exact; /* or NULL */
} HgOperator;

/* What there is to know of an operator: a copy, since a later call may forget it. */
extern HgOperator hg_key_operator(Oid operator_oid);

/*
 * True when an operator has hash functions for both of its sides, so that an
 * encoder can be made for it.  Never fails.
 */
extern bool hg_key_operator_usable(Oid operator_oid);

/* get_commutator, faster the second time. */
extern Oid hg_key_commutator(Oid operator_oid);

#endif /* HG_KEY_OPERATOR_H */
