/*-------------------------------------------------------------------------
 *
 * hg_join_lookup.c
 *	  Adaptive join: looks up inner rows in an index as long as there are few outer rows.
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

/* Outer rows of the first chunk.  Each further chunk is twice as large, up to a batch. */
#define HG_LOOKUP_CHUNK_ROWS 1

/*
 * A sample is one row in this many of the outer rows that may be looked up, at most a batch.  So a
 * sample in vain costs little compared with hashing.
 */
#define HG_LOOKUP_SAMPLED 16

/* Least number of outer rows that show what the index finds. */
#define HG_LOOKUP_MIN_SAMPLE 64

/* Counts the rows that the loop's index finds, if the expected number is known. */
static void
hg_lookup_init_counting(HgJoinLookup *lookup, int matches)
{
	PlanState *inner = innerPlanState(lookup->loop);

	if (IsA(inner, MemoizeState))
		inner = outerPlanState(inner);
	if (matches == 0 || (!IsA(inner, IndexScanState) && !IsA(inner, IndexOnlyScanState) &&
						 !IsA(inner, BitmapHeapScanState)))
		return;
	if (inner->instrument == NULL)
		lookup->counter = hg_row_counter();
	lookup->scan = inner;
	lookup->matches = matches;
}

/* Returns what counts the index's rows and lookups, if lookup->scan is set. */
static inline const NodeInstrumentation *
hg_lookup_counter(const HgJoinLookup *lookup)
{
	return lookup->counter != NULL ? lookup->counter : lookup->scan->instrument;
}

/* Returns the number of rows to read as a sample, or 0 if no sample is due. */
static inline uint64
hg_lookup_sample_rows(const HgJoinLookup *lookup)
{
	uint64 rows = Min(lookup->most_rows / HG_LOOKUP_SAMPLED, HG_BATCH_ROWS);
	bool due = lookup->scan != NULL && rows >= HG_LOOKUP_MIN_SAMPLE &&
			   hg_lookup_counter(lookup)->nloops < HG_LOOKUP_MIN_SAMPLE;

	return due ? rows : 0;
}

/* Reduces most_rows if the index has found more rows per outer row than expected. */
static void
hg_lookup_learn(HgJoinLookup *lookup)
{
	const NodeInstrumentation *counter;
	double found;

	if (lookup->scan == NULL)
		return;
	counter = hg_lookup_counter(lookup);
	if (counter->nloops < HG_LOOKUP_MIN_SAMPLE)
		return;
	found = counter->ntuples + counter->tuplecount + counter->nfiltered1;
	lookup->most_rows =
		(uint64) (lookup->planned_rows / Max(found / (counter->nloops * lookup->matches), 1));
}

/*
 * Reads the next rows of the nested loop; returns false if there are no more.  The counter is the
 * scan's instrument only while the loop runs: when a parallel query starts and ends, core takes a
 * node with an instrument for one that EXPLAIN (ANALYZE) shows.
 */
static bool
hg_lookup_next(const HgJoinLookup *lookup)
{
	bool found;

	if (lookup->counter != NULL)
		lookup->scan->instrument = lookup->counter;
	found = lookup->source->next(lookup->source, lookup->batch);
	if (lookup->counter != NULL)
		lookup->scan->instrument = NULL;
	return found;
}

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
	lookup->planned_rows = intVal(list_nth(cscan->custom_private, HG_PRIVATE_LOOKUP_ROWS));
	lookup->most_rows = lookup->planned_rows;
	lookup->at_once = intVal(list_nth(cscan->custom_private, HG_PRIVATE_LOOKUP_AT_ONCE)) != 0;
	lookup->chunk_rows = HG_LOOKUP_CHUNK_ROWS;
	if (!state->parallel_hash)
		hg_lookup_init_counting(lookup,
								intVal(list_nth(cscan->custom_private, HG_PRIVATE_LOOKUP_MATCHES)));
	hg_join_feed_set(outerPlanState(lookup->loop), state->inputs[HG_OUTER]);
	attnos = palloc(Max(output->ncolumns, 1) * sizeof(int));
	lookup->column_indexes = palloc(Max(output->ncolumns, 1) * sizeof(int));
	for (int i = 0; i < output->ncolumns; i++)
	{
		int attno = list_nth_int(columns, output->columns[i]);

		/* columns that only the join's clauses need are not returned */
		if (attno == 0)
			continue;
		attnos[ncolumns] = attno;
		lookup->column_indexes[ncolumns++] = output->columns[i];
	}
	lookup->source = hg_join_source_create(lookup->loop, ncolumns, attnos);
	lookup->batch = hg_batch_create(ncolumns);
}

uint64
hg_join_lookup_rows(const HgJoinState *state)
{
	const HgJoinLookup *lookup = &state->lookup;
	uint64 left = lookup->most_rows + 1 - Min(lookup->earlier_rows, lookup->most_rows);

	if (lookup->at_once)
		return Min(lookup->chunk_rows, left);
	return hg_lookup_sample_rows(lookup) > 0 ? hg_lookup_sample_rows(lookup) : left;
}

void
hg_join_set_lookup(HgJoinState *state, bool chosen, bool recorded)
{
	HgJoinRecord *record = &state->progress.record;

	state->lookup.chosen = chosen;
	if (recorded && !chosen)
		record->switches++;
	else if (recorded)
		record->lookups++;
	/* no matcher will set it */
	if (record->report.backend[0] == '\0')
		strlcpy(record->report.backend, "cpu", sizeof(record->report.backend));
}

bool
hg_join_choose_lookup(HgJoinState *state)
{
	const HgJoinLookup *lookup = &state->lookup;
	bool chosen =
		lookup->earlier_rows + hg_held_count(&state->inputs[HG_OUTER]->held) <= lookup->most_rows;

	hg_join_set_lookup(state, chosen, !chosen || lookup->earlier_rows == 0);
	return chosen;
}

/* Restarts the nested loop, for the next rows of the outer input. */
static void
hg_join_lookup_restart(HgJoinLookup *lookup)
{
	hg_lookup_learn(lookup);
	if (lookup->chosen && lookup->loop->chgParam == NULL)
		ExecReScan(lookup->loop);
	if (lookup->chosen)
		lookup->source->restart(lookup->source);
	lookup->chosen = false;
}

void
hg_join_lookup_next_chunk(HgJoinState *state)
{
	HgJoinLookup *lookup = &state->lookup;
	HgInput *outer = state->inputs[HG_OUTER];

	lookup->earlier_rows += hg_held_count(&outer->held);
	lookup->chunk_rows = Min(2 * lookup->chunk_rows, HG_BATCH_ROWS);
	hg_join_lookup_restart(lookup);
	hg_held_clear(&outer->held);
	state->reading.outer_ready = false;
}

bool
hg_join_fill_lookup(HgJoinState *state)
{
	const HgJoinLookup *lookup = &state->lookup;
	const HgBatch *from = lookup->batch;
	HgBatch *to = state->output.batch;

	if (lookup->at_once)
		lookup->source->max_rows = (int) lookup->chunk_rows;
	if (!hg_lookup_next(lookup))
		return false;
	to->nrows = from->nrows;
	for (int i = 0; i < from->ncolumns; i++)
	{
		int column_index = lookup->column_indexes[i];

		memcpy(to->values[column_index], from->values[i], from->nrows * sizeof(Datum));
		to->has_nulls[column_index] = from->has_nulls[i];
		if (from->has_nulls[i])
			memcpy(to->nulls[column_index], from->nulls[i], from->nrows * sizeof(bool));
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
	hg_join_lookup_restart(lookup);
	lookup->chunk_rows = HG_LOOKUP_CHUNK_ROWS;
	lookup->earlier_rows = 0;
}
