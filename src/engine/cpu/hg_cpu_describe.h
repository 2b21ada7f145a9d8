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

/* Describes the graph of a side as the engine's describe; distinct keys are exact. */
extern HgStatus hg_cpu_describe(HgJob *job, HgSide which, HgGraphStats *stats, HgError *error);

/* Copies the graph of a side out as the engine's export_graph. */
extern HgStatus hg_cpu_export(HgJob *job, HgSide which, uint32_t *offsets, void *edge_keys,
							  uint32_t *edge_rows, HgError *error);

#endif /* HG_CPU_DESCRIBE_H */
