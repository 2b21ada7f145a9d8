/*-------------------------------------------------------------------------
 *
 * test_engine_crowd.c
 *	  Threads that share an engine, with jobs of which no two are alike.
 *
 * What one job has an engine set up must not reach the job of another thread: sizes, widths of
 * keys, algorithms, what is asked for and whether it is cancelled differ from job to job, so that
 * whatever they share is seen in many states within seconds.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200112L

#include "../../src/engine/hg_reduce.h"
#include "hg_tap.h"
#include "test_engine_suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define THREADS 16
#define CHUNK 20000
#define GROUPS 7

/* What a job is asked for. */
typedef enum CrowdKind
{
	CROWD_COUNT,
	CROWD_COUNT_FIRST,
	CROWD_STREAM,
	CROWD_STREAM_FIRST,
	CROWD_GROUPS,	/* where the engine makes any, else a count */
	CROWD_LITTLE,	/* memory, which may be too little */
	CROWD_CANCELLED /* at some poll, if there are so many */
} CrowdKind;

/* What the threads have in common. */
typedef struct Crowd
{
	HgEngine *engine;
	const HgHost *host;
	const TestData *data;
	int data_count;
	const uint32_t *column; /* of any rows of a side: row % GROUPS */
	int jobs;				/* of each thread */
} Crowd;

typedef struct CrowdThread
{
	pthread_t thread;
	const Crowd *crowd;
	uint64_t random;
	uint64_t right; /* jobs with the result that they must have */
	bool wrong;
} CrowdThread;

/* A number below n. */
static uint32_t
below(CrowdThread *self, uint32_t n)
{
	/* xorshift64* by S. Vigna */
	self->random ^= self->random >> 12;
	self->random ^= self->random << 25;
	self->random ^= self->random >> 27;
	return (uint32_t) ((self->random * UINT64_C(0x2545F4914F6CDD1D)) >> 32) % n;
}

/* One of the kinds, each as often as it stands here. */
static CrowdKind
choose_kind(CrowdThread *self)
{
	static const CrowdKind kinds[] = {
		CROWD_COUNT,		CROWD_COUNT,  CROWD_COUNT_FIRST, CROWD_STREAM, CROWD_STREAM,
		CROWD_STREAM_FIRST, CROWD_GROUPS, CROWD_GROUPS,		 CROWD_LITTLE, CROWD_CANCELLED};

	return kinds[below(self, LENGTH(kinds))];
}

/* What is asked of the engine's choices. */
static HgJobSpec
choose_spec(CrowdThread *self, const TestData *data, CrowdKind kind)
{
	static const uint32_t bins[] = {0, 0, 0, 5, 60, 700};
	static const double factors[] = {0, 0, 0.5, 4};
	HgJobSpec spec = {.key_width = data->key_width, .device = -1};

	spec.shape.build = (HgBuildAlgorithm) below(self, HG_BUILD_V2 + 1);
	spec.shape.probe = (HgProbeAlgorithm) below(self, HG_PROBE_INTERSECT + 1);
	spec.shape.direct = (uint32_t) below(self, 2);
	spec.shape.bins = bins[below(self, LENGTH(bins))];
	spec.shape.load_factor = factors[below(self, LENGTH(factors))];
	if (below(self, 2) == 0)
		for (int side = 0; side < 2; side++)
			spec.sides[side].expected_rows = data->rows[side];
	if (kind == CROWD_LITTLE)
		spec.memory_limit = 1 + (data->rows[0] + data->rows[1]) * (8 + below(self, 64));
	if (kind == CROWD_GROUPS)
	{
		spec.sides[HG_INNER].ncolumns = 1;
		spec.sides[HG_INNER].column_width[0] = sizeof(uint32_t);
	}
	return spec;
}

/* Read the stream of matches to its end. */
static HgStatus
read_stream(HgEngine *engine, HgJob *job, HgMatchMode mode, uint64_t *pairs, uint64_t *checksum,
			HgError *error)
{
	HgMatches matches = {.capacity = CHUNK};
	HgStatus status = engine->join->match(job, mode, error);

	matches.outer = test_malloc(CHUNK * sizeof(uint32_t));
	matches.inner = test_malloc(CHUNK * sizeof(uint32_t));
	while (status == HG_OK && (status = engine->join->next(job, &matches, error)) == HG_OK &&
		   matches.count > 0)
	{
		*pairs += matches.count;
		for (size_t i = 0; i < matches.count; i++)
			*checksum += test_pair_checksum(matches.outer[i], matches.inner[i]);
	}
	free(matches.inner);
	free(matches.outer);
	return status;
}

/* Have groups made by the inner side's column; *pairs is the sum over all. */
static HgStatus
add_groups(HgEngine *engine, HgJob *job, uint64_t *pairs, HgError *error)
{
	const HgReduceSpec spec = {
		.nkeys = 1, .keys = {{.side = HG_INNER}}, .expected_groups = GROUPS, .max_groups = GROUPS};
	uint64_t words[GROUPS * HG_MAX_REDUCE_WORDS];
	HgGroupRecords records = {.words = words, .capacity = GROUPS};
	uint64_t groups;
	HgStatus status = engine->columns->reduce(job, HG_MATCH_ALL, &spec, &groups, error);

	while (status == HG_OK &&
		   (status = engine->columns->next_groups(job, &records, error)) == HG_OK &&
		   records.count > 0)
		for (size_t i = 0; i < records.count; i++)
			*pairs += words[i * hg_reduce_words(&spec) + 2];
	return status;
}

/* Have a built job do what it is for, and compare. */
static HgStatus
ask(HgEngine *engine, HgJob *job, const TestData *data, CrowdKind kind, bool *right, HgError *error)
{
	const bool first = kind == CROWD_COUNT_FIRST || kind == CROWD_STREAM_FIRST;
	const HgMatchMode mode = first ? HG_MATCH_FIRST : HG_MATCH_ALL;
	uint64_t checksum = 0;
	uint64_t pairs = 0;
	HgStatus status;

	if (kind == CROWD_STREAM || kind == CROWD_STREAM_FIRST)
		status = read_stream(engine, job, mode, &pairs, &checksum, error);
	else if (kind == CROWD_GROUPS)
		status = add_groups(engine, job, &pairs, error);
	else
		status = engine->join->count(job, mode, &pairs, error);
	*right = pairs == (first ? data->first : data->pairs) &&
			 (kind != CROWD_STREAM || checksum == data->checksum);
	return status;
}

/* One job.  False, after an explanation, where it went wrong. */
static bool
run_job(CrowdThread *self)
{
	const Crowd *crowd = self->crowd;
	HgEngine *engine = crowd->engine;
	const TestData *data = &crowd->data[below(self, (uint32_t) crowd->data_count)];
	CrowdKind kind = choose_kind(self);
	TestHost host;
	TestRun run = {.engine = engine, .host = &host.host, .data = data};
	bool right = false;
	HgError error = {0};
	HgJob *job = NULL;
	HgStatus status;

	if (kind == CROWD_GROUPS && engine->columns == NULL)
		kind = CROWD_COUNT;
	run.spec = choose_spec(self, data, kind);
	run.piece = below(self, 2) == 0 ? 0 : 30000;
	test_host_init(&host, crowd->host);
	if (kind == CROWD_CANCELLED)
		host.cancel_poll = 1 + below(self, 30);

	status = test_run_append(&run, &job, &error);
	if (status == HG_OK && kind == CROWD_GROUPS)
		status = engine->columns->append_column(job, HG_INNER, 0, crowd->column, NULL,
												data->rows[HG_INNER], 0, &error);
	if (status == HG_OK)
		status = engine->join->build(job, &error);
	if (status == HG_OK)
		status = ask(engine, job, data, kind, &right, &error);
	if (job != NULL)
		engine->join->close(job);

	if (kind == CROWD_CANCELLED && status == HG_CANCELLED)
		right = true;
	else if (kind == CROWD_LITTLE &&
			 (status == HG_OUT_OF_MEMORY || status == HG_DEVICE_OUT_OF_MEMORY))
		right = true;
	else
		right = right && status == HG_OK;
	if (!right)
		hg_tap_diag("%" PRIu64 " x %" PRIu64
					" rows, keys of %u bytes, kind %d, build %s, probe %s, load factor %g, "
					"bins %u: status %d, %s (%s)",
					data->rows[0], data->rows[1], data->key_width, (int) kind,
					hg_build_name(run.spec.shape.build), hg_probe_name(run.spec.shape.probe),
					run.spec.shape.load_factor, run.spec.shape.bins, (int) status, error.message,
					error.detail);
	return right && host.held_bytes == 0;
}

static void *
run_jobs(void *arg)
{
	CrowdThread *self = arg;

	for (int i = 0; i < self->crowd->jobs && !self->wrong; i++)
	{
		if (run_job(self))
			self->right++;
		else
			self->wrong = true;
	}
	return NULL;
}

void
hg_engine_crowd(HgEngine *engine, const HgHost *host, uint64_t most_rows, int jobs)
{
	/* rows of either side, in parts of the most */
	static const uint32_t sizes[][2] = {{1, 1}, {1, 32}, {2, 3}, {5, 200}, {20, 20}, {70, 2000}};
	enum
	{
		SIZES = LENGTH(sizes)
	};
	TestData data[2 * SIZES];
	CrowdThread threads[THREADS];
	uint32_t *column = test_malloc(most_rows * sizeof(*column));
	const Crowd crowd = {engine, host, data, 2 * SIZES, column, jobs};
	uint64_t right = 0;
	int started = 0;

	if (!hg_tap_turn())
	{
		free(column);
		return;
	}
	for (uint64_t row = 0; row < most_rows; row++)
		column[row] = (uint32_t) (row % GROUPS);
	for (int i = 0; i < 2 * SIZES; i++)
		test_data_create(&data[i], i % 3 == 0 ? TEST_KEYS_UNIQUE : TEST_KEYS_DUPLICATES,
						 i % 2 == 0 ? 4 : 8, most_rows / sizes[i / 2][0],
						 most_rows / sizes[i / 2][1]);
	for (; started < THREADS; started++)
	{
		threads[started] = (CrowdThread){.crowd = &crowd, .random = (uint64_t) started + 1};
		if (pthread_create(&threads[started].thread, NULL, run_jobs, &threads[started]) != 0)
			break;
	}
	for (int i = 0; i < started; i++)
	{
		pthread_join(threads[i].thread, NULL);
		right += threads[i].right;
	}
	hg_tap_ok(right == (uint64_t) THREADS * (uint64_t) jobs,
			  "%s: %d threads with %d jobs each, no two of them alike", engine->name, THREADS,
			  jobs);
	for (int i = 0; i < 2 * SIZES; i++)
		test_data_destroy(&data[i]);
	free(column);
}
