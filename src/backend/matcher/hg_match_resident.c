/*-------------------------------------------------------------------------
 *
 * hg_match_resident.c
 *	  Matches from resident HashGraphs.
 *
 * The rows of a side are those that a resident HashGraph has, which are lent (HgMatcherSpec), and
 * those that are held as keys.  Either may be missing.  The join is the sum of four parts, which
 * come one after the other:
 *
 *	lent x lent		two graphs, intersected as they are
 *	held x lent		the keys are looked up in the graph; where they are many beside its rows, and
 *					little is wanted of their rows, a graph is made of them first, and intersected
 *	lent x held		a graph is made of the keys
 *	held x held		a job of the CPU engine
 *
 * Where processes share the join all of them have the same lent rows, and each has held rows of its
 * own.  Of lent x lent each takes a range of vertices after the other; its own rows it joins with
 * what is lent, whole; and held rows of all processes are joined by a team.  So each pair is one
 * process's, but matches of a lent row may be several processes'.
 *
 * A block of matches is of one part.  So lent rows and held ones do not meet in a block of a side,
 * and an outer row's matches with lent inner rows follow each other, and those with held ones do:
 * where one match of a row counts, and there are both, the caller looks to that.
 *
 * Held rows that do not fit into memory may come in several matchers, and pairs of lent rows be
 * another one's.
 *
 * Where the caller looks at one side's rows alone, and not at their order, those of lent x lent are
 * tallied (engine/hg_flat.h), if there are enough of them: what he fetches for them then lies in
 * order, too.
 *
 * Where a device keeps both graphs, and pairs are only counted, or made groups of, it does that
 * with those of lent x lent (hg_match_kept.h).
 *
 * Graphs of held keys are made when the source is built, in the task's memory, and stay: the stream
 * may begin again.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/hg_elapsed.h"
#include "backend/matcher/hg_match_cpu.h"
#include "backend/matcher/hg_match_kept.h"
#include "backend/matcher/hg_match_resident.h"
#include "backend/matcher/hg_match_team.h"
#include "hg_guc.h"

/*
 * Held outer keys are looked up, in the order that they come in, where there are so many times as
 * many lent rows; as long as there are fewer than the latter a graph of them finds them in the
 * order of vertices, which is faster, but takes memory: one part in so many of what there is.
 * And it is slower where the caller then looks for each row at so many places or more, all over
 * memory, which he would go through from one to the next.
 */
#define HG_LOOKUP_PLACES 5
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
	HG_LENT_LENT,
	HG_HELD_LENT,
	HG_LENT_HELD,
	HG_HELD_HELD,
	HG_RESIDENT_PARTS
} HgResidentPart;

typedef struct HgMatchResident
{
	HgMatchSource source; /* first */
	HgFlatGraph *made[2]; /* by HgSide: of the held keys, to meet the other side's; or NULL */
	HgFlatSide made_side[2];
	const HgFlatSide *decided[2]; /* by HgSide: lent rows, as they meet those that are held */
	HgMatchSource *held;		  /* of the held keys of both sides; or NULL */

	/* where the stream stands */
	HgResidentPart part;
	int piece;			/* of the keys that are looked up: the next one */
	HgFlatJoin *join;	/* or NULL */
	HgFlatTally *tally; /* of its pairs; or NULL */
	HgSide tallied;
	HgMatches block;
	HgKeptAnswer device; /* of the pairs of lent x lent, if it was asked for one and has given it */

	/* of a team of which one process has all of lent x lent (HgTeamSpec.at_once) */
	bool claimed; /* it is known who that is ... */
	bool is_mine; /* ... this one */

	uint64 matches;		/* so far, but for those of held keys alone */
	uint64 bytes;		/* that the graphs of held keys have taken ... */
	uint64 tally_bytes; /* ... and a tally */
	double build_ms;
	double match_ms;
} HgMatchResident;

/* The side whose rows are held in a part where the other side's are lent. */
static inline HgSide
hg_resident_part_held(HgResidentPart part)
{
	return part == HG_HELD_LENT ? HG_OUTER : HG_INNER;
}

/* The keys of a piece, under the numbers that the task has for them. */
static HgFlatRows
hg_match_resident_rows(const HgMatchTask *task, HgSide side, const HgKeyPiece *piece)
{
	return (HgFlatRows){.keys = piece->keys,
						.count = piece->count,
						.first_row = (uint32) (task->spec.first_row[side] + piece->first_row)};
}

/* Make a graph of the held keys of a side. */
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

/* Are there held rows of both sides, of this process or of those that build with it? */
static bool
hg_match_resident_holds(const HgMatchTask *task)
{
	if (task->spec.team != NULL)
		return !task->spec.team->none_held;
	return task->sides[HG_OUTER].rows > 0 && task->sides[HG_INNER].rows > 0;
}

/* Is a graph to be made of the held keys of a side, to meet lent rows of the other one? */
static bool
hg_match_resident_makes(const HgMatchTask *task, HgSide side)
{
	const HgFlatSide *lent = task->spec.lent[hg_other_side(side)];
	const uint64 rows = task->sides[side].rows;
	HgFlatShape shape;

	if (lent == NULL || rows == 0)
		return false;
	if (side == HG_INNER)
		return true;
	if (task->spec.places[side] >= HG_LOOKUP_PLACES && rows > HG_LOOKUP_NEAR_ROWS)
		return false;
	if (rows > lent->graph->rows / HG_LOOKUP_ROWS)
		return true;
	shape = hg_flat_shape(task->spec.key_width, rows);
	return rows > lent->graph->rows / HG_LOOKUP_FEW_ROWS &&
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
	resident->held =
		task->spec.team != NULL ? hg_match_team_create(task) : hg_match_cpu_create(task);
	status = resident->held->ops->open(resident->held, error);
	if (status == HG_OK)
		status = resident->held->ops->build(resident->held, error);
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
 * May the rows of lent x lent be tallied, those of the side that is read?  Where one outer row's
 * first match alone counts, that is the outer one.
 */
static bool
hg_match_resident_tallies(const HgMatchTask *task, HgSide *side)
{
	const HgMatcherSpec *spec = &task->spec;
	uint64 rows;

	if (!spec->any_order || spec->unread[HG_OUTER] == spec->unread[HG_INNER])
		return false;
	*side = spec->unread[HG_OUTER] ? HG_INNER : HG_OUTER;
	rows = spec->lent[*side]->graph->rows;
	return (hg_force ||
			(rows >= HG_TALLY_ROWS && spec->pairs >= (double) (rows / HG_TALLY_SHARE))) &&
		   (spec->direct_limit == 0 ||
			hg_flat_tally_bytes(spec->first_row[*side]) <= spec->direct_limit / 4 * 3);
}

/* Has this process pairs of lent x lent to find? */
static bool
hg_match_resident_has_lent(HgMatchResident *resident)
{
	const HgMatcherSpec *spec = &resident->source.task->spec;

	if (spec->lent[HG_OUTER] == NULL || spec->lent[HG_INNER] == NULL || spec->lent_apart)
		return false;
	if (spec->team == NULL || !spec->team->at_once)
		return true;
	if (!resident->claimed)
		resident->is_mine = hg_match_resident_take(spec->team->next_part) == 0;
	resident->claimed = true;
	return resident->is_mine;
}

/* The lent rows of a side, to be joined with what is held of the other one. */
static const HgFlatSide *
hg_match_resident_lent(HgMatchResident *resident, HgSide side)
{
	HgMatchTask *task = resident->source.task;
	MemoryContext old;

	if (task->spec.decide_some == NULL)
		return task->spec.lent[side];
	if (resident->decided[side] == NULL)
	{
		old = MemoryContextSwitchTo(task->context);
		resident->decided[side] =
			task->spec.decide_some(task->spec.decide_arg, side, &task->sides[hg_other_side(side)]);
		MemoryContextSwitchTo(old);
	}
	return resident->decided[side];
}

/* Open the join of lent x lent. */
static HgStatus
hg_match_resident_open_lent(HgMatchResident *resident, HgError *error)
{
	HgMatchTask *task = resident->source.task;
	const HgHost *host = &task->host.host;
	HgFlatWork work = {0};
	HgSide side;
	HgStatus status;

	if (task->spec.decide != NULL)
		task->spec.decide(task->spec.decide_arg);
	if (task->spec.team != NULL && !task->spec.team->at_once)
		work = (HgFlatWork){hg_match_resident_take, task->spec.team->next_part};
	else if (task->spec.lent_part != NULL)
		work = (HgFlatWork){hg_match_resident_take, task->spec.lent_part};
	status = hg_flat_join_open(host, task->spec.lent[HG_OUTER], task->spec.lent[HG_INNER], &work,
							   &resident->join, error);
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
	const HgFlatSide *const *lent = task->spec.lent;
	const HgHost *host = &task->host.host;
	HgFlatSide sides[2];
	HgFlatRows rows;
	HgSide held;

	if (resident->part == HG_LENT_LENT)
	{
		if (resident->piece > 0 || !hg_match_resident_has_lent(resident))
			return HG_OK;
		resident->piece = 1;
		return hg_match_resident_open_lent(resident, error);
	}
	held = hg_resident_part_held(resident->part);
	if (lent[hg_other_side(held)] == NULL)
		return HG_OK;
	if (resident->made[held] != NULL)
	{
		if (resident->piece > 0)
			return HG_OK;
		resident->piece = 1;
		sides[held] = resident->made_side[held];
		sides[hg_other_side(held)] = *hg_match_resident_lent(resident, hg_other_side(held));
		return hg_flat_join_open(host, &sides[HG_OUTER], &sides[HG_INNER], NULL, &resident->join,
								 error);
	}
	if (resident->piece == task->sides[held].npieces)
		return HG_OK;
	Assert(held == HG_OUTER);
	rows = hg_match_resident_rows(task, held, &task->sides[held].pieces[resident->piece++]);
	return hg_flat_lookup_open(host, &rows, task->spec.key_width, held,
							   hg_match_resident_lent(resident, hg_other_side(held)),
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
 * Have a join of the current part, or of the next one that has any; it is NULL where none is left,
 * and held x held is the part.
 */
static HgStatus
hg_match_resident_advance(HgMatchResident *resident, HgError *error)
{
	hg_match_resident_close_join(resident);
	while (resident->part < HG_HELD_HELD)
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
	resident->part = HG_LENT_LENT;
	resident->piece = 0;
	if (resident->held != NULL && resident->held->ops->rewind != NULL)
		resident->held->ops->rewind(resident->held);
}

/* ---------------------------------------------------------------------
 * Matches
 * ---------------------------------------------------------------------
 */

/* The next matches of held rows, whose numbers become those that the task has for them. */
static HgStatus
hg_match_resident_next_held(HgMatchResident *resident, const HgMatches **matches, HgError *error)
{
	const HgMatcherSpec *spec = &resident->source.task->spec;
	HgStatus status;

	*matches = NULL;
	if (resident->held == NULL)
		return HG_OK;
	status = resident->held->ops->next(resident->held, matches, error);
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
	return hg_match_resident_next_held(resident, matches, error);
}

static const HgMatchSourceOps hg_match_resident_ops;
static const HgMatchSourceOps hg_match_kept_ops;

/*
 * Ask a device about the pairs of lent x lent, where they are this process's: for their number, or
 * for groups of them.  If it answers, the parts behind them are left.
 */
static HgStatus
hg_match_resident_ask(HgMatchResident *resident, const HgReduction *reduction, HgError *error)
{
	HgStatus status;

	resident->device.given = false;
	if (!hg_match_resident_has_lent(resident))
		return HG_OK;
	status = hg_match_kept_ask(resident->source.task, reduction, &resident->device, error);
	if (status != HG_OK || !resident->device.given)
		return status;
	resident->source.ops = &hg_match_kept_ops;
	resident->part = HG_HELD_LENT;
	return HG_OK;
}

/*
 * Groups of the pairs of lent x lent; the others are to be streamed.  Where processes share the
 * join all of them agree on it, and one gets the groups.
 */
static HgStatus
hg_match_resident_reduce(HgMatchSource *source, HgGroupSet *groups, bool *reduced, HgError *error)
{
	HgMatchResident *resident = (HgMatchResident *) source;
	HgStatus status;
	instr_time start;

	*reduced = false;
	if (!hg_match_kept_may_reduce(&source->task->spec))
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
	if (hg_match_kept_may_count(&source->task->spec))
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
	resident->matches += source->task->aside ? 0 : *matches;
	if (status == HG_OK && resident->held != NULL)
	{
		uint64 held;

		status = resident->held->ops->count(resident->held, &held, error);
		*matches += status == HG_OK ? held : 0;
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
	HgJobStats held = {0};
	bool intersects = spec->lent[HG_OUTER] != NULL && spec->lent[HG_INNER] != NULL;

	if (resident->held != NULL)
		resident->held->ops->report(resident->held, &held);
	*stats = held;
	stats->build = HG_BUILD_RESIDENT;
	stats->ranges = 1;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		intersects |= resident->made[side] != NULL;
		stats->rows[side] = source->task->sides[side].rows;
		if (spec->lent[side] != NULL)
		{
			const HgFlatShape *shape = &spec->lent[side]->graph->shape;

			stats->rows[side] += spec->lent[side]->graph->rows;
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

	hg_match_kept_close(&resident->device);
	hg_match_resident_close_join(resident);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		if (resident->made[side] != NULL)
			hg_flat_destroy(&source->task->host.host, resident->made[side]);
		resident->made[side] = NULL;
	}
	if (resident->held != NULL)
		resident->held->ops->close(resident->held);
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
static const HgMatchSourceOps hg_match_kept_ops = {
	HG_MATCH_RESIDENT_CALLS,
	.backend = "cuda",
	.on_device = true,
};

HgMatchSource *
hg_match_resident_create(HgMatchTask *task)
{
	const HgMatchColumns none = {0};

	hg_host_set_patience(&task->host, -1);
	task->report.device[0] = '\0';
	return hg_match_source_create(task, &hg_match_resident_ops, &none, sizeof(HgMatchResident));
}
