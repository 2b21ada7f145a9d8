/*-------------------------------------------------------------------------
 *
 * hg_child_cover.c
 *	  The table of a child plan of a join: its covered rows, and its pages for a device.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "batch/hg_child_rows.h"

/* Returns the table if its rows may be covered by a graph of the key, or NULL. */
static HgScanTable *
hg_child_graph_table(const HgChildRows *child)
{
	HgScanTable *table = child->source->tables != NULL ? child->source->tables->only : NULL;

	if (table == NULL || table->key == NULL || table->node->ss.ps.chgParam != NULL)
		return NULL;
	return table;
}

HgGraphExtent
hg_child_may_cover(const HgChildRows *child)
{
	const HgScanTable *table = hg_child_graph_table(child);

	return table != NULL ? hg_scan_table_may_cover(table) : (HgGraphExtent){0};
}

HgPinnedGraph *
hg_child_pin_graph(const HgChildRows *child, int ncolumns, const int *columns, AttrNumber *numbers)
{
	const HgScanTable *table = hg_child_graph_table(child);

	return table != NULL ? hg_scan_table_pin_graph(table, ncolumns, columns, numbers) : NULL;
}

bool
hg_child_graph_order(const HgChildRows *child, int n, int *order)
{
	const HgScanTable *table = hg_child_graph_table(child);

	return table != NULL && hg_scan_table_graph_order(table, n, order);
}

/* Creates the context of covered rows, and switches to it.  Returns the previous context. */
static MemoryContext
hg_child_begin_covered(HgChildRows *child)
{
	Assert(child->covered == NULL && child->batch->nrows == 0);
	child->cover.context = AllocSetContextCreate(GetMemoryChunkContext(child->batch),
												 "HashGraph covered rows", ALLOCSET_DEFAULT_SIZES);
	return MemoryContextSwitchTo(child->cover.context);
}

/* Sets up covered rows, of which rows_read count as read here.  Charges shared_bytes too. */
static void
hg_child_take_covered(HgChildRows *child, uint64 rows_read, uint64 shared_bytes)
{
	hg_charge_set(&child->cover.charge, child->covered->bytes + shared_bytes);
	child->cover.counted = rows_read;
	child->rows_read += rows_read;
}

bool
hg_child_cover(HgChildRows *child, bool pending, HgSharedCovered *shared)
{
	HgScanTable *table = hg_child_graph_table(child);
	MemoryContext old;

	if (table == NULL)
		return false;
	old = hg_child_begin_covered(child);
	child->covered = hg_scan_table_cover(table, pending, shared);
	if (child->covered == NULL)
	{
		MemoryContextSwitchTo(old);
		MemoryContextDelete(child->cover.context);
		child->cover.context = NULL;
		return false;
	}
	hg_child_take_covered(child, child->covered->rows, shared != NULL ? shared->bytes : 0);
	MemoryContextSwitchTo(old);
	return true;
}

void
hg_child_pin_covered(HgChildRows *child, const HgSharedCovered *shared)
{
	MemoryContext old = hg_child_begin_covered(child);

	hg_shared_covered_pin_graph(shared, &child->cover.pins);
	/* valid blocks are needed even after no rows are covered */
	MemoryContextSwitchTo(GetMemoryChunkContext(child->batch));
	hg_shared_covered_pin_valid(shared, child->plan->state->es_query_dsa, &child->cover.pins);
	MemoryContextSwitchTo(old);
}

void
hg_child_attach_covered(HgChildRows *child, const HgSharedCovered *shared)
{
	MemoryContext old = MemoryContextSwitchTo(child->cover.context);
	HgScanTable *table = hg_child_graph_table(child);

	if (table != NULL)
		child->covered = hg_scan_table_attach_covered(table, shared, &child->cover.pins);
	if (child->covered == NULL)
		elog(ERROR, "a worker cannot attach to the rows that the leader has covered");
	/* the leader counts shared rows and bytes */
	hg_child_take_covered(child, 0, 0);
	MemoryContextSwitchTo(old);
}

void
hg_child_apply_pending(HgChildRows *child)
{
	HgCovered *covered = child->covered;
	uint64 gone;

	if (covered == NULL || !hg_covered_has_pending(covered))
		return;
	gone = covered->rows;
	hg_covered_apply(covered);
	gone -= covered->rows;
	child->cover.counted -= gone;
	child->rows_read -= gone;
	hg_charge_set(&child->cover.charge, covered->bytes);
}

void
hg_child_begin_uncover(HgChildRows *child, pg_atomic_uint32 *next_part)
{
	MemoryContext old = MemoryContextSwitchTo(child->cover.context);

	hg_uncover_begin(&child->cover.uncover, child->covered, next_part);
	MemoryContextSwitchTo(old);
	/* they are counted when they are read */
	child->rows_read -= child->cover.counted;
	child->covered = NULL;
}

void
hg_child_end_covered(HgChildRows *child, const HgIntegers *left)
{
	if (left->count > 0)
	{
		pg_atomic_uint32 *next_part =
			MemoryContextAlloc(child->cover.context, sizeof(pg_atomic_uint32));
		MemoryContext old = MemoryContextSwitchTo(child->cover.context);

		pg_atomic_init_u32(next_part, 0);
		hg_covered_select_rows(child->covered, left);
		hg_covered_apply(child->covered);
		hg_charge_set(&child->cover.charge, child->covered->bytes);
		MemoryContextSwitchTo(old);
		child->cover.counted = child->covered->rows;
		hg_child_begin_uncover(child, next_part);
	}
	child->covered = NULL;
}

void
hg_child_uncover(HgChildRows *child)
{
	if (child->cover.context == NULL)
		return;
	hg_resident_scan_uncover(child->source->tables->only->resident);
	hg_charge_set(&child->cover.charge, 0);
	if (child->covered != NULL)
		child->rows_read -= child->cover.counted;
	child->covered = child->cover.uncover.covered = NULL;
	MemoryContextDelete(child->cover.context);
	child->cover.context = NULL;
}

/* ---------------------------------------------------------------------
 * Pages
 * ---------------------------------------------------------------------
 */

/* Returns true if a device can find the key of a row: a strict integer column as it is stored. */
static bool
hg_child_has_key_in_pages(const HgChildRows *child)
{
	const HgKeyEncoder *encoder = child->keys.encoder;

	return child->keys.exprs == NULL && hg_key_is_integer(encoder, child->keys.side) &&
		   encoder->parts[0].image[child->keys.side] != HG_IMAGE_INT8 && encoder->parts[0].strict;
}

bool
hg_child_init_page_source(HgChildRows *child, bool parallel, int ncolumns, const int *columns,
						  HgPageSource *page_source)
{
	int wanted[1 + HG_MAX_COLUMNS];

	Assert(ncolumns <= HG_MAX_COLUMNS);
	if (child->source->tables == NULL || child->source->tables->only == NULL ||
		child->filtering.filter != NULL || child->covered != NULL || child->keep_null_keys ||
		!hg_child_has_key_in_pages(child))
		return false;
	wanted[0] = child->keys.columns[0];
	for (int i = 0; i < ncolumns; i++)
		wanted[1 + i] = columns[i];
	return hg_page_source_init(page_source, child->source->tables->only, parallel, 1 + ncolumns,
							   wanted);
}

void
hg_child_end_pages(HgChildRows *child, HgPageSource *page_source)
{
	hg_page_source_count(page_source);
	hg_progress_step(child->progress, HG_PROGRESS_STEP_ROWS);
}

void
hg_child_report_pages(HgChildRows *child, HgPageSource *page_source, uint64 uploaded_rows,
					  uint64 rows, uint64 null_keys)
{
	hg_page_source_report(page_source, uploaded_rows, rows + null_keys);
	child->rows_read += rows + null_keys;
	child->null_keys += null_keys;
}
