/*-------------------------------------------------------------------------
 *
 * hg_loader_codes.h
 *	  A set of distinct values, with the codes 0, 1, 2, ... in the order in which the values
 *	  were first added.
 *
 * Values are compared by their stored bytes, not by their type's equality.  One value may have
 * several codes, if it is compressed in one row and not in another.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_CODES_H
#define HG_LOADER_CODES_H

#include "hg_compat.h"

#include "resident/hg_resident_array.h"

#define HG_NO_CODE PG_UINT32_MAX

typedef struct HgCodes
{
	int length;	 /* attlen of the type: a width, or -1 */
	int alignby; /* alignment of the type, in bytes */
	uint32 most; /* maximum number of codes */
	uint32 ncodes;
	const char **values; /* [most] the caller's values, which must stay valid as long as the set */
	uint32 *hashes;		 /* [most] */
	uint32 mask;
	uint32 *slots; /* [mask + 1] codes, or HG_NO_CODE */
	Size nbytes;   /* bytes of all values laid out one after the other, alignment included */
} HgCodes;

/* Creates an empty set in CurrentMemoryContext. */
extern HgCodes *hg_codes_create(int length, int alignby, uint32 most);

/* Returns the code of a value, which is added if it is new; HG_NO_CODE if the set is full. */
extern uint32 hg_codes_find(HgCodes *codes, const char *value);

/*
 * Lays the values out in bytes[nbytes], which must be zeroes, and their offsets in starts[ncodes].
 * Returns the bytes of the widest value.
 */
extern uint32 hg_codes_fill(const HgCodes *codes, uint32 *starts, char *bytes);

#endif /* HG_LOADER_CODES_H */
