/*-------------------------------------------------------------------------
 *
 * hg_input_keys.h
 *	  The keys of the rows that an input reads from its child, as words.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_KEYS_H
#define HG_INPUT_KEYS_H

#include "nodes/execnodes.h"

#include "batch/hg_batch.h"
#include "batch/hg_key.h"
#include "batch/hg_spill.h"

typedef struct HgInputKeys
{
	HgSide side;
	HgKeyEncoder *encoder; /* shared by both sides */
	HgBatch *rows;		   /* the child's */
	const int *attnos;	   /* [rows->ncolumns] places of its columns in the child's rows, from 0 */
	HgBatch *values;	   /* where the keys' values are: rows; or the columns of rows, and behind
							* them the value of each key */
	int *columns;		   /* [nparts] their columns there */
	ExprState **exprs;	   /* [nparts], or NULL where all keys are columns of the child */
	bool *toastable;	   /* [nparts] values are detoasted, and compressed if they are long */
	int16 *copies;		   /* [nparts] typlen of values to copy: a subplan's next ends them; or 0 */
	TupleTableSlot *slot;  /* the child's row that they are evaluated over */
	ExprContext *econtext; /* of the expressions */
	MemoryContext temporary; /* of the hash functions */
} HgInputKeys;

/*
 * Have keys be told for the rows that a batch of the child plan's has: its column i is attribute
 * attnos[i] of these, from 0, and every one that a key needs is there.  exprs[encoder->nparts]
 * refer to the child's columns as OUTER_VAR or INNER_VAR, by side; parent owns them.
 */
extern void hg_input_keys_init(HgInputKeys *keys, HgSide side, PlanState *plan, PlanState *parent,
							   HgKeyEncoder *encoder, List *exprs, HgBatch *rows,
							   const int *attnos);

/* True if the expression of a key is a column of the child, whatever its type is called. */
extern bool hg_input_keys_is_column(const Expr *expr);

/*
 * Encode the keys of the rows that are in the batch, from row first on, and return how many are not
 * NULL.  *end becomes the row behind the last one that was encoded: values of expressions are
 * bounded by bytes.  They stay where they are until the next call.
 */
extern int hg_input_keys_encode(HgInputKeys *keys, int first, int *end, HgSpillKeys *encoded);

#endif /* HG_INPUT_KEYS_H */
