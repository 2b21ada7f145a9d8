/*-------------------------------------------------------------------------
 *
 * hg_sharded_exchange.c
 *	  Moves rows to the shards that join them.
 *
 * hg_exchange.h describes the protocol.  The sides are exchanged one after the other, so that a
 * shard needs room for the incoming rows of one side only; parts are chosen once for both.
 *
 * Shards that can do so send rows to each other directly (hg_peer_window.h), in as many rounds as
 * there are other shards.  In each round all shards send, no two to the same one.  The remaining
 * rows go through the caller's memory, from one pair of shards after the other.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_peer_window.h"
#include "hg_sharded_job.h"

#include <string.h>
#include <unistd.h>

/* Rows of a side in each part, for one shard. */
typedef uint64_t Tally[HG_EXCHANGE_PARTS];

/* Rows of a side that move from one shard to another. */
typedef struct Moves
{
	uint64_t rows[HG_MAX_SHARDS][HG_MAX_SHARDS]; /* [from][to] rows that have not moved yet */
	uint64_t coming[HG_MAX_SHARDS];				 /* [to] rows, before any have moved */
	HgPeerWindow windows[HG_MAX_SHARDS];
	bool has_window[HG_MAX_SHARDS];
	bool is_sent_to[HG_MAX_SHARDS]; /* [to] some shard reports that it has sent rows */
} Moves;

/* A buffer for rows of a side, in one block of memory. */
typedef struct Buffer
{
	HgExchangeRows rows;
	void *memory;
	uint64_t bytes;
} Buffer;

static HgStatus
buffer_open(Buffer *buffer, const HgShardedJob *job, HgSide side, HgError *error)
{
	/* a multiple of 64, so that arrays of any width are aligned */
	const uint64_t all = (job->rows[side] + 63) / 64 * 64;
	const uint64_t rows = all < HG_SHARDED_ROWS ? all : HG_SHARDED_ROWS;
	unsigned char *at;

	buffer->bytes = rows * (job->spec.key_width + sizeof(uint32_t));
	for (uint32_t column = 0; column < job->spec.sides[side].ncolumns; column++)
		buffer->bytes += rows * (job->spec.sides[side].column_width[column] + UINT64_C(1));
	HG_TRY(hg_host_memory_alloc(job->host, buffer->bytes, &buffer->memory, error));

	at = buffer->memory;
	buffer->rows.capacity = (size_t) rows;
	buffer->rows.keys = at;
	at += rows * job->spec.key_width;
	buffer->rows.numbers = (uint32_t *) (void *) at;
	at += rows * sizeof(uint32_t);
	for (uint32_t column = 0; column < job->spec.sides[side].ncolumns; column++)
	{
		buffer->rows.values[column] = at;
		at += rows * job->spec.sides[side].column_width[column];
		buffer->rows.nulls[column] = at;
		at += rows;
	}
	return HG_OK;
}

/* Moves all rows that one shard has for another through a buffer. */
static HgStatus
move_rows(HgShardedJob *job, HgSide side, uint32_t from, uint32_t to, HgExchangeRows *rows,
		  HgError *error)
{
	HgShard *source = &job->shard[from];
	HgShard *target = &job->shard[to];
	HgStatus status;

	for (;;)
	{
		status = hg_host_check_cancel(job->host, error);
		if (status == HG_OK)
			status = source->calls.exchange->take_rows(source->job, side, to, rows, error);
		if (status != HG_OK || rows->count == 0)
			return status;
		status = target->calls.exchange->put_rows(target->job, side, rows, error);
		if (status != HG_OK)
			return status;
	}
}

/* Calls expect on each shard, which makes room for incoming rows. */
static HgStatus
expect_rows(HgShardedJob *job, HgSide side, const Tally *tallies, const uint32_t *ends,
			HgError *error)
{
	HgExchange exchange = {.shards = job->shards, .numbers = job->rows[side]};
	HgStatus status = HG_OK;

	memcpy(exchange.ends, ends, sizeof(exchange.ends));
	for (uint32_t to = 0; to < job->shards && status == HG_OK; to++)
	{
		exchange.self = to;
		for (uint32_t from = 0; from < job->shards; from++)
			exchange.rows[from] = hg_exchange_rows_of(tallies[from], ends, to);
		status = job->shard[to].calls.exchange->expect(job->shard[to].job, side, &exchange, error);
	}
	return status;
}

/* ------------------------------------------------------------------------
 * From shard to shard
 * ------------------------------------------------------------------------ */

/* Takes a peer window from each shard that rows come to, if it opens one. */
static HgStatus
make_windows(HgShardedJob *job, HgSide side, Moves *moves, HgError *error)
{
	for (uint32_t to = 0; to < job->shards; to++)
	{
		HgShard *shard = &job->shard[to];
		HgStatus status;

		if (moves->coming[to] == 0 || shard->calls.windows == NULL)
			continue;
		status = shard->calls.windows->window(shard->job, side, &moves->windows[to], error);
		moves->has_window[to] = status == HG_OK;
		if (status != HG_OK && status != HG_INVALID)
			return status;
	}
	return HG_OK;
}

static void
close_windows(Moves *moves)
{
	for (uint32_t to = 0; to < HG_MAX_SHARDS; to++)
		if (moves->has_window[to])
			close(moves->windows[to].memory);
}

/* Makes each shard send its rows to the shard at this distance after it, all in parallel. */
static HgStatus
send_round(HgShardedJob *job, HgSide side, uint32_t distance, Moves *moves, HgError *error)
{
	bool sends[HG_MAX_SHARDS] = {false};
	HgStatus status = HG_OK;

	for (uint32_t from = 0; from < job->shards && status == HG_OK; from++)
	{
		const uint32_t to = (from + distance) % job->shards;
		HgShard *shard = &job->shard[from];

		if (moves->rows[from][to] == 0 || !moves->has_window[to] || shard->calls.windows == NULL)
			continue;
		status = shard->calls.windows->send_rows(shard->job, side, to, &moves->windows[to], error);
		sends[from] = status == HG_OK;
		status = status == HG_INVALID ? HG_OK : status;
	}
	for (uint32_t from = 0; from < job->shards && status == HG_OK; from++)
	{
		const uint32_t to = (from + distance) % job->shards;

		if (!sends[from])
			continue;
		status = job->shard[from].calls.windows->sent(job->shard[from].job, side, error);
		if (status == HG_OK)
		{
			job->sent += moves->rows[from][to];
			moves->rows[from][to] = 0;
			moves->is_sent_to[to] = true;
		}
		status = status == HG_INVALID ? HG_OK : status;
	}
	return status;
}

/* Makes the shards send directly what they can. */
static HgStatus
send_rows(HgShardedJob *job, HgSide side, Moves *moves, HgError *error)
{
	HgStatus status = make_windows(job, side, moves, error);

	for (uint32_t distance = 1; distance < job->shards && status == HG_OK; distance++)
		status = send_round(job, side, distance, moves, error);
	close_windows(moves);
	return status;
}

/* ------------------------------------------------------------------------
 * A side
 * ------------------------------------------------------------------------ */

/* Sets the rows that each shard has for each other one. */
static void
find_moves(const HgShardedJob *job, const Tally *tallies, const uint32_t *ends, Moves *moves)
{
	memset(moves, 0, sizeof(*moves));
	for (uint32_t from = 0; from < job->shards; from++)
		for (uint32_t to = 0; to < job->shards; to++)
			if (from != to)
			{
				moves->rows[from][to] = hg_exchange_rows_of(tallies[from], ends, to);
				moves->coming[to] += moves->rows[from][to];
			}
}

/* Moves the remaining rows, if there are any, through the caller's memory. */
static HgStatus
move_rest(HgShardedJob *job, HgSide side, const Moves *moves, HgError *error)
{
	Buffer buffer = {0};
	HgStatus status = HG_OK;

	for (uint32_t from = 0; from < job->shards && status == HG_OK; from++)
		for (uint32_t to = 0; to < job->shards && status == HG_OK; to++)
		{
			if (moves->rows[from][to] == 0)
				continue;
			if (buffer.memory == NULL)
				status = buffer_open(&buffer, job, side, error);
			if (status == HG_OK)
				status = move_rows(job, side, from, to, &buffer.rows, error);
		}
	hg_host_memory_free(job->host, buffer.memory, buffer.bytes);
	return status;
}

/*
 * Ends the exchange for a shard.  If it misses rows that another shard reported as sent, the
 * failure is that of the connection between them, not its own.
 */
static HgStatus
rows_arrived(HgShardedJob *job, HgSide side, uint32_t to, const Moves *moves, HgError *error)
{
	HgStatus status = job->shard[to].calls.exchange->arrived(job->shard[to].job, side, error);

	if (status == HG_INVALID && moves->is_sent_to[to])
		status = hg_error_set(error, HG_CONNECTION_LOST, NULL,
							  "rows that one device sent to another have not come there");
	return status;
}

static HgStatus
exchange_side(HgShardedJob *job, HgSide side, const Tally *tallies, const uint32_t *ends,
			  HgError *error)
{
	Moves moves;
	HgStatus status = expect_rows(job, side, tallies, ends, error);

	find_moves(job, tallies, ends, &moves);
	for (uint32_t to = 0; to < job->shards; to++)
		job->moved += moves.coming[to];
	if (status == HG_OK)
		status = send_rows(job, side, &moves, error);
	if (status == HG_OK)
		status = move_rest(job, side, &moves, error);
	for (uint32_t to = 0; to < job->shards && status == HG_OK; to++)
		status = rows_arrived(job, side, to, &moves, error);
	return status;
}

/* Tallies the rows of both sides, and chooses the parts. */
static HgStatus
choose_parts(HgShardedJob *job, Tally *tallies[2], uint32_t *ends, HgError *error)
{
	Tally sum = {0};

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t shard = 0; shard < job->shards; shard++)
		{
			HgShard *one = &job->shard[shard];
			HgStatus status =
				one->calls.exchange->tally(one->job, (HgSide) side, tallies[side][shard], error);

			if (status != HG_OK)
				return status;
			for (uint32_t part = 0; part < HG_EXCHANGE_PARTS; part++)
				sum[part] += tallies[side][shard][part];
		}
	hg_exchange_choose(job->shards, sum, job->shares, ends);
	return HG_OK;
}

HgStatus
hg_sharded_exchange(HgShardedJob *job, HgError *error)
{
	const uint64_t bytes = 2 * job->shards * sizeof(Tally);
	uint32_t ends[HG_MAX_SHARDS];
	Tally *tallies[2];
	void *memory;
	HgStatus status;

	HG_TRY(hg_host_memory_alloc(job->host, bytes, &memory, error));
	tallies[HG_OUTER] = memory;
	tallies[HG_INNER] = tallies[HG_OUTER] + job->shards;
	status = choose_parts(job, tallies, ends, error);
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		status = exchange_side(job, (HgSide) side, tallies[side], ends, error);
	hg_host_memory_free(job->host, memory, bytes);
	return status;
}
