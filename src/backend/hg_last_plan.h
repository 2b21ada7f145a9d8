/*-------------------------------------------------------------------------
 *
 * hg_last_plan.h
 *	  The joins and aggregations of this session's last plan, and why core's own nodes do them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LAST_PLAN_H
#define HG_LAST_PLAN_H

#include "nodes/plannodes.h"

/*
 * Why a join or an aggregation is not done by a node of ours: what stood in the way first.  Of a
 * cached plan it is not known of any, and of those that are ours it is not known why they are.
 */
typedef enum HgPlanReason
{
	HG_REASON_CHOSEN = 0, /* it is done by one */
	HG_REASON_COST,
	HG_REASON_FEW_ROWS,
	HG_REASON_NO_CLAUSE,
	HG_REASON_LATERAL,
	HG_REASON_COLUMNS,
	HG_REASON_CONSTANT_CLAUSE,
	HG_REASON_GROUPING_SETS,
	HG_REASON_GROUP_KEYS,
	HG_REASON_AGGREGATE,
	HG_REASON_INPUT,
	HG_REASON_NOT_ENABLED,
	HG_REASON_NO_HASHJOIN,
	HG_REASON_NO_HASHAGG,
	HG_REASON_NOT_PRELOADED,
	HG_REASON_CACHED,
	HG_REASONS /* not a reason: their number */
} HgPlanReason;

/* Returns a reason as users read it; NULL for HG_REASON_CHOSEN. */
extern const char *hg_plan_reason_text(HgPlanReason reason);

/* One join or aggregation of a plan. */
typedef struct HgPlanStep
{
	const char *node; /* as EXPLAIN calls it; static */
	bool aggregate;
	bool chosen; /* it is a node of ours */
	HgPlanReason reason;
	int names;	/* of its relations: how many (negative: they are those of the next step), ... */
	int offset; /* ... and where the first one lies, in bytes */
} HgPlanStep;

/* At most so many steps of a plan are kept, the first ones, and so many bytes of names. */
#define HG_LAST_PLAN_STEPS 1000
#define HG_LAST_PLAN_NAME_BYTES (256 * 1024)

/* What is kept of a plan. */
typedef struct HgLastPlan HgLastPlan;

/*
 * Begin to fill the plan that is returned.  It is this session's last one once it has been
 * published; else the next call takes it again.
 */
extern HgLastPlan *hg_last_plan_begin(void);

/*
 * Add a step, if there is room for it, and the names of its relations after it: the alias, and of a
 * partition its OID.
 */
extern bool hg_last_plan_add(HgLastPlan *plan, const char *node, bool aggregate, bool chosen,
							 HgPlanReason reason);
extern void hg_last_plan_add_name(HgLastPlan *plan, const char *alias, Oid child);

/* Have the last step added be of the relations of the next one. */
extern void hg_last_plan_share_names(HgLastPlan *plan);

/*
 * Returns true if what is planned now would be the session's last plan.  It is not where it is
 * planned while a statement runs whose own plan has steps, by a function that this calls.
 */
extern bool hg_last_plan_is_wanted(void);

/*
 * Make a plan of a statement the session's last one, of the current user's, if it has steps and its
 * statement does not ask for the last plan.  started: the statement runs, or is explained, already.
 */
extern void hg_last_plan_publish(HgLastPlan *plan, const PlannedStmt *statement, bool started);

/*
 * Returns true if a statement that is about to run, or to be explained, is the one that was planned
 * last, for this run: it is told only once.
 */
extern bool hg_last_plan_start(const PlannedStmt *statement);

/*
 * Returns true if a statement is the one that was published last, and has been started: *plan is
 * what is kept of it, or NULL where it has no steps.
 */
extern bool hg_last_plan_find(const PlannedStmt *statement, const HgLastPlan **plan);

/*
 * The last plan, for a function that asks for it: not the one that calls this function.  NULL where
 * there is none, or the current user may not see it.
 */
extern const HgLastPlan *hg_last_plan_for(Oid function);

/* The steps of a plan, and the names of the relations of one, which are palloc'd texts. */
extern int hg_last_plan_count(const HgLastPlan *plan);
extern const HgPlanStep *hg_last_plan_step(const HgLastPlan *plan, int number);
extern List *hg_last_plan_names(const HgLastPlan *plan, const HgPlanStep *step);

#endif /* HG_LAST_PLAN_H */
