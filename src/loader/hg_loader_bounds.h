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
 * Sets the bounds of a column of so many rows.  If the values are not compared as integers, and
 * are no scaled integers, it is known whether all are NULL, and no more.
 */
extern HgSegmentBounds hg_bounds_create(const HgSegmentColumnData *column, uint32 nrows);

#endif /* HG_LOADER_BOUNDS_H */
