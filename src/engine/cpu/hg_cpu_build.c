/*-------------------------------------------------------------------------
 *
 * hg_cpu_build.c
 *	  The shape of a job of the CPU engine, and what is built of it.
 *
 * Graphs, or keys that are the vertices; bins, or none: chosen from the rows, of all participants
 * where the job is shared, and from what the job may hold.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_build.h"

#include "hg_cpu_direct.h"
#include "hg_cpu_graph.h"
#include "hg_cpu_run.h"
#include "hg_cpu_side.h"
#include "hg_cpu_participants.h"

/*
 * A bin's graph, which is to stay in the level 2 cache while it is built and looked up: that
 * has 1 MB or more on the machines of today and 256 kB on old ones.
 */
#define BIN_BYTES (256 * 1024)

/* Up to this size of the graphs the cache holds enough, and bins are a loss. */
#define BINNED_FROM (4 * 1024 * 1024)

/* Bins of a shared job whose bins must stay whole, so that each participant gets some. */
#define WHOLE_BINS 64

/* Rows from which on it gets them. */
#define WHOLE_BINS_FROM 65536

/*
 * Outer rows of a shared job from which on they are not put into bins only to be spread: it would
 * take longer than participants differ by the rows that they have appended.
 */
#define SPREAD_BELOW (1024 * 1024)

/* What a table of keys may take (hg_cpu_direct.c), however few rows there are: if the job may. */
#define DIRECT_BYTES (1024 * 1024)

/*
 * Each participant of a shared job makes its own table: of an inner side that would not be binned
 * anyway, or that is this part of the outer one at most; and what the table may take is a part of
 * what is planned, as there are so many of them.
 */
#define SHARED_DIRECT_PART 8
#define SHARED_DIRECT_BYTES(planned)                                                               \
	((planned) / SHARED_DIRECT_PART > BINNED_FROM ? (uint64_t) ((planned) / SHARED_DIRECT_PART)    \
												  : BINNED_FROM)

static const HgShapeLimits cpu_limits = {
	.bin_bytes = BIN_BYTES,
	.binned_from = BINNED_FROM,
	.max_bins_log2 = HG_MAX_BINS_LOG2,
	.bins_in_cache = true,
};

/*
 * What the graph of a side takes for each of its rows, with up to 1.42 offsets for it (hg_shape.c),
 * where it is made as a whole.
 */
static double
graph_row_bytes(uint32_t key_width, double load_factor)
{
	return key_width + sizeof(uint32_t) +
		   1.5 * sizeof(uint32_t) / (load_factor > 0 ? load_factor : 1);
}

bool
hg_cpu_graph_is_near(uint32_t key_width, double load_factor, double rows)
{
	return graph_row_bytes(key_width, load_factor) * rows <= BINNED_FROM;
}

double
hg_cpu_row_bytes(uint32_t key_width, double load_factor)
{
	double edge = key_width + sizeof(uint32_t);

	/*
	 * A row in a run is an edge.  Small jobs have no runs but a graph of one side: of two sides as
	 * big that is less.
	 */
	double graph = graph_row_bytes(key_width, load_factor) / 2;

	return edge > graph ? edge : graph;
}

/* Are the outer rows of a shared job to be shared out, whoever has appended them? */
static bool
is_spread(const HgJob *job, const uint64_t rows[2])
{
	return job->participants != NULL && job->participants->spread > 0 &&
		   rows[HG_OUTER] < SPREAD_BELOW;
}

/* Choose the shape from the rows of all participants. */
static void
job_choose_shape(HgJob *job, const uint64_t rows[2])
{
	HgShape shape = hg_shape_choose(&job->base.spec, &cpu_limits, rows[HG_OUTER], rows[HG_INNER]);
	bool whole_bins = job->participants != NULL && job->participants->whole_bins;
	bool spread = is_spread(job, rows);

	if (whole_bins && job->base.spec.build == HG_BUILD_AUTO && job->base.spec.bins == 0 &&
		UINT64_C(1) << shape.bins_log2 < WHOLE_BINS && rows[0] + rows[1] >= WHOLE_BINS_FROM)
	{
		HgJobSpec spec = job->base.spec;

		spec.build = HG_BUILD_V2;
		spec.bins = WHOLE_BINS;
		shape = hg_shape_choose(&spec, &cpu_limits, rows[HG_OUTER], rows[HG_INNER]);
	}
	job->shape = shape;
	job->base.stats.vertices = UINT64_C(1) << shape.vertices_log2;
	job->base.stats.bins = UINT64_C(1) << shape.bins_log2;
	job->base.stats.ranges = 1;
	job->base.stats.build = shape.build;
	job->base.stats.probe = shape.probe;

	for (int side = 0; side < 2; side++)
		job->sides[side].binned = shape.build == HG_BUILD_V2;
	if (job->participants != NULL)
	{
		job->sides[HG_INNER].binned = true;
		job->sides[HG_OUTER].binned |= shape.probe == HG_PROBE_INTERSECT || whole_bins || spread;
	}
}

/*
 * Is each participant of a shared job to have a table of all inner rows, if their keys are dense?
 * Not where the outer rows are to be dealt out by their keys, or by number.
 */
static bool
may_share_direct(const HgJob *job, const uint64_t rows[2])
{
	HgShape shape = hg_shape_choose(&job->base.spec, &cpu_limits, rows[HG_OUTER], rows[HG_INNER]);

	return !job->participants->whole_bins && !is_spread(job, rows) &&
		   (shape.build == HG_BUILD_V1 || rows[HG_INNER] <= rows[HG_OUTER] / SHARED_DIRECT_PART);
}

/* What there is for a table beside what the job holds, and will for runs of all its inner rows. */
static uint64_t
job_direct_room(const HgJob *job)
{
	return hg_host_room(&job->base, job->participants != NULL
										? job->base.sides[HG_INNER].rows * hg_cpu_edge_size(job)
										: 0);
}

/*
 * Have keys be the vertices, where they are dense and there is room for a table of them; bounds are
 * those of a shared job.
 */
static HgStatus
job_choose_direct(HgJob *job, const uint64_t rows[2], const HgCpuBounds *bounds, uint64_t room,
				  HgError *error)
{
	double start = hg_clock_ms();
	const uint64_t sides[2] = {job->base.spec.streamed ? job->base.spec.expected_rows[HG_OUTER]
													   : rows[HG_OUTER],
							   rows[HG_INNER]};
	/* what is planned for two sides of HashGraphs, or for a whole one, or what is little */
	double planned = job->base.spec.streamed
						 ? graph_row_bytes(job->base.spec.key_width, job->base.spec.load_factor) *
							   (double) rows[HG_INNER]
						 : hg_cpu_row_bytes(job->base.spec.key_width, job->base.spec.load_factor) *
							   ((double) rows[HG_OUTER] + (double) rows[HG_INNER]);
	uint64_t bytes = job->participants != NULL ? SHARED_DIRECT_BYTES(planned)
					 : planned > DIRECT_BYTES  ? (uint64_t) planned
											   : DIRECT_BYTES;
	HgStatus status = HG_OK;

	bytes = bytes < room ? bytes : room;
	if (job->participants == NULL)
		status = hg_cpu_direct_choose(job, sides, bytes, error);
	else if (may_share_direct(job, rows))
		hg_cpu_direct_choose_shared(job, rows, bytes, bounds);
	job->base.stats.phase_ms[HG_PHASE_BUILD] += hg_clock_ms() - start;
	return status;
}

/* The keys are the vertices. */
static void
job_set_direct(HgJob *job)
{
	job->sides[HG_INNER].binned = job->participants != NULL;
	job->base.stats.vertices = job->direct.vertices;
	job->base.stats.bins = 1;
	job->base.stats.ranges = 1;
	job->base.stats.build = HG_BUILD_DIRECT;
	job->base.stats.probe = HG_PROBE_STANDARD;
}

/* Copy the rows that are to be in bins to runs. */
static HgStatus
job_bin(HgJob *job, HgError *error)
{
	double start = hg_clock_ms();
	HgStatus status = HG_OK;

	for (int side = 0; side < 2 && status == HG_OK; side++)
		if (job->sides[side].binned)
			status = hg_cpu_bin_side(job, (HgSide) side, error);
	job->base.stats.phase_ms[HG_PHASE_BIN] += hg_clock_ms() - start;
	return status;
}

/* Have memory for every graph that matching builds, and build those that are whole. */
static HgStatus
job_make_graphs(HgJob *job, HgError *error)
{
	HgStatus status = HG_OK;

	for (int i = 0; i < 2 && status == HG_OK; i++)
	{
		const HgCpuSide *side = &job->sides[i];
		uint64_t rows = job->base.sides[i].rows;

		if (i == HG_OUTER && job->shape.probe == HG_PROBE_STANDARD)
			continue;
		if (side->binned)
			status = hg_cpu_biggest_bin(job, side, &rows, error);
		if (status == HG_OK)
			status = hg_cpu_graph_reserve(job, (HgSide) i, rows, error);
		if (status == HG_OK && !side->binned)
			status = hg_cpu_graph_pieces(job, (HgSide) i, error);
		else if (status == HG_OK && !job->sides[HG_OUTER].binned)
			status = hg_cpu_graph_bin(job, (HgSide) i, 0, 0, rows, error);
	}
	return status;
}

/* Have the inner graph be a whole one, for rows in any order; false where it would be too large. */
static bool
job_choose_whole(HgJob *job, uint64_t rows)
{
	if (!hg_cpu_graph_is_near(job->base.spec.key_width, job->base.spec.load_factor, (double) rows))
		return false;
	job->base.spec.build = HG_BUILD_V1;
	job->base.spec.probe = HG_PROBE_STANDARD;
	job->base.spec.bins = 0;
	return true;
}

HgStatus
hg_cpu_build(HgJob *job, HgError *error)
{
	uint64_t rows[2] = {job->base.sides[HG_OUTER].rows, job->base.sides[HG_INNER].rows};
	uint64_t room = job_direct_room(job);
	HgCpuBounds bounds = {0, 0};
	HgStatus status = HG_OK;

	if (job->participants != NULL)
	{
		if (job->base.spec.direct)
			status = hg_cpu_direct_bounds(job, &bounds, error);
		status = hg_cpu_participants_count(job, status, rows, &bounds, &room, error);
	}
	if (status == HG_OK && !hg_cpu_is_direct(job))
		status = job_choose_direct(job, rows, &bounds, room, error);
	if (status == HG_OK && hg_cpu_is_direct(job))
		job_set_direct(job);
	/* matching allocates nothing more, and renew is a part of it */
	if (status == HG_OK && job->base.spec.streamed)
		status = hg_host_reserve(&job->base, HG_OUTER, error);
	if (status != HG_OK)
		return status;
	if (!hg_cpu_is_direct(job))
	{
		if (job->base.spec.streamed && !job_choose_whole(job, rows[HG_INNER]))
			return HG_OK;
		job_choose_shape(job, rows);
	}
	status = job_bin(job, error);
	if (job->participants != NULL)
		status = hg_cpu_participants_exchange(job, status, error);
	if (status == HG_OK && !hg_cpu_is_direct(job))
		status = job_make_graphs(job, error);
	return status;
}
