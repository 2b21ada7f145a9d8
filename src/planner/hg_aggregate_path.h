/*-------------------------------------------------------------------------
 *
 * hg_aggregate_path.h
 *	  Offers the aggregate node above our joins and above table scans.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_PATH_H
#define HG_AGGREGATE_PATH_H

#include "nodes/pathnodes.h"

/* Hooks into the planner's grouping for good. */
extern void hg_aggregate_path_init(void);

/* Returns true if a path is one of the aggregate node. */
extern bool hg_path_is_groups(const Path *path);

#endif /* HG_AGGREGATE_PATH_H */
