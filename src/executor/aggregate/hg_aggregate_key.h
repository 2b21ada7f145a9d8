/*-------------------------------------------------------------------------
 *
 * hg_aggregate_key.h
 *	  Keys of groups: how values are hashed and compared.
 *
 * Keys by value that are equal where their bits are, and those that are equal where their bytes are
 * (text of a deterministic collation), are hashed and compared here; any other type's own functions
 * are called, with the collation of the query, in temporary memory, which is reset afterwards.
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

/* When values of a group column are equal. */
typedef enum HgGroupKeyKind
{
	HG_GROUP_KEY_WORD,		/* by value: where the bits that count are */
	HG_GROUP_KEY_BYTES,		/* where their bytes are */
	HG_GROUP_KEY_TEXT,		/* varlena: where their bytes are, out of their headers */
	HG_GROUP_KEY_PADDED,	/* ... and without the spaces at their end */
	HG_GROUP_KEY_FUNCTIONS, /* where a function says so */
} HgGroupKeyKind;

/* A group column. */
typedef struct HgGroupKey
{
	int column; /* of the batch */
	HgGroupKeyKind kind;
	uint64 mask;	/* the bits that count, for words */
	Size length;	/* for bytes */
	FmgrInfo hash;	/* for functions */
	FmgrInfo equal; /* for functions */
	Oid collation;
} HgGroupKey;

/* Set up a key of a type with an equality operator and a collation: all but its column. */
extern void hg_group_key_init(HgGroupKey *key, Oid equality, Oid collation);

/* Odd, with no pattern in its bits. */
#define HG_GROUP_KEY_MIXER UINT64CONST(0xd6e8feb86659fd93)

/* The hash of what came before, with a word. */
static inline uint64
hg_group_key_mix(uint64 hash, uint64 word)
{
	hash = (hash ^ word) * HG_GROUP_KEY_MIXER;
	return hash ^ (hash >> 32);
}

/* The same with bytes. */
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
		/* with some of those before it, where there are too few */
		memcpy(&word, last, sizeof(uint64));
	}
	else
		for (Size i = 0; i < length; i++)
			word = word << 8 | (unsigned char) bytes[i];
	return hg_group_key_mix(hash, word);
}

/*
 * The bytes that tell a value of a key from others.  They may lie in temporary memory, which is
 * the caller's to free, if *fetched is set.
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

/* The hash of a value that is not NULL, on top of the hash of the keys before it. */
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

/* Are two values of a key equal? */
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
