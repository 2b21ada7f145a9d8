/*-------------------------------------------------------------------------
 *
 * hg_host_memory.h
 *	  An engine's use of its host: memory, checks of a memory limit, and cancellation.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_MEMORY_H
#define HG_HOST_MEMORY_H

#include "hg_engine.h"

/* Allocate and free memory of the host.  On failure *ptr is NULL.  Freeing NULL does nothing. */
extern HgStatus hg_host_memory_alloc(const HgHost *host, uint64_t bytes, void **ptr,
									 HgError *error);
extern void hg_host_memory_free(const HgHost *host, void *ptr, uint64_t bytes);

/*
 * Returns HG_OK, or HG_OUT_OF_MEMORY if bytes in addition to held bytes would exceed limit; 0 = no
 * limit.
 */
extern HgStatus hg_host_memory_check(uint64_t limit, uint64_t held, uint64_t bytes, HgError *error);

/* Returns HG_OK, or HG_CANCELLED if the host's cancelled() is true. */
extern HgStatus hg_host_check_cancel(const HgHost *host, HgError *error);

#endif /* HG_HOST_MEMORY_H */
