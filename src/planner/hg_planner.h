/*-------------------------------------------------------------------------
 *
 * hg_planner.h
 *	  Hook into the planner.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PLANNER_H
#define HG_PLANNER_H

#include "postgres.h"

/*
 * Hook into the planner for good, for a session that preloads the library; in others just make the
 * option of EXPLAIN known.
 */
extern void hg_planner_init(bool preloading);

#endif /* HG_PLANNER_H */
