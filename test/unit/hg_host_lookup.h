/*-------------------------------------------------------------------------
 *
 * hg_host_lookup.h
 *	  What rows of a side look up in graph replicas, in host memory, by the plainest means.
 *
 * A lookup is the join of its two graphs.  Each pair of that says what a row that looks up finds,
 * by ordinals; those of rows that were found before become those of the side's.
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

	typedef struct HgHostLookup
	{
		uint32_t from; /* as of HgReplicaLookup */
		bool unmatched;
		bool masked; /* it is for the caller to give */
		uint32_t stride;
		uint32_t found_stride;
		const HgFlatGraph *own;
		const HgFlatGraph *found;
		uint64_t own_ordinals; /* of the rows that look up */
		HgHostMask mask;	   /* of what is found */
		uint32_t *ordinals;	   /* [ordinals] by those of the side: the ordinal of what was found, or
								* HG_FOUND_NONE, HG_FOUND_TWO; NULL before it is done */
	} HgHostLookup;

	/* Those of a side; all zero where it has none. */
	typedef struct HgHostLookups
	{
		uint32_t count;
		uint32_t parts; /* of the side */
		uint32_t stride;
		uint64_t ordinals; /* parts x stride */
		HgHostLookup lookups[HG_MAX_LOOKUPS];
	} HgHostLookups;

	/*
	 * Note a side's lookups, which can be, but for their graphs, and have masks.  What there is of
	 * it after a failure is to be freed.
	 */
	extern HgStatus hg_host_lookups_open(HgHostLookups *lookups, const HgJobSpec *spec, HgSide side,
										 const HgHost *host, HgError *error);

	/*
	 * Do them all, each of whose rows has an ordinal: rows of the side that do not count any more
	 * are out of its mask then, which is there where any can be.
	 */
	extern HgStatus hg_host_lookups_run(HgHostLookups *lookups, HgHostMask *mask,
										const HgHost *host, HgError *error);

	/* The memory that they take at most, beside that of a join. */
	extern uint64_t hg_host_lookups_bytes(const HgJobSpec *spec, HgSide side);

	extern void hg_host_lookups_free(HgHostLookups *lookups, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_LOOKUP_H */
