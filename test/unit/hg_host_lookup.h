/*-------------------------------------------------------------------------
 *
 * hg_host_lookup.h
 *	  Lookups from the rows of a side in graph replicas, in host memory, by the simplest means.
 *
 * A lookup is the join of its two graphs.  Each pair says what a row finds, by ordinals.  A lookup
 * from rows that were found by another one is mapped to the ordinals of the side.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_LOOKUP_H
#define HG_HOST_LOOKUP_H

#include "hg_host_mask.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* One lookup. */
	typedef struct HgHostLookup
	{
		uint32_t from; /* as in HgReplicaLookup */
		bool unmatched;
		bool masked; /* the caller sets the mask of the found rows */
		uint32_t stride;
		uint32_t found_stride;
		const HgFlatGraph *own;
		const HgFlatGraph *found;
		uint64_t own_ordinals; /* ordinals of the rows that look up */
		HgHostMask mask;	   /* of the found rows */
		uint32_t *ordinals;	   /* [ordinals of the side] ordinal of the found row, HG_FOUND_NONE or
								* HG_FOUND_TWO; NULL before the lookup has run */
	} HgHostLookup;

	/* The lookups of a side; zeroed if it has none. */
	typedef struct HgHostLookups
	{
		uint32_t count;
		uint32_t parts; /* parts of the side's rows */
		uint32_t stride;
		uint64_t ordinals; /* parts x stride */
		HgHostLookup lookups[HG_MAX_LOOKUPS];
	} HgHostLookups;

	/*
	 * Notes the lookups of a side's valid spec, without their graphs, and makes their masks.  The
	 * caller frees them, also after a failure.
	 */
	extern HgStatus hg_host_lookups_open(HgHostLookups *lookups, const HgJobSpec *spec, HgSide side,
										 const HgHost *host, HgError *error);

	/*
	 * Runs all lookups; each row must have an ordinal.  Removes rows of the side from its mask
	 * that find nothing but should; the mask must exist if that can happen.  Returns HG_NOT_UNIQUE
	 * if a selected row finds two.
	 */
	extern HgStatus hg_host_lookups_run(HgHostLookups *lookups, HgHostMask *mask,
										const HgHost *host, HgError *error);

	/* Returns the most memory of a side's lookups, beside that of a join. */
	extern uint64_t hg_host_lookups_bytes(const HgJobSpec *spec, HgSide side);

	/* Frees masks and results. */
	extern void hg_host_lookups_free(HgHostLookups *lookups, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_LOOKUP_H */
