/*-------------------------------------------------------------------------
 *
 * hg_predicate_filter.h
 *	  Compiles predicates into filters of a device (engine/hg_row_filter.h), which has replicas of
 *	  the columns.
 *
 * Each column that the predicate reads must have a replica beside that of a graph of the rows.  A
 * replica has integers, scaled integers, or codes of values; values of codes are tested here, one
 * by one.  Columns without a replica are reported as demand, all at once.
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
 * Adds a filter of a lookup's rows to filters, which are zeroed or already have the filters of
 * earlier lookups.  It lets those rows of a pinned graph through that are in all of
 * predicates[npredicates], which are bound.  Narrows *device_set to the devices that have all
 * columns.  Returns false, and leaves filters and *device_set as they were, if no device has them
 * or a predicate cannot be a filter.
 */
extern bool hg_predicate_filter_add(HgRowFilters *filters, uint32 lookup,
									const HgPinnedGraph *graph, int npredicates,
									HgPredicate **predicates, HgDeviceSet *device_set);

#endif /* HG_PREDICATE_FILTER_H */
