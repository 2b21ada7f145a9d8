/*-------------------------------------------------------------------------
 *
 * hg_loader_codes.h
 *	  Values that differ, and a code for each: numbers from 0 in the order in which they came.
 *
 * Values are told apart by their bytes as they are kept, and nothing is said of what their type
 * calls equal: one value may have several codes, where it is compressed in one row and not in
 * another.
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
	int length;	 /* of the type: -1, or that of each value */
	int alignby; /* of the type */
	uint32 most; /* no more codes than that */
	uint32 ncodes;
	const char **values; /* [most] the maker's, which stay in place */
	uint32 *hashes;		 /* [most] */
	uint32 mask;
	uint32 *slots; /* [mask + 1] codes, or HG_NO_CODE */
	Size nbytes;   /* of the values, laid one behind the other */
} HgCodes;

/* No values yet, in CurrentMemoryContext. */
extern HgCodes *hg_codes_create(int length, int alignby, uint32 most);

/* The code of a value, which it is given if it has none; HG_NO_CODE: there are too many. */
extern uint32 hg_codes_find(HgCodes *codes, const char *value);

/* Lay the values out, in starts[ncodes] and bytes[nbytes], which are zeroes; the widest's bytes. */
extern uint32 hg_codes_fill(const HgCodes *codes, uint32 *starts, char *bytes);

#endif /* HG_LOADER_CODES_H */
