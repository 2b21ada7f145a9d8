/*-------------------------------------------------------------------------
 *
 * hg_wire_job.c
 *	  Common parts of the calls of a job: requests, answers, close.
 *
 * hg_wire.h describes messages, sequence numbers and leases of staging, hg_wire_internal.h the
 * invariants.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_wire_internal.h"

#include <stdlib.h>
#include <string.h>

void
hg_wire_job_note(HgWireClient *client, HgWireType type, uint32_t job)
{
	hg_wire_client_note(client, &(HgWireNote){.type = type, .job = job});
}

HgStatus
hg_wire_job_usable(HgRemoteJob *job, HgError *error)
{
	if (job->client == NULL)
		return hg_error_set(error, HG_CONNECTION_LOST, NULL,
							"the connection to the device process was closed");
	if (job->client->state == HG_WIRE_LOST)
		return hg_wire_copy_error(error, &job->client->error);
	if (job->failure.status != HG_OK)
		return hg_wire_copy_error(error, &job->failure);
	return HG_OK;
}

HgStatus
hg_wire_job_joins(HgRemoteJob *job, HgError *error)
{
	HG_TRY(hg_wire_job_usable(job, error));
	if (hg_replica_is_made(&job->spec))
		return hg_error_set(error, HG_INVALID, NULL, "the job joins nothing");
	return HG_OK;
}

/* Cancels the job after a wait that was cancelled. */
static HgStatus
job_cancel(HgRemoteJob *job, HgError *error)
{
	HgStatus status = hg_error_set(&job->failure, HG_CANCELLED, NULL, "the join was cancelled");

	hg_wire_job_note(job->client, HG_WIRE_CANCEL, job->id);
	hg_wire_copy_error(error, &job->failure);
	return status;
}

HgStatus
hg_wire_job_wait(HgRemoteJob *job, uint64_t sequence, HgError *error)
{
	HgStatus status = hg_wire_client_wait(job->client, job->host, sequence, error);

	if (status == HG_CANCELLED)
		return job_cancel(job, error);
	if (status == HG_OK && job->failure.status != HG_OK)
		return hg_wire_copy_error(error, &job->failure);
	return status;
}

/* As hg_wire_client_send, for a job: if the wait for room is cancelled, cancels the job. */
static HgStatus
send_request(HgRemoteJob *job, HgWireType type, HgWireMessage *message, int attached,
			 uint64_t width, HgError *error)
{
	const HgStatus status =
		hg_wire_client_send(job->client, job->host, type, job->id, message, attached, width, error);

	return status == HG_CANCELLED ? job_cancel(job, error) : status;
}

HgStatus
hg_wire_job_send(HgRemoteJob *job, HgWireType type, HgWireMessage *message, HgError *error)
{
	return send_request(job, type, message, -1, 0, error);
}

HgStatus
hg_wire_job_send_descriptor(HgRemoteJob *job, HgWireType type, HgWireMessage *message,
							int descriptor, HgError *error)
{
	return send_request(job, type, message, descriptor, 0, error);
}

HgStatus
hg_wire_job_ask(HgRemoteJob *job, HgWireType type, HgWireMessage *message, uint64_t width,
				HgError *error)
{
	HgStatus status = send_request(job, type, message, -1, width, error);

	if (status == HG_OK)
		status = hg_wire_job_wait(job, job->client->sequence, error);

	/* the device process has refused an invalid request, which does not harm the job */
	if (status == HG_INVALID)
		job->failure.status = HG_OK;
	return status;
}

HgStatus
hg_wire_job_ask_side(HgRemoteJob *job, HgWireType type, HgSide side, HgError *error)
{
	HgWireMessage message;

	HG_TRY(hg_wire_job_usable(job, error));
	memset(&message, 0, sizeof(message));
	message.request.side = (uint32_t) side;
	return hg_wire_job_ask(job, type, &message, 0, error);
}

/* Removes a job from the list of a client, which may be destroyed already. */
static void
take_out(HgWireClient *client, HgRemoteJob *job)
{
	HgRemoteJob **link = &client->jobs;

	while (*link != job)
		link = &(*link)->next;
	*link = job->next;
}

void
hg_wire_remote_close(HgJob *handle)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;

	if (job->client != NULL)
	{
		take_out(job->client, job);
		hg_wire_client_report_job(job->client, job, -1);
		hg_wire_job_note(job->client, HG_WIRE_CLOSE, job->id);
	}
	else
	{
		take_out(job->past, job);
		if (job->past->jobs == NULL)
			free(job->past);
	}
	free(job);
}
