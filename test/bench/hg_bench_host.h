/*-------------------------------------------------------------------------
 *
 * hg_bench_host.h
 *	  The host of the benchmarks: memory as a session hands it out.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BENCH_HOST_H
#define HG_BENCH_HOST_H

#include "../../src/engine/hg_engine.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Memory in huge pages where it is big, unless pages are to be small, and never a cancel. */
	extern const HgHost hg_bench_host;
	extern bool hg_bench_small_pages;

	/* Are blocks that were freed handed out again?  Not unless this is set. */
	extern bool hg_bench_pooled;

	/* Free the pooled memory. */
	extern void hg_bench_release(void);

#ifdef __cplusplus
}
#endif

#endif /* HG_BENCH_HOST_H */
