/*-------------------------------------------------------------------------
 *
 * hg_match_resident.c
 *	  Match source: cached indexes of covered rows.
 *
 * The rows of a side are its covered rows, which a cached index has (HgMatcherSpec), and its delta
 * rows, which come as keys. Either set may be empty. The join is the sum of four parts, in this
 * order:
 *
 *	covered x covered	intersects the two graphs
 *	delta x covered		looks the keys up in the graph. If there are many keys compared to the
 *						graph's rows, and few columns of them are needed, builds a graph of the
 *						keys first and intersects
 *	covered x delta		builds a graph of the keys
 *	delta x delta		a job of the CPU engine
 *
 * Participants all have the same covered rows, and each has delta rows of its own. They take
 * ranges of vertices of covered x covered in turn. Each joins its own delta rows with all covered
 * rows, and all join the delta rows of all in a shared job. Each pair thus belongs to one process,
 * but several processes may have matches of the same covered row.
 *
 * A block of matches belongs to one part, so it never mixes covered and delta rows of a side. The
 * matches of an outer row with covered inner rows are contiguous, and so are those with delta
 * rows. If only one match of a row counts and both kinds exist, the caller handles that.
 *
 * Delta rows that do not fit in memory may come in several matchers. The pairs of covered rows may
 * then belong to another matcher.
 *
 * If the caller reads only one side's rows, in any order, and covered x covered has enough pairs,
 * they are tallied (engine/hg_flat.h). The rows that the caller then fetches are in order, too. If
 * a device has replicas of both graphs and pairs are only counted or grouped, the device does
 * covered x covered (hg_match_replica.h).
 *
 * Graphs of delta keys are built by build and stay in the task's memory, because the stream may
 * begin again.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/matcher/hg_match_source.h"
#include "backend/matcher/hg_match_replica.h"
#include "hg_guc.h"

/*
 * When to look outer delta keys up in their own order, and when to build a graph of them. A graph
 * finds matches in the order of vertices. This is faster, but needs memory, of which it gets at
 * most one part in HG_LOOKUP_SHARE. It is slower if the caller then reads HG_LOOKUP_ACCESSES or
 * more locations for each row, which are scattered over memory; with lookups it goes from one row
 * to the next. Keys are looked up if there are HG_LOOKUP_FEW_ROWS times as many covered rows. From
 * HG_LOOKUP_ROWS times down, the memory for a graph does not count.
 */
#define HG_LOOKUP_ACCESSES 5
#define HG_LOOKUP_ROWS 8
#define HG_LOOKUP_FEW_ROWS 512
#define HG_LOOKUP_NEAR_ROWS 8192 /* up to this many rows fit a near cache */
#define HG_LOOKUP_SHARE 4

/*
 * Rows are tallied if they exceed a near cache and one in HG_TALLY_SHARE is expected to match, and
 * the tally takes at most so many quarters of what a table may take beside a graph.
 */
#define HG_TALLY_ROWS (1 << 20)
#define HG_TALLY_SHARE 8
#define HG_TALLY_QUARTERS 3

/* Matches in a block: as many as fit a near cache. */
#define HG_RESIDENT_CHUNK 4096

typedef enum HgResidentPart
{
	HG_COVERED_COVERED,
	HG_DELTA_COVERED,
	HG_COVERED_DELTA,
	HG_DELTA_DELTA,
	HG_RESIDENT_PARTS
} HgResidentPart;

typedef struct HgMatchResident
{
	HgMatchSource source; /* first */
	HgFlatGraph *made[2]; /* by HgSide: graph of the delta keys, to meet covered rows; or NULL */
	HgFlatSide made_side[2];
	const HgFlatSide *applied[2]; /* by HgSide: covered rows after apply_some */
	HgMatchSource *delta;		  /* for delta x delta; or NULL */

	/* the position of the stream */
	HgResidentPart part;
	int piece;			/* next piece of the keys that are looked up */
	HgFlatJoin *join;	/* current one, or NULL */
	HgFlatTally *tally; /* of its pairs; or NULL */
	HgSide tallied;
	HgMatches block;
	HgReplicaAnswer
		/* The device's answer about covered x covered, if it was asked. */
		device;

	/* Whether this process has all of covered x covered (HgParticipantsSpec.at_once). */
	bool claimed; /* is_mine is valid */
	bool is_mine;

	uint64 matches;		/* so far, without delta x delta */
	uint64 bytes;		/* memory of the graphs of delta keys */
	uint64 tally_bytes; /* memory of a tally */
	double build_ms;
	double match_ms;
} HgMatchResident;

/* Returns the side whose delta rows meet covered rows of the other side in a part. */
static inline HgSide
hg_resident_part_delta(HgResidentPart part)
{
	return part == HG_DELTA_COVERED ? HG_OUTER : HG_INNER;
}

/* Returns the keys of a piece with the task's row numbers. */
static HgFlatRows
hg_match_resident_rows(const HgMatchTask *task, HgSide side, const HgKeyPiece *piece)
{
	return (HgFlatRows){.keys = piece->keys,
						.count = piece->count,
						.first_row = (uint32) (task->spec.first_row[side] + piece->first_row)};
}

/* Builds a graph of the delta keys of a side. */
static HgStatus
hg_match_resident_make(HgMatchResident *resident, HgSide side, HgError *error)
{
	HgMatchTask *task = resident->source.task;
	const HgKeySet *set = &task->sides[side];
	HgFlatShape shape = hg_flat_shape(task->spec.key_width, set->rows);
	HgFlatRows *rows = MemoryContextAlloc(task->context, set->npieces * sizeof(HgFlatRows));
	HgStatus status;

	for (int i = 0; i < set->npieces; i++)
		rows[i] = hg_match_resident_rows(task, side, &set->pieces[i]);
	resident->bytes += hg_flat_make_bytes(&shape, set->rows);
	status = hg_flat_make(&task->host.host, &shape, rows, (uint32) set->npieces,
						  &resident->made[side], error);
	pfree(rows);
	if (status == HG_OK)
		resident->made_side[side] = (HgFlatSide){.graph = resident->made[side]};
	return status;
}

/* Returns true if both sides have delta rows, in this process or any participant. */
static bool
hg_match_resident_holds(const HgMatchTask *task)
{
	if (task->spec.participants != NULL)
		return !task->spec.participants->no_delta;
	return task->sides[HG_OUTER].rows > 0 && task->sides[HG_INNER].rows > 0;
}

/* Returns true if a graph is built of a side's delta keys, to meet the other's covered rows. */
static bool
hg_match_resident_makes(const HgMatchTask *task, HgSide side)
{
	const HgFlatSide *covered = task->spec.covered[hg_other_side(side)];
	const uint64 rows = task->sides[side].rows;
	HgFlatShape shape;

	if (covered == NULL || rows == 0)
		return false;
	if (side == HG_INNER)
		return true;
	if (task->spec.accesses[side] >= HG_LOOKUP_ACCESSES && rows > HG_LOOKUP_NEAR_ROWS)
		return false;
	if (rows > covered->graph->rows / HG_LOOKUP_ROWS)
		return true;
	shape = hg_flat_shape(task->spec.key_width, rows);
	return rows > covered->graph->rows / HG_LOOKUP_FEW_ROWS &&
		   hg_flat_make_bytes(&shape, rows) <= task->spec.direct_limit / HG_LOOKUP_SHARE;
}

static HgStatus
hg_match_resident_build(HgMatchSource *source, HgError *error)
{
	HgMatchResident *resident = (HgMatchResident *) source;
	HgMatchTask *task = source->task;
	HgStatus status = HG_OK;
	double start = hg_clock_ms();

	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		if (hg_match_resident_makes(task, (HgSide) side))
			status = hg_match_resident_make(resident, (HgSide) side, error);
	resident->build_ms += hg_clock_ms() - start;
	if (status != HG_OK || !hg_match_resident_holds(task))
		return status;
	resident->delta = task->spec.participants != NULL ? hg_match_participants_create(task)
													  : hg_match_cpu_create(task);
	HG_TRY(resident->delta->ops->open(resident->delta, error));
	return resident->delta->ops->build(resident->delta, error);
}

/* ---------------------------------------------------------------------
 * Parts
 * ---------------------------------------------------------------------
 */

/* HgFlatWork.take */
static uint32_t
hg_match_resident_take(void *arg)
{
	return pg_atomic_fetch_add_u32(arg, 1);
}

/*
 * Returns true if covered x covered may be tallied, and sets the side that is read. With
 * HG_MATCH_FIRST that must be the outer side.
 */
static bool
hg_match_resident_tallies(const HgMatchTask *task, HgSide *side)
{
	const HgMatcherSpec *spec = &task->spec;
	uint64 rows;

	if (!spec->any_order || spec->unread[HG_OUTER] == spec->unread[HG_INNER])
		return false;
	*side = spec->unread[HG_OUTER] ? HG_INNER : HG_OUTER;
	rows = spec->covered[*side]->graph->rows;
	return (hg_force ||
			(rows >= HG_TALLY_ROWS && spec->pairs >= (double) (rows / HG_TALLY_SHARE))) &&
		   (spec->direct_limit == 0 || hg_flat_tally_bytes(spec->first_row[*side]) <=
										   spec->direct_limit / 4 * HG_TALLY_QUARTERS);
}

/* Returns true if this process has pairs of covered x covered to find. */
static bool
hg_match_resident_has_covered(HgMatchResident *resident)
{
	const HgMatcherSpec *spec = &resident->source.task->spec;

	if (spec->covered[HG_OUTER] == NULL || spec->covered[HG_INNER] == NULL || spec->covered_apart)
		return false;
	if (spec->participants == NULL || !spec->participants->at_once)
		return true;
	if (!resident->claimed)
		resident->is_mine = hg_match_resident_take(spec->participants->next_part) == 0;
	resident->claimed = true;
	return resident->is_mine;
}

/* Returns the covered rows of a side to join with the delta rows of the other one. */
static const HgFlatSide *
hg_match_resident_covered(HgMatchResident *resident, HgSide side)
{
	HgMatchTask *task = resident->source.task;
	MemoryContext old;

	if (task->spec.apply_some == NULL)
		return task->spec.covered[side];
	if (resident->applied[side] == NULL)
	{
		old = MemoryContextSwitchTo(task->context);
		resident->applied[side] =
			task->spec.apply_some(task->spec.apply_arg, side, &task->sides[hg_other_side(side)]);
		MemoryContextSwitchTo(old);
	}
	return resident->applied[side];
}

/* Opens the join of covered x covered. */
static HgStatus
hg_match_resident_open_covered(HgMatchResident *resident, HgError *error)
{
	HgMatchTask *task = resident->source.task;
	const HgHost *host = &task->host.host;
	HgFlatWork work = {0};
	HgSide side;
	HgStatus status;

	if (task->spec.apply != NULL)
		task->spec.apply(task->spec.apply_arg);
	if (task->spec.participants != NULL && !task->spec.participants->at_once)
		work = (HgFlatWork){hg_match_resident_take, task->spec.participants->next_part};
	else if (task->spec.covered_part != NULL)
		work = (HgFlatWork){hg_match_resident_take, task->spec.covered_part};
	status = hg_flat_join_open(host, task->spec.covered[HG_OUTER], task->spec.covered[HG_INNER],
							   &work, &resident->join, error);
	if (status != HG_OK || !hg_match_resident_tallies(task, &side))
		return status;
	resident->tallied = side;
	HG_TRY(hg_flat_tally_open(host, resident->join, side, task->spec.first_row[side],
							  &resident->tally, error));
	resident->tally_bytes = hg_flat_tally_bytes(task->spec.first_row[side]);
	return HG_OK;
}

/* Opens the next join of the current part, of a graph or a piece. Leaves join NULL at its end. */
static HgStatus
hg_match_resident_open_join(HgMatchResident *resident, HgError *error)
{
	HgMatchTask *task = resident->source.task;
	const HgFlatSide *const *covered = task->spec.covered;
	const HgHost *host = &task->host.host;
	HgFlatSide sides[2];
	HgFlatRows rows;
	HgSide delta;

	if (resident->part == HG_COVERED_COVERED)
	{
		if (resident->piece > 0 || !hg_match_resident_has_covered(resident))
			return HG_OK;
		resident->piece = 1;
		return hg_match_resident_open_covered(resident, error);
	}
	delta = hg_resident_part_delta(resident->part);
	if (covered[hg_other_side(delta)] == NULL)
		return HG_OK;
	if (resident->made[delta] != NULL)
	{
		if (resident->piece > 0)
			return HG_OK;
		resident->piece = 1;
		sides[delta] = resident->made_side[delta];
		sides[hg_other_side(delta)] = *hg_match_resident_covered(resident, hg_other_side(delta));
		return hg_flat_join_open(host, &sides[HG_OUTER], &sides[HG_INNER], NULL, &resident->join,
								 error);
	}
	if (resident->piece == task->sides[delta].npieces)
		return HG_OK;
	Assert(delta == HG_OUTER);
	rows = hg_match_resident_rows(task, delta, &task->sides[delta].pieces[resident->piece++]);
	return hg_flat_lookup_open(host, &rows, task->spec.key_width, delta,
							   hg_match_resident_covered(resident, hg_other_side(delta)),
							   &resident->join, error);
}

static void
hg_match_resident_close_join(HgMatchResident *resident)
{
	hg_flat_tally_close(resident->tally);
	resident->tally = NULL;
	if (resident->join != NULL)
		hg_flat_close(resident->join);
	resident->join = NULL;
}

/*
 * Opens the join of the current part, or of the next part that has one. If none is left, join is
 * NULL and the part is delta x delta.
 */
static HgStatus
hg_match_resident_advance(HgMatchResident *resident, HgError *error)
{
	hg_match_resident_close_join(resident);
	while (resident->part < HG_DELTA_DELTA)
	{
		HgStatus status = hg_match_resident_open_join(resident, error);

		if (status != HG_OK || resident->join != NULL)
			return status;
		resident->part++;
		resident->piece = 0;
	}
	return HG_OK;
}

static void
hg_match_resident_rewind(HgMatchSource *source)
{
	HgMatchResident *resident = (HgMatchResident *) source;

	hg_match_resident_close_join(resident);
	resident->part = HG_COVERED_COVERED;
	resident->piece = 0;
	if (resident->delta != NULL && resident->delta->ops->rewind != NULL)
		resident->delta->ops->rewind(resident->delta);
}

/* ---------------------------------------------------------------------
 * Matches
 * ---------------------------------------------------------------------
 */

/* Returns the next matches of delta rows, with the task's row numbers. */
static HgStatus
hg_match_resident_next_delta(HgMatchResident *resident, const HgMatches **matches, HgError *error)
{
	const HgMatcherSpec *spec = &resident->source.task->spec;
	HgStatus status;

	*matches = NULL;
	if (resident->delta == NULL)
		return HG_OK;
	status = resident->delta->ops->next(resident->delta, matches, error);
	if (status != HG_OK || *matches == NULL)
		return status;
	for (size_t i = 0; i < (*matches)->count; i++)
	{
		(*matches)->outer[i] += spec->first_row[HG_OUTER];
		(*matches)->inner[i] += spec->first_row[HG_INNER];
	}
	return HG_OK;
}

static HgStatus
hg_match_resident_next(HgMatchSource *source, const HgMatches **matches, HgError *error)
{
	HgMatchResident *resident = (HgMatchResident *) source;
	HgMatchTask *task = source->task;
	HgMatches *block = &resident->block;
	HgStatus status = HG_OK;
	double start;

	if (block->outer == NULL)
	{
		block->outer = MemoryContextAlloc(task->context, HG_RESIDENT_CHUNK * sizeof(uint32));
		block->inner = MemoryContextAlloc(task->context, HG_RESIDENT_CHUNK * sizeof(uint32));
		block->capacity = HG_RESIDENT_CHUNK;
		block->is_finished = task->spec.is_finished;
		block->finished_arg = task->spec.finished_arg;
	}
	start = hg_clock_ms();
	block->count = 0;
	while (status == HG_OK && block->count == 0)
	{
		if (resident->tally != NULL)
			status = hg_flat_tally_next(resident->tally, task->spec.mode,
										resident->tallied == HG_OUTER ? block->outer : block->inner,
										block->capacity, &block->count, error);
		else if (resident->join != NULL)
			status = hg_flat_next(resident->join, task->spec.mode, block, error);
		if (status == HG_OK && block->count == 0)
		{
			status = hg_match_resident_advance(resident, error);
			if (resident->join == NULL)
				break;
		}
	}
	resident->match_ms += hg_clock_ms() - start;
	resident->matches += status == HG_OK ? block->count : 0;
	*matches = block;
	if (status != HG_OK || block->count > 0)
		return status;
	return hg_match_resident_next_delta(resident, matches, error);
}

static const HgMatchSourceOps hg_match_resident_ops;
static const HgMatchSourceOps hg_match_replica_ops;

/*
 * Asks a device for the number or the groups of this process's pairs of covered x covered. If the
 * device answers, only the later parts are left.
 */
static HgStatus
hg_match_resident_ask(HgMatchResident *resident, const HgReduction *reduction, HgError *error)
{
	HgStatus status;

	resident->device.given = false;
	if (!hg_match_resident_has_covered(resident))
		return HG_OK;
	status = hg_match_replica_ask(resident->source.task, reduction, &resident->device, error);
	if (status != HG_OK || !resident->device.given)
		return status;
	resident->source.ops = &hg_match_replica_ops;
	resident->part = HG_DELTA_COVERED;
	return HG_OK;
}

/*
 * Gets the groups of covered x covered from a device; the other pairs must be streamed. All
 * participants agree on that, and one of them gets the groups.
 */
static HgStatus
hg_match_resident_reduce(HgMatchSource *source, HgGroupSet *groups, bool *reduced, HgError *error)
{
	HgMatchResident *resident = (HgMatchResident *) source;
	HgStatus status;
	double start;

	*reduced = false;
	if (!hg_match_replica_may_reduce(&source->task->spec))
		return HG_OK;
	start = hg_clock_ms();
	status = hg_match_resident_ask(resident, source->task->spec.reduction, error);
	resident->match_ms += hg_clock_ms() - start;
	if (status != HG_OK || !resident->device.given)
		return status;
	*groups = resident->device.groups;
	groups->partial = true;
	resident->matches += groups->pairs;
	*reduced = true;
	return HG_OK;
}

static HgStatus
hg_match_resident_count(HgMatchSource *source, uint64 *matches, HgError *error)
{
	HgMatchResident *resident = (HgMatchResident *) source;
	HgStatus status = HG_OK;
	double start = hg_clock_ms();

	*matches = 0;
	hg_match_resident_rewind(source);
	if (hg_match_replica_may_count(&source->task->spec))
		status = hg_match_resident_ask(resident, NULL, error);
	if (resident->device.given)
		*matches = resident->device.pairs;
	while (status == HG_OK && (status = hg_match_resident_advance(resident, error)) == HG_OK &&
		   resident->join != NULL)
	{
		uint64 pairs;

		status = hg_flat_join_count(resident->join, source->task->spec.mode, &pairs, error);
		if (status != HG_OK)
			break;
		*matches += pairs;
	}
	resident->match_ms += hg_clock_ms() - start;
	resident->matches += source->task->unreported ? 0 : *matches;
	if (status == HG_OK && resident->delta != NULL)
	{
		uint64 delta;

		status = resident->delta->ops->count(resident->delta, &delta, error);
		*matches += status == HG_OK ? delta : 0;
	}
	return status;
}

/* ---------------------------------------------------------------------
 * The end
 * ---------------------------------------------------------------------
 */

static void
hg_match_resident_report(HgMatchSource *source, HgJobStats *stats)
{
	const HgMatchResident *resident = (const HgMatchResident *) source;
	const HgMatcherSpec *spec = &source->task->spec;
	HgJobStats delta = {0};
	bool intersects = spec->covered[HG_OUTER] != NULL && spec->covered[HG_INNER] != NULL;

	if (resident->delta != NULL)
		resident->delta->ops->report(resident->delta, &delta);
	*stats = delta;
	stats->build = HG_BUILD_RESIDENT;
	stats->passes = 1;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		intersects |= resident->made[side] != NULL;
		stats->rows[side] = source->task->sides[side].rows;
		if (spec->covered[side] != NULL)
		{
			const HgFlatShape *shape = &spec->covered[side]->graph->shape;

			stats->rows[side] += spec->covered[side]->graph->rows;
			stats->vertices =
				Max(stats->vertices, UINT64CONST(1) << (shape->bins_log2 + shape->vertices_log2));
			stats->bins = Max(stats->bins, UINT64CONST(1) << shape->bins_log2);
		}
	}
	stats->probe = intersects ? HG_PROBE_INTERSECT : HG_PROBE_STANDARD;
	stats->matches += resident->matches;
	stats->peak_bytes += resident->bytes + resident->tally_bytes;
	if (source->ops->on_device)
		stats->peak_bytes = resident->device.stats.peak_bytes;
	stats->phase_ms[HG_PHASE_BUILD] += resident->build_ms;
	stats->phase_ms[HG_PHASE_MATCH] += resident->match_ms;
}

static void
hg_match_resident_close(HgMatchSource *source)
{
	HgMatchResident *resident = (HgMatchResident *) source;

	hg_match_replica_close(&resident->device);
	hg_match_resident_close_join(resident);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		if (resident->made[side] != NULL)
			hg_flat_destroy(&source->task->host.host, resident->made[side]);
		resident->made[side] = NULL;
	}
	if (resident->delta != NULL)
		resident->delta->ops->close(resident->delta);
}

#define HG_MATCH_RESIDENT_CALLS                                                                    \
	.open = hg_match_source_pass, .build = hg_match_resident_build,                                \
	.next = hg_match_resident_next, .rewind = hg_match_resident_rewind,                            \
	.count = hg_match_resident_count, .reduce = hg_match_resident_reduce,                          \
	.report = hg_match_resident_report, .close = hg_match_resident_close

static const HgMatchSourceOps hg_match_resident_ops = {
	HG_MATCH_RESIDENT_CALLS,
	.backend = "cpu",
};

/* The same calls once a device has answered. */
static const HgMatchSourceOps hg_match_replica_ops = {
	HG_MATCH_RESIDENT_CALLS,
	.backend = "cuda",
	.on_device = true,
};

HgMatchSource *
hg_match_resident_create(HgMatchTask *task)
{
	const HgMatchColumns none = {0};

	hg_host_set_timeout(&task->host, -1);
	task->report.device[0] = '\0';
	return hg_match_source_create(task, &hg_match_resident_ops, &none, sizeof(HgMatchResident));
}
