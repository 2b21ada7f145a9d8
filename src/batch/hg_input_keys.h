/*-------------------------------------------------------------------------
 *
 * hg_input_keys.h
 *	  The keys of the rows that an input reads from its child, as words.
 *
 * hg_child_rows.c initializes them once, and encodes the keys of each batch that it reads.
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
	HgBatch *rows;		   /* the child's rows */
	/* [rows->ncolumns] attributes of the child's rows, from 0. */
	const int *attnos;
	/* rows itself; or, with exprs, the columns of rows and then each key's value */
	HgBatch *values;
	int *columns;	   /* [nparts] the keys' columns in values */
	ExprState **exprs; /* [nparts], or NULL if all keys are columns of the child */
	bool *toastable;   /* [nparts] values are detoasted, and compressed if long */
	/* [nparts] typlen of values to copy, because a subplan's next value frees them; or 0 */
	int16 *copies;
	TupleTableSlot *slot;	 /* the child's row, for the expressions */
	ExprContext *econtext;	 /* of the expressions */
	MemoryContext temporary; /* of the hash functions */
} HgInputKeys;

/*
 * Initializes the keys of the rows of plan, which come in the batch rows.  Its column i is
 * attribute attnos[i], from 0, of the plan's rows; every attribute that a key needs must be there.
 * exprs, one for each part of the encoder, refer to the plan's columns as OUTER_VAR or INNER_VAR,
 * by side; parent owns them.  Neither rows nor attnos are copied.
 */
extern void hg_input_keys_init(HgInputKeys *keys, HgSide side, PlanState *plan, PlanState *parent,
							   HgKeyEncoder *encoder, List *exprs, HgBatch *rows,
							   const int *attnos);

/* Returns true if a key's expression is a column of the child, perhaps with another type name. */
extern bool hg_input_keys_is_column(const Expr *expr);

/*
 * Encodes the keys of the batch's rows from first on, into encoded, by row.  Sets *end to the row
 * behind the last encoded one; if the values of expressions take much memory, rows may be left.
 * keys->values is valid until the next call.  Returns the number of rows with a key.
 */
extern int hg_input_keys_encode(HgInputKeys *keys, int first, int *end, HgSpillKeys *encoded);

/* A column that an input stores with its rows. */
typedef struct HgInputColumn
{
	int attno; /* of the child's rows, from 1; 0 for the value of a key */
	int part;  /* if attno is 0: the key's number */
	int to;	   /* column of the join's scan slot, from 0 */
} HgInputColumn;

/* Rows that were read.  Column i of a row is column at[i] of the batch. */
typedef struct HgInputRows
{
	const HgBatch *batch;
	const int *at;
	int nkeys;			 /* rows with a key */
	const uint16 *which; /* [nkeys] the rows with a key; NULL for the first nkeys */
	int nnull;			 /* rows with a NULL key, if the join returns them */
	uint16 key_rows[HG_BATCH_ROWS];
	uint16 null_rows[HG_BATCH_ROWS];
} HgInputRows;

/* Sets which, key_rows and null_rows: the rows first .. end - 1 of a batch, by null_keys. */
extern void hg_input_rows_sort(HgInputRows *rows, const bool *null_keys, int first, int end);

#endif /* HG_INPUT_KEYS_H */
