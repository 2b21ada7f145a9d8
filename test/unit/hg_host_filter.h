/*-------------------------------------------------------------------------
 *
 * hg_host_filter.h
 *	  Filters of kept graphs' rows, in host memory, by the plainest means.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_FILTER_H
#define HG_HOST_FILTER_H

#include "../../src/engine/hg_row_filter.h"
#include "hg_host_column.h"
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
	 * Have rows not count that the filter of a lookup, as HgRowFilter has it, does not let through;
	 * where there is none nothing is done.  Else there is a mask.
	 */
	extern HgStatus hg_host_filter_apply(const HgHostFilters *filters, uint32_t lookup,
										 HgHostMask *mask, const HgHost *host, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_FILTER_H */
