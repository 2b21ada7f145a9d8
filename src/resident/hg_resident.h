/*-------------------------------------------------------------------------
 *
 * hg_resident.h
 *	  The room's part in the server's start.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_H
#define HG_RESIDENT_H

/* Request shared memory, and have it made; called while shared_preload_libraries are loaded. */
extern void hg_resident_init(void);

#endif /* HG_RESIDENT_H */
