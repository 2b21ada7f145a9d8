/*-------------------------------------------------------------------------
 *
 * hg_host_filter.h
 *	  Filters on the rows of graph replicas, in host memory, by the simplest means.
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

	/* The filters of a side; zeroed if it has none. */
	typedef struct HgHostFilters
	{
		HgRowFilters filters;
		const HgHostColumn *columns[HG_MAX_FILTER_COLUMNS]; /* [filters.ncolumns] */
	} HgHostFilters;

	/*
	 * Removes rows from the mask of a side, and from those of its lookups, that its filters do not
	 * let through.  A mask must exist for each that has a filter.  Returns HG_OVERFLOW if a
	 * computed number does not fit.
	 */
	extern HgStatus hg_host_filters_apply(const HgHostFilters *filters, HgHostMask *mask,
										  HgHostLookups *lookups, const HgHost *host,
										  HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_FILTER_H */
