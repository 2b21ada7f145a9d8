/*-------------------------------------------------------------------------
 *
 * hg_ranges_memory.h
 *	  What a job that may be cut into ranges holds of its host: memory, and its attention.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RANGES_MEMORY_H
#define HG_RANGES_MEMORY_H

#include "hg_engine.h"

/* HG_OK, or HG_CANCELLED when the host wants the work to stop. */
extern HgStatus hg_ranges_poll(const HgHost *host, HgError *error);

/* count elements of width bytes; NULL with HG_OUT_OF_MEMORY.  Freeing NULL does nothing. */
extern HgStatus hg_ranges_alloc(const HgHost *host, uint64_t count, uint64_t width, void **ptr,
								HgError *error);
extern void hg_ranges_free(const HgHost *host, void *ptr, uint64_t count, uint64_t width);

#endif /* HG_RANGES_MEMORY_H */
