/*-------------------------------------------------------------------------
 *
 * hg_patience.h
 *	  How long a join may wait for a device.
 *
 * Under backend auto the device must be worth the wait.  What a join may wait for its answers in
 * all, its turn in the queue included, is what the CPU would take for the whole of it: so a device
 * that is busy, or hangs, at most doubles the time that the join takes.  Time in which nobody
 * waits, because rows are being returned, does not count.  The host holds what is left of it
 * (hg_host.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PATIENCE_H
#define HG_PATIENCE_H

#include "backend/hg_host.h"
#include "backend/matcher/hg_matcher_spec.h"

/* For sides whose join is expected to take cpu_ms on the CPU, or 0: milliseconds. */
extern double hg_patience_ms(const HgKeySet sides[2], double cpu_ms);

/*
 * The same under backend cuda: negative, for ever, but where the group has jobs at another place
 * (backend/device/hg_device_load.h says why).
 */
extern double hg_patience_alone_ms(int place, double patience_ms);

/* The same of a job at several places. */
extern double hg_patience_apart_ms(double patience_ms);

/* So many matches have come, which the CPU would have taken time for: allow that much more. */
extern void hg_patience_extend(HgPgHost *host, uint64 pairs);

#endif /* HG_PATIENCE_H */
