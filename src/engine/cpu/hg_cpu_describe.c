/*-------------------------------------------------------------------------
 *
 * hg_cpu_describe.c
 *	  Looking at a built HashGraph of the CPU engine: describe and export.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_internal.h"

/* Vertices of a graph, and those of them that the next piece of work takes. */
static inline uint64_t
vertices_step(uint64_t left)
{
	return left < HG_CPU_POLL_ROWS ? left : HG_CPU_POLL_ROWS;
}

#define HG_KEY_BITS 32
#include "hg_cpu_describe_impl.h"
#undef HG_KEY_BITS

#define HG_KEY_BITS 64
#include "hg_cpu_describe_impl.h"
#undef HG_KEY_BITS

/* Describe the graph of a side, which was built: distinct keys are exact. */
HgStatus
hg_cpu_describe(HgJob *job, const HgCpuSide *side, HgGraphStats *stats, HgError *error)
{
	uint64_t vertices = job->stats.vertices;
	uint64_t step;
	HgStatus status;

	memset(stats, 0, sizeof(*stats));
	stats->vertices = vertices;
	stats->edges = side->rows;
	stats->longest_list = side->longest_list;
	stats->bytes =
		(vertices + 1) * sizeof(uint32_t) + side->rows * (job->spec.key_width + sizeof(uint32_t));

	for (uint64_t v = 0; v < vertices; v += step)
	{
		step = vertices_step(vertices - v);
		for (uint64_t k = v; k < v + step; k++)
			stats->empty_vertices += side->offsets[k] == side->offsets[k + 1];

		status = hg_cpu_poll(job, error);
		if (status == HG_OK)
			status = job->spec.key_width == 4
						 ? count_distinct32(job, side, v, step, &stats->distinct_keys, error)
						 : count_distinct64(job, side, v, step, &stats->distinct_keys, error);
		if (status != HG_OK)
			return status;
	}
	return HG_OK;
}

/* Copy the graph of a side, which was built, out as hg_engine.h lays it out. */
HgStatus
hg_cpu_export(HgJob *job, const HgCpuSide *side, uint32_t *offsets, void *edge_keys,
			  uint32_t *edge_rows, HgError *error)
{
	uint64_t entries = job->stats.vertices + 1;
	uint64_t step;

	for (uint64_t v = 0; v < entries; v += step)
	{
		HgStatus status = hg_cpu_poll(job, error);

		if (status != HG_OK)
			return status;
		step = vertices_step(entries - v);
		memcpy(offsets + v, side->offsets + v, step * sizeof(uint32_t));
	}
	return job->spec.key_width == 4 ? export_edges32(job, side, edge_keys, edge_rows, error)
									: export_edges64(job, side, edge_keys, edge_rows, error);
}
