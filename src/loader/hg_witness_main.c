/*-------------------------------------------------------------------------
 *
 * hg_witness_main.c
 *	  The witnesses of a database: two processes whose snapshots form a chain.
 *
 * resident/hg_resident_validity.c explains their purpose, and why there are two;
 * resident/hg_resident_chain.h explains rounds.  In turn, each of them
 *
 *	begins a transaction with a snapshot, that of the round
 *	observes the tables that have records, each under a lock that is available at once
 *	ends the round
 *	stays in the transaction until the other has ended its round, a period later
 *	ends the transaction
 *
 * So xmin is held back by at most two periods and a round.  So is anyone who waits for the end of
 * transactions that could see older rows (CREATE INDEX CONCURRENTLY).  A witness whose successor
 * does not come breaks the chain and continues; the first witness begins another one.
 *
 * A TABLE THAT CAN'T BE OBSERVED, because its file is missing or damaged, does not prevent the
 * observation of others: each table has a subtransaction, whose error ends only that.  The table
 * is declined.
 *
 * WHATEVER ENDS A WITNESS breaks the chain before its snapshot is dropped.  No other error is
 * caught: an error of a background worker ends in proc_exit(), as a termination does.
 * before_shmem_exit callbacks come before everything else, the last registered one first.
 * hg_witness_at_exit is registered after InitPostgres() has registered ShutdownPostgres, which
 * aborts the transaction.  (A callback for the transaction's abort, or its resource owner's
 * release, would come too late: ProcArrayEndTransaction is called before them.)
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "loader/hg_loader_plan.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_resident_chain.h"

/* Time after its round that a successor is waited for, in ms. */
#define HG_WITNESS_TIMEOUT 3000

PGDLLEXPORT void hg_witness_main(Datum arg);

/* The database's chain, and generation and round of this process's snapshot; 0: it has none. */
static HgChain *held_chain = NULL;
static uint64 held_generation = 0;
static uint64 held_round = 0;

static void
hg_witness_at_exit(int code pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	if (held_generation != 0)
		hg_chain_break(held_chain, held_generation);
}

/* Returns true if the extension was dropped, so that nobody could drop the entries. */
static bool
hg_witness_extension_is_gone(void)
{
	return !OidIsValid(get_extension_oid("hashgraph", true));
}

/* Observes a table.  Returns true if there is something to load. */
static bool
hg_witness_observe_table(Relation rel)
{
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
	{
		uint64 changes = hg_directory_changes();

		(void) hg_partitions_follow(rel);
		return hg_directory_changes() != changes;
	}
	if (!hg_loader_check_table(rel) || !hg_chain_may_observe(rel))
		return false;
	hg_loader_check_columns(rel);
	return hg_chain_observe(held_generation, held_round, rel);
}

/* Returns true if the table caused an error, and not another process or lack of resources. */
static bool
hg_witness_is_of_table(int sqlstate)
{
	return sqlstate != ERRCODE_QUERY_CANCELED &&
		   ERRCODE_TO_CATEGORY(sqlstate) != ERRCODE_TRANSACTION_ROLLBACK &&
		   ERRCODE_TO_CATEGORY(sqlstate) != ERRCODE_INSUFFICIENT_RESOURCES;
}

/* Declines a table that could not be observed: none of its blocks is valid any more. */
static void
hg_witness_decline(Relation rel)
{
	HgDirectoryEntry *entry = hg_directory_lock(hg_resident_relation(rel), true);

	if (entry == NULL)
		return;
	hg_directory_truncate(entry, 0);
	entry->file = hg_resident_file(rel);
	entry->loaded_at = GetCurrentTimestamp();
	hg_loader_decline(entry, HG_REASON_FAILED);
	hg_directory_unlock(entry);
}

/* Observes a table in a subtransaction of its own. */
static bool
hg_witness_try_table(Relation rel)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool wanted = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		wanted = hg_witness_observe_table(rel);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		if (!hg_witness_is_of_table(geterrcode()))
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		hg_witness_decline(rel);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return wanted;
}

/* Observes the tables of the database.  Returns true if there is something to load. */
static bool
hg_witness_observe(void)
{
	HgResidentRelation *keys;
	int nkeys;
	bool wanted = false;

	if (hg_witness_extension_is_gone())
		(void) hg_directory_forget_database(MyDatabaseId);
	nkeys = hg_directory_list(MyDatabaseId, &keys);
	for (int i = 0; i < nkeys; i++)
	{
		bool gone;
		Relation rel = hg_loader_open(keys[i].relation, &gone);

		if (gone)
		{
			hg_partitions_forget(keys[i], NIL);
			hg_directory_forget_relation(keys[i]);
		}
		if (rel == NULL)
			continue; /* it is not observed, so its records are struck */
		wanted |= hg_witness_try_table(rel);
		hg_loader_close(rel);
		CHECK_FOR_INTERRUPTS();
	}
	pfree(keys);
	return wanted;
}

/* Reports that the round is finished: the other witness is next. */
static void
hg_witness_report_round(const HgLoaderTask *task)
{
	HgLastRound last = {.round = held_round, .slot = task->slot, .ended_at = GetCurrentTimestamp()};

	hg_post_set_last_round(task->post, &last);
	hg_post_wake(task->post, HG_POST_OTHER_WITNESS - task->slot);
}

/* Begins a chain with a snapshot of this process. */
static void
hg_witness_start(const HgLoaderTask *task)
{
	hg_loader_begin();
	held_generation = hg_chain_start(held_chain, &held_round);
	hg_witness_report_round(task);
	hg_loader_wake();
}

/* Makes the next round of the chain.  Returns with a snapshot, unless the chain is broken. */
static void
hg_witness_make_round(const HgLoaderTask *task, uint64 generation)
{
	bool wanted;

	hg_loader_begin();
	/* from here on the end of this process breaks the chain */
	held_generation = generation;
	held_round = hg_chain_begin_round(held_chain, generation);
	if (held_round == 0)
	{
		held_generation = 0;
		hg_loader_end();
		return;
	}
	wanted = hg_witness_observe();
	hg_chain_end_round(held_chain,
					   (HgChainPosition){.generation = generation, .round = held_round});
	hg_witness_report_round(task);
	if (wanted)
		hg_loader_wake();
}

/* Drops the snapshot. */
static void
hg_witness_drop(void)
{
	hg_loader_end();
	held_generation = 0;
}

/* Does what is due; returns how long there is nothing to do, in ms. */
static long
hg_witness_work(const HgLoaderTask *task)
{
	uint64 generation = hg_chain_generation(held_chain);
	long period = hg_witness_period();
	HgLastRound last = hg_post_last_round(task->post);
	long age = TimestampDifferenceMilliseconds(last.ended_at, GetCurrentTimestamp());

	if (held_generation != 0)
	{
		/* the other witness has finished a later round, or nobody relies on this one any more */
		if (hg_chain_finished(held_chain) > held_round || generation != held_generation)
		{
			hg_witness_drop();
			return 0;
		}
		if (age >= HG_WITNESS_TIMEOUT)
		{
			hg_chain_break(held_chain, held_generation);
			hg_witness_drop();
			return 0;
		}
		return HG_WITNESS_TIMEOUT - age;
	}
	if (generation == 0)
	{
		/* one of the two begins */
		if (task->slot != HG_POST_WITNESS)
			return period;
		hg_witness_start(task);
		return 0;
	}
	if (last.slot == task->slot)
		return period;
	if (age < period)
		return period - age;
	hg_witness_make_round(task, generation);
	return 0;
}

void
hg_witness_main(Datum arg pg_attribute_unused())
{
	HgLoaderTask task = hg_loader_worker_begin();

	held_chain = hg_chain_find(task.database);
	if (held_chain == NULL)
		proc_exit(0);
	before_shmem_exit(hg_witness_at_exit, 0);

	while (!hg_post_is_left(task.post))
	{
		long idle = hg_witness_work(&task);

		if (idle > 0)
			hg_loader_sleep(idle);
		CHECK_FOR_INTERRUPTS();
	}
	if (held_generation != 0)
	{
		hg_chain_break(held_chain, held_generation);
		hg_witness_drop();
	}
	proc_exit(0);
}
