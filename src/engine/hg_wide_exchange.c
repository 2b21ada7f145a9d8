/*-------------------------------------------------------------------------
 *
 * hg_wide_exchange.c
 *	  Rows to the members that join them, through the memory of the caller.
 *
 * hg_exchange.h tells the whole way.  Sides are exchanged one after the other, so that no member
 * has to have room for more than what comes of one; parts are chosen once for both.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_memory.h"
#include "hg_wide_job.h"

#include <string.h>

/* How many rows each member has of each part of a side. */
typedef uint64_t Tally[HG_EXCHANGE_PARTS];

/* A buffer for rows of a side, in one piece of memory. */
typedef struct Buffer
{
	HgExchangeRows rows;
	void *memory;
	uint64_t bytes;
} Buffer;

static HgStatus
buffer_open(Buffer *buffer, const HgWideJob *job, HgSide side, HgError *error)
{
	/* as many of any width make arrays that are aligned */
	const uint64_t all = (job->rows[side] + 63) / 64 * 64;
	const uint64_t rows = all < HG_WIDE_ROWS ? all : HG_WIDE_ROWS;
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

/* All rows that one member has for another. */
static HgStatus
move_rows(HgWideJob *job, HgSide side, uint32_t from, uint32_t to, HgExchangeRows *rows,
		  HgError *error)
{
	HgWideMember *source = &job->member[from];
	HgWideMember *target = &job->member[to];
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

/* Have each member make room for what will come. */
static HgStatus
expect_rows(HgWideJob *job, HgSide side, const Tally *tallies, const uint32_t *ends, HgError *error)
{
	HgExchange exchange = {.members = job->members, .numbers = job->rows[side]};
	HgStatus status = HG_OK;

	memcpy(exchange.ends, ends, sizeof(exchange.ends));
	for (uint32_t to = 0; to < job->members && status == HG_OK; to++)
	{
		exchange.self = to;
		for (uint32_t from = 0; from < job->members; from++)
			exchange.rows[from] = hg_exchange_rows_of(tallies[from], ends, to);
		status = job->member[to].calls.expect(job->member[to].job, side, &exchange, error);
	}
	return status;
}

static HgStatus
exchange_side(HgWideJob *job, HgSide side, const Tally *tallies, const uint32_t *ends,
			  HgError *error)
{
	Buffer buffer = {0};
	HgStatus status = expect_rows(job, side, tallies, ends, error);

	if (status == HG_OK && job->rows[side] > 0)
		status = buffer_open(&buffer, job, side, error);
	if (status != HG_OK)
		return status;
	for (uint32_t from = 0; from < job->members && status == HG_OK; from++)
		for (uint32_t to = 0; to < job->members && status == HG_OK; to++)
			if (from != to && hg_exchange_rows_of(tallies[from], ends, to) > 0)
				status = move_rows(job, side, from, to, &buffer.rows, error);
	hg_host_memory_free(job->host, buffer.memory, buffer.bytes);
	for (uint32_t to = 0; to < job->members && status == HG_OK; to++)
		status = job->member[to].calls.arrived(job->member[to].job, side, error);
	return status;
}

/* Have the rows of both sides tallied, and choose parts. */
static HgStatus
choose_parts(HgWideJob *job, Tally *tallies[2], uint32_t *ends, HgError *error)
{
	Tally sum = {0};

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t member = 0; member < job->members; member++)
		{
			HgWideMember *one = &job->member[member];
			HgStatus status =
				one->calls.tally(one->job, (HgSide) side, tallies[side][member], error);

			if (status != HG_OK)
				return status;
			for (uint32_t part = 0; part < HG_EXCHANGE_PARTS; part++)
				sum[part] += tallies[side][member][part];
		}
	hg_exchange_choose(job->members, sum, job->shares, ends);
	return HG_OK;
}

HgStatus
hg_wide_exchange(HgWideJob *job, HgError *error)
{
	const uint64_t bytes = 2 * job->members * sizeof(Tally);
	uint32_t ends[HG_MAX_MEMBERS];
	Tally *tallies[2];
	void *memory;
	HgStatus status = hg_host_memory_alloc(job->host, bytes, &memory, error);

	if (status != HG_OK)
		return status;
	tallies[HG_OUTER] = memory;
	tallies[HG_INNER] = tallies[HG_OUTER] + job->members;
	status = choose_parts(job, tallies, ends, error);
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		status = exchange_side(job, (HgSide) side, tallies[side], ends, error);
	hg_host_memory_free(job->host, memory, bytes);
	return status;
}
