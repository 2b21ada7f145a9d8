/*-------------------------------------------------------------------------
 *
 * hg_match_device.h
 *	  Match source: a job of this process on a device (hg_match_source.h).
 *
 * Under backend auto the CPU takes over after any failure, even in the middle of the stream. Under
 * cuda only another job on a device does.
 *
 * A job goes to the task's device. If it is refused there as too large, it is sharded over all
 * devices (hg_device_shards.h). If there is only one, or sharding fails, it runs in partition
 * passes. With several devices, the report says why it was not sharded.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_DEVICE_H
#define HG_MATCH_DEVICE_H

#include "backend/device/hg_device_placement.h"
#include "backend/matcher/hg_match_job.h"
#include "backend/matcher/hg_match_source.h"

typedef struct HgMatchDevice
{
	HgMatchJob job;			/* first */
	HgEngine *engine;		/* of the task's device; a sharded job has another one */
	HgDeviceSet device_set; /* where the job is */
	bool alone;				/* no fallback: the CPU must not take over (backend cuda) */
} HgMatchDevice;

/* Creates the source; it has no job until open. */
extern HgMatchSource *hg_match_device_create(HgMatchTask *task, HgEngine *engine,
											 const HgMatchColumns *columns, bool alone);

/* Creates a source on a device with ops of its own, which opens its job in another way. */
extern void *hg_match_device_create_as(HgMatchTask *task, const HgMatchSourceOps *ops,
									   HgEngine *engine, const HgMatchColumns *columns, bool alone);

/*
 * The calls of HgMatchSourceOps (hg_match_source.h) that sources on a device share.
 *
 * hg_match_device_report fills *stats from the job, and leaves it unchanged without a job. It also
 * sets or clears the task's report.left, the reason why a join in passes was not sharded.
 */
extern HgStatus hg_match_device_open(HgMatchSource *source, HgError *error);
extern HgStatus hg_match_device_next(HgMatchSource *source, const HgMatches **matches,
									 HgError *error);
extern void hg_match_device_rewind(HgMatchSource *source);
extern HgStatus hg_match_device_reduce(HgMatchSource *source, HgGroupSet *groups, bool *reduced,
									   HgError *error);
extern void hg_match_device_report(HgMatchSource *source, HgJobStats *stats);
extern HgMatchSource *hg_match_device_replace(HgMatchSource *source, HgError *why);

#define HG_MATCH_DEVICE_CALLS                                                                      \
	.backend = "cuda", .on_device = true, .build = hg_match_job_build,                             \
	.next = hg_match_device_next, .rewind = hg_match_device_rewind, .count = hg_match_job_count,   \
	.reduce = hg_match_device_reduce, .describe = hg_match_job_describe,                           \
	.report = hg_match_device_report, .replace = hg_match_device_replace,                          \
	.close = hg_match_job_close

/*
 * Match source: a device job whose keys were uploaded while they were read (hg_match_source.h).
 *
 * Only open differs from other device jobs: it takes the job over from the task's upload. That job
 * must have the columns that are needed now. If the takeover fails, all keys are still here, and
 * open opens a new job for them with the same columns.
 */

/* hg_match_device_create() for a task with an upload, which open ends. */
extern HgMatchSource *hg_match_uploaded_create(HgMatchTask *task, HgEngine *engine,
											   const HgMatchColumns *columns, bool alone);

/* Creates the source of this process's part of a job that participants share on the CPU. */
extern HgMatchSource *hg_match_participants_create(HgMatchTask *task);

/*
 * Match source: what this process has fetched of a job that the participants had on a device.
 *
 * build does all the work on the device, including the agreement on its outcome
 * (hg_device_participants.h). What next returns is in this process's memory or, under backend
 * cuda, may be fetched as it is returned.
 */

/*
 * Creates the source. With alone (backend cuda), a failure is an error; otherwise the participants
 * continue with a shared job on the CPU.
 */
extern HgMatchSource *hg_match_fetched_create(HgMatchTask *task, const HgMatchColumns *columns,
											  bool alone);

#endif /* HG_MATCH_DEVICE_H */
