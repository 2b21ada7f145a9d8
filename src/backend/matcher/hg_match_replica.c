/*-------------------------------------------------------------------------
 *
 * hg_match_replica.c
 *	  Asks devices about pairs of covered rows whose indexes they have replicas of.
 *
 * The job names the two graphs (engine/hg_replica.h) and the columns of their rows. Unless all
 * rows of a graph are covered, it also gets a mask of those that are. Neither keys nor values are
 * sent. Programs (engine/hg_computed.h) compute columns, and filters (engine/hg_row_filter.h)
 * apply quals. The job only counts or groups pairs of covered rows. This process finds the few
 * pairs with delta rows (hg_match_resident.c).
 *
 * If several devices have partitions of a graph, one job over all of them is asked
 * (engine/hg_sharded.h).
 *
 * The replicas or the device may be gone. Then this process finds the pairs in the cached indexes,
 * which it has in any case. Under backend cuda an unusable device is an error; missing replicas
 * are not.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_shards.h"
#include "backend/device/hg_device_shared.h"
#include "backend/hg_cleanup.h"
#include "backend/hg_stats.h"
#include "backend/matcher/hg_device_timeout.h"
#include "backend/matcher/hg_match_replica.h"
#include "engine/hg_cost_table.h"
#include "hg_guc.h"

/* Words of the bitmap of a part's rows. */
#define HG_PART_WORDS (UINT64CONST(1) << (HG_FLAT_ROW_BITS - 6))

bool
hg_match_replica_may_count(const HgMatcherSpec *spec)
{
	return spec->replica[HG_OUTER] != NULL && spec->replica[HG_INNER] != NULL;
}

bool
hg_match_replica_may_reduce(const HgMatcherSpec *spec)
{
	return hg_match_replica_may_count(spec) && spec->reduction != NULL &&
		   spec->replica[HG_OUTER]->has_columns && spec->replica[HG_INNER]->has_columns;
}

/*
 * Sends a job the mask of a graph's covered rows (HgMaskCalls.mask): the graph of a side, or one
 * that the side looks up. first_ordinals has the row counts before each part.
 */
static HgStatus
hg_replica_mask(HgEngine *engine, HgJob *job, HgSide side, uint32 lookup, const HgFlatMask *mask,
				const HgReplicaUse *use, const uint64 *first_ordinals, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32 part = 0; part < use->shape.parts && status == HG_OK; part++)
	{
		const uint64 first = part * HG_PART_WORDS;
		const HgFlatPartState state =
			part < mask->nparts ? (HgFlatPartState) mask->states[part] : HG_FLAT_NONE;

		if (state == HG_FLAT_NONE)
			status = engine->masks->mask(job, side, lookup, first, HG_PART_WORDS, NULL, error);
		else if (state == HG_FLAT_SOME)
			status =
				engine->masks->mask(job, side, lookup, first,
									(first_ordinals[part + 1] - first_ordinals[part] + 63) / 64,
									mask->bits[part], error);
	}
	return status;
}

/* Sends the masks of all graphs of a side. */
static HgStatus
hg_replica_mask_side(HgEngine *engine, HgJob *job, HgSide side, const HgMatcherSpec *spec,
					 HgError *error)
{
	const HgReplicaCovered *replica = spec->replica[side];
	const HgFlatMask *mask = spec->covered[side]->mask;
	HgStatus status = HG_OK;

	if (mask != NULL)
		status = hg_replica_mask(engine, job, side, 0, mask, &replica->use, replica->first_ordinals,
								 error);
	for (uint32 i = 0; i < replica->nlookups && status == HG_OK; i++)
	{
		const HgReplicaFound *found = &replica->lookups[i];

		if (found->mask != NULL)
			status = hg_replica_mask(engine, job, side, i + 1, found->mask, &found->lookup.found,
									 found->first_ordinals, error);
	}
	return status;
}

/* The graphs that a job names, which must stay in place until it is open. */
typedef struct HgReplicaUses
{
	HgReplicaUse sides[2];
	HgReplicaLookup lookups[2][HG_MAX_LOOKUPS];
} HgReplicaUses;

/* Returns the spec of a job; uses gets what it points to. */
static HgJobSpec
hg_replica_spec(const HgMatcherSpec *spec, const HgReduction *reduction, HgReplicaUses *uses)
{
	HgJobSpec asked;

	hg_matcher_init_spec(&asked, sizeof(uint64), reduction, true);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgReplicaCovered *replica = spec->replica[side];

		uses->sides[side] = replica->use;
		uses->sides[side].masked = spec->covered[side]->mask != NULL;
		asked.sides[side].kind = HG_SOURCE_REPLICA;
		asked.sides[side].replica.use = &uses->sides[side];
		asked.sides[side].replica.partitions = replica->partitions;
		for (uint32 i = 0; i < replica->nlookups; i++)
		{
			uses->lookups[side][i] = replica->lookups[i].lookup;
			uses->lookups[side][i].found.masked = replica->lookups[i].mask != NULL;
		}
		asked.sides[side].replica.nlookups = replica->nlookups;
		asked.sides[side].replica.lookups = uses->lookups[side];
		asked.sides[side].replica.copartition = replica->copartition;
		if (reduction != NULL)
		{
			asked.sides[side].replica.columns = replica->columns;
			asked.sides[side].replica.nprograms = replica->nprograms;
			asked.sides[side].replica.programs = replica->programs;
		}
		asked.sides[side].expected_rows = replica->use.shape.rows;
		if (replica->filters.nfilters > 0)
			asked.sides[side].replica.filters = &replica->filters;
	}
	return asked;
}

/* Fails if a group's code is not below the number of codes of its column. */
static HgStatus
hg_replica_check_codes(const HgMatcherSpec *spec, const HgReduceSpec *reduce,
					   const HgGroupSet *groups, HgError *error)
{
	const uint32 words = hg_reduce_words(reduce);

	for (uint32 k = 0; k < reduce->nkeys; k++)
	{
		const HgReduceColumn *key = &reduce->keys[k];
		const HgReplicaCovered *replica = spec->replica[key->side];
		const uint32 ncodes = replica->ncodes[key->column];

		for (uint64 i = 0; replica->coded[key->column] && i < groups->count; i++)
		{
			const uint64 *record = groups->words + i * words;

			if ((record[reduce->nkeys] >> k & 1) == 0 && record[k] >= ncodes)
				return hg_error_set(error, HG_DEVICE_FAILED, NULL,
									"the device tells of a group by a code that there is not");
		}
	}
	return HG_OK;
}

/* Sends the masks to an open job and gets its answer. */
static HgStatus
hg_replica_answer(HgMatchTask *task, const HgReduction *reduction, HgReplicaAnswer *answer,
				  HgError *error)
{
	const HgMatcherSpec *spec = &task->spec;
	HgEngine *engine = answer->engine;
	HgJob *job = answer->job;
	HgStatus status = HG_OK;

	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		status = hg_replica_mask_side(engine, job, (HgSide) side, spec, error);
	/* both requests are sent before the first is answered */
	if (status == HG_OK)
		status = engine->ahead->start(job, reduction != NULL ? HG_AHEAD_BUILD : HG_AHEAD_COUNT,
									  spec->mode, NULL, error);
	if (status == HG_OK)
		status = engine->join->build(job, error);
	if (status != HG_OK)
		return status;
	if (reduction == NULL)
		return engine->join->count(job, spec->mode, &answer->pairs, error);
	status = hg_reduction_fetch(reduction, engine, job, spec->mode, task->context, &answer->groups,
								error);
	answer->pairs = answer->groups.pairs;
	if (status == HG_OK && !answer->groups.too_many)
		status = hg_replica_check_codes(spec, &reduction->spec, &answer->groups, error);
	return status;
}

/* Returns the memory of a job in this process: masks of partitions (engine/hg_sharded.h). */
static uint64
hg_replica_held_bytes(const HgMatcherSpec *spec)
{
	uint64 bytes = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgReplicaCovered *replica = spec->replica[side];

		if (replica->partitions != NULL && spec->covered[side]->mask != NULL)
			bytes += hg_partitions_mask_bytes(replica->partitions);
		for (uint32 i = 0; i < replica->nlookups; i++)
			if (replica->copartition[i].found != NULL && replica->lookups[i].mask != NULL)
				bytes += hg_partitions_mask_bytes(replica->copartition[i].found);
	}
	return bytes;
}

/* Opens a job, gets its answer and closes it. *opened becomes true once the job is open. */
static HgStatus
hg_replica_run(HgMatchTask *task, const HgReduction *reduction, HgReplicaAnswer *answer,
			   bool *opened, HgError *error)
{
	HgReplicaUses uses;
	HgCharge charge = {.budget = task->spec.budget};
	const HgJobSpec asked = hg_replica_spec(&task->spec, reduction, &uses);
	HgStatus status =
		answer->engine->open(answer->engine, &task->host.host, &asked, &answer->job, error);

	*opened = status == HG_OK;
	if (status != HG_OK)
		return status;
	hg_device_timeout_begin_work(&task->host);
	hg_charge_set(&charge, hg_replica_held_bytes(&task->spec));
	status = hg_replica_answer(task, reduction, answer, error);
	answer->engine->join->stats(answer->job, &answer->stats);
	hg_match_replica_close(answer);
	hg_charge_set(&charge, 0);
	return status;
}

void
hg_match_replica_close(HgReplicaAnswer *answer)
{
	HgJob *job = answer->job;

	answer->job = NULL;
	if (job != NULL)
		answer->engine->join->close(job);
}

/* Returns the timeout for the devices of a set in ms. */
static double
hg_replica_timeout_ms(const HgMatchTask *task, HgDeviceSet device_set, const HgReduction *reduction)
{
	double ns = reduction != NULL ? 2 * task->spec.pairs * HG_REDUCED_VALUE_NS : 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgReplicaCovered *replica = task->spec.replica[side];

		ns += (double) replica->use.shape.rows * HG_EDGE_NS;
		for (uint32 i = 0; i < replica->nlookups; i++)
			ns += (double) (replica->lookups[i].lookup.own.shape.rows +
							replica->lookups[i].lookup.found.shape.rows) *
				  HG_EDGE_NS;
	}
	return hg_device_timeout_ms(device_set, task->sides, ns / 1e6);
}

/* Returns true if the device has tried and declined for a reason in the data. */
static bool
hg_replica_is_left(HgStatus status)
{
	return status == HG_NO_REPLICA || status == HG_NOT_UNIQUE || status == HG_OVERFLOW;
}

/* Records why there is no answer. Under backend cuda that may be an error. */
static void
hg_replica_decline(HgMatchTask *task, const HgError *why)
{
	if (hg_backend == HG_BACKEND_CUDA && !hg_replica_is_left(why->status))
	{
		hg_stats_count_error();
		hg_host_throw(&task->host, why->status, why);
	}
	hg_device_log_fallback(why);
	strlcpy(task->report.fallback, why->message, sizeof(task->report.fallback));
}

/*
 * Returns the engine of the device to ask, or of all devices with partitions, and stores these.
 * NULL: a device is not available.
 */
static HgEngine *
hg_replica_engine(HgMatchTask *task, HgDeviceSet *device_set, HgError *error)
{
	const HgMatcherSpec *spec = &task->spec;

	if (!spec->replica_partitioned)
	{
		/* a replica on an excluded device does not count for this session */
		if (hg_device_number(spec->replica_at) < 0)
		{
			hg_error_set(error, HG_NO_REPLICA, NULL, "hashgraph.gpu_device excludes the device");
			return NULL;
		}
		if (hg_device_choose(spec->replica_at, hg_backend == HG_BACKEND_CUDA, &task->device_no,
							 error) != HG_DEVICE_READY)
			return NULL;
		*device_set = HG_DEVICE_BIT(task->device_no);
		return hg_device_engine(task->device_no, true);
	}
	if ((hg_devices_request() & spec->replica_at) != spec->replica_at)
	{
		hg_error_set(error, HG_NO_REPLICA, NULL, "a device that has a part of a table is missing");
		return NULL;
	}
	*device_set = spec->replica_at;
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((*device_set & HG_DEVICE_BIT(device_no)) != 0 &&
			hg_device_state(device_no, hg_device_greeting_ms(), error) != HG_DEVICE_READY)
			return NULL;
	return hg_device_shards_partitions(*device_set);
}

/* Stores the name of what has answered in the report. */
static void
hg_replica_name_device(HgMatchTask *task, HgDeviceSet device_set)
{
	char *name = task->report.device;

	if (task->spec.replica_partitioned)
		hg_device_shards_name(device_set, name, sizeof(task->report.device));
	else
		strlcpy(name, hg_device_name(task->device_no), sizeof(task->report.device));
}

/* Records which device no longer had a replica, and which replica. */
static void
hg_replica_note_missing(HgMatchTask *task, HgDeviceSet device_set)
{
	const int device_no = hg_device_shards_called(device_set);
	const HgWireClient *client = hg_device_client(device_no);

	task->missing_on = HG_DEVICE_BIT(device_no);
	if (client != NULL)
		task->missing = *hg_wire_client_missing(client);
}

/* Asks the devices of *device_set once. *opened becomes true if the job was opened. */
static HgStatus
hg_replica_ask_once(HgMatchTask *task, const HgReduction *reduction, HgReplicaAnswer *answer,
					HgDeviceSet *device_set, bool *opened, HgError *error)
{
	double timeout_ms;
	HgStatus status;

	memset(answer, 0, sizeof(*answer));
	*opened = false;
	*device_set = 0;
	hg_error_set(error, HG_UNAVAILABLE, NULL, "the device process ended before the join began");
	answer->engine = hg_replica_engine(task, device_set, error);
	if (answer->engine == NULL)
		return error->status != HG_OK ? error->status : HG_UNAVAILABLE;
	timeout_ms = hg_replica_timeout_ms(task, *device_set, reduction);
	if (hg_backend == HG_BACKEND_CUDA)
		timeout_ms = hg_device_timeout_alone_ms(pg_rightmost_one_pos32(*device_set), timeout_ms);
	hg_host_set_timeout(&task->host, timeout_ms);
	status = hg_replica_run(task, reduction, answer, opened, error);
	if (status == HG_CANCELLED && hg_host_timed_out(&task->host))
		status = hg_device_shards_complain(*device_set, error);
	hg_host_set_timeout(&task->host, -1);
	if (status == HG_CONNECTION_LOST)
		hg_device_shards_discard_lost(*device_set);
	return status;
}

HgStatus
hg_match_replica_ask(HgMatchTask *task, const HgReduction *reduction, HgReplicaAnswer *answer,
					 HgError *error)
{
	HgDeviceSet device_set;
	HgStatus status;
	bool opened;

	status = hg_replica_ask_once(task, reduction, answer, &device_set, &opened, error);
	/* backend cuda asks again if the process had died before the job was open, or evicted it */
	if (hg_backend == HG_BACKEND_CUDA && status == HG_CONNECTION_LOST && !opened)
		status = hg_replica_ask_once(task, reduction, answer, &device_set, &opened, error);
	while (hg_backend == HG_BACKEND_CUDA && status == HG_EVICTED)
		status = hg_replica_ask_once(task, reduction, answer, &device_set, &opened, error);
	answer->status = error->status = status;
	if (status == HG_CANCELLED)
		return status;
	task->missing_on = 0;
	/* a device that was not asked has lost nothing */
	if (status == HG_NO_REPLICA && device_set != 0)
		hg_replica_note_missing(task, device_set);
	if (status != HG_OK)
		hg_replica_decline(task, error);
	/* too many groups are neither a failure nor an answer */
	answer->given = status == HG_OK && !answer->groups.too_many;
	task->report.filters = 0;
	if (!answer->given)
		return HG_OK;
	hg_replica_name_device(task, device_set);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		task->report.filters += task->spec.replica[side]->filters.nfilters;
	return HG_OK;
}

/* ---------------------------------------------------------------------
 * A multi-way join on a device that has graph replicas of all tables
 * ---------------------------------------------------------------------
 */

/* A task with its cleanup, until it is answered. */
typedef struct HgStarTask
{
	HgMatchTask task;
	HgReplicaAnswer answer;
	HgCleanup cleanup;
} HgStarTask;

static void
hg_star_release(void *arg)
{
	hg_match_replica_close(&((HgStarTask *) arg)->answer);
}

/* Fills in the report of the job, which took ms milliseconds. */
static void
hg_star_report(const HgStarTask *star, double ms, HgMatcherReport *report)
{
	HgJobStats *job = &report->job;

	*report = star->task.report;
	strlcpy(report->backend, star->answer.given ? "cuda" : "cpu", sizeof(report->backend));
	*job = star->answer.stats;
	job->build = HG_BUILD_RESIDENT;
	job->probe = HG_PROBE_INTERSECT;
	job->passes = 1;
	job->matches = star->answer.given ? star->answer.pairs : 0;
	memset(job->phase_ms, 0, sizeof(job->phase_ms));
	job->phase_ms[HG_PHASE_MATCH] = ms;
}

void
hg_match_star_ask(const HgMatcherSpec *spec, HgStarAnswer *answer)
{
	HgStarTask *star = palloc0(sizeof(HgStarTask));
	HgMatchTask *task = &star->task;
	HgStatus status;
	HgError error;
	double start = hg_clock_ms();

	hg_cleanup_register(&star->cleanup, CurrentMemoryContext, hg_star_release, star);
	task->context = CurrentMemoryContext;
	task->spec = *spec;
	hg_host_init(&task->host, task->context);
	task->host.progress = spec->progress;
	status = hg_match_replica_ask(task, spec->reduction, &star->answer, &error);
	if (status != HG_OK)
		hg_host_throw(&task->host, status, &error);
	*answer = (HgStarAnswer){.given = star->answer.given,
							 .missing_on = task->missing_on,
							 .missing = task->missing,
							 .ambiguous = star->answer.status == HG_NOT_UNIQUE,
							 .pairs = star->answer.pairs,
							 .groups = star->answer.groups};
	hg_star_report(star, hg_clock_ms() - start, &answer->report);
}
