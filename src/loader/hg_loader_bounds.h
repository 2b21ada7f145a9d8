/*-------------------------------------------------------------------------
 *
 * hg_loader_bounds.h
 *	  The least and the greatest value of a column of a segment.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_BOUNDS_H
#define HG_LOADER_BOUNDS_H

#include "resident/hg_resident_version.h"

/*
 * The bounds of values[nrows], of the column's width; valid[nrows] is NULL where no value is.  Of
 * types that are not compared as integers it is known whether all are NULL, and no more.
 */
extern HgSegmentBounds hg_bounds_create(const HgResidentColumn *column, const char *values,
										const uint64 *valid, uint32 nrows);

#endif /* HG_LOADER_BOUNDS_H */
