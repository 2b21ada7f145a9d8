/*-------------------------------------------------------------------------
 *
 * hg_costs.h
 *	  What joins cost on an engine, measured on the machine that runs them.
 *
 * The time of a job is taken to be
 *
 *	job_ms + outer rows * outer_ns + inner rows * inner_ns + pairs * pair_ns
 *
 * and the four are fitted to four jobs: next to no rows, a small inner side, two sides of
 * one size, and these with their pairs returned.  Where the engine has columns, two more
 * tell what their bytes cost, and what a pair costs that is made part of a group instead of being
 * returned.  That is coarse, but what is compared
 * with it, one engine with another, seldom lies close together.
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
		double inner_ns; /* of each inner row beside it */
		double pair_ns;	 /* of each pair returned */

		/* 0 where the engine has no columns */
		double column_ns; /* of each byte of a column */
		double reduce_ns; /* of each pair of a group */
	} HgCosts;

	/* Key widths with costs of their own, and the index of each. */
#define HG_COSTS_WIDTHS 2

	static inline int
	hg_costs_width_index(uint32_t key_width)
	{
		return key_width == 8;
	}

	/* Costs of the engines that there is a choice of, by hg_costs_width_index(). */
	typedef struct HgEngineCosts
	{
		HgCosts device[HG_COSTS_WIDTHS];
		HgCosts cpu[HG_COSTS_WIDTHS];
	} HgEngineCosts;

	/* Rows of a side that are enough to measure with, and the fewest that will do. */
#define HG_COSTS_ROWS (UINT64_C(1) << 20)
#define HG_COSTS_LEAST_ROWS (UINT64_C(1) << 12)

	/*
	 * Measure an engine with jobs of up to rows rows a side, a power of two, whose keys are written
	 * to keys[rows * key_width] first: memory from which the engine takes keys as fast as it ever
	 * does.  It takes some dozens of milliseconds on a CPU.  A failing engine's status is returned,
	 * and *costs is not set.
	 */
	extern HgStatus hg_costs_measure(HgEngine *engine, const HgHost *host, uint32_t key_width,
									 void *keys, uint64_t rows, HgCosts *costs, HgError *error);

	/* Milliseconds that a job is expected to take. */
	extern double hg_costs_estimate(const HgCosts *costs, uint64_t outer_rows, uint64_t inner_rows,
									double pairs);

	/* The same of a job that returns no pairs, but groups of them. */
	extern double hg_costs_estimate_reduced(const HgCosts *costs, uint64_t outer_rows,
											uint64_t inner_rows, double column_bytes, double pairs);

	/*
	 * Milliseconds more for columns whose values come with the pairs, of so many bytes there and
	 * back.  A pair's bytes are taken to cost the same whatever they tell.
	 */
	extern double hg_costs_estimate_values(const HgCosts *costs, double column_bytes,
										   double value_bytes);

#ifdef __cplusplus
}
#endif

#endif /* HG_COSTS_H */
