/*-------------------------------------------------------------------------
 *
 * hg_device_team.c
 *	  A join that the processes of a parallel query have on a device together.
 *
 * hg_device_team.h tells the steps.  WHY THEY AGREE: a process that fails at a step says so
 * before it arrives, and the others look after they have.  Nobody can have said it of
 * a later step by then but processes that have found all well with this one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "backend/hg_device.h"
#include "backend/hg_device_shared.h"
#include "backend/hg_device_team.h"
#include "hg_guc.h"

/* The steps, each of which ends with an arrive. */
#define HG_STEP_APPEND 1
#define HG_STEP_BUILD 2
#define HG_STEP_FETCH 3

/* Matches fetched at a time; the first ones make room for as many. */
#define HG_FETCH_PAIRS ((uint64) 256 * 1024)

void
hg_device_team_init(HgDeviceTeamShared *shared, bool possible)
{
	bool wanted = hg_backend == HG_BACKEND_CUDA;
	HgServerDevice server;

	memset(shared, 0, sizeof(*shared));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		pg_atomic_init_u64(&shared->rows[side], 0);
	for (int attempt = 0; attempt < HG_DEVICE_ATTEMPTS; attempt++)
		pg_atomic_init_u32(&shared->attempts[attempt].failed, 0);
	pg_atomic_init_u32(&shared->counted, 0);
	pg_atomic_init_u32(&shared->crowded, 0);
	/* only the server's process can be reached by several */
	if (hg_backend == HG_BACKEND_CPU || !possible || !hg_device_is_shared())
		return;
	shared->costs_known = hg_device_costs(&shared->costs);
	if (!shared->costs_known && !wanted)
	{
		/* one that rests will be there for the next join */
		if (hg_device_shared_read(&server) && server.state == HG_SERVER_DEVICE_RESTING)
			hg_device_shared_ask();
		return;
	}
	while (shared->job == 0)
		if (!pg_strong_random(&shared->job, sizeof(shared->job)))
			return;
}

/* Tell of a step, and learn whether all went well with everybody. */
static bool
hg_device_team_agree(HgDeviceTeam *device, uint32 step, HgStatus status, const HgError *why)
{
	HgDeviceAttempt *attempt = device->attempt;
	uint32 failed = 0;

	if (status != HG_OK && pg_atomic_compare_exchange_u32(&attempt->failed, &failed, step))
	{
		attempt->failure = *why;
		attempt->failure.status = status;
	}
	device->team->team.arrive(device->team->team.arg);
	hg_host_rethrow(device->team->host);
	failed = pg_atomic_read_u32(&attempt->failed);
	return failed == 0 || failed > step;
}

/* Are the matches to be reduced? */
static bool
hg_device_team_reduces(const HgJobSpec *spec)
{
	return spec->ncolumns[HG_OUTER] + spec->ncolumns[HG_INNER] > 0;
}

/* Step 1: open the job and give it this process's keys, and columns. */
static HgStatus
hg_device_team_append(HgDeviceTeam *device, const HgReduction *reduction, const HgJobSpec *spec,
					  const HgKeySet sides[2], double patience_ms, HgError *error)
{
	bool wanted = hg_backend == HG_BACKEND_CUDA;
	HgStatus status;

	if (hg_device_state(wanted, (long) patience_ms, error) != HG_DEVICE_READY)
		return error->status != HG_OK ? error->status : HG_UNAVAILABLE;
	device->engine = hg_device_engine(true);
	if (device->engine == NULL)
		return hg_error_set(error, HG_CONNECTION_LOST, NULL,
							"the device process ended before the join began");
	status =
		device->engine->open(device->engine, &device->team->host->host, spec, &device->job, error);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (int i = 0; i < sides[side].npieces && status == HG_OK; i++)
		{
			const HgKeyPiece *piece = &sides[side].pieces[i];

			status = device->engine->append_rows(device->job, (HgSide) side, piece->keys,
												 piece->count, piece->first_row, error);
			if (status == HG_OK && hg_device_team_reduces(spec))
				status = hg_reduction_append(reduction, device->engine, device->job, (HgSide) side,
											 piece->first_row, piece->count, error);
		}
	if (status == HG_OK)
		status = hg_wire_client_settle(device->job, error);
	return status;
}

/* Count the matches of all. */
static HgStatus
hg_device_team_count(HgDeviceTeam *device, const HgMatcherSpec *spec, HgError *error)
{
	HgStatus status = device->engine->count(device->job, spec->mode, &device->matches, error);

	if (status == HG_OK && !spec->counted &&
		device->matches > device->team->spec.match_bytes / (2 * sizeof(uint32)))
		status = hg_error_set(error, HG_OUT_OF_MEMORY, NULL,
							  "the matches of the join need more than work memory");
	return status;
}

/* Step 2: build, and count or reduce the matches of all. */
static HgStatus
hg_device_team_build(HgDeviceTeam *device, const HgMatcherSpec *spec, const HgJobSpec *job_spec,
					 HgError *error)
{
	HgStatus status = device->engine->build(device->job, error);

	if (status != HG_OK || !hg_device_team_reduces(job_spec))
		return status == HG_OK ? hg_device_team_count(device, spec, error) : status;
	status = hg_reduction_fetch(spec->reduction, device->engine, device->job, spec->mode,
								device->context, &device->groups, error);
	if (status == HG_OK && device->groups.too_many)
		pg_atomic_write_u32(&device->shared->crowded, 1);
	return status;
}

/* Have room for pairs more pairs, and not for many more than there are in all. */
static void
hg_device_team_reserve(HgDeviceTeam *device, uint64 pairs)
{
	uint64 capacity = Max(device->count + pairs, Min(2 * device->capacity, device->matches));

	if (device->count + pairs <= device->capacity)
		return;
	if (device->capacity == 0)
	{
		device->outer = MemoryContextAllocHuge(device->context, capacity * sizeof(uint32));
		device->inner = MemoryContextAllocHuge(device->context, capacity * sizeof(uint32));
	}
	else
	{
		device->outer = repalloc_huge(device->outer, capacity * sizeof(uint32));
		device->inner = repalloc_huge(device->inner, capacity * sizeof(uint32));
	}
	device->capacity = capacity;
}

/* Step 3: fetch matches until there are no more. */
static HgStatus
hg_device_team_fetch(HgDeviceTeam *device, const HgMatcherSpec *spec, const HgJobSpec *job_spec,
					 HgError *error)
{
	HgStatus status = HG_OK;
	HgMatches chunk;

	if (hg_device_team_reduces(job_spec))
		status = hg_device_team_count(device, spec, error);
	if (status == HG_OK)
		status = device->engine->match(device->job, spec->mode, error);
	if (status != HG_OK)
		return status;
	do
	{
		hg_device_team_reserve(device, Min(HG_FETCH_PAIRS, Max(device->matches, 1)));
		chunk.outer = device->outer + device->count;
		chunk.inner = device->inner + device->count;
		chunk.capacity = device->capacity - device->count;
		status = device->engine->next(device->job, &chunk, error);
		if (status == HG_OK)
			device->count += chunk.count;
	} while (status == HG_OK && chunk.count > 0);
	return status;
}

/* What a wait that was given up says. */
static HgStatus
hg_device_team_status(HgDeviceTeam *device, HgStatus status, HgError *error)
{
	if (status != HG_CANCELLED || !hg_host_lost_patience(device->team->host))
		return status;
	return hg_device_complain(error);
}

/* All steps that are left; false where one has failed for somebody. */
static bool
hg_device_team_steps(HgDeviceTeam *device, const HgMatcherSpec *spec, const HgJobSpec *job_spec,
					 const HgKeySet sides[2], double patience_ms)
{
	uint32 arrived = device->team->team.arrived;
	uint32 failed = pg_atomic_read_u32(&device->attempt->failed);
	bool late = arrived > 0;
	HgStatus status = HG_OK;
	HgError error;

	if (failed != 0 && failed <= arrived)
		return false;
	if (arrived < HG_STEP_APPEND)
	{
		status =
			hg_device_team_append(device, spec->reduction, job_spec, sides, patience_ms, &error);
		status = hg_device_team_status(device, status, &error);
		if (!hg_device_team_agree(device, HG_STEP_APPEND, status, &error))
			return false;
	}
	if (arrived < HG_STEP_BUILD)
	{
		if (!late)
		{
			status = hg_device_team_build(device, spec, job_spec, &error);
			status = hg_device_team_status(device, status, &error);
		}
		if (!hg_device_team_agree(device, HG_STEP_BUILD, status, &error))
			return false;
	}
	if (hg_device_team_reduces(job_spec))
	{
		/* where one was told that there are too many groups, nobody uses what others got */
		device->reduced = pg_atomic_read_u32(&device->shared->crowded) == 0;
		if (device->reduced)
			return true;
	}
	if (!spec->counted && arrived < HG_STEP_FETCH)
	{
		if (!late)
		{
			status = hg_device_team_fetch(device, spec, job_spec, &error);
			status = hg_device_team_status(device, status, &error);
		}
		if (!hg_device_team_agree(device, HG_STEP_FETCH, status, &error))
			return false;
	}
	return true;
}

/* Make an attempt at the steps; its arrives are no longer counted where it has failed. */
static bool
hg_device_team_attempt(HgDeviceTeam *device, const HgMatcherSpec *spec, const HgJobSpec *job_spec,
					   const HgKeySet sides[2], double patience_ms)
{
	uint32 *arrived = &device->team->team.arrived;
	bool joined = hg_device_team_steps(device, spec, job_spec, sides, patience_ms);

	hg_device_team_close(device);
	if (!joined)
	{
		uint32 failed = pg_atomic_read_u32(&device->attempt->failed);

		*arrived = *arrived > failed ? *arrived - failed : 0;
	}
	return joined;
}

bool
hg_device_team_join(HgDeviceTeam *device, const HgMatcherSpec *spec, const HgJobSpec *job_spec,
					const HgKeySet sides[2], double patience_ms, HgError *error)
{
	HgTeam *team = &device->team->team;
	HgJobSpec keys_alone = *job_spec;

	device->attempt = &device->shared->attempts[0];
	device->joined = hg_device_team_attempt(device, spec, job_spec, sides, patience_ms);
	if (!device->joined && hg_device_team_reduces(job_spec) &&
		device->attempt->failure.status == HG_DEVICE_OUT_OF_MEMORY)
	{
		/* one whose job is closed leaves room for another */
		if (team->arrived > 0)
			team->arrived--;
		else
			team->arrive(team->arg);
		hg_host_rethrow(device->team->host);
		memset(keys_alone.ncolumns, 0, sizeof(keys_alone.ncolumns));
		keys_alone.team++;
		device->attempt = &device->shared->attempts[1];
		device->joined = hg_device_team_attempt(device, spec, &keys_alone, sides, patience_ms);
	}
	if (!device->joined)
	{
		/* the job's engine goes with its connection */
		hg_device_discard_lost();
		*error = device->attempt->failure;
	}
	return device->joined;
}

uint64
hg_device_team_take_count(HgDeviceTeam *device)
{
	uint32 none = 0;

	/* one that came late has no number, and leaves it to the others */
	if (device->engine == NULL ||
		!pg_atomic_compare_exchange_u32(&device->shared->counted, &none, 1))
		return 0;
	return device->matches;
}

void
hg_device_team_close(HgDeviceTeam *device)
{
	HgJob *job = device->job;

	if (job == NULL)
		return;
	device->job = NULL;
	device->engine->stats(job, &device->stats);
	device->engine->close(job);
}
