/*-------------------------------------------------------------------------
 *
 * hg_cpu_build.h
 *	  The shape of a job of the CPU engine, and what is built of it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_BUILD_H
#define HG_CPU_BUILD_H

#include "hg_cpu_job.h"

/*
 * Choose the shape of a job whose rows have been appended, with the other participants where it is
 * shared, and build what is built before matches are asked for.
 */
extern HgStatus hg_cpu_build(HgJob *job, HgError *error);

#endif /* HG_CPU_BUILD_H */
