/*-------------------------------------------------------------------------
 *
 * hg_matcher_spec.c
 *	  Job specs and the estimated time of joins.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "storage/condition_variable.h"
#include "storage/lwlock.h"

#include "backend/device/hg_device.h"
#include "backend/matcher/hg_matcher_spec.h"
#include "engine/cpu/hg_cpu.h"
#include "engine/hg_cost_table.h"
#include "hg_guc.h"

/* ---------------------------------------------------------------------
 * Implements the engine's participants of a shared job with a barrier and a DSA area
 *
 * The host keeps an error in a callback and throws it once the engine has returned, as for an
 * interrupt (hg_host.h). From then on this process waits for no other. The others need not learn
 * of the error from the engine: it ends the query, and the leader ends them. But this process must
 * not hold a lock that they wait for.
 * ---------------------------------------------------------------------
 */

static uint32 hg_participants_wait_event;

/* Keeps an error that was thrown in a callback. */
static void
hg_participants_catch(HgPgParticipants *participants)
{
	/* releases the DSA's locks; no other lock is held where the engine is called */
	LWLockReleaseAll();
	ConditionVariableCancelSleep();
	hg_host_catch(participants->host);
}

static uint64_t
hg_participants_alloc(void *arg, size_t bytes)
{
	HgPgParticipants *participants = arg;
	volatile dsa_pointer pointer = InvalidDsaPointer;

	PG_TRY();
	{
		pointer = dsa_allocate_extended(participants->spec.area, bytes,
										DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	}
	PG_CATCH();
	{
		hg_participants_catch(participants);
	}
	PG_END_TRY();
	return pointer;
}

static void *
hg_participants_address(void *arg, uint64_t handle)
{
	HgPgParticipants *participants = arg;
	void *volatile address = NULL;

	PG_TRY();
	{
		address = dsa_get_address(participants->spec.area, (dsa_pointer) handle);
	}
	PG_CATCH();
	{
		hg_participants_catch(participants);
	}
	PG_END_TRY();
	return address;
}

static void
hg_participants_free(void *arg, uint64_t handle)
{
	HgPgParticipants *participants = arg;

	dsa_free(participants->spec.area, (dsa_pointer) handle);
}

static bool
hg_participants_arrive(void *arg)
{
	HgPgParticipants *participants = arg;
	volatile bool arrived = true;

	/* The barrier may still be in the phase of the interrupted wait: do not arrive twice. */
	if (participants->host->caught != NULL)
		return false;
	PG_TRY();
	{
		BarrierArriveAndWait(participants->spec.barrier,
							 HG_WAIT_EVENT(hg_participants_wait_event, "HashGraphBuild"));
	}
	PG_CATCH();
	{
		hg_participants_catch(participants);
		arrived = false;
	}
	PG_END_TRY();
	return arrived;
}

void
hg_participants_init(HgPgParticipants *participants, const HgParticipantsSpec *spec, HgPgHost *host)
{
	participants->spec = *spec;
	participants->host = host;
	participants->participants.state = spec->state;
	participants->participants.arrived = spec->arrived;
	participants->participants.whole_bins = spec->whole_bins;
	participants->participants.spread = spec->spread ? (uint32_t) spec->processes : 0;
	participants->participants.alloc = hg_participants_alloc;
	participants->participants.address = hg_participants_address;
	participants->participants.free = hg_participants_free;
	participants->participants.arrive = hg_participants_arrive;
	participants->participants.arg = participants;
}

void
hg_participants_reset(HgParticipantsState *state, dsa_area *area)
{
	HgPgParticipants participants;
	HgParticipantsSpec spec = {.state = state, .area = area};

	hg_participants_init(&participants, &spec, NULL);
	hg_participants_release(&participants.participants);
	memset(state, 0, sizeof(*state));
}

/* Bytes of a column that fits a near cache, whose values cost HG_NEAR_VALUE_NS. */
#define HG_NEAR_BYTES (2.0 * 1024 * 1024)

void
hg_matcher_init_spec(HgJobSpec *spec, uint32 key_width, const HgReduction *reduction,
					 bool on_device)
{
	memset(spec, 0, sizeof(*spec));
	spec->key_width = key_width;
	spec->shape.build = (HgBuildAlgorithm) hg_build;
	spec->shape.probe = (HgProbeAlgorithm) hg_probe;
	spec->shape.load_factor = hg_load_factor;
	spec->shape.bins = (uint32) hg_bins;
	if (on_device)
		spec->memory_limit = (uint64) hg_gpu_memory_limit * 1024;
	spec->device = hg_device_requested_ordinal();
	spec->group = hg_device_group();
	if (reduction != NULL)
		hg_reduction_fill_spec(reduction, spec);
}

/* Returns true if settings allow looking up streamed outer rows in one graph. */
static bool
hg_matcher_settings_stream(void)
{
	return hg_bins <= 1 && hg_build != HG_BUILD_V2 && hg_probe != HG_PROBE_INTERSECT;
}

double
hg_matcher_stream_rows(uint32 key_width)
{
	return hg_cpu_near_rows(key_width, hg_load_factor);
}

bool
hg_matcher_estimate(const HgEngineCosts *costs, const HgMatcherSpec *spec, uint64 outer_rows,
					uint64 inner_rows, HgMatcherEstimate *estimate)
{
	const HgReduction *reduction = spec->reduction;
	const int processes = spec->participants != NULL ? spec->participants->processes : 1;
	const double pairs = spec->counted ? 0 : spec->pairs;
	const bool streams = spec->streamed_rows > 0 && hg_matcher_settings_stream() &&
						 (double) inner_rows <= hg_matcher_stream_rows(spec->key_width);
	const double value_ns = streams ? HG_STREAMED_VALUE_NS : HG_REDUCED_VALUE_NS;
	const double delta_ms = streams ? outer_rows * HG_SEND_ROW_NS / 1e6 : 0;
	double values_ms;
	double reduced_ms;
	double connect_ms;

	memset(estimate, 0, sizeof(*estimate));
	estimate->reduced = reduction != NULL;
	if (costs == NULL)
		return false;
	connect_ms = spec->parallel ? costs->connect_ms : 0;
	hg_device_estimate(costs, spec->key_width, outer_rows, inner_rows, pairs, &estimate->device_ms,
					   &estimate->cpu_ms);
	estimate->device_ms += connect_ms;
	if (streams)
	{
		estimate->cpu_ms = outer_rows * HG_STREAM_ROW_NS / 1e6;
		/* a device returns matches in an order in which the rows are scattered over memory */
		estimate->device_ms += delta_ms + pairs * HG_FAR_VALUE_NS / 1e6;
	}
	estimate->cpu_ms /= processes;
	if (reduction == NULL)
		return true;
	/* matches that are not reduced are gathered and aggregated here */
	values_ms = pairs * value_ns / 1e6 / processes *
				(reduction->columns[HG_OUTER].ncolumns + reduction->columns[HG_INNER].ncolumns);
	reduced_ms =
		hg_device_estimate_reduced(costs, spec->key_width, outer_rows, inner_rows,
								   hg_reduction_bytes(reduction, outer_rows, inner_rows), pairs) +
		delta_ms + connect_ms;
	estimate->device_ms += values_ms;
	estimate->cpu_ms += values_ms;
	estimate->reduced = reduced_ms <= estimate->device_ms;
	if (estimate->reduced)
		estimate->device_ms = reduced_ms;
	return true;
}

/* Returns true if a side's values take less time with the matches than looked up by row. */
static bool
hg_matcher_gather_pays(const HgEngineCosts *costs, const HgMatcherSpec *spec, HgSide side,
					   uint64 rows)
{
	const HgColumnSet *set = spec->columns[side];
	const int processes = spec->participants != NULL ? spec->participants->processes : 1;
	double row_bytes = 0;
	double lookup_ns = 0;
	double stored_ns = 0;

	for (uint32 column = 0; column < set->ncolumns; column++)
	{
		double bytes = (double) rows * set->widths[column];
		double near_share = Min(1, HG_NEAR_BYTES / Max(bytes, 1));

		row_bytes += set->widths[column];
		lookup_ns += HG_FAR_VALUE_NS - near_share * (HG_FAR_VALUE_NS - HG_NEAR_VALUE_NS);
	}
	if (processes > 1)
		stored_ns = 2 * row_bytes * HG_BYTE_NS;
	return hg_device_estimate_values(costs, spec->key_width, set->ncolumns, row_bytes, rows,
									 spec->pairs, processes) <
		   spec->pairs * (lookup_ns - stored_ns) / 1e6 / processes;
}

void
hg_matcher_choose_columns(const HgEngineCosts *costs, const HgMatcherSpec *spec,
						  const uint64 rows[2], const HgColumnSet *chosen[2])
{
	const bool stored = spec->participants != NULL && spec->participants->processes > 1;
	double pair_bytes = 2 * sizeof(uint32);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgColumnSet *set = spec->columns[side];
		const double bytes = pair_bytes + (double) hg_column_set_bytes(set);

		chosen[side] = NULL;
		if (costs == NULL || set == NULL || spec->counted ||
			!hg_matcher_gather_pays(costs, spec, (HgSide) side, rows[side]))
			continue;
		if (stored && spec->pairs * bytes > (double) spec->participants->match_bytes)
			continue;
		chosen[side] = set;
		pair_bytes = bytes;
	}
}

/* Returns true if the CPU, streaming, is no slower than a device that does not reduce. */
static bool
hg_matcher_prefers_cpu(const HgEngineCosts *costs, uint32 key_width, uint64 outer_rows,
					   uint64 inner_rows, double pairs, bool parallel)
{
	const HgMatcherSpec spec = {
		.key_width = key_width, .pairs = pairs, .streamed_rows = outer_rows, .parallel = parallel};
	HgMatcherEstimate estimate;

	hg_matcher_estimate(costs, &spec, outer_rows, inner_rows, &estimate);
	return estimate.device_ms >= estimate.cpu_ms;
}

void
hg_matcher_ask_device(HgKnownDevice *device)
{
	device->measured = hg_device_costs(&device->costs);
	device->sought = false;
}

/* Returns true if there is no device and never will be; asks a resting one to start. */
static bool
hg_known_device_is_absent(HgKnownDevice *device)
{
	if (!device->sought)
		device->absent =
			hg_device_glance(hg_device_number(HG_ALL_DEVICES), NULL) == HG_DEVICE_ABSENT;
	device->sought = true;
	return device->absent;
}

bool
hg_matcher_may_stream(HgKnownDevice *device, uint32 key_width, uint64 outer_rows, uint64 inner_rows,
					  double pairs, bool parallel, bool files)
{
	if (!hg_matcher_settings_stream())
		return false;
	if (hg_backend != HG_BACKEND_AUTO)
		return hg_backend == HG_BACKEND_CPU;
	if (files)
		return true;
	if (!device->measured)
		return outer_rows + inner_rows < HG_DEVICE_ROWS || hg_known_device_is_absent(device);
	return hg_matcher_prefers_cpu(&device->costs, key_width, outer_rows, inner_rows, pairs,
								  parallel);
}
