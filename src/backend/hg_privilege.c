/*-------------------------------------------------------------------------
 *
 * hg_privilege.c
 *	  Checks whether a node may call functions itself, and a user may see joins.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/htup_details.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "backend/hg_privilege.h"

/* Raises an error if a role may not execute a function; the error's text depends on kind. */
static void
hg_privilege_check(Oid function, Oid role, ObjectType kind)
{
	AclResult allowed = hg_function_aclcheck(function, role, ACL_EXECUTE);

	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, kind, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

void
hg_privilege_check_function(Oid function)
{
	hg_privilege_check(function, GetUserId(), OBJECT_FUNCTION);
}

/* Returns the owner of a function. */
static Oid
hg_privilege_owner(Oid function)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return owner;
}

void
hg_privilege_check_aggregate(const Aggref *aggref)
{
	HeapTuple tuple;
	Form_pg_aggregate aggregate;
	Oid functions[2];
	Oid owner;

	hg_privilege_check(aggref->aggfnoid, GetUserId(), OBJECT_AGGREGATE);

	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	aggregate = (Form_pg_aggregate) GETSTRUCT(tuple);
	functions[0] = aggregate->aggtransfn;
	if (!DO_AGGSPLIT_SKIPFINAL(aggref->aggsplit))
		functions[1] = aggregate->aggfinalfn;
	else
		functions[1] = aggref->aggtranstype == INTERNALOID ? aggregate->aggserialfn : InvalidOid;
	ReleaseSysCache(tuple);

	owner = hg_privilege_owner(aggref->aggfnoid);
	for (int i = 0; i < (int) lengthof(functions); i++)
		if (OidIsValid(functions[i]))
			hg_privilege_check(functions[i], owner, OBJECT_FUNCTION);
}

bool
hg_privilege_may_see_join(Oid user)
{
	return has_privs_of_role(GetUserId(), user) ||
		   has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}
