/*-------------------------------------------------------------------------
 *
 * hg_bytes.h
 *	  Values that are compared as bytes: which these are, and their orders.
 *
 * The bytes of a value stay where the value is.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BYTES_H
#define HG_BYTES_H

#include "postgres.h"

#include "utils/uuid.h"

#include "batch/hg_value_order.h"

typedef struct HgBytes
{
	const char *data;
	int length;
} HgBytes;

/* Is a value that is compared as bytes neither compressed nor out of line? */
static inline bool
hg_bytes_is_inline(HgValueOrder order, Datum value)
{
	const struct varlena *varlena = (const struct varlena *) DatumGetPointer(value);

	/* the pointer to a value that is out of line has a short header too */
	return order == HG_ORDER_UUID ||
		   !(VARATT_IS_EXTERNAL(varlena) || VARATT_IS_COMPRESSED(varlena));
}

/* The bytes of such a value; of BLANKS without these. */
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

/* Bytes as memcmp() orders them, and what is longer behind what it begins with. */
static inline int
hg_bytes_compare(HgBytes a, HgBytes b)
{
	int order = memcmp(a.data, b.data, Min(a.length, b.length));

	return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* An order that is quickly told: lengths first. */
static inline int
hg_bytes_compare_quickly(HgBytes a, HgBytes b)
{
	if (a.length != b.length)
		return a.length < b.length ? -1 : 1;
	return memcmp(a.data, b.data, a.length);
}

#endif /* HG_BYTES_H */
