/*-------------------------------------------------------------------------
 *
 * hg_input_graph.h
 *	  The keys of an input, and cached HashGraphs that have them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_GRAPH_H
#define HG_INPUT_GRAPH_H

#include "batch/hg_input.h"

/* Sets the child's key, if a graph of columns can have it. */
extern void hg_input_begin_graph(HgInput *input);

/* Returns true if a graph can have the child's key. */
extern bool hg_input_has_graph_key(const HgInput *input);

/*
 * Pins the graph whose rows may be covered, in CurrentMemoryContext.  Sets numbers[ncolumns] to
 * the table's attribute numbers of the child's columns.  Returns NULL if there is no graph.
 */
extern HgPinnedGraph *hg_input_pin_graph(const HgInput *input, int ncolumns, const int *columns,
										 AttrNumber *numbers);

/*
 * Finds the n-th graph, from 0, that has all parts of the input's key.  Part i of its key is part
 * order[i] of the input's.  Returns false if there is no n-th graph.
 */
extern bool hg_input_graph_order(const HgInput *input, int n, int *order);

/*
 * Reorders the keys, before any row is read: part order[i] becomes part i.  The encoder, which
 * both inputs share, must already have the new order.
 */
extern void hg_input_order_keys(HgInput *input, const int *order);

#endif /* HG_INPUT_GRAPH_H */
