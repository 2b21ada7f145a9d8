/*-------------------------------------------------------------------------
 *
 * hg_host_computed.h
 *	  Computed columns of a side that is a graph replica, in host memory, by the simplest means.
 *
 * Values are computed for the selected rows, one by one, in the order of the graph.
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

	/* The computed columns of a side; zeroed if it has none. */
	typedef struct HgHostComputed
	{
		bool has[HG_MAX_COLUMNS]; /* the column is computed */
		HgProgram programs[HG_MAX_COLUMNS];
		HgHostColumn columns[HG_MAX_COLUMNS];
	} HgHostComputed;

	/*
	 * Notes the computed columns of a side's valid spec, and allocates their values.  The caller
	 * frees them, also after a failure.
	 */
	extern HgStatus hg_host_computed_open(HgHostComputed *computed, const HgJobSpec *spec,
										  HgSide side, const HgHost *host, HgError *error);

	/*
	 * Computes the columns for the selected rows of a graph, from the side's other columns, which
	 * must be set.  Returns HG_OVERFLOW if a number does not fit.
	 */
	extern HgStatus hg_host_computed_run(HgHostComputed *computed, HgSide side,
										 const HgFlatGraph *graph, const HgHostMask *mask,
										 HgHostReduce *reduce, const HgHost *host, HgError *error);

	/* Returns the most memory of a side's computed columns. */
	extern uint64_t hg_host_computed_bytes(const HgJobSpec *spec, HgSide side);

	/* Frees the values of all columns. */
	extern void hg_host_computed_free(HgHostComputed *computed, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_COMPUTED_H */
