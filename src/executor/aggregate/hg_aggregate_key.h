/*-------------------------------------------------------------------------
 *
 * hg_aggregate_key.h
 *	  Keys of groups: how values are hashed and compared.
 *
 * Values are compared as bits or bytes if the type's equal values have equal ones, as text with a
 * deterministic collation has.  For any other type its own functions are called, with the query's
 * collation, in temporary memory that is reset afterwards.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_KEY_H
#define HG_AGGREGATE_KEY_H

#include "hg_compat.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

/* How values of a group column are compared. */
typedef enum HgGroupKeyKind
{
	HG_GROUP_KEY_WORD,		/* by value: the bits in mask are compared */
	HG_GROUP_KEY_BYTES,		/* by reference, of fixed length: the bytes are compared */
	HG_GROUP_KEY_TEXT,		/* varlena: the bytes behind the headers are compared */
	HG_GROUP_KEY_PADDED,	/* varlena: as TEXT, without trailing spaces */
	HG_GROUP_KEY_FUNCTIONS, /* the type's equality function is called */
} HgGroupKeyKind;

/* A group column. */
typedef struct HgGroupKey
{
	int column; /* column of the batch */
	HgGroupKeyKind kind;
	uint64 mask;	/* WORD: the significant bits */
	Size length;	/* BYTES: length of a value */
	FmgrInfo hash;	/* FUNCTIONS */
	FmgrInfo equal; /* FUNCTIONS */
	Oid collation;
} HgGroupKey;

/*
 * Fills in a key for a hashable equality operator and a collation.  Sets only the collation and
 * the members of its kind; the caller zeroes the key and sets column.  FmgrInfos allocate in
 * CurrentMemoryContext.  Raises an error if the user may not execute the operator's function, or
 * if the operator has no hash function.
 */
extern void hg_group_key_init(HgGroupKey *key, Oid equality, Oid collation);

/* Multiplier of the hash: odd, without a pattern in its bits. */
#define HG_GROUP_KEY_MIXER UINT64CONST(0xd6e8feb86659fd93)

/* Combines a hash with a word. */
static inline uint64
hg_group_key_mix(uint64 hash, uint64 word)
{
	hash = (hash ^ word) * HG_GROUP_KEY_MIXER;
	return hash ^ (hash >> 32);
}

/* Combines a hash with bytes. */
static inline uint64
hg_group_key_mix_bytes(uint64 hash, const char *bytes, Size length)
{
	uint64 word = 0;

	hash = hg_group_key_mix(hash, length);
	if (length >= sizeof(uint64))
	{
		const char *last = bytes + length - sizeof(uint64);

		for (; bytes < last; bytes += sizeof(uint64))
		{
			memcpy(&word, bytes, sizeof(uint64));
			hash = hg_group_key_mix(hash, word);
		}
		/* the last word overlaps the one before if length is no multiple of 8 */
		memcpy(&word, last, sizeof(uint64));
	}
	else
		for (Size i = 0; i < length; i++)
			word = word << 8 | (unsigned char) bytes[i];
	return hg_group_key_mix(hash, word);
}

/*
 * Returns the bytes by which a value of a key is hashed and compared, and their number in *length.
 * If the value had to be detoasted, sets *fetched; the bytes then lie in temporary, and the caller
 * resets it.  Otherwise *fetched is unchanged.
 */
static inline const char *
hg_group_key_bytes(const HgGroupKey *key, Datum value, MemoryContext temporary, Size *length,
				   bool *fetched)
{
	struct varlena *varlena = (struct varlena *) DatumGetPointer(value);

	if (key->kind == HG_GROUP_KEY_BYTES)
	{
		*length = key->length;
		return DatumGetPointer(value);
	}
	if (unlikely(VARATT_IS_COMPRESSED(varlena) || VARATT_IS_EXTERNAL(varlena)))
	{
		MemoryContext old = MemoryContextSwitchTo(temporary);

		varlena = pg_detoast_datum_packed(varlena);
		MemoryContextSwitchTo(old);
		*fetched = true;
	}
	*length = VARSIZE_ANY_EXHDR(varlena);
	if (key->kind == HG_GROUP_KEY_PADDED)
		*length = bpchartruelen(VARDATA_ANY(varlena), (int) *length);
	return VARDATA_ANY(varlena);
}

/*
 * Combines hash, the hash of the preceding keys, with a non-NULL value of this key.  May reset
 * temporary.
 */
static inline uint64
hg_group_key_hash(HgGroupKey *key, uint64 hash, Datum value, MemoryContext temporary)
{
	if (key->kind == HG_GROUP_KEY_WORD)
		return hg_group_key_mix(hash, value & key->mask);
	if (key->kind == HG_GROUP_KEY_FUNCTIONS)
	{
		MemoryContext old = MemoryContextSwitchTo(temporary);
		uint32 word = DatumGetUInt32(FunctionCall1Coll(&key->hash, key->collation, value));

		MemoryContextSwitchTo(old);
		MemoryContextReset(temporary);
		hash = hg_group_key_mix(hash, word);
	}
	else
	{
		Size length;
		bool fetched = false;
		const char *bytes = hg_group_key_bytes(key, value, temporary, &length, &fetched);

		hash = hg_group_key_mix_bytes(hash, bytes, length);
		if (unlikely(fetched))
			MemoryContextReset(temporary);
	}
	return hash;
}

/* Returns true if two non-NULL values of a key are equal.  May reset temporary. */
static inline bool
hg_group_key_equal(HgGroupKey *key, Datum left, Datum right, MemoryContext temporary)
{
	bool equal;

	if (key->kind == HG_GROUP_KEY_WORD)
		return ((left ^ right) & key->mask) == 0;
	if (key->kind == HG_GROUP_KEY_FUNCTIONS)
	{
		MemoryContext old = MemoryContextSwitchTo(temporary);

		equal = DatumGetBool(FunctionCall2Coll(&key->equal, key->collation, left, right));
		MemoryContextSwitchTo(old);
		MemoryContextReset(temporary);
	}
	else
	{
		Size left_length;
		Size right_length;
		bool fetched = false;
		const char *left_bytes = hg_group_key_bytes(key, left, temporary, &left_length, &fetched);
		const char *right_bytes =
			hg_group_key_bytes(key, right, temporary, &right_length, &fetched);

		equal = left_length == right_length && memcmp(left_bytes, right_bytes, left_length) == 0;
		if (unlikely(fetched))
			MemoryContextReset(temporary);
	}
	return equal;
}

#endif /* HG_AGGREGATE_KEY_H */
