/*-------------------------------------------------------------------------
 *
 * hg_sql_preload.c
 *	  Checks which library this session has, and whether new sessions load it.
 *
 * A script of the extension begins with a check of the library's version: a session, or a server,
 * keeps the library that it has loaded, whatever was installed since.
 *
 * Joins are planned by hooks that the library sets when it is preloaded.  Other sessions,
 * including one that loads the library only now, plan them without.  Nothing is changed here: the
 * user is told what to run.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_db_role_setting.h"
#include "commands/dbcommands.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#include "backend/hg_library.h"

PG_FUNCTION_INFO_V1(hashgraph_check_library);
PG_FUNCTION_INFO_V1(hashgraph_check_preload);

#define PRELOAD_SETTING "session_preload_libraries"

/* Settings that preload libraries, which may also be stored for roles and databases. */
static const char *const preload_settings[] = {PRELOAD_SETTING, "local_preload_libraries"};

/* Returns true if a setting's list of libraries names this one. */
static bool
hg_sql_list_has_library(const char *value)
{
	List *libraries;
	ListCell *cell;

	/* the server complains about a malformed list when it loads it */
	if (value == NULL || !SplitDirectoriesString(pstrdup(value), ',', &libraries))
		return false;
	foreach (cell, libraries)
	{
		const char *name = last_dir_separator(lfirst(cell));

		name = name == NULL ? lfirst(cell) : name + 1;
		if (strcmp(name, "hashgraph") == 0 || strcmp(name, "hashgraph.so") == 0)
			return true;
	}
	return false;
}

/* Returns a setting's value that ALTER DATABASE or ALTER ROLE has stored, or NULL. */
static char *
hg_sql_stored_setting(Relation catalog, Oid database, Oid role, const char *name)
{
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple tuple;
	char *value = NULL;

	ScanKeyInit(&keys[0], Anum_pg_db_role_setting_setdatabase, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(database));
	ScanKeyInit(&keys[1], Anum_pg_db_role_setting_setrole, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(role));
	scan = systable_beginscan(catalog, DbRoleSettingDatidRolidIndexId, true, NULL, 2, keys);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool is_null;
		Datum stored = heap_getattr(tuple, Anum_pg_db_role_setting_setconfig,
									RelationGetDescr(catalog), &is_null);
		Datum *settings;
		int count = 0;
		size_t length = strlen(name);

		if (!is_null)
			deconstruct_array(DatumGetArrayTypeP(stored), TEXTOID, -1, false, TYPALIGN_INT,
							  &settings, NULL, &count);
		for (int i = 0; i < count && value == NULL; i++)
		{
			char *setting = TextDatumGetCString(settings[i]);

			if (strncmp(setting, name, length) == 0 && setting[length] == '=')
				value = setting + length + 1;
		}
	}
	systable_endscan(scan);
	return value;
}

/* Returns the command that makes new sessions of this database load the library. */
static char *
hg_sql_preload_line(const char *value)
{
	StringInfoData line;
	List *libraries;
	ListCell *cell;

	initStringInfo(&line);
	appendStringInfo(&line, "ALTER DATABASE %s SET " PRELOAD_SETTING " = ",
					 quote_identifier(get_database_name(MyDatabaseId)));
	/* keeps the other libraries; each is a string of its own, or the list would be one name */
	if (value != NULL && SplitDirectoriesString(pstrdup(value), ',', &libraries))
		foreach (cell, libraries)
			appendStringInfo(&line, "%s, ", quote_literal_cstr(lfirst(cell)));
	appendStringInfoString(&line, "'hashgraph'");
	return line.data;
}

/*
 * hashgraph_check_library(needed text): raises an error if this session's library is older than a
 * script that was installed after the session, or the server, had loaded it.
 */
Datum
hashgraph_check_library(PG_FUNCTION_ARGS)
{
	char *needed = text_to_cstring(PG_GETARG_TEXT_PP(0));

	if (!hg_library_is_at_least(needed))
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("this session has an older library of hashgraph than version %s needs", needed),
			 errdetail("The library is of version %s.", HG_VERSION),
			 errhint(
				 "Install the library of version %s, if it is not there yet, and reconnect; where "
				 "shared_preload_libraries names hashgraph, restart the server.",
				 needed)));
	PG_RETURN_VOID();
}

/* hashgraph_check_preload(): warns if new sessions of this database will not load the library. */
Datum
hashgraph_check_preload(PG_FUNCTION_ARGS)
{
	Oid role = GetUserId();
	Oid scopes[][2] = {{MyDatabaseId, role},
					   {InvalidOid, role},
					   {MyDatabaseId, InvalidOid},
					   {InvalidOid, InvalidOid}};
	const char *current = GetConfigOption(PRELOAD_SETTING, true, false);
	const char *kept = NULL; /* stored for the database, whatever the role */
	Relation catalog;
	bool loads = false;

	if (IsBinaryUpgrade)
		PG_RETURN_VOID();

	loads = hg_sql_list_has_library(GetConfigOption("shared_preload_libraries", true, false));
	for (int s = 0; s < lengthof(preload_settings); s++)
		loads |= hg_sql_list_has_library(GetConfigOption(preload_settings[s], true, false));
	catalog = table_open(DbRoleSettingRelationId, AccessShareLock);
	for (int i = 0; i < lengthof(scopes); i++)
	{
		for (int s = 0; s < lengthof(preload_settings); s++)
			loads |= hg_sql_list_has_library(
				hg_sql_stored_setting(catalog, scopes[i][0], scopes[i][1], preload_settings[s]));
		if (kept == NULL && !OidIsValid(scopes[i][1]))
			kept = hg_sql_stored_setting(catalog, scopes[i][0], scopes[i][1], PRELOAD_SETTING);
	}
	table_close(catalog, AccessShareLock);

	if (!loads)
		ereport(WARNING,
				(errmsg("hashgraph is not preloaded in this database"),
				 errdetail("Sessions that do not preload the library plan their joins without it."),
				 errhint("Run: %s", hg_sql_preload_line(kept != NULL ? kept : current))));
	PG_RETURN_VOID();
}
