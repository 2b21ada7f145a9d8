/*-------------------------------------------------------------------------
 *
 * hg_wire_remote.c
 *	  The remote engine: forwards every call to a device process.
 *
 * hg_wire.h describes messages, sequence numbers and leases of staging, hg_wire_internal.h the
 * invariants.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../hg_reduce.h"
#include "hg_wire_internal.h"

#include <string.h>

/* Sets a message to a request with a mode; spec is that of REDUCE, else NULL. */
static void
fill_request(HgRemoteJob *job, HgMatchMode mode, const HgReduceSpec *spec, HgWireMessage *message)
{
	memset(message, 0, sizeof(*message));
	message->request.mode = (uint32_t) mode;
	if (spec != NULL)
	{
		message->request.reduce = *spec;
		job->groups = (HgRemoteGroups){.spec = *spec};
	}
}

/* Sends such a request, and sets *started to its sequence number, for await_started. */
static HgStatus
start_one(HgRemoteJob *job, HgWireType type, HgMatchMode mode, const HgReduceSpec *spec,
		  uint64_t *started, HgError *error)
{
	HgWireMessage message;

	fill_request(job, mode, spec, &message);
	HG_TRY(hg_wire_job_send(job, type, &message, error));
	*started = job->client->sequence;
	return HG_OK;
}

static HgStatus
hg_wire_remote_start(HgJob *handle, HgAhead ahead, HgMatchMode mode, const HgReduceSpec *spec,
					 HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status =
		ahead == HG_AHEAD_BUILD ? hg_wire_job_usable(job, error) : hg_wire_job_joins(job, error);

	if (status == HG_OK && ahead == HG_AHEAD_REDUCE)
		status = hg_reduce_check(&job->spec, spec, error);
	if (status == HG_OK && !job->built)
	{
		status = start_one(job, HG_WIRE_BUILD, HG_MATCH_ALL, NULL, &job->started_build, error);
		job->built = status == HG_OK;
	}
	job->started_mode = mode;
	if (status == HG_OK && ahead == HG_AHEAD_MATCH)
		status = start_one(job, HG_WIRE_MATCH, mode, NULL, &job->started_stream, error);
	else if (status == HG_OK && ahead == HG_AHEAD_COUNT)
		status = start_one(job, HG_WIRE_COUNT, mode, NULL, &job->started_count, error);
	else if (status == HG_OK && ahead == HG_AHEAD_REDUCE)
		status = start_one(job, HG_WIRE_REDUCE, mode, spec, &job->started_groups, error);
	return status;
}

/*
 * Waits for the answer to a request with a mode.  *started is its sequence number if start() has
 * sent it, and becomes 0.  Sends it now if start() has not, or with another mode.
 */
static HgStatus
await_started(HgRemoteJob *job, HgWireType type, HgMatchMode mode, const HgReduceSpec *spec,
			  uint64_t *started, HgError *error)
{
	const uint64_t sequence = *started;
	HgWireMessage message;

	*started = 0;
	if (sequence > 0 && job->started_mode == mode)
		return hg_wire_job_wait(job, sequence, error);
	fill_request(job, mode, spec, &message);
	return hg_wire_job_ask(job, type, &message, 0, error);
}

static HgStatus
hg_wire_remote_build(HgJob *handle, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	const uint64_t started = job->started_build;
	HgStatus status = hg_wire_job_usable(job, error);

	job->started_build = 0;
	if (status == HG_OK)
		status = started > 0 ? hg_wire_job_wait(job, started, error)
							 : hg_wire_job_ask_side(job, HG_WIRE_BUILD, HG_OUTER, error);

	/* the lease is gone, even if build failed */
	job->built = true;
	return status;
}

static HgStatus
hg_wire_remote_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status = hg_wire_job_joins(job, error);

	return status == HG_OK
			   ? await_started(job, HG_WIRE_MATCH, mode, NULL, &job->started_stream, error)
			   : status;
}

/* Returns the bits of the columns whose values the caller requests. */
static uint32_t
requested_columns(const HgMatches *matches)
{
	uint32_t columns = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < HG_MAX_COLUMNS; column++)
			if (matches->values[side][column] != NULL)
				columns |= HG_WIRE_COLUMN(side, column);
	return columns;
}

/* Copies matches out of staging, with the columns that were requested. */
static void
copy_matches(const HgJobSpec *spec, const HgMatches *from, uint64_t nulls, HgMatches *to)
{
	memcpy(to->outer, from->outer, to->count * sizeof(uint32_t));
	memcpy(to->inner, from->inner, to->count * sizeof(uint32_t));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < spec->sides[side].ncolumns; column++)
		{
			if (to->values[side][column] == NULL)
				continue;
			memcpy(to->values[side][column], from->values[side][column],
				   to->count * spec->sides[side].column_width[column]);
			to->has_nulls[side][column] = (nulls & HG_WIRE_COLUMN(side, column)) != 0;
			if (to->has_nulls[side][column])
				memcpy(to->nulls[side][column], from->nulls[side][column], to->count);
		}
}

static HgStatus
hg_wire_remote_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	const uint32_t columns = requested_columns(matches);
	HgWireMessage message;
	HgMatches placed;
	const HgWireReply *reply;

	matches->count = 0;
	HG_TRY(hg_wire_job_joins(job, error));
	if (matches->capacity == 0)
		return hg_error_set(error, HG_INVALID, NULL, "a chunk of matches needs room for one");
	HG_TRY(hg_matches_check(&job->spec, matches, error));

	memset(&message, 0, sizeof(message));
	message.request.count = matches->capacity;
	message.request.columns = columns;
	HG_TRY(hg_wire_job_ask(job, HG_WIRE_NEXT, &message, hg_wire_match_bytes(&job->spec, columns),
						   error));

	reply = &job->client->message.reply;
	hg_wire_lay_out_matches(&job->spec, columns, hg_wire_job_results(job), reply->lease_bytes,
							&placed);
	if (reply->count > placed.capacity)
		return hg_wire_client_distrust(job->client, error);
	matches->count = (size_t) reply->count;
	copy_matches(&job->spec, &placed, reply->nulls, matches);
	if (!hg_wire_answer_has_matches(job, matches))
	{
		matches->count = 0;
		return hg_wire_client_distrust(job->client, error);
	}
	if (reply->lease_bytes > 0)
		hg_wire_job_note(job->client, HG_WIRE_RELEASE, job->id);
	return HG_OK;
}

static HgStatus
hg_wire_remote_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;

	HG_TRY(hg_wire_job_joins(job, error));
	HG_TRY(await_started(job, HG_WIRE_COUNT, mode, NULL, &job->started_count, error));
	*matches = job->count;
	return HG_OK;
}

static HgStatus
hg_wire_remote_reduce(HgJob *handle, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
					  HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status;

	HG_TRY(hg_wire_job_joins(job, error));
	HG_TRY(hg_reduce_check(&job->spec, spec, error));
	status = await_started(job, HG_WIRE_REDUCE, mode, spec, &job->started_groups, error);
	job->groups.made = status == HG_OK;
	if (status == HG_OK)
		*groups = job->count;
	return status;
}

static HgStatus
hg_wire_remote_next_groups(HgJob *handle, HgGroupRecords *records, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	const uint64_t bytes = hg_reduce_words(&job->groups.spec) * sizeof(uint64_t);
	HgWireMessage message;
	const HgWireReply *reply;

	records->count = 0;
	HG_TRY(hg_wire_job_usable(job, error));
	if (records->capacity == 0 || !job->groups.made)
		return hg_error_set(error, HG_INVALID, NULL, "no groups were made, or none has room");

	memset(&message, 0, sizeof(message));
	message.request.count = records->capacity;
	HG_TRY(hg_wire_job_ask(job, HG_WIRE_NEXT_GROUPS, &message, bytes, error));

	reply = &job->client->message.reply;
	memcpy(records->words, hg_wire_job_results(job), (size_t) (reply->count * bytes));
	records->count = (size_t) reply->count;
	if (!hg_wire_answer_has_groups(job, records))
	{
		records->count = 0;
		return hg_wire_client_distrust(job->client, error);
	}
	if (reply->lease_bytes > 0)
		hg_wire_job_note(job->client, HG_WIRE_RELEASE, job->id);
	return HG_OK;
}

static HgStatus
hg_wire_remote_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;

	HG_TRY(hg_wire_job_joins(job, error));
	HG_TRY(hg_wire_job_ask_side(job, HG_WIRE_DESCRIBE, side, error));
	*stats = job->client->message.reply.graph;
	return HG_OK;
}

/* Fetches one array of a graph, in pieces. */
static HgStatus
fetch_part(HgRemoteJob *job, HgSide side, HgWirePart part, uint64_t count, size_t width,
		   void *array, HgError *error)
{
	HgWireClient *client = job->client;
	unsigned char *to = array;
	uint64_t first = 0;

	/* ask even if there is nothing to fetch: the side may have no graph */
	do
	{
		HgWireMessage message;

		memset(&message, 0, sizeof(message));
		message.request.side = (uint32_t) side;
		message.request.part = (uint32_t) part;
		message.request.first = first;
		message.request.count = count - first;
		HG_TRY(hg_wire_job_ask(job, HG_WIRE_EXPORT, &message, width, error));
		memcpy(to + first * width, hg_wire_job_results(job),
			   (size_t) client->message.reply.count * width);
		first += client->message.reply.count;
	} while (first < count);
	hg_wire_job_note(client, HG_WIRE_RELEASE, job->id);
	return HG_OK;
}

static HgStatus
hg_wire_remote_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
							uint32_t *edge_rows, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	/* what the caller knows: later answers must not make its arrays too small */
	const HgJobStats stats = job->stats;

	HG_TRY(hg_wire_job_joins(job, error));
	if (side != HG_OUTER && side != HG_INNER)
		return hg_error_set(error, HG_INVALID, NULL, "there is no such side");

	HG_TRY(fetch_part(job, side, HG_WIRE_OFFSETS, stats.vertices + 1, sizeof(uint32_t), offsets,
					  error));
	HG_TRY(fetch_part(job, side, HG_WIRE_EDGE_KEYS, stats.rows[side], job->spec.key_width,
					  edge_keys, error));
	return fetch_part(job, side, HG_WIRE_EDGE_ROWS, stats.rows[side], sizeof(uint32_t), edge_rows,
					  error);
}

static HgStatus
hg_wire_remote_measure_table(HgJob *handle, HgTableMeasure *measure, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status;

	if (job->spec.product.kind != HG_PRODUCT_TABLE)
		return hg_error_set(error, HG_INVALID, NULL, "the job has no table");
	status = hg_wire_job_ask_side(job, HG_WIRE_MEASURE, HG_OUTER, error);

	/* the lease is gone, even if the measurement failed */
	job->built = true;
	if (status == HG_OK)
		*measure = job->client->message.reply.table;
	return status;
}

/* The device process has had the replica under its name since build, so that *graph is NULL. */
static HgStatus
hg_wire_remote_take_replica(HgJob *handle, HgReplica **graph, uint64_t *bytes, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;

	HG_TRY(hg_wire_job_usable(job, error));
	if (!hg_replica_is_made(&job->spec) || !job->built)
		return hg_error_set(error, HG_INVALID, NULL, "the job has made nothing to be kept");
	*graph = NULL;
	*bytes = job->replica_bytes;
	return HG_OK;
}

/* There is nothing to release: hg_wire_client_drop drops a replica by its name. */
static void
hg_wire_remote_release(HgEngine *engine, HgReplica *graph)
{
	(void) engine;
	(void) graph;
}

static void
hg_wire_remote_stats(HgJob *handle, HgJobStats *stats)
{
	*stats = ((HgRemoteJob *) handle)->stats;
}

static const HgJoinCalls join_calls = HG_JOIN_CALLS(hg_wire_remote);
static const HgColumnCalls column_calls = HG_COLUMN_CALLS(hg_wire_remote);
static const HgAheadCalls ahead_calls = {.start = hg_wire_remote_start};
static const HgPageCalls page_calls = {.append_pages = hg_wire_remote_append_pages};
static const HgStoreCalls store_calls = HG_STORE_CALLS(hg_wire_remote);
static const HgMaskCalls mask_calls = {.mask = hg_wire_remote_mask};
static const HgExchangeCalls exchange_calls = HG_EXCHANGE_CALLS(hg_wire_remote);
static const HgWindowCalls window_calls = HG_WINDOW_CALLS(hg_wire_remote);
static const HgMeasureCalls measure_calls = {.measure_table = hg_wire_remote_measure_table};

/* A device process without filters refuses to open a job with any. */
static const HgEngine remote_engine = {
	.name = "cuda",
	.can = HG_CAN_NUMBER | HG_CAN_FILTER,
	.open = hg_wire_remote_open,
	.join = &join_calls,
	.columns = &column_calls,
	.ahead = &ahead_calls,
	.pages = &page_calls,
	.store = &store_calls,
	.masks = &mask_calls,
	.exchange = &exchange_calls,
	.windows = &window_calls,
	.measure = &measure_calls,
};

HgWireClient *
hg_wire_client_create(int fd)
{
	HgWireClient *client = hg_wire_client_connect(fd);

	if (client != NULL)
		client->engine = remote_engine;
	return client;
}

HgEngine *
hg_wire_client_engine(HgWireClient *client)
{
	return &client->engine;
}
