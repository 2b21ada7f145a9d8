/*-------------------------------------------------------------------------
 *
 * hg_small_device.c
 *	  The CPU engine as a device with little memory of its own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L /* posix_memalign */

#include "hg_small_device.h"

#include "../../src/engine/cpu/hg_cpu.h"
#include "../../src/engine/hg_shape.h"
#include "hg_host_window.h"

#include <stdlib.h>
#include <string.h>

/* Keys that one append brought. */
typedef struct Copy
{
	struct Copy *next;
	uint64_t keys[];
} Copy;

typedef struct SmallJob
{
	HgHost host; /* lent to that engine; its arg is this struct */
	const HgHost *caller_host;
	HgEngine *engine; /* the CPU's, or of shards */
	HgJob *job;
	HgHostReduce reduce; /* has the spec */
	uint64_t limit;		 /* 0 = none */
	uint64_t held;
	bool full;	  /* the limit was reached */
	bool started; /* it has been built, which build will tell */
	HgStatus build_status;
	HgError build_error;
	uint64_t outer_rows;
	bool emitted; /* the stream has begun */
	Copy *copies;
	HgHostWindow windows[2]; /* by HgSide */
} SmallJob;

static uint64_t device_bytes;
static bool has_windows; /* memory of shards */
static HgHostSendFault fault;
static uint64_t most_outer_rows[HG_SMALL_STAGES];
static uint64_t held; /* by all jobs */
static int open_jobs;
static int most_open_jobs;
static uint64_t most_held;
static uint64_t jobs;

static SmallJob *
job_of(HgJob *handle)
{
	return (SmallJob *) handle;
}

/* Has a job room for so many bytes more? */
static bool
fits(const SmallJob *job, uint64_t bytes)
{
	return (job->limit == 0 || (bytes <= job->limit && job->held <= job->limit - bytes)) &&
		   (device_bytes == 0 || (bytes <= device_bytes && held <= device_bytes - bytes));
}

static void
hold(SmallJob *job, uint64_t bytes)
{
	job->held += bytes;
	held += bytes;
	most_held = held > most_held ? held : most_held;
}

static void
let_go(SmallJob *job, uint64_t bytes)
{
	job->held -= bytes;
	held -= bytes;
}

static void *
small_alloc(void *arg, size_t bytes)
{
	SmallJob *job = arg;
	void *ptr;

	if (!fits(job, bytes))
	{
		job->full = true;
		return NULL;
	}
	if (posix_memalign(&ptr, 64, bytes) != 0)
		return NULL;
	hold(job, bytes);
	return ptr;
}

static void
small_free(void *arg, void *ptr, size_t bytes)
{
	let_go(arg, bytes);
	free(ptr);
}

/* What was offered for a side, if it was, is not needed any more. */
static void
end_window(SmallJob *job, int side)
{
	if (job->windows[side].memory != NULL)
		let_go(job, job->windows[side].head.bytes);
	hg_host_window_free(&job->windows[side]);
}

static bool
small_cancelled(void *arg)
{
	SmallJob *job = arg;

	return job->caller_host->cancelled(job->caller_host->arg);
}

/* Is a job with so many outer rows to be refused at a stage? */
static bool
refused(HgSmallStage stage, uint64_t outer_rows)
{
	return most_outer_rows[stage] > 0 && outer_rows > most_outer_rows[stage];
}

static HgStatus
say_full(HgError *error)
{
	return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, NULL, "the small device is full");
}

/* What the CPU engine says for want of memory, a device says in its own way. */
static HgStatus
answer(SmallJob *job, HgStatus status, HgError *error)
{
	if (status == HG_OUT_OF_MEMORY && job->full)
		return say_full(error);
	return status;
}

static void
small_close(HgJob *handle)
{
	SmallJob *job = job_of(handle);

	if (job->job != NULL)
		job->engine->join->close(job->job);
	while (job->copies != NULL)
	{
		Copy *next = job->copies->next;

		free(job->copies);
		job->copies = next;
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		end_window(job, side);
	hg_host_reduce_free(&job->reduce);
	free(job);
	open_jobs--;
}

static HgStatus
small_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **handle,
		   HgError *error)
{
	HgJobSpec unlimited = *spec;
	SmallJob *job;
	HgStatus status = hg_spec_check(spec, error);

	(void) engine;
	if (status != HG_OK)
		return status;
	if (refused(HG_SMALL_OPEN, spec->sides[HG_OUTER].expected_rows))
		return say_full(error);
	job = calloc(1, sizeof(*job));
	if (job == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	job->host.alloc = small_alloc;
	job->host.free = small_free;
	job->host.cancelled = small_cancelled;
	job->host.arg = job;
	job->caller_host = host;
	job->engine = spec->product.kind == HG_PRODUCT_SHARD ? hg_host_exchange() : hg_cpu_engine();
	hg_host_reduce_init(&job->reduce, spec);
	job->limit = spec->memory_limit;
	open_jobs++;
	most_open_jobs = open_jobs > most_open_jobs ? open_jobs : most_open_jobs;
	jobs++;

	unlimited.memory_limit = 0;
	unlimited.sides[HG_OUTER].ncolumns = unlimited.sides[HG_INNER].ncolumns = 0;
	status = job->engine->open(job->engine, &job->host, &unlimited, &job->job, error);
	if (status != HG_OK)
	{
		status = answer(job, status, error);
		small_close((HgJob *) job);
		return status;
	}
	*handle = (HgJob *) job;
	return HG_OK;
}

/* Append keys, with or without the number of the first row. */
static HgStatus
append(SmallJob *job, HgSide side, const void *keys, uint64_t count, const uint64_t *first_row,
	   HgError *error)
{
	HgStatus status;
	Copy *copy;

	job->outer_rows += side == HG_OUTER ? count : 0;
	if (refused(HG_SMALL_APPEND, job->outer_rows))
		return say_full(error);
	copy = malloc(sizeof(Copy) + (size_t) count * job->reduce.job.key_width);
	if (copy == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	memcpy(copy->keys, keys, (size_t) count * job->reduce.job.key_width);
	copy->next = job->copies;
	job->copies = copy;
	status = hg_host_reduce_add_rows(
		&job->reduce, side, count, first_row != NULL ? *first_row : job->reduce.rows[side], error);
	if (status == HG_OK && first_row != NULL)
		status =
			job->engine->join->append_rows(job->job, side, copy->keys, count, *first_row, error);
	else if (status == HG_OK)
		status = job->engine->join->append(job->job, side, copy->keys, count, error);
	return answer(job, status, error);
}

static HgStatus
small_append(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	SmallJob *job = job_of(handle);

	/* what is refused for its size is not copied */
	if (count >= HG_MAX_ROWS / 2)
		return job->engine->join->append(job->job, side, keys, count, error);
	return append(job, side, keys, count, NULL, error);
}

static HgStatus
small_append_rows(HgJob *handle, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
				  HgError *error)
{
	return append(job_of(handle), side, keys, count, &first_row, error);
}

static HgStatus
small_append_column(HgJob *handle, HgSide side, uint32_t column, const void *values,
					const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	return hg_host_reduce_append(&job_of(handle)->reduce, side, column, values, nulls, count,
								 first_row, error);
}

static HgStatus
build(SmallJob *job, HgError *error)
{
	HgStatus status;

	if (refused(HG_SMALL_BUILD, job->outer_rows))
		return say_full(error);
	status = hg_host_reduce_check(&job->reduce, error);
	if (status == HG_OK)
		status = job->engine->join->build(job->job, error);
	return answer(job, status, error);
}

static HgStatus
small_build(HgJob *handle, HgError *error)
{
	SmallJob *job = job_of(handle);

	if (!job->started)
		return build(job, error);
	if (error != NULL && job->build_status != HG_OK)
		*error = job->build_error;
	return job->build_status;
}

/* It works in its caller's thread, and thus at once. */
static HgStatus
small_start(HgJob *handle, HgAhead ahead, HgMatchMode mode, const HgReduceSpec *spec,
			HgError *error)
{
	SmallJob *job = job_of(handle);

	(void) ahead;
	(void) mode;
	(void) spec;
	(void) error;
	job->started = true;
	job->build_status = build(job, &job->build_error);
	return HG_OK;
}

static HgStatus
small_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	SmallJob *job = job_of(handle);

	if (refused(HG_SMALL_MATCH, job->outer_rows))
		return say_full(error);
	job->emitted = false;
	return job->engine->join->match(job->job, mode, error);
}

static HgStatus
small_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	SmallJob *job = job_of(handle);

	if (!job->emitted && refused(HG_SMALL_NEXT, job->outer_rows))
		return say_full(error);
	job->emitted = true;
	return hg_host_reduce_gather(&job->reduce, job->engine, job->job, matches, error);
}

static HgStatus
small_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	SmallJob *job = job_of(handle);

	if (refused(HG_SMALL_COUNT, job->outer_rows))
		return say_full(error);
	return job->engine->join->count(job->job, mode, matches, error);
}

static HgStatus
small_reduce(HgJob *handle, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
			 HgError *error)
{
	SmallJob *job = job_of(handle);

	if (refused(HG_SMALL_REDUCE, job->outer_rows))
		return say_full(error);
	return hg_host_reduce_run(&job->reduce, job->engine, job->job, mode, spec, groups, error);
}

static HgStatus
small_next_groups(HgJob *handle, HgGroupRecords *records, HgError *error)
{
	return hg_host_reduce_next(&job_of(handle)->reduce, records, error);
}

static HgStatus
small_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	SmallJob *job = job_of(handle);

	if (refused(HG_SMALL_DESCRIBE, job->outer_rows))
		return say_full(error);
	return job->engine->join->describe(job->job, side, stats, error);
}

static HgStatus
small_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
				   uint32_t *edge_rows, HgError *error)
{
	return job_of(handle)->engine->join->export_graph(job_of(handle)->job, side, offsets, edge_keys,
													  edge_rows, error);
}

static HgStatus
small_tally(HgJob *handle, HgSide side, uint64_t *counts, HgError *error)
{
	SmallJob *job = job_of(handle);
	HgStatus status = hg_host_reduce_check(&job->reduce, error);

	return status == HG_OK ? job->engine->exchange->tally(job->job, side, counts, error) : status;
}

static HgStatus
small_expect(HgJob *handle, HgSide side, const HgExchange *exchange, HgError *error)
{
	SmallJob *job = job_of(handle);
	HgStatus status = job->engine->exchange->expect(job->job, side, exchange, error);

	if (status == HG_OK)
		hg_host_window_expect(&job->windows[side], &job->reduce.job, side, exchange);
	return answer(job, status, error);
}

static HgStatus
small_window(HgJob *handle, HgSide side, HgPeerWindow *made, HgError *error)
{
	SmallJob *job = job_of(handle);
	HgHostWindow *window = &job->windows[side];
	HgStatus status;

	if (!has_windows || !fits(job, window->head.bytes))
		return hg_error_set(error, HG_INVALID, NULL, "there is no memory to be offered");
	status = hg_host_window_make(window, made, error);
	if (status == HG_OK)
		hold(job, window->head.bytes);
	return status;
}

static HgStatus
small_send_rows(HgJob *handle, HgSide side, uint32_t shard, const HgPeerWindow *window,
				HgError *error)
{
	SmallJob *job = job_of(handle);

	return hg_host_window_send(&job->windows[side], job->engine, job->job, &job->reduce, side,
							   shard, window, fault, error);
}

/* They are there when send_rows has returned. */
static HgStatus
small_sent(HgJob *handle, HgSide side, HgError *error)
{
	(void) handle;
	(void) side;
	(void) error;
	return HG_OK;
}

static HgStatus
small_take_rows(HgJob *handle, HgSide side, uint32_t shard, HgExchangeRows *rows, HgError *error)
{
	SmallJob *job = job_of(handle);

	return hg_host_exchange_take(job->engine, job->job, &job->reduce, side, shard, rows, error);
}

static HgStatus
small_put_rows(HgJob *handle, HgSide side, const HgExchangeRows *rows, HgError *error)
{
	SmallJob *job = job_of(handle);

	return hg_host_exchange_put(job->engine, job->job, &job->reduce, side, rows, error);
}

static HgStatus
small_arrived(HgJob *handle, HgSide side, HgError *error)
{
	SmallJob *job = job_of(handle);
	HgStatus status =
		hg_host_window_take(&job->windows[side], job->engine, job->job, &job->reduce, side, error);

	end_window(job, side);
	if (status == HG_OK)
		status = job->engine->exchange->arrived(job->job, side, error);
	if (status == HG_OK)
		job->windows[side].exchange.shards = 0;
	return status;
}

static void
small_stats(HgJob *handle, HgJobStats *stats)
{
	job_of(handle)->engine->join->stats(job_of(handle)->job, stats);
}

static const HgJoinCalls small_join = HG_JOIN_CALLS(small);
static const HgColumnCalls small_columns = HG_COLUMN_CALLS(small);
static const HgAheadCalls small_ahead = {.start = small_start};
static const HgExchangeCalls small_exchange = HG_EXCHANGE_CALLS(small);
static const HgWindowCalls small_windows = HG_WINDOW_CALLS(small);

HgEngine *
hg_small_device(uint64_t bytes, bool by_itself)
{
	static HgEngine engine = {
		.name = "small device",
		.can = HG_CAN_NUMBER,
		.open = small_open,
		.join = &small_join,
		.columns = &small_columns,
		.exchange = &small_exchange,
		.windows = &small_windows,
	};

	device_bytes = bytes;
	engine.ahead = by_itself ? &small_ahead : NULL;
	return &engine;
}

void
hg_small_device_refuse(HgSmallStage stage, uint64_t outer_rows)
{
	most_outer_rows[stage] = outer_rows;
}

void
hg_small_device_set_windows(bool windows, HgHostSendFault how)
{
	has_windows = windows;
	fault = how;
}

int
hg_small_device_open_jobs(void)
{
	return open_jobs;
}

int
hg_small_device_most_jobs(void)
{
	int most = most_open_jobs;

	most_open_jobs = open_jobs;
	return most;
}

uint64_t
hg_small_device_most_bytes(void)
{
	uint64_t most = most_held;

	most_held = held;
	return most;
}

uint64_t
hg_small_device_jobs(void)
{
	return jobs;
}
