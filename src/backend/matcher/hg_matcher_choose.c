/*-------------------------------------------------------------------------
 *
 * hg_matcher_choose.c
 *	  The backend that a join is for, and how long a device may take.
 *
 * PATIENCE
 *
 * Under backend auto the device must be worth the wait.  What a join may wait for its answers in
 * all, its turn in the queue included, is what the CPU would take for the whole of it: so a device
 * that is busy, or hangs, at most doubles the time that the join takes.  Time in which nobody
 * waits, because rows are being returned, does not count.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/parallel.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_shared.h"
#include "backend/matcher/hg_matcher_internal.h"
#include "backend/hg_stats.h"
#include "engine/cpu/hg_cpu.h"
#include "hg_guc.h"

/*
 * While no device process is ready, backend auto asks for one for joins of so many rows: with
 * fewer the CPU is done before that could have started.
 */
#define HG_DEVICE_ROWS 500000

/*
 * What patience is made of: what the CPU engine may take for a row of either side, all but reading
 * it, and for a match, and what a device may take for the smallest of joins.  Which of them is the
 * faster is told by measured costs (hg_device_costs) and not by these.  They are bounds, on the
 * safe side of what an idle machine measures when its device process starts: where many sessions
 * share the CPU a join takes longer there too, and who gives a device up too soon has waited for
 * nothing.  Measured in one process, 2 million rows a side and 3 million matches: 24 to 27 ns for a
 * row, and up to twice that on a busy machine.
 */
#define HG_CPU_ROW_NS 25.0
#define HG_CPU_MATCH_NS 10.0
#define HG_LEAST_PATIENCE_MS 50.0

void
hg_matcher_set_engine(HgMatcher *matcher, HgEngine *engine)
{
	matcher->engine = engine;
	matcher->on_cpu = engine == hg_cpu_engine();
	matcher->reducing = false;
	hg_gather_forget(&matcher->gather);
	matcher->report.gathered = 0;
}

double
hg_matcher_patience(const HgMatcher *matcher)
{
	double rows = (double) (matcher->sides[HG_OUTER].rows + matcher->sides[HG_INNER].rows);

	if (hg_gpu_wait_limit > 0)
		return hg_gpu_wait_limit;
	return Max(HG_LEAST_PATIENCE_MS, Max(matcher->report.cpu_ms, rows * HG_CPU_ROW_NS / 1e6));
}

void
hg_matcher_extend_patience(HgMatcher *matcher, uint64 pairs)
{
	hg_host_add_patience(&matcher->host, (double) pairs * HG_CPU_MATCH_NS / 1e6);
}

/* Is the device wanted, or, as far as is known, done with the join before the CPU would? */
static bool
hg_matcher_device_pays(HgMatcher *matcher, bool wanted, bool *reduced)
{
	const uint64 rows[2] = {matcher->sides[HG_OUTER].rows, matcher->sides[HG_INNER].rows};
	HgEngineCosts costs;
	HgMatcherEstimate estimate;
	bool known = hg_matcher_estimate(hg_device_costs(&costs) ? &costs : NULL, &matcher->spec,
									 rows[HG_OUTER], rows[HG_INNER], &estimate);

	*reduced = estimate.reduced;
	if (wanted)
		return true;
	matcher->report.device_ms = estimate.device_ms;
	matcher->report.cpu_ms = estimate.cpu_ms;
	return known ? estimate.device_ms < estimate.cpu_ms
				 : rows[HG_OUTER] + rows[HG_INNER] >= HG_DEVICE_ROWS;
}

/* The job is to return its matches: choose the columns that come with them. */
static void
hg_matcher_choose_gather(HgMatcher *matcher)
{
	const HgSender *sender = matcher->spec.sender;
	const uint64 rows[2] = {matcher->sides[HG_OUTER].rows, matcher->sides[HG_INNER].rows};
	HgEngineCosts costs;

	/* a job that has been given keys already has its columns, or is to have none */
	if (sender != NULL && hg_sender_is_admitted(sender) && !hg_sender_reduces(sender))
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			matcher->gather.columns[side] = hg_sender_columns(sender, (HgSide) side);
	else if (matcher->engine->append_column != NULL)
		hg_matcher_choose_columns(hg_device_costs(&costs) ? &costs : NULL, &matcher->spec, rows,
								  matcher->gather.columns);
}

/* The same with the other processes of a team, who all choose alike. */
static void
hg_matcher_choose_gather_in_team(HgMatcher *matcher, const uint64 rows[2])
{
	const HgDeviceTeamShared *shared = matcher->spec.team->device;

	/* a job that is given keys early has its columns, or is to have none */
	if (shared->early_job != 0 && !shared->early_columns.reduces)
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			matcher->gather.columns[side] =
				shared->early_columns.gathers[side] ? matcher->spec.columns[side] : NULL;
	else
		hg_matcher_choose_columns(shared->costs_known ? &shared->costs : NULL, &matcher->spec, rows,
								  matcher->gather.columns);
}

void
hg_matcher_choose(HgMatcher *matcher)
{
	bool wanted = hg_backend == HG_BACKEND_CUDA;
	HgEngine *engine = NULL;
	HgDeviceState state;
	HgError error;
	bool reduced;

	hg_matcher_set_engine(matcher, hg_cpu_engine());
	hg_host_set_patience(&matcher->host, -1);
	matcher->may_fall_back = false;
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
		matcher->may_fall_back = !wanted;
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

bool
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
	hg_matcher_estimate(shared->costs_known ? &shared->costs : NULL, &matcher->spec, rows[HG_OUTER],
						rows[HG_INNER], &estimate);
	report->device_ms = estimate.device_ms;
	report->cpu_ms = estimate.cpu_ms;
	matcher->on_cpu =
		!wanted &&
		(report->device_ms >= report->cpu_ms ||
		 (!estimate.reduced && !matcher->spec.counted &&
		  matcher->spec.pairs * 2 * sizeof(uint32) > (double) matcher->spec.team->match_bytes));
	if (matcher->on_cpu)
		return false;

	matcher->reducing = estimate.reduced;
	if (!matcher->reducing)
		hg_matcher_choose_gather_in_team(matcher, rows);
	hg_matcher_fill_spec(matcher, &spec);
	spec.team = shared->job;
	memcpy(spec.expected_rows, rows, sizeof(rows));
	matcher->device.shared = shared;
	matcher->device.team = &matcher->team;
	matcher->device.context = matcher->context;
	matcher->device.sender = matcher->spec.sender;
	matcher->device.reducing = matcher->reducing;
	matcher->device.gather = &matcher->gather;
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
