/*-------------------------------------------------------------------------
 *
 * hg_join_star_graphs.c
 *	  What each table of a tree of joins is in a device's job, and by which of its graphs.
 *
 * The facts and a table that they are joined with are the sides of the job.  From these on each
 * table is looked up by one that is there already: by which column of it the edge between the two
 * tells, and by which graph of the other's rows.  What an outer join may find nothing in is looked
 * up, and neither facts nor a side, where an inner join has facts.
 *
 * Where all of their joins are left joins they are sides with one of these tables all the same.  A
 * job finds the rows with a match there, and none of the others: its answer is right if there are
 * none, and that is so if it has as many pairs as facts that it was asked about, each of which has
 * one at most.
 *
 * A device computes columns of one side's.  Where one is computed of columns of both, the table
 * that the facts are joined with is looked up by them AGAIN, and others by what they find there:
 * then all columns are of the facts' side.  Each of the facts finds the one row that it is joined
 * with, or the device says that there are more, which is what a left join is looked up again for.
 *
 * Where the graph of a side is partitioned over several devices (engine/hg_partitioning.h) each of
 * them joins its partition.  What rows look up it has all of, and it is asked for where it has not;
 * the graphs by which rows of partitions look up are co-partitioned.  A graph that is too large for
 * one can be looked up only by rows that are partitioned by the same key, which then find what they
 * find in the partition of the same number: so one that is joined with the facts is a side, if
 * there is one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "common/hashfn.h"

#include "executor/join/hg_join_replica_partitions.h"
#include "executor/join/hg_join_star_graphs.h"
#include "executor/join/hg_join_state.h"

/* The graph by an end of an edge; NULL: there is none. */
static HgPinnedGraph *
hg_star_pin_graph(const HgJoinTree *tree, const HgTreeEdge *edge, int end)
{
	const HgTreeColumn *column = &edge->ends[end];

	return hg_covered_graph_by(tree->tables[column->table].input->covered, column->column,
							   &edge->parts[end]);
}

/* It is, as a device has it that has all of them; false: none has. */
static bool
hg_star_use_graph(HgStarGraphs *graphs, const HgPinnedGraph *graph, HgReplicaUse *use)
{
	const HgDeviceSet at = hg_resident_graph_replica(graph, use);

	if (graphs->partitioned)
	{
		if ((graphs->at & ~at) != 0)
			hg_resident_graph_bring_all(graph, graphs->at);
		/* whatever else is not there is asked for, too */
		graphs->missing |= (graphs->at & ~at) != 0;
		return true;
	}
	/* the device that has the other replicas has it soon */
	if (at != 0 && (at & graphs->at) == 0)
		hg_resident_graph_bring(graph, graphs->at);
	graphs->at &= at;
	return graphs->at != 0;
}

/* The same of the graph by which rows of a table look others up, in the last lookup of its side. */
static bool
hg_star_use_own(HgStarGraphs *graphs, const HgStarTable *from, const HgPinnedGraph *own)
{
	HgReplicaCovered *replica = &graphs->replica[from->side];
	const uint32 last = replica->nlookups - 1;
	HgReplicaUse *use = &replica->lookups[last].lookup.own;

	replica->copartition[last] = (HgCopartition){0};
	if (from->partitions == NULL)
		return hg_star_use_graph(graphs, own, use);
	graphs->missing |= hg_resident_graph_copartition(own, from->graph, use,
													 &replica->copartition[last]) != graphs->at;
	return true;
}

/*
 * Is what rows of partitions find in partitions, too?  A side that they look up again is what it
 * is.
 */
static bool
hg_star_finds_partitions(const HgStarGraphs *graphs, const HgStarTable *table)
{
	return table == &graphs->again ? graphs->replica[HG_INNER].partitions != NULL
								   : hg_resident_graph_is_too_large(table->graph);
}

/*
 * And of the graph by which a table's rows are found then: it may be in partitions, where those
 * that find them are in partitions by the same graph.
 */
static bool
hg_star_use_found(HgStarGraphs *graphs, const HgStarTable *from, HgStarTable *table)
{
	HgReplicaCovered *replica = &graphs->replica[from->side];
	const HgPartitioning *partitions;

	if (from->partitions == NULL || table->own->pointer != from->graph->pointer ||
		!hg_star_finds_partitions(graphs, table))
		return hg_star_use_graph(graphs, table->graph, &table->use);
	if (hg_resident_graph_partitioned(table->graph, &table->use, &partitions) == graphs->at)
		table->partitions = replica->copartition[replica->nlookups - 1].found = partitions;
	else
		graphs->missing = true;
	return true;
}

HgStarTable *
hg_star_table(HgStarGraphs *graphs, int table)
{
	return graphs->again.lookup > 0 && graphs->tables[table].side == HG_INNER
			   ? &graphs->again
			   : &graphs->tables[table];
}

/*
 * Have a table's rows be looked up by those of another one, with the columns of a join's edge.
 * False as well where those that look up are the ones which need not be there.
 */
static bool
hg_star_add_lookup(const HgJoinTree *tree, HgStarGraphs *graphs, int j, int end, HgStarTable *table)
{
	const HgTreeEdge *edge = &tree->edges[j];
	const bool *preserved = tree->joins[j]->rules.preserved;
	const HgStarTable *from = hg_star_table(graphs, edge->ends[1 - end].table);
	HgReplicaCovered *replica = &graphs->replica[from->side];
	HgReplicaFound *found;

	if (replica->nlookups == HG_MAX_LOOKUPS || preserved[end])
		return false;
	found = &replica->lookups[replica->nlookups++];
	*table = (HgStarTable){.side = from->side,
						   .lookup = replica->nlookups,
						   .from = edge->ends[1 - end].table,
						   .column = edge->ends[end].column};
	found->lookup.from = from->lookup;
	found->lookup.unmatched = preserved[1 - end];
	table->own = hg_star_pin_graph(tree, edge, 1 - end);
	table->graph = hg_star_pin_graph(tree, edge, end);
	return table->own != NULL && table->graph != NULL &&
		   hg_star_use_own(graphs, from, table->own) && hg_star_use_found(graphs, from, table);
}

/* Several devices are to have partitions of the sides; false: they have not. */
static bool
hg_star_use_partitions(HgStarGraphs *graphs, HgStarTable *sides[2])
{
	HgPinnedGraph *const of[2] = {sides[HG_OUTER]->graph, sides[HG_INNER]->graph};
	HgSideDevices at[2] = {0};

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		at[side].whole = hg_resident_graph_replica(of[side], &sides[side]->use);
	graphs->at = hg_replica_find_partitions(of, graphs->replica, at);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		sides[side]->partitions = graphs->replica[side].partitions;
	if (graphs->at == 0 && at[HG_OUTER].partitioned + at[HG_INNER].partitioned != 0)
		hg_replica_bring_together(of, at);
	return graphs->at != 0;
}

/* Begin with an edge of the facts: what it joins is a side each. */
static bool
hg_star_add_sides(const HgJoinTree *tree, HgStarGraphs *graphs, const HgTreeEdge *edge)
{
	const int facts_end = edge->ends[0].table == graphs->facts ? 0 : 1;
	HgStarTable *facts = &graphs->tables[graphs->facts];
	HgStarTable *other = &graphs->tables[edge->ends[1 - facts_end].table];

	graphs->again = (HgStarTable){0};
	*facts = (HgStarTable){.side = HG_OUTER, .from = -1};
	*other = (HgStarTable){
		.side = HG_INNER, .from = graphs->facts, .column = edge->ends[1 - facts_end].column};
	graphs->replica[HG_OUTER].nlookups = graphs->replica[HG_INNER].nlookups = 0;
	graphs->replica[HG_OUTER].partitions = graphs->replica[HG_INNER].partitions = NULL;
	graphs->at = HG_ALL_DEVICES;
	facts->graph = other->own = hg_star_pin_graph(tree, edge, facts_end);
	other->graph = hg_star_pin_graph(tree, edge, 1 - facts_end);
	if (facts->graph == NULL || other->graph == NULL)
		return false;
	if (graphs->partitioned)
		return hg_star_use_partitions(graphs, (HgStarTable *[2]){facts, other});
	return hg_star_use_graph(graphs, facts->graph, &facts->use) &&
		   hg_star_use_graph(graphs, other->graph, &other->use);
}

/* Is a join's edge one of the facts, and the join an inner one, or an outer one? */
static bool
hg_star_is_facts_edge(const HgJoinTree *tree, int j, int facts, bool inner)
{
	const HgTreeEdge *edge = &tree->edges[j];

	return (tree->joins[j]->rules.join_type == JOIN_INNER) == inner &&
		   (edge->ends[HG_OUTER].table == facts || edge->ends[HG_INNER].table == facts);
}

/*
 * The inner join that facts and another table are the sides of: their own, by the graph that
 * covers them, or else another one by a column of theirs.  Its edge has its number; -1: there is
 * none.
 */
static int
hg_star_inner_edge(const HgJoinTree *tree, int facts)
{
	int inner = -1;

	for (int j = 0; j < tree->njoins; j++)
		if (hg_star_is_facts_edge(tree, j, facts, true) &&
			(inner < 0 || tree->joins[j] == tree->tables[facts].join))
			inner = j;
	return inner;
}

/*
 * The next edge behind one, or behind -1, that they may be the sides by; -1: there is none.  The
 * join that is done first comes first.
 */
static int
hg_star_next_edge(const HgJoinTree *tree, int facts, int after)
{
	const int inner = hg_star_inner_edge(tree, facts);

	if (inner >= 0)
		return after < 0 ? inner : -1;
	for (int j = after < 0 ? tree->njoins - 1 : after - 1; j >= 0; j--)
		if (hg_star_is_facts_edge(tree, j, facts, false))
			return j;
	return -1;
}

bool
hg_star_has_sides(const HgJoinTree *tree, int facts)
{
	return !tree->tables[facts].optional && hg_star_next_edge(tree, facts, -1) >= 0;
}

bool
hg_star_next_sides(const HgJoinTree *tree, HgStarGraphs *graphs)
{
	graphs->usual = hg_star_next_edge(tree, graphs->facts, graphs->usual);
	if (graphs->usual >= 0)
		graphs->complete = tree->joins[graphs->usual]->rules.join_type != JOIN_INNER;
	return graphs->usual >= 0;
}

/* The tables, as bits, that rows of another one than the facts find, and that one. */
static uint32
hg_star_beyond(const HgJoinTree *tree, int facts, int other)
{
	uint32 beyond = UINT32_C(1) << other;

	for (int n = 1; n < tree->njoins; n++)
		for (int j = 0; j < tree->njoins; j++)
			for (int end = 0; end < 2; end++)
				if ((beyond >> tree->edges[j].ends[1 - end].table & 1) != 0 &&
					tree->edges[j].ends[end].table != facts)
					beyond |= UINT32_C(1) << tree->edges[j].ends[end].table;
	return beyond;
}

/* Is a column computed of some of these tables' columns, and of others'? */
static bool
hg_star_is_computed_across(const HgStarGraphs *graphs, uint32 tables)
{
	for (int i = 0; i < graphs->ncomputed; i++)
		if ((graphs->computed[i] & tables) != 0 && (graphs->computed[i] & ~tables) != 0)
			return true;
	return false;
}

/* Find the graphs, of which a device has all, or several partitions. */
static bool
hg_star_find_all(const HgJoinTree *tree, HgStarGraphs *graphs, int first_edge)
{
	const HgTreeEdge *first = &tree->edges[first_edge];
	const int first_end = first->ends[0].table == graphs->facts ? 1 : 0;
	const int other = first->ends[first_end].table;
	bool reached[HG_TREE_TABLES] = {0};
	int n = 0;

	graphs->missing = false;
	if (!hg_star_add_sides(tree, graphs, first) ||
		((graphs->complete ||
		  hg_star_is_computed_across(graphs, hg_star_beyond(tree, graphs->facts, other))) &&
		 !hg_star_add_lookup(tree, graphs, first_edge, first_end, &graphs->again)))
		return false;
	graphs->order[n++] = graphs->facts;
	graphs->order[n++] = other;
	reached[graphs->facts] = reached[other] = true;
	while (n <= tree->njoins)
		for (int j = 0; j < tree->njoins; j++)
			for (int end = 0; end < 2; end++)
			{
				const HgTreeEdge *edge = &tree->edges[j];

				if (!reached[edge->ends[1 - end].table] || reached[edge->ends[end].table])
					continue;
				if (!hg_star_add_lookup(tree, graphs, j, end,
										&graphs->tables[edge->ends[end].table]))
					return false;
				graphs->order[n++] = edge->ends[end].table;
				reached[edge->ends[end].table] = true;
			}
	return !graphs->missing;
}

/*
 * How good an edge is for sides that are partitioned; -1: facts and another table can't be sides by
 * it.
 */
static int
hg_star_rank_edge(const HgJoinTree *tree, const HgStarGraphs *graphs, int j)
{
	const HgTreeEdge *edge = &tree->edges[j];
	const int end = edge->ends[0].table == graphs->facts ? 0 : 1;
	const HgPinnedGraph *of_facts;
	const HgPinnedGraph *other;

	if (!hg_star_is_facts_edge(tree, j, graphs->facts, !graphs->complete))
		return -1;
	of_facts = hg_star_pin_graph(tree, edge, end);
	other = hg_star_pin_graph(tree, edge, 1 - end);
	if (of_facts == NULL || other == NULL)
		return -1;
	/* what is too large can't be looked up by another key, nor whole facts look up by what is */
	return 4 * hg_resident_graph_is_too_large(other) +
		   2 * hg_resident_graph_is_partitioned(of_facts) + hg_resident_graph_is_partitioned(other);
}

/* The join that facts and another table are the sides of, where there are partitions of one. */
static int
hg_star_partitioned_edge(const HgJoinTree *tree, const HgStarGraphs *graphs)
{
	int most = hg_star_rank_edge(tree, graphs, graphs->usual);
	int chosen = graphs->usual;

	for (int j = 0; j < tree->njoins; j++)
	{
		const int rank = hg_star_rank_edge(tree, graphs, j);

		if (rank > most)
			chosen = j;
		most = Max(most, rank);
	}
	return chosen;
}

/* The graph of the facts by their usual edge; NULL: there is none. */
static HgPinnedGraph *
hg_star_facts_graph(const HgJoinTree *tree, const HgStarGraphs *graphs)
{
	const HgTreeEdge *edge = &tree->edges[graphs->usual];

	return hg_star_pin_graph(tree, edge, edge->ends[0].table == graphs->facts ? 0 : 1);
}

bool
hg_star_find_graphs(const HgJoinTree *tree, HgStarGraphs *graphs)
{
	const HgPinnedGraph *facts = hg_star_facts_graph(tree, graphs);

	graphs->partitioned = false;
	/* others are not to be brought to a device that does not have all of them */
	if (facts != NULL && !hg_resident_graph_is_too_large(facts) &&
		hg_star_find_all(tree, graphs, graphs->usual))
		return true;
	graphs->partitioned = true;
	return hg_star_find_all(tree, graphs, hg_star_partitioned_edge(tree, graphs));
}

void
hg_star_tell_needs(const HgJoinTree *tree, const HgStarGraphs *graphs,
				   const uint64 columns[HG_TREE_TABLES])
{
	const HgPinnedGraph *facts = hg_star_facts_graph(tree, graphs);
	dsa_pointer counted[2 * HG_TREE_TABLES];
	uint64 bytes[HG_TREE_TABLES];
	HgGraphNeeds needs = {0};
	int n = 0;

	memcpy(bytes, columns, sizeof(bytes));
	for (int end = 0; end < 2 * tree->njoins; end++)
	{
		const HgTreeEdge *edge = &tree->edges[end / 2];
		const HgPinnedGraph *graph = hg_star_pin_graph(tree, edge, end % 2);
		int i = 0;

		if (graph == NULL)
			return;
		while (i < n && counted[i] != graph->pointer)
			i++;
		if (i < n)
			continue;
		counted[n++] = graph->pointer;
		bytes[edge->ends[end % 2].table] += hg_resident_graph_least_bytes(graph);
	}
	for (int t = 0; t <= tree->njoins; t++)
		*(t == graphs->facts ? &needs.partitioning : &needs.whole) += bytes[t];
	hg_resident_graph_tell_needs(facts, &needs);
}

bool
hg_star_find_replica_column(HgStarGraphs *graphs, const HgStarTable *table, AttrNumber number,
							HgReplicaColumnUse *use, const HgGraphCodes **codes)
{
	HgDeviceSet at;

	if (table->partitions != NULL)
		at = hg_resident_graph_partitioned_column(table->graph, number, use, codes);
	else
		at = hg_resident_graph_replica_column(table->graph, number, use, codes);
	if (graphs->partitioned)
		return at != 0 && (graphs->at & ~at) == 0;
	graphs->at &= at;
	return at != 0;
}

/* What a table is looked up by is not there any more. */
static void
hg_star_note_missed_lookup(HgStarGraphs *graphs, const HgStarTable *table, HgDeviceSet device_set,
						   const HgMissingReplicas *missing)
{
	const HgStarTable *from = hg_star_table(graphs, table->from);

	if (from->partitions != NULL)
		hg_resident_graph_missed_copartition(table->own, from->graph, device_set, missing);
	else
		hg_resident_graph_missed(table->own, false, device_set, missing);
}

void
hg_star_note_missed(const HgJoinTree *tree, HgStarGraphs *graphs, HgDeviceSet device_set,
					const HgMissingReplicas *missing)
{
	for (int t = 0; t <= tree->njoins; t++)
	{
		const HgStarTable *table = &graphs->tables[t];

		hg_resident_graph_missed(table->graph, table->partitions != NULL, device_set, missing);
		/* what a side is joined with is one itself, and is all that it is looked up by again */
		if (table->lookup > 0)
			hg_star_note_missed_lookup(graphs, table, device_set, missing);
	}
}

/* Add a table that is looked up, by this graph of its, to a number. */
static uint64
hg_star_add_found(const HgJoinTree *tree, const HgStarTable *table, int t, uint64 found)
{
	/* of some of its rows values may be unique that are not of all */
	const HgCovered *covered = tree->tables[t].input->covered;
	const bool all = hg_covered_has_all(covered, table->graph) && !hg_covered_has_pending(covered);
	const uint64 words[] = {table->use.name.serial, all};

	return hash_bytes_extended((const unsigned char *) words, sizeof(words), found);
}

uint64
hg_star_found(const HgJoinTree *tree, const HgStarGraphs *graphs)
{
	uint64 found = 1;

	for (int t = 0; t <= tree->njoins; t++)
		if (graphs->tables[t].lookup > 0)
			found = hg_star_add_found(tree, &graphs->tables[t], t, found);
	if (graphs->again.lookup > 0)
		found = hg_star_add_found(tree, &graphs->again, graphs->order[1], found);
	/* some of the facts may have a match each where others have none */
	if (graphs->complete)
		found = hash_combine64(found, tree->tables[graphs->facts].input->covered->rows);
	return Max(found, 1);
}
