/*-------------------------------------------------------------------------
 *
 * hg_loader.h
 *	  The room's part in the server's start.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_H
#define HG_LOADER_H

/* Request shared memory, and register the launcher where the server has memory for residents. */
extern void hg_loader_init(void);

#endif /* HG_LOADER_H */
