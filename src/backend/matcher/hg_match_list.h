/*-------------------------------------------------------------------------
 *
 * hg_match_list.h
 *	  Matches that are kept until they are returned, in blocks (hg_gather.h).
 *
 * All zero is an empty list, but for the context that its blocks come from and what a job gathers
 * with its matches, which are its maker's to set.
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
	const HgGather *gather; /* does not change but while the list is empty */
	HgMatchBlock *first;
	HgMatchBlock *last;
	const HgMatchBlock *next; /* that is returned next */
} HgMatchList;

/* The last block, which has room: a new one, for so many matches, where the one before is full. */
extern HgMatchBlock *hg_match_list_reserve(HgMatchList *list, size_t capacity);

/* Free all blocks. */
extern void hg_match_list_clear(HgMatchList *list);

/* Return the blocks from the first one on: NULL behind the last one with matches. */
extern void hg_match_list_rewind(HgMatchList *list);
extern const HgMatchBlock *hg_match_list_next(HgMatchList *list);

/* Memory of the blocks. */
extern uint64 hg_match_list_bytes(const HgMatchList *list);

#endif /* HG_MATCH_LIST_H */
