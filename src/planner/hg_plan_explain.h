/*-------------------------------------------------------------------------
 *
 * hg_plan_explain.h
 *	  EXPLAIN (HASHGRAPH): which joins and aggregations of a plan are ours, and why others are not.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PLAN_EXPLAIN_H
#define HG_PLAN_EXPLAIN_H

#include "postgres.h"

/*
 * Registers the option if PostgreSQL lets extensions add options. planned: this session's
 * statements are planned with our nodes, so that reasons are known.
 */
extern void hg_plan_explain_init(bool planned);

#endif /* HG_PLAN_EXPLAIN_H */
