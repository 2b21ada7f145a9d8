/*-------------------------------------------------------------------------
 *
 * hg_privilege.h
 *	  May the functions be called that a node calls by itself, and may a join be seen?
 *
 * The executor checks functions when it initialises the expressions that call them.  A node that
 * compares keys as words, or runs an aggregate's functions, has no such expression, and checks
 * them here when it begins, just as PostgreSQL's own node would: EXPLAIN does so too.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PRIVILEGE_H
#define HG_PRIVILEGE_H

#include "nodes/primnodes.h"

/*
 * Check that the current user may execute an operator's function.  An error where not; else what
 * decides beyond privileges (sepgsql) is asked.  Hash functions are not checked, as in core.
 */
extern void hg_privilege_check_function(Oid function);

/*
 * Check that the current user may execute an aggregate function, and the aggregate's owner the
 * functions that it consists of, as far as this node would call them.
 */
extern void hg_privilege_check_aggregate(const Aggref *aggref);

/*
 * May the current user see a join that runs or ran as another one?  As with what PostgreSQL tells
 * of sessions, it takes the rights of that user, or of pg_read_all_stats: functions that are
 * SECURITY DEFINER join tables that their callers can't read.
 */
extern bool hg_privilege_may_see_join(Oid user);

#endif /* HG_PRIVILEGE_H */
