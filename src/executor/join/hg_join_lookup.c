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
#include "miscadmin.h"

#include "executor/join/hg_join.h"
#include "executor/join/hg_join_source.h"
#include "executor/join/hg_join_state.h"

/* ---------------------------------------------------------------------
 * The feed: returns the outer rows that the join has read
 * ---------------------------------------------------------------------
 */

/* Number of shared rows that a process takes at once: few, so that all end at the same time. */
#define HG_FEED_SHARED_ROWS 16

typedef struct HgFeedState
{
	CustomScanState css; /* must be first */
	const HgInput *input;
	pg_atomic_uint64 *taken; /* rows with a key that processes have taken; NULL: not shared */
	uint64 next;			 /* next row with a key, from 0, if not shared */
	int range;				 /* range of that row in the store */
	uint64 earlier;			 /* number of rows in the ranges before that one */
	uint64 next_null;		 /* next row without a key */
	HgBatch *batch;			 /* columns by their indexes in the join's scan slot */
	int row;				 /* row of the batch to return next */
} HgFeedState;

static void
hg_feed_begin(CustomScanState *node pg_attribute_unused(), EState *estate pg_attribute_unused(),
			  int eflags pg_attribute_unused())
{
}

/* Sets rows[HG_BATCH_ROWS] to the numbers of the next rows with a key.  Returns how many. */
static int
hg_feed_take(HgFeedState *feed, uint32 *rows)
{
	HgRowRange whole;
	const HgRowRange *ranges;
	int nranges = hg_column_store_ranges(feed->input->held.rows, &whole, &ranges);
	int most = feed->taken != NULL ? HG_FEED_SHARED_ROWS : HG_BATCH_ROWS;
	int nrows = 0;

	if (feed->taken != NULL)
		feed->next = pg_atomic_fetch_add_u64(feed->taken, most);
	while (nrows < most && feed->range < nranges)
	{
		const HgRowRange *range = &ranges[feed->range];

		if (feed->next - feed->earlier < range->rows)
			rows[nrows++] = (uint32) (range->first + (feed->next++ - feed->earlier));
		else
		{
			feed->earlier += range->rows;
			feed->range++;
		}
	}
	return nrows;
}

/* Fetches the next rows; returns false if there are no more. */
static bool
hg_feed_fetch(HgFeedState *feed)
{
	const HgHeldRows *held = &feed->input->held;
	const HgColumnStore *store = held->rows;
	uint32 rows[HG_BATCH_ROWS];
	int nrows = hg_feed_take(feed, rows);

	if (nrows == 0)
	{
		store = held->null_rows;
		while (nrows < HG_BATCH_ROWS && feed->next_null < store->rows)
			rows[nrows++] = (uint32) feed->next_null++;
	}
	hg_column_store_get(store, rows, nrows, feed->batch, held->to);
	feed->batch->nrows = nrows;
	feed->row = 0;
	return nrows > 0;
}

/* Does not use ExecScan(), which reads no rows of a node without a table during EvalPlanQual. */
static TupleTableSlot *
hg_feed_exec(CustomScanState *node)
{
	HgFeedState *feed = (HgFeedState *) node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	int natts = slot->tts_tupleDescriptor->natts;

	CHECK_FOR_INTERRUPTS();
	ExecClearTuple(slot);
	if (feed->row == feed->batch->nrows && !hg_feed_fetch(feed))
		return slot;
	for (int i = 0; i < natts; i++)
	{
		slot->tts_isnull[i] = hg_batch_is_null(feed->batch, i, feed->row);
		slot->tts_values[i] = slot->tts_isnull[i] ? (Datum) 0 : feed->batch->values[i][feed->row];
	}
	feed->row++;
	/* the target list is the scan slot */
	return ExecStoreVirtualTuple(slot);
}

static void
hg_feed_rescan(CustomScanState *node)
{
	HgFeedState *feed = (HgFeedState *) node;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	feed->next = feed->earlier = feed->next_null = 0;
	feed->range = 0;
	feed->row = feed->batch->nrows = 0;
}

static void
hg_feed_end(CustomScanState *node pg_attribute_unused())
{
}

static const CustomExecMethods hg_feed_exec_methods = {
	.CustomName = "HashGraphFeed",
	.BeginCustomScan = hg_feed_begin,
	.ExecCustomScan = hg_feed_exec,
	.EndCustomScan = hg_feed_end,
	.ReScanCustomScan = hg_feed_rescan,
};

static Node *
hg_feed_create_state(CustomScan *cscan pg_attribute_unused())
{
	HgFeedState *feed = (HgFeedState *) newNode(sizeof(HgFeedState), T_CustomScanState);

	feed->css.methods = &hg_feed_exec_methods;
	return (Node *) feed;
}

const CustomScanMethods hg_join_feed_methods = {
	.CustomName = "HashGraphFeed",
	.CreateCustomScanState = hg_feed_create_state,
};

/*
 * Makes the feed node return the rows of an input whenever it is executed.  The input stores all
 * columns of its child.  Raises an error if feed is another node.
 */
static void
hg_feed_set(PlanState *feed, const HgInput *input)
{
	if (!IsA(feed, CustomScanState) || ((CustomScanState *) feed)->methods != &hg_feed_exec_methods)
		elog(ERROR, "the outer plan of a join's lookups does not return the rows that it holds");
	((HgFeedState *) feed)->input = input;
	((HgFeedState *) feed)->batch =
		hg_batch_create_partial(input->held.scan_desc->natts, input->held.ncolumns, input->held.to);
}

/* ---------------------------------------------------------------------
 * Lookups
 * ---------------------------------------------------------------------
 */

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

	while (IsA(inner, NestLoopState))
		inner = outerPlanState(inner);
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
	lookup->planned_rows = hg_join_plan_number(state, HG_NUMBER_LOOKUP_ROWS);
	lookup->most_rows = lookup->planned_rows;
	lookup->at_once = hg_join_plan_number(state, HG_NUMBER_LOOKUP_AT_ONCE) != 0;
	lookup->chunk_rows = HG_LOOKUP_CHUNK_ROWS;
	if (!state->parallel_hash)
		hg_lookup_init_counting(lookup, hg_join_plan_number(state, HG_NUMBER_LOOKUP_MATCHES));
	hg_feed_set(outerPlanState(lookup->loop), state->inputs[HG_OUTER]);
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
hg_join_lookup_rows(const HgJoinLookup *lookup)
{
	uint64 left = lookup->most_rows + 1 - Min(lookup->earlier_rows, lookup->most_rows);

	if (lookup->at_once)
		return Min(lookup->chunk_rows, left);
	return hg_lookup_sample_rows(lookup) > 0 ? hg_lookup_sample_rows(lookup) : left;
}

void
hg_join_lookup_share(HgJoinLookup *lookup, pg_atomic_uint64 *taken)
{
	((HgFeedState *) outerPlanState(lookup->loop))->taken = taken;
}

void
hg_join_set_lookup(HgJoinLookup *lookup, HgJoinRecord *record, bool chosen, bool recorded)
{
	hg_join_lookup_share(lookup, NULL);
	lookup->chosen = chosen;
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

	hg_join_set_lookup(&state->lookup, &state->progress.record, chosen,
					   !chosen || lookup->earlier_rows == 0);
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

/* Removes the outer rows that the nested loop has joined, so that the next chunk can be read. */
static void
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

/* HgRowKind.next */
static bool
hg_join_fill_looked_up(HgJoinState *state)
{
	HgJoinLookup *lookup = &state->lookup;
	const HgBatch *from = lookup->batch;
	HgBatch *to = state->output.batch;

	if (lookup->at_once)
		lookup->source->max_rows = (int) lookup->chunk_rows;
	if (!hg_lookup_next(lookup))
	{
		if (!state->inputs[HG_OUTER]->at_end)
			hg_join_lookup_next_chunk(state);
		return false;
	}
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

HgJoinPhase
hg_join_emit_looked_up(HgJoinState *state)
{
	static const HgRowKind hg_rows_looked_up = {{"look up"}, hg_join_fill_looked_up};

	return hg_join_emit(&state->emission, &hg_rows_looked_up,
						state->inputs[HG_OUTER]->at_end ? HG_JOIN_DONE : HG_JOIN_READ_INNER);
}

void
hg_join_lookup_rescan(HgJoinLookup *lookup, const Bitmapset *changed)
{
	if (lookup->loop == NULL)
		return;
	if (changed != NULL)
		UpdateChangedParamSet(lookup->loop, unconstify(Bitmapset *, changed));
	hg_join_lookup_restart(lookup);
	lookup->chunk_rows = HG_LOOKUP_CHUNK_ROWS;
	lookup->earlier_rows = 0;
}
