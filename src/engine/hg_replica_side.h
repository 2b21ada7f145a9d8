/*-------------------------------------------------------------------------
 *
 * hg_replica_side.h
 *	  Sides of jobs that are graph replicas: ordinals of their rows, and which of these count.
 *
 * What is asked here depends on all that a job says of a side: its columns, what it looks up, and
 * its filters (hg_replica.h, hg_row_filter.h).
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

	/* The stride of the ordinals of a side's own rows; 0 where nothing asks for ordinals. */
	extern uint32_t hg_replica_side_stride(const HgJobSpec *spec, HgSide side);

	/*
	 * Has a job a mask of the rows of a side, or of those that a lookup of its looks up, which is
	 * given or made by a filter?  lookup is as mask has it.
	 */
	extern bool hg_replica_is_masked(const HgJobSpec *spec, HgSide side, uint32_t lookup);

	/* Are there rows of a side that do not count where they find nothing? */
	static inline bool
	hg_replica_lookups_drop(const HgJobSpec *spec, HgSide side)
	{
		for (uint32_t i = 0; i < spec->nlookups[side]; i++)
			if (spec->lookups[side][i].unmatched == 0)
				return true;
		return false;
	}

	/*
	 * Checks that a graph replica can be a side, with its columns and lookups.  HG_OK, or
	 * HG_INVALID with an explanation.
	 */
	extern HgStatus hg_replica_side_check(const HgJobSpec *spec, HgSide side, HgError *error);

	/*
	 * Of a spec that can be, and a side that is a graph replica: has each row an ordinal in the
	 * columns that the job has of it, and where it looks rows up?  The rows' numbers in their parts
	 * are below numbers.  HG_OK, or HG_INVALID with an explanation.
	 */
	extern HgStatus hg_replica_ordinals_check(const HgJobSpec *spec, HgSide side, uint32_t numbers,
											  HgError *error);

	/* The same of the rows of both graphs of a lookup. */
	extern HgStatus hg_replica_lookup_ordinals_check(const HgReplicaLookup *lookup,
													 uint32_t own_numbers, uint32_t found_numbers,
													 HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_REPLICA_SIDE_H */
