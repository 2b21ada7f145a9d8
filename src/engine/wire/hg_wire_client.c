/*-------------------------------------------------------------------------
 *
 * hg_wire_client.c
 *	  A session's end of the connection to a device process.
 *
 * hg_wire.h describes messages, sequence numbers and leases of staging, hg_wire_internal.h the
 * invariants.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* F_GET_SEALS */
#endif

#include "hg_wire_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * How long a request waits for room in the socket, in all and at a time, in ms.  A process that
 * gets no CPU time reads nothing.
 */
#define HG_WIRE_ROOM_MS 1000
#define HG_WIRE_ROOM_STEP_MS 10

/* ------------------------------------------------------------------------
 * The connection
 * ------------------------------------------------------------------------ */

/* Marks the connection as lost, with a reason.  The first reason stays. */
static HgStatus
lose(HgWireClient *client, const char *detail)
{
	if (client->state != HG_WIRE_LOST)
	{
		client->state = HG_WIRE_LOST;
		hg_error_set(&client->error, HG_CONNECTION_LOST, detail,
					 "the connection to the device process was lost");
	}
	return HG_CONNECTION_LOST;
}

HgStatus
hg_wire_client_distrust(HgWireClient *client, HgError *error)
{
	client->distrusted = client->distrusted || client->state != HG_WIRE_LOST;
	lose(client, "It sent an invalid message.");
	return hg_wire_copy_error(error, &client->error);
}

bool
hg_wire_client_is_distrusted(const HgWireClient *client)
{
	return client->distrusted;
}

/* Marks the connection as lost after a failed send or receive. */
static HgStatus
lose_for_result(HgWireClient *client, HgWireResult result)
{
	switch (result)
	{
		case HG_WIRE_NONSENSE:
			return hg_wire_client_distrust(client, NULL);
		case HG_WIRE_ERROR:
			return lose(client, strerror(errno));
		case HG_WIRE_NOTHING:
			return lose(client, "It has stopped taking messages.");
		case HG_WIRE_EOF:
		case HG_WIRE_DONE:
			break;
	}
	return lose(client, "The process has ended.");
}

/* Maps the staging area behind fd, which stays the caller's. */
static bool
map_staging(HgWireClient *client, int fd, uint64_t bytes)
{
	struct stat status;
	int seals = fcntl(fd, F_GET_SEALS);
	void *mapped;

	/* without the seals the other end could shrink it under us: a SIGBUS */
	if (seals < 0 || (seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW))
		return false;
	if (bytes < HG_WIRE_STAGING_MIN || bytes > SIZE_MAX || fstat(fd, &status) != 0 ||
		(uint64_t) status.st_size != bytes)
		return false;

	mapped = mmap(NULL, (size_t) bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		return false;

	client->staging = mapped;
	client->staging_bytes = bytes;
	return true;
}

/* Takes the first message of the device process. */
static void
take_hello(HgWireClient *client, HgWireDevices *hello, int attached)
{
	if (!hg_wire_answer_take_devices(hello) || !hg_wire_answer_has_costs(&hello->costs))
	{
		hg_wire_client_distrust(client, NULL);
		return;
	}
	client->devices = *hello;
	client->costs = hello->costs;

	if (hello->error.status != HG_OK)
	{
		client->state = HG_WIRE_UNAVAILABLE;
		client->error = hello->error;
	}
	else if (hello->staging_bytes > 0 &&
			 (attached < 0 || !map_staging(client, attached, hello->staging_bytes)))
		lose(client, "Its staging area could not be used.");
	else
		client->state = HG_WIRE_READY;
}

/* Returns the type of the answer to a request. */
static HgWireType
answer_to(HgWireType request)
{
	if (request == HG_WIRE_LIST)
		return HG_WIRE_DEVICES;
	return request == HG_WIRE_STATUS ? HG_WIRE_LOAD : HG_WIRE_REPLY;
}

static HgWireAsked *
asked_at(HgWireClient *client, uint64_t sequence)
{
	return &client->asked[sequence % HG_WIRE_WAITING];
}

/* Takes the answer to the next request; returns false, with none taken, if not plausible. */
static bool
take_answer(HgWireClient *client, HgWireMessage *message)
{
	const HgWireAsked *asked = asked_at(client, client->answered + 1);
	HgRemoteJob *job = client->jobs;

	/* an answer without a request, or to another request */
	if (client->answered == client->sequence || message->header.sequence != client->answered + 1 ||
		message->header.job != asked->job ||
		message->header.type != answer_to((HgWireType) asked->type))
		return false;
	while (job != NULL && job->id != asked->job)
		job = job->next;
	if (message->header.type == HG_WIRE_DEVICES)
	{
		client->devices = message->devices;
		if (!hg_wire_answer_take_devices(&client->devices))
			return false;
	}
	/* the job may be closed by now */
	else if (message->header.type == HG_WIRE_REPLY && job != NULL)
	{
		if (!hg_wire_answer_take(job, asked, &message->reply, client->staging_bytes))
			return false;
		if (message->reply.error.status == HG_NO_REPLICA)
			client->missing = message->reply.missing;
	}
	client->answered++;
	return true;
}

/* Closes the descriptor that came with the last message, if there is one. */
static void
drop_attached(HgWireClient *client)
{
	if (client->attached >= 0)
		close(client->attached);
	client->attached = -1;
}

/* Sends a note, if there is room for it. */
static HgWireResult
send_note(const HgWireClient *client, const HgWireNote *note)
{
	HgWireMessage message;

	memset(&message.request, 0, sizeof(message.request));
	hg_wire_header(&message.header, note->type, note->job, client->sequence);
	message.request.new_replica.name = note->name;
	return hg_wire_send(client->fd, &message, -1);
}

/* Sends the notes that found no room before, as far as there is room now. */
static HgWireResult
send_notes(HgWireClient *client)
{
	HgWireResult result = HG_WIRE_DONE;
	int sent = 0;

	while (sent < client->nunsent &&
		   (result = send_note(client, &client->unsent[sent])) == HG_WIRE_DONE)
		sent++;
	client->nunsent -= sent;
	memmove(client->unsent, client->unsent + sent,
			(size_t) client->nunsent * sizeof(client->unsent[0]));
	return result;
}

/* Takes one message; returns false if there is none, or the connection is lost. */
static bool
take_message(HgWireClient *client)
{
	HgWireMessage *message = &client->message;
	HgWireResult result;

	if (client->state == HG_WIRE_LOST)
		return false;

	/* a failure shows in the receive below */
	(void) send_notes(client);
	drop_attached(client);
	result = hg_wire_receive(client->fd, message, &client->attached);
	if (result == HG_WIRE_NOTHING)
		return false;
	if (result != HG_WIRE_DONE)
	{
		/* a process without a device says so and ends: that is no loss */
		if (client->state != HG_WIRE_UNAVAILABLE)
			lose_for_result(client, result);
		return false;
	}

	if (client->state == HG_WIRE_STARTING)
	{
		if (message->header.type == HG_WIRE_HELLO)
			take_hello(client, &message->devices, client->attached);
		else
			hg_wire_client_distrust(client, NULL);
	}
	else if (!take_answer(client, message))
		hg_wire_client_distrust(client, NULL);
	/* this was its last answer (hg_server.c): the next request must find a new process */
	else if (message->header.type == HG_WIRE_REPLY &&
			 message->reply.error.status == HG_DEVICE_FAILED)
		lose(client, "Its device has failed.");
	return client->state != HG_WIRE_LOST;
}

HgStatus
hg_wire_client_wait(HgWireClient *client, const HgHost *host, uint64_t sequence, HgError *error)
{
	/* answers that always arrive in time must not prevent a cancellation */
	bool cancelled = client->answered < sequence && host->cancelled(host->arg);

	while (client->answered < sequence && !cancelled)
	{
		if (take_message(client) || client->answered >= sequence)
			continue;
		if (client->state == HG_WIRE_LOST)
			return hg_wire_copy_error(error, &client->error);
		cancelled = !host->wait_readable(host->arg, client->fd);
	}
	if (cancelled)
		return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
	return HG_OK;
}

/* Sends a message after the waiting notes, if there is room for all of it. */
static HgWireResult
send_behind_notes(HgWireClient *client, const HgWireMessage *message, int attached)
{
	const HgWireResult result = send_notes(client);

	return result == HG_WIRE_DONE ? hg_wire_send(client->fd, message, attached) : result;
}

/*
 * The same, waiting for room until the host cancels it.
 *
 * A socket that has neither taken nor delivered anything for HG_WIRE_ROOM_MS is lost: few messages
 * are ever under way, so the other end must have stopped reading long ago.
 */
static HgWireResult
send_in_time(HgWireClient *client, const HgHost *host, const HgWireMessage *message, int attached,
			 bool *cancelled)
{
	struct pollfd ready = {.fd = client->fd, .events = POLLIN | POLLOUT};
	HgWireResult result = send_behind_notes(client, message, attached);
	double moved_ms = hg_clock_ms();

	*cancelled = false;
	while (result == HG_WIRE_NOTHING && hg_clock_ms() - moved_ms < HG_WIRE_ROOM_MS)
	{
		const int unsent = client->nunsent;

		*cancelled = host->cancelled(host->arg);
		if (*cancelled)
			break;
		(void) poll(&ready, 1, HG_WIRE_ROOM_STEP_MS);
		/* a process that finds no room for its answers reads nothing more */
		while (take_message(client))
			moved_ms = hg_clock_ms();
		if (client->state == HG_WIRE_LOST)
			return HG_WIRE_EOF;
		result = send_behind_notes(client, message, attached);
		if (client->nunsent < unsent)
			moved_ms = hg_clock_ms();
	}
	return result;
}

HgStatus
hg_wire_client_send(HgWireClient *client, const HgHost *host, HgWireType type, uint32_t job,
					HgWireMessage *message, int attached, uint64_t width, HgError *error)
{
	HgWireResult result;
	bool cancelled;

	/* more requests can not be under way */
	if (client->state != HG_WIRE_LOST && client->sequence - client->answered == HG_WIRE_WAITING)
		lose(client, "It has stopped answering.");
	if (client->state == HG_WIRE_LOST)
		return hg_wire_copy_error(error, &client->error);
	hg_wire_header(&message->header, type, job, client->sequence + 1);
	result = send_in_time(client, host, message, attached, &cancelled);
	if (cancelled)
		return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
	if (result != HG_WIRE_DONE)
	{
		lose_for_result(client, result);
		return hg_wire_copy_error(error, &client->error);
	}
	*asked_at(client, ++client->sequence) = (HgWireAsked){.type = (uint16_t) type,
														  .side = (uint16_t) message->request.side,
														  .job = job,
														  .mode = message->request.mode,
														  .count = message->request.count,
														  .width = width};
	return HG_OK;
}

void
hg_wire_client_note(HgWireClient *client, const HgWireNote *note)
{
	HgWireResult result;

	if (client->state == HG_WIRE_LOST)
		return;
	result = send_notes(client);
	if (result == HG_WIRE_DONE)
		result = send_note(client, note);
	if (result == HG_WIRE_NOTHING && client->nunsent < HG_WIRE_UNSENT)
		client->unsent[client->nunsent++] = *note;
	else if (result != HG_WIRE_DONE)
		lose_for_result(client, result);
}

/* ------------------------------------------------------------------------
 * The client
 * ------------------------------------------------------------------------ */

HgWireClient *
hg_wire_client_connect(int fd)
{
	HgWireClient *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return NULL;
	client->fd = fd;
	client->attached = -1;
	client->state = HG_WIRE_STARTING;
	if (!hg_wire_peer_is_trusted(fd))
		lose(client, "It runs under another user id.");
	return client;
}

HgWireState
hg_wire_client_state(HgWireClient *client, HgError *error)
{
	while (take_message(client))
		;
	if (client->state == HG_WIRE_UNAVAILABLE || client->state == HG_WIRE_LOST)
		hg_wire_copy_error(error, &client->error);
	return client->state;
}

bool
hg_wire_client_awaits(const HgWireClient *client)
{
	return client->answered < client->sequence;
}

int
hg_wire_client_socket(const HgWireClient *client)
{
	return client->fd;
}

HgStatus
hg_wire_client_check(HgWireClient *client, HgError *error)
{
	switch (hg_wire_client_state(client, error))
	{
		case HG_WIRE_READY:
			return HG_OK;
		case HG_WIRE_STARTING:
			return hg_error_set(error, HG_UNAVAILABLE, NULL,
								"the device process is still starting");
		case HG_WIRE_UNAVAILABLE:
			return HG_UNAVAILABLE;
		case HG_WIRE_LOST:
			break;
	}
	return HG_CONNECTION_LOST;
}

/* Sends a request that belongs to no job, and waits for its answer. */
static HgStatus
ask(HgWireClient *client, const HgHost *host, HgWireType request, HgError *error)
{
	HgWireMessage message;

	HG_TRY(hg_wire_client_check(client, error));
	memset(&message, 0, sizeof(message));
	HG_TRY(hg_wire_client_send(client, host, request, 0, &message, -1, 0, error));
	return hg_wire_client_wait(client, host, client->sequence, error);
}

HgStatus
hg_wire_client_devices(HgWireClient *client, const HgHost *host, HgDeviceInfo *infos, int capacity,
					   int *count, HgError *error)
{
	*count = 0;
	HG_TRY(ask(client, host, HG_WIRE_LIST, error));
	if (client->devices.error.status != HG_OK)
		return hg_wire_copy_error(error, &client->devices.error);

	*count = (int) client->devices.count < capacity ? (int) client->devices.count : capacity;
	memcpy(infos, client->devices.infos, (size_t) *count * sizeof(*infos));
	return HG_OK;
}

HgStatus
hg_wire_client_status(HgWireClient *client, const HgHost *host, HgDeviceStatus *status,
					  HgError *error)
{
	HgStatus asked = ask(client, host, HG_WIRE_STATUS, error);

	if (asked == HG_OK)
		*status = client->message.status.status;
	return asked;
}

void
hg_wire_client_drop(HgWireClient *client, const HgReplicaName *name)
{
	/* serial 0 is no replica, and naming it would end the connection */
	if (name->serial != 0 && hg_wire_client_check(client, NULL) == HG_OK)
		hg_wire_client_note(client, &(HgWireNote){.type = HG_WIRE_DROP, .name = *name});
}

const HgMissingReplicas *
hg_wire_client_missing(const HgWireClient *client)
{
	return &client->missing;
}

const HgEngineCosts *
hg_wire_client_costs(const HgWireClient *client)
{
	return &client->costs;
}

void
hg_wire_client_report_job(const HgWireClient *client, const HgRemoteJob *job, int change)
{
	if (client->noted != NULL)
		client->noted(client->noted_arg, change, change * job->expected_bytes);
}

void
hg_wire_client_watch(HgWireClient *client, void (*noted)(void *arg, int jobs, int64_t bytes),
					 void *arg)
{
	client->noted = noted;
	client->noted_arg = arg;
}

void
hg_wire_client_destroy(HgWireClient *client)
{
	for (HgRemoteJob *job = client->jobs; job != NULL; job = job->next)
	{
		hg_wire_client_report_job(client, job, -1);
		job->client = NULL;
		job->past = client;
	}
	if (client->staging != NULL)
		munmap(client->staging, (size_t) client->staging_bytes);
	drop_attached(client);
	close(client->fd);
	/* its engine is still called for orphans */
	if (client->jobs == NULL)
		free(client);
}
