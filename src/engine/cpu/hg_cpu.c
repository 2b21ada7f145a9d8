/*-------------------------------------------------------------------------
 *
 * hg_cpu.c
 *	  The CPU engine: the life of a job and the table of calls.
 *
 * A job runs in the thread that calls it.  append only remembers where the keys
 * are; build reads them from there, twice, and so does the standard probe with
 * the outer ones where there are no bins: that is why they must stay until close.
 *
 * All memory, the job itself included, comes from the host's callbacks and is
 * counted; close gives back whatever is held, so that no function has to tidy up
 * after a failure but for what it holds in local variables.  Build allocates all that
 * matching needs, and nothing is allocated after it, but for the table where keys are the vertices:
 * match and count make that (hg_cpu_direct.c), and build sees to it that it keeps to the job's
 * limit.  The runs of a shared job come from the team's memory; they are counted too, and stay when
 * the job is closed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../hg_reduce.h"
#include "hg_cpu_describe.h"
#include "hg_cpu_direct.h"
#include "hg_cpu_graph.h"
#include "hg_cpu_match.h"
#include "hg_cpu_memory.h"
#include "hg_cpu_run.h"
#include "hg_cpu_side.h"
#include "hg_cpu_team.h"

/* Pieces that the first append makes room for. */
#define FIRST_PIECE_CAPACITY 16

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

typedef enum CpuState
{
	JOB_APPENDING,
	JOB_BUILT,
	JOB_MATCHING, /* built, and there is a stream */
	JOB_FAILED	  /* only close is left */
} CpuState;

/* A job, from open to close. */
typedef struct CpuJob
{
	HgJob job; /* first: calls get its address */
	CpuState state;
	bool numbered;	  /* append_rows was called */
	bool has_arrived; /* a shared job's build was called */
	bool shared_out;  /* a shared job's only stream was begun */
	HgCpuCursor cursor;
	HgCpuDirectCursor direct_cursor; /* where the job's vertices are keys */
} CpuJob;

static CpuJob *
cpu_job(HgJob *job)
{
	return (CpuJob *) job;
}

static CpuState
state_of(const HgJob *job)
{
	return ((const CpuJob *) job)->state;
}

static bool
is_direct(const HgJob *job)
{
	return job->direct.vertices > 0;
}

/* A clock that stands still while graphs are built. */
static double
match_clock(const HgJob *job)
{
	return hg_clock_ms() - job->stats.phase_ms[HG_PHASE_BUILD];
}

/*
 * Close a call: a job that has failed stays failed, except that a call which the
 * contract forbids (HG_INVALID) has done nothing.
 */
static HgStatus
job_finish(HgJob *job, HgStatus status)
{
	if (status != HG_OK && status != HG_INVALID)
		cpu_job(job)->state = JOB_FAILED;
	return status;
}

/* HG_OK if the job is built, or HG_INVALID. */
static HgStatus
job_check_built(const HgJob *job, HgError *error)
{
	if (state_of(job) == JOB_FAILED)
		return hg_error_set(error, HG_INVALID, NULL, "the job has failed before");
	if (state_of(job) == JOB_APPENDING)
		return hg_error_set(error, HG_INVALID, NULL, "the job has not been built yet");
	return HG_OK;
}

/* HG_OK if the side is one and has a graph, or HG_INVALID. */
static HgStatus
job_check_graph(const HgJob *job, HgSide side, HgError *error)
{
	HgStatus status = job_check_built(job, error);

	if (status != HG_OK)
		return status;
	if (job->team != NULL)
		return hg_error_set(error, HG_INVALID, NULL, "no participant has the graph of a side");
	if ((side != HG_OUTER && side != HG_INNER) || is_direct(job) ||
		(side == HG_OUTER && job->shape.probe == HG_PROBE_STANDARD))
		return hg_error_set(error, HG_INVALID, NULL, "no graph was built for this side");
	return HG_OK;
}

/* HG_OK if matches can be asked for, and a shared job's only stream begins with this. */
static HgStatus
job_begin_matches(HgJob *job, HgMatchMode mode, HgError *error)
{
	HgStatus status = job_check_built(job, error);

	if (status != HG_OK)
		return status;
	if (mode != HG_MATCH_ALL && mode != HG_MATCH_FIRST)
		return hg_error_set(error, HG_INVALID, NULL, "unknown match mode: %d", (int) mode);
	if (cpu_job(job)->shared_out)
		return hg_error_set(error, HG_INVALID, NULL, "a shared job has one stream");
	cpu_job(job)->shared_out = job->team != NULL;
	hg_cpu_cursor_init(&cpu_job(job)->cursor, mode);
	return HG_OK;
}

static HgStatus
engine_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
			HgError *error)
{
	CpuJob start;
	HgStatus status;
	void *memory;

	(void) engine;
	status = hg_spec_check(spec, error);
	if (status == HG_OK && spec->ncolumns[HG_OUTER] + spec->ncolumns[HG_INNER] > 0)
		status = hg_error_set(error, HG_INVALID, NULL, "this engine has no columns");
	if (status == HG_OK && spec->trial != NULL)
		status = hg_error_set(error, HG_INVALID, NULL, "this engine measures no tables");
	if (status != HG_OK)
		return status;

	/* the job accounts for its own memory like for all other */
	memset(&start, 0, sizeof(start));
	start.job.host = host;
	start.job.spec = *spec;
	start.state = JOB_APPENDING;
	start.job.stats.build = spec->build;
	start.job.stats.probe = spec->probe;
	status = hg_cpu_alloc(&start.job, sizeof(CpuJob), &memory, error);
	if (status != HG_OK)
		return status;

	*job = memory;
	*cpu_job(*job) = start;
	return HG_OK;
}

/* Make room for one more piece of a side. */
static HgStatus
side_reserve_piece(HgJob *job, HgCpuSide *side, HgError *error)
{
	size_t capacity = side->piece_capacity == 0 ? FIRST_PIECE_CAPACITY : 2 * side->piece_capacity;
	void *pieces;
	HgStatus status;

	if (side->piece_count < side->piece_capacity)
		return HG_OK;

	status = hg_cpu_alloc(job, capacity * sizeof(HgCpuPiece), &pieces, error);
	if (status != HG_OK)
		return status;
	if (side->piece_count > 0)
		memcpy(pieces, side->pieces, side->piece_count * sizeof(HgCpuPiece));
	hg_cpu_free(job, side->pieces, side->piece_capacity * sizeof(HgCpuPiece));
	side->pieces = pieces;
	side->piece_capacity = capacity;
	return HG_OK;
}

/* Note keys of a side, whose rows are numbered from first_row on. */
static HgStatus
job_append(HgJob *job, HgSide which, const void *keys, uint64_t count, uint64_t first_row,
		   HgError *error)
{
	HgCpuSide *side = &job->sides[which];
	HgCpuPiece *piece;
	HgStatus status;

	if (count >= HG_MAX_ROWS || first_row >= HG_MAX_ROWS - count ||
		side->rows >= HG_MAX_ROWS - count)
		return job_finish(job, hg_error_set(error, HG_TOO_MANY_ROWS, NULL,
											"too many rows in one side of a join"));

	status = side_reserve_piece(job, side, error);
	if (status != HG_OK)
		return job_finish(job, status);
	piece = &side->pieces[side->piece_count++];
	piece->keys = keys;
	piece->count = count;
	piece->first_row = (uint32_t) first_row;
	side->rows += count;
	job->stats.rows[which] += count;
	return HG_OK;
}

/* HG_OK if keys can be appended by one of the two calls. */
static HgStatus
job_check_append(const HgJob *job, HgSide which, bool numbered, HgError *error)
{
	if (state_of(job) == JOB_FAILED)
		return hg_error_set(error, HG_INVALID, NULL, "the job has failed before");
	if (state_of(job) != JOB_APPENDING)
		return hg_error_set(error, HG_INVALID, NULL, "the job has been built already");
	if (which != HG_OUTER && which != HG_INNER)
		return hg_error_set(error, HG_INVALID, NULL, "unknown side: %d", (int) which);
	if (which == HG_OUTER && job->spec.streamed)
		return hg_error_set(error, HG_INVALID, NULL, "outer rows of a streamed job come later");
	if (numbered != ((const CpuJob *) job)->numbered &&
		(job->team != NULL || job->sides[HG_OUTER].rows > 0 || job->sides[HG_INNER].rows > 0))
		return hg_error_set(error, HG_INVALID, NULL, "rows are numbered in two ways");
	return HG_OK;
}

static HgStatus
engine_append(HgJob *job, HgSide which, const void *keys, uint64_t count, HgError *error)
{
	HgStatus status = job_check_append(job, which, false, error);

	if (status != HG_OK || count == 0)
		return status;
	return job_append(job, which, keys, count, job->sides[which].rows, error);
}

static HgStatus
engine_append_rows(HgJob *job, HgSide which, const void *keys, uint64_t count, uint64_t first_row,
				   HgError *error)
{
	HgStatus status = job_check_append(job, which, true, error);

	if (status != HG_OK || count == 0)
		return status;
	cpu_job(job)->numbered = true;
	return job_append(job, which, keys, count, first_row, error);
}

static HgStatus
engine_append_bits(HgJob *job, const HgKeyBitmap *bitmap, HgError *error)
{
	HgStatus status = job_check_append(job, HG_INNER, false, error);

	if (status != HG_OK)
		return status;
	if (!job->spec.streamed || !job->spec.outer_only || job->sides[HG_INNER].rows > 0 ||
		is_direct(job))
		return hg_error_set(error, HG_INVALID, NULL, "the job can't have its inner keys as bits");
	if (bitmap->size == 0 || (job->spec.key_width == 4 && bitmap->size > UINT64_C(1) << 32))
		return hg_error_set(error, HG_INVALID, NULL, "there can't be so many bits of keys");
	hg_cpu_direct_give(job, bitmap);
	job->stats.rows[HG_INNER] = bitmap->keys;
	return HG_OK;
}

static HgStatus
engine_share(HgJob *job, const HgTeam *team, HgError *error)
{
	if (state_of(job) != JOB_APPENDING || job->team != NULL || job->sides[HG_OUTER].rows > 0 ||
		job->sides[HG_INNER].rows > 0 || job->spec.streamed)
		return hg_error_set(error, HG_INVALID, NULL, "the job can be shared no more");
	job->team = team;
	cpu_job(job)->numbered = true;
	return HG_OK;
}

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

/* Are the outer rows of a shared job to be shared out, whoever has appended them? */
static bool
is_spread(const HgJob *job, const uint64_t rows[2])
{
	return job->team != NULL && job->team->spread > 0 && rows[HG_OUTER] < SPREAD_BELOW;
}

/* Choose the shape from the rows of all participants. */
static void
job_choose_shape(HgJob *job, const uint64_t rows[2])
{
	HgShape shape = hg_shape_choose(&job->spec, &cpu_limits, rows[HG_OUTER], rows[HG_INNER]);
	bool whole_bins = job->team != NULL && job->team->whole_bins;
	bool spread = is_spread(job, rows);

	if (whole_bins && job->spec.build == HG_BUILD_AUTO && job->spec.bins == 0 &&
		UINT64_C(1) << shape.bins_log2 < WHOLE_BINS && rows[0] + rows[1] >= WHOLE_BINS_FROM)
	{
		HgJobSpec spec = job->spec;

		spec.build = HG_BUILD_V2;
		spec.bins = WHOLE_BINS;
		shape = hg_shape_choose(&spec, &cpu_limits, rows[HG_OUTER], rows[HG_INNER]);
	}
	job->shape = shape;
	job->stats.vertices = UINT64_C(1) << shape.vertices_log2;
	job->stats.bins = UINT64_C(1) << shape.bins_log2;
	job->stats.ranges = 1;
	job->stats.build = shape.build;
	job->stats.probe = shape.probe;

	for (int side = 0; side < 2; side++)
		job->sides[side].binned = shape.build == HG_BUILD_V2;
	if (job->team != NULL)
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
	HgShape shape = hg_shape_choose(&job->spec, &cpu_limits, rows[HG_OUTER], rows[HG_INNER]);

	return !job->team->whole_bins && !is_spread(job, rows) &&
		   (shape.build == HG_BUILD_V1 || rows[HG_INNER] <= rows[HG_OUTER] / SHARED_DIRECT_PART);
}

/* What there is for a table beside what the job holds, and will for runs of all its inner rows. */
static uint64_t
job_direct_room(const HgJob *job)
{
	const uint64_t limits[] = {job->spec.memory_limit, job->spec.direct_limit};
	uint64_t held = job->held_bytes;
	uint64_t room = UINT64_MAX;

	if (job->team != NULL)
		held += job->sides[HG_INNER].rows * hg_cpu_edge_size(job);
	for (int i = 0; i < 2; i++)
		if (limits[i] > 0)
		{
			uint64_t left = limits[i] > held ? limits[i] - held : 0;

			room = left < room ? left : room;
		}
	return room;
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
	const uint64_t sides[2] = {
		job->spec.streamed ? job->spec.expected_rows[HG_OUTER] : rows[HG_OUTER], rows[HG_INNER]};
	/* what is planned for two sides of HashGraphs, or for a whole one, or what is little */
	double planned =
		job->spec.streamed
			? graph_row_bytes(job->spec.key_width, job->spec.load_factor) * (double) rows[HG_INNER]
			: hg_cpu_row_bytes(job->spec.key_width, job->spec.load_factor) *
				  ((double) rows[HG_OUTER] + (double) rows[HG_INNER]);
	uint64_t bytes = job->team != NULL		  ? SHARED_DIRECT_BYTES(planned)
					 : planned > DIRECT_BYTES ? (uint64_t) planned
											  : DIRECT_BYTES;
	HgStatus status = HG_OK;

	bytes = bytes < room ? bytes : room;
	if (job->team == NULL)
		status = hg_cpu_direct_choose(job, sides, bytes, error);
	else if (may_share_direct(job, rows))
		hg_cpu_direct_choose_shared(job, rows, bytes, bounds);
	job->stats.phase_ms[HG_PHASE_BUILD] += hg_clock_ms() - start;
	return status;
}

/* The keys are the vertices. */
static void
job_set_direct(HgJob *job)
{
	job->sides[HG_INNER].binned = job->team != NULL;
	job->stats.vertices = job->direct.vertices;
	job->stats.bins = 1;
	job->stats.ranges = 1;
	job->stats.build = HG_BUILD_DIRECT;
	job->stats.probe = HG_PROBE_STANDARD;
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
	job->stats.phase_ms[HG_PHASE_BIN] += hg_clock_ms() - start;
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
		uint64_t rows = side->rows;

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
	if (!hg_cpu_graph_is_near(job->spec.key_width, job->spec.load_factor, (double) rows))
		return false;
	job->spec.build = HG_BUILD_V1;
	job->spec.probe = HG_PROBE_STANDARD;
	job->spec.bins = 0;
	return true;
}

static HgStatus
job_build(HgJob *job, HgError *error)
{
	uint64_t rows[2] = {job->sides[HG_OUTER].rows, job->sides[HG_INNER].rows};
	uint64_t room = job_direct_room(job);
	HgCpuBounds bounds = {0, 0};
	HgStatus status = HG_OK;

	if (job->team != NULL)
	{
		if (job->spec.direct)
			status = hg_cpu_direct_bounds(job, &bounds, error);
		status = hg_cpu_team_count(job, status, rows, &bounds, &room, error);
	}
	if (status == HG_OK && !is_direct(job))
		status = job_choose_direct(job, rows, &bounds, room, error);
	if (status == HG_OK && is_direct(job))
		job_set_direct(job);
	/* matching allocates nothing more, and renew is a part of it */
	if (status == HG_OK && job->spec.streamed)
		status = side_reserve_piece(job, &job->sides[HG_OUTER], error);
	if (status != HG_OK)
		return status;
	if (!is_direct(job))
	{
		if (job->spec.streamed && !job_choose_whole(job, rows[HG_INNER]))
			return HG_OK;
		job_choose_shape(job, rows);
	}
	status = job_bin(job, error);
	if (job->team != NULL)
		status = hg_cpu_team_exchange(job, status, error);
	if (status == HG_OK && !is_direct(job))
		status = job_make_graphs(job, error);
	return status;
}

static HgStatus
engine_build(HgJob *job, HgError *error)
{
	HgCpuBounds bounds;
	uint64_t room;
	uint64_t rows[2];
	HgStatus status;

	if (state_of(job) == JOB_FAILED)
	{
		status = hg_error_set(error, HG_INVALID, NULL, "the job has failed before");

		/* the others wait for all who have joined */
		if (job->team != NULL && !cpu_job(job)->has_arrived)
			status = hg_cpu_team_count(job, status, rows, &bounds, &room, error);
		cpu_job(job)->has_arrived = true;
		return status;
	}
	if (state_of(job) != JOB_APPENDING)
		return hg_error_set(error, HG_INVALID, NULL, "the job has been built already");

	cpu_job(job)->has_arrived = true;
	status = job_build(job, error);
	if (status == HG_OK)
		cpu_job(job)->state = JOB_BUILT;
	else if (job->team != NULL)
		cpu_job(job)->state = JOB_FAILED;
	return job_finish(job, status);
}

static HgStatus
engine_renew(HgJob *job, const void *keys, uint64_t count, HgError *error)
{
	HgStatus status = job_check_built(job, error);

	if (status != HG_OK)
		return status;
	if (!job->spec.streamed || job->stats.vertices == 0)
		return hg_error_set(error, HG_INVALID, NULL, "the job takes no outer rows any more");
	cpu_job(job)->state = JOB_BUILT;
	job->sides[HG_OUTER].piece_count = 0;
	job->sides[HG_OUTER].rows = 0;
	if (count == 0)
		return HG_OK;
	return job_append(job, HG_OUTER, keys, count, 0, error);
}

static HgStatus
engine_match(HgJob *job, HgMatchMode mode, HgError *error)
{
	HgStatus status = job_begin_matches(job, mode, error);

	if (status != HG_OK)
		return status;
	cpu_job(job)->state = JOB_MATCHING;
	if (is_direct(job))
		status = hg_cpu_direct_match(job, &cpu_job(job)->direct_cursor, mode, error);
	return job_finish(job, status);
}

static HgStatus
engine_next(HgJob *job, HgMatches *matches, HgError *error)
{
	HgStatus status = job_check_built(job, error);
	double start;

	matches->count = 0;
	if (status != HG_OK)
		return status;
	if (state_of(job) != JOB_MATCHING)
		return hg_error_set(error, HG_INVALID, NULL, "no stream of matches was started");
	if (matches->capacity == 0)
		return hg_error_set(error, HG_INVALID, NULL, "there is no room for a match");
	status = hg_matches_check(&job->spec, matches, error);
	if (status != HG_OK)
		return status;

	start = match_clock(job);
	status = is_direct(job) ? hg_cpu_direct_next(job, &cpu_job(job)->direct_cursor, matches, error)
							: hg_cpu_next(job, &cpu_job(job)->cursor, matches, error);
	job->stats.matches += matches->count;
	job->stats.phase_ms[HG_PHASE_MATCH] += match_clock(job) - start;
	return job_finish(job, status);
}

static HgStatus
engine_count(HgJob *job, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgStatus status = job_begin_matches(job, mode, error);
	double start;

	if (status != HG_OK)
		return status;
	cpu_job(job)->state = JOB_BUILT;
	start = match_clock(job);
	status = is_direct(job) ? hg_cpu_direct_count(job, mode, matches, error)
							: hg_cpu_count(job, &cpu_job(job)->cursor, matches, error);
	if (status == HG_OK)
		job->stats.matches += *matches;
	job->stats.phase_ms[HG_PHASE_MATCH] += match_clock(job) - start;
	return job_finish(job, status);
}

static HgStatus
engine_describe(HgJob *job, HgSide side, HgGraphStats *stats, HgError *error)
{
	HgStatus status = job_check_graph(job, side, error);

	if (status != HG_OK)
		return status;
	cpu_job(job)->state = JOB_BUILT;
	return job_finish(job, hg_cpu_describe(job, side, stats, error));
}

static HgStatus
engine_export_graph(HgJob *job, HgSide side, uint32_t *offsets, void *edge_keys,
					uint32_t *edge_rows, HgError *error)
{
	HgStatus status = job_check_graph(job, side, error);

	if (status != HG_OK)
		return status;
	cpu_job(job)->state = JOB_BUILT;
	return job_finish(job, hg_cpu_export(job, side, offsets, edge_keys, edge_rows, error));
}

static void
engine_stats(HgJob *job, HgJobStats *stats)
{
	*stats = job->stats;
}

static void
engine_close(HgJob *job)
{
	HgJob end;

	hg_cpu_direct_close(job);
	for (int i = 0; i < 2; i++)
	{
		HgCpuSide *side = &job->sides[i];
		HgCpuGraph *graph = &job->graphs[i];

		hg_cpu_free(job, graph->edges, graph->edges_bytes);
		hg_cpu_free(job, graph->offsets, graph->offsets_bytes);
		for (size_t run = 0; run < side->run_count; run++)
			if (side->runs[run].bytes > 0)
				hg_cpu_free(job, side->runs[run].header, side->runs[run].bytes);
		hg_cpu_free(job, side->runs, side->run_capacity * sizeof(HgCpuRun));
		hg_cpu_free(job, side->pieces, side->piece_capacity * sizeof(HgCpuPiece));
	}

	/* the job is the last thing that it holds */
	end = *job;
	hg_cpu_free(&end, job, sizeof(CpuJob));
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

HgEngine *
hg_cpu_engine(void)
{
	static HgEngine engine = {
		.name = "cpu",
		.open = engine_open,
		.append = engine_append,
		.build = engine_build,
		.match = engine_match,
		.next = engine_next,
		.count = engine_count,
		.describe = engine_describe,
		.export_graph = engine_export_graph,
		.stats = engine_stats,
		.close = engine_close,
		.share = engine_share,
		.append_rows = engine_append_rows,
		.renew = engine_renew,
		.append_bits = engine_append_bits,
	};

	return &engine;
}
