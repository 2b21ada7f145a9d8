/*-------------------------------------------------------------------------
 *
 * hg_loader_holdoff.c
 *	  Makes the workers leave a database that a command needs for itself, and keeps them away.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/latch.h"
#include "tcop/utility.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "backend/hg_cleanup.h"
#include "engine/hg_engine.h"
#include "loader/hg_loader_shared.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_list.h"

/* How long workers are waited for, and between checks, in ms.  PostgreSQL waits as long again. */
#define HG_HOLDOFF_MS 5000
#define HG_HOLDOFF_LOOK_MS 5

/* A database that this transaction keeps or kept workers away from. */
typedef struct HgHoldoff
{
	HgCleanup cleanup;
	Oid database;					 /* InvalidOid: ended */
	SubTransactionId subtransaction; /* its rollback ends this */
	struct HgHoldoff *next;
} HgHoldoff;

/* Those of this transaction, the last one first. */
static HgHoldoff *hg_holdoffs = NULL;

static ProcessUtility_hook_type previous_process_utility = NULL;

static uint32 hg_holdoff_wait_event;

/* Returns the value of a text option in a list, or a default. */
static const char *
hg_holdoff_option(List *options, const char *name, const char *otherwise)
{
	ListCell *cell;

	foreach (cell, options)
	{
		DefElem *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, name) == 0 && option->arg != NULL)
			return defGetString(option);
	}
	return otherwise;
}

/* Returns true if a database is a template, which users other than its owner may copy. */
static bool
hg_holdoff_is_template(Oid database)
{
	HeapTuple tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(database));
	bool is_template;

	if (!HeapTupleIsValid(tuple))
		return false;
	is_template = ((Form_pg_database) GETSTRUCT(tuple))->datistemplate;
	ReleaseSysCache(tuple);
	return is_template;
}

/* Returns true if the current user may create databases.  Not all releases export this check. */
static bool
hg_holdoff_may_create(void)
{
	HeapTuple role;
	bool may;

	if (superuser())
		return true;
	role = SearchSysCache1(AUTHOID, ObjectIdGetDatum(GetUserId()));
	may = HeapTupleIsValid(role) && ((Form_pg_authid) GETSTRUCT(role))->rolcreatedb;
	if (HeapTupleIsValid(role))
		ReleaseSysCache(role);
	return may;
}

/* Returns true if PostgreSQL would allow the current user to execute this statement. */
static bool
hg_holdoff_is_allowed(Node *statement, Oid database)
{
	if (IsA(statement, CreatedbStmt))
		return hg_holdoff_may_create() &&
			   (hg_holdoff_is_template(database) || hg_owns_database(database));
	return hg_owns_database(database) && (!IsA(statement, RenameStmt) || hg_holdoff_may_create());
}

/* Returns the name of the database that a statement needs for itself, or NULL. */
static const char *
hg_holdoff_name(Node *statement)
{
	switch (nodeTag(statement))
	{
		case T_DropdbStmt:
			return ((DropdbStmt *) statement)->dbname;
		case T_CreatedbStmt:
			return hg_holdoff_option(((CreatedbStmt *) statement)->options, "template",
									 "template1");
		case T_AlterDatabaseStmt:
			if (hg_holdoff_option(((AlterDatabaseStmt *) statement)->options, "tablespace", NULL) !=
				NULL)
				return ((AlterDatabaseStmt *) statement)->dbname;
			return NULL;
		case T_RenameStmt:
			if (((RenameStmt *) statement)->renameType == OBJECT_DATABASE)
				return ((RenameStmt *) statement)->subname;
			return NULL;
		default:
			return NULL;
	}
}

/* Lets workers work again. */
static void
hg_holdoff_end(HgHoldoff *holdoff)
{
	if (!OidIsValid(holdoff->database))
		return;
	hg_post_let_on(holdoff->database);
	holdoff->database = InvalidOid;
	hg_loader_wake();
}

static void
hg_holdoff_release(void *arg)
{
	HgHoldoff *holdoff = arg;

	hg_holdoffs = holdoff->next;
	hg_holdoff_end(holdoff);
}

/* Hands hold-offs of a released subtransaction to its parent; ends those of an aborted one. */
static void
hg_holdoff_end_subtransaction(SubXactEvent event, SubTransactionId subtransaction,
							  SubTransactionId parent, void *arg pg_attribute_unused())
{
	for (HgHoldoff *holdoff = hg_holdoffs; holdoff != NULL; holdoff = holdoff->next)
	{
		if (holdoff->subtransaction != subtransaction)
			continue;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			holdoff->subtransaction = parent;
		else if (event == SUBXACT_EVENT_ABORT_SUB)
			hg_holdoff_end(holdoff);
	}
}

/*
 * Keeps workers away from a database until this transaction ends, or the subtransaction is rolled
 * back.  Returns false if too many commands do so.
 */
static bool
hg_holdoff_begin(Oid database)
{
	HgHoldoff *holdoff;

	for (holdoff = hg_holdoffs; holdoff != NULL; holdoff = holdoff->next)
		if (holdoff->database == database)
			return true;
	/* registered first, as registering may fail */
	holdoff = MemoryContextAllocZero(TopTransactionContext, sizeof(HgHoldoff));
	holdoff->subtransaction = GetCurrentSubTransactionId();
	hg_cleanup_register_transaction(&holdoff->cleanup, hg_holdoff_release, holdoff);
	holdoff->next = hg_holdoffs;
	hg_holdoffs = holdoff;
	if (!hg_post_hold_off(database))
		return false;
	holdoff->database = database;
	return true;
}

/* Keeps workers away from a database until this transaction ends; waits until they are gone. */
static void
hg_holdoff_take(Oid database)
{
	double start;

	if (!hg_holdoff_begin(database))
		return;
	start = hg_clock_ms();
	while (!hg_post_send_away(database) && hg_clock_ms() - start < HG_HOLDOFF_MS)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 HG_HOLDOFF_LOOK_MS,
						 HG_WAIT_EVENT(hg_holdoff_wait_event, "HashGraphResidentLeave"));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

static void
hg_holdoff_process_utility(PlannedStmt *statement, const char *text, bool read_only_tree,
						   ProcessUtilityContext context, ParamListInfo params,
						   QueryEnvironment *environment, DestReceiver *dest, QueryCompletion *done)
{
	const char *name = hg_holdoff_name(statement->utilityStmt);
	Oid database = name != NULL ? get_database_oid(name, true) : InvalidOid;
	bool drops = IsA(statement->utilityStmt, DropdbStmt);

	/* an unprivileged user must not be able to stop workers */
	if (OidIsValid(database) && hg_holdoff_is_allowed(statement->utilityStmt, database))
		hg_holdoff_take(database);
	if (previous_process_utility != NULL)
		previous_process_utility(statement, text, read_only_tree, context, params, environment,
								 dest, done);
	else
		standard_ProcessUtility(statement, text, read_only_tree, context, params, environment, dest,
								done);
	if (OidIsValid(database) && drops)
	{
		(void) hg_directory_forget_database(database);
		hg_list_write(false);
	}
}

void
hg_holdoff_init(void)
{
	previous_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = hg_holdoff_process_utility;
	RegisterSubXactCallback(hg_holdoff_end_subtransaction, NULL);
}
