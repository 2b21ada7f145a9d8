/*-------------------------------------------------------------------------
 *
 * hg_cpu_match_impl.h
 *	  Matching for one key width: included by hg_cpu_match.c only.
 *
 * Expects HG_KEY_BITS. Functions with a mode argument are inlined for each mode, so that the mode
 * costs nothing in their loops.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

#define VERTEX(mixed, log2) hg_vertex_of_hash(HG_CPU_T(hg_hash_of_mixed)(mixed), log2)

/* Takes the next outer rows of the unit into the group; returns how many, 0 at the unit's end. */
static inline uint32_t
HG_CPU_T(take_rows)(HgJob *job, HgCpuCursor *cursor)
{
	KEY *mixed = GROUP_KEYS(cursor);
	uint32_t count = 0;
	uint32_t step;

	if (job->shape.probe == HG_PROBE_INTERSECT)
	{
		const HgCpuGraph *graph = &job->graphs[HG_OUTER];
		const EDGE *outer = (const EDGE *) graph->edges + cursor->next_edge;
		uint32_t left = graph->edges_count - cursor->next_edge;

		count = left < HG_CPU_GROUP ? left : HG_CPU_GROUP;
		for (uint32_t i = 0; i < count; i++)
		{
			mixed[i] = MIXED(&outer[i]);
			cursor->rows[i] = outer[i].row;
		}
		cursor->next_edge += count;
	}
	else if (job->sides[HG_OUTER].binned)
	{
		const void *chunk;

		while (count < HG_CPU_GROUP && (step = hg_cpu_walk_next(&cursor->walk, sizeof(EDGE),
																HG_CPU_GROUP - count, &chunk)) > 0)
		{
			const EDGE *outer = chunk;

			for (uint32_t i = 0; i < step; i++)
			{
				mixed[count + i] = MIXED(&outer[i]);
				cursor->rows[count + i] = outer[i].row;
			}
			count += step;
		}
	}
	else
	{
		const uint32_t *offsets = job->graphs[HG_INNER].offsets;
		uint32_t log2 = job->shape.vertices_log2;
		const void *chunk;
		const KEY *keys;
		uint32_t row;

		count = hg_cpu_scan_next(&cursor->scan, sizeof(KEY), HG_CPU_GROUP, &chunk, &row);
		keys = chunk;
		for (uint32_t i = 0; i < count; i++)
		{
			mixed[i] = HG_CPU_T(hg_mix)(keys[i]);
			cursor->rows[i] = row + i;
			HG_CPU_PREFETCH(&offsets[VERTEX(mixed[i], log2)]);
		}
	}
	return count;
}

/* Takes the next group of outer rows, and finds their inner lists. count is 0 at the end. */
static HgStatus
HG_CPU_T(fill_group)(HgJob *job, HgCpuCursor *cursor, HgError *error)
{
	const uint32_t *offsets = job->graphs[HG_INNER].offsets;
	const EDGE *inner = job->graphs[HG_INNER].edges;
	uint32_t log2 = job->shape.vertices_log2;
	uint32_t mask = (uint32_t) ((UINT64_C(1) << (log2 - job->shape.bins_log2)) - 1);
	bool standard = job->shape.probe == HG_PROBE_STANDARD;
	bool far = !job->sides[HG_OUTER].binned && standard;
	const KEY *mixed = GROUP_KEYS(cursor);
	uint32_t count = 0;

	cursor->at = 0;
	cursor->count = 0;
	for (;;)
	{
		HgStatus status;

		if (cursor->in_unit && (count = HG_CPU_T(take_rows)(job, cursor)) > 0)
			break;
		status = unit_next(job, cursor, error);
		if (status != HG_OK || !cursor->in_unit)
			return status;
	}

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t vertex = VERTEX(mixed[i], log2) & mask;

		cursor->low[i] = offsets[vertex];
		cursor->high[i] = offsets[vertex + 1];
		if (far)
			HG_CPU_PREFETCH(&inner[cursor->low[i]]);
	}

	/* rows of one list follow each other in intersect: a pair of lists counts at the first */
	for (uint32_t i = 0; i < count; i++)
	{
		bool filled = cursor->high[i] > cursor->low[i];

		cursor->lists += filled & (standard | (cursor->low[i] != cursor->last_low));
		cursor->last_low = filled ? cursor->low[i] : cursor->last_low;
	}

	cursor->count = count;
	return cursor_work(job, cursor, count, error);
}

/* Returns the first of the sorted edges[low .. high) whose mixed key is not below mixed. */
static inline uint32_t
HG_CPU_T(lower_bound)(const EDGE *edges, uint32_t low, uint32_t high, KEY mixed,
					  uint64_t *comparisons)
{
	while (low < high)
	{
		uint32_t middle = low + (high - low) / 2;

		++*comparisons;
		if (MIXED(&edges[middle]) < mixed)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the first of the sorted edges[low .. high) whose mixed key is above mixed. */
static inline uint32_t
HG_CPU_T(upper_bound)(const EDGE *edges, uint32_t low, uint32_t high, KEY mixed,
					  uint64_t *comparisons)
{
	while (low < high)
	{
		uint32_t middle = low + (high - low) / 2;

		++*comparisons;
		if (MIXED(&edges[middle]) <= mixed)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns how many edges of a list that is not short match row i of the group. */
static uint64_t
HG_CPU_T(count_list)(const EDGE *edges, HgCpuCursor *cursor, uint32_t i, HgMatchMode mode)
{
	KEY mixed = GROUP_KEYS(cursor)[i];
	uint32_t low = cursor->low[i];
	uint32_t high = cursor->high[i];
	uint64_t equal = 0;

	if (high - low > HG_CPU_SORTED_LIST)
	{
		/* rows with the key of a long outer list come one after the other */
		if (low != cursor->run_low || mixed != (KEY) cursor->run_mixed)
		{
			uint32_t first = HG_CPU_T(lower_bound)(edges, low, high, mixed, &cursor->comparisons);
			uint32_t end = HG_CPU_T(upper_bound)(edges, first, high, mixed, &cursor->comparisons);

			cursor->run_low = low;
			cursor->run_mixed = mixed;
			cursor->run_count = end - first;
		}
		equal = cursor->run_count;
		return mode == HG_MATCH_FIRST ? equal > 0 : equal;
	}

	for (uint32_t k = low; k < high; k++)
	{
		cursor->comparisons++;
		equal += MIXED(&edges[k]) == mixed;
		if (mode == HG_MATCH_FIRST && equal > 0)
			break;
	}
	return equal;
}

static HgStatus
HG_CPU_T(count)(HgJob *job, HgCpuCursor *cursor, uint64_t *matches, HgError *error)
{
	const EDGE *edges = job->graphs[HG_INNER].edges;
	CountKernel count_short = choose_kernels(HG_KEY_BITS).count;
	uint32_t longer[HG_CPU_GROUP];
	const uint64_t before = job->base.stats.matches;
	uint64_t total = 0;

	for (;;)
	{
		uint32_t noted;

		/* the host's callback may read it */
		job->base.stats.matches = before + total;
		HG_TRY(HG_CPU_T(fill_group)(job, cursor, error));
		if (cursor->count == 0)
			break;

		noted = count_short(cursor, edges, longer, &total);
		for (uint32_t i = 0; i < noted; i++)
			total += HG_CPU_T(count_list)(edges, cursor, longer[i], cursor->mode);
	}
	*matches = total;
	return HG_OK;
}

/*
 * Writes the matches of row i of the group in a sorted list, from cursor->list_at on. *done is
 * false if there was not enough room.
 */
static HgStatus
HG_CPU_T(write_sorted)(HgJob *job, HgCpuCursor *cursor, uint32_t i, HgMatchMode mode,
					   HgMatches *matches, bool *done, HgError *error)
{
	const EDGE *edges = job->graphs[HG_INNER].edges;
	KEY mixed = GROUP_KEYS(cursor)[i];
	uint32_t row = cursor->rows[i];
	uint32_t low = cursor->low[i];
	uint32_t high = cursor->high[i];
	uint32_t at = low + cursor->list_at;
	uint32_t end;

	if (cursor->list_at == 0)
		at = HG_CPU_T(lower_bound)(edges, low, high, mixed, &cursor->comparisons);
	if (mode == HG_MATCH_ALL)
		end = HG_CPU_T(upper_bound)(edges, at, high, mixed, &cursor->comparisons);
	else
		end = at + (at < high && MIXED(&edges[at]) == mixed);

	while (at < end && matches->count < matches->capacity)
	{
		size_t room = matches->capacity - matches->count;
		uint32_t *outer = matches->outer + matches->count;
		uint32_t *inner = matches->inner + matches->count;
		uint32_t step = end - at;

		if (step > HG_CPU_POLL_ROWS)
			step = HG_CPU_POLL_ROWS;
		if (step > room)
			step = (uint32_t) room;
		for (uint32_t k = 0; k < step; k++)
		{
			outer[k] = row;
			inner[k] = edges[at + k].row;
		}
		matches->count += step;
		at += step;
		HG_TRY(cursor_work(job, cursor, step, error));
	}

	*done = at == end;
	cursor->list_at = at - low;
	return HG_OK;
}

/* The same in a list that is not sorted. */
static void
HG_CPU_T(write_unsorted)(HgJob *job, HgCpuCursor *cursor, uint32_t i, HgMatchMode mode,
						 HgMatches *matches, bool *done)
{
	const EDGE *edges = job->graphs[HG_INNER].edges;
	KEY mixed = GROUP_KEYS(cursor)[i];
	uint32_t high = cursor->high[i];
	uint32_t at;

	*done = true;
	for (at = cursor->low[i] + cursor->list_at; at < high; at++)
	{
		if (MIXED(&edges[at]) == mixed)
		{
			if (matches->count == matches->capacity)
			{
				*done = false;
				break;
			}
			matches->outer[matches->count] = cursor->rows[i];
			matches->inner[matches->count] = edges[at].row;
			matches->count++;
		}
		cursor->comparisons++;
		if (mode == HG_MATCH_FIRST && MIXED(&edges[at]) == mixed)
			break;
	}
	cursor->list_at = at - cursor->low[i];
}

/* Writes the next part of the matches of row i of the group; *done: the row is finished. */
static inline HgStatus
HG_CPU_T(write_part)(HgJob *job, HgCpuCursor *cursor, uint32_t i, HgMatchMode mode,
					 HgMatches *matches, bool *done, HgError *error)
{
	const size_t capacity = matches->capacity;
	const size_t before = matches->count;
	HgStatus status = HG_OK;

	*done = hg_matches_row_is_finished(matches, cursor->rows[i]);
	if (*done)
		return HG_OK;
	matches->capacity = hg_matches_part_capacity(matches, cursor->written);
	if (cursor->high[i] - cursor->low[i] > HG_CPU_SORTED_LIST)
		status = HG_CPU_T(write_sorted)(job, cursor, i, mode, matches, done, error);
	else
		HG_CPU_T(write_unsorted)(job, cursor, i, mode, matches, done);
	matches->capacity = capacity;
	cursor->written += (uint32_t) (matches->count - before);
	return status;
}

/*
 * Writes the matches of the rows of the group from cursor->at on, until its end, until there is no
 * room, or until the caller must check a part of a row's matches.
 */
static inline HgStatus
HG_CPU_T(write_group)(HgJob *job, HgCpuCursor *cursor, HgMatchMode mode, HgMatches *matches,
					  HgError *error)
{
	const EDGE *edges = job->graphs[HG_INNER].edges;
	WriteKernel write_short = choose_kernels(HG_KEY_BITS).write;

	for (;;)
	{
		HgStatus status;
		uint32_t i;
		bool done;

		/* the rest of a list comes before whole lists */
		if (cursor->list_at == 0)
			write_short(cursor, edges, matches);
		i = cursor->at;
		if (i == cursor->count || matches->count == matches->capacity)
			return HG_OK;

		status = HG_CPU_T(write_part)(job, cursor, i, mode, matches, &done, error);
		if (status != HG_OK || !done)
			return status;
		cursor->list_at = 0;
		cursor->written = 0;
		cursor->at++;
	}
}

static HgStatus
HG_CPU_T(next)(HgJob *job, HgCpuCursor *cursor, HgMatches *matches, HgError *error)
{
	while (matches->count < matches->capacity)
	{
		HgStatus status = HG_OK;

		if (cursor->at == cursor->count)
		{
			status = HG_CPU_T(fill_group)(job, cursor, error);
			if (status == HG_OK && cursor->count == 0)
				break;
		}
		if (status == HG_OK)
			status = cursor->mode == HG_MATCH_FIRST
						 ? HG_CPU_T(write_group)(job, cursor, HG_MATCH_FIRST, matches, error)
						 : HG_CPU_T(write_group)(job, cursor, HG_MATCH_ALL, matches, error);
		if (status != HG_OK)
		{
			matches->count = 0;
			return status;
		}
		/* an unfinished list: there is no room, or the caller must check */
		if (cursor->list_at > 0)
			break;
	}
	return HG_OK;
}

#undef VERTEX
