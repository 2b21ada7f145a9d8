/*-------------------------------------------------------------------------
 *
 * hg_join_kept_slices.h
 *	  Where two graphs that are joined are, if one of them at least is cut over several devices.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_KEPT_SLICES_H
#define HG_JOIN_KEPT_SLICES_H

#include "backend/matcher/hg_matcher_spec.h"
#include "resident/hg_resident_graph.h"

/* The devices that keep the graph of a side, and those that keep all slices of it together. */
typedef struct HgSidePlaces
{
	HgPlaces whole;
	HgPlaces sliced;
} HgSidePlaces;

/*
 * Find out which devices have slices of the sides' graphs, by HgSide, where those that have all of
 * them are known.  The places of devices that keep one side in slices and the other one in slices,
 * too, or all of it; 0: there are none.
 */
extern HgPlaces hg_kept_find_slices(HgPinnedGraph *const graphs[2], HgKeptCovered kept[2],
									HgSidePlaces at[2]);

/*
 * No device has all that is asked for: tell whoever gives them what they keep how much it is, of
 * which so many bytes are columns.
 */
extern void hg_kept_tell_needs(HgPinnedGraph *const graphs[2], uint64 columns);

/*
 * The graphs of both sides are kept, by different devices: have the smaller brought to the larger,
 * or that which is not cut to the one that is.
 */
extern void hg_kept_bring_together(HgPinnedGraph *const graphs[2], const HgSidePlaces at[2]);

#endif /* HG_JOIN_KEPT_SLICES_H */
