/*-------------------------------------------------------------------------
 *
 * hg_server_request.c
 *	  Calls the engine for the requests for an open job.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "../../src/engine/hg_reduce.h"
#include "hg_server_internal.h"

/* ---------------------------------------------------------------------
 * A job's lease, its room for results, and memory for its rows
 * ---------------------------------------------------------------------
 */

/* Returns true if count elements of width bytes at the request's offset lie in the lease. */
static bool
room_in_lease(const HgServerJob *job, const HgWireRequest *request, uint64_t count, uint64_t width)
{
	const HgQueuePart *lease = &job->entry.part;

	return request->offset % 8 == 0 && request->offset >= lease->offset &&
		   request->offset - lease->offset <= lease->bytes &&
		   count <= (lease->bytes - (request->offset - lease->offset)) / width;
}

/*
 * Waits for room for results of `bytes` bytes, or less, and takes it. *results is its start, and
 * is valid until the next message.
 */
static HgStatus
room_take(HgServerJob *job, uint64_t bytes, unsigned char **results, HgError *error)
{
	HgServerSession *session = job->session;
	const HgQueueWaiter waiter = hg_server_job_waiter(job);
	HgStatus status =
		hg_server_queue_take_room(session->queue, &session->results, bytes, &waiter, error);

	if (status == HG_OK)
		*results = session->config->staging + session->results.part.offset;
	return status;
}

/*
 * Puts the room for results into the answer, or gives it back if there are no results. If the
 * device has failed, the room stays, because the device may still write there.
 */
static void
room_answer(HgServerSession *session, HgStatus status, HgWireReply *reply)
{
	if (status == HG_OK && reply->count > 0)
	{
		reply->lease_offset = session->results.part.offset;
		reply->lease_bytes = session->results.part.bytes;
	}
	else if (status != HG_DEVICE_FAILED)
		hg_server_queue_release_room(session->queue, &session->results);
}

/* Returns the device memory that a job needs for these rows, or for the expected ones if more. */
static uint64_t
bytes_with(const HgServerConfig *config, HgJobSpec spec, const uint64_t rows[2])
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (rows[side] > spec.sides[side].expected_rows)
			spec.sides[side].expected_rows = rows[side];
	return config->job_bytes(config->arg, &spec);
}

/* Stores the rows of a job's sides, appended or with reserved memory. */
static void
rows_so_far(const HgServerJob *job, uint64_t rows[2])
{
	HgJobStats stats;

	job->engine->join->stats(job->job, &stats);
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

	if (wanted <= spec->sides[side].expected_rows || wanted <= rows[side])
		return HG_OK;
	before = bytes_with(config, *spec, rows);
	rows[side] = wanted;
	after = bytes_with(config, *spec, rows);
	job->reserved[side] = wanted;
	if (after <= before)
		return HG_OK;
	return hg_server_queue_grow(job->session->queue, &job->entry, after - before, error);
}

/*
 * Reserves the memory that count more rows of a side need beyond what the job was admitted with,
 * and beyond what was reserved for pages with fewer rows than they had room for.
 */
static HgStatus
room_reserve_rows(HgServerJob *job, HgSide side, uint64_t count, HgError *error)
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

		job->engine->join->stats(job->job, &stats);
		wanted = stats.rows[side] + count;
		rows_so_far(job, rows);
	}
	return grow(job, side, &spec, rows, wanted, error);
}

/* Reserves the memory for a shard's side that will have count rows after the exchange. */
static HgStatus
room_reserve_arrivals(HgServerJob *job, HgSide side, uint64_t count, HgError *error)
{
	uint64_t rows[2];

	rows_so_far(job, rows);
	return grow(job, side, &job->spec, rows, count, error);
}

/* ---------------------------------------------------------------------
 * Requests to a shard before it is built (engine/hg_exchange.h)
 * ---------------------------------------------------------------------
 */

bool
hg_server_exchange_is_sane(const HgServerJob *job, const HgWireRequest *request)
{
	const HgSide side = (HgSide) request->side;
	uint32_t columns;

	if (job->spec.product.kind != HG_PRODUCT_SHARD || (side != HG_OUTER && side != HG_INNER))
		return false;
	switch ((HgWireType) request->header.type)
	{
		case HG_WIRE_TALLY:
			return request->count == HG_EXCHANGE_PARTS;
		case HG_WIRE_TAKE_ROWS:
			return request->count > 0;
		case HG_WIRE_PUT_ROWS:
			columns =
				((UINT32_C(1) << job->spec.sides[side].ncolumns) - 1) * HG_WIRE_COLUMN(side, 0);
			/* such a count keeps all sums of bytes within 64 bits */
			return (request->columns & ~columns) == 0 && request->count <= HG_MAX_ROWS &&
				   room_in_lease(job, request, (request->count + 7) / 8 * 8,
								 hg_wire_row_bytes(&job->spec, side));
		default:
			return true;
	}
}

/* Counts a shard's rows of a side by part (src/engine/hg_exchange.h), into room for results. */
static HgStatus
exchange_tally(HgServerJob *job, const HgWireRequest *request, HgWireReply *reply)
{
	const uint64_t bytes = HG_EXCHANGE_PARTS * sizeof(uint64_t);
	uint64_t counts[HG_EXCHANGE_PARTS];
	unsigned char *results;
	HgStatus status =
		job->engine->exchange->tally(job->job, (HgSide) request->side, counts, &reply->error);

	if (status != HG_OK)
		return status;
	status = room_take(job, bytes, &results, &reply->error);
	if (status == HG_OK && job->session->results.part.bytes < bytes)
		status = hg_error_set(&reply->error, HG_OUT_OF_MEMORY, NULL,
							  "the staging area has no room for what was tallied");
	if (status == HG_OK)
	{
		memcpy(results, counts, bytes);
		reply->count = HG_EXCHANGE_PARTS;
	}
	room_answer(job->session, status, reply);
	return status;
}

/* Reserves memory for the side's future rows, and expects them. */
static HgStatus
exchange_expect(HgServerJob *job, const HgWireRequest *request, HgError *error)
{
	const HgExchange *exchange = &request->exchange;
	const HgSide side = (HgSide) request->side;

	HG_TRY(hg_exchange_check(exchange, job->spec.product.shards, error));
	HG_TRY(room_reserve_arrivals(job, side, hg_exchange_rows(exchange), error));
	return job->engine->exchange->expect(job->job, side, exchange, error);
}

/* Returns the columns of rows that have a NULL. */
static uint64_t
row_columns_with_nulls(const HgServerJob *job, HgSide side, const HgExchangeRows *rows)
{
	uint64_t nulls = 0;

	for (uint32_t column = 0; column < job->spec.sides[side].ncolumns; column++)
		if (rows->has_nulls[column])
			nulls |= HG_WIRE_COLUMN(side, column);
	return nulls;
}

/* Takes rows for another shard into room for results. */
static HgStatus
exchange_take(HgServerJob *job, const HgWireRequest *request, HgWireReply *reply)
{
	HgServerSession *session = job->session;
	const HgSide side = (HgSide) request->side;
	const uint64_t bytes = hg_wire_row_bytes(&job->spec, side);
	const uint64_t most = HG_WIRE_SLOT_MAX / bytes / 8 * 8;
	const uint64_t wanted = request->count < most ? request->count : most;
	HgExchangeRows rows;
	unsigned char *results;
	/* arrays have a multiple of 8 elements */
	HgStatus status = room_take(job, (wanted + 7) / 8 * 8 * bytes, &results, &reply->error);

	if (status == HG_OK)
	{
		hg_wire_lay_out_rows(&job->spec, side, session->results.part.bytes / bytes / 8 * 8, results,
							 &rows);
		if (rows.capacity > wanted)
			rows.capacity = (size_t) wanted;
		status =
			job->engine->exchange->take_rows(job->job, side, request->shard, &rows, &reply->error);
		reply->count = rows.count;
		reply->nulls = row_columns_with_nulls(job, side, &rows);
	}
	room_answer(session, status, reply);
	return status;
}

/* Puts rows out of the lease. */
static HgStatus
exchange_put(HgServerJob *job, const HgWireRequest *request, HgError *error)
{
	const HgSide side = (HgSide) request->side;
	HgExchangeRows rows;

	hg_wire_lay_out_rows(&job->spec, side, (request->count + 7) / 8 * 8,
						 job->session->config->staging + request->offset, &rows);
	rows.count = (size_t) request->count;
	for (uint32_t column = 0; column < job->spec.sides[side].ncolumns; column++)
		rows.has_nulls[column] = (request->columns & HG_WIRE_COLUMN(side, column)) != 0;
	return job->engine->exchange->put_rows(job->job, side, &rows, error);
}

/* Makes a peer window; the caller closes the descriptor in the answer. */
static HgStatus
exchange_window(HgServerJob *job, const HgWireRequest *request, HgWireReply *reply)
{
	if (job->engine->windows == NULL)
		return hg_error_set(&reply->error, HG_INVALID, NULL, "this engine offers no memory");
	return job->engine->windows->window(job->job, (HgSide) request->side, &reply->window,
										&reply->error);
}

/* Writes rows to another shard's window, and waits until they have arrived. */
static HgStatus
exchange_send(HgServerJob *job, const HgWireRequest *request, HgError *error)
{
	if (job->engine->windows == NULL || request->window.memory < 0)
		return hg_error_set(error, HG_INVALID, NULL, "nothing was offered that is in reach");
	HG_TRY(job->engine->windows->send_rows(job->job, (HgSide) request->side, request->shard,
										   &request->window, error));
	return job->engine->windows->sent(job->job, (HgSide) request->side, error);
}

static bool
side_exists(const HgWireRequest *request)
{
	return request->side == HG_OUTER || request->side == HG_INNER;
}

bool
hg_server_job_can_append(const HgServerJob *job, const HgWireRequest *request)
{
	uint64_t width = job->spec.key_width;

	if (!side_exists(request) || hg_replica_is_made(&job->spec) ||
		job->spec.sides[request->side].kind == HG_SOURCE_REPLICA ||
		job->spec.sides[request->side].kind == HG_SOURCE_PAGES)
		return false;
	if (request->header.type == HG_WIRE_APPEND_COLUMN)
	{
		if (request->column >= job->spec.sides[request->side].ncolumns || request->nulls > 1)
			return false;
		width = job->spec.sides[request->side].column_width[request->column] + request->nulls;
	}
	return room_in_lease(job, request, request->count, width);
}

bool
hg_server_job_can_append_pages(const HgServerJob *job, const HgWireRequest *request)
{
	return side_exists(request) && job->spec.sides[request->side].kind == HG_SOURCE_PAGES &&
		   room_in_lease(job, request, request->count, job->pages[request->side].page_size);
}

bool
hg_server_job_can_put_edges(const HgServerJob *job, const HgWireRequest *request)
{
	const uint64_t width = job->new_replica.shape.key_width;

	/* such a count keeps all sums of bytes within 64 bits */
	return job->spec.product.kind == HG_PRODUCT_GRAPH && request->count <= HG_MAX_ROWS &&
		   room_in_lease(job, request, hg_wire_edge_keys(request->count) + request->count * width,
						 1);
}

bool
hg_server_job_can_put_values(const HgServerJob *job, const HgWireRequest *request)
{
	uint64_t ordinals;

	if (job->spec.product.kind != HG_PRODUCT_COLUMN || request->nulls > 1)
		return false;
	ordinals = hg_replica_ordinals(&job->new_column.shape);
	return request->first <= ordinals && request->count <= ordinals - request->first &&
		   room_in_lease(job, request, request->count,
						 job->new_column.shape.width + request->nulls);
}

bool
hg_server_job_can_mask(const HgServerJob *job, const HgWireRequest *request)
{
	const HgReplicaUse *use;
	uint64_t words;

	if (!side_exists(request) || request->zero > 1 ||
		request->lookup > hg_side_replica(&job->spec, (HgSide) request->side)->nlookups)
		return false;
	use = request->lookup == 0 ? hg_side_replica(&job->spec, (HgSide) request->side)->use
							   : &job->lookups[request->side][request->lookup - 1].found;
	if (use == NULL || use->masked == 0)
		return false;
	words = hg_replica_mask_words(&use->shape);
	return request->first <= words && request->count <= words - request->first &&
		   (request->zero == 1 || room_in_lease(job, request, request->count, sizeof(uint64_t)));
}

/* Checks that rows may have the numbers that a request gives. */
static HgStatus
check_numbers(const HgWireRequest *request, HgError *error)
{
	if (request->first > HG_MAX_ROWS || request->count > HG_MAX_ROWS - request->first)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in one side of a join");
	return HG_OK;
}

static HgStatus
serve_append(HgServerJob *job, const HgWireRequest *request, HgError *error)
{
	const void *keys = job->session->config->staging + request->offset;
	HgSide side = (HgSide) request->side;

	HG_TRY(check_numbers(request, error));
	HG_TRY(room_reserve_rows(job, side, request->count, error));
	if (request->header.type == HG_WIRE_APPEND)
		return job->engine->join->append(job->job, side, keys, request->count, error);
	return job->engine->join->append_rows(job->job, side, keys, request->count, request->first,
										  error);
}

static HgStatus
serve_append_column(HgServerJob *job, const HgWireRequest *request, HgError *error)
{
	const unsigned char *values = job->session->config->staging + request->offset;
	const uint64_t bytes =
		request->count * job->spec.sides[request->side].column_width[request->column];

	HG_TRY(check_numbers(request, error));
	/* an engine without columns has refused to open a job with columns */
	return job->engine->columns->append_column(job->job, (HgSide) request->side, request->column,
											   values, request->nulls ? values + bytes : NULL,
											   request->count, request->first, error);
}

/* The rows are known once the pages are parsed; until then memory for full pages is reserved. */
static HgStatus
serve_append_pages(HgServerJob *job, const HgWireRequest *request, HgError *error)
{
	const HgPageSpec *spec = &job->pages[request->side];
	const void *pages = job->session->config->staging + request->offset;

	HG_TRY(hg_pages_append_check(spec, request->count, request->first, error));
	HG_TRY(room_reserve_rows(job, (HgSide) request->side, request->count * hg_pages_most_rows(spec),
							 error));
	/* an engine without pages has refused to open the job */
	return job->engine->pages->append_pages(job->job, (HgSide) request->side, pages, request->count,
											request->first, error);
}

/*
 * Exports a graph. The engine exports it as a whole, for the first piece that is requested; the
 * arrays are freed after the last piece.
 */
static HgStatus
export_graph(HgServerJob *job, HgSide side, const uint64_t *count, const size_t *width,
			 HgError *error)
{
	HgStatus status;

	if (job->exported[0] != NULL && job->exported_side == side)
		return HG_OK;
	hg_server_job_drop_export(job);
	for (int part = 0; part < 3; part++)
	{
		job->exported[part] = malloc((size_t) count[part] * width[part] + 1);
		if (job->exported[part] == NULL)
		{
			hg_server_job_drop_export(job);
			return hg_error_set(error, HG_OUT_OF_MEMORY, NULL,
								"the device process is out of memory");
		}
	}
	status = job->engine->join->export_graph(job->job, side, job->exported[HG_WIRE_OFFSETS],
											 job->exported[HG_WIRE_EDGE_KEYS],
											 job->exported[HG_WIRE_EDGE_ROWS], error);
	if (status != HG_OK)
		hg_server_job_drop_export(job);
	job->exported_side = side;
	return status;
}

static HgStatus
serve_export(HgServerJob *job, const HgWireRequest *request, HgWireReply *reply)
{
	HgServerSession *session = job->session;
	HgSide side = (HgSide) request->side;
	HgError *error = &reply->error;
	HgJobStats stats;
	uint64_t count[3];
	size_t width[3];
	uint64_t piece = request->count;
	unsigned char *results;
	HgStatus status;

	job->engine->join->stats(job->job, &stats);
	count[HG_WIRE_OFFSETS] = stats.vertices + 1;
	count[HG_WIRE_EDGE_KEYS] = count[HG_WIRE_EDGE_ROWS] = stats.rows[side];
	width[HG_WIRE_OFFSETS] = width[HG_WIRE_EDGE_ROWS] = sizeof(uint32_t);
	width[HG_WIRE_EDGE_KEYS] = job->spec.key_width;
	if (request->first > count[request->part] || piece > count[request->part] - request->first)
		return hg_error_set(error, HG_INVALID, NULL, "the graph is smaller than that");

	status = export_graph(job, side, count, width, error);
	if (status == HG_OK && piece > 0)
		status = room_take(job, piece * width[request->part], &results, error);
	if (status == HG_OK && piece > 0)
	{
		if (piece > session->results.part.bytes / width[request->part])
			piece = session->results.part.bytes / width[request->part];
		memcpy(results,
			   (unsigned char *) job->exported[request->part] +
				   request->first * width[request->part],
			   (size_t) piece * width[request->part]);
		reply->count = piece;
	}
	room_answer(session, status, reply);
	if (request->part == HG_WIRE_EDGE_ROWS && request->first + piece == count[HG_WIRE_EDGE_ROWS])
		hg_server_job_drop_export(job);
	return status;
}

/* Returns the columns of the next matches that have a NULL. */
static uint64_t
match_columns_with_nulls(const HgServerJob *job, const HgMatches *matches)
{
	uint64_t nulls = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < job->spec.sides[side].ncolumns; column++)
			if (matches->has_nulls[side][column])
				nulls |= HG_WIRE_COLUMN(side, column);
	return nulls;
}

static HgStatus
serve_next(HgServerJob *job, const HgWireRequest *request, HgWireReply *reply)
{
	HgServerSession *session = job->session;
	const uint64_t bytes = hg_wire_match_bytes(&job->spec, request->columns);
	const uint64_t most = HG_WIRE_SLOT_MAX / bytes / 8 * 8;
	const uint64_t wanted = request->count < most ? request->count : most;
	unsigned char *results;
	HgMatches matches;
	/* arrays have a multiple of 8 elements */
	HgStatus status = room_take(job, (wanted + 7) / 8 * 8 * bytes, &results, &reply->error);

	if (status == HG_OK)
	{
		hg_wire_lay_out_matches(&job->spec, request->columns, results, session->results.part.bytes,
								&matches);
		if (matches.capacity > wanted)
			matches.capacity = (size_t) wanted;
		matches.count = 0;
		status = job->engine->join->next(job->job, &matches, &reply->error);
		reply->count = matches.count;
		reply->nulls = match_columns_with_nulls(job, &matches);
	}
	room_answer(session, status, reply);
	return status;
}

static HgStatus
serve_reduce(HgServerJob *job, const HgWireRequest *request, HgWireReply *reply)
{
	HG_TRY(hg_reduce_check(&job->spec, &request->reduce, &reply->error));
	if (job->engine->columns == NULL)
		return hg_error_set(&reply->error, HG_INVALID, NULL, "this engine makes no groups");
	HG_TRY(job->engine->columns->reduce(job->job, (HgMatchMode) request->mode, &request->reduce,
										&reply->count, &reply->error));
	job->record_words = hg_reduce_words(&request->reduce);
	return HG_OK;
}

static HgStatus
serve_next_groups(HgServerJob *job, const HgWireRequest *request, HgWireReply *reply)
{
	HgServerSession *session = job->session;
	const uint64_t bytes = job->record_words * sizeof(uint64_t);
	HgGroupRecords records;
	unsigned char *results;
	uint64_t wanted;
	HgStatus status;

	if (bytes == 0)
		return hg_error_set(&reply->error, HG_INVALID, NULL, "no groups were made");
	wanted = request->count < HG_WIRE_SLOT_MAX / bytes ? request->count : HG_WIRE_SLOT_MAX / bytes;
	status = room_take(job, wanted * bytes, &results, &reply->error);
	if (status == HG_OK)
	{
		records.words = (uint64_t *) results;
		records.capacity = session->results.part.bytes / bytes;
		if (records.capacity > wanted)
			records.capacity = wanted;
		records.count = 0;
		status = job->engine->columns->next_groups(job->job, &records, &reply->error);
		reply->count = records.count;
	}
	room_answer(session, status, reply);
	return status;
}

static HgStatus
serve_put_edges(HgServerJob *job, const HgWireRequest *request, HgError *error)
{
	const unsigned char *rows = job->session->config->staging + request->offset;

	/* an engine without a store has refused the job, which was admitted with all edges */
	return job->engine->store->put_edges(job->job, rows + hg_wire_edge_keys(request->count),
										 (const uint32_t *) rows, request->count, error);
}

static HgStatus
serve_put_values(HgServerJob *job, const HgWireRequest *request, HgError *error)
{
	const unsigned char *values = job->session->config->staging + request->offset;

	return job->engine->store->put_values(
		job->job, values,
		request->nulls ? values + request->count * job->new_column.shape.width : NULL,
		request->count, request->first, error);
}

static HgStatus
serve_mask(HgServerJob *job, const HgWireRequest *request, HgError *error)
{
	const unsigned char *staging = job->session->config->staging;
	const uint64_t *words = request->zero ? NULL : (const uint64_t *) (staging + request->offset);

	return job->engine->masks->mask(job->job, (HgSide) request->side, request->lookup,
									request->first, request->count, words, error);
}

/* Adds the replica that a job has made to the process; *bytes is its device memory. */
static HgStatus
take_replica(HgServerJob *job, uint64_t *bytes, HgError *error)
{
	HgReplica *made;
	HgStatus status;

	HG_TRY(job->engine->store->take_replica(job->job, &made, bytes, error));
	status = hg_server_queue_add_replica(job->session->queue, &job->entry, &job->spec, made, *bytes,
										 error);
	if (status != HG_OK)
		job->engine->store->release(job->engine, made);
	return status;
}

static HgStatus
serve_build(HgServerJob *job, HgWireReply *reply)
{
	HgStatus status = job->engine->join->build(job->job, &reply->error);

	if (status == HG_OK && hg_replica_is_made(&job->spec))
		status = take_replica(job, &reply->count, &reply->error);
	hg_server_queue_end_lease(job->session->queue, &job->entry);
	return status;
}

static HgStatus
serve_measure(HgServerJob *job, HgWireReply *reply)
{
	/* an engine without measure has refused to open the job */
	HgStatus status = job->engine->measure->measure_table(job->job, &reply->table, &reply->error);

	hg_server_queue_end_lease(job->session->queue, &job->entry);
	return status;
}

/* Ends the lease of a client that has appended all of its rows. */
static HgStatus
serve_end_append(HgServerJob *job)
{
	hg_server_queue_end_lease(job->session->queue, &job->entry);
	return HG_OK;
}

/* Calls the engine for a request. */
static HgStatus
serve(HgServerJob *job, const HgWireRequest *request, HgWireReply *reply)
{
	HgEngine *engine = job->engine;
	HgError *error = &reply->error;

	switch ((HgWireType) request->header.type)
	{
		case HG_WIRE_APPEND:
		case HG_WIRE_APPEND_ROWS:
			return serve_append(job, request, error);
		case HG_WIRE_APPEND_COLUMN:
			return serve_append_column(job, request, error);
		case HG_WIRE_APPEND_PAGES:
			return serve_append_pages(job, request, error);
		case HG_WIRE_END_APPEND:
			return serve_end_append(job);
		case HG_WIRE_BUILD:
			return serve_build(job, reply);
		case HG_WIRE_MEASURE:
			return serve_measure(job, reply);
		case HG_WIRE_PUT_EDGES:
			return serve_put_edges(job, request, error);
		case HG_WIRE_PUT_VALUES:
			return serve_put_values(job, request, error);
		case HG_WIRE_MASK:
			return serve_mask(job, request, error);
		case HG_WIRE_TALLY:
			return exchange_tally(job, request, reply);
		case HG_WIRE_EXPECT:
			return exchange_expect(job, request, error);
		case HG_WIRE_TAKE_ROWS:
			return exchange_take(job, request, reply);
		case HG_WIRE_PUT_ROWS:
			return exchange_put(job, request, error);
		case HG_WIRE_ARRIVED:
			return engine->exchange->arrived(job->job, (HgSide) request->side, error);
		case HG_WIRE_PEER_WINDOW:
			return exchange_window(job, request, reply);
		case HG_WIRE_SEND_ROWS:
			return exchange_send(job, request, error);
		case HG_WIRE_MATCH:
			return engine->join->match(job->job, (HgMatchMode) request->mode, error);
		case HG_WIRE_NEXT:
			return serve_next(job, request, reply);
		case HG_WIRE_COUNT:
			return engine->join->count(job->job, (HgMatchMode) request->mode, &reply->count, error);
		case HG_WIRE_REDUCE:
			return serve_reduce(job, request, reply);
		case HG_WIRE_NEXT_GROUPS:
			return serve_next_groups(job, request, reply);
		case HG_WIRE_DESCRIBE:
			return engine->join->describe(job->job, (HgSide) request->side, &reply->graph, error);
		default:
			return serve_export(job, request, reply);
	}
}

HgStatus
hg_server_job_serve(HgServerJob *job, const HgWireRequest *request, HgWireReply *reply)
{
	HgServerQueue *queue = job->session->queue;
	HgStatus status;

	if (job->failure.status != HG_OK)
	{
		reply->error = job->failure;
		return job->failure.status;
	}
	hg_server_queue_begin_work(queue, &job->entry);
	status = serve(job, request, reply);
	hg_server_queue_end_work(queue, &job->entry);
	return status;
}
