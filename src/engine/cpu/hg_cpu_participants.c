/*-------------------------------------------------------------------------
 *
 * hg_cpu_participants.c
 *	  How the participants of a shared job of the CPU engine cooperate.
 *
 * Each participant has a job of its own, with its own pieces and scratch memory. They share an
 * HgParticipantsState and the runs, which lie in chunks of shared memory; one participant
 * allocates and fills each chunk. Each participant builds as follows:
 *
 *	1. add its numbers of rows, and the bounds of its inner keys, to the state, and arrive;
 *	2. choose the shape from the sums, which are the same for all;
 *	3. bin its rows into runs, put each at the head of its side's chain of chunks, and arrive;
 *	4. note all runs of the chains, which are final now.
 *
 * After that a participant takes one unit of work after the other by advancing the state's
 * counter, and waits for nothing. It builds the graphs of a unit in its own scratch memory. A unit
 * is a bin or, if a bin has many rows and may be divided, a slice of its outer rows. Every
 * participant that takes a slice of a bin builds the same inner graph. Slices prevent that one
 * frequent key keeps one participant busy alone; and if few matches may cause much work, all
 * participants get a part of it.
 *
 * If unbinned outer rows are looked up in a small inner side (build v1, probe standard), only the
 * inner rows go to runs. Each participant makes the whole inner graph for itself, and looks up the
 * outer rows that it has appended. The same holds if keys are the vertices and the inner side is
 * not large beside the outer one: each participant makes a table for itself (hg_cpu_direct.c).
 *
 * FAILURE. A participant that fails before an arrive stores its status first, and still arrives,
 * so that none waits for it in vain. The others read the status after the arrive and fail, too.
 * Each arrive has a status of its own: all must come to the same conclusion, and a slow
 * participant may read it when a quick one has already failed again. A participant that is
 * cancelled while it waits leaves behind announced rows that it has not brought: the others find
 * them missing. A participant that fails after the last arrive fails alone. It may have taken
 * units by then: the job as a whole is lost, which its caller must report to the others.
 *
 * JOINING LATE. A participant that joins after an arrive has no rows in the job and skips that
 * arrive; all that it needs is in the state and in the chains.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_participants.h"

#include "hg_cpu_side.h"

#include <inttypes.h>
#include <stdio.h>

/* A bin with more rows than this, of both sides, is handed out in slices. */
#define SLICED_FROM 131072

/* Outer rows of a slice. */
#define SLICE_ROWS 65536

/* Slices of a bin whose many inner rows may make much work of each outer row. */
#define SLICE_PARTS 256

/* If matches are spread: units for each participant, and the least outer rows of a unit. */
#define SPREAD_UNITS 16
#define SPREAD_ROWS 64

/* Stores a failure before arrive number at (from 0), unless there is one. */
static void
participants_fail(const HgParticipants *participants, uint32_t at, HgStatus status)
{
	uint32_t none = 0;

	__atomic_compare_exchange_n(&participants->state->failure[at], &none, (uint32_t) status, false,
								__ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* Returns the failure before an arrive, or HG_OK. */
static HgStatus
participants_check(const HgParticipants *participants, uint32_t at, HgError *error)
{
	uint32_t failure = __atomic_load_n(&participants->state->failure[at], __ATOMIC_ACQUIRE);

	if (failure == 0)
		return HG_OK;
	return hg_error_set(error, (HgStatus) failure, NULL,
						"another participant of the shared job failed");
}

bool
hg_cpu_participants_failed(const HgJob *job)
{
	return __atomic_load_n(&job->participants->state->failure[1], __ATOMIC_ACQUIRE) != 0;
}

/* A signed number as an unsigned one of the same order, and back. */
#define ORDERED(number) ((uint64_t) (number) ^ UINT64_C(1) << 63)
#define FROM_ORDERED(word) ((int64_t) ((word) ^ UINT64_C(1) << 63))

/* Atomically raises a word to another one, if that is greater. */
static void
raise_to(uint64_t *word, uint64_t other)
{
	uint64_t now = __atomic_load_n(word, __ATOMIC_RELAXED);

	while (now < other && !__atomic_compare_exchange_n(word, &now, other, false, __ATOMIC_RELEASE,
													   __ATOMIC_RELAXED))
		continue;
}

/*
 * Publishes this participant's rows, the bounds of its inner keys, and its memory for a table, if
 * it has outer rows. The state starts with zeros, so minima are stored as maxima of complements.
 */
static void
participants_announce(HgJob *job, const HgCpuBounds *bounds, uint64_t room)
{
	HgParticipantsState *state = job->participants->state;

	if (job->base.sides[HG_INNER].rows > 0)
	{
		raise_to(&state->bounds[0], ~ORDERED(bounds->least));
		raise_to(&state->bounds[1], ORDERED(bounds->greatest));
	}
	if (job->base.sides[HG_OUTER].rows > 0)
		raise_to(&state->room, ~room);
	for (int i = 0; i < 2; i++)
		__atomic_fetch_add(&state->rows[i], job->base.sides[i].rows, __ATOMIC_RELEASE);
}

HgStatus
hg_cpu_participants_count(HgJob *job, HgStatus status, uint64_t rows[2], HgCpuBounds *bounds,
						  uint64_t *room, HgError *error)
{
	const HgParticipants *participants = job->participants;
	HgParticipantsState *state = participants->state;

	if (participants->arrived > 0 && status == HG_OK &&
		(job->base.sides[HG_OUTER].rows > 0 || job->base.sides[HG_INNER].rows > 0))
		status = hg_error_set(error, HG_INVALID, NULL, "a participant that joined late has rows");

	if (participants->arrived == 0)
	{
		if (status == HG_OK)
			participants_announce(job, bounds, *room);
		else
			participants_fail(participants, 0, status);
		if (!participants->arrive(participants->arg) && status == HG_OK)
			status = hg_error_set(error, HG_CANCELLED, NULL, "cancelled");
	}
	else if (status != HG_OK && participants->arrived == 1)
	{
		participants_fail(participants, 1, status);
		participants->arrive(participants->arg);
	}
	if (status == HG_OK)
		status = participants_check(participants, 0, error);
	if (status != HG_OK)
		return status;

	for (int i = 0; i < 2; i++)
	{
		rows[i] = __atomic_load_n(&state->rows[i], __ATOMIC_ACQUIRE);
		if (rows[i] >= HG_MAX_ROWS)
			return hg_error_set(error, HG_TOO_MANY_ROWS, NULL,
								"too many rows in one side of a join");
	}
	bounds->least = FROM_ORDERED(~__atomic_load_n(&state->bounds[0], __ATOMIC_ACQUIRE));
	bounds->greatest = FROM_ORDERED(__atomic_load_n(&state->bounds[1], __ATOMIC_ACQUIRE));
	*room = ~__atomic_load_n(&state->room, __ATOMIC_ACQUIRE);
	return HG_OK;
}

/* Notes the runs of a side's chain, which must have all announced rows. */
static HgStatus
side_load(HgJob *job, HgSide which, HgError *error)
{
	const HgParticipants *participants = job->participants;
	uint64_t handle = __atomic_load_n(&participants->state->runs[which], __ATOMIC_ACQUIRE);
	uint64_t missing = __atomic_load_n(&participants->state->rows[which], __ATOMIC_ACQUIRE);

	while (handle != 0)
	{
		HgCpuRunHeader *header = participants->address(participants->arg, handle);

		if (header == NULL)
			return hg_error_set(error, HG_OUT_OF_MEMORY, NULL,
								"a chunk of shared memory could not be mapped");
		HG_TRY(hg_cpu_run_add(job, &job->sides[which], header, 0, error));
		missing -= header->rows;
		handle = header->next;
	}
	if (job->sides[which].binned && missing != 0)
		return hg_error_set(error, HG_CANCELLED, NULL,
							"another participant has left the shared job");
	return HG_OK;
}

HgStatus
hg_cpu_participants_exchange(HgJob *job, HgStatus status, HgError *error)
{
	const HgParticipants *participants = job->participants;

	if (participants->arrived < HG_SHARED_JOB_ARRIVES)
	{
		if (status != HG_OK)
			participants_fail(participants, 1, status);
		if (!participants->arrive(participants->arg) && status == HG_OK)
			status = hg_error_set(error, HG_CANCELLED, NULL, "cancelled");
	}
	if (status == HG_OK)
		status = participants_check(participants, 1, error);
	for (int side = 0; side < 2 && status == HG_OK; side++)
		status = side_load(job, (HgSide) side, error);
	return status;
}

HgStatus
hg_cpu_participants_alloc(HgJob *job, uint64_t bytes, uint64_t *handle, HgCpuRunHeader **header,
						  HgError *error)
{
	const HgParticipants *participants = job->participants;
	char detail[120];

	HG_TRY(hg_host_check_limit(&job->base, bytes, error));
	*handle = participants->alloc(participants->arg, (size_t) bytes);
	*header = *handle != 0 ? participants->address(participants->arg, *handle) : NULL;
	if (*header == NULL)
	{
		if (*handle != 0)
			participants->free(participants->arg, *handle);
		snprintf(detail, sizeof(detail), "An allocation of %" PRIu64 " bytes failed.", bytes);
		return hg_error_set(error, HG_OUT_OF_MEMORY, detail, "out of shared memory");
	}
	hg_host_hold(&job->base, bytes);
	return HG_OK;
}

void
hg_cpu_participants_publish(HgJob *job, HgSide which, uint64_t handle, HgCpuRunHeader *header)
{
	uint64_t *head = &job->participants->state->runs[which];
	uint64_t next = __atomic_load_n(head, __ATOMIC_ACQUIRE);

	do
		header->next = next;
	while (!__atomic_compare_exchange_n(head, &next, handle, true, __ATOMIC_ACQ_REL,
										__ATOMIC_ACQUIRE));
}

/* Returns how many of a bin's `outer` rows, with `inner` rows to match, are handed out at once. */
static uint64_t
participants_step(const HgParticipants *participants, uint64_t outer, uint64_t inner)
{
	uint64_t step = outer;

	if (participants->whole_bins)
		return outer;
	if (outer + inner > SLICED_FROM)
		step = inner > SLICED_FROM / 2 ? outer / SLICE_PARTS + 1 : SLICE_ROWS;
	if (participants->spread > 0)
	{
		uint64_t all = __atomic_load_n(&participants->state->rows[HG_OUTER], __ATOMIC_RELAXED);
		uint64_t part = all / ((uint64_t) participants->spread * SPREAD_UNITS) + 1;

		/*
		 * each participant that takes a slice makes the inner graph: little work beside the slice
		 */
		part = part > SPREAD_ROWS ? part : SPREAD_ROWS;
		part = part > inner / SPREAD_UNITS ? part : inner / SPREAD_UNITS;
		step = step < part ? step : part;
	}
	return step;
}

/* The state's counter holds the bin in its high half, and the slice in its low half. */
bool
hg_cpu_participants_take(HgJob *job, uint32_t *bin, uint64_t *from, uint64_t *rows)
{
	uint64_t *counter = &job->participants->state->work;
	uint64_t work = __atomic_load_n(counter, __ATOMIC_RELAXED);

	for (;;)
	{
		uint64_t slice = (uint32_t) work;
		uint64_t outer;
		uint64_t inner;
		uint64_t step;
		uint64_t next;

		*bin = (uint32_t) (work >> 32);
		if (work >> 32 == UINT64_C(1) << job->shape.bins_log2)
			return false;

		outer = hg_cpu_bin_rows(&job->sides[HG_OUTER], *bin);
		inner = hg_cpu_bin_rows(&job->sides[HG_INNER], *bin);
		step = participants_step(job->participants, outer, inner);

		*from = slice * step;
		*rows = outer - *from < step ? outer - *from : step;
		next = *from + *rows < outer ? work + 1 : ((work >> 32) + 1) << 32;
		if (__atomic_compare_exchange_n(counter, &work, next, false, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
			return true;
	}
}

void
hg_participants_release(const HgParticipants *participants)
{
	for (int side = 0; side < 2; side++)
	{
		uint64_t handle = participants->state->runs[side];

		while (handle != 0)
		{
			const HgCpuRunHeader *header = participants->address(participants->arg, handle);
			uint64_t next = header != NULL ? header->next : 0;

			participants->free(participants->arg, handle);
			handle = next;
		}
	}
	memset(participants->state, 0, sizeof(*participants->state));
}
