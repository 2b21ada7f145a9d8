/*-------------------------------------------------------------------------
 *
 * hg_cpu_direct.c
 *	  Jobs whose vertices are the keys themselves: direct addressing.
 *
 * Where the inner keys are dense (hg_shape.c says how dense), the vertex of a key is its difference
 * to the least of them.  What a HashGraph's build is for, to find equal keys among the edges of a
 * list, is then known beforehand: each list has one key.  No key is mixed, stored or compared,
 * nothing is put into bins, an outer row whose key lies outside has no match at once, and outer
 * rows are looked up in the order in which they were appended: what their matches are wanted for
 * then reads them in order too.
 *
 * Differences are taken modulo 2^32 or 2^64 and so are right for signed and unsigned keys alike,
 * whatever lies between them: the least and the greatest are those of the differences to the
 * first key, taken as signed, and the keys are an interval of a circle.
 *
 * THE TABLE has a place for each vertex.  What it holds depends on what is asked for, so that it is
 * made as late as that, by match or count, and the next one can have it made anew:
 *
 *	bits	to count, where no inner key is there twice, or to count outer rows with a
 *			partner: a thirty-second of what the others take, and in a near cache mostly
 *	counts	to count otherwise; both of them also for pairs whose inner rows nobody looks at
 *	rows	for pairs, where no inner key is there twice, or one of them will do
 *	lists	for pairs otherwise: CSR as in any graph, offsets by vertex and then rows
 *
 * In a SHARED job each participant looks up the outer rows that it has appended, in a table of its
 * own that it makes of the inner rows of all of them: they are in runs of one bin
 * (hg_cpu_participants.c).  Hence it is for inner sides that are little work beside the outer ones.
 *
 * Inner keys may also come as bits (hg_cpu_direct_give), which are a table then.
 *
 * That no key is there twice is what is supposed; whoever meets a second row in a place begins
 * again with the other kind.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_direct.h"

#include "hg_cpu_direct_kernels.h"
#include "hg_cpu_graph.h"

/* Matches written between two polls. */
#define POLL_MATCHES 65536

/* A table that is larger than this is not in the nearest caches. */
#define FAR_BYTES (UINT64_C(1) << 20)

/* Bytes of a table that are cleared between two polls. */
#define CLEARED_BYTES (UINT64_C(1) << 20)

/* ---------------------------------------------------------------------
 * The choice
 * ---------------------------------------------------------------------
 */

/* Bytes of a kind of table, and of the rows of its lists. */
static uint64_t
table_bytes(const HgJob *job, HgCpuTableKind kind)
{
	uint64_t vertices = job->direct.vertices;

	switch (kind)
	{
		case HG_CPU_TABLE_BITS:
			return (vertices / 32 + 1) * sizeof(uint32_t);
		case HG_CPU_TABLE_LISTS:
			/* the last entry is the build's own, as in a graph */
			return (vertices + 2) * sizeof(uint32_t);
		default:
			return vertices * sizeof(uint32_t);
	}
}

static uint64_t
lists_bytes(const HgJob *job)
{
	return (job->direct.inner_rows + HG_CPU_DIRECT_LIST_STEP) * sizeof(uint32_t);
}

/* Vertices for which the largest of the tables takes so many bytes at most. */
static uint64_t
vertices_for_bytes(const HgJob *job, uint64_t bytes)
{
	uint64_t lists = lists_bytes(job) + 2 * sizeof(uint32_t);

	return bytes > lists ? (bytes - lists) / sizeof(uint32_t) : 0;
}

/*
 * Extend bounds by the inner keys that this process has, as differences to first; it ends when
 * they are most or more apart.
 */
static HgStatus
find_bounds(HgJob *job, uint64_t first, uint64_t most, HgCpuBounds *bounds, HgError *error)
{
	const HgCpuDirectKernels *kernels = hg_cpu_direct_kernels(job);
	const void *keys;
	HgCpuScan scan;
	uint32_t count;
	uint32_t row;

	hg_cpu_scan_init(&scan, &job->base.sides[HG_INNER]);
	while ((count = hg_cpu_scan_next(&scan, job->base.spec.key_width, HG_CPU_POLL_ROWS, &keys,
									 &row)) > 0)
	{
		HgStatus status = hg_host_poll(&job->base, error);

		if (status != HG_OK)
			return status;
		kernels->bounds(keys, count, first, bounds);
		if ((uint64_t) bounds->greatest - (uint64_t) bounds->least >= most)
			break;
	}
	return HG_OK;
}

/* Have vertices, if bounds of inner keys, as differences to first, are near enough. */
static void
choose_bounds(HgJob *job, uint64_t first, uint64_t most, const HgCpuBounds *bounds)
{
	uint64_t last = (uint64_t) bounds->greatest - (uint64_t) bounds->least;

	if (last >= most)
		return;
	job->direct.least = first + (uint64_t) bounds->least;
	job->direct.vertices = last + 1;
}

/* The most vertices that there may be. */
static uint64_t
most_vertices(HgJob *job, const uint64_t rows[2], uint64_t bytes)
{
	uint64_t most = hg_shape_direct_vertices(&job->base.spec, rows[HG_OUTER], rows[HG_INNER]);
	uint64_t room;

	job->direct.inner_rows = rows[HG_INNER];
	room = vertices_for_bytes(job, bytes);
	return most < room ? most : room;
}

HgStatus
hg_cpu_direct_choose(HgJob *job, const uint64_t rows[2], uint64_t bytes, HgError *error)
{
	uint64_t most = most_vertices(job, rows, bytes);
	const HgHostPiece *piece = job->base.sides[HG_INNER].pieces;
	HgCpuBounds bounds = {0, 0};
	HgStatus status;
	uint64_t first;

	if (most == 0)
		return HG_OK;
	first = job->base.spec.key_width == 4 ? *(const uint32_t *) piece->keys
										  : *(const uint64_t *) piece->keys;
	status = find_bounds(job, first, most, &bounds, error);
	if (status == HG_OK)
		choose_bounds(job, first, most, &bounds);
	return status;
}

void
hg_cpu_direct_choose_shared(HgJob *job, const uint64_t rows[2], uint64_t bytes,
							const HgCpuBounds *bounds)
{
	choose_bounds(job, 0, most_vertices(job, rows, bytes), bounds);
}

HgStatus
hg_cpu_direct_bounds(HgJob *job, HgCpuBounds *bounds, HgError *error)
{
	*bounds = job->base.spec.key_width == 4 ? (HgCpuBounds){INT32_MAX, INT32_MIN}
											: (HgCpuBounds){INT64_MAX, INT64_MIN};
	return find_bounds(job, 0, UINT64_MAX, bounds, error);
}

/* ---------------------------------------------------------------------
 * The table
 * ---------------------------------------------------------------------
 */

static HgCpuDirectTable
job_table(const HgJob *job)
{
	const HgCpuDirect *direct = &job->direct;

	return (HgCpuDirectTable){.least = direct->least,
							  .last = direct->vertices - 1,
							  .places = direct->table,
							  .rows = direct->rows,
							  .far = direct->table_bytes > FAR_BYTES};
}

void
hg_cpu_direct_close(HgJob *job)
{
	HgCpuDirect *direct = &job->direct;

	if (direct->given)
		return;
	hg_host_free(&job->base, direct->rows, direct->rows_bytes);
	hg_host_free(&job->base, direct->table, direct->table_bytes);
	direct->rows = NULL;
	direct->table = NULL;
	direct->kind = HG_CPU_TABLE_NONE;
}

/* Have a table without a row. */
static HgStatus
table_create(HgJob *job, HgCpuTableKind kind, HgError *error)
{
	HgCpuDirect *direct = &job->direct;
	int empty = kind == HG_CPU_TABLE_ROWS ? 0xff : 0; /* bytes of HG_CPU_NO_ROW */
	void *memory;
	HgStatus status;
	uint64_t step;

	hg_cpu_direct_close(job);
	direct->table_bytes = table_bytes(job, kind);
	status = hg_host_alloc(&job->base, direct->table_bytes, &memory, error);
	direct->table = memory;
	for (uint64_t at = 0; at < direct->table_bytes && status == HG_OK; at += step)
	{
		step = direct->table_bytes - at < CLEARED_BYTES ? direct->table_bytes - at : CLEARED_BYTES;
		memset((char *) memory + at, empty, step);
		status = hg_host_poll(&job->base, error);
	}
	return status;
}

/* A walk over all inner rows: those of the job, or in the runs of all participants. */
typedef struct InnerWalk
{
	const HgJob *job;
	HgCpuScan scan;
	HgCpuWalk walk;
	const char *edges; /* of the walk, not yet looked at ... */
	uint32_t left;	   /* ... so many */
	union
	{
		HgCpuKey32 keys32[HG_CPU_DIRECT_BLOCK];
		HgCpuKey64 keys64[HG_CPU_DIRECT_BLOCK];
	} u;
} InnerWalk;

static void
inner_walk_init(InnerWalk *inner, const HgJob *job)
{
	const HgCpuSide *side = &job->sides[HG_INNER];

	inner->job = job;
	inner->left = 0;
	hg_cpu_scan_init(&inner->scan, &job->base.sides[HG_INNER]);
	if (side->binned)
		hg_cpu_walk_init(&inner->walk, side, 0, 0, hg_cpu_bin_rows(side, 0));
}

/* As hg_cpu_scan_next. */
static uint32_t
inner_walk_next(InnerWalk *inner, uint32_t max, const void **keys, uint32_t *row)
{
	const HgJob *job = inner->job;
	const void *edges;
	uint32_t count;

	if (!job->sides[HG_INNER].binned)
		return hg_cpu_scan_next(&inner->scan, job->base.spec.key_width, max, keys, row);
	if (inner->left == 0)
	{
		inner->left =
			hg_cpu_walk_next(&inner->walk, hg_cpu_edge_size(job), HG_CPU_DIRECT_BLOCK, &edges);
		inner->edges = edges;
	}
	if (inner->left == 0)
		return 0;
	count = hg_cpu_direct_kernels(job)->edges(inner->edges, inner->left < max ? inner->left : max,
											  &inner->u, row);
	inner->edges += count * hg_cpu_edge_size(job);
	inner->left -= count;
	*keys = &inner->u;
	return count;
}

/*
 * Enter all inner rows, and poll after each step of them.  Where no key may be there twice it ends
 * when one is: direct->repeats tells.
 */
static HgStatus
table_enter(HgJob *job, HgCpuDirectEnterKernel enter, uint32_t step, bool once, HgError *error)
{
	const HgCpuDirectTable table = job_table(job);
	uint32_t work = step;
	const void *keys;
	InnerWalk inner;
	uint32_t count;
	uint32_t row;

	inner_walk_init(&inner, job);
	while ((count = inner_walk_next(&inner, step, &keys, &row)) > 0)
	{
		HgStatus status = work >= step ? hg_host_poll(&job->base, error) : HG_OK;

		if (status != HG_OK)
			return status;
		work = work >= step ? count : work + count;
		job->direct.repeats |= enter(&table, keys, count, row);
		if (once && job->direct.repeats)
			break;
	}
	return HG_OK;
}

/* Make lists of what has been counted. */
static HgStatus
table_place(HgJob *job, HgError *error)
{
	HgCpuDirect *direct = &job->direct;
	uint32_t longest;
	void *memory;
	HgStatus status;

	status = hg_cpu_offsets_sum(job, direct->table + 2, direct->vertices, &longest, error);
	if (status != HG_OK)
		return status;
	direct->rows_bytes = lists_bytes(job);
	status = hg_host_alloc(&job->base, direct->rows_bytes, &memory, error);
	direct->rows = memory;
	if (status != HG_OK)
		return status;

	/* read, but never by itself the reason for anything */
	memset(direct->rows + direct->inner_rows, 0, HG_CPU_DIRECT_LIST_STEP * sizeof(uint32_t));
	return table_enter(job, hg_cpu_direct_kernels(job)->place, HG_CPU_POLL_PLACES, false, error);
}

void
hg_cpu_direct_give(HgJob *job, const HgKeyBitmap *bitmap)
{
	job->direct = (HgCpuDirect){.least = bitmap->least,
								.vertices = bitmap->size,
								.inner_rows = bitmap->keys,
								.given = true,
								.kind = HG_CPU_TABLE_BITS,
								.table = (uint32_t *) bitmap->bits,
								.table_bytes = bitmap->size / 8};
}

/* The table for what is asked for, as far as is known of the keys. */
static HgCpuTableKind
table_wanted(const HgJob *job, HgMatchMode mode, bool counted)
{
	bool once = mode == HG_MATCH_FIRST || !job->direct.repeats;

	if (counted || job->base.spec.outer_only)
		return once ? HG_CPU_TABLE_BITS : HG_CPU_TABLE_COUNTS;
	return once ? HG_CPU_TABLE_ROWS : HG_CPU_TABLE_LISTS;
}

/* Have the table for what is asked for. */
static HgStatus
table_make(HgJob *job, HgMatchMode mode, bool counted, HgError *error)
{
	HgCpuDirect *direct = &job->direct;
	double start = hg_clock_ms();
	HgStatus status = HG_OK;
	HgCpuTableKind kind;

	/* of a participant that has none, whose rows others look up */
	if (job->base.sides[HG_OUTER].rows == 0)
		return HG_OK;
	while (status == HG_OK && direct->kind != (kind = table_wanted(job, mode, counted)))
	{
		status = table_create(job, kind, error);
		if (status == HG_OK)
			status = table_enter(job, hg_cpu_direct_kernels(job)->enter[kind], HG_CPU_POLL_ROWS,
								 mode == HG_MATCH_ALL && !direct->repeats, error);
		if (status == HG_OK && kind == HG_CPU_TABLE_LISTS)
			status = table_place(job, error);
		if (status == HG_OK)
			direct->kind = kind;
	}
	job->base.stats.phase_ms[HG_PHASE_BUILD] += hg_clock_ms() - start;
	return status;
}

/* ---------------------------------------------------------------------
 * Matches
 * ---------------------------------------------------------------------
 */

HgStatus
hg_cpu_direct_match(HgJob *job, HgCpuDirectCursor *cursor, HgMatchMode mode, HgError *error)
{
	memset(cursor, 0, sizeof(*cursor));
	hg_cpu_scan_init(&cursor->scan, &job->base.sides[HG_OUTER]);
	return table_make(job, mode, false, error);
}

HgStatus
hg_cpu_direct_next(HgJob *job, HgCpuDirectCursor *cursor, HgMatches *matches, HgError *error)
{
	const uint32_t width = job->base.spec.key_width;
	const HgCpuDirectWriteKernel write = hg_cpu_direct_kernels(job)->write[job->direct.kind];
	const HgCpuDirectTable table = job_table(job);
	HgMatches part = *matches;
	HgCpuDirectTally tally = {0};
	HgStatus status = HG_OK;

	for (part.count = 0; part.count < matches->capacity;)
	{
		const void *keys;
		uint32_t done;

		if (cursor->left == 0)
		{
			cursor->left =
				hg_cpu_scan_next(&cursor->scan, width, HG_CPU_POLL_ROWS, &keys, &cursor->row);
			if (cursor->left == 0)
				break;
			cursor->keys = keys;
		}
		status = hg_host_poll(&job->base, error);
		if (status != HG_OK)
			break;
		part.capacity = matches->capacity - part.count < POLL_MATCHES ? matches->capacity
																	  : part.count + POLL_MATCHES;
		done =
			write(&table, cursor->keys, cursor->left, cursor->row, &cursor->list_at, &part, &tally);
		cursor->keys += (size_t) done * width;
		cursor->left -= done;
		cursor->row += done;
		/* the caller is to look at a part of a row's matches */
		if (matches->settled != NULL && cursor->list_at > 0)
			break;
	}
	job->base.stats.intersections += tally.lists;
	matches->count = status == HG_OK ? part.count : 0;
	return status;
}

HgStatus
hg_cpu_direct_count(HgJob *job, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgStatus status = table_make(job, mode, true, error);
	const HgCpuDirectCountKernel *counts = hg_cpu_direct_kernels(job)->count;
	const HgCpuDirectTable table = job_table(job);
	const uint64_t before = job->base.stats.matches;
	HgCpuDirectTally tally = {0};
	const void *keys;
	HgCpuScan scan;
	uint32_t count;
	uint32_t row;

	hg_cpu_scan_init(&scan, &job->base.sides[HG_OUTER]);
	while (status == HG_OK && (count = hg_cpu_scan_next(&scan, job->base.spec.key_width,
														HG_CPU_POLL_ROWS, &keys, &row)) > 0)
	{
		/* where there is a row there is a table for it */
		counts[job->direct.kind](&table, keys, count, &tally);
		/* whoever is polled may ask */
		job->base.stats.matches = before + tally.matches;
		status = hg_host_poll(&job->base, error);
	}
	job->base.stats.intersections += tally.lists;
	*matches = tally.matches;
	return status;
}
