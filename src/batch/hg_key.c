/*-------------------------------------------------------------------------
 *
 * hg_key.c
 *	  Join keys as words of a fixed width.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "batch/hg_key.h"
#include "batch/hg_key_encode.h"
#include "batch/hg_key_operator.h"

/* Returns true for equality of the bytes of variable-length values. */
static bool
hg_key_compares_bytes(Oid function, Oid collation)
{
	return function == F_BYTEAEQ || (function == F_TEXTEQ && OidIsValid(collation) &&
									 get_collation_isdeterministic(collation));
}

/* Returns the width of an image in bits. */
static int
hg_key_image_bits(HgKeyImage image)
{
	switch (image)
	{
		case HG_IMAGE_INT8:
			return 8;
		case HG_IMAGE_INT16:
			return 16;
		case HG_IMAGE_INT32:
		case HG_IMAGE_FLOAT4:
			return 32;
		case HG_IMAGE_BYTES6:
			return 48;
		case HG_IMAGE_INT64:
		case HG_IMAGE_FLOAT4_WIDE:
		case HG_IMAGE_FLOAT8:
		case HG_IMAGE_BYTES8:
			return 64;
	}
	pg_unreachable();
}

/* Returns the width in the word of what an exact operator compares. */
static int
hg_key_exact_bits(const HgExactFunction *exact)
{
	return Max(hg_key_image_bits(exact->image[HG_OUTER]),
			   hg_key_image_bits(exact->image[HG_INNER]));
}

bool
hg_key_is_exact(int nclauses, const HgKeyClause *clauses, uint32 *width)
{
	int bits = 0;

	for (int i = 0; i < nclauses; i++)
	{
		const HgExactFunction *exact = hg_key_operator(clauses[i].operator_oid).exact;

		if (exact == NULL)
			bits = 65;
		else
			bits += hg_key_exact_bits(exact);
	}
	if (width != NULL)
		*width = bits <= 32 ? 4 : 8;
	return bits <= 64;
}

HgKeyEncoder *
hg_key_encoder_create(int nclauses, const HgKeyClause *clauses)
{
	HgKeyEncoder *encoder = palloc0(offsetof(HgKeyEncoder, parts) + nclauses * sizeof(HgKeyPart));
	uint8 shift = 0;

	encoder->nparts = nclauses;
	encoder->exact = hg_key_is_exact(nclauses, clauses, &encoder->width);
	for (int i = 0; i < nclauses; i++)
	{
		const HgOperator operator= hg_key_operator(clauses[i].operator_oid);
		HgKeyPart *part = &encoder->parts[i];

		part->collation = clauses[i].collation;
		part->strict = operator.strict;
		if (encoder->exact)
		{
			part->encoding = HG_KEY_BITS;
			part->image[HG_OUTER] = operator.exact->image[HG_OUTER];
			part->image[HG_INNER] = operator.exact->image[HG_INNER];
			/* a single part fills the word, sign-extended */
			part->bits = nclauses == 1 ? encoder->width * 8 : hg_key_exact_bits(operator.exact);
			part->shift = shift;
			shift += part->bits;
		}
		else
		{
			if (!operator.usable)
				elog(ERROR, "operator %u has no hash functions", operator.operator_oid);
			if (hg_key_compares_bytes(operator.function, part->collation))
			{
				part->encoding = HG_KEY_BYTES;
				hg_key_init_secrets();
			}
			else
				part->encoding = operator.extended ? HG_KEY_HASH_64 : HG_KEY_HASH_32;
			fmgr_info(operator.hash[HG_OUTER], &part->hash[HG_OUTER]);
			fmgr_info(operator.hash[HG_INNER], &part->hash[HG_INNER]);
		}
	}
	return encoder;
}

bool
hg_key_is_value(const HgKeyEncoder *encoder, HgSide side)
{
	HgKeyImage image = encoder->parts[0].image[side];

	return encoder->exact && encoder->nparts == 1 &&
		   ((image == HG_IMAGE_INT32 && encoder->width == 4) ||
			(image == HG_IMAGE_INT64 && encoder->width == 8));
}

bool
hg_key_is_integer(const HgKeyEncoder *encoder, HgSide side)
{
	/* a single part is sign-extended to the wider side's image */
	return encoder->exact && encoder->nparts == 1 &&
		   encoder->parts[0].image[side] <= HG_IMAGE_INT64;
}
