/*-------------------------------------------------------------------------
 *
 * hg_input_graph.c
 *	  The keys of an input, and cached HashGraphs that have them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_graph_key.h"
#include "batch/hg_input_graph.h"

void
hg_input_begin_graph(HgInput *input)
{
	const HgKeyEncoder *encoder = input->keys.encoder;
	HgSourceKey *key;

	if (input->child->cover == NULL || input->keys.exprs != NULL ||
		encoder->nparts > HG_GRAPH_COLUMNS)
		return;
	key = palloc0(sizeof(HgSourceKey));
	if (!hg_graph_parts(encoder, input->side, key->parts))
	{
		pfree(key);
		return;
	}
	key->ncolumns = encoder->nparts;
	memcpy(key->columns, input->keys.columns, encoder->nparts * sizeof(int));
	input->child->key = key;
}

bool
hg_input_has_graph_key(const HgInput *input)
{
	return input->child->key != NULL;
}

HgPinnedGraph *
hg_input_pin_graph(const HgInput *input, int ncolumns, const int *columns, AttrNumber *numbers)
{
	if (!hg_input_has_graph_key(input))
		return NULL;
	return input->child->pin_graph(input->child, ncolumns, columns, numbers);
}

bool
hg_input_graph_order(const HgInput *input, int n, int *order)
{
	return input->child->key != NULL && input->child->graph_order(input->child, n, order);
}

/* Reorders an array: item order[i] becomes item i. */
static void
hg_input_order_items(void *items, Size size, int n, const int *order)
{
	char *before;

	if (items == NULL)
		return;
	before = palloc(n * size);
	memcpy(before, items, n * size);
	for (int i = 0; i < n; i++)
		memcpy((char *) items + i * size, before + order[i] * size, size);
	pfree(before);
}

void
hg_input_order_keys(HgInput *input, const int *order)
{
	HgInputKeys *keys = &input->keys;
	int n = keys->encoder->nparts;

	hg_input_order_items(input->check_columns, sizeof(int), n, order);
	/* values of expressions are in the order of the parts */
	if (keys->exprs == NULL)
		hg_input_order_items(keys->columns, sizeof(int), n, order);
	hg_input_order_items(keys->exprs, sizeof(ExprState *), n, order);
	hg_input_order_items(keys->copies, sizeof(int16), n, order);
	input->child->key = NULL;
	hg_input_begin_graph(input);
}
