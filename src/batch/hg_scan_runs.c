/*-------------------------------------------------------------------------
 *
 * hg_scan_runs.c
 *	  Reads rows of a table scan from cached columns.
 *
 * If the bounds of a segment's values show that a clause rejects all of its rows, they are only
 * counted; if a clause holds for all of them, it is not evaluated.  Clauses that are predicates
 * are applied to columns.  Other clauses are evaluated over the scan's slot, which gets the cached
 * columns.  The plan and its qual need no other columns, or the block is read from the heap.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "port/pg_bitutils.h"

#include "batch/hg_heap_page.h"
#include "batch/hg_predicate.h"
#include "batch/hg_resident_columns.h"
#include "batch/hg_scan_table.h"

/* A predicate of the qual. */
typedef struct HgRunClause
{
	HgPredicate *predicate;
	HgResidentColumns *columns; /* the qual's columns that it reads */
} HgRunClause;

struct HgScanRuns
{
	HgScanSelect *select;
	HgResidentScan *resident;
	HgResidentColumns *batch_columns; /* for batches */
	HgResidentColumns *check_columns; /* for the check; NULL until it is applied or asked */
	HgValueBounds *check_bounds;	  /* bounds of check_columns in the current segment */
	HgPredicateColumn *check_arrays;  /* their arrays */
	/* the predicates of select, for which the following was made */
	const HgColumnQual *column_qual;
	HgResidentColumns *qual_columns; /* the columns that the predicates read */
	HgRunClause *clauses;			 /* the predicates */
	HgPredicateColumn *qual_arrays;	 /* arrays of qual_columns in the current segment */
	HgValueBounds *bounds;			 /* bounds of qual_columns in the current segment */
	HgQualShares *shares;			 /* shares of the rows of segment shares_of */
	uint32 shares_of;				 /* a segment's number, or PG_UINT32_MAX */
	HgResidentColumns *row_columns;	 /* for the whole qual; NULL if there is none */
	HgBatch *row_batch;
	const AttrNumber *row_attnos; /* [row_batch->ncolumns] of the table */
	const void **values;		  /* [nattnos] of a run that is only tested */
	bool by_reference;			  /* some of the batch's columns are by reference */
};

/* Rows of a run: consecutive ones, or a selection. */
typedef struct HgRunRows
{
	uint32 first;
	int n;
	const uint16 *which; /* [n] offsets from first; NULL if offset i is i */
	uint16 selected[HG_BATCH_ROWS];
} HgRunRows;

/* Keeps only the rows which[nwhich], in ascending order. */
static void
hg_run_rows_select(HgRunRows *rows, int nwhich, const uint16 *which)
{
	if (rows->which == NULL && nwhich == rows->n)
		return;
	for (int i = 0; i < nwhich; i++)
		rows->selected[i] = rows->which != NULL ? rows->which[which[i]] : which[i];
	rows->n = nwhich;
	rows->which = rows->selected;
}

/* Makes the clauses, one for each predicate. */
static void
hg_scan_runs_create_clauses(HgScanRuns *runs, int nattnos, const AttrNumber *attnos)
{
	const HgColumnQual *qual = runs->select->column_qual;
	int nclauses = hg_column_qual_count(qual, false);
	AttrNumber *wanted = palloc(Max(nattnos, 1) * sizeof(AttrNumber));
	bool *used = palloc(Max(nattnos, 1) * sizeof(bool));

	runs->clauses = palloc0(nclauses * sizeof(HgRunClause));
	for (int i = 0; i < nclauses; i++)
	{
		HgRunClause *clause = &runs->clauses[i];

		clause->predicate = hg_column_qual_predicate(qual, i);
		memset(used, false, nattnos * sizeof(bool));
		hg_predicate_mark(clause->predicate, used);
		for (int c = 0; c < nattnos; c++)
			wanted[c] = used[c] ? attnos[c] : 0;
		clause->columns = hg_resident_columns_create(runs->resident, nattnos, wanted);
	}
	pfree(wanted);
	pfree(used);
}

HgScanRuns *
hg_scan_runs_create(HgScanSelect *select, HgResidentScan *resident, int nattnos,
					const AttrNumber *attnos, int nqual, const AttrNumber *qual_attnos)
{
	TupleDesc desc = RelationGetDescr(select->node->ss.ss_currentRelation);
	HgScanRuns *runs = palloc0(sizeof(HgScanRuns));

	runs->select = select;
	runs->resident = resident;
	runs->values = palloc0(Max(nattnos, 1) * sizeof(void *));
	runs->batch_columns = hg_resident_columns_create(resident, nattnos, attnos);
	for (int c = 0; c < nattnos; c++)
		runs->by_reference |= !TupleDescAttr(desc, attnos[c] - 1)->attbyval;
	if (select->node->ss.ps.qual != NULL)
	{
		runs->row_attnos = qual_attnos;
		runs->row_columns = hg_resident_columns_create(resident, nqual, qual_attnos);
		runs->row_batch = hg_batch_create(nqual);
	}
	return runs;
}

/* Makes the state for the select's predicates, if they have changed. */
static void
hg_scan_runs_follow(HgScanRuns *runs)
{
	const HgColumnQual *qual = runs->select->column_qual;
	const AttrNumber *looked_at;
	MemoryContext old;
	int n;

	if (runs->column_qual == qual)
		return;
	runs->column_qual = qual;
	if (qual == NULL)
		return;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(runs));
	n = hg_column_qual_attributes(qual, &looked_at);
	runs->qual_columns = hg_resident_columns_create(runs->resident, n, looked_at);
	hg_scan_runs_create_clauses(runs, n, looked_at);
	runs->qual_arrays = palloc0(Max(n, 1) * sizeof(HgPredicateColumn));
	runs->bounds = palloc(Max(n, 1) * sizeof(HgValueBounds));
	runs->shares = hg_column_qual_shares_create(qual);
	runs->shares_of = PG_UINT32_MAX;
	MemoryContextSwitchTo(old);
}

HgPredicateShare
hg_scan_runs_share(HgScanRuns *runs, uint32 segment)
{
	HgScanSelect *select = runs->select;
	HgPredicateShare share;
	bool waits;

	hg_scan_select_bind_params(select);
	hg_scan_runs_follow(runs);
	if (select->column_qual == NULL)
		return select->node->ss.ps.qual == NULL ? HG_SHARE_ALL : HG_SHARE_SOME;
	if (runs->shares_of != segment)
	{
		hg_resident_columns_bounds(runs->qual_columns, runs->bounds);
		hg_column_qual_set_shares(select->column_qual, runs->bounds, runs->shares);
		runs->shares_of = segment;
	}
	waits = hg_scan_select_awaits_param(select);
	share = hg_column_qual_share(select->column_qual, waits, runs->shares);
	/* the rest of the qual may reject more rows */
	return waits || select->row_qual != NULL ? Min(share, HG_SHARE_SOME) : share;
}

/* Makes the state for the check. */
static void
hg_scan_runs_begin_check(HgScanRuns *runs)
{
	const HgScanSelect *select = runs->select;
	MemoryContext old;

	if (runs->check_columns != NULL)
		return;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(runs));
	runs->check_columns =
		hg_resident_columns_create(runs->resident, select->ncheck_attnos, select->check_attnos);
	runs->check_bounds = palloc(Max(select->ncheck_attnos, 1) * sizeof(HgValueBounds));
	runs->check_arrays = palloc(Max(select->ncheck_attnos, 1) * sizeof(HgPredicateColumn));
	MemoryContextSwitchTo(old);
}

/* Returns true if bounds of the run's segment show that the check rejects all of the run's rows. */
static bool
hg_scan_runs_check_all(HgScanRuns *runs, const HgResidentRun *run)
{
	HgRowCheck *check = runs->select->bounds_check;

	if (check == NULL)
		return false;
	hg_scan_runs_begin_check(runs);
	hg_resident_columns_bounds(runs->check_columns, runs->check_bounds);
	return check->rejects_all(check, runs->check_bounds, (uint32) run->nrows);
}

bool
hg_scan_runs_rule_out(HgScanRuns *runs, const HgResidentRun *run)
{
	HgScanSelect *select = runs->select;
	bool by_qual = hg_scan_runs_share(runs, run->segment) == HG_SHARE_NONE;

	if (!by_qual && !hg_scan_runs_check_all(runs, run))
		return false;
	hg_heap_count_rows(select->node->ss.ss_currentRelation, run->nrows);
	if (by_qual)
		hg_scan_select_count(select, run->nrows, 0);
	return true;
}

/* A segment's bounds of a column. */
typedef struct HgRunSegment
{
	uint32 number;
	HgValueBounds bounds;
} HgRunSegment;

/*
 * Compares two segments by a wanted order, for qsort_arg().  Segments without known bounds, of
 * which nothing is ruled out, come last.
 */
static int
hg_run_segment_compare(const void *a, const void *b, void *arg)
{
	const HgValueBounds *left = &((const HgRunSegment *) a)->bounds;
	const HgValueBounds *right = &((const HgRunSegment *) b)->bounds;
	const HgRowOrder *order = arg;

	if (order->nulls_first && left->has_nulls != right->has_nulls)
		return left->has_nulls ? -1 : 1;
	if (left->known != right->known)
		return left->known ? -1 : 1;
	if (!left->known)
		return 0;
	return order->descending ? (left->high < right->high) - (left->high > right->high)
							 : (left->low > right->low) - (left->low < right->low);
}

void
hg_scan_runs_set_order(HgScanRuns *runs, AttrNumber attno, HgRowOrder *order)
{
	uint32 most;
	const HgValidBlocks *valid = hg_resident_scan_valid(runs->resident, &most);
	HgResidentColumns *columns = hg_resident_columns_create(runs->resident, 1, &attno);
	HgRunSegment *segments = palloc(Max(valid->nsegments, 1) * sizeof(HgRunSegment));
	uint32 *numbers = palloc(Max(valid->nsegments, 1) * sizeof(uint32));

	for (int i = 0; i < valid->nsegments; i++)
	{
		segments[i].number = valid->segments[i].version->first / HG_SEGMENT_BLOCKS;
		hg_resident_scan_stand(runs->resident, &valid->segments[i]);
		hg_resident_columns_bounds(columns, &segments[i].bounds);
	}
	qsort_arg(segments, valid->nsegments, sizeof(HgRunSegment), hg_run_segment_compare, order);
	for (int i = 0; i < valid->nsegments; i++)
		numbers[i] = segments[i].number;
	hg_resident_scan_lead(runs->resident, (uint32) valid->nsegments, numbers);
	pfree(segments);
	pfree(numbers);
}

/* Selects consecutive rows by the check's arrays; returns false if the check cannot. */
static bool
hg_scan_runs_check_arrays(HgScanRuns *runs, HgRunRows *rows)
{
	HgRowCheck *check = runs->select->check;
	bool holds[HG_BATCH_ROWS];
	int nselected;
	int n = 0;

	if (check->apply_arrays == NULL)
		return false;
	hg_resident_columns_arrays(runs->check_columns, runs->check_arrays);
	nselected = check->apply_arrays(check, runs->check_arrays, rows->first, rows->n, holds);
	if (nselected < 0)
		return false;
	if (nselected < rows->n)
	{
		for (int i = 0; n < nselected; i++)
		{
			rows->selected[n] = (uint16) i;
			n += holds[i];
		}
		rows->which = rows->selected;
		rows->n = nselected;
	}
	return true;
}

/* Removes the rows that the check rejects. */
static void
hg_scan_runs_check(HgScanRuns *runs, HgRunRows *rows)
{
	HgScanSelect *select = runs->select;
	uint16 which[HG_BATCH_ROWS];

	hg_scan_runs_begin_check(runs);
	if (hg_scan_runs_check_arrays(runs, rows))
		return;
	hg_resident_columns_add(runs->check_columns, rows->first, rows->which, rows->n,
							hg_scan_select_check_batch(select));
	hg_run_rows_select(rows, hg_scan_select_check(select, which), which);
}

/* Finds the rows of a run that pass the rest of the qual; returns their number. */
static int
hg_scan_runs_check_rows(HgScanRuns *runs, bool in_order, const HgSelectedRows *left,
						const HgRunRows *rows, uint16 *which)
{
	HgScanSelect *select = runs->select;
	TupleTableSlot *slot = select->node->ss.ss_ScanTupleSlot;
	HgBatch *batch = runs->row_batch;
	int nwhich = 0;

	hg_batch_clear(batch);
	hg_resident_columns_add(runs->row_columns, rows->first, rows->which, rows->n, batch);
	/* columns that the qual does not need stay NULL */
	ExecClearTuple(slot);
	memset(slot->tts_values, 0, slot->tts_tupleDescriptor->natts * sizeof(Datum));
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	select->node->ss.ps.ps_ExprContext->ecxt_scantuple = slot;
	for (int i = 0; i < rows->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int c = 0; c < batch->ncolumns; c++)
		{
			int a = runs->row_attnos[c] - 1;

			slot->tts_values[a] = batch->values[c][i];
			slot->tts_isnull[a] = hg_batch_is_null(batch, c, i);
		}
		if (hg_scan_select_rest(select, in_order, left, i))
			which[nwhich++] = i;
	}
	/* the slot's values point into the batch */
	ExecClearTuple(slot);
	return nwhich;
}

/*
 * Returns how many of the first nclauses predicates can be applied to arrays.  It must be called
 * when a run begins or its segment changes.
 */
static int
hg_scan_runs_count_arrays(HgScanRuns *runs, int nclauses)
{
	int count = 0;

	hg_resident_columns_arrays(runs->qual_columns, runs->qual_arrays);
	while (count < nclauses &&
		   hg_predicate_takes_arrays(runs->clauses[count].predicate, runs->qual_arrays))
		count++;
	return count;
}

/* Sets holds[i] to whether the first nclauses predicates all hold for row first + i. */
static void
hg_scan_runs_apply_arrays(HgScanRuns *runs, int nclauses, uint32 first, int n, bool *holds)
{
	bool more[HG_BATCH_ROWS];
	bool any = false;

	for (int c = 0; c < nclauses; c++)
	{
		if (hg_column_qual_predicate_share(runs->shares, c) == HG_SHARE_ALL)
			continue;
		hg_predicate_apply_arrays(runs->clauses[c].predicate, runs->qual_arrays, first, n,
								  any ? more : holds);
		for (int i = 0; any && i < n; i++)
			holds[i] &= more[i];
		any = true;
	}
	if (!any)
		memset(holds, true, n * sizeof(bool));
}

/*
 * Applies a predicate to the rows, over a batch.  Rows with a recheck stay if the predicate
 * computes something (hg_scan_qual.c).
 */
static bool
hg_scan_runs_apply(HgScanRuns *runs, HgRunClause *clause, const HgRunRows *rows,
				   const HgSelectedRows *left, bool *holds, bool *recheck)
{
	HgBatch *batch = hg_column_qual_batch(runs->select->column_qual);
	bool any;

	hg_resident_columns_add(clause->columns, rows->first, rows->which, rows->n, batch);
	memset(recheck, false, rows->n * sizeof(bool));
	any = hg_predicate_apply(clause->predicate, batch, holds, recheck);
	if (left->any_recheck && clause->predicate->nterms > 0)
		for (int i = 0; i < rows->n; i++)
			holds[i] |= left->recheck[i];
	return any;
}

/*
 * Removes the rows that the predicates reject: first over arrays, as long as that works, and then
 * one predicate after the other.
 */
static void
hg_scan_runs_decide(HgScanRuns *runs, bool in_order, HgRunRows *rows, HgSelectedRows *left)
{
	int nclauses = hg_column_qual_count(runs->select->column_qual, in_order);
	int narrays = rows->which == NULL ? hg_scan_runs_count_arrays(runs, nclauses) : 0;

	if (narrays > 0)
	{
		bool holds[HG_BATCH_ROWS];

		hg_scan_runs_apply_arrays(runs, narrays, rows->first, rows->n, holds);
		hg_selected_rows_filter(left, holds, NULL);
		hg_run_rows_select(rows, left->n, left->which);
	}
	for (int i = narrays; i < nclauses && rows->n > 0; i++)
	{
		bool holds[HG_BATCH_ROWS];
		bool recheck[HG_BATCH_ROWS];
		bool any;

		if (hg_column_qual_predicate_share(runs->shares, i) == HG_SHARE_ALL)
			continue;
		any = hg_scan_runs_apply(runs, &runs->clauses[i], rows, left, holds, recheck);
		hg_selected_rows_filter(left, holds, any ? recheck : NULL);
		hg_run_rows_select(rows, left->n, left->which);
	}
}

/* Removes the rows that the plan's qual rejects. */
static void
hg_scan_runs_filter(HgScanRuns *runs, HgRunRows *rows)
{
	HgScanSelect *select = runs->select;
	bool in_order = hg_scan_select_awaits_param(select);
	int seen = rows->n;
	HgSelectedRows left;

	hg_selected_rows_init(&left, rows->n);
	if (select->column_qual != NULL)
		hg_scan_runs_decide(runs, in_order, rows, &left);
	if (rows->n > 0 && hg_scan_select_has_rest(select, in_order, &left))
	{
		uint16 which[HG_BATCH_ROWS];

		hg_run_rows_select(rows, hg_scan_runs_check_rows(runs, in_order, &left, rows, which),
						   which);
	}
	hg_scan_select_count(select, seen, rows->n);
}

/* Packs eight booleans into bits, the first one lowest. */
static inline uint64
hg_runs_pack(const bool *holds)
{
	uint64 bytes;

	memcpy(&bytes, holds, sizeof(bytes));
	/* each byte's bit gets its own position in the highest byte, without carries from below */
#ifdef WORDS_BIGENDIAN
	return (bytes * UINT64CONST(0x8040201008040201)) >> 56;
#else
	return (bytes * UINT64CONST(0x0102040810204080)) >> 56;
#endif
}

/* Sets the bits of rows first + i that hold; returns their number. */
static uint32
hg_runs_set_bits(uint32 first, int n, const bool *holds, uint64 *bits)
{
	uint32 count = 0;

	for (int done = 0; done < n; done += 64)
	{
		uint32 row = first + done;
		int rows = Min(n - done, 64);
		uint64 word = 0;
		int i = 0;

		for (; i + 8 <= rows; i += 8)
			word |= hg_runs_pack(holds + done + i) << i;
		for (; i < rows; i++)
			word |= (uint64) holds[done + i] << i;
		count += pg_popcount64(word);
		bits[row / 64] |= word << row % 64;
		/* the next word exists only if it has a row */
		if (row % 64 != 0 && word >> (64 - row % 64) != 0)
			bits[row / 64 + 1] |= word >> (64 - row % 64);
	}
	return count;
}

uint32
hg_scan_runs_mark(HgScanRuns *runs, uint32 first, uint32 nrows, uint64 *bits)
{
	HgScanSelect *select = runs->select;
	int nclauses = 0;
	uint32 left = 0;

	if (select->column_qual != NULL && hg_scan_select_is_columns(select))
		nclauses = hg_column_qual_count(select->column_qual, false);
	for (uint32 done = 0; done < nrows; done += HG_BATCH_ROWS)
	{
		HgRunRows rows = {.first = first + done, .n = (int) Min(nrows - done, HG_BATCH_ROWS)};

		CHECK_FOR_INTERRUPTS();
		if (nclauses > 0 && hg_scan_runs_count_arrays(runs, nclauses) == nclauses)
		{
			bool holds[HG_BATCH_ROWS];
			uint32 nselected;

			hg_scan_runs_apply_arrays(runs, nclauses, rows.first, rows.n, holds);
			nselected = hg_runs_set_bits(rows.first, rows.n, holds, bits);
			hg_scan_select_count(select, rows.n, (int) nselected);
			left += nselected;
			continue;
		}
		hg_scan_runs_filter(runs, &rows);
		for (int i = 0; i < rows.n; i++)
		{
			uint32 row = rows.first + (rows.which != NULL ? rows.which[i] : i);

			bits[row / 64] |= UINT64CONST(1) << (row % 64);
		}
		left += rows.n;
	}
	return left;
}

uint32
hg_scan_runs_mark_seen(HgScanRuns *runs, const uint64 *seen, uint32 first, uint32 end, uint64 *bits)
{
	uint32 left = 0;

	while (first < end)
	{
		uint32 behind = first;

		if (first % 64 == 0 && seen[first / 64] == 0)
		{
			first += 64;
			continue;
		}
		while (behind < end && hg_segment_bit(seen, behind))
			behind++;
		left += behind > first ? hg_scan_runs_mark(runs, first, behind - first, bits) : 0;
		/* the row behind is not seen */
		first = behind + 1;
	}
	return left;
}

int
hg_scan_runs_add(HgScanRuns *runs, const HgResidentRun *run, HgBatch *batch, Size *room)
{
	HgRunRows rows = {.first = run->first, .n = Min(run->nrows, HG_BATCH_ROWS - batch->nrows)};
	int taken;

	if (runs->by_reference)
		rows.n = hg_resident_columns_fit(runs->batch_columns, rows.first, rows.n, room);
	taken = rows.n;
	hg_heap_count_rows(runs->select->node->ss.ss_currentRelation, taken);
	if (runs->select->check != NULL)
		hg_scan_runs_check(runs, &rows);
	if (runs->select->node->ss.ps.qual != NULL && rows.n > 0)
		hg_scan_runs_filter(runs, &rows);
	hg_resident_columns_add(runs->batch_columns, rows.first, rows.which, rows.n, batch);
	return taken;
}

bool
hg_scan_runs_join(const HgScanRuns *runs, const HgBatch *batch)
{
	return hg_resident_columns_join(runs->batch_columns, batch);
}

bool
hg_scan_runs_values(const HgScanRuns *runs, const HgResidentRun *run, const void **values)
{
	return hg_resident_columns_run(runs->batch_columns, run->first, values);
}

bool
hg_scan_runs_has_values(const HgScanRuns *runs, const HgResidentRun *run)
{
	return hg_scan_runs_values(runs, run, runs->values);
}
