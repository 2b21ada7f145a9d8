/*-------------------------------------------------------------------------
 *
 * hg_standin_memory.h
 *	  The device memory of a stand-in: a budget of bytes, and how many of them are held.
 *
 * All threads may call this at any time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_STANDIN_MEMORY_H
#define HG_STANDIN_MEMORY_H

#include "../../cuda/server/hg_server.h"

/* Sets the budget, whatever is held of it. */
extern void hg_standin_memory_allow(uint64_t budget);

/* Holds bytes.  Returns false, and holds none, if the budget does not allow it. */
extern bool hg_standin_memory_hold(uint64_t bytes);

/* Releases bytes. */
extern void hg_standin_memory_let_go(uint64_t bytes);

/*
 * alloc allocates memory of a host, and holds its bytes; NULL if the budget or the host has none.
 * free does the reverse.
 */
extern void *hg_standin_memory_alloc(const HgHost *host, size_t bytes);
extern void hg_standin_memory_free(const HgHost *host, void *ptr, size_t bytes);

/* Sets the budget, the bytes held, and the most that were held. */
extern void hg_standin_memory_use(HgMemoryUse *use);

#endif /* HG_STANDIN_MEMORY_H */
