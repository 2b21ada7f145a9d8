/*-------------------------------------------------------------------------
 *
 * hg_server_room.c
 *	  A job's lease, its room for results, and memory for its rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_server_internal.h"
#include "hg_server_participants.h"

bool
hg_server_room_in_lease(const HgServerJob *job, const HgWireRequest *request, uint64_t count,
						uint64_t width)
{
	const HgQueuePart *lease = &job->entry.part;

	return request->offset % 8 == 0 && request->offset >= lease->offset &&
		   request->offset - lease->offset <= lease->bytes &&
		   count <= (lease->bytes - (request->offset - lease->offset)) / width;
}

HgStatus
hg_server_room_take(HgServerJob *job, uint64_t bytes, unsigned char **results, HgError *error)
{
	HgServerSession *session = job->session;
	const HgQueueWaiter waiter = hg_server_job_waiter(job);
	HgStatus status =
		hg_server_queue_take_room(session->queue, &session->results, bytes, &waiter, error);

	if (status == HG_OK)
		*results = session->config->staging + session->results.part.offset;
	return status;
}

void
hg_server_room_answer(HgServerSession *session, HgStatus status, HgWireReply *reply)
{
	if (status == HG_OK && reply->count > 0)
	{
		reply->lease_offset = session->results.part.offset;
		reply->lease_bytes = session->results.part.bytes;
	}
	else if (status != HG_DEVICE_FAILED)
		hg_server_queue_release_room(session->queue, &session->results);
}

/* Returns the device memory that a job needs with so many rows, if they are more than expected. */
static uint64_t
bytes_with(const HgServerConfig *config, HgJobSpec spec, const uint64_t rows[2])
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (rows[side] > spec.expected_rows[side])
			spec.expected_rows[side] = rows[side];
	return config->job_bytes(config->arg, &spec);
}

/* Stores the rows of a job's sides, appended or with reserved memory. */
static void
rows_so_far(const HgServerJob *job, uint64_t rows[2])
{
	HgJobStats stats;

	job->engine->stats(job->job, &stats);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		rows[side] =
			stats.rows[side] > job->reserved[side] ? stats.rows[side] : job->reserved[side];
}

/* Reserves memory for wanted rows of a side, if they exceed the expected ones and rows[side]. */
static HgStatus
grow(HgServerJob *job, HgSide side, const HgJobSpec *spec, uint64_t rows[2], uint64_t wanted,
	 HgError *error)
{
	const HgServerConfig *config = job->session->config;
	uint64_t before;
	uint64_t after;

	if (wanted <= spec->expected_rows[side] || wanted <= rows[side])
		return HG_OK;
	before = bytes_with(config, *spec, rows);
	rows[side] = wanted;
	after = bytes_with(config, *spec, rows);
	job->reserved[side] = wanted;
	if (after <= before)
		return HG_OK;
	return hg_server_queue_grow(job->session->queue, &job->entry, after - before, error);
}

HgStatus
hg_server_room_reserve_rows(HgServerJob *job, HgSide side, uint64_t count, HgError *error)
{
	HgJobSpec spec = job->spec;
	uint64_t rows[2];
	uint64_t wanted;

	if (spec.participants_id != 0)
	{
		/* each participant starts from what the one before announced: no row is reserved twice */
		HgStatus status =
			hg_server_participants_announce(job->job, side, count, &spec, rows, &wanted, error);

		if (status != HG_OK)
			return status;
	}
	else
	{
		HgJobStats stats;

		job->engine->stats(job->job, &stats);
		wanted = stats.rows[side] + count;
		rows_so_far(job, rows);
	}
	return grow(job, side, &spec, rows, wanted, error);
}

HgStatus
hg_server_room_reserve_arrivals(HgServerJob *job, HgSide side, uint64_t count, HgError *error)
{
	uint64_t rows[2];

	rows_so_far(job, rows);
	return grow(job, side, &job->spec, rows, count, error);
}
