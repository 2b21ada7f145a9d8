/*-------------------------------------------------------------------------
 *
 * hg_sharded_exchange.c
 *	  Rows to the shards that join them.
 *
 * hg_exchange.h tells the whole way.  Sides are exchanged one after the other, so that no shard has
 * to have room for more than what comes of one; parts are chosen once for both.
 *
 * Shards send each other their rows themselves, where they can (hg_offer.h), in as many rounds as
 * there are other shards: in each of them all send, and no two to the same one.  What is left goes
 * through the memory of the caller, from one pair of them after the other.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_memory.h"
#include "hg_offer.h"
#include "hg_sharded_job.h"

#include <string.h>
#include <unistd.h>

/* How many rows each shard has of each part of a side. */
typedef uint64_t Tally[HG_EXCHANGE_PARTS];

/* Rows of a side that go from one shard to another. */
typedef struct Moves
{
	uint64_t rows[HG_MAX_SHARDS][HG_MAX_SHARDS]; /* by who has them and who joins them, until
												  * they are there */
	uint64_t coming[HG_MAX_SHARDS];				 /* to each, before any have moved */
	HgOffer offers[HG_MAX_SHARDS];
	bool is_offered[HG_MAX_SHARDS];
	bool is_sent_to[HG_MAX_SHARDS]; /* others say that they have sent it rows */
} Moves;

/* A buffer for rows of a side, in one piece of memory. */
typedef struct Buffer
{
	HgExchangeRows rows;
	void *memory;
	uint64_t bytes;
} Buffer;

static HgStatus
buffer_open(Buffer *buffer, const HgShardedJob *job, HgSide side, HgError *error)
{
	/* as many of any width make arrays that are aligned */
	const uint64_t all = (job->rows[side] + 63) / 64 * 64;
	const uint64_t rows = all < HG_SHARDED_ROWS ? all : HG_SHARDED_ROWS;
	unsigned char *at;
	HgStatus status;

	buffer->bytes = rows * (job->spec.key_width + sizeof(uint32_t));
	for (uint32_t column = 0; column < job->spec.ncolumns[side]; column++)
		buffer->bytes += rows * (job->spec.column_width[side][column] + UINT64_C(1));
	status = hg_host_memory_alloc(job->host, buffer->bytes, &buffer->memory, error);
	if (status != HG_OK)
		return status;

	at = buffer->memory;
	buffer->rows.capacity = (size_t) rows;
	buffer->rows.keys = at;
	at += rows * job->spec.key_width;
	buffer->rows.numbers = (uint32_t *) (void *) at;
	at += rows * sizeof(uint32_t);
	for (uint32_t column = 0; column < job->spec.ncolumns[side]; column++)
	{
		buffer->rows.values[column] = at;
		at += rows * job->spec.column_width[side][column];
		buffer->rows.nulls[column] = at;
		at += rows;
	}
	return HG_OK;
}

/* All rows that one shard has for another. */
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
			status = source->calls.take_rows(source->job, side, to, rows, error);
		if (status != HG_OK || rows->count == 0)
			return status;
		status = target->calls.put_rows(target->job, side, rows, error);
		if (status != HG_OK)
			return status;
	}
}

/* Have each shard make room for what will come. */
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
		status = job->shard[to].calls.expect(job->shard[to].job, side, &exchange, error);
	}
	return status;
}

/* ------------------------------------------------------------------------
 * From shard to shard
 * ------------------------------------------------------------------------ */

/* Have each shard that rows come to offer memory for them, where it can. */
static HgStatus
take_offers(HgShardedJob *job, HgSide side, Moves *moves, HgError *error)
{
	for (uint32_t to = 0; to < job->shards; to++)
	{
		HgShard *shard = &job->shard[to];
		HgStatus status;

		if (moves->coming[to] == 0 || shard->calls.offer == NULL)
			continue;
		status = shard->calls.offer(shard->job, side, &moves->offers[to], error);
		moves->is_offered[to] = status == HG_OK;
		if (status != HG_OK && status != HG_INVALID)
			return status;
	}
	return HG_OK;
}

static void
close_offers(Moves *moves)
{
	for (uint32_t to = 0; to < HG_MAX_SHARDS; to++)
		if (moves->is_offered[to])
			close(moves->offers[to].memory);
}

/* Have each shard send its rows to the one that is so far behind it, all at a time. */
static HgStatus
send_round(HgShardedJob *job, HgSide side, uint32_t distance, Moves *moves, HgError *error)
{
	bool sends[HG_MAX_SHARDS] = {false};
	HgStatus status = HG_OK;

	for (uint32_t from = 0; from < job->shards && status == HG_OK; from++)
	{
		const uint32_t to = (from + distance) % job->shards;
		HgShard *shard = &job->shard[from];

		if (moves->rows[from][to] == 0 || !moves->is_offered[to] || shard->calls.send_rows == NULL)
			continue;
		status = shard->calls.send_rows(shard->job, side, to, &moves->offers[to], error);
		sends[from] = status == HG_OK;
		status = status == HG_INVALID ? HG_OK : status;
	}
	for (uint32_t from = 0; from < job->shards && status == HG_OK; from++)
	{
		const uint32_t to = (from + distance) % job->shards;

		if (!sends[from])
			continue;
		status = job->shard[from].calls.sent(job->shard[from].job, side, error);
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

/* Have shards send what they can themselves. */
static HgStatus
send_rows(HgShardedJob *job, HgSide side, Moves *moves, HgError *error)
{
	HgStatus status = take_offers(job, side, moves, error);

	for (uint32_t distance = 1; distance < job->shards && status == HG_OK; distance++)
		status = send_round(job, side, distance, moves, error);
	close_offers(moves);
	return status;
}

/* ------------------------------------------------------------------------
 * A side
 * ------------------------------------------------------------------------ */

/* The rows that each shard has for each other one. */
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

/* Move the rows that are left through memory of the caller, if there are any. */
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

/* All has come to a shard.  What it misses of what others say they have sent is not its fault. */
static HgStatus
rows_arrived(HgShardedJob *job, HgSide side, uint32_t to, const Moves *moves, HgError *error)
{
	HgStatus status = job->shard[to].calls.arrived(job->shard[to].job, side, error);

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

/* Have the rows of both sides tallied, and choose parts. */
static HgStatus
choose_parts(HgShardedJob *job, Tally *tallies[2], uint32_t *ends, HgError *error)
{
	Tally sum = {0};

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t shard = 0; shard < job->shards; shard++)
		{
			HgShard *one = &job->shard[shard];
			HgStatus status =
				one->calls.tally(one->job, (HgSide) side, tallies[side][shard], error);

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
	HgStatus status = hg_host_memory_alloc(job->host, bytes, &memory, error);

	if (status != HG_OK)
		return status;
	tallies[HG_OUTER] = memory;
	tallies[HG_INNER] = tallies[HG_OUTER] + job->shards;
	status = choose_parts(job, tallies, ends, error);
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		status = exchange_side(job, (HgSide) side, tallies[side], ends, error);
	hg_host_memory_free(job->host, memory, bytes);
	return status;
}
