/*-------------------------------------------------------------------------
 *
 * hg_last_plan.h
 *	  The joins and aggregations of the session's last plan, and why PostgreSQL's nodes do them.
 *
 * The planner describes each plan: hg_last_plan_begin, then hg_last_plan_add and
 * hg_last_plan_add_name for each step, and hg_last_plan_publish.  EXPLAIN and
 * hashgraph_last_plan() read the steps.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LAST_PLAN_H
#define HG_LAST_PLAN_H

#include "nodes/plannodes.h"

/*
 * The first reason why a join or an aggregation is not done by a node of this extension.  For a
 * cached plan the reasons are not known.
 */
typedef enum HgPlanReason
{
	HG_REASON_CHOSEN = 0, /* a node of this extension does it */
	HG_REASON_COST,
	HG_REASON_FEW_ROWS,
	HG_REASON_NO_CLAUSE,
	HG_REASON_LATERAL,
	HG_REASON_COLUMNS,
	HG_REASON_CONSTANT_CLAUSE,
	HG_REASON_GROUPING_SETS,
	HG_REASON_GROUP_KEYS,
	HG_REASON_AGGREGATE,
	HG_REASON_NOT_ENABLED,
	HG_REASON_NO_HASHJOIN,
	HG_REASON_NO_HASHAGG,
	HG_REASON_NOT_PRELOADED,
	HG_REASON_CACHED,
	HG_REASONS /* number of reasons */
} HgPlanReason;

/* Returns the text of a reason for users; NULL for HG_REASON_CHOSEN. */
extern const char *hg_plan_reason_text(HgPlanReason reason);

/* One join or aggregation of a plan. */
typedef struct HgPlanStep
{
	const char *node; /* name in EXPLAIN; static */
	bool aggregate;
	bool chosen; /* a node of this extension */
	HgPlanReason reason;
	int names;	/* number of its relations' names; -1: those of the next step */
	int offset; /* of the first name, in bytes */
} HgPlanStep;

/* Limits of a stored plan: its first steps, and bytes of names. */
#define HG_LAST_PLAN_STEPS 1000
#define HG_LAST_PLAN_NAME_BYTES (256 * 1024)

/* A stored plan. */
typedef struct HgLastPlan HgLastPlan;

/*
 * Empties a plan and returns it, to be filled.  hg_last_plan_publish makes it the session's last
 * plan; without that, the next call returns it again.
 */
extern HgLastPlan *hg_last_plan_begin(void);

/* Adds a step; node is a static string.  Returns false if the plan is full. */
extern bool hg_last_plan_add(HgLastPlan *plan, const char *node, bool aggregate, bool chosen,
							 HgPlanReason reason);

/* Adds a relation's alias to the last step; child is a partition's OID, whose name is shown. */
extern void hg_last_plan_add_name(HgLastPlan *plan, const char *alias, Oid child);

/* Makes the last step have the names of the step that is added next. */
extern void hg_last_plan_share_names(HgLastPlan *plan);

/*
 * Returns true if a plan that is made now may become the session's last plan.  Once the running
 * statement's own plan is the last plan, the plans of functions that it calls do not replace it.
 */
extern bool hg_last_plan_is_wanted(void);

/*
 * Makes a plan of a statement the session's last one, owned by the current user, if it has steps
 * and the statement does not call hashgraph_last_plan().  started: the statement is already being
 * run or explained.
 */
extern void hg_last_plan_publish(HgLastPlan *plan, const PlannedStmt *statement, bool started);

/*
 * Called when a statement is about to be run or explained.  Returns true, once, if it is the one
 * that was published last and was not started then.
 */
extern bool hg_last_plan_start(const PlannedStmt *statement);

/* Returns true if the statement was published last and started.  *plan has its steps, or NULL. */
extern bool hg_last_plan_find(const PlannedStmt *statement, const HgLastPlan **plan);

/*
 * For hashgraph_last_plan(), whose OID is function: returns the last plan, other than that of the
 * statement that calls it.  NULL if there is none, or the current user may not see it.
 */
extern const HgLastPlan *hg_last_plan_for(Oid function);

/* Returns the number of a plan's steps. */
extern int hg_last_plan_count(const HgLastPlan *plan);
/* Returns step number 0, 1, ... of a plan; it lives until the plan is filled again. */
extern const HgPlanStep *hg_last_plan_step(const HgLastPlan *plan, int number);
/* Returns the names of a step's relations: a new List of palloc'd strings. */
extern List *hg_last_plan_names(const HgLastPlan *plan, const HgPlanStep *step);

#endif /* HG_LAST_PLAN_H */
