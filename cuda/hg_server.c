/*-------------------------------------------------------------------------
 *
 * hg_server.c
 *	  The device process's end of a connection: serves one socket.
 *
 * One thread, one request at a time: hg_wire.h describes the messages.  Nothing here
 * knows what kind of engine does the work.
 *
 * While an engine works on a request, it polls cancelled(), which looks at the
 * socket: at the end of the connection, and at a note about the job at work, which
 * can only be the next message, since the client sends nothing else while it waits.
 * (Requests to append are sent ahead, so that a note may stand behind one of these;
 * the request at work is then an append itself, and short.)  The note stays in the
 * socket and is taken out in its turn.
 *
 * A message that breaks the rules of hg_wire.h ends the process, and so does a
 * failing device, whose context is of no more use: the session that asked has had
 * its answer, and the next one starts with a new process.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Keys kept for an engine that reads them later. */
typedef struct KeptKeys
{
	struct KeptKeys *next;
	uint64_t keys[]; /* of either width */
} KeptKeys;

typedef struct Server Server;

typedef struct ServedJob
{
	struct ServedJob *next;
	Server *server;
	uint32_t id;
	uint32_t key_width;
	HgJob *job;		 /* the engine's */
	HgHost host;	 /* what the engine gets; its arg is this struct */
	HgError failure; /* status HG_OK while all is well */
	KeptKeys *kept;

	/* the graph that is being exported; arrays NULL where none is */
	HgSide exported_side;
	void *exported[3]; /* by HgWirePart */
} ServedJob;

struct Server
{
	const HgServerConfig *config;
	ServedJob *jobs;
	uint64_t sequence;		/* of the last request received */
	int idle_seconds;		/* without a job or a message */
	bool gone;				/* no more to be received or sent */
	int exit_status;		/* once gone */
	HgWireMessage received; /* the message being worked on */
	HgWireMessage answer;
};

/* ------------------------------------------------------------------------
 * What an engine is lent
 * ------------------------------------------------------------------------ */

static void *
host_alloc(void *arg, size_t bytes)
{
	size_t rounded = (bytes + 63) / 64 * 64;

	(void) arg;
	return rounded < bytes ? NULL : aligned_alloc(64, rounded > 0 ? rounded : 64);
}

static void
host_free(void *arg, void *ptr, size_t bytes)
{
	(void) arg;
	(void) bytes;
	free(ptr);
}

static bool
host_cancelled(void *arg)
{
	ServedJob *job = arg;
	Server *server = job->server;
	HgWireHeader next;

	if (server->gone)
		return true;
	switch (hg_wire_peek(server->config->socket, &next))
	{
		case HG_WIRE_NOTHING:
			return false;
		case HG_WIRE_DONE:
			return next.job == job->id &&
				   (next.type == HG_WIRE_CANCEL || next.type == HG_WIRE_CLOSE);
		case HG_WIRE_EOF:
		case HG_WIRE_NONSENSE:
		case HG_WIRE_ERROR:
			break;
	}
	return true; /* the main loop finds the same and ends */
}

/* ------------------------------------------------------------------------
 * The socket
 * ------------------------------------------------------------------------ */

static void
leave(Server *server, int exit_status)
{
	if (!server->gone)
	{
		server->gone = true;
		server->exit_status = exit_status;
	}
}

/* Send, waiting where the other end is slow to read. */
static void
send_answer(Server *server, const HgWireMessage *message, int attached)
{
	int fd = server->config->socket;

	while (!server->gone)
	{
		struct pollfd writable = {.fd = fd, .events = POLLOUT};

		switch (hg_wire_send(fd, message, attached))
		{
			case HG_WIRE_DONE:
				return;
			case HG_WIRE_NOTHING:
				if (poll(&writable, 1, -1) < 0 && errno != EINTR)
					leave(server, 1);
				break;
			case HG_WIRE_EOF:
				leave(server, 0);
				break;
			case HG_WIRE_NONSENSE:
			case HG_WIRE_ERROR:
				leave(server, 1);
				break;
		}
	}
}

static void
fill_devices(const HgServerConfig *config, HgWireDevices *devices)
{
	devices->count =
		(uint32_t) config->list_devices(config->arg, devices->infos, HG_WIRE_MAX_DEVICES);
}

static void
say_hello(Server *server)
{
	HgWireMessage *hello = &server->answer;

	memset(hello, 0, sizeof(*hello));
	hg_wire_header(&hello->header, HG_WIRE_HELLO, 0, 0);
	hello->devices.staging_bytes = server->config->staging_bytes;
	fill_devices(server->config, &hello->devices);
	send_answer(server, hello, server->config->staging_fd);
}

void
hg_server_decline(int socket, const HgError *error)
{
	HgWireMessage hello;

	memset(&hello, 0, sizeof(hello));
	hg_wire_header(&hello.header, HG_WIRE_HELLO, 0, 0);
	hello.devices.error = *error;
	hello.devices.error.status = HG_UNAVAILABLE;
	hg_wire_send(socket, &hello, -1);
}

/* ------------------------------------------------------------------------
 * Jobs
 * ------------------------------------------------------------------------ */

static ServedJob *
find_job(Server *server, uint32_t id)
{
	ServedJob *job = server->jobs;

	while (job != NULL && job->id != id)
		job = job->next;
	return job;
}

static void
drop_export(ServedJob *job)
{
	for (int part = 0; part < 3; part++)
	{
		free(job->exported[part]);
		job->exported[part] = NULL;
	}
}

static void
close_job(Server *server, ServedJob *job)
{
	ServedJob **link = &server->jobs;

	while (*link != job)
		link = &(*link)->next;
	*link = job->next;

	server->config->engine->close(job->job);
	drop_export(job);
	while (job->kept != NULL)
	{
		KeptKeys *next = job->kept->next;

		free(job->kept);
		job->kept = next;
	}
	free(job);
}

/* Do count elements of width bytes from offset on lie within staging? */
static bool
within_staging(const Server *server, uint64_t offset, uint64_t count, uint64_t width)
{
	uint64_t bytes = server->config->staging_bytes;

	return offset % 8 == 0 && offset <= bytes && count <= (bytes - offset) / width;
}

static HgStatus
serve_open(Server *server, const HgWireRequest *request, HgError *error)
{
	HgEngine *engine = server->config->engine;
	ServedJob *job;
	HgStatus status;

	job = calloc(1, sizeof(*job));
	if (job == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "the device process is out of memory");
	job->server = server;
	job->id = request->header.job;
	job->key_width = request->spec.key_width;
	job->host.alloc = host_alloc;
	job->host.free = host_free;
	job->host.cancelled = host_cancelled;
	job->host.arg = job;

	status = engine->open(engine, &job->host, &request->spec, &job->job, error);
	if (status != HG_OK)
	{
		free(job);
		return status;
	}
	job->next = server->jobs;
	server->jobs = job;
	return HG_OK;
}

static HgStatus
serve_append(Server *server, ServedJob *job, const HgWireRequest *request, HgError *error)
{
	const void *keys = server->config->staging + request->offset;
	size_t bytes = (size_t) (request->count * job->key_width);

	if (!server->config->engine_copies_keys)
	{
		KeptKeys *kept = malloc(sizeof(*kept) + bytes);

		if (kept == NULL)
			return hg_error_set(error, HG_OUT_OF_MEMORY, NULL,
								"the device process is out of memory");
		memcpy(kept->keys, keys, bytes);
		kept->next = job->kept;
		job->kept = kept;
		keys = kept->keys;
	}
	return server->config->engine->append(job->job, (HgSide) request->side, keys, request->count,
										  error);
}

/*
 * The engine exports a graph as a whole: that happens for the first piece that is
 * asked for, and the arrays are kept until the last.
 */
static HgStatus
serve_export(Server *server, ServedJob *job, const HgWireRequest *request, HgError *error)
{
	HgEngine *engine = server->config->engine;
	HgSide side = (HgSide) request->side;
	HgJobStats stats;
	uint64_t count[3];
	size_t width[3];

	engine->stats(job->job, &stats);
	count[HG_WIRE_OFFSETS] = stats.vertices + 1;
	count[HG_WIRE_EDGE_KEYS] = count[HG_WIRE_EDGE_ROWS] = stats.rows[side];
	width[HG_WIRE_OFFSETS] = width[HG_WIRE_EDGE_ROWS] = sizeof(uint32_t);
	width[HG_WIRE_EDGE_KEYS] = job->key_width;
	if (request->first > count[request->part] ||
		request->count > count[request->part] - request->first)
		return hg_error_set(error, HG_INVALID, NULL, "the graph is smaller than that");

	if (job->exported[0] == NULL || job->exported_side != side)
	{
		HgStatus status;

		drop_export(job);
		for (int part = 0; part < 3; part++)
		{
			job->exported[part] = malloc((size_t) count[part] * width[part] + 1);
			if (job->exported[part] == NULL)
			{
				drop_export(job);
				return hg_error_set(error, HG_OUT_OF_MEMORY, NULL,
									"the device process is out of memory");
			}
		}
		status = engine->export_graph(job->job, side, job->exported[HG_WIRE_OFFSETS],
									  job->exported[HG_WIRE_EDGE_KEYS],
									  job->exported[HG_WIRE_EDGE_ROWS], error);
		if (status != HG_OK)
		{
			drop_export(job);
			return status;
		}
		job->exported_side = side;
	}

	memcpy(server->config->staging + request->offset,
		   (unsigned char *) job->exported[request->part] + request->first * width[request->part],
		   (size_t) request->count * width[request->part]);
	if (request->part == HG_WIRE_EDGE_ROWS && request->first + request->count == count[2])
		drop_export(job);
	return HG_OK;
}

static HgStatus
serve_next(Server *server, ServedJob *job, const HgWireRequest *request, uint64_t *count,
		   HgError *error)
{
	HgMatches matches;
	HgStatus status;

	matches.outer = (uint32_t *) (server->config->staging + request->offset);
	matches.inner = matches.outer + request->count;
	matches.capacity = (size_t) request->count;
	matches.count = 0;
	status = server->config->engine->next(job->job, &matches, error);
	*count = matches.count;
	return status;
}

/* Is the request one that hg_wire.h allows?  job is NULL where there is none. */
static bool
request_is_sane(const Server *server, const HgWireRequest *request, const ServedJob *job)
{
	bool side_exists = request->side == HG_OUTER || request->side == HG_INNER;
	bool mode_exists = request->mode == HG_MATCH_ALL || request->mode == HG_MATCH_FIRST;

	if (request->header.sequence != server->sequence + 1)
		return false;
	switch ((HgWireType) request->header.type)
	{
		case HG_WIRE_LIST:
			return request->header.job == 0;
		case HG_WIRE_OPEN:
			return request->header.job != 0 && job == NULL;
		case HG_WIRE_APPEND:
			return job != NULL && side_exists &&
				   within_staging(server, request->offset, request->count, job->key_width);
		case HG_WIRE_NEXT:
			return job != NULL && request->count > 0 &&
				   within_staging(server, request->offset, request->count, 2 * sizeof(uint32_t));
		case HG_WIRE_EXPORT:
			return job != NULL && side_exists && request->part <= HG_WIRE_EDGE_ROWS &&
				   within_staging(server, request->offset, request->count,
								  request->part == HG_WIRE_EDGE_KEYS ? job->key_width
																	 : sizeof(uint32_t));
		case HG_WIRE_BUILD:
			return job != NULL;
		case HG_WIRE_MATCH:
		case HG_WIRE_COUNT:
			return job != NULL && mode_exists;
		case HG_WIRE_DESCRIBE:
			return job != NULL && side_exists;
		case HG_WIRE_HELLO:
		case HG_WIRE_DEVICES:
		case HG_WIRE_REPLY:
		case HG_WIRE_CANCEL:
		case HG_WIRE_CLOSE:
			break;
	}
	return false;
}

/* Have the engine do what a sane request for an open job asks. */
static HgStatus
serve_job(Server *server, ServedJob *job, const HgWireRequest *request, HgWireReply *reply)
{
	HgEngine *engine = server->config->engine;
	HgError *error = &reply->error;

	if (job->failure.status != HG_OK)
	{
		*error = job->failure;
		return error->status;
	}

	switch ((HgWireType) request->header.type)
	{
		case HG_WIRE_APPEND:
			return serve_append(server, job, request, error);
		case HG_WIRE_BUILD:
			return engine->build(job->job, error);
		case HG_WIRE_MATCH:
			return engine->match(job->job, (HgMatchMode) request->mode, error);
		case HG_WIRE_NEXT:
			return serve_next(server, job, request, &reply->count, error);
		case HG_WIRE_COUNT:
			return engine->count(job->job, (HgMatchMode) request->mode, &reply->count, error);
		case HG_WIRE_DESCRIBE:
			return engine->describe(job->job, (HgSide) request->side, &reply->graph, error);
		default:
			return serve_export(server, job, request, error);
	}
}

/* Answer a request. */
static void
serve_request(Server *server, const HgWireRequest *request)
{
	HgWireMessage *answer = &server->answer;
	HgWireReply *reply = &answer->reply;
	ServedJob *job = find_job(server, request->header.job);
	HgStatus status;

	if (!request_is_sane(server, request, job))
	{
		leave(server, 1);
		return;
	}
	server->sequence = request->header.sequence;
	memset(answer, 0, sizeof(*answer));

	if (request->header.type == HG_WIRE_LIST)
	{
		hg_wire_header(&answer->header, HG_WIRE_DEVICES, 0, request->header.sequence);
		fill_devices(server->config, &answer->devices);
		send_answer(server, answer, -1);
		return;
	}

	hg_wire_header(&answer->header, HG_WIRE_REPLY, request->header.job, request->header.sequence);
	if (request->header.type == HG_WIRE_OPEN)
	{
		status = serve_open(server, request, &reply->error);
		job = find_job(server, request->header.job);
	}
	else
	{
		status = serve_job(server, job, request, reply);

		/* a wrong question is no failure of the job */
		if (status != HG_OK && status != HG_INVALID)
			job->failure = reply->error;
	}
	reply->error.status = status;
	if (job != NULL)
		server->config->engine->stats(job->job, &reply->stats);
	send_answer(server, answer, -1);
	if (status == HG_DEVICE_FAILED)
		leave(server, 1);
}

/* Obey a note.  A job that could not be opened gets one too. */
static void
serve_note(Server *server, const HgWireHeader *note)
{
	ServedJob *job = find_job(server, note->job);

	if (job == NULL)
		return;
	if (note->type == HG_WIRE_CLOSE)
		close_job(server, job);
	else if (job->failure.status == HG_OK)
		hg_error_set(&job->failure, HG_CANCELLED, NULL, "the join was cancelled");
}

/* A second has passed without a job or a message. */
static void
pass_idle_second(Server *server)
{
	const HgServerConfig *config = server->config;

	server->idle_seconds++;
	if (server->idle_seconds == 1 && config->rest != NULL)
		config->rest(config->arg);
	if (server->idle_seconds == config->idle_timeout)
		leave(server, 0);
}

/* Take one message from the socket, waiting for it, or pass a second without a job. */
static void
serve_message(Server *server)
{
	struct pollfd readable = {.fd = server->config->socket, .events = POLLIN};
	const HgServerConfig *config = server->config;
	bool counts = server->jobs == NULL && (server->idle_seconds == 0 || config->idle_timeout > 0);
	int attached;
	int ready;

	ready = poll(&readable, 1, counts ? 1000 : -1);
	if (ready < 0)
	{
		if (errno != EINTR)
			leave(server, 1);
		return;
	}
	if (ready == 0)
	{
		pass_idle_second(server);
		return;
	}
	server->idle_seconds = 0;

	switch (hg_wire_receive(server->config->socket, &server->received, &attached))
	{
		case HG_WIRE_DONE:
			break;
		case HG_WIRE_NOTHING:
			return;
		case HG_WIRE_EOF:
			leave(server, 0);
			return;
		case HG_WIRE_NONSENSE:
		case HG_WIRE_ERROR:
			leave(server, 1);
			return;
	}

	if (attached >= 0)
		leave(server, 1); /* nobody has a descriptor to give us; the process ends */
	else if (server->received.header.type == HG_WIRE_CANCEL ||
			 server->received.header.type == HG_WIRE_CLOSE)
		serve_note(server, &server->received.header);
	else
		serve_request(server, &server->received.request);
}

int
hg_server_run(const HgServerConfig *config)
{
	Server *server = calloc(1, sizeof(*server));
	int exit_status;

	if (server == NULL)
		return 1;
	server->config = config;
	if (!hg_wire_peer_is_trusted(config->socket))
		leave(server, 1);

	say_hello(server);
	while (!server->gone)
		serve_message(server);
	while (server->jobs != NULL)
		close_job(server, server->jobs);

	exit_status = server->exit_status;
	free(server);
	return exit_status;
}
