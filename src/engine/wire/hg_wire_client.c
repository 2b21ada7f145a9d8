/*-------------------------------------------------------------------------
 *
 * hg_wire_client.c
 *	  A session's end of the connection to a device process.
 *
 * hg_wire.h describes the messages, the sequence numbers and the leases of staging, and
 * hg_wire_internal.h what always holds.
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
 * How long a message waits for room in the socket, and how long at a time, in ms.  A socket has
 * room for half a dozen jobs' openings, which is what a session sends that is cancelled time and
 * again, while a process that has no processor to run on reads nothing.
 */
#define HG_WIRE_ROOM_MS 1000
#define HG_WIRE_ROOM_STEP_MS 10

/* ------------------------------------------------------------------------
 * The connection
 * ------------------------------------------------------------------------ */

/* Note that the connection is of no more use, and why.  The first reason stays. */
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
	lose(client, "What it said made no sense.");
	return hg_wire_copy_error(error, &client->error);
}

bool
hg_wire_client_is_distrusted(const HgWireClient *client)
{
	return client->distrusted;
}

/* What a failed send or receive does to the connection. */
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

/* Map the staging area behind fd, which stays the caller's. */
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

/* The first message of the device process. */
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

/* The type of the answer to a request. */
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

/* The answer to the next request: take it in; false, and none has come, where it makes no sense. */
static bool
take_answer(HgWireClient *client, HgWireMessage *message)
{
	const HgWireAsked *asked = asked_at(client, client->answered + 1);
	HgRemoteJob *job = client->jobs;

	/* an answer that nobody waits for, or to something else? */
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
	else if (message->header.type == HG_WIRE_REPLY && job != NULL &&
			 !hg_wire_answer_take(job, asked, &message->reply, client->staging_bytes))
		return false;
	client->answered++;
	return true;
}

/* Nobody needs the descriptor that came with the last message. */
static void
drop_attached(HgWireClient *client)
{
	if (client->attached >= 0)
		close(client->attached);
	client->attached = -1;
}

/*
 * Take in one message, if one is there.  Returns false where there is none, or the
 * connection is lost.
 */
static bool
take_message(HgWireClient *client)
{
	HgWireMessage *message = &client->message;
	HgWireResult result;

	if (client->state == HG_WIRE_LOST)
		return false;

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
	/* this was its last answer (hg_server.c): who asks again must find a new process */
	else if (message->header.type == HG_WIRE_REPLY &&
			 message->reply.error.status == HG_DEVICE_FAILED)
		lose(client, "Its device has failed.");
	return client->state != HG_WIRE_LOST;
}

HgStatus
hg_wire_client_wait(HgWireClient *client, const HgHost *host, uint64_t sequence, HgError *error)
{
	/* an answer that is always there in time must not keep a cancellation out */
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

/* hg_wire_send, waiting for room where there is none. */
static HgWireResult
send_in_time(const HgWireClient *client, const HgWireMessage *message, int attached)
{
	struct pollfd writable = {.fd = client->fd, .events = POLLOUT};
	HgWireResult result = hg_wire_send(client->fd, message, attached);

	for (int ms = 0; result == HG_WIRE_NOTHING && ms < HG_WIRE_ROOM_MS; ms += HG_WIRE_ROOM_STEP_MS)
	{
		(void) poll(&writable, 1, HG_WIRE_ROOM_STEP_MS);
		result = hg_wire_send(client->fd, message, attached);
	}
	return result;
}

/* Send a message, with a descriptor or -1. */
static HgStatus
send_message(HgWireClient *client, HgWireType type, uint32_t job, HgWireMessage *message,
			 int attached, uint64_t width, HgError *error)
{
	bool is_note = type == HG_WIRE_CANCEL || type == HG_WIRE_CLOSE || type == HG_WIRE_RELEASE ||
				   type == HG_WIRE_DROP;

	/* more than that can't be under way: see below */
	if (client->state != HG_WIRE_LOST && client->sequence - client->answered == HG_WIRE_WAITING)
		lose(client, "It has stopped answering.");
	if (client->state != HG_WIRE_LOST)
	{
		HgWireResult result;

		/*
		 * A socket that takes nothing more in that time is a lost one: few messages are ever
		 * under way, so the other end must have stopped reading long ago.
		 */
		hg_wire_header(&message->header, type, job, client->sequence + (is_note ? 0 : 1));
		result = send_in_time(client, message, attached);
		if (result != HG_WIRE_DONE)
			lose_for_result(client, result);
		else if (!is_note)
			*asked_at(client, ++client->sequence) =
				(HgWireAsked){.type = (uint16_t) type,
							  .side = (uint16_t) message->request.side,
							  .job = job,
							  .mode = message->request.mode,
							  .count = message->request.count,
							  .width = width};
	}
	if (client->state == HG_WIRE_LOST)
		return hg_wire_copy_error(error, &client->error);
	return HG_OK;
}

HgStatus
hg_wire_client_send(HgWireClient *client, HgWireType type, uint32_t job, HgWireMessage *message,
					uint64_t width, HgError *error)
{
	return send_message(client, type, job, message, -1, width, error);
}

HgStatus
hg_wire_client_send_along(HgWireClient *client, HgWireType type, uint32_t job,
						  HgWireMessage *message, int attached, HgError *error)
{
	return send_message(client, type, job, message, attached, 0, error);
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

/* Send a request that belongs to no job, and wait for its answer. */
static HgStatus
ask(HgWireClient *client, const HgHost *host, HgWireType request, HgError *error)
{
	HgWireMessage message;
	HgStatus status = hg_wire_client_check(client, error);

	if (status != HG_OK)
		return status;
	memset(&message, 0, sizeof(message));
	status = hg_wire_client_send(client, request, 0, &message, 0, error);
	if (status == HG_OK)
		status = hg_wire_client_wait(client, host, client->sequence, error);
	return status;
}

HgStatus
hg_wire_client_devices(HgWireClient *client, const HgHost *host, HgDeviceInfo *infos, int capacity,
					   int *count, HgError *error)
{
	HgStatus status = ask(client, host, HG_WIRE_LIST, error);

	*count = 0;
	if (status != HG_OK)
		return status;
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
hg_wire_client_drop(HgWireClient *client, const HgKeptName *name)
{
	HgWireMessage message;

	/* 0 is nobody's, and whoever names it is cut off */
	if (name->serial == 0 || hg_wire_client_check(client, NULL) != HG_OK)
		return;
	memset(&message, 0, sizeof(message));
	message.request.keep.name = *name;
	hg_wire_client_send(client, HG_WIRE_DROP, 0, &message, 0, NULL);
}

const HgEngineCosts *
hg_wire_client_costs(const HgWireClient *client)
{
	return &client->costs;
}

void
hg_wire_client_tell(const HgWireClient *client, const HgRemoteJob *job, int change)
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
		hg_wire_client_tell(client, job, -1);
		job->client = NULL;
		job->past = client;
	}
	if (client->staging != NULL)
		munmap(client->staging, (size_t) client->staging_bytes);
	drop_attached(client);
	close(client->fd);
	/* its engine is called for orphans still */
	if (client->jobs == NULL)
		free(client);
}
