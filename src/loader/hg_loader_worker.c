/*-------------------------------------------------------------------------
 *
 * hg_loader_worker.c
 *	  Functions that all background workers of the cache use.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/relation.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lwlock.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

#include "loader/hg_loader_worker.h"

StaticAssertDecl(sizeof(HgLoaderTask) <= BGW_EXTRALEN, "a worker's task does not fit");

static uint32 hg_loader_wait_event;

bool
hg_loader_start_worker(const HgLoaderTask *task)
{
	BackgroundWorker worker = {0};
	const char *name = task->slot >= HG_POST_LOADER ? "loader" : "witness";

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	worker.bgw_notify_pid = MyProcPid;
	strlcpy(worker.bgw_library_name, "hashgraph", sizeof(worker.bgw_library_name));
	snprintf(worker.bgw_function_name, sizeof(worker.bgw_function_name), "hg_%s_main", name);
	snprintf(worker.bgw_type, sizeof(worker.bgw_type), "hashgraph %s", name);
	snprintf(worker.bgw_name, sizeof(worker.bgw_name), "hashgraph %s for database %u", name,
			 task->database);
	memcpy(worker.bgw_extra, task, sizeof(HgLoaderTask));
	return RegisterDynamicBackgroundWorker(&worker, NULL);
}

/* Switches timeouts for sessions off: a witness's transaction lasts two periods. */
static void
hg_loader_lift_limits(void)
{
	static const char *const limits[] = {"statement_timeout", "lock_timeout",
										 "idle_in_transaction_session_timeout",
										 "transaction_timeout"};

	for (int i = 0; i < lengthof(limits); i++)
		if (GetConfigOption(limits[i], true, false) != NULL)
			SetConfigOption(limits[i], "0", PGC_SUSET, PGC_S_OVERRIDE);
}

HgLoaderTask
hg_loader_worker_begin(void)
{
	HgLoaderTask task;

	memcpy(&task, MyBgworkerEntry->bgw_extra, sizeof(HgLoaderTask));
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(task.database, InvalidOid, 0);
	hg_loader_lift_limits();
	if (!hg_post_take(task.post, task.database, task.slot))
		proc_exit(0);
	pgstat_report_appname(MyBgworkerEntry->bgw_type);
	return task;
}

void
hg_loader_begin(void)
{
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	XactIsoLevel = XACT_READ_COMMITTED;
	XactReadOnly = true;
	XactDeferrable = false;
	PushActiveSnapshot(GetTransactionSnapshot());
}

void
hg_loader_end(void)
{
	PopActiveSnapshot();
	CommitTransactionCommand();
}

/* Returns true if a retry may succeed: another process caused the error, and not the table. */
static bool
hg_loader_may_pass(int sqlstate)
{
	return sqlstate == ERRCODE_QUERY_CANCELED ||
		   ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_TRANSACTION_ROLLBACK;
}

bool
hg_loader_recover(MemoryContext context)
{
	bool again = hg_loader_may_pass(geterrcode());

	HOLD_INTERRUPTS();
	EmitErrorReport();
	/* a lock of the directory may be held outside of a transaction */
	LWLockReleaseAll();
	AbortOutOfAnyTransaction();
	MemoryContextSwitchTo(context);
	FlushErrorState();
	RESUME_INTERRUPTS();
	return again;
}

long
hg_witness_period(void)
{
	return 1000;
}

void
hg_loader_sleep(long milliseconds)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds,
					 HG_WAIT_EVENT(hg_loader_wait_event, "HashGraphResident"));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
}

Relation
hg_loader_open(Oid relation, bool *gone)
{
	Relation rel;

	*gone = false;
	if (!ConditionalLockRelationOid(relation, AccessShareLock))
		return NULL;
	rel = try_relation_open(relation, NoLock);
	if (rel == NULL)
	{
		UnlockRelationOid(relation, AccessShareLock);
		*gone = true;
	}
	return rel;
}

void
hg_loader_close(Relation rel)
{
	relation_close(rel, AccessShareLock);
}
