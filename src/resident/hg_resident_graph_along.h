/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_along.h
 *	  Graph versions that are cut along with another one of their table.
 *
 * Where rows of a graph that is cut over several devices look others up by another key, the graph
 * by that key is cut ALONG with it (engine/hg_slices.h): each device has those of its rows that it
 * has of the graph that is cut, under the same numbers.  Joins ask for that by the column which the
 * graph is by that is cut; and it is found out anew where that has another version, or is cut
 * otherwise.
 *
 * It may be cut by its own keys as well, and be whole somewhere.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_GRAPH_ALONG_H
#define HG_RESIDENT_GRAPH_ALONG_H

#include "hg_compat.h"

#include "engine/hg_slices.h"
#include "resident/hg_resident_graph_version.h"

/* Ask for a graph to be cut along with that of its table by this column. */
extern void hg_graph_along_ask(HgResidentGraph *graph, AttrNumber column);

/* The columns of those that it is asked to be cut along with, numbers[HG_GRAPH_ALONGS]. */
extern int hg_graph_along_asked(HgResidentGraph *graph, AttrNumber *numbers);

/* How it is cut along with a version that is cut over these devices; NULL: it is not. */
extern HgGraphAlong *hg_graph_along_find(HgResidentGraph *graph, const HgResidentGraph *with,
										 HgDeviceSet device_set);

/*
 * Note how it is, with so many rows in each slice; what devices have of it as it was cut along with
 * an older version is let go of.  NULL: there is no room.
 */
extern HgGraphAlong *hg_graph_along_add(HgResidentGraph *graph, const HgResidentGraph *with,
										const HgGraphSlices *cut, const uint64 *rows);

/* Have all devices their slices, as far as is known here?  And of one of the ways it is cut? */
extern bool hg_graph_along_is_replicated(HgGraphAlong *along, const HgReplicaHolders *holders);
extern bool hg_graph_is_replicated_along(HgResidentGraph *graph, const HgReplicaHolders *holders);

/*
 * Is it to be found out how it is cut along with the newest version by a key that it is asked for,
 * or is a slice to be given to a device?
 */
extern bool hg_graph_along_is_due(HgResidentGraph *graph, HgResidentGraph *with,
								  const HgReplicaHolders *holders);

/* A version that is cut, as it is to be, over places whose devices are known; NULL: it is not. */
extern HgGraphSlices *hg_graph_along_slices(HgResidentGraph *with, const HgReplicaHolders *holders);

#endif /* HG_RESIDENT_GRAPH_ALONG_H */
