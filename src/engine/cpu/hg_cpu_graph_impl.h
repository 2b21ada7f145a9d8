/*-------------------------------------------------------------------------
 *
 * hg_cpu_graph_impl.h
 *	  The steps of build for one key width: included by hg_cpu_graph.c only.
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
#define EDGE_SET HG_CPU_T(hg_cpu_edge_set)
#define MIX HG_CPU_T(hg_mix)
#define VERTEX(mixed, log2) hg_vertex_of_hash(HG_CPU_T(hg_hash_of_mixed)(mixed), log2)

/* Returns the highest bit of a word that is not 0. */
static inline KEY
HG_CPU_T(highest_bit)(KEY word)
{
	for (int shift = 1; shift < HG_KEY_BITS; shift *= 2)
		word |= word >> shift;
	return word ^ (word >> 1);
}

/*
 * Sorts n edges by mixed key, in place, by exchange on the highest bit in which they differ. Each
 * split fixes at least one bit more, so that it takes at most HG_KEY_BITS passes for any keys.
 * Equal keys, the main content of long lists, cost one pass. *polled_work is the work since the
 * last poll, of this list and those before.
 */
static HgStatus
HG_CPU_T(sort_list)(HgJob *job, EDGE *edges, uint32_t n, uint32_t *polled_work, HgError *error)
{
	struct
	{
		uint32_t low;
		uint32_t high;
	} stack[HG_KEY_BITS + 1];
	int depth = 0;
	uint32_t work = *polled_work;

	stack[depth].low = 0;
	stack[depth].high = n;
	depth++;
	while (depth > 0)
	{
		uint32_t low = stack[--depth].low;
		uint32_t high = stack[depth].high;
		uint32_t i = low;
		uint32_t j = high;
		KEY differing = 0;
		KEY bit;

		for (uint32_t k = low + 1; k < high; k++)
		{
			differing |= MIXED(&edges[k]) ^ MIXED(&edges[low]);
			if (HG_CPU_UNLIKELY(++work == HG_CPU_POLL_ROWS))
			{
				HG_TRY(hg_host_poll(&job->base, error));
				work = 0;
			}
		}
		if (differing == 0)
			continue;

		bit = HG_CPU_T(highest_bit)(differing);
		while (i < j)
		{
			if ((MIXED(&edges[i]) & bit) == 0)
				i++;
			else
			{
				EDGE other = edges[--j];

				edges[j] = edges[i];
				edges[i] = other;
			}
			if (HG_CPU_UNLIKELY(++work == HG_CPU_POLL_ROWS))
			{
				HG_TRY(hg_host_poll(&job->base, error));
				work = 0;
			}
		}

		/* both halves agree in one bit more, so that the stack never overflows */
		stack[depth].low = low;
		stack[depth].high = i;
		depth++;
		stack[depth].low = i;
		stack[depth].high = high;
		depth++;
	}
	*polled_work = work;
	return HG_OK;
}

/* Sorts the long lists of a graph. */
static HgStatus
HG_CPU_T(sort_long_lists)(HgJob *job, HgCpuGraph *graph, uint64_t vertices, HgError *error)
{
	EDGE *edges = graph->edges;
	uint32_t work = 0;

	for (uint64_t v = 0; v < vertices; v++)
	{
		uint32_t start = graph->offsets[v];
		uint32_t length = graph->offsets[v + 1] - start;

		if ((v & (HG_CPU_POLL_ROWS - 1)) == 0)
			HG_TRY(hg_host_poll(&job->base, error));
		if (length <= HG_CPU_SORTED_LIST)
			continue;
		HG_TRY(HG_CPU_T(sort_list)(job, edges + start, length, &work, error));
	}
	return HG_OK;
}

/* Count the rows by vertex: keys of pieces, or edges of runs. */
static HgStatus
HG_CPU_T(count_pieces)(HgJob *job, uint32_t *counts, uint32_t mask, HgCpuScan scan, HgError *error)
{
	uint32_t log2 = job->shape.vertices_log2;
	const void *chunk;
	uint32_t count;
	uint32_t row;

	while ((count = hg_cpu_scan_next(&scan, sizeof(KEY), HG_CPU_POLL_ROWS, &chunk, &row)) > 0)
	{
		const KEY *keys = chunk;

		HG_TRY(hg_host_poll(&job->base, error));
		for (uint32_t i = 0; i < count; i++)
			counts[VERTEX(MIX(keys[i]), log2) & mask]++;
	}
	return HG_OK;
}

static HgStatus
HG_CPU_T(count_edges)(HgJob *job, uint32_t *counts, uint32_t mask, HgCpuWalk walk, HgError *error)
{
	uint32_t log2 = job->shape.vertices_log2;
	const void *chunk;
	uint32_t count;
	uint32_t work = 0;

	while ((count = hg_cpu_walk_next(&walk, sizeof(EDGE), HG_CPU_POLL_ROWS, &chunk)) > 0)
	{
		const EDGE *edges = chunk;

		HG_TRY(work_done(job, &work, count, error));
		for (uint32_t i = 0; i < count; i++)
			counts[VERTEX(MIXED(&edges[i]), log2) & mask]++;
	}
	return HG_OK;
}

/* Put the rows into their lists. */
static HgStatus
HG_CPU_T(scatter_pieces)(HgJob *job, uint32_t *cursors, uint32_t mask, HgCpuScan scan, EDGE *to,
						 HgError *error)
{
	uint32_t log2 = job->shape.vertices_log2;
	const void *chunk;
	uint32_t count;
	uint32_t row;

	while ((count = hg_cpu_scan_next(&scan, sizeof(KEY), HG_CPU_POLL_SCATTERED, &chunk, &row)) > 0)
	{
		const KEY *keys = chunk;

		HG_TRY(hg_host_poll(&job->base, error));
		for (uint32_t i = 0; i < count; i++)
		{
			KEY mixed = MIX(keys[i]);

			EDGE_SET(&to[cursors[VERTEX(mixed, log2) & mask]++], mixed, row + i);
		}
	}
	return HG_OK;
}

static HgStatus
HG_CPU_T(scatter_edges)(HgJob *job, uint32_t *cursors, uint32_t mask, HgCpuWalk walk, EDGE *to,
						HgError *error)
{
	uint32_t log2 = job->shape.vertices_log2;
	const void *chunk;
	uint32_t count;
	uint32_t work = 0;

	while ((count = hg_cpu_walk_next(&walk, sizeof(EDGE), HG_CPU_POLL_ROWS, &chunk)) > 0)
	{
		const EDGE *edges = chunk;

		HG_TRY(work_done(job, &work, count, error));
		for (uint32_t i = 0; i < count; i++)
			to[cursors[VERTEX(MIXED(&edges[i]), log2) & mask]++] = edges[i];
	}
	return HG_OK;
}

/*
 * Runs Algorithm 1 over the rows of a scan or of a walk; the other one is NULL. There are
 * graph->edges_count rows, of a range of `vertices` vertices.
 */
static HgStatus
HG_CPU_T(build)(HgJob *job, HgCpuGraph *graph, uint64_t vertices, const HgCpuScan *scan,
				const HgCpuWalk *walk, HgError *error)
{
	uint32_t mask = (uint32_t) (vertices - 1);
	uint32_t *offsets = graph->offsets;
	EDGE *edges = graph->edges;
	HgStatus status;

	status = offsets_clear(job, offsets, vertices + 2, error);
	if (status == HG_OK)
		status = scan != NULL ? HG_CPU_T(count_pieces)(job, offsets + 2, mask, *scan, error)
							  : HG_CPU_T(count_edges)(job, offsets + 2, mask, *walk, error);
	if (status == HG_OK)
		status = hg_cpu_offsets_sum(job, offsets + 2, vertices, &graph->longest_list, error);
	if (status == HG_OK)
		status = scan != NULL
					 ? HG_CPU_T(scatter_pieces)(job, offsets + 1, mask, *scan, edges, error)
					 : HG_CPU_T(scatter_edges)(job, offsets + 1, mask, *walk, edges, error);

	/* may be read, but never decides anything */
	memset(edges + graph->edges_count, 0, HG_CPU_EDGE_PADDING * sizeof(EDGE));

	if (status == HG_OK && graph->longest_list > HG_CPU_SORTED_LIST)
		status = HG_CPU_T(sort_long_lists)(job, graph, vertices, error);
	return status;
}

#undef KEY
#undef EDGE
#undef MIXED
#undef EDGE_SET
#undef MIX
#undef VERTEX
