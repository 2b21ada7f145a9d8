/*-------------------------------------------------------------------------
 *
 * hg_wire_client.c
 *	  The remote engine: forwards every call to a device process.
 *
 * hg_wire.h describes the messages, the sequence numbers and the staging slots.
 * What always holds here:
 *
 * - answered <= sequence: requests answered and sent.  Answers arrive in order, so
 *	 one number says which slots are free.
 * - A job's own failure (status and error of any answer, an append's that nobody
 *	 waited for too) is kept in the job and given to every later call on it.
 * - A failure of the connection is kept in the client and given to every later
 *	 call on any job.
 * - Nothing waits but wait_for_answer(), and that only through host->wait_readable;
 *	 it polls cancelled() once for each wait.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* F_GET_SEALS */
#endif

#include "hg_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLOTS 2

typedef struct RemoteJob RemoteJob;

struct RemoteJob
{
	HgWireClient *client; /* NULL once the client was destroyed */
	RemoteJob *next;
	const HgHost *host;
	uint32_t id;
	uint32_t key_width;
	uint64_t rows[2]; /* sent so far, by HgSide */
	bool built;
	HgError failure;  /* status HG_OK while all is well */
	HgJobStats stats; /* as of the last answer */
};

struct HgWireClient
{
	HgEngine engine; /* first: engine calls get its address */
	int fd;
	HgWireState state;
	HgError error; /* why, for UNAVAILABLE and LOST */

	unsigned char *staging;
	uint64_t staging_bytes;
	uint64_t slot_bytes;
	uint64_t slot_sequence[SLOTS]; /* the last request that named the slot */
	unsigned next_slot;

	uint64_t sequence; /* of the last request sent */
	uint64_t answered; /* of the last answer received */
	uint32_t last_job;
	RemoteJob *jobs;

	HgWireMessage message; /* the last message received */
	HgWireDevices devices; /* the last list of devices received */
};

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

static HgStatus
lose_for_nonsense(HgWireClient *client)
{
	return lose(client, "It sent a message that this version does not understand.");
}

/* What a failed send or receive does to the connection. */
static HgStatus
lose_for_result(HgWireClient *client, HgWireResult result)
{
	switch (result)
	{
		case HG_WIRE_NONSENSE:
			return lose_for_nonsense(client);
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

static HgStatus
copy_error(HgError *to, const HgError *from)
{
	if (to != NULL)
		*to = *from;
	return from->status;
}

/* A received error: its texts need not end in a zero byte. */
static void
terminate_error(HgError *error)
{
	error->message[sizeof(error->message) - 1] = '\0';
	error->detail[sizeof(error->detail) - 1] = '\0';
}

static void
terminate_devices(HgWireDevices *devices)
{
	terminate_error(&devices->error);
	for (uint32_t i = 0; i < devices->count; i++)
	{
		HgDeviceInfo *info = &devices->infos[i];

		info->name[sizeof(info->name) - 1] = '\0';
		info->state[sizeof(info->state) - 1] = '\0';
	}
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
	client->slot_bytes = bytes / SLOTS / 4096 * 4096;
	if (client->slot_bytes > HG_WIRE_SLOT_MAX)
		client->slot_bytes = HG_WIRE_SLOT_MAX;
	return true;
}

/* The first message of the device process. */
static void
take_hello(HgWireClient *client, HgWireDevices *hello, int attached)
{
	if (hello->count > HG_WIRE_MAX_DEVICES)
	{
		lose_for_nonsense(client);
		return;
	}
	terminate_devices(hello);
	client->devices = *hello;

	if (hello->error.status != HG_OK)
	{
		client->state = HG_WIRE_UNAVAILABLE;
		client->error = hello->error;
		client->error.status = HG_UNAVAILABLE;
	}
	else if (attached < 0 || !map_staging(client, attached, hello->staging_bytes))
		lose(client, "Its staging area could not be used.");
	else
		client->state = HG_WIRE_READY;
}

/* The answer to a request that somebody may or may not be waiting for. */
static void
take_reply(HgWireClient *client, HgWireReply *reply)
{
	terminate_error(&reply->error);
	for (RemoteJob *job = client->jobs; job != NULL; job = job->next)
	{
		if (job->id != reply->header.job)
			continue;
		job->stats = reply->stats;
		if (reply->error.status != HG_OK && job->failure.status == HG_OK)
			job->failure = reply->error;
		return;
	}
}

/*
 * Take in one message, if one is there.  Returns false where there is none, or the
 * connection is lost.
 */
static bool
take_message(HgWireClient *client)
{
	HgWireMessage *message = &client->message;
	int attached;
	HgWireResult result;

	if (client->state == HG_WIRE_LOST)
		return false;

	result = hg_wire_receive(client->fd, message, &attached);
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
			take_hello(client, &message->devices, attached);
		else
			lose_for_nonsense(client);
	}
	else if (client->answered == client->sequence ||
			 message->header.sequence != client->answered + 1)
		lose_for_nonsense(client); /* nobody asked */
	else if (message->header.type == HG_WIRE_REPLY)
	{
		client->answered++;
		take_reply(client, &message->reply);
	}
	else if (message->header.type == HG_WIRE_DEVICES &&
			 message->devices.count <= HG_WIRE_MAX_DEVICES)
	{
		client->answered++;
		terminate_devices(&message->devices);
		client->devices = message->devices;
	}
	else
		lose_for_nonsense(client);

	if (attached >= 0)
		close(attached);
	return client->state != HG_WIRE_LOST;
}

/*
 * Wait until the answer to request sequence has come.  HG_OK says nothing about the
 * answer itself, which is in client->message when it was the last one sent.
 */
static HgStatus
wait_for_answer(HgWireClient *client, const HgHost *host, uint64_t sequence, HgError *error)
{
	/* an answer that is always there in time must not keep a cancellation out */
	bool cancelled = client->answered < sequence && host->cancelled(host->arg);

	while (client->answered < sequence && !cancelled)
	{
		if (take_message(client))
			continue;
		if (client->state == HG_WIRE_LOST)
			return copy_error(error, &client->error);
		cancelled = !host->wait_readable(host->arg, client->fd);
	}
	if (cancelled)
		return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
	return HG_OK;
}

/*
 * Send a request or a note.  A socket that takes nothing more is a lost one: few
 * messages are ever under way, so the other end must have stopped reading long ago.
 */
static HgStatus
send_message(HgWireClient *client, HgWireType type, uint32_t job, HgWireMessage *message)
{
	HgWireResult result;
	bool is_note = type == HG_WIRE_CANCEL || type == HG_WIRE_CLOSE;

	if (client->state == HG_WIRE_LOST)
		return HG_CONNECTION_LOST;
	hg_wire_header(&message->header, type, job, client->sequence + (is_note ? 0 : 1));
	result = hg_wire_send(client->fd, message, -1);
	if (result != HG_WIRE_DONE)
		return lose_for_result(client, result);
	if (!is_note)
		client->sequence++;
	return HG_OK;
}

static void
send_note(HgWireClient *client, HgWireType type, uint32_t job)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	send_message(client, type, job, &message);
}

/* ------------------------------------------------------------------------
 * Requests of a job
 * ------------------------------------------------------------------------ */

/* May a call on this job go to the device process?  If not, why. */
static HgStatus
job_usable(RemoteJob *job, HgError *error)
{
	if (job->client == NULL)
		return hg_error_set(error, HG_CONNECTION_LOST, NULL,
							"the connection to the device process was closed");
	if (job->client->state == HG_WIRE_LOST)
		return copy_error(error, &job->client->error);
	if (job->failure.status != HG_OK)
		return copy_error(error, &job->failure);
	return HG_OK;
}

/* Give the job up after a wait that was cancelled. */
static HgStatus
job_cancel(RemoteJob *job, HgError *error)
{
	HgStatus status = hg_error_set(&job->failure, HG_CANCELLED, NULL, "the join was cancelled");

	send_note(job->client, HG_WIRE_CANCEL, job->id);
	copy_error(error, &job->failure);
	return status;
}

/* wait_for_answer, and what its failure does to the job. */
static HgStatus
job_wait(RemoteJob *job, uint64_t sequence, HgError *error)
{
	HgStatus status = wait_for_answer(job->client, job->host, sequence, error);

	if (status == HG_CANCELLED)
		return job_cancel(job, error);
	if (status == HG_OK && job->failure.status != HG_OK)
		return copy_error(error, &job->failure);
	return status;
}

/* Send a request.  Its sequence number is then client->sequence. */
static HgStatus
job_send(RemoteJob *job, HgWireType type, HgWireMessage *message, HgError *error)
{
	HgStatus status = send_message(job->client, type, job->id, message);

	if (status != HG_OK)
		copy_error(error, &job->client->error);
	return status;
}

/*
 * Send a request and wait for its answer, whose failure is this call's.  On HG_OK
 * the answer is in client->message.reply.
 */
static HgStatus
job_ask(RemoteJob *job, HgWireType type, HgWireMessage *message, HgError *error)
{
	HgWireClient *client = job->client;
	HgStatus status = job_send(job, type, message, error);

	if (status == HG_OK)
		status = job_wait(job, client->sequence, error);
	if (status == HG_OK && client->message.header.type != HG_WIRE_REPLY)
	{
		lose_for_nonsense(client);
		status = copy_error(error, &client->error);
	}

	/* a question that makes no sense has been answered, and does no harm to the job */
	if (status == HG_INVALID)
		job->failure.status = HG_OK;
	return status;
}

/* Wait for the next slot to be free.  The caller names it in its next request. */
static HgStatus
job_take_slot(RemoteJob *job, unsigned *slot, HgError *error)
{
	HgWireClient *client = job->client;
	unsigned taken = client->next_slot;
	HgStatus status = job_wait(job, client->slot_sequence[taken], error);

	if (status == HG_OK)
	{
		client->next_slot = (taken + 1) % SLOTS;
		client->slot_sequence[taken] = client->sequence + 1;
		*slot = taken;
	}
	return status;
}

/* ------------------------------------------------------------------------
 * The engine
 * ------------------------------------------------------------------------ */

static void remote_close(HgJob *handle);

static HgStatus
remote_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **handle,
			HgError *error)
{
	HgWireClient *client = (HgWireClient *) engine;
	HgWireMessage message;
	RemoteJob *job;
	HgStatus status;

	switch (hg_wire_client_state(client, error))
	{
		case HG_WIRE_READY:
			break;
		case HG_WIRE_STARTING:
			return hg_error_set(error, HG_UNAVAILABLE, NULL,
								"the device process is still starting");
		case HG_WIRE_UNAVAILABLE:
			return HG_UNAVAILABLE;
		case HG_WIRE_LOST:
			return HG_CONNECTION_LOST;
	}

	job = calloc(1, sizeof(*job));
	if (job == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	job->client = client;
	job->host = host;
	job->key_width = spec->key_width;
	job->id = ++client->last_job;
	job->next = client->jobs;
	client->jobs = job;

	memset(&message, 0, sizeof(message));
	message.request.spec = *spec;
	status = job_ask(job, HG_WIRE_OPEN, &message, error);
	if (status != HG_OK)
	{
		remote_close((HgJob *) job);
		return status;
	}
	*handle = (HgJob *) job;
	return HG_OK;
}

static HgStatus
remote_append(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	RemoteJob *job = (RemoteJob *) handle;
	const unsigned char *from = keys;
	HgStatus status = job_usable(job, error);

	/* what the engine would refuse must be told now: its answer comes too late for us */
	if (status != HG_OK)
		return status;
	if (side != HG_OUTER && side != HG_INNER)
		return hg_error_set(error, HG_INVALID, NULL, "there is no such side");
	if (job->built)
		return hg_error_set(error, HG_INVALID, NULL, "keys can not be appended after build");
	if (count > HG_MAX_ROWS - job->rows[side])
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in one side of a join");
	job->rows[side] += count;

	while (status == HG_OK && count > 0)
	{
		HgWireClient *client = job->client;
		uint64_t piece = client->slot_bytes / job->key_width;
		HgWireMessage message;
		unsigned slot;

		if (piece > count)
			piece = count;
		status = job_take_slot(job, &slot, error);
		if (status != HG_OK)
			break;

		memset(&message, 0, sizeof(message));
		message.request.side = (uint32_t) side;
		message.request.offset = slot * client->slot_bytes;
		message.request.count = piece;
		memcpy(client->staging + message.request.offset, from, (size_t) (piece * job->key_width));

		/* not waited for: the next piece is copied while this one travels on */
		status = job_send(job, HG_WIRE_APPEND, &message, error);
		from += piece * job->key_width;
		count -= piece;
	}
	return status;
}

/* A request that carries no more than these two numbers. */
static HgStatus
remote_ask(RemoteJob *job, HgWireType type, uint32_t side, uint32_t mode, HgError *error)
{
	HgWireMessage message;
	HgStatus status = job_usable(job, error);

	if (status != HG_OK)
		return status;
	memset(&message, 0, sizeof(message));
	message.request.side = side;
	message.request.mode = mode;
	return job_ask(job, type, &message, error);
}

static HgStatus
remote_build(HgJob *handle, HgError *error)
{
	RemoteJob *job = (RemoteJob *) handle;
	HgStatus status = remote_ask(job, HG_WIRE_BUILD, 0, 0, error);

	job->built = status == HG_OK;
	return status;
}

static HgStatus
remote_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	return remote_ask((RemoteJob *) handle, HG_WIRE_MATCH, 0, (uint32_t) mode, error);
}

static HgStatus
remote_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	RemoteJob *job = (RemoteJob *) handle;
	HgWireClient *client = job->client;
	HgWireMessage message;
	HgWireReply *reply;
	const unsigned char *pairs;
	uint64_t capacity = matches->capacity;
	size_t bytes;
	unsigned slot;
	HgStatus status = job_usable(job, error);

	matches->count = 0;
	if (status == HG_OK && capacity == 0)
		status = hg_error_set(error, HG_INVALID, NULL, "a chunk of matches needs room for one");
	if (status == HG_OK)
		status = job_take_slot(job, &slot, error);
	if (status != HG_OK)
		return status;

	if (capacity > client->slot_bytes / (2 * sizeof(uint32_t)))
		capacity = client->slot_bytes / (2 * sizeof(uint32_t));
	memset(&message, 0, sizeof(message));
	message.request.offset = slot * client->slot_bytes;
	message.request.count = capacity;
	status = job_ask(job, HG_WIRE_NEXT, &message, error);
	if (status != HG_OK)
		return status;

	reply = &client->message.reply;
	if (reply->count > capacity)
	{
		lose_for_nonsense(client);
		return copy_error(error, &client->error);
	}
	pairs = client->staging + message.request.offset;
	bytes = (size_t) reply->count * sizeof(uint32_t);
	memcpy(matches->outer, pairs, bytes);
	memcpy(matches->inner, pairs + capacity * sizeof(uint32_t), bytes);
	matches->count = (size_t) reply->count;
	return HG_OK;
}

static HgStatus
remote_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	RemoteJob *job = (RemoteJob *) handle;
	HgStatus status = remote_ask(job, HG_WIRE_COUNT, 0, (uint32_t) mode, error);

	if (status == HG_OK)
		*matches = job->client->message.reply.count;
	return status;
}

static HgStatus
remote_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	RemoteJob *job = (RemoteJob *) handle;
	HgStatus status = remote_ask(job, HG_WIRE_DESCRIBE, (uint32_t) side, 0, error);

	if (status == HG_OK)
		*stats = job->client->message.reply.graph;
	return status;
}

/* Fetch one array of a graph, in pieces of a slot. */
static HgStatus
fetch_part(RemoteJob *job, HgSide side, HgWirePart part, uint64_t count, size_t width, void *array,
		   HgError *error)
{
	HgWireClient *client = job->client;
	unsigned char *to = array;
	uint64_t first = 0;
	HgStatus status = HG_OK;

	/* also when there is nothing to fetch, ask: the side may have no graph */
	do
	{
		HgWireMessage message;
		uint64_t piece = client->slot_bytes / width;
		unsigned slot;

		if (piece > count - first)
			piece = count - first;
		status = job_take_slot(job, &slot, error);
		if (status != HG_OK)
			break;

		memset(&message, 0, sizeof(message));
		message.request.side = (uint32_t) side;
		message.request.part = (uint32_t) part;
		message.request.offset = slot * client->slot_bytes;
		message.request.first = first;
		message.request.count = piece;
		status = job_ask(job, HG_WIRE_EXPORT, &message, error);
		if (status != HG_OK)
			break;
		memcpy(to + first * width, client->staging + message.request.offset,
			   (size_t) (piece * width));
		first += piece;
	} while (first < count);
	return status;
}

static HgStatus
remote_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
					uint32_t *edge_rows, HgError *error)
{
	RemoteJob *job = (RemoteJob *) handle;
	HgStatus status = job_usable(job, error);

	if (status != HG_OK)
		return status;
	if (side != HG_OUTER && side != HG_INNER)
		return hg_error_set(error, HG_INVALID, NULL, "there is no such side");

	status = fetch_part(job, side, HG_WIRE_OFFSETS, job->stats.vertices + 1, sizeof(uint32_t),
						offsets, error);
	if (status == HG_OK)
		status = fetch_part(job, side, HG_WIRE_EDGE_KEYS, job->stats.rows[side], job->key_width,
							edge_keys, error);
	if (status == HG_OK)
		status = fetch_part(job, side, HG_WIRE_EDGE_ROWS, job->stats.rows[side], sizeof(uint32_t),
							edge_rows, error);
	return status;
}

static void
remote_stats(HgJob *handle, HgJobStats *stats)
{
	*stats = ((RemoteJob *) handle)->stats;
}

static void
remote_close(HgJob *handle)
{
	RemoteJob *job = (RemoteJob *) handle;
	HgWireClient *client = job->client;

	if (client != NULL)
	{
		RemoteJob **link = &client->jobs;

		while (*link != job)
			link = &(*link)->next;
		*link = job->next;
		send_note(client, HG_WIRE_CLOSE, job->id);
	}
	free(job);
}

/* ------------------------------------------------------------------------
 * The client
 * ------------------------------------------------------------------------ */

HgWireClient *
hg_wire_client_create(int fd)
{
	HgWireClient *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return NULL;
	client->engine = (HgEngine){
		.name = "cuda",
		.open = remote_open,
		.append = remote_append,
		.build = remote_build,
		.match = remote_match,
		.next = remote_next,
		.count = remote_count,
		.describe = remote_describe,
		.export_graph = remote_export_graph,
		.stats = remote_stats,
		.close = remote_close,
	};
	client->fd = fd;
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
		copy_error(error, &client->error);
	return client->state;
}

int
hg_wire_client_socket(const HgWireClient *client)
{
	return client->fd;
}

HgStatus
hg_wire_client_devices(HgWireClient *client, const HgHost *host, HgDeviceInfo *infos, int capacity,
					   int *count, HgError *error)
{
	HgWireMessage message;
	HgStatus status;

	*count = 0;
	switch (hg_wire_client_state(client, error))
	{
		case HG_WIRE_READY:
			break;
		case HG_WIRE_STARTING:
			return hg_error_set(error, HG_UNAVAILABLE, NULL,
								"the device process is still starting");
		case HG_WIRE_UNAVAILABLE:
			return HG_UNAVAILABLE;
		case HG_WIRE_LOST:
			return HG_CONNECTION_LOST;
	}

	memset(&message, 0, sizeof(message));
	status = send_message(client, HG_WIRE_LIST, 0, &message);
	if (status != HG_OK)
		return copy_error(error, &client->error);
	status = wait_for_answer(client, host, client->sequence, error);
	if (status != HG_OK)
		return status;
	if (client->message.header.type != HG_WIRE_DEVICES)
	{
		lose_for_nonsense(client);
		return copy_error(error, &client->error);
	}
	if (client->devices.error.status != HG_OK)
		return copy_error(error, &client->devices.error);

	*count = (int) client->devices.count < capacity ? (int) client->devices.count : capacity;
	memcpy(infos, client->devices.infos, (size_t) *count * sizeof(*infos));
	return HG_OK;
}

HgEngine *
hg_wire_client_engine(HgWireClient *client)
{
	return &client->engine;
}

void
hg_wire_client_destroy(HgWireClient *client)
{
	for (RemoteJob *job = client->jobs; job != NULL;)
	{
		RemoteJob *next = job->next;

		job->client = NULL;
		job = next;
	}
	if (client->staging != NULL)
		munmap(client->staging, (size_t) client->staging_bytes);
	close(client->fd);
	free(client);
}
