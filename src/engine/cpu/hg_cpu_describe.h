/*-------------------------------------------------------------------------
 *
 * hg_cpu_describe.h
 *	  Looking at a HashGraph of the CPU engine: describe and export.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_DESCRIBE_H
#define HG_CPU_DESCRIBE_H

#include "hg_cpu_job.h"

/* What hg_engine.h says of these calls. */
extern HgStatus hg_cpu_describe(HgJob *job, HgSide which, HgGraphStats *stats, HgError *error);
extern HgStatus hg_cpu_export(HgJob *job, HgSide which, uint32_t *offsets, void *edge_keys,
							  uint32_t *edge_rows, HgError *error);

#endif /* HG_CPU_DESCRIBE_H */
