/*-------------------------------------------------------------------------
 *
 * hg_aggregate_shared.c
 *	  Shared memory of the aggregate node below a Gather: what each process did, for EXPLAIN, and
 *	  the groups that the processes share.
 *
 * A worker stores its record when it is done, which is before the leader has read its last row.
 * The leader collects the records before the shared memory is freed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"

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

/* ---------------------------------------------------------------------
 * Shared groups
 * ---------------------------------------------------------------------
 */

/*
 * log2 of the number of partitions of a set with fewer groups than HG_SHARED_MANY_GROUPS, and of
 * the least number if there are as many or more, so that each process gets some partitions.  Each
 * partition has a file of each process.  To create and open 96 files took 7 % of the CPU time of a
 * query of 0.13 s.
 */
#define HG_SHARED_FEW_BITS 1
#define HG_SHARED_MIN_BITS 3
#define HG_SHARED_MANY_GROUPS 1000

/*
 * Groups are written when memory is full if they have taken at least HG_WRITTEN_ROWS rows each on
 * average, as if the input were ordered; or at most HG_UNGROUPED_ROWS, which are then written once
 * instead of twice, unless more than one state of a group makes them long.
 */
#define HG_WRITTEN_ROWS 2
#define HG_UNGROUPED_ROWS 1.25

static uint32 hg_aggregate_wait_event;

/* Returns the number of sets whose groups the plan's processes share. */
static int
hg_aggregate_count_shared(const HgAggregateState *state)
{
	int count = 0;

	for (int i = 0; i < state->sets.count; i++)
		count += state->sets.sets[i].shared;
	return count;
}

/* Returns the groups of the shared sets. */
static HgSharedGroups *
hg_aggregate_shared_groups(HgAggregateShared *shared)
{
	return (HgSharedGroups *) ((char *) shared +
							   MAXALIGN(offsetof(HgAggregateShared, records) +
										shared->nprocesses * sizeof(HgAggregateRecord)));
}

/* Initializes the groups for an execution, before its workers start. */
static void
hg_shared_groups_reset(const HgAggregateState *state, HgAggregateShared *shared)
{
	HgSharedGroups *groups = hg_aggregate_shared_groups(shared);

	BarrierInit(&shared->barrier, 0);
	for (int i = 0; i < state->sets.count; i++)
	{
		const HgGroupingSet *set = &state->sets.sets[i];
		double expected;

		if (!set->shared)
			continue;
		/* expected is what one process returns */
		expected = set->expected * shared->nprocesses;
		groups->bits = expected < HG_SHARED_MANY_GROUPS
						   ? HG_SHARED_FEW_BITS
						   : hg_aggregate_spill_bits(expected * (double) set->groups->group_bytes,
													 state->sets.share, HG_SHARED_MIN_BITS);
		pg_atomic_init_u32(&groups->next_partition, 0);
		for (int partition = 0; partition < 1 << HG_SPILL_MAX_BITS; partition++)
			pg_atomic_init_u64(&groups->spill.rows[partition], 0);
		groups++;
	}
}

static void
hg_aggregate_leave_sharing(HgAggregateParticipants *participants)
{
	if (participants->attached)
		BarrierDetach(&participants->shared->barrier);
	participants->attached = false;
}

bool
hg_aggregate_start_sharing(HgAggregateState *state)
{
	HgAggregateParticipants *participants = &state->participants;
	HgAggregateShared *shared = participants->shared;
	HgSharedGroups *groups;

	participants->late = false;
	participants->shares_groups = hg_aggregate_count_shared(state) > 0 && shared != NULL &&
								  shared->segment != DSM_HANDLE_INVALID;
	if (!participants->shares_groups)
		return true;
	state->rescannable = false;
	participants->rows = 0;
	participants->late = BarrierAttach(&shared->barrier) > 0;
	participants->attached = true;
	groups = hg_aggregate_shared_groups(shared);
	for (int i = 0; i < state->sets.count; i++)
	{
		HgGroupingSet *set = &state->sets.sets[i];
		char name[NAMEDATALEN];
		HgSpillParticipants part = {&groups->spill, &shared->files, name, participants->process,
									shared->nprocesses};

		if (!set->shared)
			continue;
		snprintf(name, sizeof(name), "set.%d", i);
		hg_aggregate_spill_start_shared(set->spill, groups->bits, &part, &groups->next_partition,
										&state->budget);
		if (!participants->late)
			state->record.partitions += 1 << groups->bits;
		groups++;
	}
	return !participants->late;
}

/* Returns the number of functions whose states are those of PostgreSQL's transition functions. */
static int
hg_aggregate_count_transitions(const HgAggregateState *state)
{
	int count = 0;

	for (int f = 0; f < state->nfunctions; f++)
		count += state->functions[f].transition != NULL;
	return count;
}

bool
hg_aggregate_write_early(HgAggregateState *state)
{
	HgAggregateSets *sets = &state->sets;
	double rows = (double) state->participants.rows;
	bool few = rows <= HG_UNGROUPED_ROWS * state->groups->count &&
			   hg_aggregate_count_transitions(state) <= 1;

	if (!state->participants.shares_groups || sets->current > 0 ||
		(!few && rows < (double) HG_WRITTEN_ROWS * state->groups->count))
		return false;
	for (sets->combined = 0; sets->combined < state->groups->count;)
	{
		CHECK_FOR_INTERRUPTS();
		hg_aggregate_combine(state);
	}
	hg_groups_reset(state->groups);
	state->participants.rows = 0;
	return true;
}

void
hg_aggregate_publish(HgAggregateState *state)
{
	const HgAggregateParticipants *participants = &state->participants;
	HgAggregateSets *sets = &state->sets;

	if (!participants->attached || participants->late)
		return;
	for (int i = sets->current + 1; i < sets->count; i++)
		if (sets->sets[i].shared && bms_is_member(sets->current, sets->sets[i].parents))
			hg_spill_publish(sets->sets[i].spill->writing);
}

void
hg_aggregate_finish_sharing(HgAggregateState *state)
{
	HgAggregateParticipants *participants = &state->participants;
	HgAggregateSets *sets = &state->sets;

	if (!participants->shares_groups || !hg_aggregate_set(sets)->shared)
		return;
	/* all sets that groups are written from come before those that are shared */
	if (participants->attached && !participants->late)
		BarrierArriveAndWait(&participants->shared->barrier,
							 HG_WAIT_EVENT(hg_aggregate_wait_event, "HashGraphGroups"));
	hg_aggregate_leave_sharing(participants);
	hg_spill_adopt(hg_aggregate_set(sets)->spill->writing);
}

/* ---------------------------------------------------------------------
 * Setting up
 * ---------------------------------------------------------------------
 */

static Size
hg_aggregate_shared_size(const HgAggregateState *state, int nprocesses)
{
	return MAXALIGN(offsetof(HgAggregateShared, records) + nprocesses * sizeof(HgAggregateRecord)) +
		   hg_aggregate_count_shared(state) * sizeof(HgSharedGroups);
}

Size
hg_aggregate_estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	return hg_aggregate_shared_size((const HgAggregateState *) node, pcxt->nworkers + 1);
}

void
hg_aggregate_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	HgAggregateState *state = (HgAggregateState *) node;

	state->participants.shared = coordinate;
	memset(coordinate, 0, hg_aggregate_shared_size(state, pcxt->nworkers + 1));
	state->participants.shared->nprocesses = pcxt->nworkers + 1;
	/* without dynamic shared memory the leader is alone */
	if (pcxt->seg != NULL)
	{
		state->participants.shared->segment = dsm_segment_handle(pcxt->seg);
		SharedFileSetInit(&state->participants.shared->files, pcxt->seg);
		hg_shared_groups_reset(state, state->participants.shared);
	}
}

void
hg_aggregate_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	HgAggregateState *state = (HgAggregateState *) node;

	state->participants.shared = coordinate;
	hg_aggregate_collect(&state->participants);
	if (pcxt->seg == NULL)
		return;
	SharedFileSetDeleteAll(&state->participants.shared->files);
	hg_shared_groups_reset(state, state->participants.shared);
}

void
hg_aggregate_initialize_worker(CustomScanState *node, shm_toc *toc pg_attribute_unused(),
							   void *coordinate)
{
	HgAggregateState *state = (HgAggregateState *) node;

	state->participants.shared = coordinate;
	state->participants.process = ParallelWorkerNumber + 1;
	/* the files stay as long as this process has some, even if the leader ends */
	SharedFileSetAttach(&state->participants.shared->files,
						dsm_find_mapping(state->participants.shared->segment));
}

void
hg_aggregate_shutdown(CustomScanState *node)
{
	HgAggregateState *state = (HgAggregateState *) node;

	if (state->participants.shared == NULL)
		return;
	hg_aggregate_leave_sharing(&state->participants);
	if (state->participants.process > 0)
		state->participants.shared->records[state->participants.process] =
			hg_aggregate_own_record(state);
	else
		hg_aggregate_collect(&state->participants);
	state->participants.shared = NULL;
}
