/*-------------------------------------------------------------------------
 *
 * hg_join_lookup.c
 *	  A join that looks inner rows up in an index while there are few outer ones.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"

#include "executor/join/hg_join.h"
#include "executor/join/hg_join_feed.h"
#include "executor/join/hg_join_source.h"
#include "executor/join/hg_join_state.h"

void
hg_join_lookup_init(HgJoinState *state)
{
	HgJoinLookup *lookup = &state->lookup;
	const HgJoinOutput *output = &state->output;
	const CustomScan *cscan = (const CustomScan *) state->css.ss.ps.plan;
	const List *columns = list_nth(cscan->custom_private, HG_PRIVATE_LOOKUP_COLUMNS);
	int *attnos;
	int ncolumns = 0;

	if (list_length(state->css.custom_ps) <= HG_INNER + 1)
		return;
	lookup->loop = list_nth(state->css.custom_ps, HG_INNER + 1);
	lookup->most_rows = intVal(list_nth(cscan->custom_private, HG_PRIVATE_LOOKUP_ROWS));
	hg_join_feed_set(outerPlanState(lookup->loop), state->inputs[HG_OUTER]);
	attnos = palloc(Max(output->ncolumns, 1) * sizeof(int));
	lookup->places = palloc(Max(output->ncolumns, 1) * sizeof(int));
	for (int i = 0; i < output->ncolumns; i++)
	{
		int attno = list_nth_int(columns, output->columns[i]);

		/* what only clauses of the join need is not returned */
		if (attno == 0)
			continue;
		attnos[ncolumns] = attno;
		lookup->places[ncolumns++] = output->columns[i];
	}
	lookup->source = hg_join_source_create(lookup->loop, ncolumns, attnos);
	lookup->batch = hg_batch_create(ncolumns);
}

bool
hg_join_choose_lookup(HgJoinState *state)
{
	HgJoinLookup *lookup = &state->lookup;
	const HgInput *outer = state->inputs[HG_OUTER];

	lookup->chosen = outer->at_end && hg_input_rows(outer) <= lookup->most_rows;
	if (lookup->chosen)
		state->progress.record.lookups++;
	else
		state->progress.record.switches++;
	return lookup->chosen;
}

bool
hg_join_fill_lookup(HgJoinState *state)
{
	const HgJoinLookup *lookup = &state->lookup;
	const HgBatch *from = lookup->batch;
	HgBatch *to = state->output.batch;

	if (!lookup->source->next(lookup->source, lookup->batch))
		return false;
	to->nrows = from->nrows;
	for (int i = 0; i < from->ncolumns; i++)
	{
		int place = lookup->places[i];

		memcpy(to->values[place], from->values[i], from->nrows * sizeof(Datum));
		to->has_nulls[place] = from->has_nulls[i];
		if (from->has_nulls[i])
			memcpy(to->nulls[place], from->nulls[i], from->nrows * sizeof(bool));
	}
	return true;
}

void
hg_join_lookup_rescan(HgJoinState *state, const Bitmapset *changed)
{
	HgJoinLookup *lookup = &state->lookup;

	if (lookup->loop == NULL)
		return;
	if (changed != NULL)
		UpdateChangedParamSet(lookup->loop, unconstify(Bitmapset *, changed));
	if (lookup->chosen && lookup->loop->chgParam == NULL)
		ExecReScan(lookup->loop);
	if (lookup->chosen)
		lookup->source->restart(lookup->source);
	lookup->chosen = false;
}
