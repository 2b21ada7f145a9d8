/*-------------------------------------------------------------------------
 *
 * hg_memory.h
 *	  Large blocks of memory, from PostgreSQL's memory contexts.
 *
 * First touch of fresh memory costs more than most of what a join does with it, so that blocks of
 * megabytes are aligned to huge pages, ask for them, and come from the memory pool
 * (hg_memory_pool.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MEMORY_H
#define HG_MEMORY_H

/*
 * bytes of memory from context, aligned to a cache line, or NULL when there is none.
 * Freed by hg_block_free or with the context.
 */
extern void *hg_block_alloc(MemoryContext context, Size bytes);
extern void hg_block_free(void *block);

/* Make all bytes 0, with looks at interrupts: the first touch of a GB takes up to a second. */
extern void hg_block_clear(void *block, Size bytes);

#endif /* HG_MEMORY_H */
