/*-------------------------------------------------------------------------
 *
 * hg_loader_dictionary.h
 *	  Makes a dictionary of the packed values of a segment's column.
 *
 * Its codes are those of hg_loader_codes.h.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_DICTIONARY_H
#define HG_LOADER_DICTIONARY_H

#include "hg_compat.h"

#include "resident/hg_resident_array.h"

typedef struct HgDictionary
{
	uint32 ncodes;
	uint32 widest;	/* bytes of the widest value */
	int width;		/* bytes of a code: 1 or 2 */
	void *codes;	/* [rows x width]; 0 for NULL */
	uint32 *starts; /* [ncodes] offsets in bytes */
	char *bytes;	/* [nbytes] */
	Size nbytes;
} HgDictionary;

/*
 * Makes a dictionary of the PACKED values of nrows rows, with its arrays in context.  Returns
 * false if it would have too many values, or take limit bytes or more.
 */
extern bool hg_dictionary_make(MemoryContext context, const HgSegmentArray *packed, uint32 nrows,
							   Size limit, HgDictionary *dictionary);

#endif /* HG_LOADER_DICTIONARY_H */
