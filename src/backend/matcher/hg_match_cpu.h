/*-------------------------------------------------------------------------
 *
 * hg_match_cpu.h
 *	  Match source: a job of this process on the CPU (hg_match_source.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_CPU_H
#define HG_MATCH_CPU_H

#include "backend/matcher/hg_match_source.h"

/* Creates the source. */
extern HgMatchSource *hg_match_cpu_create(HgMatchTask *task);

#endif /* HG_MATCH_CPU_H */
