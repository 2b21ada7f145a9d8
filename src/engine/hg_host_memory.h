/*-------------------------------------------------------------------------
 *
 * hg_host_memory.h
 *	  What an engine has of its host: memory, under a limit of its own, and when to stop.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_MEMORY_H
#define HG_HOST_MEMORY_H

#include "hg_engine.h"

/* Memory of the host; on failure *ptr is NULL.  Freeing NULL does nothing. */
extern HgStatus hg_host_memory_alloc(const HgHost *host, uint64_t bytes, void **ptr,
									 HgError *error);
extern void hg_host_memory_free(const HgHost *host, void *ptr, uint64_t bytes);

/* HG_OK, or HG_OUT_OF_MEMORY where bytes beside those held would pass a limit; 0 = none. */
extern HgStatus hg_host_memory_check(uint64_t limit, uint64_t held, uint64_t bytes, HgError *error);

/* HG_OK, or HG_CANCELLED when the host wants the work to stop. */
extern HgStatus hg_host_check_cancel(const HgHost *host, HgError *error);

#endif /* HG_HOST_MEMORY_H */
