/*-------------------------------------------------------------------------
 *
 * hg_cpu_participants.h
 *	  How the participants of a shared job of the CPU engine cooperate.
 *
 * Participants are processes or threads that do one join together (hg_shared_job.h); each has a job
 * of its own. They call hg_cpu_participants_count in build, copy their rows to runs, which they
 * allocate and publish, and call hg_cpu_participants_exchange. Then each takes units: outer rows of
 * one bin.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_PARTICIPANTS_H
#define HG_CPU_PARTICIPANTS_H

#include "hg_cpu_job.h"

/*
 * The first wait of a shared build. Publishes this participant's number of rows, and *bounds (of
 * its inner keys) and *room (bytes for a direct table). After the wait sets rows[] to the rows of
 * all participants by HgSide, *bounds to those of all inner keys, if there are any, and *room to
 * the least. status is the result of the participant's work so far, with *error set; if it is not
 * HG_OK, the others fail, too. If the call fails, the participant must not arrive again.
 */
extern HgStatus hg_cpu_participants_count(HgJob *job, HgStatus status, uint64_t rows[2],
										  HgCpuBounds *bounds, uint64_t *room, HgError *error);

/*
 * The second wait: adds the runs of all participants to the job. status is the result of binning,
 * with *error set; if it is not HG_OK, the others fail, too.
 */
extern HgStatus hg_cpu_participants_exchange(HgJob *job, HgStatus status, HgError *error);

/*
 * Allocates shared memory for a run, counted against the job's limit; *handle identifies it for
 * other processes.
 */
extern HgStatus hg_cpu_participants_alloc(HgJob *job, uint64_t bytes, uint64_t *handle,
										  HgCpuRunHeader **header, HgError *error);

/* Puts a run at the head of its side's chain: from now on it belongs to all participants. */
extern void hg_cpu_participants_publish(HgJob *job, HgSide which, uint64_t handle,
										HgCpuRunHeader *header);

/*
 * Returns true if a participant has failed before it came to the second wait, so that the job fails
 * for all.
 */
extern bool hg_cpu_participants_failed(const HgJob *job);

/* Takes the next unit: outer edges *from .. *from + *rows - 1 of *bin. Returns false at the end. */
extern bool hg_cpu_participants_take(HgJob *job, uint32_t *bin, uint64_t *from, uint64_t *rows);

#endif /* HG_CPU_PARTICIPANTS_H */
