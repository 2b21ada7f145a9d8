/*-------------------------------------------------------------------------
 *
 * hg_small_device.h
 *	  The CPU engine as a device with little memory of its own.
 *
 * Its memory is what the CPU engine allocates, and it takes copies of the keys that are
 * appended, as a device does.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SMALL_DEVICE_H
#define HG_SMALL_DEVICE_H

#include "hg_host_offer.h"

/* Calls that a device can refuse for want of memory. */
typedef enum HgSmallStage
{
	HG_SMALL_OPEN, /* by the rows that are expected */
	HG_SMALL_APPEND,
	HG_SMALL_BUILD,
	HG_SMALL_MATCH,
	HG_SMALL_NEXT, /* the first of a stream */
	HG_SMALL_COUNT,
	HG_SMALL_DESCRIBE,
	HG_SMALL_REDUCE,
	HG_SMALL_STAGES /* number of stages, not a stage */
} HgSmallStage;

/*
 * The engine.  A job that would hold more than its spec's memory_limit, or than bytes together
 * with all others, answers HG_DEVICE_OUT_OF_MEMORY; 0 is no limit.  by_itself tells whether it has
 * the call start.
 */
extern HgEngine *hg_small_device(uint64_t bytes, bool by_itself);

/*
 * From now on a job with more outer rows than this is refused at that stage; 0 is no
 * limit.
 */
extern void hg_small_device_refuse(HgSmallStage stage, uint64_t outer_rows);

/*
 * From now on shards of a join offer memory for the rows that others have for them, where they have
 * as much, and send theirs in this way; or they do not.
 */
extern void hg_small_device_offer(bool offers, HgHostSendFault fault);

/* Jobs that are open, and those that were opened since the program began. */
extern int hg_small_device_open_jobs(void);
extern uint64_t hg_small_device_jobs(void);

/* The most jobs and bytes that there were at a time, since this was asked the last time. */
extern int hg_small_device_most_jobs(void);
extern uint64_t hg_small_device_most_bytes(void);

#endif /* HG_SMALL_DEVICE_H */
