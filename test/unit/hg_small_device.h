/*-------------------------------------------------------------------------
 *
 * hg_small_device.h
 *	  The CPU engine as a device with little memory of its own.
 *
 * Its memory is what the CPU engine allocates.  It copies appended keys, as a device does.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SMALL_DEVICE_H
#define HG_SMALL_DEVICE_H

#include "hg_host_window.h"

/* Calls that can fail for lack of memory. */
typedef enum HgSmallStage
{
	HG_SMALL_OPEN, /* by the expected rows */
	HG_SMALL_APPEND,
	HG_SMALL_BUILD,
	HG_SMALL_MATCH,
	HG_SMALL_NEXT, /* the first call of a stream */
	HG_SMALL_COUNT,
	HG_SMALL_DESCRIBE,
	HG_SMALL_REDUCE,
	HG_SMALL_STAGES /* number of stages, not a stage */
} HgSmallStage;

/*
 * Returns the engine.  A job gets HG_DEVICE_OUT_OF_MEMORY if it would hold more than its spec's
 * memory_limit, or than bytes together with all others; 0 is no limit.  by_itself: the engine has
 * the call start.
 */
extern HgEngine *hg_small_device(uint64_t bytes, bool by_itself);

/* Makes that stage fail for jobs with more than outer_rows outer rows; 0 is no limit. */
extern void hg_small_device_refuse(HgSmallStage stage, uint64_t outer_rows);

/*
 * With offers, shards of a join offer peer windows if memory allows, and send their rows to those
 * of others, with a fault.  Without, they do neither.
 */
extern void hg_small_device_set_windows(bool windows, HgHostSendFault fault);

/* Return the jobs that are open, and those opened since the program began. */
extern int hg_small_device_open_jobs(void);
extern uint64_t hg_small_device_jobs(void);

/* Return the most jobs, and the most bytes, at a time since the last call. */
extern int hg_small_device_most_jobs(void);
extern uint64_t hg_small_device_most_bytes(void);

#endif /* HG_SMALL_DEVICE_H */
