/*-------------------------------------------------------------------------
 *
 * hg_replica_side.h
 *	  Sides of jobs that are graph replicas: strides of ordinals, masks, and checks.
 *
 * These functions look at all that a job says of a side: its columns, lookups and filters
 * (hg_replica.h, hg_row_filter.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_REPLICA_SIDE_H
#define HG_REPLICA_SIDE_H

#include "hg_replica.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Returns the stride of the ordinals of a side's own rows; 0 if the job uses no ordinals. */
	extern uint32_t hg_replica_side_stride(const HgJobSpec *spec, HgSide side);

	/*
	 * Returns true if the job has a mask, given or made by a filter, of the rows of a side (lookup
	 * 0) or of the rows that lookup - 1 looks up.
	 */
	extern bool hg_replica_is_masked(const HgJobSpec *spec, HgSide side, uint32_t lookup);

	/* Returns true if a row of the side that finds nothing in some lookup does not count. */
	static inline bool
	hg_replica_lookups_drop(const HgJobSpec *spec, HgSide side)
	{
		const HgReplicaSource *replica = hg_side_replica(spec, side);

		for (uint32_t i = 0; i < replica->nlookups; i++)
			if (replica->lookups[i].unmatched == 0)
				return true;
		return false;
	}

	/*
	 * Checks that a graph replica can be a side, with its columns and lookups.  Returns HG_OK, or
	 * HG_INVALID with an explanation.
	 */
	extern HgStatus hg_replica_side_check(const HgJobSpec *spec, HgSide side, HgError *error);

	/*
	 * Checks that each row of a side that is a graph replica has an ordinal in its columns and
	 * lookups. numbers is the upper bound, exclusive, of its rows' numbers in their parts.  The
	 * spec has passed hg_spec_check.  Returns HG_OK or HG_INVALID.
	 */
	extern HgStatus hg_replica_ordinals_check(const HgJobSpec *spec, HgSide side, uint32_t numbers,
											  HgError *error);

	/* The same for the rows of both graphs of a lookup. */
	extern HgStatus hg_replica_lookup_ordinals_check(const HgReplicaLookup *lookup,
													 uint32_t own_numbers, uint32_t found_numbers,
													 HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_REPLICA_SIDE_H */
