/*-------------------------------------------------------------------------
 *
 * hg_join_used.h
 *	  What the expressions of a node of ours use.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_USED_H
#define HG_JOIN_USED_H

#include "nodes/bitmapset.h"
#include "nodes/nodes.h"

/* Zeros: nothing. */
typedef struct HgUsed
{
	Bitmapset *column_indexes; /* columns of the node's scan slot, from 0 */
	Bitmapset *params;		   /* PARAM_EXECs */
} HgUsed;

/* Add what an expression, or a list of them, uses; what is inside its subplans does not show. */
extern void hg_used_add(HgUsed *used, Node *expression);

#endif /* HG_JOIN_USED_H */
