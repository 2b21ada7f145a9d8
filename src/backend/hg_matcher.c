/*-------------------------------------------------------------------------
 *
 * hg_matcher.c
 *	  Match the keys of two sides on whichever backend there is.
 *
 * FALLING BACK IN THE MIDDLE
 *
 * Under backend auto a device that fails hands over to the CPU, even when part of
 * its matches have been delivered already.  The CPU enumerates the same matches in
 * another order, so that the delivered ones must be left out.  What makes that
 * cheap is the engine's promise that all matches of one outer row follow each other:
 * it is enough to remember, while the device delivers,
 *
 *	delivered	a bit for each outer row of which a match was delivered,
 *	last_outer	the outer row of the last match, which may have more to come,
 *	last_inner	the inner rows that were delivered for it.
 *
 * First comes what that last outer row still has to get, so that its matches follow each
 * other: the inner keys are compared with its key, one by one, and last_inner, which becomes
 * a bit for each inner row, tells what was delivered.  Then come the CPU's matches, without
 * those of outer rows that were delivered.
 *
 * PATIENCE
 *
 * Under backend auto the device must be worth the wait.  What a join may wait for its answers in
 * all, its turn in the queue included, is what the CPU would take for the whole of it: so a device
 * that is busy, or hangs, at most doubles the time that the join takes.  Time in which nobody
 * waits, because rows are being returned, does not count.
 *
 * WHO FREES WHAT
 *
 * A matcher lives in a memory context of its own, from which a CPU job has its
 * memory too.  A job on the device is a promise to a process elsewhere, which has
 * to be told: by hg_matcher_destroy, by the context's reset callback, or at the
 * release of the resource owner.  Whichever comes first closes the job; the others
 * then find none.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/parallel.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "backend/hg_device.h"
#include "backend/hg_device_shared.h"
#include "backend/hg_device_team.h"
#include "backend/hg_host.h"
#include "backend/hg_matcher.h"
#include "backend/hg_memory.h"
#include "backend/hg_sender.h"
#include "backend/hg_stats.h"
#include "engine/cpu/hg_cpu.h"
#include "engine/hg_ranges.h"
#include "hg_guc.h"

/* Matches taken from the engine at a time. */
#define HG_LEAST_CHUNK 1024
#define HG_LARGEST_CHUNK 65536

/*
 * While no device process is ready, backend auto asks for one for joins of so many rows: with
 * fewer the CPU is done before that could have started.
 */
#define HG_DEVICE_ROWS 500000

/*
 * What the CPU engine takes for a row of either side, all but reading it, and for a match; and what
 * a device may take for the smallest of joins.  Measured in one process, 2 million rows a side and
 * 3 million matches: 24 to 27 ns for a row, and up to twice that on a busy machine.
 */
#define HG_CPU_ROW_NS 25.0
#define HG_CPU_MATCH_NS 10.0
#define HG_LEAST_PATIENCE_MS 50.0

/* Memory that a chunk of matches may take with values. */
#define HG_CHUNK_BYTES (4 * 1024 * 1024)

struct HgMatcher
{
	dlist_node node; /* in hg_matchers */
	ResourceOwner owner;
	MemoryContext context;
	MemoryContextCallback callback;
	HgPgHost host;
	HgPgTeam team;		 /* where spec has one */
	HgDeviceTeam device; /* and what it does on a device: engine is NULL where that is nothing */

	HgMatcherSpec spec;
	HgKeySet sides[2];
	bool on_cpu;
	bool may_fall_back; /* hashgraph.backend was auto when the matcher was made */
	HgEngine *engine;	/* that the job belongs to */
	HgJob *job;			/* NULL once closed */
	bool reducing;		/* the job has the columns of spec.reduction, or will have them ... */
	HgGather gather;	/* ... or some of spec.columns */
	HgMatcherReport report;
	bool streaming; /* match() was called for the current stream */

	uint64 fetched; /* matches of the team's device that this process has returned */

	uint32 *outer; /* [capacity] */
	uint32 *inner;
	size_t capacity;

	/* where the matches of a device must be remembered; see above */
	bool remember;
	bool filter; /* the CPU has taken over in the middle of a stream */
	uint8 *delivered;
	bool any_delivered;
	uint32 last_outer;
	uint32 *last_inner;
	size_t last_count;
	size_t last_capacity;

	/* where the last outer row gets the rest of its matches */
	bool in_rest;
	uint8 *last_delivered; /* by inner row */
	int rest_piece;		   /* inner keys that are still to be compared */
	uint64 rest_at;
	uint32 rest_row;
};

static dlist_head hg_matchers = DLIST_STATIC_INIT(hg_matchers);

/* A bit for each of rows rows, all unset. */
static uint8 *
hg_matcher_clear_bits(HgMatcher *matcher, uint8 *bits, uint64 rows)
{
	Size bytes = rows / 8 + 1;

	if (bits == NULL)
		bits = MemoryContextAllocHuge(matcher->context, bytes);
	hg_block_clear(bits, bytes);
	return bits;
}

static inline bool
hg_matcher_bit(const uint8 *bits, uint32 row)
{
	return (bits[row / 8] & (1 << (row % 8))) != 0;
}

static inline void
hg_matcher_set_bit(uint8 *bits, uint32 row)
{
	bits[row / 8] |= 1 << (row % 8);
}

/* Close the job and leave the list; may be called in any state and any number of times. */
static void
hg_matcher_close(HgMatcher *matcher)
{
	if (matcher->job != NULL)
	{
		HgJob *job = matcher->job;

		matcher->job = NULL;
		matcher->engine->close(job);
	}
	hg_device_team_close(&matcher->device);
	if (matcher->owner != NULL)
	{
		matcher->owner = NULL;
		dlist_delete(&matcher->node);
	}
}

static void
hg_matcher_context_reset(void *arg)
{
	hg_matcher_close(arg);
}

static void
hg_matcher_owner_release(ResourceReleasePhase phase, bool is_commit pg_attribute_unused(),
						 bool is_top_level pg_attribute_unused(), void *arg pg_attribute_unused())
{
	dlist_mutable_iter iter;

	if (phase != RESOURCE_RELEASE_BEFORE_LOCKS)
		return;
	dlist_foreach_modify(iter, &hg_matchers)
	{
		HgMatcher *matcher = dlist_container(HgMatcher, node, iter.cur);

		if (matcher->owner == CurrentResourceOwner)
			hg_matcher_close(matcher);
	}
}

static void
hg_matcher_set_engine(HgMatcher *matcher, HgEngine *engine)
{
	matcher->engine = engine;
	matcher->on_cpu = engine == hg_cpu_engine();
	matcher->reducing = false;
	hg_gather_forget(&matcher->gather);
	matcher->report.gathered = 0;
}

/* Does a failure of the device with this status leave the CPU a chance? */
static bool
hg_matcher_may_fall_back(const HgMatcher *matcher, HgStatus status)
{
	if (!matcher->may_fall_back || matcher->on_cpu)
		return false;
	return status == HG_OUT_OF_MEMORY || status == HG_DEVICE_OUT_OF_MEMORY ||
		   status == HG_UNAVAILABLE || status == HG_DEVICE_FAILED || status == HG_CONNECTION_LOST;
}

/* How long this join may wait for a device, in milliseconds, unless it wants that and no other. */
static double
hg_matcher_patience(const HgMatcher *matcher)
{
	double rows = (double) (matcher->sides[HG_OUTER].rows + matcher->sides[HG_INNER].rows);

	if (hg_gpu_wait_limit > 0)
		return hg_gpu_wait_limit;
	return Max(HG_LEAST_PATIENCE_MS, Max(matcher->report.cpu_ms, rows * HG_CPU_ROW_NS / 1e6));
}

/* Give a job its keys as a part of a shared one, and build it. */
static HgStatus
hg_matcher_build_shared(HgMatcher *matcher, HgStatus status, HgError *error)
{
	HgStatus built;
	HgError ignored;

	if (status == HG_OK)
		status = matcher->engine->share(matcher->job, &matcher->team.team, error);
	if (status != HG_OK)
		return status;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgKeySet *set = &matcher->sides[side];

		for (int i = 0; i < set->npieces && status == HG_OK; i++)
			status =
				matcher->engine->append_rows(matcher->job, (HgSide) side, set->pieces[i].keys,
											 set->pieces[i].count, set->pieces[i].first_row, error);
	}
	/* the others wait for it, whatever has happened */
	built = matcher->engine->build(matcher->job, status == HG_OK ? error : &ignored);
	return status == HG_OK ? built : status;
}

/* What is asked of the matcher's own job, but for the rows: with or without columns. */
static void
hg_matcher_fill_spec(const HgMatcher *matcher, HgJobSpec *spec)
{
	hg_matcher_init_spec(spec, matcher->spec.key_width,
						 matcher->reducing ? matcher->spec.reduction : NULL, !matcher->on_cpu);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (matcher->gather.columns[side] != NULL)
			hg_column_set_fill_spec(matcher->gather.columns[side], (HgSide) side, spec);
}

/*
 * Go on with the job that has been given keys while they were read; what goes wrong before the
 * matcher has it has done no harm.
 */
static HgStatus
hg_matcher_take_over(HgMatcher *matcher, const HgJobSpec *spec, HgError *error)
{
	HgSender *sender = matcher->spec.sender;
	HgStatus status;

	if (hg_sender_reduces(sender) != matcher->reducing ||
		hg_sender_columns(sender, HG_OUTER) != matcher->gather.columns[HG_OUTER] ||
		hg_sender_columns(sender, HG_INNER) != matcher->gather.columns[HG_INNER])
		return hg_error_set(error, HG_UNAVAILABLE, NULL, "other columns were expected");
	status = hg_sender_finish(sender, &matcher->host, matcher->sides, error);
	if (status == HG_OK)
		status = hg_sender_hand_over(sender, matcher->engine, &matcher->host.host, spec,
									 &matcher->job, error);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgKeySet *set = &matcher->sides[side];

		for (int i = 0; i < set->npieces && status == HG_OK; i++)
			status = hg_ranges_note(matcher->job, (HgSide) side, set->pieces[i].keys,
									set->pieces[i].count, error);
	}
	if (status == HG_OK)
		matcher->report.sent_rows = hg_sender_sent_rows(sender);
	else if (matcher->job != NULL)
	{
		matcher->engine->close(matcher->job);
		matcher->job = NULL;
	}
	return status;
}

/* Have a job on the matcher's engine, with the keys and columns in it. */
static HgStatus
hg_matcher_fill(HgMatcher *matcher, const HgJobSpec *spec, HgError *error)
{
	HgStatus status = HG_UNAVAILABLE;

	if (matcher->spec.sender != NULL && !matcher->on_cpu)
		status = hg_matcher_take_over(matcher, spec, error);
	if (matcher->spec.sender != NULL)
		hg_sender_give_up(matcher->spec.sender);
	matcher->spec.sender = NULL;
	if (status == HG_OK || status == HG_CANCELLED)
		return status;

	status =
		matcher->engine->open(matcher->engine, &matcher->host.host, spec, &matcher->job, error);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgKeySet *set = &matcher->sides[side];

		for (int i = 0; i < set->npieces && status == HG_OK; i++)
			status = matcher->engine->append(matcher->job, (HgSide) side, set->pieces[i].keys,
											 set->pieces[i].count, error);
		if (matcher->reducing && status == HG_OK)
			status = hg_reduction_append(matcher->spec.reduction, matcher->engine, matcher->job,
										 (HgSide) side, 0, set->rows, error);
		if (matcher->gather.columns[side] != NULL && status == HG_OK)
			status = hg_column_set_append(matcher->gather.columns[side], matcher->engine,
										  matcher->job, (HgSide) side, 0, set->rows, error);
	}
	return status;
}

/* The same, and built. */
static HgStatus
hg_matcher_build_job(HgMatcher *matcher, HgError *error)
{
	HgJobSpec spec;
	HgStatus status;

	hg_matcher_fill_spec(matcher, &spec);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec.expected_rows[side] = matcher->sides[side].rows;
	if (matcher->spec.team != NULL)
	{
		status = matcher->engine->open(matcher->engine, &matcher->host.host, &spec, &matcher->job,
									   error);
		return hg_matcher_build_shared(matcher, status, error);
	}
	status = hg_matcher_fill(matcher, &spec, error);
	if (status == HG_OK)
		status = matcher->engine->build(matcher->job, error);
	return status;
}

/* The device has no room for the columns: begin again without. */
static HgStatus
hg_matcher_build_keys_alone(HgMatcher *matcher, HgError *error)
{
	if (matcher->job != NULL)
		matcher->engine->close(matcher->job);
	matcher->job = NULL;
	matcher->reducing = false;
	hg_gather_forget(&matcher->gather);
	return hg_matcher_build_job(matcher, error);
}

/* Build, with the columns if there is room for them. */
static HgStatus
hg_matcher_build(HgMatcher *matcher, HgError *error)
{
	HgStatus status = hg_matcher_build_job(matcher, error);

	if (status == HG_DEVICE_OUT_OF_MEMORY &&
		(matcher->reducing || hg_gather_is_wanted(&matcher->gather)))
		status = hg_matcher_build_keys_alone(matcher, error);
	return status;
}

/*
 * Fail, or go over to the CPU with its HashGraphs built, as status and
 * hashgraph.backend want it.
 */
static void
hg_matcher_fail_or_fall_back(HgMatcher *matcher, HgStatus status, const HgError *why)
{
	HgError error;

	if (status == HG_CONNECTION_LOST)
		hg_device_discard_lost();
	if (status == HG_CANCELLED && hg_host_lost_patience(&matcher->host))
	{
		status = hg_device_complain(&error);
		why = &error;
	}
	if (!hg_matcher_may_fall_back(matcher, status))
	{
		if (!matcher->on_cpu && status != HG_CANCELLED)
			hg_stats_count_error();
		hg_host_throw(&matcher->host, status, why);
	}
	hg_device_log_fallback(why);
	if (matcher->job != NULL)
		matcher->engine->close(matcher->job);
	matcher->job = NULL;
	hg_matcher_set_engine(matcher, hg_cpu_engine());
	hg_host_set_patience(&matcher->host, -1);
	strlcpy(matcher->report.fallback, why->message, sizeof(matcher->report.fallback));
	matcher->filter = matcher->any_delivered;
	matcher->remember = false;
	matcher->streaming = false;
	status = hg_matcher_build(matcher, &error);
	if (status != HG_OK)
		hg_host_throw(&matcher->host, status, &error);
}

/* Matches that are expected to be streamed. */
static double
hg_matcher_expected_pairs(const HgMatcher *matcher)
{
	return matcher->spec.counted ? 0 : matcher->spec.pairs;
}

/*
 * What joining so many rows is expected to take, and whether a device is to reduce the matches.
 * Where costs is NULL nothing is expected, and it does that wherever it can: false.
 */
static bool
hg_matcher_weigh(const HgMatcher *matcher, const HgEngineCosts *costs, const uint64 rows[2],
				 HgMatcherEstimate *estimate)
{
	memset(estimate, 0, sizeof(*estimate));
	estimate->reduced = matcher->spec.reduction != NULL;
	if (costs == NULL)
		return false;
	hg_matcher_estimate(costs, &matcher->spec, rows[HG_OUTER], rows[HG_INNER], estimate);
	return true;
}

/* Is the device wanted, or, as far as is known, done with the join before the CPU would? */
static bool
hg_matcher_device_pays(HgMatcher *matcher, bool wanted, bool *reduced)
{
	const uint64 rows[2] = {matcher->sides[HG_OUTER].rows, matcher->sides[HG_INNER].rows};
	HgEngineCosts costs;
	HgMatcherEstimate estimate;
	bool known =
		hg_matcher_weigh(matcher, hg_device_costs(&costs) ? &costs : NULL, rows, &estimate);

	*reduced = estimate.reduced;
	if (wanted)
		return true;
	matcher->report.device_ms = estimate.device_ms;
	matcher->report.cpu_ms = estimate.cpu_ms;
	return known ? estimate.device_ms < estimate.cpu_ms
				 : rows[HG_OUTER] + rows[HG_INNER] >= HG_DEVICE_ROWS;
}

/* The job is to return its matches: have those columns come with them that are sooner here so. */
static void
hg_matcher_choose_gather(HgMatcher *matcher)
{
	const HgSender *sender = matcher->spec.sender;
	const uint64 rows[2] = {matcher->sides[HG_OUTER].rows, matcher->sides[HG_INNER].rows};

	/* a job that has been given keys already has its columns, or is to have none */
	if (sender != NULL && hg_sender_is_admitted(sender) && !hg_sender_reduces(sender))
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			matcher->gather.columns[side] = hg_sender_columns(sender, (HgSide) side);
	else if (matcher->engine->append_column != NULL)
		hg_gather_choose(matcher->spec.key_width, matcher->spec.columns, rows,
						 hg_matcher_expected_pairs(matcher), matcher->gather.columns);
}

/* Choose the engine, as hashgraph.backend says. */
static void
hg_matcher_choose(HgMatcher *matcher)
{
	bool wanted = hg_backend == HG_BACKEND_CUDA;
	HgEngine *engine = NULL;
	HgDeviceState state;
	HgError error;
	bool reduced;

	hg_matcher_set_engine(matcher, hg_cpu_engine());
	hg_host_set_patience(&matcher->host, -1);
	matcher->may_fall_back = matcher->remember = false;
	if (hg_backend == HG_BACKEND_CPU || matcher->spec.small || matcher->spec.team != NULL)
		return;
	if (!hg_matcher_device_pays(matcher, wanted, &reduced))
		return;
	/* a parallel worker does not live long enough for a device process of its own to start */
	if (!wanted && IsParallelWorker() && !hg_device_is_shared())
		return;
	state = hg_device_state(wanted, (long) hg_matcher_patience(matcher), &error);
	if (state == HG_DEVICE_READY)
	{
		strlcpy(matcher->report.device, hg_device_name(), sizeof(matcher->report.device));
		engine = hg_device_engine(false);
		if (engine == NULL)
			hg_error_set(&error, HG_CONNECTION_LOST, NULL,
						 "the device process ended before the join began");
	}
	if (engine != NULL)
	{
		hg_matcher_set_engine(matcher, engine);
		matcher->reducing = reduced && engine->reduce != NULL;
		if (!matcher->reducing)
			hg_matcher_choose_gather(matcher);
		matcher->may_fall_back = matcher->remember = !wanted;
		hg_host_set_patience(&matcher->host, wanted ? -1 : hg_matcher_patience(matcher));
		return;
	}
	if (wanted)
	{
		hg_stats_count_error();
		hg_host_throw(&matcher->host, error.status, &error);
	}
	/* a server that has no program has been made so, and is told nothing new */
	if (state != HG_DEVICE_ABSENT)
		hg_device_log_fallback(&error);
	strlcpy(matcher->report.fallback, error.message, sizeof(matcher->report.fallback));
}

/*
 * Join on a device with the other processes of the team.  False: the CPU is to do it, in all of
 * them.
 */
static bool
hg_matcher_join_on_device(HgMatcher *matcher)
{
	HgDeviceTeamShared *shared = matcher->spec.team->device;
	HgMatcherReport *report = &matcher->report;
	bool wanted = hg_backend == HG_BACKEND_CUDA;
	uint64 rows[2];
	HgMatcherEstimate estimate;
	double patience_ms;
	HgJobSpec spec;
	HgError error;

	if (shared->job == 0)
	{
		if (wanted)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("parallel workers can not share this HashGraph join on a device"),
					 errhint("Set hashgraph.backend to auto or cpu, or have the query planned "
							 "again with backend cuda.")));
		return false;
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		rows[side] = pg_atomic_read_u64(&shared->rows[side]);
	if (hg_matcher_weigh(matcher, shared->costs_known ? &shared->costs : NULL, rows, &estimate))
	{
		report->device_ms = estimate.device_ms;
		report->cpu_ms = estimate.cpu_ms;
	}
	matcher->on_cpu =
		!wanted && (report->device_ms >= report->cpu_ms ||
					(!estimate.reduced && hg_matcher_expected_pairs(matcher) * 2 * sizeof(uint32) >
											  (double) matcher->spec.team->match_bytes));
	if (matcher->on_cpu)
		return false;

	matcher->reducing = estimate.reduced;
	hg_matcher_fill_spec(matcher, &spec);
	spec.team = shared->job;
	memcpy(spec.expected_rows, rows, sizeof(rows));
	matcher->device.shared = shared;
	matcher->device.team = &matcher->team;
	matcher->device.context = matcher->context;
	matcher->device.sender = matcher->spec.sender;
	patience_ms = hg_matcher_patience(matcher);
	hg_host_set_patience(&matcher->host, wanted ? -1 : patience_ms);
	if (hg_device_team_join(&matcher->device, &matcher->spec, &spec, matcher->sides, patience_ms,
							&error))
	{
		strlcpy(report->device, hg_device_name(), sizeof(report->device));
		report->sent_rows = matcher->device.sent_rows;
		return true;
	}
	hg_host_set_patience(&matcher->host, -1);
	if (wanted)
	{
		hg_stats_count_error();
		hg_host_throw(&matcher->host, error.status, &error);
	}
	hg_device_log_fallback(&error);
	strlcpy(report->fallback, error.message, sizeof(report->fallback));
	return false;
}

HgMatcher *
hg_matcher_create(const HgMatcherSpec *spec, const HgKeySet *outer, const HgKeySet *inner)
{
	static bool release_callback_registered = false;
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph matcher", ALLOCSET_SMALL_SIZES);
	HgMatcher *matcher = MemoryContextAllocZero(context, sizeof(HgMatcher));
	instr_time start;
	instr_time elapsed;
	HgStatus status;
	HgError error;

	if (!release_callback_registered)
	{
		RegisterResourceReleaseCallback(hg_matcher_owner_release, NULL);
		release_callback_registered = true;
	}
	matcher->context = context;
	matcher->owner = CurrentResourceOwner;
	dlist_push_head(&hg_matchers, &matcher->node);
	matcher->callback.func = hg_matcher_context_reset;
	matcher->callback.arg = matcher;
	MemoryContextRegisterResetCallback(context, &matcher->callback);
	hg_host_init(&matcher->host, context);
	matcher->spec = *spec;
	if (spec->team != NULL)
		hg_team_init(&matcher->team, spec->team, &matcher->host);
	matcher->sides[HG_OUTER] = *outer;
	matcher->sides[HG_INNER] = *inner;

	INSTR_TIME_SET_CURRENT(start);
	if (spec->team != NULL)
	{
		if (hg_matcher_join_on_device(matcher))
			return matcher;
		if (spec->sender != NULL)
			hg_sender_give_up(spec->sender);
		matcher->spec.sender = NULL;
	}
	hg_matcher_choose(matcher);
	INSTR_TIME_SET_CURRENT(elapsed);
	INSTR_TIME_SUBTRACT(elapsed, start);
	matcher->report.start_ms = INSTR_TIME_GET_MILLISEC(elapsed);

	status = hg_matcher_build(matcher, &error);
	/*
	 * A process that has died since the last join, or whose device has failed when that was
	 * closed, shows it now: begin once more, with a new one.
	 */
	if ((status == HG_CONNECTION_LOST || status == HG_DEVICE_FAILED) && matcher->job == NULL)
	{
		hg_device_discard_lost();
		hg_matcher_choose(matcher);
		status = hg_matcher_build(matcher, &error);
	}
	if (status != HG_OK)
		hg_matcher_fail_or_fall_back(matcher, status, &error);
	return matcher;
}

/* Remember what is about to be delivered. */
static void
hg_matcher_remember(HgMatcher *matcher, size_t count)
{
	uint32 last = matcher->outer[count - 1];
	size_t tail = count;

	if (matcher->delivered == NULL)
		matcher->delivered = hg_matcher_clear_bits(matcher, NULL, matcher->sides[HG_OUTER].rows);
	for (size_t i = 0; i < count; i++)
		hg_matcher_set_bit(matcher->delivered, matcher->outer[i]);

	/* the run of the last outer row, which may go on from the chunk before */
	while (tail > 0 && matcher->outer[tail - 1] == last)
		tail--;
	if (tail > 0 || !matcher->any_delivered || matcher->last_outer != last)
		matcher->last_count = 0;
	if (matcher->last_count + (count - tail) > matcher->last_capacity)
	{
		size_t capacity = Max(matcher->last_count + (count - tail), 2 * matcher->last_capacity);

		if (matcher->last_inner == NULL)
			matcher->last_inner =
				MemoryContextAllocHuge(matcher->context, capacity * sizeof(uint32));
		else
			matcher->last_inner = repalloc_huge(matcher->last_inner, capacity * sizeof(uint32));
		matcher->last_capacity = capacity;
	}
	memcpy(matcher->last_inner + matcher->last_count, matcher->inner + tail,
		   (count - tail) * sizeof(uint32));
	matcher->last_count += count - tail;
	matcher->last_outer = last;
	matcher->any_delivered = true;
}

/* The device failed after it had delivered matches: make ready for the rest of them. */
static void
hg_matcher_start_rest(HgMatcher *matcher)
{
	/* of the first matches, one for each outer row, there is no rest */
	if (matcher->spec.mode == HG_MATCH_FIRST)
		return;
	matcher->last_delivered =
		hg_matcher_clear_bits(matcher, matcher->last_delivered, matcher->sides[HG_INNER].rows);
	for (size_t i = 0; i < matcher->last_count; i++)
	{
		if (i % HG_LARGEST_CHUNK == 0)
			CHECK_FOR_INTERRUPTS();
		hg_matcher_set_bit(matcher->last_delivered, matcher->last_inner[i]);
	}
	matcher->in_rest = true;
	matcher->rest_piece = 0;
	matcher->rest_at = 0;
	matcher->rest_row = 0;
}

/* A key of a piece, whatever its width. */
static inline uint64
hg_matcher_key(const HgMatcher *matcher, const HgKeyPiece *piece, uint64 at)
{
	return matcher->spec.key_width == sizeof(uint32) ? ((const uint32 *) piece->keys)[at]
													 : ((const uint64 *) piece->keys)[at];
}

/*
 * Fill a chunk with matches that the last outer row still has to get; returns their
 * number, 0 when that was all.
 */
static size_t
hg_matcher_next_rest(HgMatcher *matcher)
{
	const HgKeySet *inner = &matcher->sides[HG_INNER];
	const HgKeyPiece *piece = matcher->sides[HG_OUTER].pieces;
	uint64 row = matcher->last_outer;
	size_t count = 0;
	uint64 key;

	while (row >= piece->count)
		row -= piece++->count;
	key = hg_matcher_key(matcher, piece, row);

	while (count < matcher->capacity && matcher->rest_piece < inner->npieces)
	{
		piece = &inner->pieces[matcher->rest_piece];
		if (matcher->rest_at == piece->count)
		{
			matcher->rest_piece++;
			matcher->rest_at = 0;
			continue;
		}
		if (matcher->rest_row % HG_LARGEST_CHUNK == 0)
			CHECK_FOR_INTERRUPTS();
		if (hg_matcher_key(matcher, piece, matcher->rest_at++) == key &&
			!hg_matcher_bit(matcher->last_delivered, matcher->rest_row))
		{
			matcher->outer[count] = matcher->last_outer;
			matcher->inner[count++] = matcher->rest_row;
		}
		matcher->rest_row++;
	}
	return count;
}

/* Drop the matches that a device delivered before it failed; returns how many are left. */
static size_t
hg_matcher_filter(HgMatcher *matcher, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
	{
		uint32 outer = matcher->outer[i];

		if (hg_matcher_bit(matcher->delivered, outer))
			continue;
		matcher->outer[kept] = outer;
		matcher->inner[kept] = matcher->inner[i];
		kept++;
	}
	return kept;
}

/* Have room for a chunk of matches, with the values that come with them. */
static void
hg_matcher_reserve(HgMatcher *matcher)
{
	const uint64 rows = Max(matcher->sides[HG_OUTER].rows, matcher->sides[HG_INNER].rows);
	const size_t bytes = 2 * sizeof(uint32) + hg_gather_bytes(&matcher->gather);
	const uint64 most = Min(HG_LARGEST_CHUNK, HG_CHUNK_BYTES / bytes);

	matcher->capacity = Max(HG_LEAST_CHUNK, Min(rows / 4, most));
	matcher->outer = MemoryContextAlloc(matcher->context, matcher->capacity * sizeof(uint32));
	matcher->inner = MemoryContextAlloc(matcher->context, matcher->capacity * sizeof(uint32));
	hg_gather_reserve(&matcher->gather, matcher->capacity, matcher->context);
}

/* One chunk from the engine; a failure is returned. */
static HgStatus
hg_matcher_fetch(HgMatcher *matcher, size_t *count, HgError *error)
{
	HgMatches matches = {
		.outer = matcher->outer, .inner = matcher->inner, .capacity = matcher->capacity};
	HgStatus status = HG_OK;

	hg_gather_ask(&matcher->gather, &matches);
	if (!matcher->streaming)
		status = matcher->engine->match(matcher->job, matcher->spec.mode, error);
	if (status == HG_OK)
	{
		matcher->streaming = true;
		status = matcher->engine->next(matcher->job, &matches, error);
		hg_host_add_patience(&matcher->host, (double) matches.count * HG_CPU_MATCH_NS / 1e6);
	}
	*count = matches.count;
	if (status == HG_OK && matches.count > 0)
		matcher->report.gathered = hg_gather_take(&matcher->gather, &matches);
	return status;
}

/* The next of the matches that this process has fetched from the team's device. */
static bool
hg_matcher_next_fetched(HgMatcher *matcher, const uint32 **outer, const uint32 **inner,
						size_t *count)
{
	HgDeviceTeam *device = &matcher->device;
	uint64 first = matcher->fetched;

	*count = Min(device->count - first, HG_LARGEST_CHUNK);
	*outer = device->outer + first;
	*inner = device->inner + first;
	matcher->fetched += *count;
	return *count > 0;
}

bool
hg_matcher_next(HgMatcher *matcher, const uint32 **outer, const uint32 **inner, size_t *count)
{
	if (matcher->device.joined)
		return hg_matcher_next_fetched(matcher, outer, inner, count);
	if (matcher->job == NULL)
		elog(ERROR, "the job of a HashGraph join was closed under it");
	if (matcher->outer == NULL)
		hg_matcher_reserve(matcher);
	for (;;)
	{
		HgError error;
		HgStatus status;

		if (matcher->in_rest)
		{
			*count = hg_matcher_next_rest(matcher);
			if (*count > 0)
				break;
			matcher->in_rest = false;
		}
		status = hg_matcher_fetch(matcher, count, &error);
		/* a job without columns may do with less, and nothing has been delivered */
		if (status == HG_DEVICE_OUT_OF_MEMORY && hg_gather_is_wanted(&matcher->gather) &&
			matcher->report.gathered == 0)
		{
			matcher->streaming = false;
			status = hg_matcher_build_keys_alone(matcher, &error);
			if (status == HG_OK)
				continue;
		}
		if (status != HG_OK)
		{
			hg_matcher_fail_or_fall_back(matcher, status, &error);
			if (matcher->filter)
				hg_matcher_start_rest(matcher);
			continue;
		}
		if (*count == 0)
			return false;
		if (matcher->filter)
			*count = hg_matcher_filter(matcher, *count);
		else if (matcher->remember)
			hg_matcher_remember(matcher, *count);
		if (*count > 0)
			break;
	}
	*outer = matcher->outer;
	*inner = matcher->inner;
	return true;
}

const HgMatchValues *
hg_matcher_values(const HgMatcher *matcher, HgSide side)
{
	return matcher->gather.has_matched[side] ? &matcher->gather.matched[side] : NULL;
}

void
hg_matcher_rewind(HgMatcher *matcher)
{
	matcher->streaming = false;
	matcher->fetched = 0;
	matcher->filter = false;
	matcher->in_rest = false;
	if (!matcher->on_cpu && matcher->may_fall_back)
		hg_host_set_patience(&matcher->host, hg_matcher_patience(matcher));
	matcher->any_delivered = false;
	matcher->last_count = 0;
	if (matcher->delivered != NULL)
		hg_matcher_clear_bits(matcher, matcher->delivered, matcher->sides[HG_OUTER].rows);
}

uint64
hg_matcher_count(HgMatcher *matcher)
{
	uint64 matches = 0;
	HgStatus status;
	HgError error;

	if (matcher->device.joined)
	{
		matcher->fetched = hg_device_team_take_count(&matcher->device);
		return matcher->fetched;
	}
	if (matcher->job == NULL)
		elog(ERROR, "the job of a HashGraph join was closed under it");
	while ((status = matcher->engine->count(matcher->job, matcher->spec.mode, &matches, &error)) !=
		   HG_OK)
		hg_matcher_fail_or_fall_back(matcher, status, &error);
	return matches;
}

bool
hg_matcher_reduce(HgMatcher *matcher, HgGroupSet *groups)
{
	HgStatus status;
	HgError error;

	if (!matcher->reducing)
		return false;
	if (matcher->device.joined)
	{
		if (!matcher->device.reduced)
			return false;
		*groups = matcher->device.groups;
		matcher->fetched = groups->pairs;
		return true;
	}
	if (matcher->job == NULL)
		elog(ERROR, "the job of a HashGraph join was closed under it");
	status = hg_reduction_fetch(matcher->spec.reduction, matcher->engine, matcher->job,
								matcher->spec.mode, matcher->context, groups, &error);
	if (status == HG_OK)
		return !groups->too_many;
	hg_matcher_fail_or_fall_back(matcher, status, &error);
	return false;
}

bool
hg_matcher_describe(HgMatcher *matcher, HgSide side, HgGraphStats *stats)
{
	HgStatus status;
	HgError error;

	if (matcher->job == NULL)
		elog(ERROR, "the job of a HashGraph join was closed under it");
	while ((status = matcher->engine->describe(matcher->job, side, stats, &error)) != HG_OK)
	{
		if (status == HG_INVALID)
			return false;
		hg_matcher_fail_or_fall_back(matcher, status, &error);
	}
	return true;
}

uint64
hg_matcher_fetched_bytes(const HgMatcher *matcher)
{
	return matcher->device.capacity * 2 * sizeof(uint32);
}

void
hg_matcher_report(HgMatcher *matcher, HgMatcherReport *report)
{
	if (matcher->job != NULL)
		matcher->engine->stats(matcher->job, &matcher->report.job);
	if (matcher->device.joined)
	{
		/* the job was that of all */
		matcher->report.job = matcher->device.stats;
		matcher->report.job.matches = matcher->fetched;
	}
	*report = matcher->report;
	strlcpy(report->backend, matcher->on_cpu ? "cpu" : "cuda", sizeof(report->backend));
	if (matcher->on_cpu)
		report->device[0] = '\0';
}

void
hg_matcher_destroy(HgMatcher *matcher)
{
	/* the reset callback closes the job */
	MemoryContextDelete(matcher->context);
}
