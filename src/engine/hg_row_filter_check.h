/*-------------------------------------------------------------------------
 *
 * hg_row_filter_check.h
 *	  Checks of filters of graph replicas' rows, common to all engines.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ROW_FILTER_CHECK_H
#define HG_ROW_FILTER_CHECK_H

#include "hg_engine.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/*
	 * Checks the filters, which may be NULL, of a side that is a graph replica, whose lookups have
	 * been checked.  Returns HG_OK, or HG_INVALID with an explanation.
	 */
	extern HgStatus hg_row_filters_check(const HgJobSpec *spec, HgSide side, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_ROW_FILTER_CHECK_H */
