/*-------------------------------------------------------------------------
 *
 * hg_server_session.c
 *	  One connection of the device process: its messages.
 *
 * One thread serves a connection, one request at a time: hg_wire.h describes the messages.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_server_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ------------------------------------------------------------------------
 * The socket
 * ------------------------------------------------------------------------ */

/* Ends the session; the first reason stays. */
static void
leave(HgServerSession *session, HgSessionState reason)
{
	if (session->state == HG_SESSION_OPEN)
		session->state = reason;
}

/* Sends session->answer, and waits if the other end is slow to read. */
static void
send_answer(HgServerSession *session, int attached)
{
	while (session->state == HG_SESSION_OPEN)
	{
		struct pollfd writable = {.fd = session->socket, .events = POLLOUT};

		switch (hg_wire_send(session->socket, &session->answer, attached))
		{
			case HG_WIRE_DONE:
				return;
			case HG_WIRE_NOTHING:
				if (poll(&writable, 1, -1) < 0 && errno != EINTR)
					leave(session, HG_SESSION_BROKEN);
				break;
			case HG_WIRE_EOF:
				leave(session, HG_SESSION_CLOSED);
				break;
			case HG_WIRE_NONSENSE:
			case HG_WIRE_ERROR:
				leave(session, HG_SESSION_BROKEN);
				break;
		}
	}
}

/* ------------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------------ */

/*
 * Returns true if each column of a side that is a graph replica has a column's name, or is
 * computed and has none. Other sides must have no named columns.
 */
static bool
columns_are_sane(const HgWireRequest *request, HgSide side)
{
	const bool is_replica = request->spec.sides[side].kind == HG_SOURCE_REPLICA;
	const uint32_t ncolumns = is_replica ? request->spec.sides[side].ncolumns : 0;

	for (uint32_t i = 0; i < HG_MAX_COLUMNS; i++)
	{
		const HgReplicaColumnUse *use = &request->replica_columns[side][i];
		const bool named = i < ncolumns && use->program == 0;

		if (named ? !hg_replica_is_column(&use->name) : use->name.serial != 0)
			return false;
	}
	return true;
}

/* Returns true if each lookup of a side names two graphs; only graph replicas have lookups. */
static bool
lookups_are_sane(const HgWireOpening *opening, HgSide side)
{
	const uint32_t nlookups = hg_side_replica(&opening->request.spec, side)->nlookups;

	for (uint32_t i = 0; i < HG_MAX_LOOKUPS; i++)
	{
		const HgReplicaName *own = &opening->lookups[side][i].own.name;
		const HgReplicaName *found = &opening->lookups[side][i].found.name;

		if (i < nlookups ? !hg_replica_is_graph(own) || !hg_replica_is_graph(found)
						 : own->serial != 0 || found->serial != 0)
			return false;
	}
	return true;
}

/* Returns true if each column of a side's filters has a column's name; the same. */
static bool
filters_are_sane(const HgWireOpening *opening, HgSide side)
{
	const bool is_replica = opening->request.spec.sides[side].kind == HG_SOURCE_REPLICA;
	const HgRowFilters *filters = &opening->filters[side];
	const uint32_t ncolumns = is_replica && filters->nfilters > 0 ? filters->ncolumns : 0;

	if (!is_replica && filters->nfilters > 0)
		return false;
	for (uint32_t i = 0; i < HG_MAX_FILTER_COLUMNS; i++)
	{
		const HgReplicaName *name = &filters->columns[i].name;

		if (i < ncolumns ? !hg_replica_is_column(name) : name->serial != 0)
			return false;
	}
	return true;
}

/* Returns true if each replica that an opening names or makes has a name of its kind. */
static bool
names_are_sane(const HgWireOpening *opening)
{
	const HgWireRequest *request = &opening->request;

	if (request->spec.product.kind == HG_PRODUCT_GRAPH &&
		!hg_replica_is_graph(&request->new_replica.name))
		return false;
	if (request->spec.product.kind == HG_PRODUCT_COLUMN &&
		!hg_replica_is_column(&request->new_column.name))
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		if (request->spec.sides[side].kind == HG_SOURCE_REPLICA &&
			!hg_replica_is_graph(&request->replica[side].name))
			return false;
		if (!columns_are_sane(request, (HgSide) side) ||
			!lookups_are_sane(opening, (HgSide) side) || !filters_are_sane(opening, (HgSide) side))
			return false;
	}
	return true;
}

/* Returns true if hg_wire.h allows the request. job is NULL if there is none. */
static bool
request_is_sane(const HgServerSession *session, const HgWireMessage *message,
				const HgServerJob *job)
{
	const HgWireRequest *request = &message->request;
	bool side_exists = request->side == HG_OUTER || request->side == HG_INNER;
	bool mode_exists = request->mode == HG_MATCH_ALL || request->mode == HG_MATCH_FIRST;
	bool joins = job != NULL && !hg_replica_is_made(&job->spec);

	if (request->header.sequence != session->sequence + 1)
		return false;
	switch ((HgWireType) request->header.type)
	{
		case HG_WIRE_LIST:
		case HG_WIRE_STATUS:
			return request->header.job == 0;
		case HG_WIRE_OPEN:
			return !session->is_control && request->header.job != 0 && job == NULL &&
				   names_are_sane(&message->opening);
		case HG_WIRE_APPEND:
		case HG_WIRE_APPEND_ROWS:
		case HG_WIRE_APPEND_COLUMN:
			return job != NULL && hg_server_job_can_append(job, request);
		case HG_WIRE_APPEND_PAGES:
			return job != NULL && hg_server_job_can_append_pages(job, request);
		case HG_WIRE_PUT_EDGES:
			return job != NULL && hg_server_job_can_put_edges(job, request);
		case HG_WIRE_PUT_VALUES:
			return job != NULL && hg_server_job_can_put_values(job, request);
		case HG_WIRE_MASK:
			return job != NULL && hg_server_job_can_mask(job, request);
		case HG_WIRE_TALLY:
		case HG_WIRE_EXPECT:
		case HG_WIRE_TAKE_ROWS:
		case HG_WIRE_PUT_ROWS:
		case HG_WIRE_ARRIVED:
		case HG_WIRE_PEER_WINDOW:
		case HG_WIRE_SEND_ROWS:
			return job != NULL && hg_server_exchange_is_sane(job, request);
		case HG_WIRE_NEXT:
			return joins && request->count > 0 &&
				   (request->columns & ~hg_wire_columns(&job->spec)) == 0;
		case HG_WIRE_NEXT_GROUPS:
			return joins && request->count > 0;
		case HG_WIRE_EXPORT:
			return joins && side_exists && request->part <= HG_WIRE_EDGE_ROWS;
		case HG_WIRE_END_APPEND:
			return job != NULL;
		case HG_WIRE_BUILD:
			return job != NULL && job->spec.product.kind != HG_PRODUCT_TABLE;
		case HG_WIRE_MEASURE:
			return job != NULL && job->spec.product.kind == HG_PRODUCT_TABLE;
		case HG_WIRE_MATCH:
		case HG_WIRE_COUNT:
		case HG_WIRE_REDUCE:
			return joins && mode_exists;
		case HG_WIRE_DESCRIBE:
			return joins && side_exists;
		case HG_WIRE_HELLO:
		case HG_WIRE_DEVICES:
		case HG_WIRE_LOAD:
		case HG_WIRE_REPLY:
		case HG_WIRE_CANCEL:
		case HG_WIRE_CLOSE:
		case HG_WIRE_RELEASE:
		case HG_WIRE_DROP:
			break;
	}
	return false;
}

/* Answers a request that belongs to no job. */
static void
serve_question(HgServerSession *session, const HgWireHeader *request)
{
	const HgServerConfig *config = session->config;
	HgWireMessage *answer = &session->answer;

	if (request->type == HG_WIRE_LIST)
	{
		hg_wire_header(&answer->header, HG_WIRE_DEVICES, 0, request->sequence);
		answer->devices.count = (uint32_t) config->list_devices(config->arg, answer->devices.infos,
																HG_WIRE_MAX_DEVICES);
	}
	else
	{
		hg_wire_header(&answer->header, HG_WIRE_LOAD, 0, request->sequence);
		/* a session asks for its share; a control connection only whether the process answers */
		if (!session->is_control)
			session->config->measure(session->config->arg);
		hg_server_queue_status(session->queue, &answer->status.status);
	}
	send_answer(session, -1);
}

/* Answers a request. */
static void
serve_request(HgServerSession *session, const HgWireMessage *message)
{
	const HgWireRequest *request = &message->request;
	HgWireReply *reply = &session->answer.reply;
	HgServerJob *job = hg_server_job_find(session, request->header.job);
	int attached = -1;
	HgStatus status;

	if (!request_is_sane(session, message, job))
	{
		leave(session, HG_SESSION_BROKEN);
		return;
	}
	session->sequence = request->header.sequence;
	memset(&session->answer, 0, sizeof(session->answer));

	if (request->header.job == 0)
	{
		serve_question(session, &request->header);
		return;
	}

	hg_wire_header(&reply->header, HG_WIRE_REPLY, request->header.job, request->header.sequence);
	if (request->header.type == HG_WIRE_OPEN)
	{
		status = hg_server_job_open(session, &message->opening, reply);
		job = hg_server_job_find(session, request->header.job);
	}
	else
	{
		status = hg_server_job_serve(job, request, reply);

		/* an invalid request is no failure of the job */
		if (status != HG_OK && status != HG_INVALID)
			job->failure = reply->error;
		if (status == HG_OK && request->header.type == HG_WIRE_PEER_WINDOW)
			attached = reply->window.memory;
		reply->window.memory = 0;
	}
	reply->error.status = status;
	if (job != NULL)
		hg_server_job_stats(job, &reply->stats);
	send_answer(session, attached);
	if (attached >= 0)
		close(attached);
	if (status == HG_DEVICE_FAILED)
		leave(session, HG_SESSION_DEVICE_FAILED);
}

/* Drops the replica of a name, which belongs to no job. */
static void
serve_drop(HgServerSession *session, const HgWireRequest *note)
{
	if (note->header.job != 0 || note->new_replica.name.serial == 0)
		leave(session, HG_SESSION_BROKEN);
	else
		hg_server_queue_drop(session->queue, &note->new_replica.name);
}

/* Obeys a note about a job. Jobs that could not be opened get notes, too. */
static void
serve_note(HgServerSession *session, const HgWireHeader *note)
{
	HgServerJob *job = hg_server_job_find(session, note->job);

	if (job == NULL)
		return;
	if (note->type == HG_WIRE_CLOSE)
		hg_server_job_close(job);
	else if (note->type == HG_WIRE_CANCEL)
		hg_server_job_cancel(job);
}

/* Closes the descriptor that came with a message, if there is one. */
static void
drop_attached(HgWireMessage *message)
{
	if (message->header.type == HG_WIRE_SEND_ROWS && message->request.window.memory >= 0)
		close(message->request.window.memory);
}

/*
 * Receives a message of the client's. Returns false if there is none; the connection then ends,
 * except at its end of file, which is set in *ended and found again. The offer of SEND_ROWS gets
 * the descriptor that came along, or -1; drop_attached closes it.
 */
static bool
take_message(HgServerSession *session, HgWireMessage *message, bool *ended)
{
	int attached;

	*ended = false;
	switch (hg_wire_receive(session->socket, message, &attached))
	{
		case HG_WIRE_DONE:
			break;
		case HG_WIRE_NOTHING:
			return false;
		case HG_WIRE_EOF:
			*ended = true;
			return false;
		case HG_WIRE_NONSENSE:
		case HG_WIRE_ERROR:
			leave(session, HG_SESSION_BROKEN);
			return false;
	}
	if (message->header.type == HG_WIRE_SEND_ROWS)
	{
		message->request.window.memory = attached;
		return true;
	}
	if (attached < 0 && (message->header.length == sizeof(HgWireRequest) ||
						 message->header.length == sizeof(HgWireOpening)))
		return true;
	if (attached >= 0)
		close(attached); /* no other message may have a descriptor */
	leave(session, HG_SESSION_BROKEN);
	return false;
}

/* Returns true if a note stops work on a job. */
static bool
stops(const HgWireHeader *message, uint32_t job)
{
	return message->job == job &&
		   (message->type == HG_WIRE_CANCEL || message->type == HG_WIRE_CLOSE);
}

static bool
session_stops(HgServerSession *session, uint32_t job)
{
	HgWireMessage message;
	bool ended = false;

	for (int i = 0; i < session->ahead_count; i++)
		if (stops(&session->ahead[i].header, job))
			return true;
	while (session->state == HG_SESSION_OPEN && session->ahead_count < HG_SERVER_AHEAD &&
		   take_message(session, &message, &ended))
	{
		session->ahead[session->ahead_count++] = message;
		if (stops(&message.header, job))
			return true;
	}
	return ended || session->state != HG_SESSION_OPEN;
}

/* Serves one message. */
static void
serve_message(HgServerSession *session)
{
	/* with any message the client has finished with the results */
	hg_server_queue_release_room(session->queue, &session->results);
	switch ((HgWireType) session->received.header.type)
	{
		case HG_WIRE_CANCEL:
		case HG_WIRE_CLOSE:
		case HG_WIRE_RELEASE:
			serve_note(session, &session->received.header);
			break;
		case HG_WIRE_DROP:
			serve_drop(session, &session->received.request);
			break;
		default:
			serve_request(session, &session->received);
			drop_attached(&session->received);
	}
}

void
hg_server_session_serve(HgServerSession *session)
{
	bool ended;

	if (take_message(session, &session->received, &ended))
		serve_message(session);
	else if (ended)
		leave(session, HG_SESSION_CLOSED);

	/* poll does not report messages that were received ahead */
	while (session->ahead_count > 0 && session->state == HG_SESSION_OPEN)
	{
		session->received = session->ahead[0];
		session->ahead_count--;
		memmove(session->ahead, session->ahead + 1,
				(size_t) session->ahead_count * sizeof(session->ahead[0]));
		serve_message(session);
	}
}

/* ------------------------------------------------------------------------
 * The connection
 * ------------------------------------------------------------------------ */

HgServerSession *
hg_server_session_create(const HgServerConfig *config, HgServerQueue *queue, int socket,
						 const HgWireDevices *hello)
{
	HgServerSession *session = calloc(1, sizeof(*session));

	if (session == NULL)
		return NULL;
	session->wake = eventfd(0, EFD_CLOEXEC);
	if (session->wake < 0)
	{
		free(session);
		return NULL;
	}
	session->config = config;
	session->queue = queue;
	session->socket = socket;
	session->is_control = hello->staging_bytes == 0;
	session->stops = session_stops;
	if (!hg_wire_peer_is_trusted(socket))
		leave(session, HG_SESSION_BROKEN);

	session->answer.devices = *hello;
	hg_wire_header(&session->answer.header, HG_WIRE_HELLO, 0, 0);
	send_answer(session, session->is_control ? -1 : config->staging_fd);
	return session;
}

HgSessionState
hg_server_session_state(const HgServerSession *session)
{
	return session->state;
}

int
hg_server_session_wake(const HgServerSession *session)
{
	return session->wake;
}

void
hg_server_session_yield(HgServerSession *session)
{
	uint64_t count;

	if (read(session->wake, &count, sizeof(count)) < 0)
		abort();
	for (HgServerJob *job = session->jobs; job != NULL; job = job->next)
		hg_server_job_yield(job);
}

void
hg_server_session_destroy(HgServerSession *session)
{
	while (session->jobs != NULL)
		hg_server_job_close(session->jobs);
	while (session->ahead_count > 0)
		drop_attached(&session->ahead[--session->ahead_count]);
	hg_server_queue_release_room(session->queue, &session->results);
	close(session->wake);
	free(session);
}
