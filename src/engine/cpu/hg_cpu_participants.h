/*-------------------------------------------------------------------------
 *
 * hg_cpu_participants.h
 *	  What the participants of a shared job tell each other.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_PARTICIPANTS_H
#define HG_CPU_PARTICIPANTS_H

#include "hg_cpu_job.h"

/* The two waits of a shared build, and what comes between. */
extern HgStatus hg_cpu_participants_count(HgJob *job, HgStatus status, uint64_t rows[2],
										  HgCpuBounds *bounds, uint64_t *room, HgError *error);
extern HgStatus hg_cpu_participants_exchange(HgJob *job, HgStatus status, HgError *error);

/* Shared memory for a run, counted against the job's limit, and what is to become of it. */
extern HgStatus hg_cpu_participants_alloc(HgJob *job, uint64_t bytes, uint64_t *handle,
										  HgCpuRunHeader **header, HgError *error);
extern void hg_cpu_participants_publish(HgJob *job, HgSide which, uint64_t handle,
										HgCpuRunHeader *header);
extern bool hg_cpu_participants_failed(const HgJob *job);

/*
 * Take the next unit of a shared job: edges *from .. *from + *rows - 1 of a bin; false at the end.
 */
extern bool hg_cpu_participants_take(HgJob *job, uint32_t *bin, uint64_t *from, uint64_t *rows);

#endif /* HG_CPU_PARTICIPANTS_H */
