/*-------------------------------------------------------------------------
 *
 * hg_memory.h
 *	  Large blocks of memory that belong to memory contexts.
 *
 * The first touch of fresh memory costs more than most of what a join does with it.  So blocks of
 * megabytes are aligned to huge pages, request them, and come from the memory pool
 * (hg_memory_pool.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MEMORY_H
#define HG_MEMORY_H

/*
 * hg_block_alloc returns bytes of memory from context, aligned to a cache line, or NULL if there
 * is no memory.  hg_block_free or the context's reset frees the block.
 */
extern void *hg_block_alloc(MemoryContext context, Size bytes);
extern void hg_block_free(void *block);

/* Sets all bytes to 0, and checks for interrupts: the first touch of a GB takes up to a second. */
extern void hg_block_clear(void *block, Size bytes);

#endif /* HG_MEMORY_H */
