/*-------------------------------------------------------------------------
 *
 * hg_kept_memory.c
 *	  Large blocks of memory that a session keeps from one join for the next.
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

#include "backend/hg_kept_memory.h"
#include "hg_guc.h"

#define HG_HUGE_PAGE ((Size) 2 * 1024 * 1024)

struct HgKeptBlock
{
	dlist_node node; /* of its holder's, or of those that are idle */
	void *chunk;	 /* what was allocated */
	char *start;
	Size bytes;
};

/* The blocks that were taken for a memory context, in which this is. */
typedef struct HgKeptHolder
{
	MemoryContextCallback callback;
	MemoryContext context;
	dlist_head blocks;
	dlist_node node;
} HgKeptHolder;

static struct
{
	MemoryContext context;
	dlist_head holders;
	dlist_head idle; /* let go last first */
	Size bytes;		 /* of all blocks */
} kept = {.holders = DLIST_STATIC_INIT(kept.holders), .idle = DLIST_STATIC_INIT(kept.idle)};

void
hg_kept_init(void)
{
	kept.context =
		AllocSetContextCreate(TopMemoryContext, "HashGraph blocks", ALLOCSET_SMALL_SIZES);
}

static Size
hg_kept_limit(void)
{
	if (IsParallelWorker())
		return 0;
	return hg_keep_memory < 0 ? get_hash_memory_limit() : (Size) hg_keep_memory * 1024;
}

/* Free a block, which is in no list any more. */
static void
hg_kept_free(HgKeptBlock *block)
{
	kept.bytes -= block->bytes;
	pfree(block->chunk);
	pfree(block);
}

/* Free idle blocks, the longest idle first, until all blocks are of so many bytes at most. */
static void
hg_kept_shrink(Size bytes)
{
	while (kept.bytes > bytes && !dlist_is_empty(&kept.idle))
	{
		HgKeptBlock *last = dlist_tail_element(HgKeptBlock, node, &kept.idle);

		dlist_delete(&last->node);
		hg_kept_free(last);
	}
}

/* Have a block idle, or free it. */
static void
hg_kept_rest(HgKeptBlock *block)
{
#ifdef MADV_FREE
	/* advice: that it is refused changes nothing but what the process seems to hold */
	(void) madvise(block->start, block->bytes, MADV_FREE);
#endif
	dlist_push_head(&kept.idle, &block->node);
	hg_kept_shrink(hg_kept_limit());
}

/* A context is reset: what was taken for it is no longer in use. */
static void
hg_kept_let_go(void *arg)
{
	HgKeptHolder *holder = arg;

	dlist_delete(&holder->node);
	while (!dlist_is_empty(&holder->blocks))
		hg_kept_rest(dlist_container(HgKeptBlock, node, dlist_pop_head_node(&holder->blocks)));
}

/*
 * Have a holder told of its context's reset, after all others who are: they may use what they have
 * there until it goes, as they may with memory of the context itself.
 */
static void
hg_kept_register(HgKeptHolder *holder)
{
	MemoryContext context = holder->context;
	MemoryContextCallback **last = &context->reset_cbs;

	holder->callback.func = hg_kept_let_go;
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
static HgKeptHolder *
hg_kept_holder(MemoryContext context)
{
	HgKeptHolder *holder;
	dlist_iter iter;

	dlist_foreach(iter, &kept.holders)
	{
		holder = dlist_container(HgKeptHolder, node, iter.cur);
		if (holder->context == context)
			return holder;
	}
	holder = MemoryContextAllocExtended(context, sizeof(HgKeptHolder), MCXT_ALLOC_NO_OOM);
	if (holder == NULL)
		return NULL;
	holder->context = context;
	dlist_init(&holder->blocks);
	hg_kept_register(holder);
	dlist_push_head(&kept.holders, &holder->node);
	return holder;
}

/* The smallest idle block of bytes at least, of which a fifth is wasted at most; or NULL. */
static HgKeptBlock *
hg_kept_find(Size bytes)
{
	HgKeptBlock *best = NULL;
	dlist_iter iter;

	dlist_foreach(iter, &kept.idle)
	{
		HgKeptBlock *block = dlist_container(HgKeptBlock, node, iter.cur);

		if (block->bytes >= bytes && block->bytes - bytes <= bytes / 4 &&
			(best == NULL || block->bytes < best->bytes))
			best = block;
	}
	return best;
}

/* A new block; NULL when there is no memory. */
static HgKeptBlock *
hg_kept_allocate(Size bytes)
{
	const Size slack = HG_HUGE_PAGE + HG_KEPT_HEAD;
	HgKeptBlock *block =
		MemoryContextAllocExtended(kept.context, sizeof(HgKeptBlock), MCXT_ALLOC_NO_OOM);

	if (block == NULL)
		return NULL;
	block->chunk = MemoryContextAllocExtended(kept.context, bytes + slack,
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	if (block->chunk == NULL)
	{
		pfree(block);
		return NULL;
	}
	block->start = (char *) TYPEALIGN(HG_HUGE_PAGE, (char *) block->chunk + HG_KEPT_HEAD);
	block->bytes = bytes;
#ifdef MADV_HUGEPAGE
	/* advice: that it is refused changes nothing but the speed */
	(void) madvise(block->start, bytes, MADV_HUGEPAGE);
#endif
	kept.bytes += bytes;
	return block;
}

HgKeptBlock *
hg_kept_take(MemoryContext context, Size bytes, char **start)
{
	HgKeptHolder *holder;
	HgKeptBlock *block;

	if (bytes > MaxAllocHugeSize / 2)
		return NULL;
	bytes = TYPEALIGN(HG_HUGE_PAGE, bytes);
	holder = hg_kept_holder(context);
	if (holder == NULL)
		return NULL;
	block = hg_kept_find(bytes);
	if (block != NULL)
		dlist_delete(&block->node);
	else
	{
		const Size limit = hg_kept_limit();

		/* what is idle must not come on top of what a join may use */
		hg_kept_shrink(limit > bytes ? limit - bytes : 0);
		block = hg_kept_allocate(bytes);
		if (block == NULL && !dlist_is_empty(&kept.idle))
		{
			hg_kept_release();
			block = hg_kept_allocate(bytes);
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
hg_kept_give(HgKeptBlock *block)
{
	dlist_delete(&block->node);
	hg_kept_rest(block);
}

void
hg_kept_begin_join(void)
{
	hg_kept_shrink(hg_kept_limit());
}

void
hg_kept_release(void)
{
	hg_kept_shrink(0);
}

Size
hg_kept_bytes(void)
{
	return Min(kept.bytes, hg_kept_limit());
}
