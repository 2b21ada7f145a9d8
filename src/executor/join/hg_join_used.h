/*-------------------------------------------------------------------------
 *
 * hg_join_used.h
 *	  Columns and parameters that a node's expressions use.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_USED_H
#define HG_JOIN_USED_H

#include "nodes/bitmapset.h"
#include "nodes/nodes.h"

/* What expressions use.  Zeros: nothing. */
typedef struct HgUsed
{
	Bitmapset *column_indexes; /* columns of the node's scan slot, from 0 */
	Bitmapset *params;		   /* PARAM_EXEC numbers */
} HgUsed;

/* Adds what an expression, or a list of them, uses.  What subplans use inside is not found. */
extern void hg_used_add(HgUsed *used, Node *expression);

#endif /* HG_JOIN_USED_H */
