/*-------------------------------------------------------------------------
 *
 * hg_scan.c
 *	  Reads the child plan of a join as batches.
 *
 * A sequential scan of a heap table is read by pages (hg_scan_table.h).  An Append is driven as
 * ExecAppend() does, so that its subplans that are such scans are read by pages.  A scan that
 * computes expressions, and a subquery scan without quals, is a projection (hg_projection.h) of a
 * source of its table's columns or of its subplan.  Any other plan returns slots, whose columns
 * are copied, because by-reference values are valid only until the plan's next row.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "batch/hg_projection.h"
#include "batch/hg_scan_table.h"

/* The first block of copied by-reference values. */
#define HG_FIRST_SLOT_BYTES ((Size) 8 * 1024)

/* A plan that is read by slots. */
typedef struct HgSlots
{
	PlanState *plan;
	int nattnos;
	const int *attnos;
	int last_attno;
	const int16 *attlens;
	const bool *byvals;
	char *block; /* copies of the current batch's values */
	Size block_size;
	Size block_used;
	MemoryContext overflow; /* values that did not fit the block */
	Size overflow_used;
} HgSlots;

/* A plan that is read in one of three ways; the pointers of the others are NULL. */
typedef struct HgReader
{
	PlanState *plan;
	HgScanTable *table;		  /* by pages of this table */
	HgProjection *projection; /* by batches of another source */
	HgSlots *slots;			  /* by slots */
	bool at_end;
} HgReader;

typedef struct HgScan
{
	HgBatchSource source;
	PlanState *plan;
	AppendState *append; /* the plan, if its subplans are read; or NULL */
	int nreaders;
	HgReader *readers; /* [nreaders] of the subplans, or of the plan */
	bool at_end;
} HgScan;

/* ---------------------------------------------------------------------
 * Slots
 * ---------------------------------------------------------------------
 */

static HgSlots *
hg_slots_create(PlanState *plan, int nattnos, const int *attnos)
{
	HgSlots *slots = palloc0(sizeof(HgSlots));
	TupleDesc desc = ExecGetResultType(plan);
	int *copy = palloc(Max(nattnos, 1) * sizeof(int));
	int16 *attlens = palloc(Max(nattnos, 1) * sizeof(int16));
	bool *byvals = palloc(Max(nattnos, 1) * sizeof(bool));

	for (int c = 0; c < nattnos; c++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnos[c] - 1);

		copy[c] = attnos[c];
		attlens[c] = att->attlen;
		byvals[c] = att->attbyval;
		slots->last_attno = Max(slots->last_attno, attnos[c]);
	}
	slots->plan = plan;
	slots->nattnos = nattnos;
	slots->attnos = copy;
	slots->attlens = attlens;
	slots->byvals = byvals;
	slots->overflow =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph rows", ALLOCSET_SMALL_SIZES);
	return slots;
}

/* Frees the copies of the previous batch; the block grows to what that batch needed. */
static void
hg_slots_clear(HgSlots *slots)
{
	Size needed = slots->block_used + slots->overflow_used;

	if (slots->overflow_used > 0 && slots->block_size < HG_BATCH_BYTES)
	{
		MemoryContext owner = MemoryContextGetParent(slots->overflow);

		if (slots->block != NULL)
			pfree(slots->block);
		slots->block = NULL;
		slots->block_size = Max(slots->block_size, HG_FIRST_SLOT_BYTES);
		while (slots->block_size < needed && slots->block_size < HG_BATCH_BYTES)
			slots->block_size *= 2;
		slots->block = MemoryContextAlloc(owner, slots->block_size);
	}
	if (slots->overflow_used > 0)
		MemoryContextReset(slots->overflow);
	slots->block_used = 0;
	slots->overflow_used = 0;
}

static inline char *
hg_slots_alloc(HgSlots *slots, Size size)
{
	size = MAXALIGN(size);
	if (size <= slots->block_size - slots->block_used)
	{
		char *memory = slots->block + slots->block_used;

		slots->block_used += size;
		return memory;
	}
	slots->overflow_used += size;
	return MemoryContextAlloc(slots->overflow, size);
}

/* Copies a by-reference value; expanded objects are flattened. */
static inline Datum
hg_slots_copy(HgSlots *slots, Datum value, int16 attlen)
{
	char *from = DatumGetPointer(value);
	char *to;
	Size size;

	if (attlen == -1 && VARATT_IS_EXTERNAL_EXPANDED(from))
	{
		ExpandedObjectHeader *object = DatumGetEOHP(value);

		size = EOH_get_flat_size(object);
		to = hg_slots_alloc(slots, size);
		EOH_flatten_into(object, to, size);
		return PointerGetDatum(to);
	}
	size = att_addlength_pointer((Size) 0, attlen, from);
	to = hg_slots_alloc(slots, size);
	memcpy(to, from, size);
	return PointerGetDatum(to);
}

/* Appends rows to a batch, as hg_scan_table_fill() does. */
static bool
hg_slots_fill(HgSlots *slots, HgBatch *batch, int max_rows)
{
	CHECK_FOR_INTERRUPTS();
	hg_slots_clear(slots);
	while (batch->nrows < max_rows && slots->block_used + slots->overflow_used < HG_BATCH_BYTES)
	{
		TupleTableSlot *slot = ExecProcNode(slots->plan);
		int row = batch->nrows;

		if (TupIsNull(slot))
			return false;
		slot_getsomeattrs(slot, slots->last_attno);
		for (int c = 0; c < slots->nattnos; c++)
		{
			int a = slots->attnos[c] - 1;

			batch->nulls[c][row] = slot->tts_isnull[a];
			if (slot->tts_isnull[a])
				batch->has_nulls[c] = true;
			else if (slots->byvals[c])
				batch->values[c][row] = slot->tts_values[a];
			else
				batch->values[c][row] =
					hg_slots_copy(slots, slot->tts_values[a], slots->attlens[c]);
		}
		batch->nrows++;
	}
	return true;
}

/* ---------------------------------------------------------------------
 * A plan, and an Append
 * ---------------------------------------------------------------------
 */

/* Rescans a plan with changed parameters. */
static void
hg_reader_rescan(HgReader *reader)
{
	if (reader->projection != NULL)
		hg_projection_restart(reader->projection);
	if (reader->table != NULL)
		hg_scan_select_rescan(reader->table->select, reader->plan->chgParam);
	/* the projection's input rescans the same sequential scan */
	if (reader->projection == NULL || !IsA(reader->plan, SeqScanState))
		ExecReScan(reader->plan);
	reader->at_end = false;
}

/* Fills an empty batch; false if the plan has no more rows. */
static bool
hg_reader_fill(HgReader *reader, HgBatch *batch, const HgBatchSource *source)
{
	/* as ExecProcNode() does */
	if (reader->plan->chgParam != NULL)
		hg_reader_rescan(reader);
	if (!reader->at_end)
	{
		if (reader->table != NULL)
			reader->at_end = !hg_scan_table_fill(reader->table, batch, source->check);
		else if (reader->projection != NULL)
			reader->at_end = !hg_projection_fill(reader->projection, batch, source);
		else
			reader->at_end = !hg_slots_fill(reader->slots, batch, source->max_rows);
	}
	return batch->nrows > 0;
}

/* ExecAppend() with a batch instead of a row. */
static bool
hg_scan_append(HgScan *scan, HgBatch *batch)
{
	AppendState *append = scan->append;

	if (!append->as_begun)
	{
		if (append->as_nplans == 0 || !append->choose_next_subplan(append))
			return false;
		append->as_begun = true;
	}
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (hg_reader_fill(&scan->readers[append->as_whichplan], batch, &scan->source))
			return true;
	} while (append->choose_next_subplan(append));
	return false;
}

static void
hg_scan_restart(HgBatchSource *source)
{
	HgScan *scan = (HgScan *) source;

	scan->at_end = false;
	for (int i = 0; i < scan->nreaders; i++)
	{
		scan->readers[i].at_end = false;
		if (scan->readers[i].projection != NULL)
			hg_projection_restart(scan->readers[i].projection);
	}
}

static bool
hg_scan_next(HgBatchSource *source, HgBatch *batch)
{
	HgScan *scan = (HgScan *) source;
	MemoryContext old;

	hg_batch_clear(batch);

	/* plans allocate their own state there */
	old = MemoryContextSwitchTo(scan->plan->state->es_query_cxt);
	if (scan->plan->chgParam != NULL)
	{
		if (scan->append != NULL)
			ExecReScan(scan->plan);
		else
			hg_reader_rescan(&scan->readers[0]);
		hg_scan_restart(source);
	}
	if (!scan->at_end)
	{
		if (scan->append != NULL)
		{
			if (scan->plan->instrument)
				InstrStartNode(scan->plan->instrument);
			scan->at_end = !hg_scan_append(scan, batch);
			if (scan->plan->instrument)
				InstrStopNode(scan->plan->instrument, batch->nrows);
		}
		else
			scan->at_end = !hg_reader_fill(&scan->readers[0], batch, source);
	}
	MemoryContextSwitchTo(old);
	return batch->nrows > 0;
}

static bool
hg_scan_next_run(HgBatchSource *source, int max_rows, HgRun *run)
{
	HgScan *scan = (HgScan *) source;
	HgReader *reader = scan->readers;
	MemoryContext old;
	bool found;

	/* a batch begins or rescans a plan */
	if (scan->at_end || scan->plan->chgParam != NULL)
		return false;
	if (scan->append != NULL)
	{
		if (!scan->append->as_begun || scan->append->as_whichplan < 0)
			return false;
		reader = &scan->readers[scan->append->as_whichplan];
	}
	if (reader->table == NULL || reader->at_end || reader->plan->chgParam != NULL)
		return false;
	old = MemoryContextSwitchTo(scan->plan->state->es_query_cxt);
	found = hg_scan_table_run(reader->table, max_rows, run);
	if (found && scan->append != NULL && scan->plan->instrument)
	{
		InstrStartNode(scan->plan->instrument);
		InstrStopNode(scan->plan->instrument, run->nrows);
	}
	MemoryContextSwitchTo(old);
	return found;
}

/* ---------------------------------------------------------------------
 * Creation
 * ---------------------------------------------------------------------
 */

static HgScan *
hg_scan_allocate(PlanState *plan, HgScanTables *tables)
{
	HgScan *scan = palloc0(sizeof(HgScan));

	scan->source.next = hg_scan_next;
	scan->source.next_run = hg_scan_next_run;
	scan->source.restart = hg_scan_restart;
	scan->source.max_bytes = HG_BATCH_BYTES;
	scan->source.max_rows = HG_BATCH_ROWS;
	scan->source.tables = tables;
	scan->plan = plan;
	return scan;
}

/* Reads a table's own attributes by pages; adds it to the source's tables.  False if impossible. */
static bool
hg_reader_init_table(HgReader *reader, PlanState *plan, int nattnos, const int *attnos,
					 const HgBatchSource *source)
{
	reader->plan = plan;
	reader->table = hg_scan_table_create(plan, nattnos, attnos, source);
	if (reader->table == NULL)
		return false;
	source->tables->list = lappend(source->tables->list, reader->table);
	return true;
}

static bool hg_scan_init(HgScan *scan, int nattnos, const int *attnos);

/*
 * Creates the input of a projection of a plan; NULL if no table would be read by pages.  Tables
 * are added to those of the source.
 */
static HgBatchSource *
hg_scan_create_input(const HgProjection *projection, PlanState *plan, const HgBatchSource *source)
{
	int before = list_length(source->tables->list);
	const int *attnos;
	int nattnos = hg_projection_inputs(projection, &attnos);
	HgScan *scan;
	bool by_pages;

	if (IsA(plan, SubqueryScanState))
	{
		scan = hg_scan_allocate(((SubqueryScanState *) plan)->subplan, source->tables);
		by_pages = hg_scan_init(scan, nattnos, attnos);
	}
	else
	{
		scan = hg_scan_allocate(plan, source->tables);
		scan->nreaders = 1;
		scan->readers = palloc0(sizeof(HgReader));
		by_pages = hg_reader_init_table(scan->readers, plan, nattnos, attnos, &scan->source);
	}
	for (int i = before; i < list_length(source->tables->list); i++)
		((HgScanTable *) list_nth(source->tables->list, i))->projected = true;
	return by_pages ? &scan->source : NULL;
}

/* Reads a plan by pages if possible. */
static void
hg_reader_init(HgReader *reader, PlanState *plan, int nattnos, const int *attnos,
			   const HgBatchSource *source)
{
	HgProjection *projection = hg_projection_create(plan, nattnos, attnos);

	reader->plan = plan;
	if (projection != NULL && IsA(plan, SeqScanState) && !hg_projection_computes(projection))
	{
		const int *table_attnos;

		hg_projection_inputs(projection, &table_attnos);
		if (hg_reader_init_table(reader, plan, nattnos, table_attnos, source))
			return;
	}
	else if (projection != NULL)
	{
		HgBatchSource *input = hg_scan_create_input(projection, plan, source);

		if (input != NULL)
		{
			hg_projection_set_input(projection, input);
			reader->projection = projection;
			return;
		}
	}
	reader->slots = hg_slots_create(plan, nattnos, attnos);
}

/* Creates the readers of plans; false if none reads a table by pages. */
static bool
hg_scan_init_readers(HgScan *scan, int nplans, PlanState **plans, int nattnos, const int *attnos)
{
	int before = list_length(scan->source.tables->list);

	scan->nreaders = nplans;
	scan->readers = palloc0(Max(nplans, 1) * sizeof(HgReader));
	for (int i = 0; i < nplans; i++)
		hg_reader_init(&scan->readers[i], plans[i], nattnos, attnos, &scan->source);
	return list_length(scan->source.tables->list) > before;
}

/* Sets the plan's readers, or those of its subplans; false if none reads a table by pages. */
static bool
hg_scan_init(HgScan *scan, int nattnos, const int *attnos)
{
	AppendState *append = (AppendState *) scan->plan;

	/* ExecAppend() waits for asynchronous subplans */
	if (IsA(scan->plan, AppendState) && append->as_nasyncplans == 0 &&
		hg_scan_init_readers(scan, append->as_nplans, append->appendplans, nattnos, attnos))
	{
		scan->append = append;
		return true;
	}
	return hg_scan_init_readers(scan, 1, &scan->plan, nattnos, attnos);
}

HgBatchSource *
hg_scan_create(PlanState *plan, int nattnos, const int *attnos)
{
	HgScanTables *tables = palloc0(sizeof(HgScanTables));
	HgScan *scan = hg_scan_allocate(plan, tables);

	if (!hg_scan_init(scan, nattnos, attnos))
		scan->source.tables = NULL;
	else if (scan->append == NULL)
		tables->only = scan->readers[0].table;
	return &scan->source;
}
