/*-------------------------------------------------------------------------
 *
 * hg_aggregate_shared.c
 *	  Shared memory of the aggregate node below a Gather: what each process did, for EXPLAIN.
 *
 * A worker stores its record when it is done, which is before the leader has read its last row.
 * The leader collects the records before the shared memory is freed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/aggregate/hg_aggregate_state.h"

static void
hg_aggregate_add_record(HgAggregateRecord *sum, const HgAggregateRecord *record)
{
	sum->processes += record->processes;
	sum->groups += record->groups;
	sum->memory_bytes += record->memory_bytes;
	sum->spilled_bytes += record->spilled_bytes;
	sum->partitions += record->partitions;
	sum->reduced_rows += record->reduced_rows;
	sum->blocks.resident += record->blocks.resident;
	sum->blocks.heap += record->blocks.heap;
}

/* Returns what this process did. */
static HgAggregateRecord
hg_aggregate_own_record(const HgAggregateState *state)
{
	HgAggregateRecord record = state->record;

	record.memory_bytes = state->budget.peak;
	record.blocks = hg_scan_tables_blocks(state->source->tables);
	return record;
}

/* Adds the workers' records to those of earlier executions, and clears them. */
static void
hg_aggregate_collect(HgAggregateParticipants *participants)
{
	HgAggregateShared *shared = participants->shared;
	HgAggregateRecord sum = {0};

	for (int i = 1; i < shared->nprocesses; i++)
	{
		hg_aggregate_add_record(&sum, &shared->records[i]);
		memset(&shared->records[i], 0, sizeof(HgAggregateRecord));
	}
	/* each execution has its own workers and frees its memory: use the maximum, not the sum */
	sum.processes = Max(sum.processes, participants->others.processes);
	sum.memory_bytes = Max(sum.memory_bytes, participants->others.memory_bytes);
	participants->others.processes = 0;
	participants->others.memory_bytes = 0;
	hg_aggregate_add_record(&participants->others, &sum);
}

HgAggregateRecord
hg_aggregate_current_record(const HgAggregateState *state)
{
	HgAggregateRecord record = hg_aggregate_own_record(state);

	hg_aggregate_add_record(&record, &state->participants.others);
	return record;
}

static Size
hg_aggregate_shared_size(int nprocesses)
{
	return offsetof(HgAggregateShared, records) + nprocesses * sizeof(HgAggregateRecord);
}

Size
hg_aggregate_estimate_dsm(CustomScanState *node pg_attribute_unused(), ParallelContext *pcxt)
{
	return hg_aggregate_shared_size(pcxt->nworkers + 1);
}

void
hg_aggregate_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	HgAggregateState *state = (HgAggregateState *) node;

	state->participants.shared = coordinate;
	memset(coordinate, 0, hg_aggregate_shared_size(pcxt->nworkers + 1));
	state->participants.shared->nprocesses = pcxt->nworkers + 1;
	state->participants.shared->may_use_cache = hg_scan_tables_may_share(state->source->tables);
}

void
hg_aggregate_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt pg_attribute_unused(),
							  void *coordinate)
{
	HgAggregateState *state = (HgAggregateState *) node;

	state->participants.shared = coordinate;
	hg_aggregate_collect(&state->participants);
}

void
hg_aggregate_initialize_worker(CustomScanState *node, shm_toc *toc pg_attribute_unused(),
							   void *coordinate)
{
	HgAggregateState *state = (HgAggregateState *) node;

	state->participants.shared = coordinate;
	state->participants.process = ParallelWorkerNumber + 1;
	hg_scan_tables_set_cache(state->source->tables, state->participants.shared->may_use_cache);
}

void
hg_aggregate_shutdown(CustomScanState *node)
{
	HgAggregateState *state = (HgAggregateState *) node;

	if (state->participants.shared == NULL)
		return;
	if (state->participants.process > 0)
		state->participants.shared->records[state->participants.process] =
			hg_aggregate_own_record(state);
	else
		hg_aggregate_collect(&state->participants);
	state->participants.shared = NULL;
}
