/*-------------------------------------------------------------------------
 *
 * hg_device_standin.c
 *	  A device process without a device: the CPU engine behind the real server.
 *
 * It takes the command line of hashgraph_device and speaks its messages, so that
 * everything but the kernels can be tested on a machine that has no GPU.  Tests
 * make it misbehave through the environment:
 *
 *	HG_STANDIN_DEVICES=n				sees n devices, of which it uses one; 1 where it is not set
 *	HG_STANDIN_HIDDEN=FILE				... but for the one whose number is in the file
 *	HG_STANDIN_FAULTY=n					heeds what makes a device fail, vanish or start late, or have
 *										neighbours, of those below, where it uses device n alone
 *	HG_STANDIN_UNAVAILABLE=1			says that there is no device
 *	HG_STANDIN_NO_PIN=1					refuses to pin the staging area
 *	HG_STANDIN_START_DELAY_MS=n			takes that long to start
 *	HG_STANDIN_END_DELAY_MS=n			takes that long to end, after it has closed its socket
 *	HG_STANDIN_DIE_AFTER_CHUNKS=n		dies, as of SIGKILL, when asked for chunk n + 1, or when
 *										groups are being made of it
 *	HG_STANDIN_OUT_OF_MEMORY=1			every build, of a graph or a table, has no device memory
 *	HG_STANDIN_FULL_OF_COLUMNS=1		every stream, and every reduce, of a job with columns
 *	HG_STANDIN_FAIL=1					every build fails as a broken device would
 *	HG_STANDIN_FAIL_WHILE=FILE			... while there is that file
 *	HG_STANDIN_HANG=1					never gets done with closing a job
 *	HG_STANDIN_HOLD_WHILE=FILE			waits after each start of a thread while there is that file
 *	HG_STANDIN_BUILD_MS=n				every build takes that long, and can be cancelled
 *	HG_STANDIN_BUILD_WHILE=FILE			... or lasts as long as there is that file
 *	HG_STANDIN_MEET="n FILE"			every count, every reduce, and to bring pages, waits until n of
 *										them are at it in all processes that are told the same file
 *	HG_STANDIN_COUNT_MS=n				every count and reduce takes that long, and can be cancelled
 *	HG_STANDIN_BRING_MS=n				to bring pages takes that long, and can be cancelled ...
 *	HG_STANDIN_TAKE_MS=n				... and so to take them
 *	HG_STANDIN_NO_PIECES=1				pages can't be brought
 *	HG_STANDIN_RECKON_MS=n				takes that long to say what a job needs
 *	HG_STANDIN_RECKON_WHILE=FILE		... or as long as there is that file
 *	HG_STANDIN_EVICT_MS=n				evicts jobs that have been idle for so long, rather than for
 *										two seconds
 *	HG_STANDIN_NEIGHBOURS=FILE			has so many bytes of memory less as the file says
 *	HG_STANDIN_FAST=1					says that jobs cost nothing, so that auto wants it for all
 *	HG_STANDIN_CONNECT_MS=n				says that the processes of a query take so long to connect
 *	HG_STANDIN_LIES="KIND ONE_IN SEED"	says what is not so (hg_lies.h)
 *	HG_STANDIN_FORGETS=1				has no kept graph any more when a job names it
 *	HG_STANDIN_RELEASE_MS=n				takes that long to release one
 *	HG_STANDIN_NO_OFFER=1				offers no memory to what sends it rows
 *	HG_STANDIN_SENDS=HOW				sends rows so: not at all ("not"), or once half of them are
 *										there "fails" or "dies"; or they have their keys altered
 *										("alters"), a number that is none ("numbers"), an end that
 *										says less ("short") or none ("silent")
 *	HG_STANDIN_SEND_MS=n				takes that long before it does, and can be cancelled
 *	HG_STANDIN_GROUP_KEY=n				says of the first group of columns that are kept that it has
 *										this key, and that it is not NULL
 *
 * Its device memory is what its jobs allocate, and the graphs that it keeps (hg_host_replica.h),
 * all together as much as the memory budget allows, of 1 GB where there is none.  A job needs 32
 * bytes for each row that it expects, and what its columns take, and a member of several another 24
 * for the exchange; one that has a table measured, its keys and what that table takes; and one that
 * is about kept graphs, or pages, what these say.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* usleep */
#endif

#include "../../cuda/server/hg_device_process.h"
#include "../../src/engine/cpu/hg_cpu.h"
#include "../../src/engine/hg_pages.h"
#include "../../src/engine/hg_shape.h"
#include "../../src/tables/hg_table_cpu.h"
#include "hg_host_exchange.h"
#include "hg_host_replica.h"
#include "hg_host_window.h"
#include "hg_lies.h"
#include "hg_standin_memory.h"
#include "hg_standin_wait.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The memory of a device that was given no budget, and what a job needs for a row. */
#define STANDIN_MEMORY (UINT64_C(1) << 30)
#define STANDIN_ROW_BYTES 32
#define STANDIN_EXCHANGE_BYTES 24

static HgEngine engine;
static HgHostReplica holding; /* the engine of jobs that are about kept graphs, or pages */

static uint64_t budget;									 /* of memory, while nobody else has any */
static int control;										 /* the socket that it was started with */
static int ordinal;										 /* of the device that it uses */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards ... */
static long chunks_to_live = -1;						 /* ... these */

/* A switch of the environment as a number; 0 where it is not set. */
static long
switch_value(const char *name)
{
	const char *text = getenv(name);

	return text != NULL ? strtol(text, NULL, 10) : 0;
}

/* The devices that it sees. */
static int
count_devices(void)
{
	const long devices = switch_value("HG_STANDIN_DEVICES");

	return devices > 0 ? (int) devices : 1;
}

/* The number in the file that a switch names; -1 where there is none. */
static long long
switch_file(const char *name)
{
	const char *path = getenv(name);
	FILE *file = path != NULL ? fopen(path, "r") : NULL;
	long long number = -1;

	if (file != NULL)
	{
		if (fscanf(file, "%lld", &number) != 1)
			number = -1;
		fclose(file);
	}
	return number;
}

/* Is this the device, of several, that what makes one fail is meant for? */
static bool
is_faulty(void)
{
	return getenv("HG_STANDIN_FAULTY") == NULL || switch_value("HG_STANDIN_FAULTY") == ordinal;
}

/* Is the device broken at the moment? */
static bool
is_to_fail(void)
{
	const char *file = getenv("HG_STANDIN_FAIL_WHILE");

	return is_faulty() &&
		   ((file != NULL && access(file, F_OK) == 0) || switch_value("HG_STANDIN_FAIL") != 0);
}

/* The CPU engine reads keys in place, until the job is closed: a copy of what was in staging. */
typedef struct StoredKeys
{
	struct StoredKeys *next;
	HgSide side;
	size_t bytes;
	uint64_t keys[]; /* of either width */
} StoredKeys;

/* A job of an engine on the CPU, which gets its memory from the device's. */
typedef struct StandinJob
{
	HgEngine *engine;
	HgJob *job;
	HgHost host; /* its arg is this struct */
	const HgHost *caller_host;
	StoredKeys *stored; /* the last ones first */
	HgHostWindow windows[2];
	HgHostReduce reduce; /* has the spec */
	HgTableTrial trial;	 /* where the spec has one */
	bool has_table;
} StandinJob;

static void *
device_alloc(void *arg, size_t bytes)
{
	return hg_standin_memory_alloc(((StandinJob *) arg)->caller_host, bytes);
}

static void
device_free(void *arg, void *ptr, size_t bytes)
{
	hg_standin_memory_free(((StandinJob *) arg)->caller_host, ptr, bytes);
}

/* The same for kept graphs, which are no job's. */
static const HgHost process = {.alloc = hg_process_alloc, .free = hg_process_free};

static void *
owner_alloc(void *arg, size_t bytes)
{
	(void) arg;
	return hg_standin_memory_alloc(&process, bytes);
}

static void
owner_free(void *arg, void *ptr, size_t bytes)
{
	(void) arg;
	hg_standin_memory_free(&process, ptr, bytes);
}

static const HgHost owner = {.alloc = owner_alloc, .free = owner_free};

static bool
device_cancelled(void *arg)
{
	const HgHost *caller_host = ((StandinJob *) arg)->caller_host;

	return caller_host->cancelled(caller_host->arg);
}

/* Is a job the business of the engine that has its columns, too? */
static bool
has_replica(const HgJobSpec *spec)
{
	return hg_replica_is_used(spec) || hg_pages_are_there(spec);
}

/* Take the time that a switch says, unless the job is cancelled. */
static HgStatus
dawdle(const HgHost *host, const char *name, HgError *error)
{
	return hg_standin_wait(host, switch_value(name), error);
}

/* The same, and then meet the others that the stand-in is told of. */
static HgStatus
dawdle_and_meet(const HgHost *host, const char *name, HgError *error)
{
	HgStatus status = dawdle(host, name, error);

	return status == HG_OK ? hg_standin_meet(host, getenv("HG_STANDIN_MEET"), error) : status;
}

/* The host of whoever has a job. */
static const HgHost *
host_of(const HgJob *job)
{
	return ((const StandinJob *) job)->caller_host;
}

/* What runs out of memory is the device. */
static HgStatus
answer(HgStatus status, HgError *error)
{
	if (status != HG_OUT_OF_MEMORY)
		return status;
	if (error != NULL)
		error->status = HG_DEVICE_OUT_OF_MEMORY;
	return HG_DEVICE_OUT_OF_MEMORY;
}

static HgJob *
inside(HgJob *job)
{
	return ((StandinJob *) job)->job;
}

/* The engine of what is inside. */
static HgEngine *
engine_of(HgJob *job)
{
	return ((StandinJob *) job)->engine;
}

/* The engine for a job. */
static HgEngine *
engine_for(const HgJobSpec *spec)
{
	if (has_replica(spec))
		return &holding.engine;
	return spec->product.kind == HG_PRODUCT_SHARD ? hg_host_exchange() : hg_cpu_engine();
}

static HgStatus
standin_open(HgEngine *self, const HgHost *host, const HgJobSpec *spec, HgJob **opened,
			 HgError *error)
{
	HgJobSpec keys_alone = *spec;
	StandinJob *job;
	HgStatus status = hg_spec_check(spec, error);

	(void) self;
	if (status != HG_OK)
		return status;
	if (spec->device >= count_devices())
		return hg_error_set(error, HG_UNAVAILABLE, NULL, "there is no device %d",
							(int) spec->device);
	if (spec->device >= 0 && spec->device != ordinal)
		return hg_error_set(error, HG_UNAVAILABLE, NULL, "this process uses device %d, not %d",
							ordinal, (int) spec->device);
	if ((spec->sides[HG_OUTER].kind == HG_SOURCE_REPLICA ||
		 spec->sides[HG_INNER].kind == HG_SOURCE_REPLICA) &&
		switch_value("HG_STANDIN_FORGETS") != 0)
		return hg_error_set(error, HG_NO_REPLICA, "The stand-in was told to forget it.",
							"there is no such graph replica");

	job = calloc(1, sizeof(*job));
	if (job == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	job->host.alloc = device_alloc;
	job->host.free = device_free;
	job->host.cancelled = device_cancelled;
	job->host.arg = job;
	job->caller_host = host;
	hg_host_reduce_init(&job->reduce, spec);
	/* an engine that keeps graphs has columns too */
	if (!has_replica(spec))
		keys_alone.sides[HG_OUTER].ncolumns = keys_alone.sides[HG_INNER].ncolumns = 0;
	job->has_table = spec->product.kind == HG_PRODUCT_TABLE;
	if (job->has_table)
	{
		job->trial = *spec->product.trial;
		keys_alone.product.kind = HG_PRODUCT_MATCHES;
	}
	job->engine = engine_for(spec);
	status = job->engine->open(job->engine, &job->host, &keys_alone, &job->job, error);
	if (status != HG_OK)
	{
		free(job);
		return answer(status, error);
	}
	*opened = (HgJob *) job;
	return HG_OK;
}

/* Does its engine have a job's columns?  Else they are here. */
static bool
has_columns(HgJob *job)
{
	return engine_of(job)->columns != NULL;
}

/* A copy of keys that lasts as long as the job; NULL when out of memory. */
static const void *
keep_keys(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	StandinJob *job = (StandinJob *) handle;
	size_t bytes = (size_t) (count * job->reduce.job.key_width);
	StoredKeys *stored = malloc(sizeof(*stored) + bytes);

	if (stored == NULL)
	{
		hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "the device process is out of memory");
		return NULL;
	}
	memcpy(stored->keys, keys, bytes);
	stored->side = side;
	stored->bytes = bytes;
	stored->next = job->stored;
	job->stored = stored;
	return stored->keys;
}

static HgStatus
standin_append(HgJob *job, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	HgHostReduce *reduce = &((StandinJob *) job)->reduce;
	HgStatus status;

	keys = keep_keys(job, side, keys, count, error);
	if (keys == NULL)
		return HG_OUT_OF_MEMORY;
	status = engine_of(job)->join->append(inside(job), side, keys, count, error);
	if (status == HG_OK)
		status = hg_host_reduce_add_rows(reduce, side, count, reduce->rows[side], error);
	return answer(status, error);
}

static HgStatus
standin_append_rows(HgJob *job, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
					HgError *error)
{
	HgStatus status;

	keys = keep_keys(job, side, keys, count, error);
	if (keys == NULL)
		return HG_OUT_OF_MEMORY;
	status = engine_of(job)->join->append_rows(inside(job), side, keys, count, first_row, error);
	if (status == HG_OK)
		status =
			hg_host_reduce_add_rows(&((StandinJob *) job)->reduce, side, count, first_row, error);
	return answer(status, error);
}

static HgStatus
standin_append_column(HgJob *job, HgSide side, uint32_t column, const void *values,
					  const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	if (has_columns(job))
		return answer(engine_of(job)->columns->append_column(inside(job), side, column, values,
															 nulls, count, first_row, error),
					  error);
	return hg_host_reduce_append(&((StandinJob *) job)->reduce, side, column, values, nulls, count,
								 first_row, error);
}

/* Do to a build what switches say. */
static HgStatus
begin_build(HgJob *job, HgError *error)
{
	HgStatus status = dawdle(host_of(job), "HG_STANDIN_BUILD_MS", error);

	if (status == HG_OK)
		status = hg_standin_wait_while(host_of(job), getenv("HG_STANDIN_BUILD_WHILE"), error);
	if (status != HG_OK)
		return status;
	if (switch_value("HG_STANDIN_OUT_OF_MEMORY") != 0 && is_faulty())
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, "The stand-in was told to fail.",
							"out of device memory");
	if (is_to_fail())
		return hg_error_set(error, HG_DEVICE_FAILED, "The stand-in was told to fail.",
							"the device failed");
	return HG_OK;
}

static HgStatus
standin_build(HgJob *job, HgError *error)
{
	HgStatus status = begin_build(job, error);

	if (status != HG_OK)
		return status;
	if (!has_columns(job))
		status = hg_host_reduce_check(&((StandinJob *) job)->reduce, error);
	if (status != HG_OK)
		return status;
	return answer(engine_of(job)->join->build(inside(job), error), error);
}

/* Is there memory for what is to be done with a job's columns? */
static HgStatus
standin_use_columns(HgJob *job, HgError *error)
{
	const HgJobSpec *spec = &((StandinJob *) job)->reduce.job;

	if (spec->sides[HG_OUTER].ncolumns + spec->sides[HG_INNER].ncolumns > 0 &&
		switch_value("HG_STANDIN_FULL_OF_COLUMNS") != 0)
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, "The stand-in was told to fail.",
							"out of device memory");
	return HG_OK;
}

static HgStatus
standin_match(HgJob *job, HgMatchMode mode, HgError *error)
{
	HgStatus status = standin_use_columns(job, error);

	if (status != HG_OK)
		return status;
	return engine_of(job)->join->match(inside(job), mode, error);
}

static HgStatus
standin_next(HgJob *job, HgMatches *matches, HgError *error)
{
	pthread_mutex_lock(&lock);
	if (chunks_to_live == 0)
		raise(SIGKILL);
	if (chunks_to_live > 0)
		chunks_to_live--;
	pthread_mutex_unlock(&lock);
	if (has_columns(job))
		return engine_of(job)->join->next(inside(job), matches, error);
	return hg_host_reduce_gather(&((StandinJob *) job)->reduce, engine_of(job), inside(job),
								 matches, error);
}

static HgStatus
standin_count(HgJob *job, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgStatus status = dawdle_and_meet(host_of(job), "HG_STANDIN_COUNT_MS", error);

	if (status != HG_OK)
		return status;
	return engine_of(job)->join->count(inside(job), mode, matches, error);
}

static HgStatus
standin_reduce(HgJob *job, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
			   HgError *error)
{
	HgStatus status = dawdle_and_meet(host_of(job), "HG_STANDIN_COUNT_MS", error);

	if (status == HG_OK)
		status = standin_use_columns(job, error);
	if (status != HG_OK)
		return status;
	if (has_columns(job))
		return engine_of(job)->columns->reduce(inside(job), mode, spec, groups, error);
	return hg_host_reduce_run(&((StandinJob *) job)->reduce, &engine, job, mode, spec, groups,
							  error);
}

static HgStatus
standin_next_groups(HgJob *job, HgGroupRecords *records, HgError *error)
{
	const long key = switch_value("HG_STANDIN_GROUP_KEY");
	HgStatus status;

	if (has_columns(job))
	{
		status = engine_of(job)->columns->next_groups(inside(job), records, error);
		/* behind the keys, of which there is one, is what tells that it is NULL */
		if (key != 0 && status == HG_OK && records->count > 0)
		{
			records->words[0] = (uint64_t) key;
			records->words[1] = 0;
		}
		return status;
	}
	return hg_host_reduce_next(&((StandinJob *) job)->reduce, records, error);
}

static HgStatus
standin_describe(HgJob *job, HgSide side, HgGraphStats *stats, HgError *error)
{
	return engine_of(job)->join->describe(inside(job), side, stats, error);
}

static HgStatus
standin_export_graph(HgJob *job, HgSide side, uint32_t *offsets, void *edge_keys,
					 uint32_t *edge_rows, HgError *error)
{
	return engine_of(job)->join->export_graph(inside(job), side, offsets, edge_keys, edge_rows,
											  error);
}

/* The inner keys of a job, which were kept from the last to the first, in one array. */
static void
gather_keys(const StandinJob *job, unsigned char *end)
{
	for (const StoredKeys *stored = job->stored; stored != NULL; stored = stored->next)
		if (stored->side == HG_INNER)
		{
			end -= stored->bytes;
			memcpy(end, stored->keys, stored->bytes);
		}
}

static HgStatus
standin_measure_table(HgJob *handle, HgTableMeasure *measure, HgError *error)
{
	StandinJob *job = (StandinJob *) handle;
	const HgJobSpec *spec = &job->reduce.job;
	const uint64_t nkeys = job->reduce.rows[HG_INNER];
	const uint64_t bytes = nkeys * spec->key_width;
	HgTableTrial trial = job->trial;
	HgStatus status = begin_build(handle, error);
	unsigned char *keys;

	if (status != HG_OK)
		return status;
	if (!job->has_table)
		return hg_error_set(error, HG_INVALID, NULL, "the job has no table");
	if (spec->memory_limit > 0)
		trial.spec.memory_limit = spec->memory_limit > bytes ? spec->memory_limit - bytes : 1;
	keys = device_alloc(job, bytes + 1);
	if (keys == NULL)
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, NULL, "out of device memory");
	gather_keys(job, keys + bytes);
	status = hg_table_measure(hg_table_cpu(), &job->host, &trial, keys, nkeys, measure, error);
	device_free(job, keys, bytes + 1);
	return answer(status, error);
}

static HgStatus
standin_append_pages(HgJob *job, HgSide side, const void *pages, uint64_t count,
					 uint64_t first_page, HgError *error)
{
	if (engine_of(job)->pages == NULL)
		return hg_error_set(error, HG_INVALID, NULL, "the job has no pages");
	return answer(
		engine_of(job)->pages->append_pages(inside(job), side, pages, count, first_page, error),
		error);
}

/* Pages that were brought, in memory of the device that was lent for them alone. */
typedef struct StandinPages
{
	StandinJob account; /* a host's, and no job */
	HgBroughtPages *inside;
} StandinPages;

static HgStatus
standin_bring_pages(HgJob *job, const HgHost *host, HgSide side, const void *pages, uint64_t count,
					HgBroughtPages **brought, HgError *error)
{
	const HgEngine *inner = engine_of(job);
	StandinPages *made;
	HgStatus status;

	*brought = NULL;
	if (inner->brought == NULL || switch_value("HG_STANDIN_NO_PIECES") != 0)
		return HG_OK;
	made = calloc(1, sizeof(*made));
	if (made == NULL)
		return HG_OK;
	made->account.caller_host = host;
	made->account.host = (HgHost){.alloc = device_alloc,
								  .free = device_free,
								  .cancelled = device_cancelled,
								  .arg = &made->account};
	status = dawdle_and_meet(host, "HG_STANDIN_BRING_MS", error);
	if (status == HG_OK)
		status = inner->brought->bring_pages(inside(job), &made->account.host, side, pages, count,
											 &made->inside, error);
	if (made->inside != NULL)
		*brought = (HgBroughtPages *) made;
	else
		free(made);
	return status;
}

static HgStatus
standin_take_pages(HgJob *job, HgBroughtPages *brought, uint64_t first_page, HgError *error)
{
	StandinPages *made = (StandinPages *) brought;
	HgStatus status = dawdle(host_of(job), "HG_STANDIN_TAKE_MS", error);

	if (status == HG_OK)
		status = engine_of(job)->brought->take_pages(inside(job), made->inside, first_page, error);
	else
		engine_of(job)->brought->drop_pages(inside(job), made->inside);
	free(made);
	return answer(status, error);
}

static void
standin_drop_pages(HgJob *job, HgBroughtPages *brought)
{
	StandinPages *made = (StandinPages *) brought;

	engine_of(job)->brought->drop_pages(inside(job), made->inside);
	free(made);
}

static HgStatus
standin_put_edges(HgJob *job, const void *keys, const uint32_t *rows, uint64_t count,
				  HgError *error)
{
	if (engine_of(job)->store == NULL)
		return hg_error_set(error, HG_INVALID, NULL, "the job makes no graph");
	return answer(engine_of(job)->store->put_edges(inside(job), keys, rows, count, error), error);
}

static HgStatus
standin_put_values(HgJob *job, const void *values, const uint8_t *nulls, uint64_t count,
				   uint64_t first_ordinal, HgError *error)
{
	if (engine_of(job)->store == NULL)
		return hg_error_set(error, HG_INVALID, NULL, "the job makes no column");
	return answer(
		engine_of(job)->store->put_values(inside(job), values, nulls, count, first_ordinal, error),
		error);
}

static HgStatus
standin_take_replica(HgJob *job, HgReplica **graph, uint64_t *bytes, HgError *error)
{
	if (engine_of(job)->store == NULL)
		return hg_error_set(error, HG_INVALID, NULL, "the job makes no graph");
	return engine_of(job)->store->take_replica(inside(job), graph, bytes, error);
}

static void
standin_release(HgEngine *self, HgReplica *graph)
{
	(void) self;
	usleep((useconds_t) switch_value("HG_STANDIN_RELEASE_MS") * 1000);
	holding.engine.store->release(&holding.engine, graph);
}

static HgStatus
standin_mask(HgJob *job, HgSide side, uint32_t lookup, uint64_t first_word, uint64_t count,
			 const uint64_t *words, HgError *error)
{
	if (engine_of(job)->masks == NULL)
		return hg_error_set(error, HG_INVALID, NULL, "the job has no graph replica");
	return answer(
		engine_of(job)->masks->mask(inside(job), side, lookup, first_word, count, words, error),
		error);
}

static HgStatus
standin_tally(HgJob *job, HgSide side, uint64_t *counts, HgError *error)
{
	HgStatus status = hg_host_reduce_check(&((StandinJob *) job)->reduce, error);

	if (status != HG_OK)
		return status;
	return answer(engine_of(job)->exchange->tally(inside(job), side, counts, error), error);
}

static HgStatus
standin_expect(HgJob *job, HgSide side, const HgExchange *exchange, HgError *error)
{
	HgStatus status = engine_of(job)->exchange->expect(inside(job), side, exchange, error);

	if (status == HG_OK)
		hg_host_window_expect(&((StandinJob *) job)->windows[side],
							  &((StandinJob *) job)->reduce.job, side, exchange);
	return answer(status, error);
}

static HgStatus
standin_take_rows(HgJob *job, HgSide side, uint32_t shard, HgExchangeRows *rows, HgError *error)
{
	return answer(hg_host_exchange_take(engine_of(job), inside(job), &((StandinJob *) job)->reduce,
										side, shard, rows, error),
				  error);
}

static HgStatus
standin_put_rows(HgJob *job, HgSide side, const HgExchangeRows *rows, HgError *error)
{
	return answer(hg_host_exchange_put(engine_of(job), inside(job), &((StandinJob *) job)->reduce,
									   side, rows, error),
				  error);
}

/* Offer memory that is the device's, where it has as much. */
static HgStatus
standin_window(HgJob *handle, HgSide side, HgPeerWindow *made, HgError *error)
{
	HgHostWindow *window = &((StandinJob *) handle)->windows[side];
	HgStatus status;

	if (window->memory != NULL || switch_value("HG_STANDIN_NO_OFFER") != 0 ||
		!hg_standin_memory_hold(window->head.bytes))
		return hg_error_set(error, HG_INVALID, NULL, "there is no memory to be offered");
	status = hg_host_window_make(window, made, error);
	if (status != HG_OK)
		hg_standin_memory_let_go(window->head.bytes);
	return status;
}

/* No more is to come to what was offered for a side, if it was. */
static void
end_window(StandinJob *job, int side)
{
	if (job->windows[side].memory != NULL)
		hg_standin_memory_let_go(job->windows[side].head.bytes);
	hg_host_window_free(&job->windows[side]);
}

static HgStatus
standin_send_rows(HgJob *handle, HgSide side, uint32_t shard, const HgPeerWindow *window,
				  HgError *error)
{
	StandinJob *job = (StandinJob *) handle;
	const char *how = is_faulty() ? getenv("HG_STANDIN_SENDS") : NULL;
	HgStatus status = dawdle(host_of(handle), "HG_STANDIN_SEND_MS", error);

	if (status != HG_OK)
		return status;
	return answer(hg_host_window_send(&job->windows[side], engine_of(handle), inside(handle),
									  &job->reduce, side, shard, window, hg_host_send_fault(how),
									  error),
				  error);
}

/* They are there when send_rows has returned. */
static HgStatus
standin_sent(HgJob *job, HgSide side, HgError *error)
{
	(void) job;
	(void) side;
	(void) error;
	return HG_OK;
}

static HgStatus
standin_arrived(HgJob *handle, HgSide side, HgError *error)
{
	StandinJob *job = (StandinJob *) handle;
	HgStatus status;

	/* what was offered is the device's until the rows have memory of their own */
	status = hg_host_window_take(&job->windows[side], engine_of(handle), inside(handle),
								 &job->reduce, side, error);
	end_window(job, side);
	if (status == HG_OK)
		status = engine_of(handle)->exchange->arrived(inside(handle), side, error);
	if (status == HG_OK)
		job->windows[side].exchange.shards = 0;
	return answer(status, error);
}

static void
standin_stats(HgJob *job, HgJobStats *stats)
{
	engine_of(job)->join->stats(inside(job), stats);
}

static void
standin_close(HgJob *handle)
{
	StandinJob *job = (StandinJob *) handle;

	while (switch_value("HG_STANDIN_HANG") != 0)
		pause();
	job->engine->join->close(job->job);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		end_window(job, side);
	hg_host_reduce_free(&job->reduce);
	while (job->stored != NULL)
	{
		StoredKeys *next = job->stored->next;

		free(job->stored);
		job->stored = next;
	}
	free(job);
}

static const HgJoinCalls standin_join = HG_JOIN_CALLS(standin);
static const HgColumnCalls standin_columns = HG_COLUMN_CALLS(standin);
static const HgPageCalls standin_pages = {.append_pages = standin_append_pages};
static const HgBroughtCalls standin_brought = HG_BROUGHT_CALLS(standin);
static const HgStoreCalls standin_store = HG_STORE_CALLS(standin);
static const HgMaskCalls standin_masks = {.mask = standin_mask};
static const HgExchangeCalls standin_exchange = HG_EXCHANGE_CALLS(standin);
static const HgWindowCalls standin_windows = HG_WINDOW_CALLS(standin);
static const HgMeasureCalls standin_measuring = {.measure_table = standin_measure_table};

static HgEngine engine = {
	.name = "cuda",
	.can = HG_CAN_NUMBER | HG_CAN_FILTER,
	.open = standin_open,
	.join = &standin_join,
	.columns = &standin_columns,
	.pages = &standin_pages,
	.brought = &standin_brought,
	.store = &standin_store,
	.masks = &standin_masks,
	.exchange = &standin_exchange,
	.windows = &standin_windows,
	.measure = &standin_measuring,
};

/* End slowly, as who has much to free. */
static void
linger(void)
{
	close(control);
	usleep((useconds_t) switch_value("HG_STANDIN_END_DELAY_MS") * 1000);
}

static HgStatus
standin_start(const HgDeviceOptions *options, HgEngine **started, HgError *error)
{
	ordinal = options->device > 0 ? options->device : 0;
	if (is_faulty())
		usleep((useconds_t) switch_value("HG_STANDIN_START_DELAY_MS") * 1000);
	if (switch_value("HG_STANDIN_UNAVAILABLE") != 0 && is_faulty())
		return hg_error_set(error, HG_UNAVAILABLE, "The stand-in was told to have none.",
							"no device");
	if (ordinal >= count_devices())
		return hg_error_set(error, HG_UNAVAILABLE, NULL, "there is no device %d", options->device);

	budget = options->memory_budget > 0 ? options->memory_budget : STANDIN_MEMORY;
	hg_standin_memory_allow(budget);
	if (getenv("HG_STANDIN_DIE_AFTER_CHUNKS") != NULL && is_faulty())
		chunks_to_live = switch_value("HG_STANDIN_DIE_AFTER_CHUNKS");
	control = options->socket;
	if (switch_value("HG_STANDIN_END_DELAY_MS") > 0 && atexit(linger) != 0)
		abort();

	hg_host_replica_init(&holding, &owner);
	*started = &engine;
	return HG_OK;
}

static HgStatus
standin_pin(unsigned char *staging, uint64_t bytes, HgError *error)
{
	if (getenv("HG_STANDIN_LIES") != NULL)
		hg_lies_begin(getenv("HG_STANDIN_LIES"), staging, bytes);
	return switch_value("HG_STANDIN_NO_PIN") == 0
			   ? HG_OK
			   : hg_error_set(error, HG_DEVICE_FAILED, "The stand-in was told to fail.",
							  "the device failed");
}

static uint64_t
standin_job_bytes(const HgJobSpec *spec)
{
	uint64_t bytes = 0;

	usleep((useconds_t) switch_value("HG_STANDIN_RECKON_MS") * 1000);
	hg_standin_hold(getenv("HG_STANDIN_RECKON_WHILE"));
	if (spec->product.kind == HG_PRODUCT_TABLE)
		return spec->sides[HG_INNER].expected_rows * spec->key_width +
			   hg_table_trial_bytes(hg_table_cpu()->memory, spec->product.trial,
									spec->sides[HG_INNER].expected_rows);
	if (has_replica(spec))
		return hg_host_replica_bytes(spec);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		bytes += spec->sides[side].expected_rows *
				 (STANDIN_ROW_BYTES +
				  (spec->product.kind == HG_PRODUCT_SHARD ? STANDIN_EXCHANGE_BYTES : 0) +
				  hg_reduce_row_bytes(spec, (HgSide) side));
	return bytes;
}

/* What a file says that other processes have of the memory. */
static void
standin_measure_use(void)
{
	const long long measured = is_faulty() ? switch_file("HG_STANDIN_NEIGHBOURS") : -1;
	const uint64_t neighbours =
		measured >= 0 && (uint64_t) measured <= budget ? (uint64_t) measured : 0;

	hg_standin_memory_allow(budget - neighbours);
}

/* It keeps nothing for the next job. */
static void
standin_pool_nothing(void)
{
}

/*
 * Some 300,000 rows take as long on the CPU as here, and more of them longer; a pair takes the CPU
 * as long as its way from here is said to take (hg_device.c).  So auto chooses between the two
 * by the number of rows alone, the same way on every machine.
 */
static HgStatus
standin_measure(const HgDeviceOptions *options, unsigned char *staging, HgEngineCosts *costs,
				HgError *error)
{
	(void) options;
	(void) staging;
	(void) error;
	for (int index = 0; index < HG_COSTS_WIDTHS; index++)
	{
		costs->device[index] = (HgCosts){.job_ms = switch_value("HG_STANDIN_FAST") != 0 ? 0 : 5};
		costs->cpu[index] = (HgCosts){.outer_ns = 16, .inner_ns = 16, .pair_ns = 1};
	}
	costs->connect_ms = switch_value("HG_STANDIN_CONNECT_MS");
	return HG_OK;
}

static int
standin_list(HgDeviceInfo *infos, int capacity, HgError *error)
{
	const long long hidden = switch_file("HG_STANDIN_HIDDEN");
	HgMemoryUse use;
	int count = 0;

	hg_standin_memory_use(&use);
	if (capacity < 1 || (switch_value("HG_STANDIN_UNAVAILABLE") != 0 && is_faulty()))
	{
		hg_error_set(error, HG_UNAVAILABLE, "The stand-in was told to have none.", "no device");
		return 0;
	}
	for (int i = 0; i < count_devices() && count < capacity; i++)
	{
		HgDeviceInfo *info = &infos[count];
		const bool used = i == ordinal;

		if (i == hidden && !used)
			continue;
		count++;
		memset(info, 0, sizeof(*info));
		info->ordinal = i;
		snprintf(info->name, sizeof(info->name), "stand-in (CPU)");
		snprintf(info->state, sizeof(info->state), "%s", used ? "ready" : HG_DEVICE_UNUSED);
		info->memory_total = STANDIN_MEMORY;
		info->memory_free = used ? STANDIN_MEMORY : 0;
		info->memory_budget = used && use.budget > 0 ? use.budget : STANDIN_MEMORY;
	}
	return count;
}

int
main(int argc, char **argv)
{
	const HgDeviceKind kind = {
		.description = "a stand-in on the CPU, for tests",
		.start = standin_start,
		.pin = standin_pin,
		.measure = standin_measure,
		.list = standin_list,
		.evict_ms = getenv("HG_STANDIN_EVICT_MS") != NULL
						? (int) switch_value("HG_STANDIN_EVICT_MS")
						: HG_SERVER_EVICT_MS,
		.job_bytes = standin_job_bytes,
		.memory_use = hg_standin_memory_use,
		.measure_use = standin_measure_use,
		.rest = standin_pool_nothing,
		.tidy = standin_pool_nothing,
	};

	return hg_device_process_main(argc, argv, &kind);
}
