/*-------------------------------------------------------------------------
 *
 * hg_server_exchange.c
 *	  Requests to a shard before it is built (engine/hg_exchange.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_server_internal.h"

#include <string.h>

bool
hg_server_exchange_is_sane(const HgServerJob *job, const HgWireRequest *request)
{
	const HgSide side = (HgSide) request->side;
	uint32_t columns;

	if (job->spec.shards == 0 || (side != HG_OUTER && side != HG_INNER))
		return false;
	switch ((HgWireType) request->header.type)
	{
		case HG_WIRE_TALLY:
			return request->count == HG_EXCHANGE_PARTS;
		case HG_WIRE_TAKE_ROWS:
			return request->count > 0;
		case HG_WIRE_PUT_ROWS:
			columns = ((UINT32_C(1) << job->spec.ncolumns[side]) - 1) * HG_WIRE_COLUMN(side, 0);
			/* such a count keeps all sums of bytes within 64 bits */
			return (request->columns & ~columns) == 0 && request->count <= HG_MAX_ROWS &&
				   hg_server_room_in_lease(job, request, (request->count + 7) / 8 * 8,
										   hg_wire_row_bytes(&job->spec, side));
		default:
			return true;
	}
}

HgStatus
hg_server_exchange_tally(HgServerJob *job, const HgWireRequest *request, HgWireReply *reply)
{
	const uint64_t bytes = HG_EXCHANGE_PARTS * sizeof(uint64_t);
	uint64_t counts[HG_EXCHANGE_PARTS];
	unsigned char *results;
	HgStatus status = job->engine->tally(job->job, (HgSide) request->side, counts, &reply->error);

	if (status != HG_OK)
		return status;
	status = hg_server_room_take(job, bytes, &results, &reply->error);
	if (status == HG_OK && job->session->results.part.bytes < bytes)
		status = hg_error_set(&reply->error, HG_OUT_OF_MEMORY, NULL,
							  "the staging area has no room for what was tallied");
	if (status == HG_OK)
	{
		memcpy(results, counts, bytes);
		reply->count = HG_EXCHANGE_PARTS;
	}
	hg_server_room_answer(job->session, status, reply);
	return status;
}

HgStatus
hg_server_exchange_expect(HgServerJob *job, const HgWireRequest *request, HgError *error)
{
	const HgExchange *exchange = &request->exchange;
	const HgSide side = (HgSide) request->side;
	HgStatus status = hg_exchange_check(exchange, job->spec.shards, error);

	if (status == HG_OK)
		status = hg_server_room_reserve_arrivals(job, side, hg_exchange_rows(exchange), error);
	return status == HG_OK ? job->engine->expect(job->job, side, exchange, error) : status;
}

/* Returns the columns of rows that have a NULL. */
static uint64_t
columns_with_nulls(const HgServerJob *job, HgSide side, const HgExchangeRows *rows)
{
	uint64_t nulls = 0;

	for (uint32_t column = 0; column < job->spec.ncolumns[side]; column++)
		if (rows->has_nulls[column])
			nulls |= HG_WIRE_COLUMN(side, column);
	return nulls;
}

HgStatus
hg_server_exchange_take(HgServerJob *job, const HgWireRequest *request, HgWireReply *reply)
{
	HgServerSession *session = job->session;
	const HgSide side = (HgSide) request->side;
	const uint64_t bytes = hg_wire_row_bytes(&job->spec, side);
	const uint64_t most = HG_WIRE_SLOT_MAX / bytes / 8 * 8;
	const uint64_t wanted = request->count < most ? request->count : most;
	HgExchangeRows rows;
	unsigned char *results;
	/* arrays have a multiple of 8 elements */
	HgStatus status =
		hg_server_room_take(job, (wanted + 7) / 8 * 8 * bytes, &results, &reply->error);

	if (status == HG_OK)
	{
		hg_wire_lay_out_rows(&job->spec, side, session->results.part.bytes / bytes / 8 * 8, results,
							 &rows);
		if (rows.capacity > wanted)
			rows.capacity = (size_t) wanted;
		status = job->engine->take_rows(job->job, side, request->shard, &rows, &reply->error);
		reply->count = rows.count;
		reply->nulls = columns_with_nulls(job, side, &rows);
	}
	hg_server_room_answer(session, status, reply);
	return status;
}

HgStatus
hg_server_exchange_put(HgServerJob *job, const HgWireRequest *request, HgError *error)
{
	const HgSide side = (HgSide) request->side;
	HgExchangeRows rows;

	hg_wire_lay_out_rows(&job->spec, side, (request->count + 7) / 8 * 8,
						 job->session->config->staging + request->offset, &rows);
	rows.count = (size_t) request->count;
	for (uint32_t column = 0; column < job->spec.ncolumns[side]; column++)
		rows.has_nulls[column] = (request->columns & HG_WIRE_COLUMN(side, column)) != 0;
	return job->engine->put_rows(job->job, side, &rows, error);
}

HgStatus
hg_server_exchange_window(HgServerJob *job, const HgWireRequest *request, HgWireReply *reply)
{
	if (job->engine->window == NULL)
		return hg_error_set(&reply->error, HG_INVALID, NULL, "this engine offers no memory");
	return job->engine->window(job->job, (HgSide) request->side, &reply->window, &reply->error);
}

HgStatus
hg_server_exchange_send(HgServerJob *job, const HgWireRequest *request, HgError *error)
{
	HgStatus status;

	if (job->engine->send_rows == NULL || request->window.memory < 0)
		return hg_error_set(error, HG_INVALID, NULL, "nothing was offered that is in reach");
	status = job->engine->send_rows(job->job, (HgSide) request->side, request->shard,
									&request->window, error);
	return status == HG_OK ? job->engine->sent(job->job, (HgSide) request->side, error) : status;
}
