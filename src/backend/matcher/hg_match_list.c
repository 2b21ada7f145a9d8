/*-------------------------------------------------------------------------
 *
 * hg_match_list.c
 *	  A list of matches that are stored in blocks until they are returned.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/matcher/hg_match_list.h"

HgMatchBlock *
hg_match_list_reserve(HgMatchList *list, size_t capacity)
{
	HgMatchBlock *block = list->last;

	if (block != NULL && block->all.count < block->all.capacity)
		return block;
	block = hg_match_block_create(list->gather, capacity, list->context);
	if (list->last == NULL)
		list->first = block;
	else
		list->last->next = block;
	list->last = block;
	return block;
}

void
hg_match_list_clear(HgMatchList *list)
{
	while (list->first != NULL)
	{
		HgMatchBlock *block = list->first;

		list->first = block->next;
		hg_match_block_destroy(block);
	}
	list->last = NULL;
	list->next = NULL;
}

void
hg_match_list_rewind(HgMatchList *list)
{
	list->next = list->first;
}

const HgMatchBlock *
hg_match_list_next(HgMatchList *list)
{
	const HgMatchBlock *block = list->next;

	/* the last block may have been created without getting any matches */
	if (block == NULL || block->all.count == 0)
		return NULL;
	list->next = block->next;
	return block;
}

uint64
hg_match_list_bytes(const HgMatchList *list)
{
	uint64 bytes = 0;

	for (const HgMatchBlock *block = list->first; block != NULL; block = block->next)
		bytes += block->all.capacity * hg_gather_match_bytes(list->gather);
	return bytes;
}
