/*-------------------------------------------------------------------------
 *
 * hg_cpu_describe_impl.h
 *	  Describe and export for one key width: included by hg_cpu_describe.c only.
 *
 * Expects HG_KEY_BITS.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

#define KEY HG_CPU_T(HgCpuKey)
#define EDGE HG_CPU_T(HgCpuEdge)
#define MIXED HG_CPU_T(hg_cpu_mixed)

/*
 * Adds the number of different keys in the lists of vertices first .. first + n - 1 to *distinct:
 * in short lists keys that no earlier edge has, in sorted ones keys that differ from the edge
 * before.
 */
static HgStatus
HG_CPU_T(count_distinct)(HgJob *job, const HgCpuGraph *graph, uint64_t first, uint64_t n,
						 uint64_t *distinct, HgError *error)
{
	const EDGE *edges = graph->edges;
	uint32_t work = 0;

	for (uint64_t v = first; v < first + n; v++)
	{
		uint32_t low = graph->offsets[v];
		uint32_t high = graph->offsets[v + 1];
		bool sorted = high - low > HG_CPU_SORTED_LIST;

		for (uint32_t i = low; i < high; i++)
		{
			uint32_t k = sorted && i > low ? i - 1 : low;

			while (k < i && MIXED(&edges[k]) != MIXED(&edges[i]))
				k++;
			*distinct += k == i;
			if (HG_CPU_UNLIKELY(++work == HG_CPU_POLL_ROWS))
			{
				HG_TRY(hg_host_poll(&job->base, error));
				work = 0;
			}
		}
	}
	return HG_OK;
}

static HgStatus
HG_CPU_T(export_edges)(HgJob *job, const HgCpuGraph *graph, void *edge_keys, uint32_t *edge_rows,
					   HgError *error)
{
	const EDGE *edges = graph->edges;
	KEY *keys = edge_keys;

	for (uint64_t i = 0; i < graph->edges_count; i++)
	{
		if (i % HG_CPU_POLL_ROWS == 0)
			HG_TRY(hg_host_poll(&job->base, error));
		keys[i] = HG_CPU_T(hg_unmix)(MIXED(&edges[i]));
		edge_rows[i] = edges[i].row;
	}
	return HG_OK;
}

#undef KEY
#undef EDGE
#undef MIXED
