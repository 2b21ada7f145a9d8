/*-------------------------------------------------------------------------
 *
 * hg_input_graph.h
 *	  The keys of an input, and resident HashGraphs that have such.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_GRAPH_H
#define HG_INPUT_GRAPH_H

#include "batch/hg_input.h"

/* Tell the child of the keys, where a graph of columns can have them. */
extern void hg_input_begin_graph(HgInput *input);

/* Has the child a graph of the keys, as things stand? */
extern bool hg_input_has_graph_key(const HgInput *input);

/*
 * Pins the graph whose rows may be covered, in CurrentMemoryContext, and sets the numbers that the
 * table has for some of the child's columns.  NULL: there is none.
 */
extern HgPinnedGraph *hg_input_pin_graph(const HgInput *input, int ncolumns, const int *columns,
										 AttrNumber *numbers);

/*
 * The order of the parts of a key that the n-th graph has which has all of them, from 0: part i of
 * its key is part order[i] of the input's.  False: there are fewer.
 */
extern bool hg_input_graph_order(const HgInput *input, int n, int *order);

/*
 * Have part order[i] of the keys be part i from now on: nothing has been read.  The encoder, which
 * both inputs share, has its parts in the new order already.
 */
extern void hg_input_order_keys(HgInput *input, const int *order);

#endif /* HG_INPUT_GRAPH_H */
