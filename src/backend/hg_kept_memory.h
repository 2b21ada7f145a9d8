/*-------------------------------------------------------------------------
 *
 * hg_kept_memory.h
 *	  Large blocks of memory that a session keeps from one join for the next.
 *
 * The first touch of fresh memory can cost a join more than all that it does there, and most of all
 * in a virtual machine that gives what is free back to its host.  Blocks that are let go are
 * therefore kept, and the next one of that size is one of them.
 *
 * HOW MUCH: blocks that are kept and those in use are hash_mem (work_mem * hash_mem_multiplier)
 * together, or hashgraph.keep_memory: where more is in use, nothing is kept.  Where that has become
 * less, the next join frees what is too much when it begins.  Parallel workers keep nothing.
 *
 * WHO ELSE NEEDS IT: the kernel is told that what is kept has no contents to save.  Where memory
 * runs short it takes the pages without writing them anywhere, and only then does their first touch
 * cost anything again.  DISCARD ALL frees what is kept, and so does an allocation that fails.
 *
 * All blocks are of one memory context, "HashGraph blocks" in pg_backend_memory_contexts.  They are
 * let go when the context that they were taken for is reset, as if they were of that one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_KEPT_MEMORY_H
#define HG_KEPT_MEMORY_H

/* Once, when the library is loaded. */
extern void hg_kept_init(void);

/* A block in use.  Its start is aligned to huge pages, and asks for them. */
typedef struct HgKeptBlock HgKeptBlock;

/*
 * A block of bytes at least, with whatever contents, until hg_kept_give or context's reset; NULL
 * when there is no memory.  It starts at *start, and *start[-1] and before that is the caller's:
 * HG_KEPT_HEAD bytes.
 */
#define HG_KEPT_HEAD ((Size) 64)
extern HgKeptBlock *hg_kept_take(MemoryContext context, Size bytes, char **start);
extern void hg_kept_give(HgKeptBlock *block);

/* A join begins: free what may not be kept any more.  It may take no block that would show it. */
extern void hg_kept_begin_join(void);

/* Free what is not in use. */
extern void hg_kept_release(void);

/* Bytes that the session would keep if nothing were in use any more. */
extern Size hg_kept_bytes(void);

#endif /* HG_KEPT_MEMORY_H */
