/*-------------------------------------------------------------------------
 *
 * hg_cpu_direct.c
 *	  Jobs whose vertices are the keys themselves: direct addressing.
 *
 * If the inner keys are dense (hg_shape.c says how dense), the vertex of a key is its difference
 * to the least key. Then each list has only one key, and no equal keys need be searched among the
 * edges of a list. No key is mixed, stored or compared, nothing is put into bins, and an outer row
 * whose key is out of range has no match at once. Outer rows are looked up in the order in which
 * they were appended, so that the consumer of their matches reads them in order, too.
 *
 * Differences are taken modulo 2^32 or 2^64, and so are right for signed and unsigned keys. The
 * least and the greatest key are those of the signed differences to the first key: the keys are an
 * interval of a circle.
 *
 * THE TABLE has an entry for each vertex. Its contents depend on the call, so that match or count
 * makes it, and the next call may have it made anew:
 *
 *	bits	to count if no inner key repeats, or to count outer rows with a partner: a
 *			thirty-second of the others' size, and mostly in a near cache
 *	counts	to count otherwise; bits and counts also serve pairs without inner rows
 *	rows	for pairs, if no inner key repeats, or one match of a row is enough
 *	lists	for pairs otherwise: CSR as in any graph, offsets by vertex and then rows
 *
 * In a SHARED job each participant looks up the outer rows that it has appended, in a table of its
 * own. It makes the table of the inner rows of all participants, which are in runs of one bin
 * (hg_cpu_participants.c). So this is for inner sides that are little work compared with the outer
 * ones.
 *
 * Inner keys may also come as bits (hg_cpu_direct_give), which are then the table.
 *
 * Inner keys are assumed not to repeat; if a second row has the same vertex, the table is made
 * again as the other kind.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_phases.h"

#include "hg_cpu_direct_kernels.h"

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

/* Returns the bytes of a kind of table, without the rows of its lists. */
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

/* Returns the most vertices for which the largest of the tables takes at most `bytes` bytes. */
static uint64_t
vertices_for_bytes(const HgJob *job, uint64_t bytes)
{
	uint64_t lists = lists_bytes(job) + 2 * sizeof(uint32_t);

	return bytes > lists ? (bytes - lists) / sizeof(uint32_t) : 0;
}

/* Extends bounds by this process's inner keys less first, until they are `most` or more apart. */
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
		HG_TRY(hg_host_poll(&job->base, error));
		kernels->bounds(keys, count, first, bounds);
		if ((uint64_t) bounds->greatest - (uint64_t) bounds->least >= most)
			break;
	}
	return HG_OK;
}

/* Sets the vertices, if the bounds, as differences to first, are less than `most` apart. */
static void
choose_bounds(HgJob *job, uint64_t first, uint64_t most, const HgCpuBounds *bounds)
{
	uint64_t last = (uint64_t) bounds->greatest - (uint64_t) bounds->least;

	if (last >= most)
		return;
	job->direct.least = first + (uint64_t) bounds->least;
	job->direct.vertices = last + 1;
}

/* Returns the most vertices that the job may have. */
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
	uint64_t first;

	if (most == 0)
		return HG_OK;
	first = job->base.spec.key_width == 4 ? *(const uint32_t *) piece->keys
										  : *(const uint64_t *) piece->keys;
	HG_TRY(find_bounds(job, first, most, &bounds, error));
	choose_bounds(job, first, most, &bounds);
	return HG_OK;
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
							  .entries = direct->table,
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

/* Allocates an empty table. */
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
	const char *edges; /* edges of the walk that are still to be read */
	uint32_t left;	   /* number of these edges */
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
 * Enters all inner rows, and polls after each step of them. If `once`, it stops at a key that
 * repeats, which direct->repeats says.
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
		HG_TRY(work >= step ? hg_host_poll(&job->base, error) : HG_OK);
		work = work >= step ? count : work + count;
		job->direct.repeats |= enter(&table, keys, count, row);
		if (once && job->direct.repeats)
			break;
	}
	return HG_OK;
}

/* Makes lists of the counts. */
static HgStatus
table_scatter(HgJob *job, HgError *error)
{
	HgCpuDirect *direct = &job->direct;
	uint32_t longest;
	void *memory;
	HgStatus status;

	HG_TRY(hg_cpu_offsets_sum(job, direct->table + 2, direct->vertices, &longest, error));
	direct->rows_bytes = lists_bytes(job);
	status = hg_host_alloc(&job->base, direct->rows_bytes, &memory, error);
	direct->rows = memory;
	if (status != HG_OK)
		return status;

	/* may be read, but never decides anything */
	memset(direct->rows + direct->inner_rows, 0, HG_CPU_DIRECT_LIST_STEP * sizeof(uint32_t));
	return table_enter(job, hg_cpu_direct_kernels(job)->scatter, HG_CPU_POLL_SCATTERED, false,
					   error);
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

/* Returns the kind of table for a call, as far as is known of the keys. */
static HgCpuTableKind
table_kind(const HgJob *job, HgMatchMode mode, bool counted)
{
	bool once = mode == HG_MATCH_FIRST || !job->direct.repeats;

	if (counted || job->base.spec.outer_only)
		return once ? HG_CPU_TABLE_BITS : HG_CPU_TABLE_COUNTS;
	return once ? HG_CPU_TABLE_ROWS : HG_CPU_TABLE_LISTS;
}

/* Makes the table for a call. */
static HgStatus
table_make(HgJob *job, HgMatchMode mode, bool counted, HgError *error)
{
	HgCpuDirect *direct = &job->direct;
	double start = hg_clock_ms();
	HgStatus status = HG_OK;
	HgCpuTableKind kind;

	/* a participant without outer rows needs no table; others look up its inner rows */
	if (job->base.sides[HG_OUTER].rows == 0)
		return HG_OK;
	while (status == HG_OK && direct->kind != (kind = table_kind(job, mode, counted)))
	{
		status = table_create(job, kind, error);
		if (status == HG_OK)
			status = table_enter(job, hg_cpu_direct_kernels(job)->enter[kind], HG_CPU_POLL_ROWS,
								 mode == HG_MATCH_ALL && !direct->repeats, error);
		if (status == HG_OK && kind == HG_CPU_TABLE_LISTS)
			status = table_scatter(job, error);
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
		/* the caller must check a part of a row's matches */
		if (matches->is_finished != NULL && cursor->list_at > 0)
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
		/* a row implies a table */
		counts[job->direct.kind](&table, keys, count, &tally);
		/* the host's callback may read it */
		job->base.stats.matches = before + tally.matches;
		status = hg_host_poll(&job->base, error);
	}
	job->base.stats.intersections += tally.lists;
	*matches = tally.matches;
	return status;
}
