/*-------------------------------------------------------------------------
 *
 * hg_join_cover_replica.c
 *	  Device replicas of the graphs and columns of covered rows: which devices a join asks.
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

#include "executor/join/hg_join_filters.h"
#include "executor/join/hg_join_replica_columns.h"
#include "executor/join/hg_join_replica_partitions.h"
#include "executor/join/hg_join_cover_replica.h"
#include "executor/join/hg_join_state.h"
#include "hg_guc.h"

static HgPinnedGraph *
hg_join_covered_graph(const HgJoinState *state, HgSide side)
{
	return state->inputs[side]->child.covered->graph;
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
hg_join_add_graphs(HgJoinState *state, HgMatcherSpec *spec, HgDeviceSet device_set,
				   bool has_columns)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		state->cover.replica[side].has_columns = has_columns;
		spec->replica[side] = &state->cover.replica[side];
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
	HgPinnedGraph *const graphs[2] = {hg_join_covered_graph(state, HG_OUTER),
									  hg_join_covered_graph(state, HG_INNER)};
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
	hg_join_apply_pending(state);
	spec->replica_partitioned = true;
	hg_join_add_graphs(state, spec, device_set,
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
hg_join_has_side_columns(const HgJoinState *state, HgSide side, HgPinnedGraph **graph)
{
	const HgJoinReduction *reduction = state->reduction;
	const uint32 ncolumns = hg_join_reduction_columns(reduction, side)->ncolumns;
	int column_indexes[HG_MAX_COLUMNS];
	AttrNumber numbers[HG_MAX_COLUMNS];
	int n = 0;
	bool all = true;

	for (uint32 c = 0; c < ncolumns; c++)
		if (hg_join_reduction_expression(reduction, side, c) < 0)
			column_indexes[n++] = hg_join_reduction_column(reduction, side, c);
	*graph = hg_child_pin_graph(&state->inputs[side]->child, n, column_indexes, numbers);
	for (int i = 0; i < n && *graph != NULL; i++)
		all &= hg_resident_graph_has_column(*graph, numbers[i]);
	return all && *graph != NULL;
}

bool
hg_join_has_replica_columns(const HgJoinState *state)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph columns", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	HgPinnedGraph *graphs[2];
	uint64 bytes = 0;
	bool all = true;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		all &= hg_join_has_side_columns(state, (HgSide) side, &graphs[side]);
	if (!all && graphs[HG_OUTER] != NULL && graphs[HG_INNER] != NULL)
	{
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			bytes += hg_join_columns_bytes(state->reduction, (HgSide) side, graphs[side]);
		hg_replica_report_demand(graphs, bytes);
	}
	MemoryContextSwitchTo(old);
	/* the context pins the graphs */
	MemoryContextDelete(context);
	return all;
}

/* Reports the bytes of replicas that the join needs, because some are missing. */
static void
hg_join_report_demand(const HgJoinState *state)
{
	HgPinnedGraph *const graphs[2] = {hg_join_covered_graph(state, HG_OUTER),
									  hg_join_covered_graph(state, HG_INNER)};

	hg_replica_report_demand(graphs, state->cover.columns_bytes);
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
			hg_resident_graph_replica(hg_join_covered_graph(state, (HgSide) side), &replica->use);
		replica->first_ordinals = state->inputs[side]->child.covered->first_ordinals;
		replica->partitions = NULL;
		hg_join_clear_filters(replica);
	}
	/* columns are requested wherever the graphs are */
	if (spec->reduction != NULL)
		columns = hg_join_find_columns(state, spec->reduction);
	device_set = at[HG_OUTER].whole & at[HG_INNER].whole;
	columns &= device_set;
	if (device_set != 0)
	{
		device_set = hg_join_add_filters(state, columns != 0 ? columns : device_set);
		hg_join_add_graphs(state, spec, device_set, columns != 0);
	}
	else
		hg_join_add_partitions(state, spec, at);
	state->cover.columns_bytes = 0;
	for (int side = HG_OUTER; side <= HG_INNER && spec->reduction != NULL; side++)
		state->cover.columns_bytes += hg_join_columns_bytes(
			state->reduction, (HgSide) side, hg_join_covered_graph(state, (HgSide) side));
	if (spec->replica_at == 0 ||
		(spec->reduction != NULL && !state->cover.replica[HG_OUTER].has_columns))
		hg_join_report_demand(state);
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
			hg_resident_graph_set_missing(hg_join_covered_graph(state, (HgSide) side),
										  state->cover.replica[side].partitions != NULL, missing_on,
										  &missing);
	/* loading one replica may have evicted the other */
	if (state->inputs[HG_OUTER]->child.covered != NULL &&
		state->inputs[HG_INNER]->child.covered != NULL)
		hg_join_report_demand(state);
}

void
hg_join_wake_partitions(const HgJoinState *state)
{
	bool is_partitioned = false;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		is_partitioned |=
			hg_resident_graph_is_partitioned(hg_join_covered_graph(state, (HgSide) side));
	if (is_partitioned && hg_backend != HG_BACKEND_CPU)
		(void) hg_devices_request();
}
