/*-------------------------------------------------------------------------
 *
 * hg_standin_wait.h
 *	  Waits that a stand-in is told to make.
 *
 * Functions with a host return HG_CANCELLED if its cancelled() returns true meanwhile.  All
 * threads may call them at any time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_STANDIN_WAIT_H
#define HG_STANDIN_WAIT_H

#include "../../src/engine/hg_engine.h"

/* Waits for ms milliseconds. */
extern HgStatus hg_standin_wait(const HgHost *host, long ms, HgError *error);

/* Adds a byte to a file, and waits until it is removed.  Does nothing if file is NULL. */
extern void hg_standin_hold(const char *file);

/* Waits until a file is removed; NULL: does not.  Returns HG_DEVICE_FAILED after half a minute. */
extern HgStatus hg_standin_wait_while(const HgHost *host, const char *file, HgError *error);

/*
 * Waits until n callers have come, in all processes that name the same meeting, and then the next
 * n.  The meeting is "n FILE", where FILE is empty at first; NULL: does not wait.
 * Returns HG_DEVICE_FAILED if the others have not come after half a minute.
 */
extern HgStatus hg_standin_meet(const HgHost *host, const char *meeting, HgError *error);

#endif /* HG_STANDIN_WAIT_H */
