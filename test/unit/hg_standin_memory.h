/*-------------------------------------------------------------------------
 *
 * hg_standin_memory.h
 *	  The device memory of a device process without a device: a number of bytes, and who has them.
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

/* So many bytes are there from now on, whatever is held of them. */
extern void hg_standin_memory_allow(uint64_t budget);

/* Have so many bytes more held; false, and none are, where there are not as many. */
extern bool hg_standin_memory_hold(uint64_t bytes);

/* They are free again. */
extern void hg_standin_memory_let_go(uint64_t bytes);

/* Memory of a host that is held so; NULL where either has none. */
extern void *hg_standin_memory_alloc(const HgHost *lender, size_t bytes);
extern void hg_standin_memory_free(const HgHost *lender, void *ptr, size_t bytes);

extern void hg_standin_memory_use(HgMemoryUse *use);

#endif /* HG_STANDIN_MEMORY_H */
