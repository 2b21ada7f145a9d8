/*-------------------------------------------------------------------------
 *
 * hg_sort_path.h
 *	  Offers the sort node for ORDER BY with a LIMIT above our joins and aggregates.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SORT_PATH_H
#define HG_SORT_PATH_H

/* Installs a create_upper_paths_hook, which adds paths of the sort node. */
extern void hg_sort_path_init(void);

#endif /* HG_SORT_PATH_H */
