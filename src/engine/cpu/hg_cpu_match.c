/*-------------------------------------------------------------------------
 *
 * hg_cpu_match.c
 *	  Matches of two sides on the CPU: probe intersect (Algorithm 3) and standard.
 *
 * Intersect walks the edges of the outer graph.  They stand in the order of
 * their vertices, so that this is the walk over all vertices in ascending order
 * that Algorithm 3 makes, without a step for the lists that are empty: for each
 * edge of a vertex's outer list, the equal ones of its inner list.  Both graphs
 * are thus read from front to back.  Standard walks the outer rows as they were
 * appended, mixes their keys and looks them up at random places.
 *
 * Either way rows are taken in groups: first the inner lists of the whole group
 * are found, then they are compared.  The loads of a group do not depend on each
 * other, so that cache misses overlap, with prefetches between the steps.
 *
 * Nearly all lists are short.  Comparing the first two edges of a list without
 * asking how long it is takes a few instructions and no branch that could be
 * mispredicted; a row is counted, or written and the place in the output moved
 * on, by the outcome as a number.  Longer lists branch off: up to
 * HG_CPU_SORTED_LIST they are compared edge by edge, beyond they are sorted and
 * searched.
 *
 * A cursor holds where the stream stands, down to an edge of a list, so that a
 * chunk may end anywhere and nothing but the cursor is kept between two chunks.
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
hg_cpu_cursor_init(HgJob *job, HgCpuCursor *cursor, HgMatchMode mode)
{
	memset(cursor, 0, sizeof(*cursor));
	cursor->mode = mode;
	cursor->last_low = NO_LIST;
	cursor->run_low = NO_LIST;
	hg_cpu_scan_init(&cursor->scan, &job->sides[HG_OUTER]);
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
