/*-------------------------------------------------------------------------
 *
 * hg_cpu_build.h
 *	  Chooses the shape of a job of the CPU engine, and builds it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_BUILD_H
#define HG_CPU_BUILD_H

#include "hg_cpu_job.h"

/*
 * Chooses the shape of a job whose rows have been appended, in a shared job together with the
 * other participants. Builds everything that is built before match or count is called.
 */
extern HgStatus hg_cpu_build(HgJob *job, HgError *error);

#endif /* HG_CPU_BUILD_H */
