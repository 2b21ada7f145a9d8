/*-------------------------------------------------------------------------
 *
 * hg_cpu_build.c
 *	  Chooses the shape of a job of the CPU engine, and builds it.
 *
 * The choice is between graphs and keys that are the vertices, and between bins and none. It
 * depends on the rows, in a shared job those of all participants, and on the memory that the job
 * may hold.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_phases.h"

#include "hg_cpu_side.h"
#include "hg_cpu_participants.h"

/*
 * Size of a bin's graph, which must stay in the level 2 cache while it is built and looked up:
 * current machines have 1 MB or more, old ones 256 kB.
 */
#define BIN_BYTES (256 * 1024)

/* Offsets of a graph for each row at load factor 1: up to 1.42 (hg_shape.c). */
#define ROW_OFFSETS 1.5

/* Graphs up to this size are mostly cached, and bins do not pay. */
#define BINNED_FROM (4 * 1024 * 1024)

/* Bins of a shared job whose bins must stay whole, so that each participant gets some. */
#define WHOLE_BINS 64

/* The least number of rows of both sides for WHOLE_BINS bins. */
#define WHOLE_BINS_FROM 65536

/*
 * From this many outer rows on, a shared job does not put them into bins only to share them: that
 * would take longer than the difference between the participants' shares.
 */
#define SPREAD_BELOW (1024 * 1024)

/*
 * Bytes that a table of keys may take for any number of rows (hg_cpu_direct.c), limit permitting.
 */
#define DIRECT_BYTES (1024 * 1024)

/*
 * Each participant of a shared job makes its own table. Therefore the inner side must be one that
 * would not be binned anyway, or at most this part of the outer side, and the table may take this
 * part of the planned memory.
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

/* Returns the bytes of a whole graph for each row. */
static double
graph_row_bytes(uint32_t key_width, double load_factor)
{
	return key_width + sizeof(uint32_t) +
		   ROW_OFFSETS * sizeof(uint32_t) / (load_factor > 0 ? load_factor : 1);
}

double
hg_cpu_near_rows(uint32_t key_width, double load_factor)
{
	return BINNED_FROM / graph_row_bytes(key_width, load_factor);
}

double
hg_cpu_row_bytes(uint32_t key_width, double load_factor)
{
	double edge = key_width + sizeof(uint32_t);

	/*
	 * A row in a run is an edge. Small jobs have no runs but a graph of one side, which is less if
	 * both sides are equally large.
	 */
	double graph = graph_row_bytes(key_width, load_factor) / 2;

	return edge > graph ? edge : graph;
}

/*
 * Returns true if a shared job's outer rows are distributed, whatever participant appended them.
 */
static bool
is_spread(const HgJob *job, const uint64_t rows[2])
{
	return job->participants != NULL && job->participants->spread > 0 &&
		   rows[HG_OUTER] < SPREAD_BELOW;
}

/* Chooses the shape from the rows of all participants. */
static void
job_choose_shape(HgJob *job, const uint64_t rows[2])
{
	HgShape shape = hg_shape_choose(&job->base.spec, &cpu_limits, rows[HG_OUTER], rows[HG_INNER]);
	bool whole_bins = job->participants != NULL && job->participants->whole_bins;
	bool spread = is_spread(job, rows);

	if (whole_bins && job->base.spec.shape.build == HG_BUILD_AUTO &&
		job->base.spec.shape.bins == 0 && UINT64_C(1) << shape.bins_log2 < WHOLE_BINS &&
		rows[0] + rows[1] >= WHOLE_BINS_FROM)
	{
		HgJobSpec spec = job->base.spec;

		spec.shape.build = HG_BUILD_V2;
		spec.shape.bins = WHOLE_BINS;
		shape = hg_shape_choose(&spec, &cpu_limits, rows[HG_OUTER], rows[HG_INNER]);
	}
	job->shape = shape;
	job->base.stats.vertices = UINT64_C(1) << shape.vertices_log2;
	job->base.stats.bins = UINT64_C(1) << shape.bins_log2;
	job->base.stats.passes = 1;
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
 * Returns true if each participant of a shared job may have a table of all inner rows, given that
 * their keys are dense. Not if outer rows are distributed by their keys, or by number.
 */
static bool
may_share_direct(const HgJob *job, const uint64_t rows[2])
{
	HgShape shape = hg_shape_choose(&job->base.spec, &cpu_limits, rows[HG_OUTER], rows[HG_INNER]);

	return !job->participants->whole_bins && !is_spread(job, rows) &&
		   (shape.build == HG_BUILD_V1 || rows[HG_INNER] <= rows[HG_OUTER] / SHARED_DIRECT_PART);
}

/* Returns the memory for a table beside the job's own and that of runs of its inner rows. */
static uint64_t
job_direct_room(const HgJob *job)
{
	return hg_host_room(&job->base, job->participants != NULL
										? job->base.sides[HG_INNER].rows * hg_cpu_edge_size(job)
										: 0);
}

/* Makes dense keys the vertices, if a table of them fits. bounds are a shared job's. */
static HgStatus
job_choose_direct(HgJob *job, const uint64_t rows[2], const HgCpuBounds *bounds, uint64_t room,
				  HgError *error)
{
	double start = hg_clock_ms();
	const uint64_t sides[2] = {
		job->base.spec.streamed ? job->base.spec.sides[HG_OUTER].expected_rows : rows[HG_OUTER],
		rows[HG_INNER]};
	/* the plan for two sides of HashGraphs, or for one whole graph, at least DIRECT_BYTES */
	double planned =
		job->base.spec.streamed
			? graph_row_bytes(job->base.spec.key_width, job->base.spec.shape.load_factor) *
				  (double) rows[HG_INNER]
			: hg_cpu_row_bytes(job->base.spec.key_width, job->base.spec.shape.load_factor) *
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

/* Stores the shape of a job whose keys are the vertices. */
static void
job_set_direct(HgJob *job)
{
	job->sides[HG_INNER].binned = job->participants != NULL;
	job->base.stats.vertices = job->direct.vertices;
	job->base.stats.bins = 1;
	job->base.stats.passes = 1;
	job->base.stats.build = HG_BUILD_DIRECT;
	job->base.stats.probe = HG_PROBE_STANDARD;
}

/* Copies the rows of binned sides to runs. */
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

/* Allocates every graph that matching builds, and builds those that are whole. */
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

/* Makes the inner graph a whole one, for rows in any order; false if that is too large. */
static bool
job_choose_whole(HgJob *job, uint64_t rows)
{
	if ((double) rows >
		hg_cpu_near_rows(job->base.spec.key_width, job->base.spec.shape.load_factor))
		return false;
	job->base.spec.shape.build = HG_BUILD_V1;
	job->base.spec.shape.probe = HG_PROBE_STANDARD;
	job->base.spec.shape.bins = 0;
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
		if (job->base.spec.shape.direct)
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
