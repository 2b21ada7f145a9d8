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

/* Installs a create_upper_paths_hook, which adds paths of the aggregate node. */
extern void hg_aggregate_path_init(void);

/* Returns true if a path is one of the aggregate node. */
extern bool hg_path_is_groups(const Path *path);

#endif /* HG_AGGREGATE_PATH_H */
