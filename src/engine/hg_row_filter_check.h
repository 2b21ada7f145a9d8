/*-------------------------------------------------------------------------
 *
 * hg_row_filter_check.h
 *	  Filters of graph replicas' rows: what all engines check of them.
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
	 * Can a side that is a graph replica have its filters, which may be NULL? HG_OK, or HG_INVALID
	 * with an explanation.  What its lookups are was checked.
	 */
	extern HgStatus hg_row_filters_check(const HgJobSpec *spec, HgSide side, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_ROW_FILTER_CHECK_H */
