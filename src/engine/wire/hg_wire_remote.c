/*-------------------------------------------------------------------------
 *
 * hg_wire_remote.c
 *	  The remote engine: forwards every call to a device process.
 *
 * hg_wire.h describes the messages, the sequence numbers and the leases of staging, and
 * hg_wire_internal.h what always holds.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../hg_reduce.h"
#include "hg_wire_internal.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------
 * Requests of a job
 * ------------------------------------------------------------------------ */

/* Does the part of staging that an answer names lie in it? */
static bool
lease_is_sane(const HgWireClient *client, const HgWireReply *reply)
{
	return reply->lease_offset % HG_WIRE_PAGE == 0 && reply->lease_bytes % HG_WIRE_PAGE == 0 &&
		   reply->lease_offset <= client->staging_bytes &&
		   reply->lease_bytes <= client->staging_bytes - reply->lease_offset;
}

bool
hg_wire_remote_take(HgWireClient *client, HgWireReply *reply)
{
	HgRemoteJob *job = client->jobs;

	while (job != NULL && job->id != reply->header.job)
		job = job->next;
	if (job == NULL)
		return true;
	job->stats = reply->stats;
	if (reply->header.sequence == job->started_count)
		job->count = reply->count;
	if (reply->error.status != HG_OK && job->failure.status == HG_OK)
		job->failure = reply->error;
	if (reply->error.status != HG_OK || reply->header.sequence != job->open_sequence)
		return true;
	job->lease_offset = reply->lease_offset;
	job->slot_bytes = reply->lease_bytes / HG_WIRE_SLOTS;
	return lease_is_sane(client, reply) && reply->lease_bytes > 0;
}

/* A note can't fail in a way that matters: a lost connection shows in the next call. */
static void
send_note(HgWireClient *client, HgWireType type, uint32_t job)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	hg_wire_client_send(client, type, job, &message, NULL);
}

/* May a call on this job go to the device process?  If not, why. */
static HgStatus
job_usable(HgRemoteJob *job, HgError *error)
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

/* Give the job up after a wait that was cancelled. */
static HgStatus
job_cancel(HgRemoteJob *job, HgError *error)
{
	HgStatus status = hg_error_set(&job->failure, HG_CANCELLED, NULL, "the join was cancelled");

	send_note(job->client, HG_WIRE_CANCEL, job->id);
	hg_wire_copy_error(error, &job->failure);
	return status;
}

/* hg_wire_client_wait, and what its failure does to the job. */
static HgStatus
job_wait(HgRemoteJob *job, uint64_t sequence, HgError *error)
{
	HgStatus status = hg_wire_client_wait(job->client, job->host, sequence, error);

	if (status == HG_CANCELLED)
		return job_cancel(job, error);
	if (status == HG_OK && job->failure.status != HG_OK)
		return hg_wire_copy_error(error, &job->failure);
	return status;
}

/* Send a request.  Its sequence number is then client->sequence. */
static HgStatus
job_send(HgRemoteJob *job, HgWireType type, HgWireMessage *message, HgError *error)
{
	return hg_wire_client_send(job->client, type, job->id, message, error);
}

/*
 * Send a request and wait for its answer, whose failure is this call's.  On HG_OK
 * the answer is in client->message.reply.
 */
static HgStatus
job_ask(HgRemoteJob *job, HgWireType type, HgWireMessage *message, HgError *error)
{
	HgWireClient *client = job->client;
	HgStatus status = job_send(job, type, message, error);

	if (status == HG_OK)
		status = job_wait(job, client->sequence, error);
	if (status == HG_OK && client->message.header.type != HG_WIRE_REPLY)
		status = hg_wire_client_reject(client, error);

	/* a question that makes no sense has been answered, and does no harm to the job */
	if (status == HG_INVALID)
		job->failure.status = HG_OK;
	return status;
}

/* Wait until the job is admitted. */
static HgStatus
job_wait_open(HgRemoteJob *job, HgError *error)
{
	HgStatus status = job_wait(job, job->open_sequence, error);

	/* the answer to something else */
	if (status == HG_OK && job->slot_bytes == 0)
		return hg_wire_client_reject(job->client, error);
	return status;
}

/* Is the next slot of the lease free, as far as is known here? */
static bool
job_has_slot(const HgRemoteJob *job)
{
	return job->slot_bytes > 0 && job->client->answered >= job->slot_sequence[job->next_slot];
}

/*
 * Wait for the next slot of the lease to be free, and give its offset in staging.  The
 * caller names it in its next request.
 */
static HgStatus
job_take_slot(HgRemoteJob *job, uint64_t *offset, HgError *error)
{
	unsigned taken = job->next_slot;
	HgStatus status = job_wait(job, job->slot_sequence[taken], error);

	if (status == HG_OK)
	{
		job->next_slot = (taken + 1) % HG_WIRE_SLOTS;
		job->slot_sequence[taken] = job->client->sequence + 1;
		*offset = job->lease_offset + taken * job->slot_bytes;
	}
	return status;
}

/*
 * Ask for results: NEXT, NEXT_GROUPS or EXPORT.  On HG_OK *results are client->message.reply.count
 * elements of width bytes, at most as many as were wanted; they are there until the next message.
 */
static HgStatus
job_fetch(HgRemoteJob *job, HgWireType type, HgWireMessage *message, uint64_t width,
		  unsigned char **results, HgError *error)
{
	HgWireClient *client = job->client;
	const HgWireReply *reply = &client->message.reply;
	HgStatus status = job_ask(job, type, message, error);

	if (status != HG_OK)
		return status;
	if (!lease_is_sane(client, reply) || reply->count > message->request.count ||
		reply->count > reply->lease_bytes / width)
		return hg_wire_client_reject(client, error);
	*results = client->staging + reply->lease_offset;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * The engine
 * ------------------------------------------------------------------------ */

static void remote_close(HgJob *handle);

HgStatus
hg_wire_client_begin(HgWireClient *client, const HgHost *host, const HgJobSpec *spec,
					 HgJob **handle, HgError *error)
{
	HgWireMessage message;
	HgRemoteJob *job;
	HgStatus status;

	status = hg_wire_client_check(client, error);
	if (status != HG_OK)
		return status;
	if (client->staging == NULL)
		return hg_error_set(error, HG_INVALID, NULL, "this connection is not for jobs");

	job = calloc(1, sizeof(*job));
	if (job == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	job->client = client;
	job->host = host;
	job->spec = *spec;
	job->id = ++client->last_job;
	job->next = client->jobs;
	client->jobs = job;

	memset(&message, 0, sizeof(message));
	message.request.spec = *spec;
	status = job_send(job, HG_WIRE_OPEN, &message, error);
	if (status != HG_OK)
	{
		remote_close((HgJob *) job);
		return status;
	}
	job->open_sequence = client->sequence;
	/* no slot is free before */
	for (int slot = 0; slot < HG_WIRE_SLOTS; slot++)
		job->slot_sequence[slot] = client->sequence;
	*handle = (HgJob *) job;
	return HG_OK;
}

static HgStatus
remote_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **handle,
			HgError *error)
{
	HgJob *begun;
	HgStatus status = hg_wire_client_begin((HgWireClient *) engine, host, spec, &begun, error);

	if (status != HG_OK)
		return status;
	status = job_wait_open((HgRemoteJob *) begun, error);
	if (status == HG_OK)
		*handle = begun;
	else
		remote_close(begun);
	return status;
}

bool
hg_wire_client_is_admitted(HgJob *handle)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;

	return job->client != NULL && hg_wire_client_state(job->client, NULL) == HG_WIRE_READY &&
		   job->client->answered >= job->open_sequence && job->failure.status == HG_OK;
}

void
hg_wire_client_lend(HgJob *handle, const HgHost *host)
{
	((HgRemoteJob *) handle)->host = host;
}

/*
 * Can rows, or their columns, be appended to a side?  What the engine would refuse must be told
 * now: its answer comes too late for us.
 */
static HgStatus
check_append(HgRemoteJob *job, HgSide side, uint64_t count, uint64_t first_row, HgError *error)
{
	HgStatus status = job_usable(job, error);

	if (status != HG_OK)
		return status;
	if (side != HG_OUTER && side != HG_INNER)
		return hg_error_set(error, HG_INVALID, NULL, "there is no such side");
	if (job->built)
		return hg_error_set(error, HG_INVALID, NULL, "keys can not be appended after build");
	if (first_row > HG_MAX_ROWS || count > HG_MAX_ROWS - first_row)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in one side of a join");
	return HG_OK;
}

/* The same for keys, which are numbered in one way. */
static HgStatus
check_keys(HgRemoteJob *job, HgWireType type, HgSide side, uint64_t count, uint64_t first_row,
		   HgError *error)
{
	HgStatus status = check_append(job, side, count, first_row, error);

	if (status != HG_OK)
		return status;
	if (job->rows[HG_OUTER] + job->rows[HG_INNER] > 0 &&
		job->numbered != (type == HG_WIRE_APPEND_ROWS))
		return hg_error_set(error, HG_INVALID, NULL, "rows are numbered in two ways");
	return HG_OK;
}

/*
 * Send keys, numbered from first_row on where the request is APPEND_ROWS, all of them or, without
 * wait, as many as there is room for now; *taken is their number.
 */
static HgStatus
append_keys(HgRemoteJob *job, HgWireType type, HgSide side, const void *keys, uint64_t count,
			uint64_t first_row, bool wait, uint64_t *taken, HgError *error)
{
	const unsigned char *from = keys;
	HgStatus status = check_keys(job, type, side, count, first_row, error);

	*taken = 0;
	/* its answer names the lease */
	if (status == HG_OK && wait)
		status = job_wait_open(job, error);
	while (status == HG_OK && *taken < count && (wait || job_has_slot(job)))
	{
		HgWireClient *client = job->client;
		uint64_t piece = job->slot_bytes / job->spec.key_width;
		HgWireMessage message;
		uint64_t offset;

		if (piece > count - *taken)
			piece = count - *taken;
		status = job_take_slot(job, &offset, error);
		if (status != HG_OK)
			break;

		memset(&message, 0, sizeof(message));
		message.request.side = (uint32_t) side;
		message.request.offset = offset;
		message.request.count = piece;
		message.request.first = type == HG_WIRE_APPEND_ROWS ? first_row + *taken : 0;
		memcpy(client->staging + offset, from + *taken * job->spec.key_width,
			   (size_t) (piece * job->spec.key_width));

		/* not waited for: the next piece is copied while this one travels on */
		status = job_send(job, type, &message, error);
		*taken += piece;
		job->rows[side] += piece;
		job->numbered = type == HG_WIRE_APPEND_ROWS;
	}
	return status;
}

/* The number of the next row of a side of a job that numbers its rows itself. */
static uint64_t
next_row(const HgRemoteJob *job, HgSide side)
{
	return side == HG_OUTER || side == HG_INNER ? job->rows[side] : 0;
}

HgStatus
hg_wire_client_offer(HgJob *handle, HgSide side, const void *keys, uint64_t count, bool numbered,
					 uint64_t first_row, uint64_t *taken, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;

	/* take in what has arrived: slots that are free again */
	if (job->client != NULL)
		hg_wire_client_state(job->client, NULL);
	return append_keys(job, numbered ? HG_WIRE_APPEND_ROWS : HG_WIRE_APPEND, side, keys, count,
					   numbered ? first_row : next_row(job, side), false, taken, error);
}

static HgStatus
remote_append(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	uint64_t taken;

	return append_keys(job, HG_WIRE_APPEND, side, keys, count, next_row(job, side), true, &taken,
					   error);
}

static HgStatus
remote_append_rows(HgJob *handle, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
				   HgError *error)
{
	uint64_t taken;

	return append_keys((HgRemoteJob *) handle, HG_WIRE_APPEND_ROWS, side, keys, count, first_row,
					   true, &taken, error);
}

static HgStatus
remote_append_column(HgJob *handle, HgSide side, uint32_t column, const void *values,
					 const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status = check_append(job, side, count, first_row, error);
	const unsigned char *from = values;
	uint64_t width;

	if (status != HG_OK)
		return status;
	if (column >= job->spec.ncolumns[side])
		return hg_error_set(error, HG_INVALID, NULL, "there is no such column");
	width = job->spec.column_width[side][column];

	/* its answer names the lease */
	status = job_wait_open(job, error);
	while (status == HG_OK && count > 0)
	{
		uint64_t piece = job->slot_bytes / (width + 1);
		unsigned char *to;
		HgWireMessage message;
		uint64_t offset;

		if (piece > count)
			piece = count;
		status = job_take_slot(job, &offset, error);
		if (status != HG_OK)
			break;

		memset(&message, 0, sizeof(message));
		message.request.side = (uint32_t) side;
		message.request.column = column;
		message.request.nulls = nulls != NULL;
		message.request.offset = offset;
		message.request.count = piece;
		message.request.first = first_row;
		to = job->client->staging + offset;
		memcpy(to, from, (size_t) (piece * width));
		if (nulls != NULL)
		{
			memcpy(to + piece * width, nulls, (size_t) piece);
			nulls += piece;
		}
		status = job_send(job, HG_WIRE_APPEND_COLUMN, &message, error);
		from += piece * width;
		first_row += piece;
		count -= piece;
	}
	return status;
}

/* A request that carries no more than these two numbers. */
static HgStatus
remote_ask(HgRemoteJob *job, HgWireType type, uint32_t side, uint32_t mode, HgError *error)
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

HgStatus
hg_wire_client_settle(HgJob *handle, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status = job_usable(job, error);
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	if (status == HG_OK)
		status = job_wait_open(job, error);
	if (status == HG_OK)
		status = job_send(job, HG_WIRE_SETTLE, &message, error);
	/* an append that has failed is the answer to this */
	if (status == HG_OK)
		status = job_wait(job, job->client->sequence, error);
	job->built = job->built || status == HG_OK;
	return status;
}

/* Send a request that carries no more than a mode, and leave its answer to await_started. */
static HgStatus
start_one(HgRemoteJob *job, HgWireType type, HgMatchMode mode, uint64_t *sequence, HgError *error)
{
	HgWireMessage message;
	HgStatus status;

	memset(&message, 0, sizeof(message));
	message.request.mode = (uint32_t) mode;
	status = job_send(job, type, &message, error);
	if (status == HG_OK)
		*sequence = job->client->sequence;
	return status;
}

static HgStatus
remote_start(HgJob *handle, HgAhead ahead, HgMatchMode mode, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status = job_usable(job, error);

	if (status == HG_OK && !job->built)
	{
		status = start_one(job, HG_WIRE_BUILD, HG_MATCH_ALL, &job->started_build, error);
		job->built = status == HG_OK;
	}
	job->started_mode = mode;
	if (status == HG_OK && ahead == HG_AHEAD_MATCH)
		status = start_one(job, HG_WIRE_MATCH, mode, &job->started_stream, error);
	else if (status == HG_OK && ahead == HG_AHEAD_COUNT)
		status = start_one(job, HG_WIRE_COUNT, mode, &job->started_count, error);
	return status;
}

/* Wait for the answer to a request of start. */
static HgStatus
await_started(HgRemoteJob *job, uint64_t sequence, HgError *error)
{
	HgStatus status = job_usable(job, error);

	return status == HG_OK ? job_wait(job, sequence, error) : status;
}

static HgStatus
remote_build(HgJob *handle, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	uint64_t started = job->started_build;
	HgStatus status;

	job->started_build = 0;
	status = started > 0 ? await_started(job, started, error)
						 : remote_ask(job, HG_WIRE_BUILD, 0, 0, error);

	/* its lease is gone, whatever came of it */
	job->built = true;
	return status;
}

static HgStatus
remote_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	uint64_t started = job->started_stream;

	job->started_stream = 0;
	if (started > 0 && job->started_mode == mode)
		return await_started(job, started, error);
	return remote_ask(job, HG_WIRE_MATCH, 0, (uint32_t) mode, error);
}

/* The columns that a caller wants with his matches. */
static uint32_t
wanted_columns(const HgMatches *matches)
{
	uint32_t columns = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < HG_MAX_COLUMNS; column++)
			if (matches->values[side][column] != NULL)
				columns |= HG_WIRE_COLUMN(side, column);
	return columns;
}

/* Copy matches out of staging, with the columns that are wanted. */
static void
copy_matches(const HgJobSpec *spec, const HgMatches *from, uint64_t nulls, HgMatches *to)
{
	memcpy(to->outer, from->outer, to->count * sizeof(uint32_t));
	memcpy(to->inner, from->inner, to->count * sizeof(uint32_t));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < spec->ncolumns[side]; column++)
		{
			if (to->values[side][column] == NULL)
				continue;
			memcpy(to->values[side][column], from->values[side][column],
				   to->count * spec->column_width[side][column]);
			to->has_nulls[side][column] = (nulls & HG_WIRE_COLUMN(side, column)) != 0;
			if (to->has_nulls[side][column])
				memcpy(to->nulls[side][column], from->nulls[side][column], to->count);
		}
}

static HgStatus
remote_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	const uint32_t columns = wanted_columns(matches);
	HgWireMessage message;
	HgMatches placed;
	unsigned char *results;
	const HgWireReply *reply;
	HgStatus status = job_usable(job, error);

	matches->count = 0;
	if (status == HG_OK && matches->capacity == 0)
		status = hg_error_set(error, HG_INVALID, NULL, "a chunk of matches needs room for one");
	if (status == HG_OK)
		status = hg_matches_check(&job->spec, matches, error);
	if (status != HG_OK)
		return status;

	memset(&message, 0, sizeof(message));
	message.request.count = matches->capacity;
	message.request.columns = columns;
	status = job_fetch(job, HG_WIRE_NEXT, &message, hg_wire_match_bytes(&job->spec, columns),
					   &results, error);
	if (status != HG_OK)
		return status;

	reply = &job->client->message.reply;
	hg_wire_place_matches(&job->spec, columns, results, reply->lease_bytes, &placed);
	if (reply->count > placed.capacity)
		return hg_wire_client_reject(job->client, error);
	matches->count = (size_t) reply->count;
	copy_matches(&job->spec, &placed, reply->nulls, matches);
	if (reply->lease_bytes > 0)
		send_note(job->client, HG_WIRE_RELEASE, job->id);
	return HG_OK;
}

static HgStatus
remote_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	uint64_t started = job->started_count;
	HgStatus status;

	if (started > 0 && job->started_mode == mode)
	{
		status = await_started(job, started, error);
		if (status == HG_OK)
			*matches = job->count;
	}
	else
	{
		status = remote_ask(job, HG_WIRE_COUNT, 0, (uint32_t) mode, error);
		if (status == HG_OK)
			*matches = job->client->message.reply.count;
	}
	job->started_count = 0;
	return status;
}

static HgStatus
remote_reduce(HgJob *handle, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
			  HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgWireMessage message;
	HgStatus status = job_usable(job, error);

	if (status == HG_OK)
		status = hg_reduce_check(&job->spec, spec, error);
	if (status != HG_OK)
		return status;
	memset(&message, 0, sizeof(message));
	message.request.mode = (uint32_t) mode;
	message.request.reduce = *spec;
	status = job_ask(job, HG_WIRE_REDUCE, &message, error);
	if (status != HG_OK)
		return status;
	job->record_words = hg_reduce_words(spec);
	*groups = job->client->message.reply.count;
	return HG_OK;
}

static HgStatus
remote_next_groups(HgJob *handle, HgGroupRecords *records, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	const uint64_t bytes = job->record_words * sizeof(uint64_t);
	HgWireMessage message;
	unsigned char *words;
	const HgWireReply *reply;
	HgStatus status = job_usable(job, error);

	records->count = 0;
	if (status == HG_OK && (records->capacity == 0 || bytes == 0))
		status = hg_error_set(error, HG_INVALID, NULL, "no groups were made, or none has room");
	if (status != HG_OK)
		return status;

	memset(&message, 0, sizeof(message));
	message.request.count = records->capacity;
	status = job_fetch(job, HG_WIRE_NEXT_GROUPS, &message, bytes, &words, error);
	if (status != HG_OK)
		return status;

	reply = &job->client->message.reply;
	memcpy(records->words, words, (size_t) (reply->count * bytes));
	records->count = (size_t) reply->count;
	if (reply->lease_bytes > 0)
		send_note(job->client, HG_WIRE_RELEASE, job->id);
	return HG_OK;
}

static HgStatus
remote_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status = remote_ask(job, HG_WIRE_DESCRIBE, (uint32_t) side, 0, error);

	if (status == HG_OK)
		*stats = job->client->message.reply.graph;
	return status;
}

/* Fetch one array of a graph, in pieces. */
static HgStatus
fetch_part(HgRemoteJob *job, HgSide side, HgWirePart part, uint64_t count, size_t width,
		   void *array, HgError *error)
{
	HgWireClient *client = job->client;
	unsigned char *to = array;
	uint64_t first = 0;
	HgStatus status;

	/* also when there is nothing to fetch, ask: the side may have no graph */
	do
	{
		HgWireMessage message;
		unsigned char *piece;

		memset(&message, 0, sizeof(message));
		message.request.side = (uint32_t) side;
		message.request.part = (uint32_t) part;
		message.request.first = first;
		message.request.count = count - first;
		status = job_fetch(job, HG_WIRE_EXPORT, &message, width, &piece, error);
		if (status != HG_OK)
			return status;
		if (client->message.reply.count == 0 && first < count)
			return hg_wire_client_reject(client, error);
		memcpy(to + first * width, piece, (size_t) client->message.reply.count * width);
		first += client->message.reply.count;
	} while (first < count);
	send_note(client, HG_WIRE_RELEASE, job->id);
	return HG_OK;
}

static HgStatus
remote_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
					uint32_t *edge_rows, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status = job_usable(job, error);

	if (status != HG_OK)
		return status;
	if (side != HG_OUTER && side != HG_INNER)
		return hg_error_set(error, HG_INVALID, NULL, "there is no such side");

	status = fetch_part(job, side, HG_WIRE_OFFSETS, job->stats.vertices + 1, sizeof(uint32_t),
						offsets, error);
	if (status == HG_OK)
		status = fetch_part(job, side, HG_WIRE_EDGE_KEYS, job->stats.rows[side],
							job->spec.key_width, edge_keys, error);
	if (status == HG_OK)
		status = fetch_part(job, side, HG_WIRE_EDGE_ROWS, job->stats.rows[side], sizeof(uint32_t),
							edge_rows, error);
	return status;
}

static void
remote_stats(HgJob *handle, HgJobStats *stats)
{
	*stats = ((HgRemoteJob *) handle)->stats;
}

static void
remote_close(HgJob *handle)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgWireClient *client = job->client;

	if (client != NULL)
	{
		HgRemoteJob **link = &client->jobs;

		while (*link != job)
			link = &(*link)->next;
		*link = job->next;
		send_note(client, HG_WIRE_CLOSE, job->id);
	}
	free(job);
}

void
hg_wire_remote_init(HgEngine *engine)
{
	engine->name = "cuda";
	engine->open = remote_open;
	engine->append = remote_append;
	engine->append_rows = remote_append_rows;
	engine->append_column = remote_append_column;
	engine->reduce = remote_reduce;
	engine->next_groups = remote_next_groups;
	engine->build = remote_build;
	engine->match = remote_match;
	engine->next = remote_next;
	engine->count = remote_count;
	engine->describe = remote_describe;
	engine->export_graph = remote_export_graph;
	engine->stats = remote_stats;
	engine->close = remote_close;
	engine->start = remote_start;
}
