/*-------------------------------------------------------------------------
 *
 * hg_fault_at_once.c
 *	  Everything resident: what a query scans is taken in when the query begins.
 *
 * With hashgraph.fault_resident_at_once a query whose plan has a node of ours waits, before its
 * first row, until its tables are resident, all columns of them that can be: so test suites that
 * know nothing of residents are served from there.  The tables are vacuumed for it, in the query's
 * own transaction, since nobody else would in between; what the catalog says of their sizes is left
 * as it was, so that plans stay the same.
 *
 * That is done where it can be: a transaction that has written something may have changed the
 * table itself, and reads what is cached.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/multixact.h"
#include "access/parallel.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "commands/vacuum.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "storage/lmgr.h"
#include "utils/guc.h"

#include "hg_fault.h"
#include "loader/hg_loader_column.h"
#include "loader/hg_loader_shared.h"
#include "resident/hg_page_vis.h"
#include "resident/hg_resident_chain.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_list.h"
#include "resident/hg_resident_validity.h"

/*
 * Between two looks, in ms, and how long is waited for bits that older snapshots keep clear, and
 * for a loader.
 */
#define HG_AT_ONCE_LOOK_MS 10
#define HG_AT_ONCE_BITS_MS 300
#define HG_AT_ONCE_LOADER_MS 3000

static bool hg_fault_at_once = false;

static ExecutorStart_hook_type previous_executor_start = NULL;

/* ---------------------------------------------------------------------
 * Bits
 * ---------------------------------------------------------------------
 */

static bool
hg_at_once_is_visible(Relation rel)
{
	BlockNumber visible;

	visibilitymap_count(rel, &visible, NULL);
	return visible >= RelationGetNumberOfBlocks(rel);
}

/* Vacuum a table in the middle of a transaction: what needs no cleanup of indexes. */
static void
hg_at_once_vacuum(Relation rel)
{
	VacuumParams params = {
		.options = VACOPT_VACUUM,
		.freeze_min_age = -1,
		.freeze_table_age = -1,
		.multixact_freeze_min_age = -1,
		.multixact_freeze_table_age = -1,
		.index_cleanup = VACOPTVALUE_DISABLED,
		.truncate = VACOPTVALUE_DISABLED,
		.nworkers = -1,
	};
	FormData_pg_class before;

	memcpy(&before, rel->rd_rel, CLASS_TUPLE_SIZE);
	table_relation_vacuum(rel, &params, NULL);
	hg_set_table_size(rel, &before);
}

/* Have as many blocks be all-visible as can be within a while. */
static void
hg_at_once_set_bits(Relation rel)
{
	if (RecoveryInProgress() || IsInParallelMode() ||
		TransactionIdIsValid(GetTopTransactionIdIfAny()) || hg_at_once_is_visible(rel) ||
		!ConditionalLockRelation(rel, ShareUpdateExclusiveLock))
		return;
	for (int waited = 0; waited <= HG_AT_ONCE_BITS_MS; waited += HG_AT_ONCE_LOOK_MS)
	{
		hg_at_once_vacuum(rel);
		if (hg_at_once_is_visible(rel))
			break;
		pg_usleep(HG_AT_ONCE_LOOK_MS * 1000);
		CHECK_FOR_INTERRUPTS();
	}
	UnlockRelation(rel, ShareUpdateExclusiveLock);
}

/* ---------------------------------------------------------------------
 * Columns
 * ---------------------------------------------------------------------
 */

/* Ask for all columns of a table that can be resident; false: there is none, or no room. */
static bool
hg_at_once_ask(Relation rel)
{
	TupleDesc desc = RelationGetDescr(rel);
	AttrNumber *columns = palloc(Max(desc->natts, 1) * sizeof(AttrNumber));
	HgDirectoryRequest request = {
		.key = hg_resident_relation(rel), .name = RelationGetRelationName(rel), .columns = columns};
	bool asked;

	for (int i = 0; i < desc->natts; i++)
		if (hg_encode_may_take_in(TupleDescAttr(desc, i)) == HG_REASON_NONE)
			columns[request.ncolumns++] = i + 1;
	asked = request.ncolumns > 0 && hg_directory_ask(&request);
	pfree(columns);
	return asked;
}

/* Has a locked entry all that is set in these bits? */
static bool
hg_at_once_has(const HgDirectoryEntry *entry, Relation rel, const HgBlockBits *bits,
			   uint32 nsegments)
{
	const HgSegmentSlot *slots = hg_directory_slots(entry);
	const HgChain *chain = hg_chain_find(entry->key.database);
	TupleDesc desc = RelationGetDescr(rel);

	if (chain == NULL || entry->nslots != nsegments ||
		!hg_resident_file_equal(entry->file, hg_resident_file(rel)))
		return false;
	for (uint32 i = 0; i < nsegments; i++)
	{
		if (hg_block_bits_count(&bits[i], NULL) == 0)
			continue;
		if (!DsaPointerIsValid(slots[i].version) ||
			slots[i].record.position.generation != hg_chain_generation(chain) ||
			hg_block_bits_count(&bits[i], &slots[i].record.blocks) > 0)
			return false;
		for (int k = 0; k < desc->natts; k++)
		{
			HgResidentColumn column;

			if (hg_encode_may_take_in(TupleDescAttr(desc, k)) != HG_REASON_NONE)
				continue;
			column = hg_resident_column(TupleDescAttr(desc, k));
			if (hg_segment_find_column(hg_segment_version(slots[i].version), &column) < 0)
				return false;
		}
	}
	return true;
}

typedef enum HgAtOnce
{
	HG_AT_ONCE_THERE,	/* all that is all-visible is valid */
	HG_AT_ONCE_WAITS,	/* for a loader */
	HG_AT_ONCE_MISSING, /* it is to be asked for */
	HG_AT_ONCE_DECLINED
} HgAtOnce;

static HgAtOnce
hg_at_once_look(Relation rel)
{
	uint32 nsegments = hg_segment_count(RelationGetNumberOfBlocks(rel));
	HgBlockBits *bits = palloc(Max(nsegments, 1) * sizeof(HgBlockBits));
	HgDirectoryEntry *entry;
	HgAtOnce result = HG_AT_ONCE_MISSING;

	hg_map_copy(rel, 0, nsegments, bits);
	entry = hg_directory_lock(hg_resident_relation(rel), false);
	if (entry != NULL)
	{
		if (hg_at_once_has(entry, rel, bits, nsegments))
			result = HG_AT_ONCE_THERE;
		else if (entry->state == HG_RESIDENT_DECLINED)
			result = HG_AT_ONCE_DECLINED;
		else if (entry->wanted || entry->state != HG_RESIDENT_READY)
			result = HG_AT_ONCE_WAITS;
		hg_directory_unlock(entry);
	}
	pfree(bits);
	return result;
}

/* Have a table be resident, as far as it can be. */
static void
hg_at_once_take_in(Relation rel)
{
	if (hg_validity_may_take_in(rel) != HG_REASON_NONE || hg_relation_is_new(rel) ||
		RelationGetNumberOfBlocks(rel) == 0)
		return;
	hg_at_once_set_bits(rel);
	hg_list_load();
	for (int waited = 0; waited < HG_AT_ONCE_LOADER_MS; waited += HG_AT_ONCE_LOOK_MS)
	{
		HgAtOnce state = hg_at_once_look(rel);

		if (state == HG_AT_ONCE_THERE || state == HG_AT_ONCE_DECLINED ||
			(state == HG_AT_ONCE_MISSING && !hg_at_once_ask(rel)))
			return;
		hg_loader_wake();
		pg_usleep(HG_AT_ONCE_LOOK_MS * 1000);
		CHECK_FOR_INTERRUPTS();
	}
	elog(LOG, "hashgraph.fault_resident_at_once: \"%s\" was not taken in",
		 RelationGetRelationName(rel));
}

/* ---------------------------------------------------------------------
 * Queries
 * ---------------------------------------------------------------------
 */

/* Take in what is scanned by and below a node, where that is one of ours or lies below one. */
static bool
hg_at_once_walk(PlanState *node, void *below)
{
	bool ours = below != NULL;

	if (IsA(node, CustomScanState))
		ours |= strncmp(castNode(CustomScanState, node)->methods->CustomName, "HashGraph",
						strlen("HashGraph")) == 0;
	else if (IsA(node, SeqScanState) && ours)
		hg_at_once_take_in(((ScanState *) node)->ss_currentRelation);
	return planstate_tree_walker(node, hg_at_once_walk, ours ? node : NULL);
}

static void
hg_at_once_executor_start(QueryDesc *query, int flags)
{
	if (previous_executor_start)
		previous_executor_start(query, flags);
	else
		standard_ExecutorStart(query, flags);
	if (hg_fault_at_once && hg_resident_memory_exists() && !IsParallelWorker() &&
		(flags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		hg_at_once_walk(query->planstate, NULL);
}

void
hg_fault_at_once_init(void)
{
	DefineCustomBoolVariable("hashgraph.fault_resident_at_once",
							 "Has what a query scans be taken in, and waited for, when it begins.",
							 NULL, &hg_fault_at_once, false, PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL,
							 NULL, NULL);
	previous_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = hg_at_once_executor_start;
}
