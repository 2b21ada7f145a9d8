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

#include <math.h>

#include "access/hash.h"
#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_control.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "storage/itemptr.h"
#include "utils/catcache.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inet.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "batch/hg_key.h"
#include "engine/hg_hash.h"

/* What hash functions may leave behind before it is freed, in bytes. */
#define HG_KEY_GARBAGE (256 * 1024)

/*
 * The built-in equality functions that compare images.  The function, not the type,
 * tells that equality is equality of the image: a user's operator on int4 may mean
 * something else.
 */
typedef struct HgExactFunction
{
	Oid function;
	HgKeyImage image[2]; /* by HgSide */
} HgExactFunction;

static const HgExactFunction hg_exact_functions[] = {
	{F_INT2EQ, {HG_IMAGE_INT16, HG_IMAGE_INT16}},
	{F_INT24EQ, {HG_IMAGE_INT16, HG_IMAGE_INT32}},
	{F_INT28EQ, {HG_IMAGE_INT16, HG_IMAGE_INT64}},
	{F_INT42EQ, {HG_IMAGE_INT32, HG_IMAGE_INT16}},
	{F_INT4EQ, {HG_IMAGE_INT32, HG_IMAGE_INT32}},
	{F_INT48EQ, {HG_IMAGE_INT32, HG_IMAGE_INT64}},
	{F_INT82EQ, {HG_IMAGE_INT64, HG_IMAGE_INT16}},
	{F_INT84EQ, {HG_IMAGE_INT64, HG_IMAGE_INT32}},
	{F_INT8EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}},
	{F_FLOAT4EQ, {HG_IMAGE_FLOAT4, HG_IMAGE_FLOAT4}},
	{F_FLOAT48EQ, {HG_IMAGE_FLOAT4_WIDE, HG_IMAGE_FLOAT8}},
	{F_FLOAT84EQ, {HG_IMAGE_FLOAT8, HG_IMAGE_FLOAT4_WIDE}},
	{F_FLOAT8EQ, {HG_IMAGE_FLOAT8, HG_IMAGE_FLOAT8}},
	{F_BOOLEQ, {HG_IMAGE_INT8, HG_IMAGE_INT8}},
	{F_CHAREQ, {HG_IMAGE_INT8, HG_IMAGE_INT8}},
	{F_OIDEQ, {HG_IMAGE_INT32, HG_IMAGE_INT32}},
	{F_XIDEQ, {HG_IMAGE_INT32, HG_IMAGE_INT32}},
	{F_CIDEQ, {HG_IMAGE_INT32, HG_IMAGE_INT32}},
	{F_XID8EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}},
	{F_PG_LSN_EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}},
	{F_TIDEQ, {HG_IMAGE_BYTES6, HG_IMAGE_BYTES6}},
	{F_DATE_EQ, {HG_IMAGE_INT32, HG_IMAGE_INT32}},
	{F_TIME_EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}},
	{F_TIMESTAMP_EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}},
	{F_TIMESTAMPTZ_EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}},
	{F_ENUM_EQ, {HG_IMAGE_INT32, HG_IMAGE_INT32}},
	{F_CASH_EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}}, /* only in a user's operator class */
	{F_MACADDR_EQ, {HG_IMAGE_BYTES6, HG_IMAGE_BYTES6}},
	{F_MACADDR8_EQ, {HG_IMAGE_BYTES8, HG_IMAGE_BYTES8}},
};

/* Those that compare the bytes of values of variable length, where a collation has no say. */
static bool
hg_key_compares_bytes(Oid function, Oid collation)
{
	return function == F_BYTEAEQ || (function == F_TEXTEQ && OidIsValid(collation) &&
									 get_collation_isdeterministic(collation));
}

StaticAssertDecl(sizeof(macaddr) == 6 && sizeof(ItemPointerData) == 6 && sizeof(macaddr8) == 8,
				 "values passed by reference have no padding");

/*
 * An operator as this room sees it; kept, since the planner asks for it again and again, until
 * one of the catalogs that it was made from changes (hg_operator_catalogs).
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

static HTAB *hg_operators;

/*
 * What an operator is made from: the operator itself, its families, their hash functions, and its
 * function, whose strictness ALTER FUNCTION changes.
 */
static const int hg_operator_catalogs[] = {OPEROID, AMOPOPID, AMPROCNUM, PROCOID};

/* How often one of them has changed. */
static uint64 hg_operator_changes;

/* The one that was asked for last, which most often is the next one too; or NULL. */
static const HgOperator *hg_last_operator;

/*
 * The hash functions of an operator's family for its two input types: extended ones
 * where both sides have them, else the 32-bit ones.  False where there are none.
 *
 * The extended function of a container (array, range, record) is in the catalog
 * whatever its elements are, and fails for elements that have none.  Containers
 * therefore hash with 32 bits, as in PostgreSQL's own joins: whatever made the
 * operator hashable vouches for that.
 *
 * So does char(n): under a nondeterministic collation the extended function of PostgreSQL 15 hashes
 * the blanks at the end, which do not count.
 */
static bool
hg_key_hash_functions(Oid operator_oid, Oid functions[2], bool *extended)
{
	CatCList *list = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(operator_oid));
	bool found = false;

	for (int i = 0; i < list->n_members && !(found && *extended); i++)
	{
		HeapTuple tuple = &list->members[i]->tuple;
		Form_pg_amop amop = (Form_pg_amop) GETSTRUCT(tuple);
		Oid left = amop->amoplefttype;
		Oid right = amop->amoprighttype;
		Oid outer;
		Oid inner;

		if (amop->amopmethod != HASH_AM_OID || amop->amopstrategy != HTEqualStrategyNumber)
			continue;

		outer = get_opfamily_proc(amop->amopfamily, left, left, HASHEXTENDED_PROC);
		inner = get_opfamily_proc(amop->amopfamily, right, right, HASHEXTENDED_PROC);
		if (OidIsValid(outer) && OidIsValid(inner) && !IsPolymorphicType(left) &&
			!IsPolymorphicType(right) && left != RECORDOID && right != RECORDOID &&
			left != BPCHAROID && right != BPCHAROID)
		{
			functions[HG_OUTER] = outer;
			functions[HG_INNER] = inner;
			*extended = true;
			found = true;
			continue;
		}
		if (found)
			continue;
		outer = get_opfamily_proc(amop->amopfamily, left, left, HASHSTANDARD_PROC);
		inner = get_opfamily_proc(amop->amopfamily, right, right, HASHSTANDARD_PROC);
		if (OidIsValid(outer) && OidIsValid(inner))
		{
			functions[HG_OUTER] = outer;
			functions[HG_INNER] = inner;
			*extended = false;
			found = true;
		}
	}
	ReleaseSysCacheList(list);
	return found;
}

static void
hg_key_forget_operators(Datum arg pg_attribute_unused(), int cache pg_attribute_unused(),
						uint32 hash pg_attribute_unused())
{
	HASH_SEQ_STATUS scan;
	HgOperator *entry;

	hg_operator_changes++;
	hg_last_operator = NULL;
	hash_seq_init(&scan, hg_operators);
	while ((entry = hash_seq_search(&scan)) != NULL)
		hash_search(hg_operators, &entry->operator_oid, HASH_REMOVE, NULL);
}

/* What there is to know of an operator: a copy, as catalog lookups empty the table. */
static HgOperator
hg_key_operator(Oid operator_oid)
{
	HgOperator *entry;
	HgOperator found = {0};
	uint64 changes;

	if (hg_last_operator != NULL && hg_last_operator->operator_oid == operator_oid)
		return *hg_last_operator;
	if (hg_operators == NULL)
	{
		HASHCTL ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(HgOperator)};

		hg_operators = hash_create("HashGraph operators", 64, &ctl, HASH_ELEM | HASH_BLOBS);
		for (int i = 0; i < (int) lengthof(hg_operator_catalogs); i++)
			CacheRegisterSyscacheCallback(hg_operator_catalogs[i], hg_key_forget_operators,
										  (Datum) 0);
	}
	entry = hash_search(hg_operators, &operator_oid, HASH_FIND, NULL);
	if (entry != NULL)
	{
		hg_last_operator = entry;
		return *entry;
	}
	changes = hg_operator_changes;

	found.operator_oid = operator_oid;
	found.usable = hg_key_hash_functions(operator_oid, found.hash, &found.extended);
	found.strict = op_strict(operator_oid);
	found.commutator = get_commutator(operator_oid);
	found.function = get_opcode(operator_oid);
	for (int i = 0; i < (int) lengthof(hg_exact_functions); i++)
		if (hg_exact_functions[i].function == found.function)
			found.exact = &hg_exact_functions[i];

	/* a change that was learned of in between may be one to what was read before it */
	if (changes == hg_operator_changes)
	{
		entry = hash_search(hg_operators, &operator_oid, HASH_ENTER, NULL);
		*entry = found;
		hg_last_operator = entry;
	}
	return found;
}

bool
hg_key_operator_usable(Oid operator_oid)
{
	return hg_key_operator(operator_oid).usable;
}

Oid
hg_key_commutator(Oid operator_oid)
{
	return hg_key_operator(operator_oid).commutator;
}

/* Width of an image in bits. */
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

/* Width in the word of what an exact operator compares. */
static int
hg_key_exact_bits(const HgExactFunction *exact)
{
	return Max(hg_key_image_bits(exact->image[HG_OUTER]),
			   hg_key_image_bits(exact->image[HG_INNER]));
}

static uint64
hg_key_float4_image(float4 value)
{
	union
	{
		float4 value;
		uint32 bits;
	} image;

	/* as the operators have it: zeros are equal, and so are NaNs */
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

/* The constants of hg_key_hash_bytes(), made of what initdb has drawn for the cluster. */
static uint64 hg_key_secrets[3];

static void
hg_key_init_secrets(void)
{
	const unsigned char *nonce = (const unsigned char *) GetMockAuthenticationNonce();

	for (int i = 0; i < lengthof(hg_key_secrets); i++)
		hg_key_secrets[i] =
			DatumGetUInt64(hash_any_extended(nonce, MOCK_AUTH_NONCE_LEN, (uint64) i + 1));
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
			/* a part that is alone fills the word with its sign, as a wider integer would */
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
hg_key_operator_compares_integers(Oid operator_oid)
{
	const HgExactFunction *exact = hg_key_operator(operator_oid).exact;

	return exact != NULL && exact->image[HG_OUTER] <= HG_IMAGE_INT64 &&
		   exact->image[HG_INNER] <= HG_IMAGE_INT64;
}

bool
hg_key_is_integer(const HgKeyEncoder *encoder, HgSide side)
{
	/* one part is not packed with others: it is as wide as the wider side's, with its sign */
	return encoder->exact && encoder->nparts == 1 &&
		   encoder->parts[0].image[side] <= HG_IMAGE_INT64;
}

/* The image of a value, sign-extended where it is an integer. */
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

/* Put the images of one part into words; images of NULLs by reference do not exist. */
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
	/* a loop for each image, so that the commonest ones are a few instructions a row */
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

/* The n bytes, at most 8, from a place on, as a word. */
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

/* Both halves of a product of 128 bits, each bit of which depends on those of both factors. */
static inline uint64
hg_key_fold(uint64 a, uint64 b)
{
	uint128 product = (uint128) a * b;

	return (uint64) product ^ (uint64) (product >> 64);
}

/*
 * A hash of bytes, the same on both sides of a join, and nowhere else of use: 16 bytes at a time
 * become a product, as in wyhash (Wang Yi, public domain).  What is less at the end is taken
 * together with what is ahead of it.
 *
 * Where one factor is 0 the other one counts for nothing: with constants that are known, any number
 * of values of one hash can be made, and a join of them is quadratic.  They are the cluster's own:
 * all processes of a join have the same, and no client sees them (sql/key_types).
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

/* What HG_KEY_BYTES makes of a value, which may be compressed, or out of line. */
static uint64
hg_key_hash_value(Datum value)
{
	struct varlena *plain = PG_DETOAST_DATUM_PACKED(value);

	return hg_key_hash_bytes(VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain));
}

/* Combine the hashes of one part with words; a NULL counts as 0. */
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
				const char *place = DatumGetPointer(values[i]);

				/* as most of them lie there */
				if (VARATT_IS_SHORT(place) && !VARATT_IS_EXTERNAL(place))
				{
					words[i] = hash_combine64(
						words[i], hg_key_hash_bytes(VARDATA_SHORT(place),
													VARSIZE_SHORT(place) - VARHDRSZ_SHORT));
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
