/*-------------------------------------------------------------------------
 *
 * hg_value_order.c
 *	  How values of a type are compared: as integers, as numerics, or as bytes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "port/pg_bitutils.h"
#include "utils/typcache.h"

#include "batch/hg_value_order.h"
#include "batch/hg_values.h"

HgValueOrder
hg_value_order(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case MONEYOID:
			return HG_ORDER_SIGNED;
		case CHAROID:
		case OIDOID:
			return HG_ORDER_UNSIGNED;
		case FLOAT4OID:
		case FLOAT8OID:
			return HG_ORDER_FLOAT;
		case NUMERICOID:
			return HG_ORDER_NUMERIC;
		case TEXTOID:
		case VARCHAROID:
			return HG_ORDER_TEXT;
		case BPCHAROID:
			return HG_ORDER_BLANKS;
		case BYTEAOID:
			return HG_ORDER_BYTES;
		case UUIDOID:
			return HG_ORDER_UUID;
		default:
			return HG_ORDER_UNKNOWN;
	}
}

HgValueOrder
hg_value_order_by(Oid type, Oid ordering_operator, bool *descending)
{
	const TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

	*descending = ordering_operator == entry->gt_opr;
	return *descending || ordering_operator == entry->lt_opr ? hg_value_order(type)
															 : HG_ORDER_UNKNOWN;
}

/* Returns true for the types of whole numbers, which have operators with each other. */
static bool
hg_order_is_whole(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

bool
hg_order_is_shared(Oid type, Oid other)
{
	HgValueOrder order = hg_value_order(type);

	if (!hg_order_is_integer(order))
		return false;
	return type == other || (hg_order_is_whole(type) && hg_order_is_whole(other)) ||
		   (order == HG_ORDER_FLOAT && hg_value_order(other) == HG_ORDER_FLOAT);
}

static pg_attribute_always_inline int64
hg_order_from_float(float8 number)
{
	int64 bits;

	if (isnan(number))
		return PG_INT64_MAX;
	if (number == 0)
		return 0;
	memcpy(&bits, &number, sizeof(bits));
	/* from sign and magnitude to two's complement */
	return bits < 0 ? bits ^ PG_INT64_MAX : bits;
}

void
hg_order_integers(HgValueOrder order, int width, const Datum *values, int n, int64 *integers)
{
	switch (order)
	{
		case HG_ORDER_UNSIGNED:
			for (int i = 0; i < n; i++)
				integers[i] = width == 1 ? (int64) DatumGetUInt8(values[i])
										 : (int64) DatumGetUInt32(values[i]);
			break;
		case HG_ORDER_FLOAT:
			for (int i = 0; i < n; i++)
				integers[i] = hg_order_from_float(width == 4 ? (float8) DatumGetFloat4(values[i])
															 : DatumGetFloat8(values[i]));
			break;
		default:
			hg_values_integers(width, values, n, integers);
			break;
	}
}

int64
hg_order_integer(HgValueOrder order, int width, Datum value)
{
	int64 integer;

	hg_order_integers(order, width, &value, 1, &integer);
	return integer;
}

/* ---------------------------------------------------------------------
 * Substring search
 *
 * Texts of tables are short, so that a search must start without building tables of the part.  The
 * first and the last byte of the part are compared at sixteen positions at a time.  Where both
 * match, the bytes between them are compared.
 * ---------------------------------------------------------------------
 */

/* Positions compared at once: compilers have vectors of 16 bytes on every processor. */
#define HG_VECTOR_BYTES 16

typedef uint8 HgByteVector __attribute__((vector_size(HG_VECTOR_BYTES)));

/* Returns the index, in memory order, of the first byte that is not 0; there is one. */
static inline int
hg_word_first(uint64 word)
{
#ifdef WORDS_BIGENDIAN
	return 7 - pg_leftmost_one_pos64(word) / BITS_PER_BYTE;
#else
	return pg_rightmost_one_pos64(word) / BITS_PER_BYTE;
#endif
}

static inline HgByteVector
hg_byte_vector_load(const char *at)
{
	HgByteVector vector;

	memcpy(&vector, at, HG_VECTOR_BYTES);
	return vector;
}

/* Returns true if part is at a position whose first and last byte match. */
static inline bool
hg_bytes_are_at(const char *at, HgBytes part)
{
	return part.length <= 2 || memcmp(at + 1, part.data + 1, part.length - 2) == 0;
}

/* Returns the first of HG_VECTOR_BYTES positions from at on that has part, or NULL. */
static inline const char *
hg_bytes_find_here(const char *at, HgBytes part, HgByteVector first, HgByteVector last)
{
	HgByteVector both = (HgByteVector) ((hg_byte_vector_load(at) == first) &
										(hg_byte_vector_load(at + part.length - 1) == last));
	uint64 words[HG_VECTOR_BYTES / sizeof(uint64)];

	memcpy(words, &both, sizeof(words));
	if (likely((words[0] | words[1]) == 0))
		return NULL;
	for (int w = 0; w < (int) lengthof(words); w++)
		while (words[w] != 0)
		{
			int byte = hg_word_first(words[w]);
			const char *candidate = at + w * sizeof(uint64) + byte;

			if (hg_bytes_are_at(candidate, part))
				return candidate;
			((uint8 *) &words[w])[byte] = 0;
		}
	return NULL;
}

const char *
hg_bytes_find(HgBytes value, HgBytes part)
{
	const char *at = value.data;
	/* end of the possible positions */
	const char *end = value.data + value.length - part.length + 1;
	char first = part.data[0];
	char last = part.data[part.length - 1];

	if (value.length - part.length + 1 >= HG_VECTOR_BYTES)
	{
		HgByteVector firsts = (HgByteVector){0} + (uint8) first;
		HgByteVector lasts = (HgByteVector){0} + (uint8) last;
		const char *found;

		for (; end - at > HG_VECTOR_BYTES; at += HG_VECTOR_BYTES)
			if ((found = hg_bytes_find_here(at, part, firsts, lasts)) != NULL)
				return found;
		/* the last positions, some of them for the second time */
		return hg_bytes_find_here(end - HG_VECTOR_BYTES, part, firsts, lasts);
	}
	for (; at < end; at++)
		if (*at == first && at[part.length - 1] == last && hg_bytes_are_at(at, part))
			return at;
	return NULL;
}
