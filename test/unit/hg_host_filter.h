/*-------------------------------------------------------------------------
 *
 * hg_host_filter.h
 *	  Filters of graph replicas' rows, in host memory, by the plainest means.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_FILTER_H
#define HG_HOST_FILTER_H

#include "../../src/engine/hg_row_filter.h"
#include "hg_host_column.h"
#include "hg_host_lookup.h"
#include "hg_host_mask.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Those of a side; all zero where it has none. */
	typedef struct HgHostFilters
	{
		HgRowFilters filters;
		const HgHostColumn *columns[HG_MAX_FILTER_COLUMNS]; /* [filters.ncolumns] */
	} HgHostFilters;

	/*
	 * Have rows of a side, and of what it looks up, not count that its filters do not let through:
	 * there is a mask of those that have one.
	 */
	extern HgStatus hg_host_filters_apply(const HgHostFilters *filters, HgHostMask *mask,
										  HgHostLookups *lookups, const HgHost *host,
										  HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_FILTER_H */
