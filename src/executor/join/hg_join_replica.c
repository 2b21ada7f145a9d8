/*-------------------------------------------------------------------------
 *
 * hg_join_replica.c
 *	  Device replicas of covered rows: which devices a join asks, with which columns and filters.
 *
 * If a device has replicas of both graphs, it is asked alone.  If one graph is partitioned over
 * several devices (engine/hg_partitioning.h), all of them are asked, provided that they have the
 * other graph too: its partitions, or all of it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "batch/hg_covered.h"
#include "batch/hg_predicate.h"
#include "executor/join/hg_join_replica.h"
#include "executor/join/hg_join_state.h"
#include "hg_guc.h"

/* ---------------------------------------------------------------------
 * Pending predicates
 * ---------------------------------------------------------------------
 */

/* Covered rows that delta rows may find are few if they are one in this many. */
#define HG_APPLIED_PART 64

void
hg_join_apply_pending(HgInput *const inputs[2])
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_child_apply_pending(&inputs[side]->child);
}

/* HgMatcherSpec.apply */
static void
hg_join_apply_all(void *arg)
{
	const HgJoinState *state = arg;

	hg_join_apply_pending(state->inputs);
}

/* Adds the keys of a small set to keys, as a graph has them. */
static void
hg_join_add_keys(const HgKeySet *set, uint32 width, HgIntegers *keys)
{
	for (int p = 0; p < set->npieces; p++)
		for (uint64 i = 0; i < set->pieces[p].count; i++)
			hg_integers_add(keys, width == sizeof(int32)
									  ? ((const int32 *) set->pieces[p].keys)[i]
									  : ((const int64 *) set->pieces[p].keys)[i]);
}

/*
 * HgMatcherSpec.apply_some: for a few changed rows it does not pay to apply the predicates to all
 * covered rows.
 */
static const HgFlatSide *
hg_join_apply_some(void *arg, HgSide side, const HgKeySet *keys)
{
	HgJoinState *state = arg;
	HgInput *input = state->inputs[side];
	HgCovered *covered = input->child.covered;
	const uint64 most = covered->rows / HG_APPLIED_PART;
	HgIntegers values;
	HgIntegers rows;

	if (!hg_covered_has_pending(covered))
		return &covered->side;
	hg_integers_init(&values);
	hg_integers_init(&rows);
	if (keys->rows <= most)
	{
		hg_join_add_keys(keys, input->held.words->width, &values);
		if (hg_covered_find_rows(covered, covered->graph, &values, most, &rows))
		{
			covered = hg_covered_apply_rows(covered, &rows);
			/* the result takes memory in addition to covered */
			hg_charge_set(&input->child.cover.charge, covered->bytes);
			return &covered->side;
		}
	}
	hg_child_apply_pending(&input->child);
	return &covered->side;
}

void
hg_join_set_pending(HgJoinState *state, HgMatcherSpec *spec)
{
	spec->apply = hg_join_apply_all;
	spec->apply_some = hg_join_apply_some;
	spec->apply_arg = state;
}

bool
hg_join_add_filter(HgReplicaCovered *replica, uint32 lookup, const HgInput *input,
				   const HgPinnedGraph *graph, HgDeviceSet *device_set)
{
	const HgCovered *covered = input->child.covered;

	return !hg_covered_has_pending(covered) ||
		   hg_predicate_filter_add(&replica->filters, lookup, graph, covered->npredicates,
								   covered->predicates, device_set);
}

/*
 * Adds filters for both sides' pending predicates to the replicas, which have none.  Returns the
 * devices out of device_set that have all replicas for them.  Predicates without a filter are
 * applied at once.
 */
static HgDeviceSet
hg_join_add_filters(HgInput *const inputs[2], HgReplicaCovered replica[2], HgDeviceSet device_set)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (!hg_join_add_filter(&replica[side], 0, inputs[side], inputs[side]->child.covered->graph,
								&device_set))
			hg_child_apply_pending(&inputs[side]->child);
	return device_set;
}

/* ---------------------------------------------------------------------
 * Columns
 * ---------------------------------------------------------------------
 */

void
hg_replica_note_codes(HgReplicaCovered *replica, HgJoinCodes *codes, HgSide side, uint32 column,
					  const HgGraphCodes *of)
{
	codes->of[side][column] = of;
	codes->scales[side][column] = of != NULL ? of->scale : -1;
	replica->coded[column] = of != NULL && of->scale < 0;
	replica->ncodes[column] = of != NULL ? of->ncodes : 0;
}

bool
hg_replica_add_computed(HgReplicaCovered *replica, HgJoinCodes *codes, HgSide side, uint32 column,
						const HgJoinReduction *reduction, int expression,
						HgOperand operands[2][HG_MAX_COLUMNS], uint32 parts, uint32 stride)
{
	/* each column may have a program */
	StaticAssertStmt(HG_MAX_PROGRAMS >= HG_MAX_COLUMNS, "there are fewer programs than columns");
	hg_replica_note_codes(replica, codes, side, column, NULL);
	if (!hg_join_reduction_program(reduction, expression, operands,
								   &replica->programs[replica->nprograms],
								   &codes->scales[side][column]))
		return false;
	replica->nprograms++;
	replica->columns[column] = (HgReplicaColumnUse){
		.shape = {.width = HG_COMPUTED_WIDTH, .parts = parts, .stride = stride},
		.program = replica->nprograms};
	return true;
}

/* Lets a column of a side be computed, whose operands are known. */
static bool
hg_join_compute_column(HgJoinReduction *reduction, HgSide side, uint32 column, int expression,
					   HgReplicaCovered *replica)
{
	HgJoinCodes *codes = hg_join_reduction_codes(reduction);
	HgOperand operands[2][HG_MAX_COLUMNS] = {0};

	for (uint32 i = 0; i < HG_MAX_COLUMNS; i++)
		operands[side][i] = (HgOperand){i, i < column ? codes->scales[side][i] : -1};
	/* all columns have the stride of the first one, which is never computed */
	return hg_replica_add_computed(replica, codes, side, column, reduction, expression, operands,
								   replica->use.shape.parts, replica->columns[0].shape.stride);
}

HgDeviceSet
hg_replica_find_column(const HgPinnedGraph *graph, const HgPartitioning *partitions,
					   AttrNumber number, HgReplicaColumnUse *use, const HgGraphCodes **codes)
{
	if (partitions != NULL)
		return hg_resident_graph_partitioned_column(graph, number, use, codes);
	return hg_resident_graph_replica_column(graph, number, use, codes);
}

/*
 * Finds the replicas of the columns that a reduction needs of a side, and requests missing ones.
 * Returns the devices that have all of them.
 */
static HgDeviceSet
hg_join_find_replica_columns(const HgJoinState *state, HgSide side, const HgReduction *reduction,
							 HgReplicaCovered *replica)
{
	const HgCovered *covered = state->inputs[side]->child.covered;
	const HgColumnSet *set = &reduction->columns[side];
	HgJoinCodes *codes = hg_join_reduction_codes(state->reduction);
	AttrNumber numbers[HG_MAX_COLUMNS];
	HgDeviceSet all = HG_ALL_DEVICES;

	hg_join_reduction_numbers(state->reduction, side, numbers);
	replica->nprograms = 0;
	/* all missing columns are requested at once */
	for (uint32 column = 0; column < set->ncolumns; column++)
	{
		const HgGraphCodes *of = NULL;
		const int expression = hg_join_reduction_expression(state->reduction, side, column);

		if (expression >= 0)
		{
			if (all != 0 &&
				!hg_join_compute_column(state->reduction, side, column, expression, replica))
				all = 0;
			continue;
		}
		all &= hg_replica_find_column(covered->graph, replica->partitions, numbers[column],
									  &replica->columns[column], &of);
		if (replica->columns[column].shape.width != set->widths[column] ||
			(of != NULL) != hg_join_reduction_is_coded(state->reduction, side, column))
			all = 0;
		hg_replica_note_codes(replica, codes, side, column, of);
	}
	return all;
}

/* ---------------------------------------------------------------------
 * Partitions
 * ---------------------------------------------------------------------
 */

/* Returns the devices that have both sides, at least one of them in partitions; 0: none. */
static HgDeviceSet
hg_replica_partitioned_devices(HgReplicaCovered replica[2], const HgSideDevices at[2])
{
	if (at[HG_OUTER].partitioned != 0 && at[HG_OUTER].partitioned == at[HG_INNER].partitioned)
		return at[HG_OUTER].partitioned;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgSide other = hg_other_side((HgSide) side);

		if (at[side].partitioned != 0 &&
			(at[other].whole & at[side].partitioned) == at[side].partitioned)
		{
			replica[other].partitions = NULL;
			return at[side].partitioned;
		}
	}
	return 0;
}

HgDeviceSet
hg_replica_find_partitions(HgPinnedGraph *const graphs[2], HgReplicaCovered replica[2],
						   HgSideDevices at[2])
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		at[side].partitioned = hg_resident_graph_partitioned(graphs[side], &replica[side].use,
															 &replica[side].partitions);
	return hg_replica_partitioned_devices(replica, at);
}

/* Returns the side of the larger graph. */
static HgSide
hg_replica_larger(HgPinnedGraph *const graphs[2])
{
	return graphs[HG_OUTER]->flat.rows > graphs[HG_INNER]->flat.rows ? HG_OUTER : HG_INNER;
}

/*
 * Reports to the loader how many bytes of replicas the join needs, because no device has all of
 * them.  columns: the bytes of column replicas among them.
 */
static void
hg_replica_report_demand(HgPinnedGraph *const graphs[2], uint64 columns)
{
	/* the smaller graph is partitioned with the larger, or too small to matter */
	const HgGraphDemand demand = {.partitioning = hg_resident_graph_least_bytes(graphs[HG_OUTER]) +
												  hg_resident_graph_least_bytes(graphs[HG_INNER]) +
												  columns};

	hg_resident_graph_report_demand(graphs[hg_replica_larger(graphs)], &demand);
}

void
hg_replica_bring_together(HgPinnedGraph *const graphs[2], const HgSideDevices at[2])
{
	const HgSide larger = hg_replica_larger(graphs);
	const HgSide smaller = hg_other_side(larger);

	if (at[larger].partitioned != 0)
		hg_resident_graph_bring_partitions(graphs[smaller], at[larger].partitioned);
	else if (at[smaller].partitioned != 0)
		hg_resident_graph_bring_partitions(graphs[larger], at[smaller].partitioned);
	else if (at[larger].whole != 0 && at[smaller].whole != 0)
		hg_resident_graph_bring(graphs[smaller], at[larger].whole);
}

/* ---------------------------------------------------------------------
 * Replicas of a join
 * ---------------------------------------------------------------------
 */

static HgPinnedGraph *
hg_join_covered_graph(const HgInput *input)
{
	return input->child.covered->graph;
}

/* Returns the devices that have all columns of both sides which a reduction needs. */
static HgDeviceSet
hg_join_find_columns(HgJoinState *state, const HgReduction *reduction)
{
	HgDeviceSet columns = HG_ALL_DEVICES;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		columns &= hg_join_find_replica_columns(state, (HgSide) side, reduction,
												&state->cover.replica[side]);
	return columns;
}

/* Adds to the spec the devices that have both graphs, and whether they have the columns. */
static void
hg_join_add_graphs(HgReplicaCovered replica[2], HgMatcherSpec *spec, HgDeviceSet device_set,
				   bool has_columns)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		replica[side].has_columns = has_columns;
		spec->replica[side] = &replica[side];
	}
	spec->replica_at = device_set;
}

/*
 * Adds the partitions that several devices have to the spec; if they do not have both graphs,
 * requests copies on common devices.
 */
static void
hg_join_add_partitions(HgJoinState *state, HgMatcherSpec *spec, HgSideDevices at[2])
{
	HgPinnedGraph *const graphs[2] = {hg_join_covered_graph(state->inputs[HG_OUTER]),
									  hg_join_covered_graph(state->inputs[HG_INNER])};
	const HgDeviceSet device_set = hg_replica_find_partitions(graphs, state->cover.replica, at);
	HgDeviceSet columns = HG_ALL_DEVICES;

	if (device_set == 0)
	{
		hg_replica_bring_together(graphs, at);
		return;
	}
	if (spec->reduction != NULL)
		columns = hg_join_find_columns(state, spec->reduction);
	/* row ordinals of a partition are not those of the graph */
	hg_join_apply_pending(state->inputs);
	spec->replica_partitioned = true;
	hg_join_add_graphs(state->cover.replica, spec, device_set,
					   spec->reduction != NULL && (columns & device_set) == device_set);
}

/* Returns the bytes of the columns that groups need of a side's graph. */
static uint64
hg_join_columns_bytes(const HgJoinReduction *reduction, HgSide side, const HgPinnedGraph *graph)
{
	const HgColumnSet *set = hg_join_reduction_columns(reduction, side);
	uint64 bytes = 0;

	for (uint32 c = 0; c < set->ncolumns; c++)
		if (hg_join_reduction_expression(reduction, side, c) < 0)
			bytes += graph->flat.rows * set->widths[c];
	return bytes;
}

/* Returns true if devices have replicas of a side's columns for groups; requests them. */
static bool
hg_join_has_side_columns(const HgJoinReduction *reduction, HgInput *input, HgSide side,
						 HgPinnedGraph **graph)
{
	const uint32 ncolumns = hg_join_reduction_columns(reduction, side)->ncolumns;
	int column_indexes[HG_MAX_COLUMNS];
	AttrNumber numbers[HG_MAX_COLUMNS];
	int n = 0;
	bool all = true;

	for (uint32 c = 0; c < ncolumns; c++)
		if (hg_join_reduction_expression(reduction, side, c) < 0)
			column_indexes[n++] = hg_join_reduction_column(reduction, side, c);
	*graph = hg_child_pin_graph(&input->child, n, column_indexes, numbers);
	for (int i = 0; i < n && *graph != NULL; i++)
		all &= hg_resident_graph_has_column(*graph, numbers[i]);
	return all && *graph != NULL;
}

bool
hg_join_has_replica_columns(const HgJoinReduction *reduction, HgInput *const inputs[2])
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph columns", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	HgPinnedGraph *graphs[2];
	uint64 bytes = 0;
	bool all = true;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		all &= hg_join_has_side_columns(reduction, inputs[side], (HgSide) side, &graphs[side]);
	if (!all && graphs[HG_OUTER] != NULL && graphs[HG_INNER] != NULL)
	{
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			bytes += hg_join_columns_bytes(reduction, (HgSide) side, graphs[side]);
		hg_replica_report_demand(graphs, bytes);
	}
	MemoryContextSwitchTo(old);
	/* the context pins the graphs */
	MemoryContextDelete(context);
	return all;
}

/* Reports the bytes of replicas that the join needs, because some are missing. */
static void
hg_join_report_demand(HgInput *const inputs[2], uint64 columns_bytes)
{
	HgPinnedGraph *const graphs[2] = {hg_join_covered_graph(inputs[HG_OUTER]),
									  hg_join_covered_graph(inputs[HG_INNER])};

	hg_replica_report_demand(graphs, columns_bytes);
}

void
hg_join_add_replicas(HgJoinState *state, HgMatcherSpec *spec)
{
	HgSideDevices at[2] = {0};
	HgDeviceSet device_set;
	HgDeviceSet columns = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgReplicaCovered *replica = &state->cover.replica[side];

		at[side].whole =
			hg_resident_graph_replica(hg_join_covered_graph(state->inputs[side]), &replica->use);
		replica->first_ordinals = state->inputs[side]->child.covered->first_ordinals;
		replica->partitions = NULL;
		memset(&replica->filters, 0, sizeof(replica->filters));
	}
	/* columns are requested wherever the graphs are */
	if (spec->reduction != NULL)
		columns = hg_join_find_columns(state, spec->reduction);
	device_set = at[HG_OUTER].whole & at[HG_INNER].whole;
	columns &= device_set;
	if (device_set != 0)
	{
		device_set = hg_join_add_filters(state->inputs, state->cover.replica,
										 columns != 0 ? columns : device_set);
		hg_join_add_graphs(state->cover.replica, spec, device_set, columns != 0);
	}
	else
		hg_join_add_partitions(state, spec, at);
	state->cover.columns_bytes = 0;
	for (int side = HG_OUTER; side <= HG_INNER && spec->reduction != NULL; side++)
		state->cover.columns_bytes += hg_join_columns_bytes(
			state->reduction, (HgSide) side, hg_join_covered_graph(state->inputs[side]));
	if (spec->replica_at == 0 ||
		(spec->reduction != NULL && !state->cover.replica[HG_OUTER].has_columns))
		hg_join_report_demand(state->inputs, state->cover.columns_bytes);
}

void
hg_join_report_missing(const HgJoinState *state)
{
	HgMissingReplicas missing;
	const HgDeviceSet missing_on = hg_matcher_missing_replicas(state->matching.matcher, &missing);

	if (missing_on == 0)
		return;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (state->inputs[side]->child.covered != NULL)
			hg_resident_graph_set_missing(hg_join_covered_graph(state->inputs[side]),
										  state->cover.replica[side].partitions != NULL, missing_on,
										  &missing);
	/* loading one replica may have evicted the other */
	if (state->inputs[HG_OUTER]->child.covered != NULL &&
		state->inputs[HG_INNER]->child.covered != NULL)
		hg_join_report_demand(state->inputs, state->cover.columns_bytes);
}

void
hg_join_wake_partitions(HgInput *const inputs[2])
{
	bool is_partitioned = false;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		is_partitioned |= hg_resident_graph_is_partitioned(hg_join_covered_graph(inputs[side]));
	if (is_partitioned && hg_backend != HG_BACKEND_CPU)
		(void) hg_devices_request();
}
