/*-------------------------------------------------------------------------
 *
 * hg_memory.c
 *	  Large blocks of memory that belong to memory contexts.
 *
 * Before the aligned start of a block there is a head of two pointers: to its palloc chunk, or
 * from a certain size on to a block of the memory pool (hg_memory_pool.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "backend/hg_memory_pool.h"
#include "backend/hg_memory.h"

#define HG_CACHE_LINE ((Size) 64)

/* Blocks of at least this size come from the memory pool. */
#define HG_POOL_MIN_BYTES ((Size) 4 * 1024 * 1024)

typedef struct HgBlockHead
{
	void *chunk;		 /* or NULL */
	HgPoolBlock *pooled; /* or NULL */
} HgBlockHead;

StaticAssertDecl(sizeof(HgBlockHead) <= HG_POOL_HEADER, "head of a block");

/* Number of bytes that are cleared between two checks for interrupts. */
#define HG_CLEARED_BYTES ((Size) 4 * 1024 * 1024)

void *
hg_block_alloc(MemoryContext context, Size bytes)
{
	const Size slack = HG_CACHE_LINE + sizeof(HgBlockHead);
	HgBlockHead head = {0};
	char *block;

	if (bytes >= HG_POOL_MIN_BYTES)
	{
		head.pooled = hg_pool_alloc(context, bytes, &block);
		if (head.pooled == NULL)
			return NULL;
	}
	else
	{
		head.chunk = MemoryContextAllocExtended(context, bytes + slack, MCXT_ALLOC_NO_OOM);
		if (head.chunk == NULL)
			return NULL;
		block = (char *) TYPEALIGN(HG_CACHE_LINE, (char *) head.chunk + sizeof(HgBlockHead));
	}
	((HgBlockHead *) block)[-1] = head;
	return block;
}

void
hg_block_free(void *block)
{
	HgBlockHead head = ((HgBlockHead *) block)[-1];

	if (head.pooled != NULL)
		hg_pool_free(head.pooled);
	else
		pfree(head.chunk);
}

void
hg_block_clear(void *block, Size bytes)
{
	for (Size at = 0; at < bytes; at += HG_CLEARED_BYTES)
	{
		CHECK_FOR_INTERRUPTS();
		memset((char *) block + at, 0, Min(bytes - at, HG_CLEARED_BYTES));
	}
}
