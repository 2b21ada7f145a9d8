/*-------------------------------------------------------------------------
 *
 * hg_match_resident.c
 *	  Matches from resident HashGraphs.
 *
 * The rows of a side are its covered rows, which a resident HashGraph has (HgMatcherSpec), and its
 * delta rows, which are there as keys.  Either set may be empty.  The join is the sum of four
 * parts, which come one after the other:
 *
 *	covered x covered	two graphs, intersected as they are
 *	delta x covered		the keys are looked up in the graph.  If there are many keys beside the
 *						graph's rows, and few columns are needed of them, a graph is made of the
 *						keys first, and intersected
 *	covered x delta		a graph is made of the keys
 *	delta x delta		a job of the CPU engine
 *
 * Where processes share the join, all of them have the same covered rows, and each has delta rows
 * of its own.  The processes take ranges of vertices of covered x covered in turn.  Each process
 * joins its own delta rows with all covered rows.  A team joins the delta rows of all processes.
 * So each pair belongs to one process, but several processes may have matches of the same covered
 * row.
 *
 * A block of matches belongs to one part.  So a block never has both covered rows and delta rows
 * of the same side.  The matches of an outer row with covered inner rows follow each other, and so
 * do those with delta rows.  Where one match of a row counts, and there are both kinds, the caller
 * sees to that.
 *
 * Delta rows that do not fit into memory may come in several matchers.  The pairs of covered rows
 * may then belong to another matcher.
 *
 * Where the caller looks at one side's rows alone, in any order, the pairs of covered x covered
 * are tallied (engine/hg_flat.h), if there are enough of them.  What the caller fetches for them
 * then lies in order, too.
 *
 * Where a device keeps both graphs, and pairs are only counted or grouped, the device does that for
 * covered x covered (hg_match_replica.h).
 *
 * Graphs of delta keys are made when the source is built.  They stay in the task's memory, because
 * the stream may begin again.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/hg_elapsed.h"
#include "backend/matcher/hg_match_cpu.h"
#include "backend/matcher/hg_match_replica.h"
#include "backend/matcher/hg_match_resident.h"
#include "backend/matcher/hg_match_participants.h"
#include "hg_guc.h"

/*
 * Outer delta keys are looked up in their own order if there are this many times as many covered
 * rows.  Below that, a graph is made of the keys, as long as there are fewer of them than covered
 * rows.  The graph finds matches in the order of vertices, which is faster but takes memory: one
 * part in so many of what there is.  It is slower where the caller then looks at this many places
 * or more for each row, because these are all over memory, and with lookups the caller goes from
 * one to the next.
 */
#define HG_LOOKUP_ACCESSES 5
#define HG_LOOKUP_ROWS 8
#define HG_LOOKUP_FEW_ROWS 512
#define HG_LOOKUP_NEAR_ROWS 8192 /* ... which are in a near cache as long as there are no more */
#define HG_LOOKUP_SHARE 4

/*
 * Rows are tallied where values of them would not be in a near cache, and matches are expected of
 * one in so many of them.
 */
#define HG_TALLY_ROWS (1 << 20)
#define HG_TALLY_SHARE 8

/* Matches of a block: as many as a near cache holds. */
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
	HgFlatGraph *made[2]; /* by HgSide: of the delta keys, to meet covered rows; or NULL */
	HgFlatSide made_side[2];
	const HgFlatSide *applied[2]; /* by HgSide: covered rows, as they meet delta rows */
	HgMatchSource *delta;		  /* of the delta keys of both sides; or NULL */

	/* where the stream stands */
	HgResidentPart part;
	int piece;			/* of the keys that are looked up: the next one */
	HgFlatJoin *join;	/* or NULL */
	HgFlatTally *tally; /* of its pairs; or NULL */
	HgSide tallied;
	HgMatches block;
	HgReplicaAnswer
		device; /* about the pairs of covered x covered, if the device was asked and has answered */

	/*
	 * of participants of which one process has all of covered x covered
	 * (HgParticipantsSpec.at_once)
	 */
	bool claimed; /* it is known who that is ... */
	bool is_mine; /* ... this one */

	uint64 matches;		/* so far, without those of delta x delta */
	uint64 bytes;		/* that the graphs of delta keys have taken ... */
	uint64 tally_bytes; /* ... and a tally */
	double build_ms;
	double match_ms;
} HgMatchResident;

/* Returns the side whose delta rows meet covered rows of the other side in a part. */
static inline HgSide
hg_resident_part_delta(HgResidentPart part)
{
	return part == HG_DELTA_COVERED ? HG_OUTER : HG_INNER;
}

/* The keys of a piece, under the numbers that the task has for them. */
static HgFlatRows
hg_match_resident_rows(const HgMatchTask *task, HgSide side, const HgKeyPiece *piece)
{
	return (HgFlatRows){.keys = piece->keys,
						.count = piece->count,
						.first_row = (uint32) (task->spec.first_row[side] + piece->first_row)};
}

/* Makes a graph of the delta keys of a side. */
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

/* True if both sides have delta rows, in this process or in those that build with it. */
static bool
hg_match_resident_holds(const HgMatchTask *task)
{
	if (task->spec.participants != NULL)
		return !task->spec.participants->no_delta;
	return task->sides[HG_OUTER].rows > 0 && task->sides[HG_INNER].rows > 0;
}

/* True if a graph is made of the delta keys of a side, to meet covered rows of the other one. */
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
	instr_time start;

	INSTR_TIME_SET_CURRENT(start);
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		if (hg_match_resident_makes(task, (HgSide) side))
			status = hg_match_resident_make(resident, (HgSide) side, error);
	resident->build_ms += hg_elapsed_ms(start);
	if (status != HG_OK || !hg_match_resident_holds(task))
		return status;
	resident->delta = task->spec.participants != NULL ? hg_match_participants_create(task)
													  : hg_match_cpu_create(task);
	status = resident->delta->ops->open(resident->delta, error);
	if (status == HG_OK)
		status = resident->delta->ops->build(resident->delta, error);
	return status;
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
 * True if the rows of covered x covered may be tallied, those of the side that is read.  Where one
 * outer row's first match alone counts, that is the outer side.
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
		   (spec->direct_limit == 0 ||
			hg_flat_tally_bytes(spec->first_row[*side]) <= spec->direct_limit / 4 * 3);
}

/* True if this process has pairs of covered x covered to find. */
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

/* Returns the covered rows of a side, to be joined with the delta rows of the other one. */
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
	status = hg_flat_tally_open(host, resident->join, side, task->spec.first_row[side],
								&resident->tally, error);
	if (status == HG_OK)
		resident->tally_bytes = hg_flat_tally_bytes(task->spec.first_row[side]);
	return status;
}

/* Open the next join of the current part, a graph's or a piece's; there may be none left. */
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
 * Opens the join of the current part, or of the next part that has one.  It is NULL where none is
 * left, and the part is delta x delta.
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

/*
 * Returns the next matches of delta rows.  Their numbers become those that the task has for them.
 */
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
	instr_time start;

	if (block->outer == NULL)
	{
		block->outer = MemoryContextAlloc(task->context, HG_RESIDENT_CHUNK * sizeof(uint32));
		block->inner = MemoryContextAlloc(task->context, HG_RESIDENT_CHUNK * sizeof(uint32));
		block->capacity = HG_RESIDENT_CHUNK;
		block->settled = task->spec.settled;
		block->settled_arg = task->spec.settled_arg;
	}
	INSTR_TIME_SET_CURRENT(start);
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
	resident->match_ms += hg_elapsed_ms(start);
	resident->matches += status == HG_OK ? block->count : 0;
	*matches = block;
	if (status != HG_OK || block->count > 0)
		return status;
	return hg_match_resident_next_delta(resident, matches, error);
}

static const HgMatchSourceOps hg_match_resident_ops;
static const HgMatchSourceOps hg_match_replica_ops;

/*
 * Asks a device about the pairs of covered x covered, where they are this process's: for their
 * number, or for groups of them.  If the device answers, only the parts behind are left.
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
 * Takes groups of the pairs of covered x covered; the other pairs are to be streamed.  Where
 * processes share the join all of them agree on it, and one gets the groups.
 */
static HgStatus
hg_match_resident_reduce(HgMatchSource *source, HgGroupSet *groups, bool *reduced, HgError *error)
{
	HgMatchResident *resident = (HgMatchResident *) source;
	HgStatus status;
	instr_time start;

	*reduced = false;
	if (!hg_match_replica_may_reduce(&source->task->spec))
		return HG_OK;
	INSTR_TIME_SET_CURRENT(start);
	status = hg_match_resident_ask(resident, source->task->spec.reduction, error);
	resident->match_ms += hg_elapsed_ms(start);
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
	instr_time start;

	INSTR_TIME_SET_CURRENT(start);
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
	resident->match_ms += hg_elapsed_ms(start);
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
	stats->ranges = 1;
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

/* The same from when a device has answered on. */
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
