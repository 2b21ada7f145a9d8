/*-------------------------------------------------------------------------
 *
 * test_engine_cancel.c
 *	  Big jobs are cancelled at random moments, and stop soon.
 *
 * The time is taken from the moment at which cancelled() becomes true, whether or not the
 * engine asks just then, to the return of close: what is to be freed is freed by then.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include "hg_tap.h"
#include "test_engine_suite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* 99 of 100 cancels are to take effect in so many milliseconds: ten times what is promised. */
#define BOUND_MS 1000

/* Cancels of each kind of job, attempts at them, and chunks that are read of its stream. */
#define CANCELS 21
#define ATTEMPTS 60
#define CHUNKS 3000
#define CHUNK 65536

/* What takes long in a job. */
typedef enum BigJob
{
	BIG_UNIFORM,  /* bins and lists of one or two rows */
	BIG_V1,		  /* the same without bins */
	BIG_STANDARD, /* many outer rows look a few inner ones up */
	BIG_SKEWED,	  /* half of the rows have one key */
	BIG_DIRECT,	  /* keys that are the vertices */
	BIG_LISTS,	  /* lists of some hundred different keys, to be sorted */
	BIG_JOBS	  /* number of kinds, not a kind */
} BigJob;

static const char *const big_names[BIG_JOBS] = {
	"uniform keys", "uniform keys, build v1", "probe standard", "one key of half the rows",
	"direct keys",	"lists of many keys",
};

/* A host that is cancelled at a moment. */
typedef struct ClockHost
{
	HgHost host;
	const HgHost *base;
	clockid_t clock;
	double deadline; /* by that clock; 0 = never */
} ClockHost;

static double
now_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double) now.tv_sec * 1e3 + (double) now.tv_nsec * 1e-6;
}

static void *
clock_alloc(void *arg, size_t bytes)
{
	const HgHost *base = ((ClockHost *) arg)->base;

	return base->alloc(base->arg, bytes);
}

static void
clock_free(void *arg, void *ptr, size_t bytes)
{
	const HgHost *base = ((ClockHost *) arg)->base;

	base->free(base->arg, ptr, bytes);
}

static bool
clock_cancelled(void *arg)
{
	const ClockHost *host = arg;

	return host->deadline > 0 && now_ms(host->clock) >= host->deadline;
}

static uint64_t
big_key(BigJob kind, uint64_t row, uint64_t rows)
{
	uint64_t random = hg_mix64(row + UINT64_C(0x9e3779b97f4a7c15) * (uint64_t) kind);

	switch (kind)
	{
		case BIG_SKEWED:
			return row % 2 == 0 ? 7 : random % rows;
		case BIG_LISTS:
			/* as many hashes as there are lists */
			return hg_unmix64(hg_mix64(random % (rows / 512 + 1)) >> 32 << 32 | (random & 0x3ff));
		default:
			return random % rows;
	}
}

/* Append, build, read the stream and count, up to the first failure; then close. */
static HgStatus
big_job(HgEngine *engine, const HgHost *host, BigJob kind, const uint64_t *const keys[2],
		const uint64_t rows[2], uint32_t *room)
{
	HgJobSpec spec = {.key_width = 8, .device = -1};
	HgMatches matches = {.outer = room, .inner = room + CHUNK, .capacity = CHUNK, .count = 1};
	HgError error = {0};
	HgJob *job = NULL;
	uint64_t counted;
	HgStatus status;

	spec.shape.build = kind == BIG_V1 ? HG_BUILD_V1 : HG_BUILD_AUTO;
	spec.shape.probe = kind == BIG_STANDARD ? HG_PROBE_STANDARD : HG_PROBE_INTERSECT;
	if (kind == BIG_DIRECT)
	{
		spec.shape.probe = HG_PROBE_AUTO;
		spec.shape.direct = 1;
	}
	status = engine->open(engine, host, &spec, &job, &error);
	for (int side = 0; side < 2 && status == HG_OK; side++)
		status = engine->join->append(job, (HgSide) side, keys[side], rows[side], &error);
	if (status == HG_OK)
		status = engine->join->build(job, &error);
	if (status == HG_OK)
		status = engine->join->match(job, HG_MATCH_ALL, &error);
	for (int chunk = 0; chunk < CHUNKS && status == HG_OK && matches.count > 0; chunk++)
		status = engine->join->next(job, &matches, &error);
	if (status == HG_OK)
		status = engine->join->count(job, HG_MATCH_ALL, &counted, &error);
	if (job != NULL)
		engine->join->close(job);
	if (status != HG_OK && status != HG_CANCELLED)
		hg_tap_diag("status %d, %s (%s)", (int) status, error.message, error.detail);
	return status;
}

static int
compare_times(const void *a, const void *b)
{
	double left = *(const double *) a;
	double right = *(const double *) b;

	return (left > right) - (left < right);
}

void
hg_engine_cancel_times(HgEngine *engine, const HgHost *base, uint64_t most_rows, bool by_cpu_time)
{
	const clockid_t clock = by_cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
	double times[BIG_JOBS * CANCELS];
	size_t cancels = 0;
	size_t jobs = 0;
	bool good = true;
	uint32_t *room = test_malloc(2 * CHUNK * sizeof(uint32_t));
	ClockHost host = {.host = *base, .base = base, .clock = clock};

	host.host.alloc = clock_alloc;
	host.host.free = clock_free;
	host.host.cancelled = clock_cancelled;
	host.host.wait_readable = NULL;
	host.host.arg = &host;
	for (int kind = 0; kind < BIG_JOBS; kind++)
	{
		uint64_t rows[2] = {kind == BIG_UNIFORM ? most_rows : most_rows / 4, most_rows / 4};
		uint64_t *keys[2];
		double whole_ms;
		double worst = 0;
		size_t wanted = cancels + CANCELS;
		HgStatus status;

		if (kind == BIG_STANDARD)
			rows[HG_INNER] /= 16;
		for (int side = 0; side < 2; side++)
		{
			keys[side] = test_malloc(rows[side] * sizeof(uint64_t));
			for (uint64_t row = 0; row < rows[side]; row++)
				keys[side][row] = big_key((BigJob) kind, row, rows[side]);
		}

		host.deadline = 0;
		whole_ms = now_ms(clock);
		status =
			big_job(engine, &host.host, (BigJob) kind, (const uint64_t *const *) keys, rows, room);
		whole_ms = now_ms(clock) - whole_ms;
		good &= status == HG_OK;
		for (int i = 0; i < ATTEMPTS && cancels < wanted && good; i++)
		{
			double moment = whole_ms * (double) (hg_mix32((uint32_t) jobs + 1) % 10000) / 10000;

			host.deadline = now_ms(clock) + moment;
			status = big_job(engine, &host.host, (BigJob) kind, (const uint64_t *const *) keys,
							 rows, room);
			jobs++;
			good &= status == HG_OK || status == HG_CANCELLED;
			if (status != HG_CANCELLED)
				continue; /* it was over before */
			times[cancels] = now_ms(clock) - host.deadline;
			worst = times[cancels] > worst ? times[cancels] : worst;
			cancels++;
		}
		hg_tap_diag("%s: %s, %" PRIu64 " x %" PRIu64 " rows, %.0f ms: cancelled in %.1f ms at most",
					engine->name, big_names[kind], rows[0], rows[1], whole_ms, worst);
		for (int side = 0; side < 2; side++)
			free(keys[side]);
	}
	free(room);

	qsort(times, cancels, sizeof(times[0]), compare_times);
	if (hg_tap_ok(good && cancels >= 100 && times[cancels * 99 / 100] < BOUND_MS,
				  "%s: a big job is cancelled within %d ms", engine->name, BOUND_MS))
		hg_tap_diag("%zu cancels: half within %.2f ms, 99 %% within %.1f ms, all within %.1f ms",
					cancels, times[cancels / 2], times[cancels * 99 / 100], times[cancels - 1]);
	else
		hg_tap_diag("%zu of %zu jobs cancelled, 99 %% within %.1f ms", cancels, jobs,
					cancels > 0 ? times[cancels * 99 / 100] : 0.0);
}
