/*-------------------------------------------------------------------------
 *
 * hg_resident.h
 *	  Installs the hooks that reserve and initialize this room's shared memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_H
#define HG_RESIDENT_H

/* Installs the hooks, only while shared_preload_libraries are loaded. */
extern void hg_resident_init(void);

#endif /* HG_RESIDENT_H */
