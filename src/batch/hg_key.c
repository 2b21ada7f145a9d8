/*-------------------------------------------------------------------------
 *
 * hg_key.c
 *	  Join keys as words of a fixed width.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "access/xlog.h"
#include "catalog/pg_control.h"
#include "common/hashfn.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "batch/hg_key.h"
#include "engine/hg_hash.h"

/* Garbage of hash functions, in bytes, at which it is freed. */
#define HG_KEY_GARBAGE (256 * 1024)

/* Constants of hg_key_hash_bytes(), from a random number that initdb has drawn. */
static uint64 hg_key_secrets[3];

/* Sets up the secrets of HG_KEY_BYTES hashes. */
static void
hg_key_init_secrets(void)
{
	const unsigned char *nonce = (const unsigned char *) GetMockAuthenticationNonce();

	for (int i = 0; i < lengthof(hg_key_secrets); i++)
		hg_key_secrets[i] =
			DatumGetUInt64(hash_any_extended(nonce, MOCK_AUTH_NONCE_LEN, (uint64) i + 1));
}

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

/* ---------------------------------------------------------------------
 * Words of rows: images of values, and hashes
 * ---------------------------------------------------------------------
 */

static uint64
hg_key_float4_image(float4 value)
{
	union
	{
		float4 value;
		uint32 bits;
	} image;

	/* as the operators compare: zeros are equal, and so are NaNs */
	image.value = value == 0 ? 0 : isnan(value) ? get_float4_nan() : value;
	return image.bits;
}

static uint64
hg_key_float8_image(float8 value)
{
	union
	{
		float8 value;
		uint64 bits;
	} image;

	image.value = value == 0 ? 0 : isnan(value) ? get_float8_nan() : value;
	return image.bits;
}

/* Returns the image of a value; integers are sign-extended. */
static pg_attribute_always_inline uint64
hg_key_image(HgKeyImage image, Datum value)
{
	uint64 bytes = 0;

	switch (image)
	{
		case HG_IMAGE_INT8:
			return (uint64) (int64) (int8) DatumGetChar(value);
		case HG_IMAGE_INT16:
			return (uint64) (int64) DatumGetInt16(value);
		case HG_IMAGE_INT32:
			return (uint64) (int64) DatumGetInt32(value);
		case HG_IMAGE_INT64:
			return (uint64) DatumGetInt64(value);
		case HG_IMAGE_FLOAT4:
			return hg_key_float4_image(DatumGetFloat4(value));
		case HG_IMAGE_FLOAT4_WIDE:
			return hg_key_float8_image(DatumGetFloat4(value));
		case HG_IMAGE_FLOAT8:
			return hg_key_float8_image(DatumGetFloat8(value));
		case HG_IMAGE_BYTES6:
			memcpy(&bytes, DatumGetPointer(value), 6);
			return bytes;
		case HG_IMAGE_BYTES8:
			memcpy(&bytes, DatumGetPointer(value), 8);
			return bytes;
	}
	pg_unreachable();
}

/* Adds the images of one part to words; by-reference values of NULLs are not read. */
static pg_attribute_always_inline void
hg_key_encode_image(const HgKeyPart *part, HgKeyImage image, const Datum *values, int nrows,
					uint64 *words, const bool *null_keys)
{
	uint64 mask = part->bits < 64 ? (UINT64CONST(1) << part->bits) - 1 : ~UINT64CONST(0);
	bool by_reference = image == HG_IMAGE_BYTES6 || image == HG_IMAGE_BYTES8;

	for (int i = 0; i < nrows; i++)
		if (!by_reference || !null_keys[i])
			words[i] |= (hg_key_image(image, values[i]) & mask) << part->shift;
}

static void
hg_key_encode_bits(const HgKeyPart *part, HgSide side, const Datum *values, int nrows,
				   uint64 *words, const bool *null_keys)
{
	/* one loop for each image, so that common images take few instructions for each row */
#define HG_ENCODE(image)                                                                           \
	case image:                                                                                    \
		hg_key_encode_image(part, image, values, nrows, words, null_keys);                         \
		break

	switch (part->image[side])
	{
		HG_ENCODE(HG_IMAGE_INT8);
		HG_ENCODE(HG_IMAGE_INT16);
		HG_ENCODE(HG_IMAGE_INT32);
		HG_ENCODE(HG_IMAGE_INT64);
		HG_ENCODE(HG_IMAGE_FLOAT4);
		HG_ENCODE(HG_IMAGE_FLOAT4_WIDE);
		HG_ENCODE(HG_IMAGE_FLOAT8);
		HG_ENCODE(HG_IMAGE_BYTES6);
		HG_ENCODE(HG_IMAGE_BYTES8);
	}
#undef HG_ENCODE
}

/* Returns n bytes, at most 8, as a word. */
static inline uint64
hg_key_load(const char *bytes, Size n)
{
	uint64 word = 0;
	uint32 first;
	uint32 last;

	if (n == sizeof(word))
	{
		memcpy(&word, bytes, sizeof(word));
		return word;
	}
	if (n >= sizeof(first))
	{
		memcpy(&first, bytes, sizeof(first));
		memcpy(&last, bytes + n - sizeof(last), sizeof(last));
		return (uint64) first << 32 | last;
	}
	for (Size i = 0; i < n; i++)
		word = word << 8 | (unsigned char) bytes[i];
	return word;
}

/* Folds a 128-bit product, so that each bit depends on both factors. */
static inline uint64
hg_key_fold(uint64 a, uint64 b)
{
	uint128 product = (uint128) a * b;

	return (uint64) product ^ (uint64) (product >> 64);
}

/*
 * Returns a hash of bytes, for both sides of a join and nothing else.  Each 16 bytes become a
 * product, as in wyhash (Wang Yi, public domain).  A shorter rest overlaps the bytes before it.
 *
 * If one factor is 0, the other does not matter.  With known constants, one could therefore make
 * any number of values with one hash, and a join of them is quadratic.  So the constants are
 * random for each cluster: all processes of a join have the same, and no client sees them (test
 * sql/key_types).
 */
static inline uint64
hg_key_hash_bytes(const char *bytes, Size n)
{
	const uint64 first = hg_key_secrets[0];
	const uint64 second = hg_key_secrets[1];
	const Size word = sizeof(uint64);
	uint64 hash = n * UINT64CONST(0x9e3779b97f4a7c15) ^ hg_key_secrets[2];
	Size left = n;

	for (; left > 2 * word; left -= 2 * word, bytes += 2 * word)
		hash =
			hg_key_fold(hg_key_load(bytes, word) ^ first, hg_key_load(bytes + word, word) ^ hash);
	if (n > 2 * word)
	{
		bytes += left - 2 * word;
		left = 2 * word;
	}
	if (left <= word)
		return hg_mix64(hg_key_fold(hg_key_load(bytes, left) ^ first, hash ^ second));
	return hg_mix64(hg_key_fold(hg_key_load(bytes, word) ^ first,
								hg_key_load(bytes + left - word, word) ^ hash));
}

/* Returns the HG_KEY_BYTES hash of a value, which may be compressed or out of line. */
static uint64
hg_key_hash_value(Datum value)
{
	struct varlena *plain = PG_DETOAST_DATUM_PACKED(value);

	return hg_key_hash_bytes(VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain));
}

/* Combines the hashes of one part with words; a NULL counts as 0. */
static void
hg_key_encode_hash(HgKeyPart *part, HgSide side, const Datum *values, const bool *nulls, int nrows,
				   uint64 *words, const bool *null_keys, MemoryContext temporary)
{
	MemoryContext caller = MemoryContextSwitchTo(temporary);

	for (int i = 0; i < nrows; i++)
	{
		uint64 hash = 0;

		if (null_keys[i])
			continue;
		if (nulls == NULL || !nulls[i])
		{
			if (part->encoding == HG_KEY_BYTES)
			{
				const char *pointer = DatumGetPointer(values[i]);

				/* the most common form */
				if (VARATT_IS_SHORT(pointer) && !VARATT_IS_EXTERNAL(pointer))
				{
					words[i] = hash_combine64(
						words[i], hg_key_hash_bytes(VARDATA_SHORT(pointer),
													VARSIZE_SHORT(pointer) - VARHDRSZ_SHORT));
					continue;
				}
				hash = hg_key_hash_value(values[i]);
			}
			else if (part->encoding == HG_KEY_HASH_64)
				hash = DatumGetUInt64(FunctionCall2Coll(&part->hash[side], part->collation,
														values[i], Int64GetDatum(0)));
			else
				hash = DatumGetUInt32(
					FunctionCall1Coll(&part->hash[side], part->collation, values[i]));
			if (MemoryContextMemAllocated(temporary, false) > HG_KEY_GARBAGE)
				MemoryContextReset(temporary);
		}
		words[i] = hash_combine64(words[i], hash);
	}
	MemoryContextSwitchTo(caller);
}

int
hg_key_encode(HgKeyEncoder *encoder, HgSide side, const HgBatch *batch, const int *at, int first,
			  int nrows, uint64 *words, bool *null_keys, MemoryContext temporary)
{
	int nvalid = nrows;

	words += first;
	null_keys += first;
	memset(null_keys, false, nrows * sizeof(bool));
	memset(words, 0, nrows * sizeof(uint64));
	for (int p = 0; p < encoder->nparts; p++)
		if (encoder->parts[p].strict && batch->has_nulls[at[p]])
		{
			const bool *nulls = batch->nulls[at[p]] + first;

			for (int i = 0; i < nrows; i++)
				null_keys[i] |= nulls[i];
			nvalid = -1;
		}
	for (int p = 0; p < encoder->nparts; p++)
	{
		HgKeyPart *part = &encoder->parts[p];
		const Datum *values = batch->values[at[p]] + first;
		const bool *nulls = batch->has_nulls[at[p]] ? batch->nulls[at[p]] + first : NULL;

		if (part->encoding == HG_KEY_BITS)
			hg_key_encode_bits(part, side, values, nrows, words, null_keys);
		else
			hg_key_encode_hash(part, side, values, nulls, nrows, words, null_keys, temporary);
	}
	if (nvalid < 0)
	{
		nvalid = 0;
		for (int i = 0; i < nrows; i++)
			nvalid += !null_keys[i];
	}
	return nvalid;
}
