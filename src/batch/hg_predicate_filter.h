/*-------------------------------------------------------------------------
 *
 * hg_predicate_filter.h
 *	  Predicates as filters of a device (engine/hg_row_filter.h), which has replicas of the columns.
 *
 * A predicate is one where each column that it looks at has a replica beside that of a graph of the
 * rows: as integers that are compared as such, as scaled integers of numerics, or as codes of
 * values, which are decided about here, one by one.  Columns of which devices have no replica are
 * asked for, all at once.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PREDICATE_FILTER_H
#define HG_PREDICATE_FILTER_H

#include "batch/hg_predicate.h"
#include "engine/hg_row_filter.h"
#include "resident/hg_resident_graph.h"

/*
 * Have filters, which are all zero or were made by this for lookups before, let those rows of a
 * lookup through (HgRowFilter) that are in all of some predicates, bound to a batch: rows that a
 * pinned graph has. *device_set become those of them whose devices have all that this takes.  False
 * where there is none, or a predicate is no filter: filters are as before then.
 */
extern bool hg_predicate_filter_add(HgRowFilters *filters, uint32 lookup,
									const HgPinnedGraph *graph, int npredicates,
									HgPredicate **predicates, HgDeviceSet *device_set);

#endif /* HG_PREDICATE_FILTER_H */
