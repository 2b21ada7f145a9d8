/*-------------------------------------------------------------------------
 *
 * hg_join_star.c
 *	  Multi-way join: a device joins the covered rows of all tables below a tree of joins at once.
 *
 * Tables that are joined by integers are often one large FACT relation, and small ones whose rows
 * it looks up.  If only the number of joined rows, or groups of them, are needed, and a device has
 * replicas of all graphs, it need not return the rows of one join for the next one
 * (engine/hg_replica.h).  The fact relation is one side of its job, a table that is joined with it
 * is the other side, and all other tables are looked up on the way.  So a snowflake is such a
 * tree, too.  If a side is partitioned over several devices, each of them does this with its
 * partition.
 *
 * Delta rows of the fact relation go through the joins of the tree as if there were no other fact
 * rows.  So do its stale probes, which may match changed rows of other tables
 * (hg_join_star_graphs.c).
 *
 * A table that is looked up must have at most one row for each value, which is not known for
 * certain here.  If a device finds several, it says so, and the fact relation's graph remembers
 * it.  The same goes for fact rows without a match in a table in which all must have one
 * (hg_join_star_graphs.c).
 *
 * Covered rows of a table have the same numbers in all of its graphs of the same segment versions,
 * which hg_covered_graph_by() ensures.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "backend/matcher/hg_match_replica.h"
#include "executor/join/hg_join_cover.h"
#include "executor/join/hg_join_star_graphs.h"
#include "executor/join/hg_join_state.h"
#include "hg_guc.h"

/* Why a device was not asked, or did not answer. */
static const char hg_star_no_graphs[] = "no GPU has HashGraphs of all of them";
static const char hg_star_no_columns[] = "no GPU has all columns that are wanted of them";
static const char hg_star_repeated[] = "a row finds several rows of a table";
static const char hg_star_unmatched[] = "rows find none in each table that is left joined";
static const char hg_star_changed[] = "too many rows have changed";
static const char hg_star_not_covered[] =
	"a table has no HashGraph that serves this query, has changed, or has a condition that is not "
	"decided over columns";

/* ---------------------------------------------------------------------
 * Deciding
 * ---------------------------------------------------------------------
 */

/* Returns true if only the number of rows, or groups, are needed. */
static bool
hg_star_is_answer(const HgJoinState *state)
{
	return (!state->rules.rows_wanted || state->reduction != NULL) && hg_join_cover_enabled() &&
		   state->upload == NULL && state->css.ss.ps.state->es_epq_active == NULL;
}

/* Creates the state, with the tree if there is one. */
static HgJoinStar *
hg_star_create(HgJoinState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->memory.context);
	HgJoinStar *star = palloc0(sizeof(HgJoinStar));

	MemoryContextSwitchTo(old);
	star->graphs.tree = &star->tree;
	/* a single join usually asks about its covered rows itself */
	star->possible = hg_join_tree_init(&star->tree, state) &&
					 (star->tree.njoins > 1 || hg_join_reduction_is_mixed(state->reduction) ||
					  (state->rules.rows_wanted && state->rules.join_type != JOIN_INNER));
	return star;
}

/*
 * Returns true if asking a device is expected to pay.  The largest table is the fact relation.  If
 * a device has graphs of some tables only, *why_not becomes the reason.  If the joins have decided
 * in another execution, *why_not stays.
 */
static bool
hg_star_is_worth(HgJoinStar *star, const char **why_not)
{
	double edges = 0;
	double most = -1;
	int covered = 0;
	int replicas = 0;

	for (int t = 0; t <= star->tree.njoins; t++)
	{
		const HgTreeTable *table = &star->tree.tables[t];

		/* a join below has begun after an earlier refusal */
		if (table->input->child.cover.decided)
			return false;
	}
	*why_not = NULL;
	for (int t = 0; t <= star->tree.njoins; t++)
	{
		const HgGraphExtent extent = hg_child_may_cover(&star->tree.tables[t].input->child);

		covered += extent.share > 0;
		replicas += hg_graph_extent_is_of_stars(&extent);
		edges += extent.rows;
		if (extent.rows > most)
			star->graphs.fact = t;
		most = Max(most, extent.rows);
	}
	if (replicas == 0 || !hg_star_has_sides(&star->graphs) ||
		!hg_cover_asks_star(star->tree.njoins, most, edges))
		return false;
	if (covered <= star->tree.njoins)
		*why_not = hg_star_not_covered;
	else if (replicas <= star->tree.njoins)
		*why_not = hg_star_no_graphs;
	return *why_not == NULL;
}

/* ---------------------------------------------------------------------
 * Rows
 * ---------------------------------------------------------------------
 */

/* Uncovers all rows: each join chooses for itself. */
static void
hg_star_uncover(HgJoinStar *star)
{
	for (int t = 0; t <= star->tree.njoins; t++)
	{
		const HgTreeTable *table = &star->tree.tables[t];

		if (table->input->child.covered == NULL)
			continue;
		hg_child_uncover(&table->input->child);
		hg_input_rescan(table->input);
	}
}

/*
 * Covers rows of all tables; returns false if a table cannot be covered.  The fact relation, the
 * largest one, comes last: if another table is not covered, the join below alone reads it.
 */
static bool
hg_star_cover(HgJoinStar *star, HgJoinRecord *record)
{
	bool covered = true;
	double start = hg_clock_ms();

	for (int t = 0; t <= star->tree.njoins && covered; t++)
		if (t != star->graphs.fact)
			covered = hg_child_cover(&star->tree.tables[t].input->child, true, NULL);
	covered =
		covered && hg_child_cover(&star->tree.tables[star->graphs.fact].input->child, true, NULL);
	record->scan_ms += hg_clock_ms() - start;
	return covered;
}

/* Leaves only delta rows and stale probes of the fact relation to the joins of the tree. */
static void
hg_star_end_covered(HgJoinStar *star)
{
	for (int t = 0; t <= star->tree.njoins; t++)
	{
		const HgTreeTable *table = &star->tree.tables[t];

		table->input->child.cover.decided = true;
		if (t == star->graphs.fact)
			hg_child_end_covered(&table->input->child, &star->stale_probes);
	}
}

/* ---------------------------------------------------------------------
 * Asking
 * ---------------------------------------------------------------------
 */

/* Adds a table to the job, as a side or as a lookup.  mask: its covered rows; NULL: all. */
static void
hg_star_job_add_table(HgJoinStar *star, const HgStarTable *table, const HgCovered *covered,
					  const HgFlatMask *mask)
{
	HgReplicaCovered *replica = &star->graphs.replica[table->side];
	HgReplicaFound *found;

	if (table->lookup == 0)
	{
		replica->use = table->use;
		replica->first_ordinals = covered->first_ordinals;
		star->covered[table->side] = (HgFlatSide){.graph = &table->graph->flat, .mask = mask};
		return;
	}
	found = &replica->lookups[table->lookup - 1];
	found->lookup.stride = hg_star_table(&star->graphs, table->from)->stride;
	found->lookup.found_stride = table->stride;
	found->lookup.found = table->use;
	found->mask = mask;
	found->first_ordinals = covered->first_ordinals;
}

/* Adds all tables to the job.  Strides of tables with columns must be known. */
static void
hg_star_job_add_tables(HgJoinStar *star)
{
	HgStarGraphs *graphs = &star->graphs;

	for (int t = 0; t <= star->tree.njoins; t++)
	{
		const HgStarTable *table = &graphs->tables[t];
		const HgCovered *covered = star->tree.tables[t].input->child.covered;
		const HgFlatMask *mask = hg_covered_has_all(covered, table->graph) ? NULL : &covered->mask;

		if (t == graphs->fact)
		{
			star->asked = covered->rows;
			if (star->stale_probes.count > 0)
				mask = hg_covered_mask_without(covered, &star->stale_probes, &star->asked);
		}
		hg_star_job_add_table(star, table, covered, mask);
		if (hg_star_table(graphs, t) != table)
			hg_star_job_add_table(star, &graphs->second_lookup, covered, mask);
	}
}

/* Reports the bytes of replicas that the tree needs with its columns, because some are missing. */
static void
hg_star_report_columns(HgJoinState *state, const HgReduction *requested)
{
	HgJoinStar *star = state->star;
	uint64 bytes[HG_TREE_TABLES] = {0};

	for (int side = HG_OUTER; side <= HG_INNER && requested != NULL; side++)
		for (uint32 c = 0; c < requested->columns[side].ncolumns; c++)
		{
			const HgReduceColumn column = {.side = (uint32) side, .column = c};
			int table;

			if (hg_star_expression(state->reduction, &column) >= 0)
				continue;
			table = hg_star_trace(state, (HgSide) side, c).table;
			bytes[table] += star->tree.tables[table].input->child.covered->graph->flat.rows *
							requested->columns[side].widths[c];
		}
	hg_star_report_demand(&star->graphs, bytes);
}

/* Prepares the job; returns false, with the reason in why_not, if that is not possible. */
static bool
hg_star_prepare(HgJoinState *state, const HgReduction *requested)
{
	HgJoinStar *star = state->star;
	const char **why_not = &state->multiway.why_not;

	hg_star_find_computed_tables(state, requested);
	*why_not = hg_star_no_graphs;
	star->graphs.usual = -1;
	do
	{
		if (!hg_star_next_sides(&star->graphs))
			return false;
		/* the number of fact rows must be known */
		if (star->graphs.complete)
			hg_child_apply_pending(&star->tree.tables[star->graphs.fact].input->child);
		if (!hg_star_find_graphs(&star->graphs))
		{
			*why_not = hg_star_no_graphs;
			hg_star_report_columns(state, requested);
			return false;
		}
		*why_not = star->graphs.complete ? hg_star_unmatched : hg_star_repeated;
	} while (hg_resident_graph_is_ambiguous(star->graphs.tables[star->graphs.fact].graph,
											hg_star_found(&star->graphs)));
	for (int t = 0; t <= star->tree.njoins; t++)
	{
		const uint32 stride = hg_covered_stride(star->tree.tables[t].input->child.covered);

		star->graphs.tables[t].stride = hg_star_table(&star->graphs, t)->stride = stride;
	}
	hg_star_add_filters(&star->graphs);
	*why_not = hg_star_no_columns;
	if (requested != NULL && !hg_star_find_columns(state, requested))
	{
		hg_star_report_columns(state, requested);
		return false;
	}
	hg_star_apply_others(&star->graphs);
	*why_not = hg_star_changed;
	hg_integers_init(&star->stale_probes);
	if (!hg_star_find_stale(&star->graphs, &star->stale_probes))
		return false;
	hg_star_job_add_tables(star);
	*why_not = NULL;
	return true;
}

/* Returns true if an answer covers all fact rows that it must cover. */
static bool
hg_star_is_complete(const HgJoinStar *star, const HgStarAnswer *answer)
{
	return !star->graphs.complete || answer->pairs == star->asked;
}

/* Records ambiguous lookups and missing replicas, so that they are not requested again. */
static void
hg_star_note(HgJoinState *state, const HgReduction *requested, const HgStarAnswer *answer)
{
	HgJoinStar *star = state->star;

	if (answer->ambiguous || (answer->given && !hg_star_is_complete(star, answer)))
	{
		state->multiway.why_not = answer->ambiguous ? hg_star_repeated : hg_star_unmatched;
		hg_resident_graph_note_ambiguous(star->graphs.tables[star->graphs.fact].graph,
										 hg_star_found(&star->graphs));
	}
	if (answer->missing_on == 0)
		return;
	state->multiway.why_not = hg_star_no_graphs;
	hg_star_report_missing(&star->graphs, answer->missing_on, &answer->missing);
	/* other replicas of the same tables may have evicted it */
	hg_star_report_columns(state, requested);
}

/*
 * Asks a device for groups, or for the number of rows if requested is NULL.  Charges the memory
 * used here, except groups, which their consumer charges.
 */
static bool
hg_star_answers(HgJoinState *state, const HgReduction *requested, HgCharge *charge, uint64 *rows)
{
	HgJoinStar *star = state->star;
	HgMatcherSpec spec = {0};
	HgStarAnswer answer;

	if (!hg_star_cover(star, &state->progress.record))
	{
		state->multiway.why_not = hg_star_not_covered;
		return false;
	}
	if (!hg_star_prepare(state, requested))
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec.covered[side] = &star->covered[side];
		spec.replica[side] = &star->graphs.replica[side];
	}
	spec.replica_at = star->graphs.at;
	spec.replica_partitioned = star->graphs.partitioned;
	spec.reduction = requested != NULL ? &star->reduction : NULL;
	spec.pairs = state->css.ss.ps.plan->plan_rows;
	spec.budget = &state->memory.budget;
	spec.progress = &state->progress.shown;
	hg_charge_set(charge, MemoryContextMemAllocated(CurrentMemoryContext, true));
	hg_match_star_ask(&spec, &answer);
	hg_star_note(state, requested, &answer);
	if (!answer.given || !hg_star_is_complete(star, &answer))
	{
		strlcpy(state->progress.record.report.fallback, answer.report.fallback,
				sizeof(answer.report.fallback));
		return false;
	}
	hg_stats_add_report(&state->progress.record, &answer.report);
	state->multiway.tables = star->tree.njoins + 1;
	if (requested != NULL)
		hg_join_hand_up(state->reduction, &star->reduction.spec, &star->codes, &answer.groups);
	*rows = requested == NULL ? answer.pairs : 0;
	return true;
}

bool
hg_join_ask_star(HgJoinState *state, uint64 *rows)
{
	HgCharge charge = {.budget = &state->memory.budget};
	const HgReduction *requested = NULL;
	HgJoinStar *star;
	MemoryContext context;
	MemoryContext old;

	if (!hg_star_is_answer(state))
		return false;
	if (state->star == NULL)
		state->star = hg_star_create(state);
	star = state->star;
	if (!star->possible || !hg_star_is_worth(star, &state->multiway.why_not))
		return false;
	if (state->rules.rows_wanted &&
		(requested = hg_join_requested_reduction(state->reduction)) == NULL)
		return false;
	context = AllocSetContextCreate(state->memory.context, "HashGraph star", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	if (hg_star_answers(state, requested, &charge, rows))
		star->answered = true;
	MemoryContextSwitchTo(old);
	if (star->answered)
		hg_star_end_covered(star);
	else
		hg_star_uncover(star);
	MemoryContextDelete(context);
	hg_charge_set(&charge, 0);
	return star->answered;
}

void
hg_join_forget_star(HgJoinStar *star)
{
	if (star == NULL || !star->answered)
		return;
	for (int j = 0; j < star->tree.njoins; j++)
		hg_join_reset(star->tree.joins[j]);
	for (int t = 0; t <= star->tree.njoins; t++)
	{
		const HgTreeTable *table = &star->tree.tables[t];

		hg_child_uncover(&table->input->child);
		table->input->child.cover.decided = false;
	}
	for (int j = 0; j < star->tree.njoins; j++)
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			hg_input_restart(star->tree.joins[j]->inputs[side]);
	star->answered = false;
}
