/*-------------------------------------------------------------------------
 *
 * hg_value_order.h
 *	  How values of a type are compared: as integers, as numerics, or as bytes.
 *
 * A type has an order if its comparison operators are known here.  A value that is compared as an
 * integer has one such that the type's operators order two values exactly as their integers are
 * ordered.  That also holds for values of two types that hg_order_is_shared() accepts.
 * Floating-point numbers are compared so too: -0 has the integer of 0, and all NaNs share the
 * greatest integer.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_VALUE_ORDER_H
#define HG_VALUE_ORDER_H

#include "postgres.h"

#include "utils/uuid.h"

typedef enum HgValueOrder
{
	HG_ORDER_UNKNOWN,
	HG_ORDER_SIGNED, /* the integer that the Datum stores */
	HG_ORDER_UNSIGNED,
	HG_ORDER_FLOAT,
	HG_ORDER_NUMERIC,
	HG_ORDER_TEXT,
	HG_ORDER_BLANKS, /* text, without trailing blanks */
	HG_ORDER_BYTES,
	HG_ORDER_UUID,
} HgValueOrder;

/* Returns the order of a type; HG_ORDER_UNKNOWN if its operators are not known here. */
extern HgValueOrder hg_value_order(Oid type);

/*
 * Returns the order of a type if an ordering operator is the type's own < or >, and sets
 * *descending to whether it is >; otherwise HG_ORDER_UNKNOWN.
 */
extern HgValueOrder hg_value_order_by(Oid type, Oid ordering_operator, bool *descending);

/* Returns true if values of this order are compared by their integers. */
static inline bool
hg_order_is_integer(HgValueOrder order)
{
	return order == HG_ORDER_SIGNED || order == HG_ORDER_UNSIGNED || order == HG_ORDER_FLOAT;
}

/* Returns true if values of the two types can be compared with each other by their integers. */
extern bool hg_order_is_shared(Oid type, Oid other);

/* Returns the integer of a by-value Datum of width bytes; the order must be one of integers. */
extern int64 hg_order_integer(HgValueOrder order, int width, Datum value);

/* Sets integers[i] to an integer that sorts as values[i] does in this order, for i < n. */
extern void hg_order_integers(HgValueOrder order, int width, const Datum *values, int n,
							  int64 *integers);

/*
 * Values that are compared as bytes, and their orders.
 *
 * An HgBytes points into the value, and owns no memory.
 */

typedef struct HgBytes
{
	const char *data;
	int length;
} HgBytes;

/* Returns true if a value that is compared as bytes is neither compressed nor out of line. */
static inline bool
hg_bytes_is_inline(HgValueOrder order, Datum value)
{
	const struct varlena *varlena = (const struct varlena *) DatumGetPointer(value);

	/* a pointer to a value out of line has a short header too */
	return order == HG_ORDER_UUID ||
		   !(VARATT_IS_EXTERNAL(varlena) || VARATT_IS_COMPRESSED(varlena));
}

/* Returns the bytes of an inline value; for HG_ORDER_BLANKS without trailing blanks. */
static inline HgBytes
hg_bytes_of(HgValueOrder order, Datum value)
{
	const struct varlena *varlena = (const struct varlena *) DatumGetPointer(value);
	HgBytes bytes;

	if (order == HG_ORDER_UUID)
	{
		bytes.data = (const char *) varlena;
		bytes.length = UUID_LEN;
		return bytes;
	}
	bytes.data = VARDATA_ANY(varlena);
	bytes.length = (int) VARSIZE_ANY_EXHDR(varlena);
	if (order == HG_ORDER_BLANKS)
		while (bytes.length > 0 && bytes.data[bytes.length - 1] == ' ')
			bytes.length--;
	return bytes;
}

/* Compares as memcmp() does; a prefix is less than what it begins.  Returns <0, 0 or >0. */
static inline int
hg_bytes_compare(HgBytes a, HgBytes b)
{
	int order = memcmp(a.data, b.data, Min(a.length, b.length));

	return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* Compares by length first, which is faster than by bytes.  Returns <0, 0 or >0. */
static inline int
hg_bytes_compare_quickly(HgBytes a, HgBytes b)
{
	if (a.length != b.length)
		return a.length < b.length ? -1 : 1;
	return memcmp(a.data, b.data, a.length);
}

/* Returns the address in value of the first occurrence of part, of at least one byte, or NULL. */
extern const char *hg_bytes_find(HgBytes value, HgBytes part);

#endif /* HG_VALUE_ORDER_H */
