/*-------------------------------------------------------------------------
 *
 * hg_host_computed.h
 *	  Computed columns of a side that is a graph replica, in host memory, by the plainest means.
 *
 * Values are computed of the rows that count, one by one, as the graph has them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_COMPUTED_H
#define HG_HOST_COMPUTED_H

#include "../../src/engine/hg_computed.h"
#include "hg_host_mask.h"
#include "hg_host_reduce.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Those of a side; all zero where it has none. */
	typedef struct HgHostComputed
	{
		bool has[HG_MAX_COLUMNS]; /* it is one */
		HgProgram programs[HG_MAX_COLUMNS];
		HgHostColumn columns[HG_MAX_COLUMNS];
	} HgHostComputed;

	/*
	 * Note a side's computed columns, which can be, and have room for their values.  What there is
	 * of it after a failure is to be freed.
	 */
	extern HgStatus hg_host_computed_open(HgHostComputed *computed, const HgJobSpec *spec,
										  HgSide side, const HgHost *host, HgError *error);

	/*
	 * Compute them for the rows of a graph that count by a mask, of the side's other columns, which
	 * are there.  HG_OVERFLOW where a number does not fit.
	 */
	extern HgStatus hg_host_computed_run(HgHostComputed *computed, HgSide side,
										 const HgFlatGraph *graph, const HgHostMask *mask,
										 HgHostReduce *reduce, const HgHost *host, HgError *error);

	/* The memory that they take at most. */
	extern uint64_t hg_host_computed_bytes(const HgJobSpec *spec, HgSide side);

	extern void hg_host_computed_free(HgHostComputed *computed, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_COMPUTED_H */
