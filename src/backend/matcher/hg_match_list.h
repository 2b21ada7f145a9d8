/*-------------------------------------------------------------------------
 *
 * hg_match_list.h
 *	  A list of matches that are stored in blocks until they are returned (hg_gather.h).
 *
 * The caller sets context and gather; all other fields of an empty list are zero.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_LIST_H
#define HG_MATCH_LIST_H

#include "backend/matcher/hg_gather.h"

typedef struct HgMatchList
{
	MemoryContext context;
	const HgGather *gather; /* changes only while the list is empty */
	HgMatchBlock *first;
	HgMatchBlock *last;
	const HgMatchBlock *next; /* block to return next */
} HgMatchList;

/* Returns the last block if it has room, else a new one for this many matches. */
extern HgMatchBlock *hg_match_list_reserve(HgMatchList *list, size_t capacity);

/* Frees all blocks. */
extern void hg_match_list_clear(HgMatchList *list);

/* rewind starts at the first block. next returns the next block, or NULL at the end. */
extern void hg_match_list_rewind(HgMatchList *list);
extern const HgMatchBlock *hg_match_list_next(HgMatchList *list);

/* Returns the memory of the blocks in bytes. */
extern uint64 hg_match_list_bytes(const HgMatchList *list);

#endif /* HG_MATCH_LIST_H */
