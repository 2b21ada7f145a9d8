/*-------------------------------------------------------------------------
 *
 * hg_cpu_match.c
 *	  Matches of two sides on the CPU: probe intersect (Algorithm 3) and standard.
 *
 * The work is cut into units.  A unit is a bin, of which the graphs are built first
 * (hg_cpu_graph.c); where the outer rows are not in bins, there is one unit of all of
 * them, whose graphs build made.  In a shared job, units are handed out to the
 * participants, and may be a part of a bin's outer rows (hg_cpu_team.c).
 *
 * Intersect walks the edges of the outer graph.  They stand in the order of
 * their vertices, so that this is the walk over all vertices in ascending order
 * that Algorithm 3 makes, without a step for the lists that are empty: for each
 * edge of a vertex's outer list, the equal ones of its inner list.  Both graphs
 * are thus read from front to back.  Standard walks the outer rows as they stand in the
 * bin, or as they were appended, and looks them up at random places.
 *
 * Either way rows are taken in groups: first the inner lists of the whole group
 * are found, then they are compared.  The loads of a group do not depend on each
 * other, so that cache misses overlap, with prefetches between the steps where the
 * inner graph may not be in the cache.
 *
 * Nearly all lists are short.  Comparing the first two edges of a list without
 * asking how long it is takes a few instructions and no branch that could be
 * mispredicted; a row is counted, or written and the place in the output moved
 * on, by the outcome as a number.  Longer lists branch off: up to
 * HG_CPU_SORTED_LIST they are compared edge by edge, beyond they are sorted and
 * searched.
 *
 * A cursor holds where the stream stands, down to an edge of a list, so that a
 * chunk may end anywhere and nothing but the cursor and the graphs of the unit are kept
 * between two chunks.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_internal.h"

/* Lists up to this length are compared without a branch. */
#define SHORT_LIST 2

/* cursor->last_low where there was no list yet: no list starts there. */
#define NO_LIST UINT32_MAX

void
hg_cpu_cursor_init(HgCpuCursor *cursor, HgMatchMode mode)
{
	memset(cursor, 0, sizeof(*cursor));
	cursor->mode = mode;
}

/* Poll when enough rows were worked on since the last time. */
static inline HgStatus
cursor_work(HgJob *job, HgCpuCursor *cursor, uint32_t rows, HgError *error)
{
	cursor->work += rows;
	if (cursor->work < HG_CPU_POLL_ROWS)
		return HG_OK;
	cursor->work = 0;
	return hg_cpu_poll(job, error);
}

/*
 * Begin a unit: edges from .. from + rows - 1 of the outer rows of a bin.  The inner
 * graph of the last unit is used again where it is of the same bin.
 */
static HgStatus
unit_begin_bin(HgJob *job, HgCpuCursor *cursor, uint32_t bin, uint64_t from, uint64_t rows,
			   HgError *error)
{
	bool intersect = job->shape.probe == HG_PROBE_INTERSECT;
	uint64_t inner_rows = hg_cpu_bin_rows(&job->sides[HG_INNER], bin);
	HgStatus status = HG_OK;

	if (inner_rows == 0 || rows == 0)
		return HG_OK;
	if (job->graphs[HG_INNER].bin != bin)
		status = hg_cpu_graph_bin(job, HG_INNER, bin, 0, inner_rows, error);
	if (status == HG_OK && intersect)
		status = hg_cpu_graph_bin(job, HG_OUTER, bin, from, rows, error);
	if (status == HG_OK && !intersect)
		hg_cpu_walk_init(&cursor->walk, &job->sides[HG_OUTER], bin, from, rows);
	cursor->in_unit = status == HG_OK;
	return status;
}

/*
 * Begin the next unit that may have matches; cursor->in_unit is false when there are no
 * more.
 */
static HgStatus
unit_next(HgJob *job, HgCpuCursor *cursor, HgError *error)
{
	uint64_t bins = UINT64_C(1) << job->shape.bins_log2;
	HgStatus status = HG_OK;

	cursor->in_unit = false;
	cursor->next_edge = 0;
	cursor->last_low = NO_LIST;
	cursor->run_low = NO_LIST;
	if (!job->sides[HG_OUTER].binned)
	{
		cursor->in_unit = cursor->next_bin == 0;
		cursor->next_bin = 1;
		hg_cpu_scan_init(&cursor->scan, &job->sides[HG_OUTER]);
		return HG_OK;
	}

	while (!cursor->in_unit && status == HG_OK)
	{
		uint32_t bin;
		uint64_t from = 0;
		uint64_t rows;

		if (job->team != NULL)
		{
			if (!hg_cpu_team_take(job, &bin, &from, &rows))
				break;
		}
		else
		{
			if (cursor->next_bin == bins)
				break;
			bin = (uint32_t) cursor->next_bin++;
			rows = hg_cpu_bin_rows(&job->sides[HG_OUTER], bin);
		}
		status = cursor_work(job, cursor, (uint32_t) job->sides[HG_OUTER].run_count + 1, error);
		if (status == HG_OK)
			status = unit_begin_bin(job, cursor, bin, from, rows, error);
	}
	return status;
}

/* Hand what the cursor counted to the statistics. */
static void
cursor_report(HgJob *job, HgCpuCursor *cursor)
{
	job->stats.comparisons += cursor->comparisons;
	job->stats.intersections += cursor->lists;
	cursor->comparisons = 0;
	cursor->lists = 0;
}

#define HG_KEY_BITS 32
#include "hg_cpu_match_impl.h"
#undef HG_KEY_BITS

#define HG_KEY_BITS 64
#include "hg_cpu_match_impl.h"
#undef HG_KEY_BITS

/*
 * The next matches of cursor's stream: as hg_engine.h says of next.  On failure
 * matches->count is 0.
 */
HgStatus
hg_cpu_next(HgJob *job, HgCpuCursor *cursor, HgMatches *matches, HgError *error)
{
	HgStatus status;

	matches->count = 0;
	status = job->spec.key_width == 4 ? next32(job, cursor, matches, error)
									  : next64(job, cursor, matches, error);
	cursor_report(job, cursor);
	return status;
}

/* Count the matches of cursor's stream, which must be at its beginning. */
HgStatus
hg_cpu_count(HgJob *job, HgCpuCursor *cursor, uint64_t *matches, HgError *error)
{
	HgStatus status;

	status = job->spec.key_width == 4 ? count32(job, cursor, matches, error)
									  : count64(job, cursor, matches, error);
	cursor_report(job, cursor);
	return status;
}
