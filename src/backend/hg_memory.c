/*-------------------------------------------------------------------------
 *
 * hg_memory.c
 *	  Large blocks of memory that belong to memory contexts.
 *
 * Before the aligned start of a block there is a head of two pointers: to its palloc chunk, or
 * from a certain size on to a block of the memory pool (hg_memory.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/mman.h>

#include "lib/ilist.h"
#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "utils/memutils.h"

#include "backend/hg_memory.h"
#include "hg_guc.h"

#define HG_CACHE_LINE ((Size) 64)

/* Blocks of at least this size come from the pool: malloc may return such to the system. */
#define HG_POOL_MIN_BYTES ((Size) 128 * 1024)

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

/* ---------------------------------------------------------------------
 * The memory pool: large blocks of memory that a session reuses from one join to the next
 * ---------------------------------------------------------------------
 */

/*
 * Blocks of HG_HUGE_BYTES or more are multiples of a huge page and aligned to it. Smaller ones are
 * multiples of a page: a huge page would be too much for them.
 */
#define HG_HUGE_BYTES ((Size) 4 * 1024 * 1024)
#define HG_HUGE_PAGE ((Size) 2 * 1024 * 1024)
#define HG_PAGE ((Size) 4096)

/* A block is used again for a request if at most this part of it beyond that stays unused. */
#define HG_POOL_UNUSED_PART 4

struct HgPoolBlock
{
	dlist_node node; /* in the list of its owner, or of free blocks */
	void *chunk;	 /* the palloc chunk */
	char *start;
	Size bytes;
};

/* The blocks that were allocated for a memory context; it lies in that context. */
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
	dlist_head idle; /* last freed first */
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
	return hg_keep_memory < 0 ? get_hash_memory_limit() : (Size) hg_keep_memory * 1024;
}

/* Frees a block, which is in no list. */
static void
hg_pool_free_block(HgPoolBlock *block)
{
	pool.bytes -= block->bytes;
	pfree(block->chunk);
	pfree(block);
}

/* Frees free blocks, the longest unused first, until all blocks have at most this many bytes. */
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

/* Puts a block into the pool, or frees it. */
static void
hg_pool_put(HgPoolBlock *block)
{
	dlist_push_head(&pool.idle, &block->node);
	hg_pool_shrink(hg_pool_limit());
#ifdef MADV_FREE
	/*
	 * Advice: a refusal only changes how much memory the process seems to use. Small blocks are
	 * skipped: a query frees and reuses them with each partition, and the call costs more than it
	 * saves. hg_pool_shrink() frees the head last, so the block still exists if there is any.
	 */
	if (!dlist_is_empty(&pool.idle) && block->bytes >= HG_HUGE_BYTES)
		(void) madvise(block->start, block->bytes, MADV_FREE);
#endif
}

/* Returns the blocks of a context to the pool when that is reset. */
static void
hg_pool_reset_owner(void *arg)
{
	HgPoolOwner *holder = arg;

	dlist_delete(&holder->node);
	while (!dlist_is_empty(&holder->blocks))
		hg_pool_put(dlist_container(HgPoolBlock, node, dlist_pop_head_node(&holder->blocks)));
}

/*
 * Registers an owner for its context's reset, after all other callbacks: they may use blocks until
 * then, as they may use memory of the context itself.
 */
static void
hg_pool_register(HgPoolOwner *holder)
{
	MemoryContext context = holder->context;
	MemoryContextCallback **last = &context->reset_cbs;

	holder->callback.func = hg_pool_reset_owner;
	holder->callback.arg = holder;
	MemoryContextRegisterResetCallback(context, &holder->callback);
	/* now it is the first; callbacks that are registered later come before it */
	*last = holder->callback.next;
	while (*last != NULL)
		last = &(*last)->next;
	holder->callback.next = NULL;
	*last = &holder->callback;
}

/* Returns the owner of a context's blocks; NULL if there is no memory. */
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

/* Returns the smallest free block of this size or at most a quarter more, or NULL. */
static HgPoolBlock *
hg_pool_find(Size bytes)
{
	HgPoolBlock *best = NULL;
	dlist_iter iter;

	dlist_foreach(iter, &pool.idle)
	{
		HgPoolBlock *block = dlist_container(HgPoolBlock, node, iter.cur);

		if (block->bytes == bytes)
			return block;
		if (block->bytes >= bytes && block->bytes - bytes <= bytes / HG_POOL_UNUSED_PART &&
			(best == NULL || block->bytes < best->bytes))
			best = block;
	}
	return best;
}

/* Returns what a block of some bytes is aligned to. */
static Size
hg_pool_alignment(Size bytes)
{
	return bytes >= HG_HUGE_BYTES ? HG_HUGE_PAGE : HG_PAGE;
}

/* Allocates a block; returns NULL if there is no memory. */
static HgPoolBlock *
hg_pool_allocate(Size bytes)
{
	const Size alignment = hg_pool_alignment(bytes);
	const Size slack = alignment + HG_POOL_HEADER;
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
	block->start = (char *) TYPEALIGN(alignment, (char *) block->chunk + HG_POOL_HEADER);
	block->bytes = bytes;
#ifdef MADV_HUGEPAGE
	/* advice: a refusal only changes the speed */
	if (alignment == HG_HUGE_PAGE)
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
	bytes = TYPEALIGN(hg_pool_alignment(bytes), bytes);
	holder = hg_pool_owner(context);
	if (holder == NULL)
		return NULL;
	block = hg_pool_find(bytes);
	if (block != NULL)
		dlist_delete(&block->node);
	else
	{
		const Size limit = hg_pool_limit();

		/* free blocks must not add to the memory that a join may use */
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
	/* makes reads of undefined contents visible; filling all of it would take too long */
	memset(block->start, 0x7F, Min(bytes, HG_HUGE_PAGE));
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
