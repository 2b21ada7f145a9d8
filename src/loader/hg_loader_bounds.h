/*-------------------------------------------------------------------------
 *
 * hg_loader_bounds.h
 *	  Computes the least and the greatest value of a segment's column.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_BOUNDS_H
#define HG_LOADER_BOUNDS_H

#include "resident/hg_resident_version.h"

/*
 * Returns the bounds of a column of nrows rows.  Values that neither compare as integers nor are
 * scaled integers have no bounds: the result only says whether all are NULL.
 */
extern HgSegmentBounds hg_bounds_create(const HgSegmentColumnData *column, uint32 nrows);

#endif /* HG_LOADER_BOUNDS_H */
