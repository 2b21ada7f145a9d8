/*-------------------------------------------------------------------------
 *
 * hg_wire_exchange.c
 *	  A shard's exchange of rows, as the client of a device process.
 *
 * hg_exchange.h describes the protocol.  put_rows sends rows like appended ones: each piece in a
 * slot of the lease, whose answer is read when the slot is needed again.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_wire_internal.h"

#include <string.h>

/*
 * Checks that a call of the exchange is allowed now.  It answers here what the engine would
 * refuse: the device process ends the connection of a client that sends such a request for a job
 * that is no shard.
 */
static HgStatus
check_exchange(HgRemoteJob *job, HgSide side, bool expecting, HgError *error)
{
	HG_TRY(hg_wire_send_check_side(job, side, error));
	if (job->spec.product.kind != HG_PRODUCT_SHARD)
		return hg_error_set(error, HG_INVALID, NULL, "the job is no member of several");
	if (job->exchange[side].expects != expecting || job->exchange[side].arrived)
		return hg_error_set(error, HG_INVALID, NULL, "this is not the time to exchange rows so");
	return HG_OK;
}

HgStatus
hg_wire_remote_tally(HgJob *handle, HgSide side, uint64_t *counts, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgWireMessage message;

	HG_TRY(check_exchange(job, side, false, error));
	memset(&message, 0, sizeof(message));
	message.request.side = (uint32_t) side;
	message.request.count = HG_EXCHANGE_PARTS;
	HG_TRY(hg_wire_job_ask(job, HG_WIRE_TALLY, &message, sizeof(*counts), error));
	memcpy(counts, hg_wire_job_results(job), HG_EXCHANGE_PARTS * sizeof(*counts));
	hg_wire_job_note(job->client, HG_WIRE_RELEASE, job->id);
	if (!hg_wire_answer_has_tally(job, side, counts))
		return hg_wire_client_distrust(job->client, error);
	memcpy(job->exchange[side].counts, counts, sizeof(job->exchange[side].counts));
	job->exchange[side].is_tallied = true;
	return HG_OK;
}

HgStatus
hg_wire_remote_expect(HgJob *handle, HgSide side, const HgExchange *exchange, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgRemoteExchange *own;
	HgWireMessage message;

	HG_TRY(check_exchange(job, side, false, error));
	HG_TRY(hg_exchange_check(exchange, job->spec.product.shards, error));
	memset(&message, 0, sizeof(message));
	message.request.side = (uint32_t) side;
	message.request.exchange = *exchange;
	HG_TRY(hg_wire_job_ask(job, HG_WIRE_EXPECT, &message, 0, error));
	own = &job->exchange[side];
	own->expects = true;
	own->rows = hg_exchange_rows(exchange);
	own->numbers = exchange->numbers;
	memcpy(own->ends, exchange->ends, sizeof(own->ends));
	for (uint32_t shard = 0; shard < exchange->shards; shard++)
		own->left[shard] = hg_exchange_rows_of(own->counts, own->ends, shard);
	return HG_OK;
}

/* Copies rows out of staging, or into it. */
static void
copy_rows(const HgJobSpec *spec, HgSide side, const HgExchangeRows *from, HgExchangeRows *to)
{
	memcpy(to->keys, from->keys, to->count * spec->key_width);
	memcpy(to->numbers, from->numbers, to->count * sizeof(uint32_t));
	for (uint32_t column = 0; column < spec->sides[side].ncolumns; column++)
	{
		memcpy(to->values[column], from->values[column],
			   to->count * spec->sides[side].column_width[column]);
		to->has_nulls[column] = from->has_nulls[column];
		if (to->has_nulls[column])
			memcpy(to->nulls[column], from->nulls[column], to->count);
	}
}

/*
 * Copies rows for another shard out of an answer, and checks the copy.  The other shard would
 * refuse rows that are not of its parts, or a wrong number of them, and would be taken for the
 * liar.
 */
static HgStatus
take_answer(HgRemoteJob *job, HgSide side, uint32_t shard, HgExchangeRows *rows, HgError *error)
{
	const HgWireReply *reply = &job->client->message.reply;
	const uint64_t room = reply->lease_bytes / hg_wire_row_bytes(&job->spec, side) / 8 * 8;
	HgExchangeRows placed;

	if (reply->count > room)
		return hg_wire_client_distrust(job->client, error);
	hg_wire_lay_out_rows(&job->spec, side, room, hg_wire_job_results(job), &placed);
	for (uint32_t column = 0; column < job->spec.sides[side].ncolumns; column++)
		placed.has_nulls[column] = (reply->nulls & HG_WIRE_COLUMN(side, column)) != 0;
	rows->count = (size_t) reply->count;
	copy_rows(&job->spec, side, &placed, rows);
	if (reply->lease_bytes > 0)
		hg_wire_job_note(job->client, HG_WIRE_RELEASE, job->id);
	if (hg_wire_answer_has_rows(job, side, shard, rows))
		return HG_OK;
	rows->count = 0;
	return hg_wire_client_distrust(job->client, error);
}

HgStatus
hg_wire_remote_take_rows(HgJob *handle, HgSide side, uint32_t shard, HgExchangeRows *rows,
						 HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgWireMessage message;

	rows->count = 0;
	HG_TRY(check_exchange(job, side, true, error));
	if (rows->capacity == 0)
		return hg_error_set(error, HG_INVALID, NULL, "there is no room for a row");
	memset(&message, 0, sizeof(message));
	message.request.side = (uint32_t) side;
	message.request.shard = shard;
	message.request.count = rows->capacity;
	HG_TRY(hg_wire_job_ask(job, HG_WIRE_TAKE_ROWS, &message, hg_wire_row_bytes(&job->spec, side),
						   error));
	return take_answer(job, side, shard, rows, error);
}

/* Returns the rows from index at on. */
static HgExchangeRows
rows_from(const HgJobSpec *spec, HgSide side, const HgExchangeRows *rows, size_t at)
{
	HgExchangeRows rest = *rows;

	rest.keys = (unsigned char *) rows->keys + at * spec->key_width;
	rest.numbers = rows->numbers + at;
	for (uint32_t column = 0; column < spec->sides[side].ncolumns; column++)
	{
		rest.values[column] =
			(unsigned char *) rows->values[column] + at * spec->sides[side].column_width[column];
		if (rows->has_nulls[column])
			rest.nulls[column] = rows->nulls[column] + at;
	}
	return rest;
}

HgStatus
hg_wire_remote_put_rows(HgJob *handle, HgSide side, const HgExchangeRows *rows, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status = check_exchange(job, side, true, error);

	for (size_t at = 0; at < rows->count && status == HG_OK;)
	{
		const uint64_t most = job->slot_bytes / hg_wire_row_bytes(&job->spec, side) / 8 * 8;
		const HgExchangeRows rest = rows_from(&job->spec, side, rows, at);
		HgExchangeRows placed;
		HgWireMessage message;
		unsigned char *to;

		status = hg_wire_send_begin(job, most, rows->count - at, &message, &to, error);
		if (status != HG_OK)
			break;
		hg_wire_lay_out_rows(&job->spec, side, (message.request.count + 7) / 8 * 8, to, &placed);
		placed.count = (size_t) message.request.count;
		copy_rows(&job->spec, side, &rest, &placed);
		message.request.side = (uint32_t) side;
		for (uint32_t column = 0; column < job->spec.sides[side].ncolumns; column++)
			if (rows->has_nulls[column])
				message.request.columns |= HG_WIRE_COLUMN(side, column);
		at += placed.count;
		status = hg_wire_job_send(job, HG_WIRE_PUT_ROWS, &message, error);
	}
	return status;
}

HgStatus
hg_wire_remote_arrived(HgJob *handle, HgSide side, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;

	HG_TRY(check_exchange(job, side, true, error));
	HG_TRY(hg_wire_job_ask_side(job, HG_WIRE_ARRIVED, side, error));
	job->exchange[side].arrived = true;
	return HG_OK;
}

/*
 * Takes the descriptor that came with the last message; the caller owns it then.  An answer
 * without one is not invalid: this process may have no free descriptor number.
 */
static HgStatus
take_window(HgWireClient *client, HgPeerWindow *window, HgError *error)
{
	*window = client->message.reply.window;
	window->memory = client->attached;
	client->attached = -1;
	if (window->memory < 0)
		return hg_error_set(error, HG_INVALID, NULL, "no descriptor of what was offered has come");
	return HG_OK;
}

HgStatus
hg_wire_remote_window(HgJob *handle, HgSide side, HgPeerWindow *window, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;

	HG_TRY(check_exchange(job, side, true, error));
	HG_TRY(hg_wire_job_ask_side(job, HG_WIRE_PEER_WINDOW, side, error));
	return take_window(job->client, window, error);
}

HgStatus
hg_wire_remote_send_rows(HgJob *handle, HgSide side, uint32_t shard, const HgPeerWindow *window,
						 HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status = check_exchange(job, side, true, error);
	HgRemoteExchange *exchange = &job->exchange[side];
	HgWireMessage message;

	if (status == HG_OK && (shard >= job->spec.product.shards || exchange->sending != 0))
		status = hg_error_set(error, HG_INVALID, NULL, "rows can not be sent there now");
	if (status != HG_OK)
		return status;
	memset(&message, 0, sizeof(message));
	message.request.side = (uint32_t) side;
	message.request.shard = shard;
	message.request.window = *window;
	message.request.window.memory = 0;
	status = hg_wire_job_send_descriptor(job, HG_WIRE_SEND_ROWS, &message, window->memory, error);
	exchange->sending = job->client->sequence;
	exchange->sending_to = shard;
	return status;
}

HgStatus
hg_wire_remote_sent(HgJob *handle, HgSide side, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgRemoteExchange *exchange = &job->exchange[side == HG_INNER ? HG_INNER : HG_OUTER];
	const uint64_t sending = exchange->sending;
	HgStatus status;

	if (sending == 0)
		return hg_error_set(error, HG_INVALID, NULL, "no rows are being sent");
	exchange->sending = 0;
	/* the answer may have been read before */
	status = hg_wire_job_usable(job, error);
	if (status == HG_OK)
		status = hg_wire_job_wait(job, sending, error);
	if (status == HG_OK)
		exchange->left[exchange->sending_to] = 0;
	/* the job has not failed */
	if (status == HG_INVALID)
		job->failure.status = HG_OK;
	return status;
}
