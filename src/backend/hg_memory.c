/*-------------------------------------------------------------------------
 *
 * hg_memory.c
 *	  Large blocks of memory, from PostgreSQL's memory contexts.
 *
 * A block is one palloc chunk with the chunk's own address stored in the word
 * before the aligned start.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/mman.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "backend/hg_memory.h"

#define HG_HUGE_PAGE ((Size) 2 * 1024 * 1024)
#define HG_CACHE_LINE ((Size) 64)

/* Blocks of at least this size are aligned to huge pages. */
#define HG_HUGE_FROM (2 * HG_HUGE_PAGE)

/* Bytes that are cleared between two looks at interrupts. */
#define HG_CLEARED_BYTES ((Size) 4 * 1024 * 1024)

void *
hg_block_alloc(MemoryContext context, Size bytes)
{
	Size alignment = bytes >= HG_HUGE_FROM ? HG_HUGE_PAGE : HG_CACHE_LINE;
	Size slack = alignment + sizeof(void *);
	char *chunk;
	char *block;

	if (bytes > MaxAllocHugeSize - slack)
		return NULL;
	chunk = MemoryContextAllocExtended(context, bytes + slack, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	if (chunk == NULL)
		return NULL;
	block = (char *) TYPEALIGN(alignment, chunk + sizeof(void *));
	((void **) block)[-1] = chunk;
#ifdef MADV_HUGEPAGE
	/* advice: that it is refused changes nothing but the speed */
	if (alignment == HG_HUGE_PAGE)
		(void) madvise(block, TYPEALIGN_DOWN(HG_HUGE_PAGE, bytes), MADV_HUGEPAGE);
#endif
	return block;
}

void
hg_block_free(void *block)
{
	pfree(((void **) block)[-1]);
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
