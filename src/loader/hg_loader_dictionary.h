/*-------------------------------------------------------------------------
 *
 * hg_loader_dictionary.h
 *	  Packed values of a segment's column to a dictionary of those that differ.
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
	int width;		/* of a code */
	void *codes;	/* [rows x width]; of what is NULL 0 */
	uint32 *starts; /* [ncodes] */
	char *bytes;	/* [nbytes] */
	Size nbytes;
} HgDictionary;

/*
 * Make a dictionary of the PACKED values of so many rows.  False: it has too many values, or it
 * would not take less than limit bytes.
 */
extern bool hg_dictionary_make(MemoryContext context, const HgSegmentArray *packed, uint32 nrows,
							   Size limit, HgDictionary *dictionary);

#endif /* HG_LOADER_DICTIONARY_H */
