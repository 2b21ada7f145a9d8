/*-------------------------------------------------------------------------
 *
 * hg_cpu_memory.h
 *	  What a job of the CPU engine holds of its host: memory, and its attention.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_MEMORY_H
#define HG_CPU_MEMORY_H

#include "hg_cpu_job.h"

/*
 * Memory of the job's host, counted against the job's limit.  On failure *ptr is
 * NULL.  Freeing NULL does nothing.
 */
extern HgStatus hg_cpu_alloc(HgJob *job, uint64_t bytes, void **ptr, HgError *error);
extern void hg_cpu_free(HgJob *job, void *ptr, uint64_t bytes);

/* HG_OK, or HG_OUT_OF_MEMORY where bytes more would pass the job's limit. */
extern HgStatus hg_cpu_check_limit(HgJob *job, uint64_t bytes, HgError *error);

/* The job holds bytes more. */
extern void hg_cpu_hold(HgJob *job, uint64_t bytes);

/* HG_OK, or HG_CANCELLED when the host wants the work to stop. */
extern HgStatus hg_cpu_poll(HgJob *job, HgError *error);

#endif /* HG_CPU_MEMORY_H */
