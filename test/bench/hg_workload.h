/*-------------------------------------------------------------------------
 *
 * hg_workload.h
 *	  The workloads of the benchmark: keys of two sides and the right answer.
 *
 * A is the build side, which the engine interface calls inner; B is the probe
 * side, outer.  A row number is a position in its array.  The right answer is
 * the number of pairs (a, b) with equal keys and a checksum that does not depend
 * on their order; both are computed here without any hash table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WORKLOAD_H
#define HG_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "../../src/engine/hg_hash.h"

#ifdef __cplusplus
extern "C"
{
#endif

	typedef struct HgWorkload
	{
		const char *name;
		uint32_t key_width; /* bytes: 4 or 8 */
		uint64_t rows_a;
		uint64_t rows_b;
		void *keys_a; /* [rows_a] keys, the build side (inner) */
		void *keys_b; /* [rows_b] keys, the probe side (outer) */

		uint64_t pairs;	   /* the right number of pairs */
		uint64_t checksum; /* sum of hg_workload_pair() over all pairs, mod 2^64 */
	} HgWorkload;

	/* What one pair adds to the checksum. */
	HG_HOST_DEVICE uint64_t
	hg_workload_pair(uint32_t row_a, uint32_t row_b)
	{
		return hg_mix64(((uint64_t) row_b << 32) | row_a);
	}

	/* The number of workloads, and the name of each. */
	extern int hg_workload_count(void);
	extern const char *hg_workload_name(int index);

	/* True for the rows of the published table, false for variants of them. */
	extern bool hg_workload_is_main(int index);

	/* True for those whose sides have 2^20 rows at most. */
	extern bool hg_workload_is_small(int index);

	/*
	 * Generate a workload, with its numbers of rows and its key domain divided by
	 * 2^scale.  The same arguments give the same keys everywhere.  Returns false when
	 * out of memory; otherwise the caller frees it with hg_workload_free.
	 */
	extern bool hg_workload_generate(int index, unsigned scale, HgWorkload *workload);

	extern void hg_workload_free(HgWorkload *workload);

#ifdef __cplusplus
}
#endif

#endif /* HG_WORKLOAD_H */
