/*-------------------------------------------------------------------------
 *
 * hg_standin_wait.h
 *	  Waits of a device process without a device, which it is told to make.
 *
 * Each function that has a host returns HG_CANCELLED when that asks for it meanwhile.  All threads
 * may call them at any time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_STANDIN_WAIT_H
#define HG_STANDIN_WAIT_H

#include "../../src/engine/hg_engine.h"

/* Wait for so many milliseconds. */
extern HgStatus hg_standin_wait(const HgHost *host, long ms, HgError *error);

/* Wait as long as there is a file of this name, if that is not NULL: who waits adds a byte. */
extern void hg_standin_hold(const char *file);

/* The same, where there is a host.  Returns HG_DEVICE_FAILED after half a minute. */
extern HgStatus hg_standin_wait_while(const HgHost *host, const char *file, HgError *error);

/*
 * Wait until n callers have come in all processes that name the same meeting, and then the next n.
 * The meeting is NULL, or "n FILE" with the name of a file that is empty at first.  Returns
 * HG_DEVICE_FAILED if the others have not come after half a minute.
 */
extern HgStatus hg_standin_meet(const HgHost *host, const char *meeting, HgError *error);

#endif /* HG_STANDIN_WAIT_H */
