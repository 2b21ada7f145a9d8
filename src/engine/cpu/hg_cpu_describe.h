/*-------------------------------------------------------------------------
 *
 * hg_cpu_describe.h
 *	  Describes and exports a HashGraph of the CPU engine.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_DESCRIBE_H
#define HG_CPU_DESCRIBE_H

#include "hg_cpu_job.h"

/* The engine's calls describe and export_graph, as hg_engine.h specifies them. */
extern HgStatus hg_cpu_describe(HgJob *job, HgSide which, HgGraphStats *stats, HgError *error);
extern HgStatus hg_cpu_export(HgJob *job, HgSide which, uint32_t *offsets, void *edge_keys,
							  uint32_t *edge_rows, HgError *error);

#endif /* HG_CPU_DESCRIBE_H */
