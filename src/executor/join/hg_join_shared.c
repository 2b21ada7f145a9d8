/*-------------------------------------------------------------------------
 *
 * hg_join_shared.c
 *	  The join node below a Gather: shared memory, and this process among the participants.
 *
 * There are two kinds of partial paths.  If the inner side is small, each process reads all of it,
 * and joins it with the outer rows that the outer child gives that process, a few at a time.  Then
 * processes share only statistics.  Otherwise all processes read and join both sides together
 * (hg_join_parallel.c); if the child of a side cannot be shared out, one process reads it.
 *
 * A worker stores its record when it is shut down.  The leader collects the records before the
 * workers of a further execution start and before the memory is freed, whichever comes first.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/join/hg_join_state.h"

/* ---------------------------------------------------------------------
 * Leaving
 * ---------------------------------------------------------------------
 */

void
hg_join_leave(HgJoinParticipants *participants, bool finished)
{
	HgJoinShared *shared = participants->shared;
	uint32 none = 0;
	bool last;

	if (!participants->attached)
		return;
	participants->attached = false;
	/* if matches were skipped, it is unknown which rows have none */
	if (!finished)
		pg_atomic_write_u32(&shared->ended, 1);
	last = BarrierDetach(&shared->barrier);
	participants->ends_join =
		finished && last && pg_atomic_compare_exchange_u32(&shared->ended, &none, 1);
}

/* Ends the execution and releases everything in shared memory. */
static void
hg_join_forget_shared(HgJoinState *state)
{
	hg_join_enter(&state->progress, HG_JOIN_DONE);
	if (!state->parallel_hash)
		return;
	hg_join_leave(&state->participants, false);
	hg_join_end_upload(&state->upload, state->inputs);
	hg_join_end_matches(state);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_child_set_filter(&state->inputs[side]->child, NULL);
		hg_key_column_clear(state->inputs[side]->held.words);
		hg_column_store_share(state->inputs[side]->held.rows, NULL, NULL);
		hg_row_bits_share(state->matched[side].bits, NULL, NULL);
	}
	state->participants.joined = state->participants.ends_join = false;
}

/* ---------------------------------------------------------------------
 * Setting up
 * ---------------------------------------------------------------------
 */

static Size
hg_join_shared_size(int nprocesses)
{
	return add_size(offsetof(HgJoinShared, records), mul_size(nprocesses, sizeof(HgJoinRecord)));
}

Size
hg_join_estimate_dsm(CustomScanState *node pg_attribute_unused(), ParallelContext *pcxt)
{
	return hg_join_shared_size(pcxt->nworkers + 1);
}

/* Returns true if matches of one outer row may go to several processes, as a device deals them. */
static bool
hg_join_device_may_share(const HgJoinRules *rules)
{
	return !rules->single_inner && !(rules->single_match && rules->join_qual != NULL);
}

/* Initializes the shared memory for an execution, before its workers start. */
static void
hg_join_shared_reset(HgJoinState *state, HgJoinShared *shared)
{
	const bool pages = hg_join_pages_reset(&state->pages, &shared->pages);
	HgJobColumns columns;
	bool uploads;

	hg_device_participants_init(&shared->device, hg_join_device_may_share(&state->rules));
	/* an adaptive join sends no keys */
	uploads = !pages && state->parallel_hash && state->lookup.loop == NULL &&
			  !hg_join_has_covered(state->inputs) &&
			  hg_join_may_upload(state, shared->nprocesses, &columns);
	hg_device_participants_init_early(&shared->device, pages, uploads ? &columns : NULL);
	BarrierInit(&shared->barrier, 0);
	hg_shared_budget_init(&shared->budget, state->memory.budget.limit * shared->nprocesses);
	pg_atomic_init_u64(&shared->counted, 0);
	pg_atomic_init_u32(&shared->hashes, 0);
	pg_atomic_init_u64(&shared->looked_up, 0);
	pg_atomic_init_u32(&shared->spill_bits, 0);
	pg_atomic_init_u32(&shared->next_partition, 0);
	pg_atomic_init_u32(&shared->next_part, 0);
	pg_atomic_init_u32(&shared->ended, 0);
	pg_atomic_init_u32(&shared->reader_found, 0);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (int partition = 0; partition < 1 << HG_SPILL_MAX_BITS; partition++)
			pg_atomic_init_u64(&shared->spills[side].rows[partition], 0);
}

/* Adds the records of the workers, which have ended, to those of earlier ones. */
static void
hg_join_collect_records(HgJoinParticipants *participants)
{
	HgJoinShared *shared = participants->shared;
	HgJoinRecord workers = {0};

	for (int process = 1; process < shared->nprocesses; process++)
	{
		HgJoinRecord *record = &shared->records[process];

		if (record->processes > 0)
			hg_stats_merge(&workers, record);
		record->processes = 0;
	}
	hg_stats_append(&participants->others, &workers);
}

/*
 * Collects records before the leader's shared memory is freed.  If the query needs no more rows,
 * this is the only call between the end of the workers and that of their memory.
 */
static void
hg_join_segment_detached(dsm_segment *segment pg_attribute_unused(), Datum arg)
{
	HgJoinParticipants *participants = (HgJoinParticipants *) DatumGetPointer(arg);

	hg_join_collect_records(participants);
	participants->shared = NULL;
	participants->segment = NULL;
}

void
hg_join_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	HgJoinState *state = (HgJoinState *) node;
	HgJoinShared *shared = coordinate;

	/* without dynamic shared memory the leader is alone, and there is no DSA either */
	if (pcxt->seg == NULL)
		return;
	memset(shared, 0, hg_join_shared_size(pcxt->nworkers + 1));
	shared->nprocesses = pcxt->nworkers + 1;
	hg_shared_filter_init(&shared->filter);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_shared_columns_init(&shared->columns[side]);
	hg_join_cover_parallel(state, shared);
	hg_join_pages_expect(state, &shared->pages, shared->nprocesses);
	hg_join_shared_reset(state, shared);
	shared->segment = dsm_segment_handle(pcxt->seg);
	SharedFileSetInit(&shared->files, pcxt->seg);
	state->participants.shared = shared;
	state->participants.process = 0;
	state->participants.segment = pcxt->seg;
	on_dsm_detach(pcxt->seg, hg_join_segment_detached, PointerGetDatum(&state->participants));
}

void
hg_join_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	HgJoinState *state = (HgJoinState *) node;
	HgJoinShared *shared = coordinate;
	dsa_area *area = node->ss.ps.state->es_query_dsa;

	if (pcxt->seg == NULL)
		return;
	/* children may be rescanned later, but all shared memory is freed now */
	hg_join_forget_shared(state);
	hg_join_collect_records(&state->participants);
	hg_join_cover_again(state->inputs, state->participants.shared);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_shared_columns_release(&shared->columns[side], area);
		hg_shared_bits_release(&shared->matched[side], area);
	}
	hg_shared_filter_release(&shared->filter, area);
	hg_participants_reset(&shared->participants, area);
	SharedFileSetDeleteAll(&shared->files);
	hg_join_shared_reset(state, shared);
}

void
hg_join_initialize_worker(CustomScanState *node, shm_toc *toc pg_attribute_unused(),
						  void *coordinate)
{
	HgJoinState *state = (HgJoinState *) node;
	HgJoinShared *shared = coordinate;

	state->participants.shared = shared;
	state->participants.process = ParallelWorkerNumber + 1;
	hg_join_attach_covered(state);
	/* the files stay as long as this process has some, even if the leader ends */
	SharedFileSetAttach(&shared->files, dsm_find_mapping(shared->segment));
}

/* ---------------------------------------------------------------------
 * The end
 * ---------------------------------------------------------------------
 */

void
hg_join_shutdown(CustomScanState *node)
{
	HgJoinState *state = (HgJoinState *) node;

	if (state->participants.shared == NULL)
		return;
	hg_join_forget_shared(state);
	if (state->participants.process > 0)
		hg_join_current_record(state,
							   &state->participants.shared->records[state->participants.process]);
}

void
hg_join_end_shared(HgJoinState *state)
{
	if (state->participants.segment == NULL)
		return;
	hg_join_forget_shared(state);
	hg_join_end_cover(state->participants.shared);
	cancel_on_dsm_detach(state->participants.segment, hg_join_segment_detached,
						 PointerGetDatum(&state->participants));
}
