/*-------------------------------------------------------------------------
 *
 * hg_memory.h
 *	  Large blocks of memory that belong to memory contexts.
 *
 * The first touch of fresh memory costs more than most of what a join does with it.  So blocks of
 * 128 kB and more come from the memory pool that is described below. Those of 4 MB and more are
 * aligned to huge pages, and request them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MEMORY_H
#define HG_MEMORY_H

/*
 * Returns a block of memory from context, aligned to a cache line, with undefined contents; NULL
 * if there is no memory.  hg_block_free or the context's reset frees the block.
 */
extern void *hg_block_alloc(MemoryContext context, Size bytes);
/* Frees a block of hg_block_alloc, which must not be NULL. */
extern void hg_block_free(void *block);

/* Sets all bytes to 0.  May raise an interrupt's error: the first touch of a GB takes a second. */
extern void hg_block_clear(void *block, Size bytes);

/*
 * The memory pool: large blocks of memory that a session reuses from one join to the next.
 *
 * The first touch of fresh memory can cost a join more than all that it does there, and most of all
 * in a virtual machine that gives what is free back to its host.  Freed blocks therefore stay in
 * the pool, and the next allocation of that size reuses one of them, in the next join or in the
 * same one.  A parallel worker has a pool of its own, which ends with it.
 *
 * HOW MUCH: free blocks and those in use are limited to hash_mem (work_mem * hash_mem_multiplier)
 * together, or to hashgraph.keep_memory.  Where more is in use, the pool has no free blocks.  Where
 * the limit has become lower, the next join frees the excess when it begins.
 *
 * PRESSURE FROM OTHERS: MADV_FREE says that free blocks of 4 MB or more have no contents to save.
 * There are few smaller ones, because tables and row stores allocate ever larger blocks.  Where
 * memory runs short the kernel takes the pages without writing them anywhere, and only then does
 * their first touch cost anything again.  DISCARD ALL frees the free blocks, and so does an
 * allocation that fails.
 *
 * All blocks are of one memory context, "HashGraph blocks" in pg_backend_memory_contexts.  They
 * return to the pool when the context that they were allocated for is reset, as if they were of
 * that one.
 */

/* Creates the pool; call it once, when the library is loaded. */
extern void hg_pool_init(void);

/* A block in use.  One of 4 MB or more is aligned to huge pages, and requests them. */
typedef struct HgPoolBlock HgPoolBlock;

/*
 * Returns a block of at least this many bytes with undefined contents, or NULL if there is no
 * memory.  The block starts at *start; the HG_POOL_HEADER bytes before it are the caller's.
 * hg_pool_free or the reset of context returns it to the pool.
 */
#define HG_POOL_HEADER ((Size) 64)
extern HgPoolBlock *hg_pool_alloc(MemoryContext context, Size bytes, char **start);
/* Returns a block to the pool. */
extern void hg_pool_free(HgPoolBlock *block);

/* Frees blocks that exceed the limit, when a join begins, even if the join allocates none. */
extern void hg_pool_begin_join(void);

/* Frees all free blocks. */
extern void hg_pool_release(void);

/* Returns the bytes of all blocks, free and in use, but at most the limit. */
extern Size hg_pool_bytes(void);

#endif /* HG_MEMORY_H */
