/*-------------------------------------------------------------------------
 *
 * hg_executor.h
 *	  Registration of the executor's custom scan nodes when the library is loaded.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_EXECUTOR_H
#define HG_EXECUTOR_H

/* Registers all nodes, so that plans that contain them can be read. */
extern void hg_executor_init(void);

#endif /* HG_EXECUTOR_H */
