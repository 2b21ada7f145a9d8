/*-------------------------------------------------------------------------
 *
 * hg_join_star_graphs.c
 *	  What each table of a tree of joins is in a device's job, and by which of its graphs.
 *
 * The facts and a table that they are joined with are the sides of the job.  From these on each
 * table is looked up by one that is there already: by which column of it the edge between the two
 * tells, and by which graph of the other's rows.  What an outer join may find nothing in is looked
 * up, and neither facts nor a side.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "common/hashfn.h"

#include "executor/join/hg_join_star_graphs.h"
#include "executor/join/hg_join_state.h"

/* The graph by an end of an edge, and as a device has it that has all of them; false: none has. */
static bool
hg_star_find_graph(const HgJoinTree *tree, HgStarGraphs *graphs, const HgTreeEdge *edge, int end,
				   HgPinnedGraph **graph, HgKeptUse *use)
{
	const HgTreeColumn *column = &edge->ends[end];
	HgPlaces at;

	*graph = hg_lent_graph_by(tree->tables[column->table].input->lent, column->column,
							  &edge->parts[end]);
	if (*graph == NULL)
		return false;
	at = hg_resident_graph_kept(*graph, use);
	/* what the others are kept by has it soon */
	if (at != 0 && (at & graphs->at) == 0)
		hg_resident_graph_bring(*graph, graphs->at);
	graphs->at &= at;
	return graphs->at != 0;
}

/*
 * Have a table's rows be looked up by those of another one, with the columns of a join's edge.
 * False as well where those that look up are the ones which need not be there.
 */
static bool
hg_star_add_lookup(const HgJoinTree *tree, HgStarGraphs *graphs, int j, int end)
{
	const HgTreeEdge *edge = &tree->edges[j];
	const bool *keep = tree->joins[j]->rules.keep;
	const int from = edge->ends[1 - end].table;
	HgStarTable *table = &graphs->tables[edge->ends[end].table];
	HgKeptLent *kept = &graphs->kept[graphs->tables[from].side];
	HgKeptFound *found;

	if (kept->nlookups == HG_MAX_LOOKUPS || keep[end])
		return false;
	found = &kept->lookups[kept->nlookups++];
	*table = (HgStarTable){.side = graphs->tables[from].side,
						   .lookup = kept->nlookups,
						   .from = from,
						   .column = edge->ends[end].column};
	found->lookup.from = graphs->tables[from].lookup;
	found->lookup.unmatched = keep[1 - end];
	return hg_star_find_graph(tree, graphs, edge, 1 - end, &table->own, &found->lookup.own) &&
		   hg_star_find_graph(tree, graphs, edge, end, &table->graph, &table->use);
}

/* Begin with an edge of the facts: what it joins is a side each. */
static bool
hg_star_add_sides(const HgJoinTree *tree, HgStarGraphs *graphs, const HgTreeEdge *edge)
{
	const int facts_end = edge->ends[0].table == graphs->facts ? 0 : 1;
	HgStarTable *facts = &graphs->tables[graphs->facts];
	HgStarTable *other = &graphs->tables[edge->ends[1 - facts_end].table];

	*facts = (HgStarTable){.side = HG_OUTER, .from = -1};
	*other = (HgStarTable){
		.side = HG_INNER, .from = graphs->facts, .column = edge->ends[1 - facts_end].column};
	graphs->kept[HG_OUTER].nlookups = graphs->kept[HG_INNER].nlookups = 0;
	graphs->at = HG_PLACES_ALL;
	if (!hg_star_find_graph(tree, graphs, edge, facts_end, &facts->graph, &facts->use) ||
		!hg_star_find_graph(tree, graphs, edge, 1 - facts_end, &other->graph, &other->use))
		return false;
	other->own = facts->graph;
	return true;
}

/* Is an inner join's edge one of the facts? */
static bool
hg_star_is_first_edge(const HgJoinTree *tree, int j, int facts)
{
	const HgTreeEdge *edge = &tree->edges[j];

	return tree->joins[j]->rules.join_type == JOIN_INNER &&
		   (edge->ends[HG_OUTER].table == facts || edge->ends[HG_INNER].table == facts);
}

/*
 * The inner join that facts and another table are the sides of: their own, by the graph of which
 * they are lent, or else another one by a column of theirs.  Its edge has its number; -1: there is
 * none.
 */
static int
hg_star_first_edge(const HgJoinTree *tree, int facts)
{
	int first = -1;

	for (int j = 0; j < tree->njoins; j++)
		if (hg_star_is_first_edge(tree, j, facts) &&
			(first < 0 || tree->joins[j] == tree->tables[facts].join))
			first = j;
	return first;
}

bool
hg_star_has_sides(const HgJoinTree *tree, int facts)
{
	return !tree->tables[facts].optional && hg_star_first_edge(tree, facts) >= 0;
}

bool
hg_star_find_graphs(const HgJoinTree *tree, HgStarGraphs *graphs)
{
	const HgTreeEdge *first = &tree->edges[hg_star_first_edge(tree, graphs->facts)];
	bool reached[HG_TREE_TABLES] = {0};
	int n = 0;

	if (!hg_star_add_sides(tree, graphs, first))
		return false;
	graphs->order[n++] = graphs->facts;
	graphs->order[n++] = first->ends[first->ends[0].table == graphs->facts ? 1 : 0].table;
	reached[graphs->order[0]] = reached[graphs->order[1]] = true;
	while (n <= tree->njoins)
		for (int j = 0; j < tree->njoins; j++)
			for (int end = 0; end < 2; end++)
			{
				const HgTreeEdge *edge = &tree->edges[j];

				if (!reached[edge->ends[1 - end].table] || reached[edge->ends[end].table])
					continue;
				if (!hg_star_add_lookup(tree, graphs, j, end))
					return false;
				graphs->order[n++] = edge->ends[end].table;
				reached[edge->ends[end].table] = true;
			}
	return true;
}

uint64
hg_star_found(const HgJoinTree *tree, const HgStarGraphs *graphs)
{
	uint64 found = 1;

	for (int t = 0; t <= tree->njoins; t++)
	{
		const HgStarTable *table = &graphs->tables[t];
		/* of some of its rows values may be unique that are not of all */
		const HgLent *lent = tree->tables[t].input->lent;
		const bool all = hg_lent_has_all(lent, table->graph) && !hg_lent_is_undecided(lent);
		const uint64 words[] = {table->use.name.serial, all};

		if (table->lookup > 0)
			found = hash_bytes_extended((const unsigned char *) words, sizeof(words), found);
	}
	return Max(found, 1);
}
