/*-------------------------------------------------------------------------
 *
 * hg_privilege.h
 *	  Checks whether the current user may call a function, and may see a join.
 *
 * The executor checks functions when it initializes the expressions that call them.  A node that
 * compares keys as words, or runs an aggregate's functions, has no such expression.  It checks
 * them here when it begins, as PostgreSQL's own node would, and therefore also in EXPLAIN.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PRIVILEGE_H
#define HG_PRIVILEGE_H

#include "nodes/primnodes.h"

/*
 * Raises an error if the current user may not execute a function.  Also calls the object access
 * hook (sepgsql).  Callers do not check hash functions, nor does PostgreSQL.
 */
extern void hg_privilege_check_function(Oid function);

/*
 * Raises an error if the current user may not execute an aggregate, or the aggregate's owner may
 * not execute those of its functions that this node would call.
 */
extern void hg_privilege_check_aggregate(const Aggref *aggref);

/*
 * Returns true if the current user may see a join that runs or ran as the given user.  That takes
 * the rights of that user or of pg_read_all_stats, as for PostgreSQL's views of sessions: a
 * SECURITY DEFINER function may join tables that its callers can't read.
 */
extern bool hg_privilege_may_see_join(Oid user);

#endif /* HG_PRIVILEGE_H */
