/*-------------------------------------------------------------------------
 *
 * hg_sql_resident.c
 *	  hashgraph_resident_add(), _drop(), _refresh() and _check(), and the views hashgraph_resident
 *	  and hashgraph_stat_resident.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/relation.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "engine/hg_engine.h"
#include "loader/hg_loader_plan.h"
#include "loader/hg_loader_shared.h"
#include "resident/hg_resident_eviction.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_list.h"
#include "resident/hg_resident_report.h"
#include "resident/hg_resident_statistics.h"
#include "resident/hg_resident_validity.h"
#include "sql/hg_sql_relation.h"
#include "sql/hg_sql_resident.h"
#include "sql/hg_sql_row.h"

PG_FUNCTION_INFO_V1(hashgraph_resident);
PG_FUNCTION_INFO_V1(hashgraph_resident_add);
PG_FUNCTION_INFO_V1(hashgraph_resident_drop);
PG_FUNCTION_INFO_V1(hashgraph_resident_refresh);
PG_FUNCTION_INFO_V1(hashgraph_resident_check);
PG_FUNCTION_INFO_V1(hashgraph_stat_resident);

/* Time between two checks of a table that is waited for, in ms. */
#define HG_RESIDENT_LOOK_MS 10

/* Numbers of the columns of hashgraph_resident(). */
typedef enum HgResidentViewColumn
{
	RESIDENT_DATABASE = 0,
	RESIDENT_RELATION,
	RESIDENT_NUMBER,
	RESIDENT_KIND,
	RESIDENT_KEY,
	RESIDENT_STATE,
	RESIDENT_REASON,
	RESIDENT_BLOCKS_TOTAL,
	RESIDENT_BLOCKS_VISIBLE,
	RESIDENT_BLOCKS_RESIDENT,
	RESIDENT_BLOCKS_STALE,
	RESIDENT_HOST_BYTES,
	RESIDENT_DEVICE_BYTES,
	RESIDENT_PINNED,
	RESIDENT_LAST_USED,
	RESIDENT_LAST_LOADED,
	RESIDENT_COLUMNS
} HgResidentViewColumn;

/* Numbers of the columns of hashgraph_stat_resident(). */
typedef enum HgStatResidentColumn
{
	STAT_RESIDENT_SCANS = 0,
	STAT_RESIDENT_ROWS_SERVED,
	STAT_RESIDENT_BLOCKS_SERVED,
	STAT_RESIDENT_BLOCKS_FROM_HEAP,
	STAT_RESIDENT_CHAINS_BROKEN,
	STAT_RESIDENT_BLOCKS_READMITTED,
	STAT_RESIDENT_LOADS,
	STAT_RESIDENT_EVICTIONS,
	STAT_RESIDENT_GRAPHS_MADE,
	STAT_RESIDENT_GRAPHS_MERGED,
	STAT_RESIDENT_GRAPHS_REPLICATED,
	STAT_RESIDENT_GRAPHS_MISSED,
	STAT_RESIDENT_BLOCKS_LOOKED_AT,
	STAT_RESIDENT_LOOKS_RECALLED,
	STAT_RESIDENT_DECLINES,
	STAT_RESIDENT_DECLINED_FOR,
	STAT_RESIDENT_MEMORY,
	STAT_RESIDENT_MEMORY_USED,
	STAT_RESIDENT_MEMORY_PINNED,
	STAT_RESIDENT_STATS_RESET,
	STAT_RESIDENT_COLUMNS
} HgStatResidentColumn;

StaticAssertDecl((int) STAT_RESIDENT_DECLINES == (int) HG_COUNT_DECLINES,
				 "counters are not in the order of the columns");

/* Numbers of the columns of hashgraph_resident_check(). */
typedef enum HgCheckColumn
{
	CHECK_COMPARED = 0,
	CHECK_DIFFERENT,
	CHECK_COLUMNS
} HgCheckColumn;

static uint32 hg_resident_wait_event;

static void
hg_sql_resident_require_memory(void)
{
	if (!hg_resident_memory_exists())
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("the server has no memory for resident columns"),
						errhint("Set hashgraph.resident_memory, with hashgraph in "
								"shared_preload_libraries, and restart the server.")));
}

/* Opens a table that the current user may maintain. */
static Relation
hg_sql_resident_open(Oid relation)
{
	Relation rel;

	hg_sql_resident_require_memory();
	rel = hg_sql_relation_open(relation);
	if (!hg_may_maintain(relation))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(rel->rd_rel->relkind),
					   RelationGetRelationName(rel));
	return rel;
}

/* Raises an error if a table can't be cached. */
static void
hg_sql_resident_require_table(Relation rel)
{
	HgResidentReason reason = hg_validity_may_take_in(rel);

	if (reason != HG_REASON_NONE)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" cannot be resident", RelationGetRelationName(rel)),
						errdetail("The reason is that %s.", hg_resident_reason_text(reason))));
	if (hg_relation_is_new(rel))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("\"%s\" cannot be resident before this transaction has committed",
							   RelationGetRelationName(rel)),
						errdetail("The transaction has made the table, or the file that it has.")));
}

/* Returns why a table is in a state.  Without a launcher nobody sets HG_REASON_NO_WORKER. */
static HgResidentReason
hg_sql_resident_reason(HgResidentState state, HgResidentReason reason)
{
	if (reason == HG_REASON_NONE && state != HG_RESIDENT_DECLINED && !hg_loader_has_launcher())
		return HG_REASON_NO_WORKER;
	return reason;
}

/* The progress of a table that is waited for. */
typedef struct HgSqlWaited
{
	HgResidentState state;
	HgResidentReason reason;
	HgResidentState graphs;
	HgResidentReason graphs_reason;
	bool wanted;
} HgSqlWaited;

/* Reads the progress, with graphs declined since a time.  An error if the table has no entry. */
static HgSqlWaited
hg_sql_resident_waited(HgResidentRelation key, const char *name, TimestampTz since)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, false);
	HgSqlWaited waited;

	if (entry == NULL)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("\"%s\" is not to be resident any more", name)));
	waited.state = entry->state;
	waited.reason = hg_sql_resident_reason(waited.state, entry->reason);
	waited.wanted = entry->wanted;
	waited.graphs = hg_graphs_state(entry, since, &waited.graphs_reason);
	hg_directory_unlock(entry);
	return waited;
}

/* Raises the error for a declined table or graph. */
static void
hg_sql_resident_complain(const char *what, const char *name, HgResidentReason reason)
{
	ereport(ERROR,
			(errcode(reason == HG_REASON_NO_MEMORY ? ERRCODE_OUT_OF_MEMORY
												   : ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("%s\"%s\" could not be taken in", what, name),
			 errdetail("The reason is that %s.", hg_resident_reason_text(reason))));
}

/* How long a table is waited for while there is no worker, in ms. */
#define HG_RESIDENT_WORKER_MS 10000

/*
 * Waits until a table and its graphs are ready.  Raises an error if the table is declined, a graph
 * was declined since a time, or no worker comes.
 */
static void
hg_sql_resident_wait(HgResidentRelation key, const char *name, TimestampTz since)
{
	double worked = hg_clock_ms(); /* when there was last a worker for it */

	for (;;)
	{
		HgSqlWaited now = hg_sql_resident_waited(key, name, since);
		HgResidentReason reason = now.reason;

		if (now.state == HG_RESIDENT_DECLINED)
			hg_sql_resident_complain("", name, reason);
		if (now.state == HG_RESIDENT_READY && !now.wanted && now.graphs != HG_RESIDENT_QUEUED)
		{
			if (now.graphs == HG_RESIDENT_DECLINED)
				hg_sql_resident_complain("a HashGraph of ", name, now.graphs_reason);
			return;
		}
		if (reason != HG_REASON_NO_WORKER)
			worked = hg_clock_ms();
		else if (hg_clock_ms() - worked >= HG_RESIDENT_WORKER_MS)
			ereport(ERROR,
					(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
					 errmsg("\"%s\" could not be taken in so far", name),
					 errdetail("The reason is that %s.", hg_resident_reason_text(reason)),
					 errhint("Increase max_worker_processes, and restart the server: \"%s\" stays "
							 "queued.",
							 name)));
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 HG_RESIDENT_LOOK_MS,
						 HG_WAIT_EVENT(hg_resident_wait_event, "HashGraphResidentWait"));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Waits for the partitions of a partitioned table. */
static void
hg_sql_resident_wait_partitions(HgResidentRelation parent, TimestampTz since)
{
	HgResidentRelation *keys;
	int nkeys = hg_partitions_list(parent, &keys);

	for (int i = 0; i < nkeys; i++)
	{
		const char *name = get_rel_name(keys[i].relation);

		if (name != NULL)
			hg_sql_resident_wait(keys[i], name, since);
	}
}

Datum
hashgraph_resident_add(PG_FUNCTION_ARGS)
{
	Relation rel;
	HgDirectoryRequest request = {0};
	HgKeyNumbers *keys;
	List *numbers;
	TimestampTz asked_at;
	HgResidentReason reason;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(3) || PG_ARGISNULL(4))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("neither the table nor \"pinned\" nor \"wait\" may be NULL")));
	rel = hg_sql_resident_open(PG_GETARG_OID(0));
	request.partitioned = rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	if (!request.partitioned)
		hg_sql_resident_require_table(rel);
	numbers = hg_sql_resident_columns(rel, PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1));
	request.nkeys = hg_sql_resident_keys(rel, PG_ARGISNULL(2) ? NULL : PG_GETARG_ARRAYTYPE_P(2),
										 &keys, &numbers);
	request.keys = keys;
	if (numbers == NIL)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("relation \"%s\" has no column that can be resident",
							   RelationGetRelationName(rel))));
	request.key = hg_resident_relation(rel);
	request.name = pstrdup(RelationGetRelationName(rel));
	request.pinned = PG_GETARG_BOOL(3);
	request.columns = hg_sql_resident_numbers(numbers, &request.ncolumns);

	asked_at = request.nkeys > 0 ? GetCurrentTimestamp() : DT_NOEND;

	hg_list_load();
	reason = hg_directory_ask(&request);
	if (reason == HG_REASON_NO_MEMORY &&
		hg_eviction_make_room(request.key, HG_DIRECTORY_ROOM, true) > 0)
		reason = hg_directory_ask(&request);
	if (reason == HG_REASON_NONE && request.partitioned && !hg_partitions_follow(rel))
		reason = HG_REASON_NO_MEMORY;
	/* a lock would not hinder the loader, but others as long as this waits */
	relation_close(rel, AccessShareLock);
	hg_list_write(false);
	hg_loader_wake();
	if (reason != HG_REASON_NONE)
		hg_sql_resident_complain("", request.name, reason);
	if (PG_GETARG_BOOL(4) && request.partitioned)
		hg_sql_resident_wait_partitions(request.key, asked_at);
	else if (PG_GETARG_BOOL(4))
		hg_sql_resident_wait(request.key, request.name, asked_at);
	PG_RETURN_VOID();
}

Datum
hashgraph_resident_drop(PG_FUNCTION_ARGS)
{
	Relation rel;
	HgResidentRelation key;
	HgDirectoryEntry *entry;
	List *numbers = NIL;
	ListCell *cell;
	Oid parent = InvalidOid;
	bool partitioned = false;

	if (PG_ARGISNULL(0))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the table is NULL")));
	rel = hg_sql_resident_open(PG_GETARG_OID(0));
	if (!PG_ARGISNULL(1))
		numbers = hg_sql_resident_columns(rel, PG_GETARG_ARRAYTYPE_P(1));
	key = hg_resident_relation(rel);
	hg_list_load();
	entry = hg_directory_lock(key, true);
	if (entry != NULL)
	{
		parent = entry->parent;
		partitioned = entry->partitioned;
	}
	if (entry != NULL && OidIsValid(parent))
		hg_directory_unlock(entry);
	else if (entry != NULL)
	{
		foreach (cell, numbers)
			(void) hg_directory_remove_column(entry, (AttrNumber) lfirst_int(cell));
		if (PG_ARGISNULL(1) || entry->ncolumns == 0)
			hg_directory_remove(entry);
		else
		{
			/* versions without the columns will replace those with them */
			entry->wanted = !partitioned;
			hg_directory_unlock(entry);
		}
	}
	if (OidIsValid(parent))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("\"%s\" is resident as a partition", RelationGetRelationName(rel)),
						errhint("Drop the partitioned table from the residents, or detach the "
								"partition.")));
	if (partitioned)
		hg_partitions_forget(key, hg_sql_resident_names(rel, numbers));
	relation_close(rel, AccessShareLock);
	hg_list_write(false);
	hg_loader_wake();
	PG_RETURN_VOID();
}

/* Requests all of a table again; returns false if it has no entry. */
static bool
hg_sql_resident_request(HgResidentRelation key)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, true);

	if (entry == NULL)
		return false;
	hg_directory_request_columns(entry);
	if (!entry->partitioned)
		hg_directory_queue_segments(entry);
	hg_directory_unlock(entry);
	return true;
}

Datum
hashgraph_resident_refresh(PG_FUNCTION_ARGS)
{
	Relation rel = hg_sql_resident_open(PG_GETARG_OID(0));
	HgResidentRelation *keys;
	int nkeys;

	hg_list_load();
	if (!hg_sql_resident_request(hg_resident_relation(rel)))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("\"%s\" is not resident", RelationGetRelationName(rel)),
						errhint("hashgraph_resident_add() has a table be taken in.")));
	nkeys = hg_partitions_list(hg_resident_relation(rel), &keys);
	for (int i = 0; i < nkeys; i++)
		(void) hg_sql_resident_request(keys[i]);
	relation_close(rel, AccessShareLock);
	hg_loader_wake();
	PG_RETURN_VOID();
}

/* Compares a table's valid blocks with the heap, and adds the result to a sum. */
static void
hg_sql_resident_compare(Relation rel, HgCompared *sum)
{
	HgCompared compared;
	const char *why_not;

	if (!hg_validity_may_use(rel, GetActiveSnapshot(), &why_not))
	{
		ereport(NOTICE, (errmsg("nothing of \"%s\" would be served to this transaction",
								RelationGetRelationName(rel)),
						 errdetail("The reason is that %s.", why_not)));
		return;
	}
	compared = hg_sql_compare_valid(rel, GetActiveSnapshot());
	sum->rows += compared.rows;
	sum->different += compared.different;
}

/* Does so for the partitions of a partitioned table. */
static void
hg_sql_resident_compare_partitions(Relation rel, HgCompared *sum)
{
	List *partitions = find_all_inheritors(RelationGetRelid(rel), AccessShareLock, NULL);
	ListCell *cell;

	/* the first one is the table itself, which the caller has locked */
	for_each_from(cell, partitions, 1)
	{
		Relation partition = relation_open(lfirst_oid(cell), NoLock);

		if (partition->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
			hg_sql_resident_compare(partition, sum);
		relation_close(partition, AccessShareLock);
	}
}

Datum
hashgraph_resident_check(PG_FUNCTION_ARGS)
{
	Relation rel = hg_sql_resident_open(PG_GETARG_OID(0));
	HgSqlRow row = hg_sql_row_start(fcinfo, CHECK_COLUMNS);
	HgCompared compared = {0};

	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		hg_sql_resident_compare_partitions(rel, &compared);
	else
		hg_sql_resident_compare(rel, &compared);
	hg_sql_row_set_count(&row, CHECK_COMPARED, compared.rows);
	hg_sql_row_set_count(&row, CHECK_DIFFERENT, compared.different);
	relation_close(rel, AccessShareLock);
	PG_RETURN_DATUM(hg_sql_row_finish(&row));
}

/*
 * Returns true if the current user may see what is cached of a table, like its statistics.  Sizes
 * of columns and graphs depend on all rows: they are hidden where policies hold, as in pg_stats.
 */
static bool
hg_sql_resident_may_see(HgResidentRelation key)
{
	if (has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS))
		return true;
	return key.database == MyDatabaseId && get_rel_relkind(key.relation) != '\0' &&
		   pg_class_aclcheck(key.relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK &&
		   check_enable_rls(key.relation, InvalidOid, true) != RLS_ENABLED;
}

/* Returns the numbers of a key's columns as an array. */
static Datum
hg_sql_resident_key_array(const HgKeyNumbers *key)
{
	Datum numbers[HG_GRAPH_COLUMNS];

	for (int i = 0; i < key->n; i++)
		numbers[i] = Int16GetDatum(key->numbers[i]);
	return PointerGetDatum(
		construct_array(numbers, key->n, INT2OID, sizeof(int16), true, TYPALIGN_SHORT));
}

Datum
hashgraph_resident(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	HgResidentRelation *keys;
	int nkeys;

	InitMaterializedSRF(fcinfo, 0);
	if (!hg_resident_memory_exists())
		return (Datum) 0;
	hg_list_load();
	nkeys = hg_directory_list(InvalidOid, &keys);
	for (int i = 0; i < nkeys; i++)
	{
		HgResidentReport *reports;
		int n = hg_sql_resident_may_see(keys[i]) ? hg_resident_report(keys[i], &reports) : 0;

		for (int k = 0; k < n; k++)
		{
			const HgResidentReport *report = &reports[k];
			const char *reason =
				hg_resident_reason_text(hg_sql_resident_reason(report->state, report->reason));
			HgSqlRow row = hg_sql_row_start(fcinfo, RESIDENT_COLUMNS);

			hg_sql_row_set(&row, RESIDENT_DATABASE, ObjectIdGetDatum(keys[i].database));
			hg_sql_row_set(&row, RESIDENT_RELATION, ObjectIdGetDatum(keys[i].relation));
			hg_sql_row_set(&row, RESIDENT_NUMBER, Int16GetDatum(report->number));
			hg_sql_row_set_text(&row, RESIDENT_KIND, report->key.n > 0 ? "graph" : "column");
			if (report->key.n > 0)
				hg_sql_row_set(&row, RESIDENT_KEY, hg_sql_resident_key_array(&report->key));
			hg_sql_row_set_text(&row, RESIDENT_STATE, hg_resident_state_name(report->state));
			if (reason != NULL)
				hg_sql_row_set_text(&row, RESIDENT_REASON, reason);
			hg_sql_row_set_count(&row, RESIDENT_BLOCKS_TOTAL, report->total);
			hg_sql_row_set_count(&row, RESIDENT_BLOCKS_VISIBLE, report->visible);
			hg_sql_row_set_count(&row, RESIDENT_BLOCKS_RESIDENT, report->resident);
			hg_sql_row_set_count(&row, RESIDENT_BLOCKS_STALE, report->stale);
			hg_sql_row_set_count(&row, RESIDENT_HOST_BYTES, report->bytes);
			if (report->has_replica)
				hg_sql_row_set_count(&row, RESIDENT_DEVICE_BYTES, report->replica_bytes);
			hg_sql_row_set(&row, RESIDENT_PINNED, BoolGetDatum(report->pinned));
			if (report->used_at != 0)
				hg_sql_row_set(&row, RESIDENT_LAST_USED, TimestampTzGetDatum(report->used_at));
			if (report->loaded_at != 0)
				hg_sql_row_set(&row, RESIDENT_LAST_LOADED, TimestampTzGetDatum(report->loaded_at));
			tuplestore_putvalues(result->setResult, result->setDesc, row.values, row.nulls);
		}
	}
	return (Datum) 0;
}

/* Returns why tables were declined, and how often: lines of "reason: times". */
static char *
hg_sql_resident_declines(const HgResidentStatistics *statistics)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < HG_RESIDENT_REASONS; i++)
		if (statistics->declines[i] > 0)
			appendStringInfo(&text, "%s%s: " UINT64_FORMAT, text.len > 0 ? "\n" : "",
							 hg_resident_reason_text(i), statistics->declines[i]);
	return text.data;
}

Datum
hashgraph_stat_resident(PG_FUNCTION_ARGS)
{
	HgSqlRow row = hg_sql_row_start(fcinfo, STAT_RESIDENT_COLUMNS);
	HgResidentStatistics statistics = hg_resident_statistics();
	bool exists = hg_resident_memory_exists();

	for (int i = 0; i < HG_RESIDENT_COUNTERS; i++)
		hg_sql_row_set_count(&row, i, statistics.counters[i]);
	hg_sql_row_set_text(&row, STAT_RESIDENT_DECLINED_FOR, hg_sql_resident_declines(&statistics));
	hg_sql_row_set_count(&row, STAT_RESIDENT_MEMORY, exists ? hg_resident_memory_size() : 0);
	hg_sql_row_set_count(&row, STAT_RESIDENT_MEMORY_USED, exists ? hg_resident_memory_used() : 0);
	hg_sql_row_set_count(&row, STAT_RESIDENT_MEMORY_PINNED,
						 exists ? hg_resident_memory_pinned() : 0);
	if (statistics.reset_at != 0)
		hg_sql_row_set(&row, STAT_RESIDENT_STATS_RESET, TimestampTzGetDatum(statistics.reset_at));
	PG_RETURN_DATUM(hg_sql_row_finish(&row));
}
