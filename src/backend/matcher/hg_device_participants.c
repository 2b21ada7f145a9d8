/*-------------------------------------------------------------------------
 *
 * hg_device_participants.c
 *	  A join that the participants of a parallel query do together on a device.
 *
 * hg_device_participants.h describes the steps. WHY ALL AGREE: a process that fails at a step
 * writes that before it arrives, and the others read it after they have. By then only processes
 * that found no failure of this step can have written that a later step failed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_shared.h"
#include "backend/matcher/hg_device_participants.h"
#include "backend/matcher/hg_device_timeout.h"
#include "backend/matcher/hg_upload.h"
#include "hg_guc.h"

/* The steps, each of which ends with an arrive. */
#define HG_STEP_APPEND 1
#define HG_STEP_BUILD 2
#define HG_STEP_FETCH 3

/*
 * How long, under auto, an admitted upload waits for the device to take the rest of its keys.
 * Other processes may still be reading.
 */
#define HG_FINISH_MS 50.0

/* Bytes of matches and values fetched at a time: a block of huge pages; and if streamed. */
#define HG_FETCH_BYTES ((uint64) 4 * 1024 * 1024)
#define HG_STREAM_BYTES ((uint64) 512 * 1024)

/* Returns an id that no other group of participants has; 0 if there is none. */
static uint64
hg_device_participants_number(void)
{
	uint64 number = 0;

	while (number == 0)
		if (!pg_strong_random(&number, sizeof(number)))
			return 0;
	return number;
}

void
hg_device_participants_init(HgDeviceParticipantsShared *shared, bool possible)
{
	bool wanted = hg_backend == HG_BACKEND_CUDA;
	HgServerDevice server;
	HgError error;

	memset(shared, 0, sizeof(*shared));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		pg_atomic_init_u64(&shared->rows[side], 0);
	for (int number = 0; number < HG_TRIES; number++)
	{
		pg_atomic_init_u32(&shared->attempts[number].failed, 0);
		pg_atomic_init_u32(&shared->attempts[number].asked, 0);
		pg_atomic_init_u32(&shared->attempts[number].nparticipants, 0);
		pg_atomic_init_u64(&shared->attempts[number].fetched, 0);
		pg_atomic_init_u32(&shared->attempts[number].streaming, 0);
	}
	pg_atomic_init_u32(&shared->unfinished, 0);
	pg_atomic_init_u32(&shared->counted, 0);
	/* only the server's process can be reached by several processes */
	if (hg_backend == HG_BACKEND_CPU || !possible || !hg_device_is_shared())
		return;
	shared->device_no = hg_device_number(HG_ALL_DEVICES);
	/* the GPU of device 0 may be unknown until it starts, and excluded for this session */
	if (wanted && hg_gpu_devices.count > 0 && hg_device_shared_read(shared->device_no, &server) &&
		server.ordinal < 0)
		(void) hg_device_choose(HG_ALL_DEVICES, true, &shared->device_no, &error);
	shared->costs_known = hg_device_costs(&shared->costs);
	if (!shared->costs_known && !wanted)
	{
		/* a resting one will be there for the next join */
		if (hg_device_shared_read(shared->device_no, &server) &&
			server.state == HG_SERVER_DEVICE_RESTING)
			hg_device_shared_ask(shared->device_no);
		return;
	}
	shared->job = hg_device_participants_number();
}

void
hg_device_participants_init_early(HgDeviceParticipantsShared *shared, bool pages,
								  const HgJobColumns *upload_columns)
{
	if (shared->job != 0 && pages)
		shared->pages_job = hg_device_participants_number();
	if (shared->job != 0 && upload_columns != NULL)
	{
		shared->upload_job = hg_device_participants_number();
		shared->upload_columns = *upload_columns;
	}
}

void
hg_device_participants_finish_upload(HgDeviceParticipantsShared *shared, HgUpload *upload,
									 const HgKeySet sides[2])
{
	HgPgHost host;
	HgError error;

	if (shared->upload_job == 0)
		return;
	if (upload != NULL && hg_upload_is_admitted(upload))
	{
		hg_host_init(&host, CurrentMemoryContext);
		if (hg_backend != HG_BACKEND_CUDA)
			hg_host_set_timeout(&host, hg_gpu_wait_limit > 0 ? Min(hg_gpu_wait_limit, HG_FINISH_MS)
															 : HG_FINISH_MS);
		if (hg_upload_finish(upload, &host, sides, &error) == HG_OK)
			return;
		hg_host_rethrow(&host);
	}
	pg_atomic_write_u32(&shared->unfinished, 1);
}

/* Returns true if this process attached after an arrive of all others. */
static bool
hg_device_participants_is_late(const HgDeviceParticipants *device)
{
	return device->task->participants.participants.arrived > 0;
}

/* Waits for the others, or counts an arrive that is over. Their earlier writes are visible. */
static void
hg_device_participants_arrive(HgDeviceParticipants *device)
{
	HgParticipants *participants = &device->task->participants.participants;

	if (hg_device_participants_is_late(device))
	{
		participants->arrived--;
		return;
	}
	participants->arrive(participants->arg);
	hg_host_rethrow(&device->task->host);
}

/* Converts the status of a wait that timed out into a complaint. */
static HgStatus
hg_device_participants_status(HgDeviceParticipants *device, HgStatus status, HgError *error)
{
	if (status != HG_CANCELLED || !hg_host_timed_out(&device->task->host))
		return status;
	return hg_device_complain(device->shared->device_no, error);
}

/* Publishes the outcome of a step and returns true if it succeeded for all processes. */
static bool
hg_device_participants_agree(HgDeviceParticipants *device, uint32 step, HgStatus status,
							 HgError *why)
{
	HgDeviceAttempt *attempt = device->attempt;
	uint32 failed = 0;

	status = hg_device_participants_status(device, status, why);
	if (status != HG_OK && pg_atomic_compare_exchange_u32(&attempt->failed, &failed, step))
	{
		attempt->failure = *why;
		attempt->failure.status = status;
	}
	hg_device_participants_arrive(device);
	failed = pg_atomic_read_u32(&attempt->failed);
	if (failed == 0 || failed > step)
		return true;
	device->failure = attempt->failure;
	return false;
}

/* Returns the columns of a side that the job has; or NULL. */
static const HgColumnSet *
hg_device_participants_columns(const HgDeviceParticipants *device, HgSide side)
{
	return device->reduction != NULL ? &device->reduction->columns[side]
									 : device->gather->columns[side];
}

/* Returns the job's engine; NULL with *error filled if the connection is gone. */
static HgEngine *
hg_device_participants_engine(HgDeviceParticipants *device, HgError *error)
{
	HgEngine *engine = hg_device_engine(device->shared->device_no, true);

	if (engine == NULL)
	{
		hg_error_set(error, HG_CONNECTION_LOST, NULL,
					 "the device process ended before the join began");
		return NULL;
	}
	device->calls = *engine;
	device->had_job = true;
	return engine;
}

/* Step 1: opens the job and gives it this process's keys and columns. */
static HgStatus
hg_device_participants_append(HgDeviceParticipants *device, const HgJobSpec *spec, HgError *error)
{
	const HgKeySet *sides = device->task->sides;
	bool wanted = hg_backend == HG_BACKEND_CUDA;
	HgEngine *engine;
	HgStatus status;
	int device_no;

	if (hg_device_choose(HG_DEVICE_BIT(device->shared->device_no), wanted, &device_no, error) !=
		HG_DEVICE_READY)
		return error->status != HG_OK ? error->status : HG_UNAVAILABLE;
	engine = hg_device_participants_engine(device, error);
	if (engine == NULL)
		return error->status;
	status = engine->open(engine, &device->task->host.host, spec, &device->job, error);
	if (status == HG_OK)
		hg_device_timeout_begin_work(&device->task->host);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (int i = 0; i < sides[side].npieces && status == HG_OK; i++)
		{
			const HgKeyPiece *piece = &sides[side].pieces[i];

			status = device->calls.join->append_rows(device->job, (HgSide) side, piece->keys,
													 piece->count, piece->first_row, error);
			if (status == HG_OK)
				status = hg_column_set_append(hg_device_participants_columns(device, (HgSide) side),
											  &device->calls, device->job, (HgSide) side,
											  piece->first_row, piece->count, error);
		}
	if (status == HG_OK)
		status = hg_wire_client_end_append(device->job, error);
	return status;
}

/* Returns true if the early job has the columns that are needed now. */
static bool
hg_device_participants_expects_upload(const HgDeviceParticipants *device)
{
	const HgJobColumns *uploaded = &device->shared->upload_columns;

	return (device->reduction != NULL) == uploaded->reduces &&
		   (device->gather->columns[HG_OUTER] != NULL) == uploaded->gathers[HG_OUTER] &&
		   (device->gather->columns[HG_INNER] != NULL) == uploaded->gathers[HG_INNER];
}

/*
 * Step 1 of the early attempt. An upload that has lost its job may have sent rows, which would be
 * there twice if this process began again; so that fails. One that has not asked for a job has
 * sent nothing. A process without an upload has no rows and no part in the job.
 */
static HgStatus
hg_device_participants_take_over(HgDeviceParticipants *device, const HgJobSpec *spec,
								 HgError *error)
{
	HgUpload *upload = device->task->spec.upload;

	if (!hg_device_participants_expects_upload(device))
		return hg_error_set(error, HG_UNAVAILABLE, NULL, "other columns were expected");
	if (upload == NULL)
		return HG_OK;
	if (hg_upload_is_unused(upload))
		return hg_device_participants_append(device, spec, error);
	HG_TRY(hg_upload_finish(upload, &device->task->host, device->task->sides, error));
	hg_device_timeout_begin_work(&device->task->host);
	if (hg_device_participants_engine(device, error) == NULL)
		return error->status;
	device->job = hg_upload_take_job(upload, &device->task->host.host);
	device->uploaded_rows = hg_upload_rows(upload);
	return HG_OK;
}

/*
 * Fails unless the built job has the rows of all processes. It does not if the device process was
 * lost after some processes had sent rows, and others opened the job with its successor: none of
 * them has seen a failure.
 */
static HgStatus
hg_device_participants_check_rows(HgDeviceParticipants *device, HgError *error)
{
	HgJobStats stats;

	device->calls.join->stats(device->job, &stats);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (stats.rows[side] != pg_atomic_read_u64(&device->shared->rows[side]))
			return hg_error_set(error, HG_CONNECTION_LOST, NULL,
								"the device process was replaced while rows were sent to it");
	return HG_OK;
}

/* Returns true if the rows of all processes can have this number of matches. */
static bool
hg_device_participants_can_have(HgDeviceParticipants *device, HgMatchMode mode, uint64 matches)
{
	const uint64 outer = pg_atomic_read_u64(&device->shared->rows[HG_OUTER]);
	const uint64 inner = pg_atomic_read_u64(&device->shared->rows[HG_INNER]);

	return matches <= outer * (mode == HG_MATCH_FIRST ? 1 : inner);
}

/* Counts the matches of all processes; no other process asks for any meanwhile. */
static HgStatus
hg_device_participants_count(HgDeviceParticipants *device, HgMatchMode mode, uint64 *matches,
							 HgError *error)
{
	HgJobStats before;
	HgJobStats after;
	HgStatus status;

	device->calls.join->stats(device->job, &before);
	status = device->calls.join->count(device->job, mode, matches, error);
	device->calls.join->stats(device->job, &after);
	if (status == HG_OK && (after.matches - before.matches != *matches ||
							!hg_device_participants_can_have(device, mode, *matches)))
		return hg_device_distrust(device->shared->device_no, error);
	return status;
}

/* Step 2, by the process that comes first: builds, and reduces or counts the matches of all. */
static HgStatus
hg_device_participants_build(HgDeviceParticipants *device, HgError *error)
{
	const HgMatcherSpec *spec = &device->task->spec;
	const uint64 most = device->task->participants.spec.match_bytes / (2 * sizeof(uint32));
	HgDeviceAttempt *attempt = device->attempt;
	uint32 none = 0;
	HgStatus status;

	if (!pg_atomic_compare_exchange_u32(&attempt->asked, &none, 1))
		return HG_OK;
	status = device->calls.join->build(device->job, error);
	if (status == HG_OK)
		status = hg_device_participants_check_rows(device, error);
	if (status == HG_OK && device->reduction != NULL)
	{
		status = hg_reduction_fetch(device->reduction, &device->calls, device->job, spec->mode,
									device->task->context, &device->groups, error);
		if (status == HG_OK &&
			!hg_device_participants_can_have(device, spec->mode, device->groups.pairs))
			return hg_device_distrust(device->shared->device_no, error);
		attempt->reduced = status == HG_OK && !device->groups.too_many;
	}
	if (status != HG_OK || attempt->reduced)
		return status;
	status = hg_device_participants_count(device, spec->mode, &attempt->matches, error);
	if (status != HG_OK || spec->counted || attempt->matches <= most)
		return status;
	if (hg_backend != HG_BACKEND_CUDA)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL,
							"the matches of the join need more than work memory");
	attempt->streamed = true;
	return HG_OK;
}

/*
 * Fetches a chunk of at most limit matches into the list; *count is 0 at the end. If the processes
 * have fetched more than were counted, the device process has lied.
 */
static HgStatus
hg_device_participants_fetch_chunk(HgDeviceParticipants *device, uint64 limit, size_t *count,
								   HgError *error)
{
	const uint64 most = (device->attempt->streamed ? HG_STREAM_BYTES : HG_FETCH_BYTES) /
						hg_gather_match_bytes(device->gather);
	/* a block is never larger than the limit */
	HgMatchBlock *block = hg_match_list_reserve(&device->fetched, Min(most, limit));
	HgMatches chunk;
	HgStatus status;

	hg_match_block_rest(block, device->gather, &chunk);
	status = device->calls.join->next(device->job, &chunk, error);
	*count = status == HG_OK ? chunk.count : 0;
	if (*count > 0)
		hg_match_block_add(block, device->gather, &chunk);
	if (pg_atomic_add_fetch_u64(&device->attempt->fetched, *count) > device->attempt->matches)
		return hg_device_distrust(device->shared->device_no, error);
	return status;
}

/* Returns true if all processes together have fetched what was counted; all find the same. */
static bool
hg_device_participants_has_all(HgDeviceParticipants *device)
{
	if (device->attempt->streamed ||
		pg_atomic_read_u64(&device->attempt->fetched) == device->attempt->matches)
		return true;
	/* the process that was lied to is unknown */
	hg_device_distrust(device->shared->device_no, &device->failure);
	return false;
}

/*
 * Step 3: begins to fetch matches and, unless streamed, fetches this process's share of them. The
 * shares are equal, because a plan above the join has as much to do for each match.
 */
static HgStatus
hg_device_participants_fetch(HgDeviceParticipants *device, HgMatchMode mode, HgError *error)
{
	const uint64 n = pg_atomic_read_u32(&device->attempt->nparticipants);
	uint64 left = device->attempt->streamed ? 0 : (device->attempt->matches + n - 1) / n;
	HgStatus status;
	size_t count = 1;

	/* all processes add themselves before any of them reaches its end */
	if (device->attempt->streamed)
		pg_atomic_fetch_add_u32(&device->attempt->streaming, 1);
	/* all rows of all processes are there */
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_wire_client_number(device->job, (HgSide) side,
							  device->task->participants.spec.numbers(
								  device->task->participants.spec.arg, (HgSide) side));
	status = device->calls.join->match(device->job, mode, error);

	while (status == HG_OK && count > 0 && left > 0)
	{
		status = hg_device_participants_fetch_chunk(device, left, &count, error);
		left -= Min(left, count);
	}
	/* whoever may have fetched the last match checks that there are no more */
	if (status == HG_OK && !device->attempt->streamed && count > 0 &&
		pg_atomic_read_u64(&device->attempt->fetched) >= device->attempt->matches)
		status = hg_device_participants_fetch_chunk(device, 1, &count, error);
	return status;
}

/* Does all remaining steps of an attempt; false if one has failed for any process. */
static bool
hg_device_participants_steps(HgDeviceParticipants *device, HgDeviceTry number,
							 const HgJobSpec *job_spec)
{
	const HgMatcherSpec *spec = &device->task->spec;
	HgDeviceParticipantsShared *shared = device->shared;
	const bool uploaded = number == HG_TRY_UPLOADED;
	/* then no process can fail at step 1 */
	const bool all_uploaded = uploaded && hg_device_participants_expects_upload(device) &&
							  pg_atomic_read_u32(&shared->unfinished) == 0;
	HgStatus status = HG_OK;
	HgError error;

	device->attempt = &shared->attempts[number];
	if (!hg_device_participants_is_late(device))
		status = uploaded ? hg_device_participants_take_over(device, job_spec, &error)
						  : hg_device_participants_append(device, job_spec, &error);
	if (!all_uploaded && !hg_device_participants_agree(device, HG_STEP_APPEND, status, &error))
		return false;

	/* from here on a late process has no job and only arrives */
	if (status == HG_OK && device->job != NULL)
	{
		pg_atomic_fetch_add_u32(&device->attempt->nparticipants, 1);
		status = hg_device_participants_build(device, &error);
	}
	if (!hg_device_participants_agree(device, HG_STEP_BUILD, status, &error))
		return false;
	if (device->attempt->reduced || spec->counted)
		return true;
	/* if work memory cannot hold the matches, no values are fetched */
	hg_gather_limit(device->gather, device->attempt->matches,
					device->task->participants.spec.match_bytes);

	if (device->job != NULL)
		status = hg_device_participants_fetch(device, spec->mode, &error);
	return hg_device_participants_agree(device, HG_STEP_FETCH, status, &error) &&
		   hg_device_participants_has_all(device);
}

/* Returns the attempt after a failed one; HG_TRIES: none. */
static HgDeviceTry
hg_device_participants_next_try(const HgDeviceParticipants *device, HgDeviceTry number,
								const HgJobSpec *job_spec)
{
	HgDeviceAttempt *attempt = device->attempt;

	if (number == HG_TRY_UPLOADED && pg_atomic_read_u32(&attempt->failed) == HG_STEP_APPEND)
		return HG_TRY_WHOLE;
	if (job_spec->sides[HG_OUTER].ncolumns + job_spec->sides[HG_INNER].ncolumns > 0 &&
		device->failure.status == HG_DEVICE_OUT_OF_MEMORY)
		return HG_TRY_KEYS;
	return HG_TRIES;
}

/* Changes a spec for the whole job, or for the attempt before, into that of an attempt. */
static void
hg_device_participants_fill_spec(HgDeviceParticipants *device, HgDeviceTry number, HgJobSpec *spec)
{
	spec->participants_id = number == HG_TRY_UPLOADED
								? device->shared->upload_job
								: device->shared->job + (number == HG_TRY_KEYS);
	if (number != HG_TRY_KEYS)
		return;
	spec->sides[HG_OUTER].ncolumns = spec->sides[HG_INNER].ncolumns = 0;
	device->reduction = NULL;
	hg_gather_forget(device->gather);
}

/* Prepares the next attempt: an answer of the device process proves that the job is gone. */
static void
hg_device_participants_make_room(HgDeviceParticipants *device)
{
	HgWireClient *client;
	HgDeviceStatus status;

	if (device->task->spec.upload != NULL)
		hg_upload_cancel(device->task->spec.upload);
	device->uploaded_rows = 0;
	client = hg_device_client(device->shared->device_no);
	if (client != NULL)
		hg_wire_client_status(client, &device->task->host.host, &status, NULL);
	hg_device_participants_arrive(device);
}

bool
hg_device_participants_join(HgDeviceParticipants *device, HgMatchTask *task,
							const HgReduction *reduction, HgGather *gather,
							const HgJobSpec *job_spec, HgError *error)
{
	HgJobSpec job = *job_spec;
	HgDeviceTry number;

	device->task = task;
	device->shared = task->spec.participants->device;
	device->reduction = reduction;
	device->gather = gather;
	device->fetched.context = task->context;
	device->fetched.gather = gather;
	number = device->shared->upload_job != 0 ? HG_TRY_UPLOADED : HG_TRY_WHOLE;
	for (;;)
	{
		bool joined;

		hg_device_participants_fill_spec(device, number, &job);
		joined = hg_device_participants_steps(device, number, &job);
		if (!joined || !device->attempt->streamed)
			hg_device_participants_close(device);
		if (joined)
		{
			hg_match_list_rewind(&device->fetched);
			return true;
		}
		hg_match_list_clear(&device->fetched);
		number = hg_device_participants_next_try(device, number, &job);
		if (number == HG_TRIES)
			break;
		hg_device_participants_make_room(device);
	}
	hg_device_discard_lost(device->shared->device_no);
	*error = device->failure;
	return false;
}

uint64
hg_device_participants_take_count(HgDeviceParticipants *device)
{
	uint32 none = 0;

	/* a late process has no number and leaves it to the others */
	if (!device->had_job || !pg_atomic_compare_exchange_u32(&device->shared->counted, &none, 1))
		return 0;
	return device->attempt->matches;
}

/* Fetches the next streamed matches in place of the last. */
static HgStatus
hg_device_participants_stream(HgDeviceParticipants *device, const HgMatchBlock **block,
							  HgError *error)
{
	size_t count;
	HgStatus status;

	if (device->job == NULL)
		return HG_OK;
	if (device->fetched.last != NULL)
		device->fetched.last->all.count = 0;
	status =
		hg_device_participants_fetch_chunk(device, Max(device->attempt->matches, 1), &count, error);
	if (count > 0)
		*block = device->fetched.last;
	/* its memory is free for others */
	else if (status == HG_OK)
	{
		hg_device_participants_close(device);
		/* the last process knows what all have fetched */
		if (pg_atomic_sub_fetch_u32(&device->attempt->streaming, 1) == 0 &&
			pg_atomic_read_u64(&device->attempt->fetched) != device->attempt->matches)
			return hg_device_distrust(device->shared->device_no, error);
	}
	return status;
}

HgStatus
hg_device_participants_next(HgDeviceParticipants *device, const HgMatchBlock **block,
							HgError *error)
{
	*block = NULL;
	if (device->attempt->streamed)
		return hg_device_participants_stream(device, block, error);
	*block = hg_match_list_next(&device->fetched);
	return HG_OK;
}

void
hg_device_participants_stats(HgDeviceParticipants *device, HgJobStats *stats)
{
	if (device->job != NULL)
		device->calls.join->stats(device->job, &device->stats);
	*stats = device->stats;
}

void
hg_device_participants_close(HgDeviceParticipants *device)
{
	HgJob *job = device->job;

	if (job == NULL)
		return;
	device->job = NULL;
	device->calls.join->stats(job, &device->stats);
	device->calls.join->close(job);
}
