/*-------------------------------------------------------------------------
 *
 * hg_projection.c
 *	  Computes the target list of a scan from the batches of a source below it.
 *
 * The source returns the columns that are returned as they are, and those that expressions use.
 * If the consumer's check reads columns of the first kind only, it is applied by the source or,
 * where that does not pay, here.  Expressions are then evaluated by ExecProject(), for the rows
 * that are left and for the needed attributes.
 *
 * So an expression is not evaluated for a row that the check rejects, although PostgreSQL would
 * evaluate it there, and perhaps raise an error.  It is evaluated for the rows of a batch, of which
 * PostgreSQL, below a LIMIT, may project the first ones only.  Target lists with volatile functions
 * or subplans are left to PostgreSQL.
 *
 * Values of expressions live until the next batch.  A batch ends when they take HG_COMPUTED_BYTES;
 * the next one then has the rest of the source's rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "batch/hg_projection.h"

/* Half of a batch's bytes are for values of expressions, half for the source's values. */
#define HG_COMPUTED_BYTES (HG_BATCH_BYTES / 2)

struct HgProjection
{
	ScanState *node;
	bool is_subquery; /* the source reads the plan below, which does not count the node's rows */
	int ncolumns;
	int *plain; /* [ncolumns] the source's column that is returned; -1 for an expression */
	int ninputs;
	int *input_attnos; /* [ninputs] */
	bool *used;		   /* [ninputs] an expression uses the source's column */
	List *exprs;	   /* TargetEntries of the expressions */
	int *computed;	   /* [list_length(exprs)] the expressions' columns */

	HgBatchSource *input;
	HgBatch *rows;		  /* of the source */
	int nleft;			  /* rows that are to be returned */
	uint16 *left;		  /* [nleft] their indexes in rows */
	int next;			  /* index in left of the row to return next */
	HgRowCheck check;	  /* the consumer's check, over columns of the source */
	HgRowOrder order;	  /* the order that the consumer wants, over columns of the source */
	HgBatch *check_batch; /* the check's columns of rows; NULL until there is a check */
	HgRowCheck *consumer; /* the consumer's check */
	TupleTableSlot *slot; /* a row of the source, for the expressions */
	ExprContext *econtext;
	ProjectionInfo *project; /* of the expressions; NULL if there are none */
};

bool
hg_projection_may_skip(List *targetlist)
{
	return !contain_volatile_functions((Node *) targetlist) &&
		   !contain_subplans((Node *) targetlist);
}

/* ---------------------------------------------------------------------
 * Creation
 * ---------------------------------------------------------------------
 */

/* Returns the expression of an attribute of the plan's rows; NULL if it is that of the input. */
static Expr *
hg_projection_expr(const HgProjection *projection, int attno)
{
	const PlanState *plan = &projection->node->ps;

	if (plan->ps_ProjInfo == NULL)
		return NULL;
	return list_nth_node(TargetEntry, plan->plan->targetlist, attno - 1)->expr;
}

/* Returns the input's attribute that an attribute of the plan's rows is, or 0. */
static int
hg_projection_attribute(const HgProjection *projection, int attno)
{
	const Expr *expr = hg_projection_expr(projection, attno);

	if (expr == NULL)
		return attno;
	return IsA(expr, Var) ? ((const Var *) expr)->varattno : 0;
}

/* Adds the attributes that an expression uses; false if it uses other than user columns. */
static bool
hg_projection_collect(const HgProjection *projection, Expr *expr, Bitmapset **attnos)
{
	Bitmapset *offset_attnos = NULL;
	int member = -1;

	pull_varattnos((Node *) expr, ((const Scan *) projection->node->ps.plan)->scanrelid,
				   &offset_attnos);
	while ((member = bms_next_member(offset_attnos, member)) >= 0)
	{
		if (member + FirstLowInvalidHeapAttributeNumber <= 0)
			return false;
		*attnos = bms_add_member(*attnos, member + FirstLowInvalidHeapAttributeNumber);
	}
	bms_free(offset_attnos);
	return true;
}

/* Adds an attribute to those that the input returns; returns its column there. */
static int
hg_projection_add_input(HgProjection *projection, int attno)
{
	projection->input_attnos =
		repalloc(projection->input_attnos, (projection->ninputs + 1) * sizeof(int));
	projection->input_attnos[projection->ninputs] = attno;
	return projection->ninputs++;
}

/* Sets the columns; false if one uses a system column or the whole row. */
static bool
hg_projection_init_columns(HgProjection *projection, int nattnos, const int *attnos)
{
	Bitmapset *plain = NULL; /* attributes that are returned */
	Bitmapset *used = NULL;	 /* attributes that expressions use */
	int attno;

	projection->ncolumns = nattnos;
	projection->plain = palloc(Max(nattnos, 1) * sizeof(int));
	projection->computed = palloc(Max(nattnos, 1) * sizeof(int));
	projection->input_attnos = palloc(sizeof(int));
	for (int c = 0; c < nattnos; c++)
	{
		int n = list_length(projection->exprs);
		Expr *expr = hg_projection_expr(projection, attnos[c]);

		attno = hg_projection_attribute(projection, attnos[c]);
		/* the input returns each attribute once */
		if (attno > 0 && !bms_is_member(attno, plain))
		{
			plain = bms_add_member(plain, attno);
			projection->plain[c] = hg_projection_add_input(projection, attno);
			continue;
		}
		if (!hg_projection_collect(projection, expr, &used))
			return false;
		projection->plain[c] = -1;
		projection->computed[n] = c;
		projection->exprs =
			lappend(projection->exprs, makeTargetEntry(expr, (AttrNumber) (n + 1), NULL, false));
	}
	for (attno = -1; (attno = bms_next_member(used, attno)) >= 0;)
		if (!bms_is_member(attno, plain))
			hg_projection_add_input(projection, attno);
	projection->used = palloc(Max(projection->ninputs, 1) * sizeof(bool));
	for (int i = 0; i < projection->ninputs; i++)
		projection->used[i] = bms_is_member(projection->input_attnos[i], used);
	return true;
}

HgProjection *
hg_projection_create(PlanState *plan, int nattnos, const int *attnos)
{
	HgProjection *projection;

	if (!IsA(plan, SeqScanState) && (!IsA(plan, SubqueryScanState) || plan->qual != NULL))
		return NULL;
	if (plan->ps_ProjInfo != NULL && !hg_projection_may_skip(plan->plan->targetlist))
		return NULL;
	projection = palloc0(sizeof(HgProjection));
	projection->node = (ScanState *) plan;
	projection->is_subquery = IsA(plan, SubqueryScanState);
	return hg_projection_init_columns(projection, nattnos, attnos) ? projection : NULL;
}

int
hg_projection_inputs(const HgProjection *projection, const int **attnos)
{
	*attnos = projection->input_attnos;
	return projection->ninputs;
}

bool
hg_projection_computes(const HgProjection *projection)
{
	return projection->exprs != NIL;
}

/* Sets up the evaluation of expressions. */
static void
hg_projection_init_exprs(HgProjection *projection)
{
	PlanState *plan = &projection->node->ps;
	const TupleTableSlot *scanned = projection->node->ss_ScanTupleSlot;
	TupleDesc desc = scanned->tts_tupleDescriptor;
	TupleTableSlot *result;
	/* the query frees its slots after the node's memory */
	MemoryContext old = MemoryContextSwitchTo(plan->state->es_query_cxt);

	projection->slot = ExecInitExtraTupleSlot(plan->state, desc, scanned->tts_ops);
	result = ExecInitExtraTupleSlot(plan->state, ExecTypeFromTL(projection->exprs), &TTSOpsVirtual);
	MemoryContextSwitchTo(old);
	/* attributes that no expression uses stay NULL */
	memset(projection->slot->tts_values, 0, desc->natts * sizeof(Datum));
	memset(projection->slot->tts_isnull, true, desc->natts * sizeof(bool));
	projection->econtext = CreateExprContext(plan->state);
	projection->econtext->ecxt_scantuple = projection->slot;
	projection->project =
		ExecBuildProjectionInfo(projection->exprs, projection->econtext, result, plan, desc);
}

void
hg_projection_set_input(HgProjection *projection, HgBatchSource *input)
{
	projection->input = input;
	projection->rows = hg_batch_create(projection->ninputs);
	projection->left = palloc(HG_BATCH_ROWS * sizeof(uint16));
	projection->check.columns = palloc(Max(projection->ncolumns, 1) * sizeof(int));
	if (projection->exprs != NIL)
		hg_projection_init_exprs(projection);
}

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

/* HgRowCheck.apply: applies the consumer's check, to the same columns. */
static int
hg_projection_apply_check(HgRowCheck *check, const HgBatch *batch, uint16 *which)
{
	const HgProjection *projection =
		(HgProjection *) ((char *) check - offsetof(HgProjection, check));

	return projection->consumer->apply(projection->consumer, batch, which);
}

/* HgRowCheck.rejects_all: asks the consumer's check, about the same columns. */
static bool
hg_projection_check_bounds(HgRowCheck *check, const HgValueBounds *bounds, uint32 nrows)
{
	const HgProjection *projection =
		(HgProjection *) ((char *) check - offsetof(HgProjection, check));

	return projection->consumer->rejects_all(projection->consumer, bounds, nrows);
}

/* HgRowCheck.apply_arrays: asks the consumer's check, about the same columns. */
static int
hg_projection_check_arrays(HgRowCheck *check, const HgPredicateColumn *columns, uint32 first, int n,
						   bool *holds)
{
	const HgProjection *projection =
		(HgProjection *) ((char *) check - offsetof(HgProjection, check));

	return projection->consumer->apply_arrays(projection->consumer, columns, first, n, holds);
}

/* Returns the consumer's check over columns of the source; NULL if it uses an expression. */
static HgRowCheck *
hg_projection_check(HgProjection *projection, HgRowCheck *consumer)
{
	HgRowCheck *check = &projection->check;

	if (consumer == NULL)
		return NULL;
	projection->consumer = consumer;
	check->apply = consumer->apply != NULL ? hg_projection_apply_check : NULL;
	check->rejects_all = consumer->rejects_all != NULL ? hg_projection_check_bounds : NULL;
	check->apply_arrays = consumer->apply_arrays != NULL ? hg_projection_check_arrays : NULL;
	check->takes_scaled = consumer->takes_scaled;
	check->share = consumer->share;
	check->ncolumns = consumer->ncolumns;
	for (int i = 0; i < consumer->ncolumns; i++)
	{
		check->columns[i] = projection->plain[consumer->columns[i]];
		if (check->columns[i] < 0)
			return NULL;
	}
	return check;
}

/* Returns the order that the consumer wants, by a column of the source; NULL if it has none. */
static HgRowOrder *
hg_projection_order(HgProjection *projection, const HgRowOrder *consumer)
{
	if (consumer == NULL || projection->plain[consumer->column] < 0)
		return NULL;
	projection->order = *consumer;
	projection->order.column = projection->plain[consumer->column];
	return &projection->order;
}

/* Sets the rows that are left by a check, which the source has not applied. */
static void
hg_projection_select(HgProjection *projection, HgRowCheck *check)
{
	const HgBatch *rows = projection->rows;
	HgBatch *batch = projection->check_batch;

	if (batch == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(projection));

		batch = projection->check_batch = hg_batch_create_partial(check->ncolumns, 0, NULL);
		MemoryContextSwitchTo(old);
	}
	batch->nrows = rows->nrows;
	for (int c = 0; c < check->ncolumns; c++)
	{
		batch->values[c] = rows->values[check->columns[c]];
		batch->nulls[c] = rows->nulls[check->columns[c]];
		batch->has_nulls[c] = rows->has_nulls[check->columns[c]];
	}
	projection->nleft = check->apply(check, batch, projection->left);
}

/* Reads the next rows of the source, for a batch of the consumer; false at the end. */
static bool
hg_projection_read(HgProjection *projection, HgBatch *batch, const HgBatchSource *consumer)
{
	HgBatchSource *input = projection->input;
	HgBatch *rows = projection->rows;
	HgRowCheck *check = hg_projection_check(projection, consumer->check);

	projection->next = projection->nleft = 0;
	for (int c = 0; c < projection->ncolumns; c++)
		if (projection->plain[c] >= 0)
			rows->takes_scaled[projection->plain[c]] =
				batch->takes_scaled[c] && !projection->used[projection->plain[c]];
	input->max_rows = consumer->max_rows;
	input->max_bytes = consumer->max_bytes / 2;
	input->check = check;
	input->order = hg_projection_order(projection, consumer->order);
	while (projection->nleft == 0)
	{
		rows->checked = false;
		if (!input->next(input, rows))
			return false;
		if (check != NULL && check->apply != NULL && !rows->checked)
		{
			hg_projection_select(projection, check);
			continue;
		}
		projection->nleft = rows->nrows;
		for (int i = 0; i < rows->nrows; i++)
			projection->left[i] = (uint16) i;
	}
	batch->checked = check != NULL && check->apply != NULL;
	return true;
}

/* Returns a value of an expression in a form that consumers can copy: no expanded object. */
static Datum
hg_projection_flatten(const HgProjection *projection, Datum value)
{
	ExpandedObjectHeader *object;
	Size size;
	void *flat;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
		return value;
	object = DatumGetEOHP(value);
	size = EOH_get_flat_size(object);
	flat = MemoryContextAlloc(projection->econtext->ecxt_per_tuple_memory, size);
	EOH_flatten_into(object, flat, size);
	return PointerGetDatum(flat);
}

/* Takes the values of the expressions into a row of a batch; returns the bytes by reference. */
static Size
hg_projection_take(const HgProjection *projection, const TupleTableSlot *result, HgBatch *batch,
				   int row)
{
	Size bytes = 0;

	for (int i = 0; i < result->tts_tupleDescriptor->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(result->tts_tupleDescriptor, i);
		int column = projection->computed[i];
		Datum value = result->tts_values[i];

		batch->nulls[column][row] = result->tts_isnull[i];
		batch->has_nulls[column] |= result->tts_isnull[i];
		if (!att->attbyval && !result->tts_isnull[i])
		{
			if (att->attlen == -1)
				value = hg_projection_flatten(projection, value);
			bytes += att_addlength_datum((Size) 0, att->attlen, value);
		}
		batch->values[column][row] = value;
	}
	return bytes;
}

/* Evaluates the expressions for the source's next rows.  Returns the number of rows. */
static int
hg_projection_compute(HgProjection *projection, HgBatch *batch)
{
	const HgBatch *rows = projection->rows;
	TupleTableSlot *slot = projection->slot;
	ExprContext *econtext = projection->econtext;
	Size bytes = 0;
	int row = 0;

	ResetExprContext(econtext);
	ExecStoreVirtualTuple(slot);
	while (projection->next + row < projection->nleft && bytes < HG_COMPUTED_BYTES &&
		   MemoryContextMemAllocated(econtext->ecxt_per_tuple_memory, true) < HG_BATCH_BYTES)
	{
		int from = projection->left[projection->next + row];

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < projection->ninputs; i++)
		{
			int a = projection->input_attnos[i] - 1;

			if (!projection->used[i])
				continue;
			slot->tts_values[a] = rows->values[i][from];
			slot->tts_isnull[a] = hg_batch_is_null(rows, i, from);
		}
		bytes += hg_projection_take(projection, ExecProject(projection->project), batch, row);
		row++;
	}
	/* the slot's values point into the source's batch */
	ExecClearTuple(slot);
	return row;
}

/* Copies the columns that are returned as they are, of the source's next rows. */
static void
hg_projection_copy(const HgProjection *projection, HgBatch *batch, int nrows)
{
	const HgBatch *rows = projection->rows;
	const uint16 *left = projection->left + projection->next;

	for (int c = 0; c < projection->ncolumns; c++)
	{
		int from = projection->plain[c];

		if (from < 0)
			continue;
		for (int i = 0; i < nrows; i++)
			batch->values[c][i] = rows->values[from][left[i]];
		batch->scales[c] = rows->scales[from];
		batch->has_nulls[c] = rows->has_nulls[from];
		for (int i = 0; rows->has_nulls[from] && i < nrows; i++)
			batch->nulls[c][i] = rows->nulls[from][left[i]];
	}
}

bool
hg_projection_fill(HgProjection *projection, HgBatch *batch, const HgBatchSource *consumer)
{
	NodeInstrumentation *instrument = projection->node->ps.instrument;
	bool is_subquery = projection->is_subquery;
	int nrows = 0;

	/* the source counts the rows and the time of a sequential scan, without the expressions */
	if (instrument != NULL && is_subquery)
		InstrStartNode(instrument);
	if (projection->next < projection->nleft || hg_projection_read(projection, batch, consumer))
	{
		if (instrument != NULL && !is_subquery)
			InstrStartNode(instrument);
		nrows = projection->nleft - projection->next;
		if (projection->project != NULL)
			nrows = hg_projection_compute(projection, batch);
		hg_projection_copy(projection, batch, nrows);
		projection->next += nrows;
		if (instrument != NULL && !is_subquery)
			InstrStopNode(instrument, 0);
	}
	if (instrument != NULL && is_subquery)
		InstrStopNode(instrument, nrows);
	batch->nrows = nrows;
	return nrows > 0;
}

void
hg_projection_restart(HgProjection *projection)
{
	projection->next = projection->nleft = 0;
	projection->input->restart(projection->input);
}
