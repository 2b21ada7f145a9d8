/*-------------------------------------------------------------------------
 *
 * hg_cpu_build_impl.h
 *	  The steps of build for one key width: included by hg_cpu_build.c only.
 *
 * Wants HG_KEY_BITS, and HG_LINE_EDGES: the edges that are moved to a bin at
 * once, a power of two that makes a multiple of 64 bytes.
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

/* The highest bit of a word that is not 0. */
static inline KEY
HG_CPU_T(highest_bit)(KEY word)
{
	for (int shift = 1; shift < HG_KEY_BITS; shift *= 2)
		word |= word >> shift;
	return word ^ (word >> 1);
}

/*
 * Sort n edges by mixed key, in place, by exchange on the highest bit in which
 * they differ.  Each split fixes at least one bit more, so that nothing about the
 * keys makes it slower than HG_KEY_BITS passes, and keys that are all equal, which
 * is what a long list mostly holds, cost one.  *polled_work is the work since the last poll,
 * of this list and those before.
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
				HgStatus status = hg_cpu_poll(job, error);

				if (status != HG_OK)
					return status;
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
				HgStatus status = hg_cpu_poll(job, error);

				if (status != HG_OK)
					return status;
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

/* Sort the long ones among the lists of vertices first .. first + n - 1. */
static HgStatus
HG_CPU_T(sort_long_lists)(HgJob *job, HgCpuSide *side, uint64_t first, uint64_t n, HgError *error)
{
	EDGE *edges = side->edges;
	uint32_t work = 0;
	HgStatus status;

	for (uint64_t v = first; v < first + n; v++)
	{
		uint32_t start = side->offsets[v];
		uint32_t length = side->offsets[v + 1] - start;

		if ((v & (HG_CPU_POLL_ROWS - 1)) == 0 && (status = hg_cpu_poll(job, error)) != HG_OK)
			return status;
		if (length <= HG_CPU_SORTED_LIST)
			continue;
		status = HG_CPU_T(sort_list)(job, edges + start, length, &work, error);
		if (status != HG_OK)
			return status;
	}
	return HG_OK;
}

/* Algorithm 1 over all rows of a side. */
static HgStatus
HG_CPU_T(build_v1)(HgJob *job, HgCpuSide *side, HgError *error)
{
	uint32_t log2 = job->shape.vertices_log2;
	uint64_t vertices = UINT64_C(1) << log2;
	uint32_t *offsets = side->offsets;
	EDGE *edges = side->edges;
	HgCpuScan scan;
	const void *chunk;
	uint32_t row;
	uint32_t count;
	HgStatus status;

	status = offsets_clear(job, offsets, vertices + 2, error);
	if (status != HG_OK)
		return status;

	hg_cpu_scan_init(&scan, side);
	while ((count = hg_cpu_scan_next(&scan, sizeof(KEY), HG_CPU_POLL_ROWS, &chunk, &row)) > 0)
	{
		const KEY *keys = chunk;

		status = hg_cpu_poll(job, error);
		if (status != HG_OK)
			return status;
		for (uint32_t i = 0; i < count; i++)
			offsets[(uint64_t) VERTEX(MIX(keys[i]), log2) + 2]++;
	}

	status = offsets_sum(job, offsets + 2, vertices, 0, &side->longest_list, error);
	if (status != HG_OK)
		return status;

	hg_cpu_scan_init(&scan, side);
	while ((count = hg_cpu_scan_next(&scan, sizeof(KEY), HG_CPU_POLL_PLACES, &chunk, &row)) > 0)
	{
		const KEY *keys = chunk;

		status = hg_cpu_poll(job, error);
		if (status != HG_OK)
			return status;
		for (uint32_t i = 0; i < count; i++)
		{
			KEY mixed = MIX(keys[i]);

			EDGE_SET(&edges[offsets[(uint64_t) VERTEX(mixed, log2) + 1]++], mixed, row + i);
		}
	}

	if (side->longest_list > HG_CPU_SORTED_LIST)
		return HG_CPU_T(sort_long_lists)(job, side, 0, vertices, error);
	return HG_OK;
}

/* Count the rows of every bin: starts[b] becomes the first edge of bin b. */
static HgStatus
HG_CPU_T(count_bins)(HgJob *job, HgCpuSide *side, uint32_t *starts, uint32_t *biggest,
					 HgError *error)
{
	uint32_t log2 = job->shape.bins_log2;
	uint64_t bins = UINT64_C(1) << log2;
	HgCpuScan scan;
	const void *chunk;
	uint32_t row;
	uint32_t count;

	memset(starts, 0, (bins + 1) * sizeof(uint32_t));
	hg_cpu_scan_init(&scan, side);
	while ((count = hg_cpu_scan_next(&scan, sizeof(KEY), HG_CPU_POLL_ROWS, &chunk, &row)) > 0)
	{
		const KEY *keys = chunk;
		HgStatus status = hg_cpu_poll(job, error);

		if (status != HG_OK)
			return status;
		for (uint32_t i = 0; i < count; i++)
			starts[VERTEX(MIX(keys[i]), log2) + 1]++;
	}
	return offsets_sum(job, starts + 1, bins, 0, biggest, error);
}

/*
 * Move the edges below position end of a bin's line to their place.  Lines are
 * cut where memory is aligned, so that the first one of a bin may start within
 * the bin before, which is none of its business.
 */
static inline void
HG_CPU_T(flush_line)(EDGE *edges, const EDGE *line, uint32_t bin_start, uint32_t end)
{
	uint32_t line_start = (end - 1) & ~(uint32_t) (HG_LINE_EDGES - 1);

	if (line_start >= bin_start && end - line_start == HG_LINE_EDGES)
		stream_copy(edges + line_start, line, HG_LINE_EDGES * sizeof(EDGE));
	else
	{
		uint32_t from = line_start > bin_start ? line_start : bin_start;

		memcpy(edges + from, line + (from - line_start), (end - from) * sizeof(EDGE));
	}
}

/*
 * Move all rows of a side into their bins.  places[b] is the next free position
 * of bin b, at first its start; lines has room for one line of each bin.
 */
static HgStatus
HG_CPU_T(fill_bins)(HgJob *job, HgCpuSide *side, const uint32_t *starts, uint32_t *places,
					EDGE *lines, HgError *error)
{
	uint32_t log2 = job->shape.bins_log2;
	uint64_t bins = UINT64_C(1) << log2;
	EDGE *edges = side->edges;
	HgCpuScan scan;
	const void *chunk;
	uint32_t row;
	uint32_t count;

	memcpy(places, starts, bins * sizeof(uint32_t));
	hg_cpu_scan_init(&scan, side);
	while ((count = hg_cpu_scan_next(&scan, sizeof(KEY), HG_CPU_POLL_PLACES, &chunk, &row)) > 0)
	{
		const KEY *keys = chunk;
		HgStatus status = hg_cpu_poll(job, error);

		if (status != HG_OK)
			return status;
		for (uint32_t i = 0; i < count; i++)
		{
			KEY mixed = MIX(keys[i]);
			uint32_t bin = VERTEX(mixed, log2);
			EDGE *line = lines + (size_t) bin * HG_LINE_EDGES;
			uint32_t place = places[bin]++;

			EDGE_SET(&line[place % HG_LINE_EDGES], mixed, row + i);
			if ((place + 1) % HG_LINE_EDGES == 0)
				HG_CPU_T(flush_line)(edges, line, starts[bin], place + 1);
		}
	}

	/* what has not filled a line */
	for (uint64_t bin = 0; bin < bins; bin++)
	{
		HgStatus status = HG_OK;

		if (bin % HG_CPU_POLL_PLACES == 0 && (status = hg_cpu_poll(job, error)) != HG_OK)
			return status;
		if (places[bin] % HG_LINE_EDGES == 0 || places[bin] == starts[bin])
			continue;
		HG_CPU_T(flush_line)(edges, lines + bin * HG_LINE_EDGES, starts[bin], places[bin]);
	}
	stream_end();
	return HG_OK;
}

/*
 * Algorithm 1 inside one bin of n edges from position start on, whose vertices
 * are first .. first + vertices - 1.  aside has room for n edges.
 */
static HgStatus
HG_CPU_T(build_bin)(HgJob *job, HgCpuSide *side, uint32_t start, uint32_t n, uint64_t first,
					uint64_t vertices, EDGE *aside, HgError *error)
{
	uint32_t log2 = job->shape.vertices_log2;
	uint32_t *offsets = side->offsets;
	EDGE *edges = side->edges;
	uint32_t longest = 0;
	uint32_t step;
	HgStatus status;

	offsets[first + 1] = start;
	status = offsets_clear(job, offsets + first + 2, vertices, error);
	if (status != HG_OK)
		return status;

	for (uint32_t at = 0; at < n; at += step)
	{
		status = hg_cpu_poll(job, error);
		if (status != HG_OK)
			return status;
		step = (uint32_t) poll_step(n - at);
		memcpy(aside + at, edges + start + at, step * sizeof(EDGE));
		for (uint32_t i = at; i < at + step; i++)
			offsets[(uint64_t) VERTEX(MIXED(&aside[i]), log2) + 2]++;
	}

	status = offsets_sum(job, offsets + first + 2, vertices, start, &longest, error);
	if (status != HG_OK)
		return status;

	for (uint32_t at = 0; at < n; at += step)
	{
		status = hg_cpu_poll(job, error);
		if (status != HG_OK)
			return status;
		step = (uint32_t) poll_step(n - at);
		for (uint32_t i = at; i < at + step; i++)
			edges[offsets[(uint64_t) VERTEX(MIXED(&aside[i]), log2) + 1]++] = aside[i];
	}

	if (longest > side->longest_list)
		side->longest_list = longest;
	if (longest > HG_CPU_SORTED_LIST)
		return HG_CPU_T(sort_long_lists)(job, side, first, vertices, error);
	return HG_OK;
}

/* Build every bin, in ascending order. */
static HgStatus
HG_CPU_T(build_bins)(HgJob *job, HgCpuSide *side, const uint32_t *starts, uint32_t biggest,
					 HgError *error)
{
	uint64_t bins = UINT64_C(1) << job->shape.bins_log2;
	uint64_t vertices = UINT64_C(1) << (job->shape.vertices_log2 - job->shape.bins_log2);
	uint64_t aside_bytes = ((uint64_t) biggest + 1) * sizeof(EDGE);
	void *aside;
	HgStatus status;

	status = hg_cpu_alloc(job, aside_bytes, &aside, error);
	if (status != HG_OK)
		return status;

	side->offsets[0] = 0;
	for (uint64_t bin = 0; bin < bins && status == HG_OK; bin++)
		status = HG_CPU_T(build_bin)(job, side, starts[bin], starts[bin + 1] - starts[bin],
									 bin * vertices, vertices, aside, error);
	hg_cpu_free(job, aside, aside_bytes);
	return status;
}

/* Algorithm 2. */
static HgStatus
HG_CPU_T(build_v2)(HgJob *job, HgCpuSide *side, HgError *error)
{
	uint64_t bins = UINT64_C(1) << job->shape.bins_log2;
	uint64_t starts_bytes = (bins + 1) * sizeof(uint32_t);
	uint64_t places_bytes = bins * sizeof(uint32_t);
	uint64_t lines_bytes = bins * HG_LINE_EDGES * sizeof(EDGE);
	uint32_t biggest = 0;
	void *starts = NULL;
	void *places = NULL;
	void *lines = NULL;
	double start = hg_cpu_clock_ms();
	double binned;
	HgStatus status;

	status = hg_cpu_alloc(job, starts_bytes, &starts, error);
	if (status == HG_OK)
		status = hg_cpu_alloc(job, places_bytes, &places, error);
	if (status == HG_OK)
		status = hg_cpu_alloc(job, lines_bytes, &lines, error);
	if (status == HG_OK)
		status = HG_CPU_T(count_bins)(job, side, starts, &biggest, error);
	if (status == HG_OK)
		status = HG_CPU_T(fill_bins)(job, side, starts, places, lines, error);
	hg_cpu_free(job, lines, lines_bytes);
	hg_cpu_free(job, places, places_bytes);
	binned = hg_cpu_clock_ms();
	job->stats.phase_ms[HG_PHASE_BIN] += binned - start;

	if (status == HG_OK)
		status = HG_CPU_T(build_bins)(job, side, starts, biggest, error);
	hg_cpu_free(job, starts, starts_bytes);
	job->stats.phase_ms[HG_PHASE_BUILD] += hg_cpu_clock_ms() - binned;
	return status;
}

/* Build the graph of a side, whose memory is there. */
static HgStatus
HG_CPU_T(build_side)(HgJob *job, HgCpuSide *side, HgError *error)
{
	double start = hg_cpu_clock_ms();
	HgStatus status;

	if (job->shape.build == HG_BUILD_V2)
		return HG_CPU_T(build_v2)(job, side, error);
	status = HG_CPU_T(build_v1)(job, side, error);
	job->stats.phase_ms[HG_PHASE_BUILD] += hg_cpu_clock_ms() - start;
	return status;
}

#undef KEY
#undef EDGE
#undef MIXED
#undef EDGE_SET
#undef MIX
#undef VERTEX
