/*-------------------------------------------------------------------------
 *
 * hg_loader.h
 *	  Registers the launcher and the loaders' shared memory at the server's start.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_H
#define HG_LOADER_H

/*
 * Installs the hooks, and registers the launcher if the server has memory for cached columns.
 * Does nothing unless called while shared_preload_libraries are loaded.
 */
extern void hg_loader_init(void);

#endif /* HG_LOADER_H */
