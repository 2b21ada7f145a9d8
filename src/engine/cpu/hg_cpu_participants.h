/*-------------------------------------------------------------------------
 *
 * hg_cpu_participants.h
 *	  How the participants of a shared job of the CPU engine cooperate.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_PARTICIPANTS_H
#define HG_CPU_PARTICIPANTS_H

#include "hg_cpu_job.h"

/*
 * The two waits of a shared build. status is the state of the participant's own work so far, with
 * *error set; if it is not HG_OK, the others fail, too, and the call returns it.
 *
 * count publishes this participant's rows, and waits. rows are then the rows of all participants,
 * bounds those of all inner keys, if there are any, and *room the least of the participants'
 * memory for a table. After a failure the participant owes no more arrives.
 *
 * exchange waits for the runs of all participants, and adds them to the job.
 */
extern HgStatus hg_cpu_participants_count(HgJob *job, HgStatus status, uint64_t rows[2],
										  HgCpuBounds *bounds, uint64_t *room, HgError *error);
extern HgStatus hg_cpu_participants_exchange(HgJob *job, HgStatus status, HgError *error);

/*
 * alloc allocates shared memory for a run, counted against the job's limit; *handle identifies it
 * for other processes. publish adds the run to its side's chain: from now on it belongs to all
 * participants. failed returns true if a participant failed before the second wait.
 */
extern HgStatus hg_cpu_participants_alloc(HgJob *job, uint64_t bytes, uint64_t *handle,
										  HgCpuRunHeader **header, HgError *error);
extern void hg_cpu_participants_publish(HgJob *job, HgSide which, uint64_t handle,
										HgCpuRunHeader *header);
extern bool hg_cpu_participants_failed(const HgJob *job);

/* Takes the next unit: edges *from .. *from + *rows - 1 of a bin. Returns false at the end. */
extern bool hg_cpu_participants_take(HgJob *job, uint32_t *bin, uint64_t *from, uint64_t *rows);

#endif /* HG_CPU_PARTICIPANTS_H */
