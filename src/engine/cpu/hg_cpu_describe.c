/*-------------------------------------------------------------------------
 *
 * hg_cpu_describe.c
 *	  Describes and exports a HashGraph of the CPU engine.
 *
 * A graph in bins is built again, bin by bin, in the scratch memory of its side.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_phases.h"

#include "../hg_hash.h"
#include "hg_cpu_side.h"

/* Returns how many vertices the next piece of work takes. */
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

/* Builds the graph of a bin; does nothing if the side has a whole graph. */
static HgStatus
bin_build(HgJob *job, HgSide which, uint64_t bin, HgError *error)
{
	const HgCpuSide *side = &job->sides[which];

	if (!side->binned)
		return HG_OK;
	return hg_cpu_graph_bin(job, which, (uint32_t) bin, 0, hg_cpu_bin_rows(side, (uint32_t) bin),
							error);
}

HgStatus
hg_cpu_describe(HgJob *job, HgSide which, HgGraphStats *stats, HgError *error)
{
	const HgCpuGraph *graph = &job->graphs[which];
	uint64_t bins = UINT64_C(1) << job->shape.bins_log2;
	uint64_t vertices = job->base.stats.vertices / bins;
	uint64_t step;

	memset(stats, 0, sizeof(*stats));
	stats->vertices = job->base.stats.vertices;
	stats->edges = job->base.sides[which].rows;
	stats->bytes = (stats->vertices + 1) * sizeof(uint32_t) +
				   stats->edges * (job->base.spec.key_width + sizeof(uint32_t));

	for (uint64_t bin = 0; bin < bins; bin++)
	{
		HG_TRY(bin_build(job, which, bin, error));
		if (graph->longest_list > stats->longest_list)
			stats->longest_list = graph->longest_list;
		for (uint64_t v = 0; v < vertices; v += step)
		{
			step = vertices_step(vertices - v);
			for (uint64_t k = v; k < v + step; k++)
				stats->empty_vertices += graph->offsets[k] == graph->offsets[k + 1];

			HG_TRY(hg_host_poll(&job->base, error));
			HG_TRY(job->base.spec.key_width == 4
					   ? count_distinct32(job, graph, v, step, &stats->distinct_keys, error)
					   : count_distinct64(job, graph, v, step, &stats->distinct_keys, error));
		}
	}
	return HG_OK;
}

HgStatus
hg_cpu_export(HgJob *job, HgSide which, uint32_t *offsets, void *edge_keys, uint32_t *edge_rows,
			  HgError *error)
{
	const HgCpuGraph *graph = &job->graphs[which];
	uint64_t bins = UINT64_C(1) << job->shape.bins_log2;
	uint64_t vertices = job->base.stats.vertices / bins;
	uint32_t edges = 0;
	uint64_t step;

	for (uint64_t bin = 0; bin < bins; bin++)
	{
		HgStatus status = bin_build(job, which, bin, error);

		for (uint64_t v = 0; v < vertices && status == HG_OK; v += step)
		{
			step = vertices_step(vertices - v);
			for (uint64_t k = v; k < v + step; k++)
				*offsets++ = edges + graph->offsets[k];
			status = hg_host_poll(&job->base, error);
		}
		if (status == HG_OK)
			status = job->base.spec.key_width == 4
						 ? export_edges32(job, graph, (uint32_t *) edge_keys + edges,
										  edge_rows + edges, error)
						 : export_edges64(job, graph, (uint64_t *) edge_keys + edges,
										  edge_rows + edges, error);
		if (status != HG_OK)
			return status;
		edges += graph->edges_count;
	}
	*offsets = edges;
	return HG_OK;
}
