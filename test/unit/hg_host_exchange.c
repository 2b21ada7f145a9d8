/*-------------------------------------------------------------------------
 *
 * hg_host_exchange.c
 *	  An engine whose jobs exchange rows, by the plainest means: keys and numbers, in host memory.
 *
 * Rows are copied as they are appended.  What a shard keeps of them is copied again when it makes
 * room for all that it is to have, and what comes stands behind that.  The CPU engine gets its rows
 * when they are built, in that order, and numbers them so: matches are numbered anew on their way
 * out.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_exchange.h"

#include "../../src/engine/cpu/hg_cpu.h"

#include <stdlib.h>
#include <string.h>

/* Rows that are looked at between two polls of cancelled(). */
#define POLL_ROWS 65536

/* Rows, in memory of the host. */
typedef struct Rows
{
	unsigned char *keys; /* [capacity] of the job's width */
	uint32_t *numbers;	 /* [capacity] */
	uint64_t count;
	uint64_t capacity;
} Rows;

typedef enum Stage
{
	APPENDING = 0,
	EXPECTING,
	ARRIVED
} Stage;

typedef struct Side
{
	Stage stage;
	Rows rows; /* those that were appended, and then those that are its own */
	Rows come; /* room for its own, of a side that expects others */
	HgExchange exchange;
	uint8_t owners[HG_EXCHANGE_PARTS];
	uint64_t taken[HG_MAX_SHARDS]; /* rows that were looked at for each shard */
} Side;

typedef struct ExchangeJob
{
	const HgHost *host;
	HgJobSpec spec;
	HgJob *inside; /* of the CPU engine */
	Side sides[2];
	bool failed;
} ExchangeJob;

static ExchangeJob *
job_of(HgJob *handle)
{
	return (ExchangeJob *) handle;
}

/* Close a call: what the contract forbids has done nothing, all else is the job's end. */
static HgStatus
finish(ExchangeJob *job, HgStatus status)
{
	if (status != HG_OK && status != HG_INVALID)
		job->failed = true;
	return status;
}

/* ------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------ */

static void
rows_free(const ExchangeJob *job, Rows *rows)
{
	hg_host_memory_free(job->host, rows->keys, rows->capacity * job->spec.key_width);
	hg_host_memory_free(job->host, rows->numbers, rows->capacity * sizeof(uint32_t));
	memset(rows, 0, sizeof(*rows));
}

/* Have room for so many, of which there are fewer. */
static HgStatus
rows_resize(const ExchangeJob *job, Rows *rows, uint64_t capacity, HgError *error)
{
	Rows more = {.count = rows->count, .capacity = capacity};
	void *memory;
	HgStatus status =
		hg_host_memory_alloc(job->host, capacity * job->spec.key_width, &memory, error);

	if (status != HG_OK)
		return status;
	more.keys = memory;
	status = hg_host_memory_alloc(job->host, capacity * sizeof(uint32_t), &memory, error);
	more.numbers = memory;
	if (status != HG_OK)
	{
		hg_host_memory_free(job->host, more.keys, capacity * job->spec.key_width);
		return status;
	}
	if (rows->count > 0)
	{
		memcpy(more.keys, rows->keys, (size_t) rows->count * job->spec.key_width);
		memcpy(more.numbers, rows->numbers, (size_t) rows->count * sizeof(uint32_t));
	}
	rows_free(job, rows);
	*rows = more;
	return HG_OK;
}

/* Add a row that there is room for. */
static void
rows_add(const ExchangeJob *job, Rows *rows, const unsigned char *key, uint32_t number)
{
	memcpy(rows->keys + rows->count * job->spec.key_width, key, job->spec.key_width);
	rows->numbers[rows->count] = number;
	rows->count++;
}

/* The part of a key. */
static uint32_t
part_of(const ExchangeJob *job, const unsigned char *key)
{
	uint32_t narrow;
	uint64_t wide;

	if (job->spec.key_width == sizeof(narrow))
	{
		memcpy(&narrow, key, sizeof(narrow));
		return hg_exchange_part32(hg_mix32(narrow));
	}
	memcpy(&wide, key, sizeof(wide));
	return hg_exchange_part64(hg_mix64(wide));
}

/* The part of a row, and, now and then, whether to stop. */
static HgStatus
row_part(const ExchangeJob *job, const Rows *rows, uint64_t row, uint32_t *part, HgError *error)
{
	*part = part_of(job, rows->keys + row * job->spec.key_width);
	return row % POLL_ROWS == 0 ? hg_host_check_cancel(job->host, error) : HG_OK;
}

/* ------------------------------------------------------------------------
 * The exchange
 * ------------------------------------------------------------------------ */

/* Is a side where a call wants it to be? */
static HgStatus
check_stage(const ExchangeJob *job, HgSide side, Stage stage, HgError *error)
{
	if (job->failed)
		return hg_error_set(error, HG_INVALID, NULL, "the job has failed before");
	if (side != HG_OUTER && side != HG_INNER)
		return hg_error_set(error, HG_INVALID, NULL, "unknown side: %d", (int) side);
	if (job->sides[side].stage != stage)
		return hg_error_set(error, HG_INVALID, NULL, "this is not the time to exchange rows so");
	return HG_OK;
}

static HgStatus
engine_tally(HgJob *handle, HgSide which, uint64_t *counts, HgError *error)
{
	ExchangeJob *job = job_of(handle);
	HgStatus status = check_stage(job, which, APPENDING, error);

	if (status != HG_OK)
		return status;
	memset(counts, 0, HG_EXCHANGE_PARTS * sizeof(*counts));
	for (uint64_t row = 0; row < job->sides[which].rows.count && status == HG_OK; row++)
	{
		uint32_t part;

		status = row_part(job, &job->sides[which].rows, row, &part, error);
		counts[part]++;
	}
	return finish(job, status);
}

/* Keep the rows that are the job's own. */
static HgStatus
keep_rows(ExchangeJob *job, Side *side, HgError *error)
{
	for (uint64_t row = 0; row < side->rows.count; row++)
	{
		uint32_t part;
		HgStatus status = row_part(job, &side->rows, row, &part, error);

		if (status != HG_OK)
			return status;
		if (side->rows.numbers[row] >= side->exchange.numbers)
			return hg_error_set(error, HG_INVALID, NULL, "a row has a number beyond all others");
		if (side->owners[part] != side->exchange.self)
			continue;
		if (side->come.count == side->exchange.rows[side->exchange.self])
			return hg_error_set(error, HG_INVALID, NULL, "more rows stay than were said to");
		rows_add(job, &side->come, side->rows.keys + row * job->spec.key_width,
				 side->rows.numbers[row]);
	}
	if (side->come.count < side->exchange.rows[side->exchange.self])
		return hg_error_set(error, HG_INVALID, NULL, "fewer rows stay than were said to");
	return HG_OK;
}

static HgStatus
engine_expect(HgJob *handle, HgSide which, const HgExchange *exchange, HgError *error)
{
	ExchangeJob *job = job_of(handle);
	HgStatus status = check_stage(job, which, APPENDING, error);
	Side *side = &job->sides[which];

	if (status == HG_OK)
		status = hg_exchange_check(exchange, job->spec.product.shards, error);
	if (status != HG_OK)
		return status;
	side->exchange = *exchange;
	hg_exchange_owners(exchange, side->owners);
	status = rows_resize(job, &side->come, hg_exchange_rows(exchange) + 1, error);
	if (status == HG_OK)
		status = keep_rows(job, side, error);
	if (status == HG_OK)
		side->stage = EXPECTING;
	else
		rows_free(job, &side->come);
	return finish(job, status);
}

static HgStatus
engine_take_rows(HgJob *handle, HgSide which, uint32_t shard, HgExchangeRows *rows, HgError *error)
{
	ExchangeJob *job = job_of(handle);
	HgStatus status = check_stage(job, which, EXPECTING, error);
	Side *side = &job->sides[which];
	Rows taken = {.keys = rows->keys, .numbers = rows->numbers};

	rows->count = 0;
	if (status == HG_OK && (shard >= job->spec.product.shards || shard == side->exchange.self))
		status = hg_error_set(error, HG_INVALID, NULL, "there is no such other member");
	if (status == HG_OK && rows->capacity == 0)
		status = hg_error_set(error, HG_INVALID, NULL, "there is no room for a row");
	while (status == HG_OK && taken.count < rows->capacity && side->taken[shard] < side->rows.count)
	{
		const uint64_t row = side->taken[shard]++;
		uint32_t part;

		status = row_part(job, &side->rows, row, &part, error);
		if (side->owners[part] == shard)
			rows_add(job, &taken, side->rows.keys + row * job->spec.key_width,
					 side->rows.numbers[row]);
	}
	rows->count = status == HG_OK ? (size_t) taken.count : 0;
	return finish(job, status);
}

HgStatus
hg_host_exchange_count(HgJob *handle, HgSide which, uint32_t shard, uint64_t *rows, HgError *error)
{
	ExchangeJob *job = job_of(handle);
	HgStatus status = check_stage(job, which, EXPECTING, error);
	const Side *side = &job->sides[which];

	*rows = 0;
	if (status == HG_OK && (shard >= job->spec.product.shards || shard == side->exchange.self))
		status = hg_error_set(error, HG_INVALID, NULL, "there is no such other member");
	if (status == HG_OK && side->taken[shard] > 0)
		status = hg_error_set(error, HG_INVALID, NULL, "rows were taken already");
	for (uint64_t row = 0; status == HG_OK && row < side->rows.count; row++)
	{
		uint32_t part;

		status = row_part(job, &side->rows, row, &part, error);
		*rows += side->owners[part] == shard;
	}
	return finish(job, status);
}

void
hg_host_exchange_rewind(HgJob *handle, HgSide which, uint32_t shard)
{
	job_of(handle)->sides[which].taken[shard] = 0;
}

/* Are so many rows behind those that have come for the job? */
static HgStatus
check_rows(const ExchangeJob *job, const Side *side, uint64_t count, HgError *error)
{
	const Rows *come = &side->come;

	for (uint64_t row = come->count; row < come->count + count; row++)
	{
		if (side->owners[part_of(job, come->keys + row * job->spec.key_width)] !=
			side->exchange.self)
			return hg_error_set(error, HG_INVALID, NULL, "a row is another member's");
		if (come->numbers[row] >= side->exchange.numbers)
			return hg_error_set(error, HG_INVALID, NULL, "there is no row of that number");
	}
	return hg_host_check_cancel(job->host, error);
}

static HgStatus
engine_put_rows(HgJob *handle, HgSide which, const HgExchangeRows *rows, HgError *error)
{
	ExchangeJob *job = job_of(handle);
	HgStatus status = check_stage(job, which, EXPECTING, error);
	Rows *come;

	if (status != HG_OK)
		return status;
	come = &job->sides[which].come;
	if (rows->count > hg_exchange_rows(&job->sides[which].exchange) - come->count)
		return hg_error_set(error, HG_INVALID, NULL, "more rows come than were expected");
	/* copied first: others may write there */
	memcpy(come->keys + come->count * job->spec.key_width, rows->keys,
		   rows->count * job->spec.key_width);
	memcpy(come->numbers + come->count, rows->numbers, rows->count * sizeof(uint32_t));
	status = check_rows(job, &job->sides[which], rows->count, error);
	if (status == HG_OK)
		come->count += rows->count;
	return finish(job, status);
}

static HgStatus
engine_arrived(HgJob *handle, HgSide which, HgError *error)
{
	ExchangeJob *job = job_of(handle);
	HgStatus status = check_stage(job, which, EXPECTING, error);
	Side *side = &job->sides[which];

	if (status == HG_OK && side->come.count < hg_exchange_rows(&side->exchange))
		status = hg_error_set(error, HG_INVALID, NULL, "fewer rows have come than were expected");
	if (status != HG_OK)
		return status;
	rows_free(job, &side->rows);
	side->rows = side->come;
	memset(&side->come, 0, sizeof(side->come));
	side->stage = ARRIVED;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * The other calls
 * ------------------------------------------------------------------------ */

static HgStatus
engine_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **handle,
			HgError *error)
{
	HgJobSpec alone = *spec;
	void *memory;
	ExchangeJob *job;
	HgStatus status = hg_host_memory_alloc(host, sizeof(*job), &memory, error);

	(void) engine;
	if (status != HG_OK)
		return status;
	job = memory;
	memset(job, 0, sizeof(*job));
	job->host = host;
	job->spec = *spec;
	alone.product.kind = HG_PRODUCT_MATCHES;
	status = hg_cpu_engine()->open(hg_cpu_engine(), host, &alone, &job->inside, error);
	if (status != HG_OK)
	{
		hg_host_memory_free(host, job, sizeof(*job));
		return status;
	}
	*handle = (HgJob *) job;
	return HG_OK;
}

/* Room for so many rows of a side: for those that are expected, and then a quarter more each time.
 */
static uint64_t
capacity_for(const ExchangeJob *job, HgSide which, uint64_t rows)
{
	const uint64_t expected = job->spec.sides[which].expected_rows;

	return expected >= rows ? expected : rows + rows / 4;
}

static HgStatus
engine_append_rows(HgJob *handle, HgSide which, const void *keys, uint64_t count,
				   uint64_t first_row, HgError *error)
{
	ExchangeJob *job = job_of(handle);
	HgStatus status = check_stage(job, which, APPENDING, error);
	Rows *rows = &job->sides[which].rows;
	const unsigned char *key = keys;

	if (status != HG_OK || count == 0)
		return status;
	if (count >= HG_MAX_ROWS || first_row >= HG_MAX_ROWS - count ||
		rows->count >= HG_MAX_ROWS - count)
		status = hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in one side of a join");
	else if (rows->capacity < rows->count + count)
		status = rows_resize(job, rows, capacity_for(job, which, rows->count + count), error);
	for (uint64_t i = 0; i < count && status == HG_OK; i++, key += job->spec.key_width)
		rows_add(job, rows, key, (uint32_t) (first_row + i));
	return finish(job, status);
}

static HgStatus
engine_append(HgJob *handle, HgSide which, const void *keys, uint64_t count, HgError *error)
{
	(void) handle;
	(void) which;
	(void) keys;
	(void) count;
	return hg_error_set(error, HG_INVALID, NULL, "rows of a member are numbered by its caller");
}

static HgStatus
engine_build(HgJob *handle, HgError *error)
{
	ExchangeJob *job = job_of(handle);
	HgStatus status = HG_OK;

	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		status = check_stage(job, (HgSide) side, ARRIVED, error);
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		if (job->sides[side].rows.count > 0)
			status = hg_cpu_engine()->join->append(job->inside, (HgSide) side,
												   job->sides[side].rows.keys,
												   job->sides[side].rows.count, error);
	if (status == HG_OK)
		status = hg_cpu_engine()->join->build(job->inside, error);
	return finish(job, status);
}

static HgStatus
engine_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	return hg_cpu_engine()->join->match(job_of(handle)->inside, mode, error);
}

static HgStatus
engine_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	ExchangeJob *job = job_of(handle);
	HgStatus status = hg_cpu_engine()->join->next(job->inside, matches, error);

	for (size_t i = 0; i < matches->count; i++)
	{
		matches->outer[i] = job->sides[HG_OUTER].rows.numbers[matches->outer[i]];
		matches->inner[i] = job->sides[HG_INNER].rows.numbers[matches->inner[i]];
	}
	return status;
}

static HgStatus
engine_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	return hg_cpu_engine()->join->count(job_of(handle)->inside, mode, matches, error);
}

static HgStatus
engine_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	return hg_cpu_engine()->join->describe(job_of(handle)->inside, side, stats, error);
}

static HgStatus
engine_export_graph(HgJob *handle, HgSide which, uint32_t *offsets, void *edge_keys,
					uint32_t *edge_rows, HgError *error)
{
	ExchangeJob *job = job_of(handle);
	HgStatus status = hg_cpu_engine()->join->export_graph(job->inside, which, offsets, edge_keys,
														  edge_rows, error);

	if (status == HG_OK)
		for (uint64_t i = 0; i < job->sides[which].rows.count; i++)
			edge_rows[i] = job->sides[which].rows.numbers[edge_rows[i]];
	return status;
}

static void
engine_stats(HgJob *handle, HgJobStats *stats)
{
	ExchangeJob *job = job_of(handle);

	hg_cpu_engine()->join->stats(job->inside, stats);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		stats->rows[side] = job->sides[side].rows.count;
}

static void
engine_close(HgJob *handle)
{
	ExchangeJob *job = job_of(handle);

	hg_cpu_engine()->join->close(job->inside);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		rows_free(job, &job->sides[side].rows);
		rows_free(job, &job->sides[side].come);
	}
	hg_host_memory_free(job->host, job, sizeof(*job));
}

static const HgJoinCalls exchange_join = HG_JOIN_CALLS(engine);
static const HgExchangeCalls exchange_exchange = HG_EXCHANGE_CALLS(engine);

HgEngine *
hg_host_exchange(void)
{
	static HgEngine engine = {
		.name = "exchange",
		.can = HG_CAN_NUMBER,
		.open = engine_open,
		.join = &exchange_join,
		.exchange = &exchange_exchange,
	};

	return &engine;
}

/* ------------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------------ */

/* Fill in the columns of rows that have been taken. */
static void
read_columns(const HgHostReduce *reduce, HgSide side, HgExchangeRows *rows)
{
	for (uint32_t column = 0; column < reduce->job.sides[side].ncolumns; column++)
	{
		const uint32_t width = reduce->job.sides[side].column_width[column];
		unsigned char *values = rows->values[column];

		rows->has_nulls[column] = false;
		for (size_t i = 0; i < rows->count; i++)
		{
			uint64_t bits;

			rows->nulls[column][i] =
				hg_host_reduce_value(reduce, (uint32_t) side, column, rows->numbers[i], &bits);
			memcpy(values + i * width, &bits, width);
			rows->has_nulls[column] = rows->has_nulls[column] || rows->nulls[column][i] != 0;
		}
	}
}

HgStatus
hg_host_exchange_take(HgEngine *engine, HgJob *job, const HgHostReduce *reduce, HgSide side,
					  uint32_t shard, HgExchangeRows *rows, HgError *error)
{
	HgExchangeRows taken = *rows;
	uint32_t *numbers = malloc(rows->capacity * sizeof(uint32_t) + 1);
	HgStatus status;

	rows->count = 0;
	if (numbers == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	/* the caller's memory may be shared: others can write there what is no row */
	taken.numbers = numbers;
	status = engine->exchange->take_rows(job, side, shard, &taken, error);
	if (status == HG_OK)
	{
		read_columns(reduce, side, &taken);
		memcpy(rows->numbers, numbers, taken.count * sizeof(uint32_t));
		memcpy(rows->has_nulls, taken.has_nulls, sizeof(rows->has_nulls));
		rows->count = taken.count;
	}
	free(numbers);
	return status;
}

/* Have the columns of rows that are put. */
static HgStatus
write_columns(HgHostReduce *reduce, HgSide side, const HgExchangeRows *rows, HgError *error)
{
	for (size_t i = 0; i < rows->count; i++)
	{
		const uint32_t number = rows->numbers[i];
		HgStatus status = hg_host_reduce_add_rows(reduce, side, 1, number, error);

		for (uint32_t column = 0; column < reduce->job.sides[side].ncolumns && status == HG_OK;
			 column++)
			status = hg_host_reduce_append(reduce, side, column,
										   (const unsigned char *) rows->values[column] +
											   i * reduce->job.sides[side].column_width[column],
										   rows->has_nulls[column] ? &rows->nulls[column][i] : NULL,
										   1, number, error);
		if (status != HG_OK)
			return status;
	}
	return HG_OK;
}

HgStatus
hg_host_exchange_put(HgEngine *engine, HgJob *job, HgHostReduce *reduce, HgSide side,
					 const HgExchangeRows *rows, HgError *error)
{
	const size_t bytes = rows->count * sizeof(uint32_t);
	HgExchangeRows put = *rows;
	HgStatus status;

	/* the same of what is put: both are to know a row by the same number */
	put.numbers = malloc(bytes + 1);
	if (put.numbers == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	memcpy(put.numbers, rows->numbers, bytes);
	status = engine->exchange->put_rows(job, side, &put, error);
	if (status == HG_OK)
		status = write_columns(reduce, side, &put, error);
	free(put.numbers);
	return status;
}
