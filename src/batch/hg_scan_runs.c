/*-------------------------------------------------------------------------
 *
 * hg_scan_runs.c
 *	  Rows of a table scan that are read from cached columns.
 *
 * The rows are taken from arrays; those of a segment that a clause rules out, by what is known of
 * its values, are only counted, and a clause that holds for all of them is not evaluated.  Clauses
 * that can be are evaluated over columns, and the others over the scan's slot, which is given the
 * columns that are there.  These are all that the plan and its qual need, or the block is read from
 * the heap.
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
#include "batch/hg_predicate_apply.h"
#include "batch/hg_predicate_arrays.h"
#include "batch/hg_resident_columns.h"
#include "batch/hg_scan_runs.h"

/* A clause of the qual that is evaluated over columns. */
typedef struct HgRunClause
{
	HgPredicate *predicate;
	HgResidentColumns *columns; /* of the qual's, those that it looks at */
} HgRunClause;

struct HgScanRuns
{
	HgScanSelect *select;
	HgResidentScan *resident;
	HgResidentColumns *batch_columns; /* of its columns: for the batch ... */
	HgResidentColumns *check_columns; /* ... the check; NULL until it is asked ... */
	const HgColumnQual *column_qual;  /* ... the qual's part over columns, which is the select's: */
	HgResidentColumns *qual_columns;  /* ... those that it looks at ... */
	HgRunClause *clauses;			  /* ... by which it is evaluated ... */
	HgPredicateColumn *qual_arrays;	  /* ... where these lie in a segment; ... */
	HgValueBounds *bounds;			  /* ... what is known of them in a segment ... */
	HgQualShares *shares;			  /* ... and what follows for its rows; ... */
	uint32 judged;					  /* ... this one; PG_UINT32_MAX: none */
	HgResidentColumns *row_columns;	  /* ... and all of it; NULL where there is no such thing */
	HgBatch *row_batch;
	const AttrNumber *row_attnos; /* [row_batch->ncolumns] of the table */
	const void **values;		  /* [nattnos] of a run that is only looked at */
	bool by_reference;			  /* some of the batch's columns are */
};

/* Some rows of a run: all of those behind the first, or such of them as are left. */
typedef struct HgRunRows
{
	uint32 first;
	int n;
	const uint16 *which; /* [n] which[i] behind the first; NULL: i */
	uint16 selected[HG_BATCH_ROWS];
} HgRunRows;

/* Select those of the rows that which[nwhich] names, in ascending order. */
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

/* Have what each clause that is evaluated over columns is evaluated by. */
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

/* Have what the part of the qual over columns is evaluated by, where that is another one now. */
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
	runs->judged = PG_UINT32_MAX;
	MemoryContextSwitchTo(old);
}

HgPredicateShare
hg_scan_runs_judge(HgScanRuns *runs, uint32 segment)
{
	HgScanSelect *select = runs->select;
	HgPredicateShare share;
	bool waits;

	hg_scan_select_follow(select);
	hg_scan_runs_follow(runs);
	if (select->column_qual == NULL)
		return select->node->ss.ps.qual == NULL ? HG_SHARE_ALL : HG_SHARE_SOME;
	if (runs->judged != segment)
	{
		hg_resident_columns_bounds(runs->qual_columns, runs->bounds);
		hg_column_qual_judge(select->column_qual, runs->bounds, runs->shares);
		runs->judged = segment;
	}
	waits = hg_scan_select_waits(select);
	share = hg_column_qual_share(select->column_qual, waits, runs->shares);
	/* there is more of the qual than what is evaluated over columns */
	return waits || select->row_qual != NULL ? Min(share, HG_SHARE_SOME) : share;
}

bool
hg_scan_runs_rule_out(HgScanRuns *runs, const HgResidentRun *run)
{
	HgScanSelect *select = runs->select;

	if (hg_scan_runs_judge(runs, run->segment) != HG_SHARE_NONE)
		return false;
	hg_heap_count_rows(select->node->ss.ss_currentRelation, run->nrows);
	hg_scan_select_count(select, run->nrows, 0);
	return true;
}

/* Leave out the rows that the check does not select. */
static void
hg_scan_runs_check(HgScanRuns *runs, HgRunRows *rows)
{
	HgScanSelect *select = runs->select;
	uint16 which[HG_BATCH_ROWS];

	if (runs->check_columns == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(runs));

		runs->check_columns =
			hg_resident_columns_create(runs->resident, select->ncheck_attnos, select->check_attnos);
		MemoryContextSwitchTo(old);
	}
	hg_resident_columns_add(runs->check_columns, rows->first, rows->which, rows->n,
							hg_scan_select_check_batch(select));
	hg_run_rows_select(rows, hg_scan_select_check(select, which), which);
}

/* Which rows of a run that are left does the rest of the qual hold for? */
static int
hg_scan_runs_check_rows(HgScanRuns *runs, bool in_order, const HgRowsLeft *left,
						const HgRunRows *rows, uint16 *which)
{
	HgScanSelect *select = runs->select;
	TupleTableSlot *slot = select->node->ss.ss_ScanTupleSlot;
	HgBatch *batch = runs->row_batch;
	int nwhich = 0;

	batch->nrows = 0;
	memset(batch->has_nulls, 0, batch->ncolumns * sizeof(bool));
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
	/* the slot has a row of no page */
	ExecClearTuple(slot);
	return nwhich;
}

/*
 * How many of the first of so many clauses are evaluated over arrays?  Where the current run
 * begins, or its segment is another one than it was.
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

/* Set holds[n] for rows from first on that clauses which are evaluated over arrays all hold for. */
static void
hg_scan_runs_apply_arrays(HgScanRuns *runs, int nclauses, uint32 first, int n, bool *holds)
{
	bool more[HG_BATCH_ROWS];
	bool any = false;

	for (int c = 0; c < nclauses; c++)
	{
		if (hg_column_qual_share_of(runs->shares, c) == HG_SHARE_ALL)
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
 * hg_predicate_apply() for rows of a run that are left, over a batch.  Rows that are to be
 * rechecked stay where the clause computes something (hg_scan_qual.c).
 */
static bool
hg_scan_runs_apply(HgScanRuns *runs, HgRunClause *clause, const HgRunRows *rows,
				   const HgRowsLeft *left, bool *holds, bool *recheck)
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
 * Leave out what clauses that are evaluated over columns do not hold for: the first ones together
 * as long as they are evaluated over arrays, then one after the other.
 */
static void
hg_scan_runs_decide(HgScanRuns *runs, bool in_order, HgRunRows *rows, HgRowsLeft *left)
{
	int nclauses = hg_column_qual_count(runs->select->column_qual, in_order);
	int narrays = rows->which == NULL ? hg_scan_runs_count_arrays(runs, nclauses) : 0;

	if (narrays > 0)
	{
		bool holds[HG_BATCH_ROWS];

		hg_scan_runs_apply_arrays(runs, narrays, rows->first, rows->n, holds);
		hg_rows_left_select(left, holds, NULL);
		hg_run_rows_select(rows, left->n, left->which);
	}
	for (int i = narrays; i < nclauses && rows->n > 0; i++)
	{
		bool holds[HG_BATCH_ROWS];
		bool recheck[HG_BATCH_ROWS];
		bool any;

		if (hg_column_qual_share_of(runs->shares, i) == HG_SHARE_ALL)
			continue;
		any = hg_scan_runs_apply(runs, &runs->clauses[i], rows, left, holds, recheck);
		hg_rows_left_select(left, holds, any ? recheck : NULL);
		hg_run_rows_select(rows, left->n, left->which);
	}
}

/* Leave out what the plan's qual does not hold for. */
static void
hg_scan_runs_filter(HgScanRuns *runs, HgRunRows *rows)
{
	HgScanSelect *select = runs->select;
	bool in_order = hg_scan_select_waits(select);
	int seen = rows->n;
	HgRowsLeft left;

	hg_rows_left_init(&left, rows->n);
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

/* The bits of eight booleans, the first one's lowest. */
static inline uint64
hg_runs_pack(const bool *holds)
{
	uint64 bytes;

	memcpy(&bytes, holds, sizeof(bytes));
	/* each byte's bit comes to another place of the highest byte, and no two to one below it */
#ifdef WORDS_BIGENDIAN
	return (bytes * UINT64CONST(0x8040201008040201)) >> 56;
#else
	return (bytes * UINT64CONST(0x0102040810204080)) >> 56;
#endif
}

/* Set the bits of those of n rows from first on that hold; returns how many. */
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
		/* there is no next word where no row is in it */
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
		/* the one behind has none */
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
hg_scan_runs_lie(const HgScanRuns *runs, const HgResidentRun *run)
{
	return hg_scan_runs_values(runs, run, runs->values);
}
