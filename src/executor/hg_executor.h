/*-------------------------------------------------------------------------
 *
 * hg_executor.h
 *	  The nodes of this room, for the library's start.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_EXECUTOR_H
#define HG_EXECUTOR_H

/* Make the nodes known, so that plans with them can be read wherever they come from. */
extern void hg_executor_init(void);

#endif /* HG_EXECUTOR_H */
