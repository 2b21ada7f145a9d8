/*-------------------------------------------------------------------------
 *
 * hg_costs.h
 *	  What joins cost on an engine, measured on the machine that runs them.
 *
 * The time of a job is modelled as
 *
 *	job_ms + outer rows * outer_ns + inner rows * inner_ns + pairs * pair_ns
 *
 * The four terms are fitted to four jobs: next to no rows, a small inner side, two sides of one
 * size, and two such sides with their pairs returned.  If the engine has columns, two more jobs
 * measure what a byte of a column costs, and what a pair costs that becomes part of a group.  The
 * model is coarse, but the alternatives that it compares, one engine with another, are seldom
 * close.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COSTS_H
#define HG_COSTS_H

#include "hg_engine.h"

#ifdef __cplusplus
extern "C"
{
#endif

	typedef struct HgCosts
	{
		double job_ms;	 /* of every job */
		double outer_ns; /* of each outer row: append, build and count */
		double inner_ns; /* of each inner row */
		double pair_ns;	 /* of each pair returned */

		/* both 0 if the engine has no columns */
		double column_ns; /* of each byte of a column */
		double reduce_ns; /* of each pair that becomes part of a group */
	} HgCosts;

	/* Number of key widths, each of which has costs of its own, and the index of each. */
#define HG_COSTS_WIDTHS 2

	/* Returns the index of a key width, 4 or 8. */
	static inline int
	hg_costs_width_index(uint32_t key_width)
	{
		return key_width == 8;
	}

	/* Costs of the two engines to choose from. */
	typedef struct HgEngineCosts
	{
		HgCosts device[HG_COSTS_WIDTHS]; /* by hg_costs_width_index() */
		HgCosts cpu[HG_COSTS_WIDTHS];
		double connect_ms; /* what a join's parallel workers need to connect to the device */
	} HgEngineCosts;

	/* Rows of a side that are enough for a measurement, and the least number that works. */
#define HG_COSTS_ROWS (UINT64_C(1) << 20)
#define HG_COSTS_LEAST_ROWS (UINT64_C(1) << 12)

	/*
	 * Measures an engine with jobs of up to rows rows a side; rows is a power of two.  It first
	 * writes test keys to keys[rows * key_width]; the engine must read this memory as fast as any
	 * other.  It takes some dozens of milliseconds on a CPU.  If the engine fails, its status is
	 * returned and *costs is not set.
	 */
	extern HgStatus hg_costs_measure(HgEngine *engine, const HgHost *host, uint32_t key_width,
									 void *keys, uint64_t rows, HgCosts *costs, HgError *error);

	/* Returns the milliseconds that a job is expected to take. */
	extern double hg_costs_estimate(const HgCosts *costs, uint64_t outer_rows, uint64_t inner_rows,
									double pairs);

	/*
	 * Returns the milliseconds that a job is expected to take if it returns groups; column_bytes is
	 * the size of all its columns.
	 */
	extern double hg_costs_estimate_reduced(const HgCosts *costs, uint64_t outer_rows,
											uint64_t inner_rows, double column_bytes, double pairs);

	/*
	 * Returns how many milliseconds are added by columns whose values come with the pairs:
	 * column_bytes to the engine, and value_bytes back.  Values that come back cost as much per
	 * byte as pairs do.
	 */
	extern double hg_costs_estimate_values(const HgCosts *costs, double column_bytes,
										   double value_bytes);

#ifdef __cplusplus
}
#endif

#endif /* HG_COSTS_H */
