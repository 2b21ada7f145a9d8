/*-------------------------------------------------------------------------
 *
 * hg_subplan_path.h
 *	  Results of correlated subqueries that are kept by the values of their parameters.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SUBPLAN_PATH_H
#define HG_SUBPLAN_PATH_H

/* Puts the hook in place. */
extern void hg_subplan_path_init(void);

#endif /* HG_SUBPLAN_PATH_H */
