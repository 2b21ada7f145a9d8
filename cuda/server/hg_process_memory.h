/*-------------------------------------------------------------------------
 *
 * hg_process_memory.h
 *	  The device process's own memory, for the engines' hosts.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PROCESS_MEMORY_H
#define HG_PROCESS_MEMORY_H

#include <stddef.h>

/* HgHost.alloc, which ignores arg: blocks are aligned to a cache line. NULL when out of memory. */
extern void *hg_process_alloc(void *arg, size_t bytes);

/* HgHost.free, which ignores arg and bytes. */
extern void hg_process_free(void *arg, void *ptr, size_t bytes);

#endif /* HG_PROCESS_MEMORY_H */
