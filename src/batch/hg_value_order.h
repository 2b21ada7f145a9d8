/*-------------------------------------------------------------------------
 *
 * hg_value_order.h
 *	  How values of a type are compared: as integers, as numerics, or as bytes.
 *
 * Types are told apart by which of their operators are understood.  A value that is compared as an
 * integer has one, such that two values are less, equal or greater to the type's operators exactly
 * as their integers are; so do values of two types of one FAMILY.  Floating-point numbers are among
 * them: -0 has the integer of 0, and all NaNs have one, which is the greatest.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_VALUE_ORDER_H
#define HG_VALUE_ORDER_H

#include "postgres.h"

typedef enum HgValueOrder
{
	HG_ORDER_UNKNOWN,
	HG_ORDER_SIGNED, /* the integer that a value is inside */
	HG_ORDER_UNSIGNED,
	HG_ORDER_FLOAT,
	HG_ORDER_NUMERIC,
	HG_ORDER_TEXT,
	HG_ORDER_BLANKS, /* text, without the blanks at its end */
	HG_ORDER_BYTES,
	HG_ORDER_UUID,
} HgValueOrder;

extern HgValueOrder hg_value_order(Oid type);

/* Is a value compared as its integer? */
static inline bool
hg_order_is_integer(HgValueOrder order)
{
	return order == HG_ORDER_SIGNED || order == HG_ORDER_UNSIGNED || order == HG_ORDER_FLOAT;
}

/* Are values of both types, which are compared as integers, compared with each other so? */
extern bool hg_order_is_shared(Oid type, Oid other);

/* The integer of a value of width bytes. */
extern int64 hg_order_integer(HgValueOrder order, int width, Datum value);

/* integers[i] = that of values[i], for i < n. */
extern void hg_order_integers(HgValueOrder order, int width, const Datum *values, int n,
							  int64 *integers);

#endif /* HG_VALUE_ORDER_H */
