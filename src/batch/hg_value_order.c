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
