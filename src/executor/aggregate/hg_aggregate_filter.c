/*-------------------------------------------------------------------------
 *
 * hg_aggregate_filter.c
 *	  FILTER and HAVING clauses that are evaluated column by column over a batch.
 *
 * A filter is a predicate (hg_predicate.h) over the batch's own arrays.  Permission to call its
 * functions was checked when the expression for rechecks was initialized.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_predicate.h"
#include "executor/aggregate/hg_aggregate_filter.h"

struct HgColumnFilter
{
	HgPredicate *predicate;
	int *columns;  /* [view->ncolumns] columns of the batch */
	HgBatch *view; /* the batch's arrays of these columns */
};

HgColumnFilter *
hg_column_filter_create(const Expr *filter, TupleDesc desc, int ncolumns, const int *attnos)
{
	HgPredicate *predicate =
		hg_predicate_from_clause(unconstify(Node *, (const Node *) filter), true);
	AttrNumber *used = palloc(Max(desc->natts, 1) * sizeof(AttrNumber));
	HgColumnFilter *columns;
	int nused = 0;

	if (predicate == NULL)
		return NULL;
	hg_predicate_bind(predicate, desc, used, &nused);
	columns = palloc(sizeof(HgColumnFilter));
	columns->predicate = predicate;
	columns->columns = palloc0(Max(nused, 1) * sizeof(int));
	columns->view = hg_batch_create_partial(nused, 0, NULL);
	for (int i = 0; i < nused; i++)
		while (attnos[columns->columns[i]] != used[i])
		{
			columns->columns[i]++;
			Assert(columns->columns[i] < ncolumns);
		}
	pfree(used);
	return columns;
}

void
hg_column_filter_take_scaled(const HgColumnFilter *filter, bool *takes_scaled)
{
	for (int i = 0; i < filter->view->ncolumns; i++)
		takes_scaled[filter->columns[i]] = true;
}

void
hg_column_filter_apply(HgColumnFilter *filter, const HgBatch *batch, bool *passes, bool *recheck)
{
	HgBatch *view = filter->view;

	view->nrows = batch->nrows;
	for (int i = 0; i < view->ncolumns; i++)
	{
		int column = filter->columns[i];

		view->values[i] = batch->values[column];
		view->nulls[i] = batch->nulls[column];
		view->has_nulls[i] = batch->has_nulls[column];
		view->scales[i] = batch->scales[column];
	}
	memset(recheck, false, batch->nrows * sizeof(bool));
	(void) hg_predicate_apply(filter->predicate, view, passes, recheck);
}
