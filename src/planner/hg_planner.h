/*-------------------------------------------------------------------------
 *
 * hg_planner.h
 *	  Hooks into the planner.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PLANNER_H
#define HG_PLANNER_H

#include "postgres.h"

/*
 * Installs the planner's hooks if the session preloads the library. Otherwise only registers the
 * EXPLAIN option.
 */
extern void hg_planner_init(bool preloading);

#endif /* HG_PLANNER_H */
