/*-------------------------------------------------------------------------
 *
 * hg_memory_pool.c
 *	  The memory pool: large blocks of memory that a session reuses from one join to the next.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/mman.h>

#include "access/parallel.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "utils/memutils.h"

#include "backend/hg_memory_pool.h"
#include "hg_guc.h"

#define HG_HUGE_PAGE ((Size) 2 * 1024 * 1024)

struct HgPoolBlock
{
	dlist_node node; /* in the list of its owner, or of idle blocks */
	void *chunk;	 /* what was allocated */
	char *start;
	Size bytes;
};

/* The blocks that were taken for a memory context, in which this is. */
typedef struct HgPoolOwner
{
	MemoryContextCallback callback;
	MemoryContext context;
	dlist_head blocks;
	dlist_node node;
} HgPoolOwner;

static struct
{
	MemoryContext context;
	dlist_head holders;
	dlist_head idle; /* freed last first */
	Size bytes;		 /* of all blocks */
} pool = {.holders = DLIST_STATIC_INIT(pool.holders), .idle = DLIST_STATIC_INIT(pool.idle)};

void
hg_pool_init(void)
{
	pool.context =
		AllocSetContextCreate(TopMemoryContext, "HashGraph blocks", ALLOCSET_SMALL_SIZES);
}

static Size
hg_pool_limit(void)
{
	if (IsParallelWorker())
		return 0;
	return hg_keep_memory < 0 ? get_hash_memory_limit() : (Size) hg_keep_memory * 1024;
}

/* Free a block, which is in no list any more. */
static void
hg_pool_free_block(HgPoolBlock *block)
{
	pool.bytes -= block->bytes;
	pfree(block->chunk);
	pfree(block);
}

/* Free idle blocks, the longest idle first, until all blocks are of so many bytes at most. */
static void
hg_pool_shrink(Size bytes)
{
	while (pool.bytes > bytes && !dlist_is_empty(&pool.idle))
	{
		HgPoolBlock *last = dlist_tail_element(HgPoolBlock, node, &pool.idle);

		dlist_delete(&last->node);
		hg_pool_free_block(last);
	}
}

/* Put a block into the pool, or free it. */
static void
hg_pool_put(HgPoolBlock *block)
{
#ifdef MADV_FREE
	/* advice: that it is refused changes nothing but what the process seems to hold */
	(void) madvise(block->start, block->bytes, MADV_FREE);
#endif
	dlist_push_head(&pool.idle, &block->node);
	hg_pool_shrink(hg_pool_limit());
}

/* A context is reset: what was taken for it is no longer in use. */
static void
hg_pool_reset_owner(void *arg)
{
	HgPoolOwner *holder = arg;

	dlist_delete(&holder->node);
	while (!dlist_is_empty(&holder->blocks))
		hg_pool_put(dlist_container(HgPoolBlock, node, dlist_pop_head_node(&holder->blocks)));
}

/*
 * Have a holder told of its context's reset, after all others who are: they may use what they have
 * there until it goes, as they may with memory of the context itself.
 */
static void
hg_pool_register(HgPoolOwner *holder)
{
	MemoryContext context = holder->context;
	MemoryContextCallback **last = &context->reset_cbs;

	holder->callback.func = hg_pool_reset_owner;
	holder->callback.arg = holder;
	MemoryContextRegisterResetCallback(context, &holder->callback);
	/* now the first; who registers later comes before it */
	*last = holder->callback.next;
	while (*last != NULL)
		last = &(*last)->next;
	holder->callback.next = NULL;
	*last = &holder->callback;
}

/* The holder for a context; NULL when there is no memory. */
static HgPoolOwner *
hg_pool_owner(MemoryContext context)
{
	HgPoolOwner *holder;
	dlist_iter iter;

	dlist_foreach(iter, &pool.holders)
	{
		holder = dlist_container(HgPoolOwner, node, iter.cur);
		if (holder->context == context)
			return holder;
	}
	holder = MemoryContextAllocExtended(context, sizeof(HgPoolOwner), MCXT_ALLOC_NO_OOM);
	if (holder == NULL)
		return NULL;
	holder->context = context;
	dlist_init(&holder->blocks);
	hg_pool_register(holder);
	dlist_push_head(&pool.holders, &holder->node);
	return holder;
}

/* The smallest idle block of bytes at least, of which a fifth is wasted at most; or NULL. */
static HgPoolBlock *
hg_pool_find(Size bytes)
{
	HgPoolBlock *best = NULL;
	dlist_iter iter;

	dlist_foreach(iter, &pool.idle)
	{
		HgPoolBlock *block = dlist_container(HgPoolBlock, node, iter.cur);

		if (block->bytes >= bytes && block->bytes - bytes <= bytes / 4 &&
			(best == NULL || block->bytes < best->bytes))
			best = block;
	}
	return best;
}

/* A new block; NULL when there is no memory. */
static HgPoolBlock *
hg_pool_allocate(Size bytes)
{
	const Size slack = HG_HUGE_PAGE + HG_POOL_HEADER;
	HgPoolBlock *block =
		MemoryContextAllocExtended(pool.context, sizeof(HgPoolBlock), MCXT_ALLOC_NO_OOM);

	if (block == NULL)
		return NULL;
	block->chunk = MemoryContextAllocExtended(pool.context, bytes + slack,
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	if (block->chunk == NULL)
	{
		pfree(block);
		return NULL;
	}
	block->start = (char *) TYPEALIGN(HG_HUGE_PAGE, (char *) block->chunk + HG_POOL_HEADER);
	block->bytes = bytes;
#ifdef MADV_HUGEPAGE
	/* advice: that it is refused changes nothing but the speed */
	(void) madvise(block->start, bytes, MADV_HUGEPAGE);
#endif
	pool.bytes += bytes;
	return block;
}

HgPoolBlock *
hg_pool_alloc(MemoryContext context, Size bytes, char **start)
{
	HgPoolOwner *holder;
	HgPoolBlock *block;

	if (bytes > MaxAllocHugeSize / 2)
		return NULL;
	bytes = TYPEALIGN(HG_HUGE_PAGE, bytes);
	holder = hg_pool_owner(context);
	if (holder == NULL)
		return NULL;
	block = hg_pool_find(bytes);
	if (block != NULL)
		dlist_delete(&block->node);
	else
	{
		const Size limit = hg_pool_limit();

		/* what is idle must not come on top of what a join may use */
		hg_pool_shrink(limit > bytes ? limit - bytes : 0);
		block = hg_pool_allocate(bytes);
		if (block == NULL && !dlist_is_empty(&pool.idle))
		{
			hg_pool_release();
			block = hg_pool_allocate(bytes);
		}
		if (block == NULL)
			return NULL;
	}
	dlist_push_head(&holder->blocks, &block->node);
#ifdef USE_ASSERT_CHECKING
	/* who reads what nobody has written is to be found out; all of it would take too long */
	memset(block->start, 0x7F, HG_HUGE_PAGE);
#endif
	*start = block->start;
	return block;
}

void
hg_pool_free(HgPoolBlock *block)
{
	dlist_delete(&block->node);
	hg_pool_put(block);
}

void
hg_pool_begin_join(void)
{
	hg_pool_shrink(hg_pool_limit());
}

void
hg_pool_release(void)
{
	hg_pool_shrink(0);
}

Size
hg_pool_bytes(void)
{
	return Min(pool.bytes, hg_pool_limit());
}
