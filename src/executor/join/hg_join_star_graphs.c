/*-------------------------------------------------------------------------
 *
 * hg_join_star_graphs.c
 *	  The role of each table of a star in a device's job: graphs, filters and stale probes.
 *
 * The fact relation and a table that it is joined with are the sides of the job.  From there on,
 * each table is looked up by one that is there already.  The edge between the two says by which
 * column, and so by which graph of the other table's rows.  A table in which an outer join may
 * find nothing is looked up, and is neither the fact relation nor, if the fact relation has an
 * inner join, a side.
 *
 * LEFT JOINS.  If the fact relation has left joins only, it is a side with one of those tables all
 * the same.  The job finds the rows with a match there, and none of the others.  So its answer is
 * right if there are no others: if it has as many pairs as fact rows, each of which has at most
 * one.
 *
 * COMPUTED COLUMNS.  A device computes columns of one side's columns.  If one is computed from
 * columns of both sides, fact rows look up the inner side AGAIN, and other tables by what they
 * find there, so that all columns belong to the outer side.  Each fact row then finds the one row
 * that it is joined with, or the device reports that there are more.  A left join is looked up
 * again for that report.
 *
 * PARTITIONS.  If the graph of a side is partitioned over several devices
 * (engine/hg_partitioning.h), each of them joins its partition.  It needs all of each graph that
 * is looked up, and requests what is missing; the graphs by which rows of partitions look up are
 * co-partitioned.  A graph that is too large for one device can be looked up only by rows that are
 * partitioned by the same key, which find their matches in the partition of the same number.  So a
 * table with such a graph that is joined with the fact relation is preferred as a side.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "common/hashfn.h"
#include "executor/executor.h"

#include "executor/join/hg_join_replica.h"
#include "executor/join/hg_join_star_graphs.h"
#include "executor/join/hg_join_state.h"

/* Returns the graph of an end of an edge; NULL: there is none. */
static HgPinnedGraph *
hg_star_pin_graph(const HgStarGraphs *graphs, const HgTreeEdge *edge, int end)
{
	const HgTreeColumn *column = &edge->ends[end];

	return hg_covered_graph_by(graphs->tree->tables[column->table].input->child.covered,
							   column->column, &edge->parts[end]);
}

/* Finds a graph's replica on the devices that have all others; returns false if there is none. */
static bool
hg_star_use_graph(HgStarGraphs *graphs, const HgPinnedGraph *graph, HgReplicaUse *use)
{
	const HgDeviceSet at = hg_resident_graph_replica(graph, use);

	if (graphs->partitioned)
	{
		if ((graphs->at & ~at) != 0)
			hg_resident_graph_bring_all(graph, graphs->at);
		/* go on, so that all missing replicas are requested */
		graphs->missing |= (graphs->at & ~at) != 0;
		return true;
	}
	/* request it for the devices that have the others */
	if (at != 0 && (at & graphs->at) == 0)
		hg_resident_graph_bring(graph, graphs->at);
	graphs->at &= at;
	return graphs->at != 0;
}

/* As hg_star_use_graph(), for the graph by which a table looks up, in its side's last lookup. */
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
 * Returns true if rows of partitions find this table in partitions: the inner side if it is
 * partitioned, or a table whose graph is too large.
 */
static bool
hg_star_finds_partitions(const HgStarGraphs *graphs, const HgStarTable *table)
{
	return table == &graphs->second_lookup ? graphs->replica[HG_INNER].partitions != NULL
										   : hg_resident_graph_is_too_large(table->graph);
}

/*
 * As hg_star_use_graph(), for the graph in which a table is looked up.  It may be in partitions if
 * the rows that look it up are partitioned by the same graph.
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
	return graphs->second_lookup.lookup > 0 && graphs->tables[table].side == HG_INNER
			   ? &graphs->second_lookup
			   : &graphs->tables[table];
}

int
hg_star_side(const HgStarGraphs *graphs, HgSide side)
{
	int t = 0;

	while (graphs->tables[t].side != side || graphs->tables[t].lookup > 0)
		t++;
	return t;
}

/*
 * Lets a table be looked up by another one, by the columns of join j's edge.  Returns false if a
 * graph or room is missing, or if the table that would look up is the optional one.
 */
static bool
hg_star_add_lookup(HgStarGraphs *graphs, int j, int end, HgStarTable *table)
{
	const HgTreeEdge *edge = &graphs->tree->edges[j];
	const bool *preserved = graphs->tree->joins[j]->rules.preserved;
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
	table->own = hg_star_pin_graph(graphs, edge, 1 - end);
	table->graph = hg_star_pin_graph(graphs, edge, end);
	return table->own != NULL && table->graph != NULL &&
		   hg_star_use_own(graphs, from, table->own) && hg_star_use_found(graphs, from, table);
}

/* Finds the partitions of both sides on several devices; returns false if there are none. */
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

/* Starts with the sides: the two ends of an edge of the fact relation. */
static bool
hg_star_add_sides(HgStarGraphs *graphs, const HgTreeEdge *edge)
{
	const int fact_end = edge->ends[0].table == graphs->fact ? 0 : 1;
	HgStarTable *fact = &graphs->tables[graphs->fact];
	HgStarTable *other = &graphs->tables[edge->ends[1 - fact_end].table];

	graphs->second_lookup = (HgStarTable){0};
	*fact = (HgStarTable){.side = HG_OUTER, .from = -1};
	*other = (HgStarTable){
		.side = HG_INNER, .from = graphs->fact, .column = edge->ends[1 - fact_end].column};
	graphs->replica[HG_OUTER].nlookups = graphs->replica[HG_INNER].nlookups = 0;
	graphs->replica[HG_OUTER].partitions = graphs->replica[HG_INNER].partitions = NULL;
	graphs->at = HG_ALL_DEVICES;
	fact->graph = other->own = hg_star_pin_graph(graphs, edge, fact_end);
	other->graph = hg_star_pin_graph(graphs, edge, 1 - fact_end);
	if (fact->graph == NULL || other->graph == NULL)
		return false;
	if (graphs->partitioned)
		return hg_star_use_partitions(graphs, (HgStarTable *[2]){fact, other});
	return hg_star_use_graph(graphs, fact->graph, &fact->use) &&
		   hg_star_use_graph(graphs, other->graph, &other->use);
}

/* Returns true if a join's edge has the fact relation, and the join is inner or else outer. */
static bool
hg_star_is_fact_edge(const HgStarGraphs *graphs, int j, bool inner)
{
	const HgTreeEdge *edge = &graphs->tree->edges[j];

	return (graphs->tree->joins[j]->rules.join_type == JOIN_INNER) == inner &&
		   (edge->ends[HG_OUTER].table == graphs->fact ||
			edge->ends[HG_INNER].table == graphs->fact);
}

/*
 * Returns the inner join of the fact relation and another table: its own join, by the graph that
 * covers it, or another one by a column of it; -1: there is none.
 */
static int
hg_star_inner_edge(const HgStarGraphs *graphs)
{
	int inner = -1;

	for (int j = 0; j < graphs->tree->njoins; j++)
		if (hg_star_is_fact_edge(graphs, j, true) &&
			(inner < 0 || graphs->tree->joins[j] == graphs->tree->tables[graphs->fact].join))
			inner = j;
	return inner;
}

/*
 * Returns the next edge after after (-1: the first) whose ends can be the sides, or -1.  The join
 * that is executed first comes first.
 */
static int
hg_star_next_edge(const HgStarGraphs *graphs, int after)
{
	const int inner = hg_star_inner_edge(graphs);

	if (inner >= 0)
		return after < 0 ? inner : -1;
	for (int j = after < 0 ? graphs->tree->njoins - 1 : after - 1; j >= 0; j--)
		if (hg_star_is_fact_edge(graphs, j, false))
			return j;
	return -1;
}

bool
hg_star_has_sides(const HgStarGraphs *graphs)
{
	return !graphs->tree->tables[graphs->fact].optional && hg_star_next_edge(graphs, -1) >= 0;
}

bool
hg_star_next_sides(HgStarGraphs *graphs)
{
	graphs->usual = hg_star_next_edge(graphs, graphs->usual);
	if (graphs->usual >= 0)
		graphs->complete = graphs->tree->joins[graphs->usual]->rules.join_type != JOIN_INNER;
	return graphs->usual >= 0;
}

/* Returns the bit set of table other and all tables that its rows look up. */
static uint32
hg_star_beyond(const HgStarGraphs *graphs, int other)
{
	uint32 beyond = UINT32_C(1) << other;

	for (int n = 1; n < graphs->tree->njoins; n++)
		for (int j = 0; j < graphs->tree->njoins; j++)
			for (int end = 0; end < 2; end++)
				if ((beyond >> graphs->tree->edges[j].ends[1 - end].table & 1) != 0 &&
					graphs->tree->edges[j].ends[end].table != graphs->fact)
					beyond |= UINT32_C(1) << graphs->tree->edges[j].ends[end].table;
	return beyond;
}

/* Returns true if a column is computed from columns of these tables and of others. */
static bool
hg_star_is_computed_across(const HgStarGraphs *graphs, uint32 tables)
{
	for (int i = 0; i < graphs->ncomputed; i++)
		if ((graphs->computed[i] & tables) != 0 && (graphs->computed[i] & ~tables) != 0)
			return true;
	return false;
}

/* Finds all graphs, on one device or as partitions on several. */
static bool
hg_star_find_all(HgStarGraphs *graphs, int first_edge)
{
	const HgTreeEdge *first = &graphs->tree->edges[first_edge];
	const int first_end = first->ends[0].table == graphs->fact ? 1 : 0;
	const int other = first->ends[first_end].table;
	bool reached[HG_TREE_TABLES] = {0};
	int n = 2;

	graphs->missing = false;
	if (!hg_star_add_sides(graphs, first) ||
		((graphs->complete || hg_star_is_computed_across(graphs, hg_star_beyond(graphs, other))) &&
		 !hg_star_add_lookup(graphs, first_edge, first_end, &graphs->second_lookup)))
		return false;
	reached[graphs->fact] = reached[other] = true;
	while (n <= graphs->tree->njoins)
		for (int j = 0; j < graphs->tree->njoins; j++)
			for (int end = 0; end < 2; end++)
			{
				const HgTreeEdge *edge = &graphs->tree->edges[j];

				if (!reached[edge->ends[1 - end].table] || reached[edge->ends[end].table])
					continue;
				if (!hg_star_add_lookup(graphs, j, end, &graphs->tables[edge->ends[end].table]))
					return false;
				reached[edge->ends[end].table] = true;
				n++;
			}
	return !graphs->missing;
}

/* Returns the rank of an edge for partitioned sides; -1: its ends cannot be the sides. */
static int
hg_star_rank_edge(const HgStarGraphs *graphs, int j)
{
	const HgTreeEdge *edge = &graphs->tree->edges[j];
	const int end = edge->ends[0].table == graphs->fact ? 0 : 1;
	const HgPinnedGraph *fact_graph;
	const HgPinnedGraph *other;

	if (!hg_star_is_fact_edge(graphs, j, !graphs->complete))
		return -1;
	fact_graph = hg_star_pin_graph(graphs, edge, end);
	other = hg_star_pin_graph(graphs, edge, 1 - end);
	if (fact_graph == NULL || other == NULL)
		return -1;
	/* a too large graph is found by one key only, and not by fact rows that are whole */
	return 4 * hg_resident_graph_is_too_large(other) +
		   2 * hg_resident_graph_is_partitioned(fact_graph) +
		   hg_resident_graph_is_partitioned(other);
}

/* Returns the join whose ends are the sides if one of them is partitioned. */
static int
hg_star_partitioned_edge(const HgStarGraphs *graphs)
{
	int most = hg_star_rank_edge(graphs, graphs->usual);
	int chosen = graphs->usual;

	for (int j = 0; j < graphs->tree->njoins; j++)
	{
		const int rank = hg_star_rank_edge(graphs, j);

		if (rank > most)
			chosen = j;
		most = Max(most, rank);
	}
	return chosen;
}

/* Returns the graph of the fact relation by its usual edge; NULL: there is none. */
static HgPinnedGraph *
hg_star_fact_graph(const HgStarGraphs *graphs)
{
	const HgTreeEdge *edge = &graphs->tree->edges[graphs->usual];

	return hg_star_pin_graph(graphs, edge, edge->ends[0].table == graphs->fact ? 0 : 1);
}

bool
hg_star_find_graphs(HgStarGraphs *graphs)
{
	const HgPinnedGraph *fact = hg_star_fact_graph(graphs);

	graphs->partitioned = false;
	/* request no replicas for a device that cannot have all of them */
	if (fact != NULL && !hg_resident_graph_is_too_large(fact) &&
		hg_star_find_all(graphs, graphs->usual))
		return true;
	graphs->partitioned = true;
	return hg_star_find_all(graphs, hg_star_partitioned_edge(graphs));
}

void
hg_star_report_demand(const HgStarGraphs *graphs, const uint64 columns[HG_TREE_TABLES])
{
	const HgPinnedGraph *fact = hg_star_fact_graph(graphs);
	dsa_pointer counted[2 * HG_TREE_TABLES];
	uint64 bytes[HG_TREE_TABLES];
	HgGraphDemand demand = {0};
	int n = 0;

	memcpy(bytes, columns, sizeof(bytes));
	for (int end = 0; end < 2 * graphs->tree->njoins; end++)
	{
		const HgTreeEdge *edge = &graphs->tree->edges[end / 2];
		const HgPinnedGraph *graph = hg_star_pin_graph(graphs, edge, end % 2);
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
	for (int t = 0; t <= graphs->tree->njoins; t++)
		*(t == graphs->fact ? &demand.partitioning : &demand.whole) += bytes[t];
	hg_resident_graph_report_demand(fact, &demand);
}

bool
hg_star_find_replica_column(HgStarGraphs *graphs, const HgStarTable *table, AttrNumber number,
							HgReplicaColumnUse *use, const HgGraphCodes **codes)
{
	const HgDeviceSet at =
		hg_replica_find_column(table->graph, table->partitions, number, use, codes);

	if (graphs->partitioned)
		return at != 0 && (graphs->at & ~at) == 0;
	graphs->at &= at;
	return at != 0;
}

/* Records that the graph by which a table is looked up is missing. */
static void
hg_star_report_missing_lookup(HgStarGraphs *graphs, const HgStarTable *table,
							  HgDeviceSet device_set, const HgMissingReplicas *missing)
{
	const HgStarTable *from = hg_star_table(graphs, table->from);

	if (from->partitions != NULL)
		hg_resident_graph_set_missing_copartition(table->own, from->graph, device_set, missing);
	else
		hg_resident_graph_set_missing(table->own, false, device_set, missing);
}

void
hg_star_report_missing(HgStarGraphs *graphs, HgDeviceSet device_set,
					   const HgMissingReplicas *missing)
{
	for (int t = 0; t <= graphs->tree->njoins; t++)
	{
		const HgStarTable *table = &graphs->tables[t];

		hg_resident_graph_set_missing(table->graph, table->partitions != NULL, device_set, missing);
		/* a side is joined with the other side; the second lookup uses the same graphs */
		if (table->lookup > 0)
			hg_star_report_missing_lookup(graphs, table, device_set, missing);
	}
}

/* Adds a table that is looked up to a hash. */
static uint64
hg_star_add_found(const HgStarGraphs *graphs, const HgStarTable *table, int t, uint64 found)
{
	/* values may be unique among some rows, but not among all */
	const HgCovered *covered = graphs->tree->tables[t].input->child.covered;
	const bool all = hg_covered_has_all(covered, table->graph) && !hg_covered_has_pending(covered);
	const uint64 words[] = {table->use.name.serial, all};

	return hash_bytes_extended((const unsigned char *) words, sizeof(words), found);
}

uint64
hg_star_found(const HgStarGraphs *graphs)
{
	uint64 found = 1;

	for (int t = 0; t <= graphs->tree->njoins; t++)
		if (graphs->tables[t].lookup > 0)
			found = hg_star_add_found(graphs, &graphs->tables[t], t, found);
	if (graphs->second_lookup.lookup > 0)
		found = hg_star_add_found(graphs, &graphs->second_lookup, hg_star_side(graphs, HG_INNER),
								  found);
	/* some fact rows may all have a match, even if others have none */
	if (graphs->complete)
		found =
			hash_combine64(found, graphs->tree->tables[graphs->fact].input->child.covered->rows);
	return Max(found, 1);
}

/* ---------------------------------------------------------------------
 * Filters
 * ---------------------------------------------------------------------
 */

void
hg_star_add_filters(HgStarGraphs *graphs)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgReplicaCovered *replica = &graphs->replica[side];

		memset(&replica->filters, 0, sizeof(replica->filters));
		/* row ordinals of a partition are not those of the graph */
		if (graphs->partitioned)
			continue;
		for (uint32 lookup = 0; lookup <= replica->nlookups; lookup++)
			for (int t = 0; t <= graphs->tree->njoins; t++)
			{
				HgStarTable *table = &graphs->tables[t];
				uint32 stride;

				if (table->side != (HgSide) side || table->lookup != lookup)
					continue;
				(void) hg_join_add_filter(replica, lookup, graphs->tree->tables[t].input,
										  table->graph, &graphs->at);
				stride = hg_row_filter_stride(&replica->filters, lookup);
				if (stride > 0)
					table->stride = stride;
			}
	}
}

void
hg_star_apply_others(const HgStarGraphs *graphs)
{
	for (int t = 0; t <= graphs->tree->njoins; t++)
	{
		const HgStarTable *table = &graphs->tables[t];

		if (hg_row_filter_find(&graphs->replica[table->side].filters, table->lookup) == NULL)
			hg_child_apply_pending(&graphs->tree->tables[t].input->child);
	}
}

/* ---------------------------------------------------------------------
 * Stale probes
 *
 * A table that is looked up may have delta rows, because blocks have changed.  A device knows
 * covered rows only, so it would find nothing for a fact row that matches a delta row.  So the few
 * delta rows of each table are read first.  The values by which they are found are stale, and so
 * are the values of covered rows of a table that find such rows in turn.  Fact rows with a stale
 * value are the stale probes: the joins of the tree join them, as if they were delta rows.  A
 * device is asked about all other fact rows, which match covered rows only.
 *
 * A changed or deleted row needs no more than that, because its old version is not covered.  Delta
 * rows with a NULL key in their own join are included, because other tables may still find them if
 * an outer join returns them.
 * ---------------------------------------------------------------------
 */

/* Limits of stale rows: this number, or this part of a table's covered rows if that is more. */
#define HG_STALE_PROBES_ROWS 1024
#define HG_STALE_PROBES_PART 64

/* Returns the maximal number of stale rows of a table. */
static uint64
hg_stale_limit(const HgInput *input)
{
	return Max(input->child.covered->rows / HG_STALE_PROBES_PART, HG_STALE_PROBES_ROWS);
}

/* Adds the values of a column of rows that were read, rows with a NULL key included. */
static void
hg_stale_add_rows(const HgInput *input, const HgInputRows *rows, int column, HgIntegers *values)
{
	const int16 length =
		TupleDescAttr(ExecGetResultType(input->child.plan), input->child.keys.attnos[column])
			->attlen;

	for (int i = 0; i < rows->nkeys + rows->nnull; i++)
	{
		const int row = i >= rows->nkeys	  ? rows->null_rows[i - rows->nkeys]
						: rows->which != NULL ? rows->which[i]
											  : i;
		const Datum value = rows->batch->values[column][row];

		if (hg_batch_is_null(rows->batch, column, row))
			continue;
		hg_integers_add(values, length == sizeof(int16)	  ? DatumGetInt16(value)
								: length == sizeof(int32) ? DatumGetInt32(value)
														  : DatumGetInt64(value));
	}
}

/*
 * Reads a table's delta rows and adds the values by which they are found.  The table starts again
 * afterwards, as if no row had been read.  Returns false if there are too many.
 */
static bool
hg_stale_read(HgInput *input, int column, HgIntegers *values)
{
	const HgChildRows before = input->child;
	const uint64 most = hg_stale_limit(input);
	HgInputRows rows;
	HgSpillKeys keys;

	while (values->count <= most && hg_input_read(input, &rows, &keys))
		hg_stale_add_rows(input, &rows, column, values);
	hg_input_rescan(input);
	input->child.rows_read = before.rows_read;
	input->child.null_keys = before.null_keys;
	input->child.filtering.refused = before.filtering.refused;
	return values->count <= most;
}

/* Adds a table's covered rows that may match delta rows of the tables that they look up. */
static bool
hg_star_find_stale_rows(const HgStarGraphs *graphs, int t, HgIntegers *rows)
{
	const HgInput *from = graphs->tree->tables[t].input;

	for (int other = 0; other <= graphs->tree->njoins; other++)
	{
		const HgStarTable *table = &graphs->tables[other];
		HgInput *input = graphs->tree->tables[other].input;
		HgIntegers found;
		HgIntegers values;

		if (table->from != t)
			continue;
		hg_integers_init(&values);
		hg_integers_init(&found);
		if ((!input->child.covered->whole && !hg_stale_read(input, table->column, &values)) ||
			!hg_star_find_stale_rows(graphs, other, &found))
			return false;
		hg_covered_add_values(input->child.covered, &found, table->column, &values);
		if (!hg_covered_find_rows(from->child.covered, table->own, &values, hg_stale_limit(from),
								  rows))
			return false;
	}
	return true;
}

bool
hg_star_find_stale(const HgStarGraphs *graphs, HgIntegers *rows)
{
	return hg_star_find_stale_rows(graphs, graphs->fact, rows);
}
