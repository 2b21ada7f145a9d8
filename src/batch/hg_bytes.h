/*-------------------------------------------------------------------------
 *
 * hg_bytes.h
 *	  Values that are compared as bytes, and their orders.
 *
 * An HgBytes points into the value, and owns no memory.
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

/* Returns the first occurrence of part in value, or NULL.  part has at least one byte. */
extern const char *hg_bytes_find(HgBytes value, HgBytes part);

#endif /* HG_BYTES_H */
