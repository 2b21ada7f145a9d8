/*-------------------------------------------------------------------------
 *
 * hg_matcher_choose.c
 *	  Chooses the first match source of a join.
 *
 * A source that fails names its own replacement (hg_match_source.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/parallel.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_shared.h"
#include "backend/hg_stats.h"
#include "backend/matcher/hg_device_participants.h"
#include "backend/matcher/hg_match_cpu.h"
#include "backend/matcher/hg_match_device.h"
#include "backend/matcher/hg_match_fetched.h"
#include "backend/matcher/hg_match_resident.h"
#include "backend/matcher/hg_match_uploaded.h"
#include "backend/matcher/hg_match_participants.h"
#include "backend/matcher/hg_matcher_choose.h"
#include "backend/matcher/hg_device_timeout.h"
#include "backend/matcher/hg_upload.h"
#include "hg_guc.h"

/*
 * Returns true if a device is required, or is estimated to finish before the CPU. Sets
 * columns->reduction if the device should reduce the matches.
 */
static bool
hg_matcher_device_pays(HgMatchTask *task, bool wanted, HgMatchColumns *columns)
{
	const uint64 rows[2] = {task->sides[HG_OUTER].rows, task->sides[HG_INNER].rows};
	HgEngineCosts costs;
	HgMatcherEstimate estimate;
	bool known = hg_matcher_estimate(hg_device_costs(&costs) ? &costs : NULL, &task->spec,
									 rows[HG_OUTER], rows[HG_INNER], &estimate);

	columns->reduction = estimate.reduced ? task->spec.reduction : NULL;
	if (wanted)
		return true;
	task->report.device_ms = estimate.device_ms;
	task->report.cpu_ms = estimate.cpu_ms;
	return known ? estimate.device_ms < estimate.cpu_ms
				 : rows[HG_OUTER] + rows[HG_INNER] >= HG_DEVICE_ROWS;
}

/* Returns the source of a streamed join, which always runs on the CPU. */
static HgMatchSource *
hg_matcher_choose_streamed(HgMatchTask *task)
{
	HgError error;

	if (hg_backend == HG_BACKEND_AUTO &&
		task->spec.streamed_rows + task->sides[HG_INNER].rows >= HG_DEVICE_ROWS &&
		hg_device_glance(hg_device_number(HG_ALL_DEVICES), &error) == HG_DEVICE_ABSENT)
		strlcpy(task->report.fallback, error.message, sizeof(task->report.fallback));
	return hg_match_cpu_create(task);
}

/* Chooses the columns whose values come with the matches of a job that does not reduce them. */
static void
hg_matcher_choose_gather(const HgMatchTask *task, const HgEngine *engine, HgMatchColumns *columns)
{
	const HgUpload *upload = task->spec.upload;
	const uint64 rows[2] = {task->sides[HG_OUTER].rows, task->sides[HG_INNER].rows};
	HgEngineCosts costs;

	/* a job that has been given keys has its columns already */
	if (upload != NULL && hg_upload_is_admitted(upload) && !hg_upload_reduces(upload))
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			columns->gathered[side] = hg_upload_columns(upload, (HgSide) side);
	else if (engine->append_column != NULL)
		hg_matcher_choose_columns(hg_device_costs(&costs) ? &costs : NULL, &task->spec, rows,
								  columns->gathered);
}

/* hg_matcher_choose_gather for a shared job, where all participants choose the same. */
static void
hg_matcher_choose_gather_shared(const HgMatchTask *task, const uint64 rows[2],
								HgMatchColumns *columns)
{
	const HgDeviceParticipantsShared *shared = task->spec.participants->device;

	/* a job that gets keys early has its columns already */
	if (shared->upload_job != 0 && !shared->upload_columns.reduces)
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			columns->gathered[side] =
				shared->upload_columns.gathers[side] ? task->spec.columns[side] : NULL;
	else
		hg_matcher_choose_columns(shared->costs_known ? &shared->costs : NULL, &task->spec, rows,
								  columns->gathered);
}

/* Returns the devices that may have the job: only the upload's, if its job exists. */
static HgDeviceSet
hg_matcher_devices(const HgMatchTask *task)
{
	const int device_no = task->spec.upload != NULL ? hg_upload_device_no(task->spec.upload) : -1;

	return device_no >= 0 ? HG_DEVICE_BIT(device_no) : HG_ALL_DEVICES;
}

/* Returns the source of a job on a device; NULL if the CPU is to do it. */
static HgMatchSource *
hg_matcher_choose_device(HgMatchTask *task)
{
	const bool wanted = hg_backend == HG_BACKEND_CUDA;
	HgMatchColumns columns = {0};
	HgEngine *engine = NULL;
	HgDeviceState state;
	double timeout_ms;
	HgError error;

	if (hg_backend == HG_BACKEND_CPU || task->spec.small ||
		!hg_matcher_device_pays(task, wanted, &columns))
		return NULL;
	/* a parallel worker ends before a device process of its own could start */
	if (!wanted && IsParallelWorker() && !hg_device_is_shared())
		return NULL;
	state = hg_device_choose(hg_matcher_devices(task), wanted, &task->device_no, &error);
	if (state == HG_DEVICE_READY)
	{
		strlcpy(task->report.device, hg_device_name(task->device_no), sizeof(task->report.device));
		/* a table cannot be split into partition passes */
		engine = hg_device_engine(task->device_no, task->spec.trial != NULL);
		if (engine == NULL)
			hg_error_set(&error, HG_CONNECTION_LOST, NULL,
						 "the device process ended before the join began");
	}
	if (engine != NULL)
	{
		if (engine->reduce == NULL)
			columns.reduction = NULL;
		if (columns.reduction == NULL)
			hg_matcher_choose_gather(task, engine, &columns);
		timeout_ms =
			hg_device_timeout_ms(HG_DEVICE_BIT(task->device_no), task->sides, task->report.cpu_ms);
		hg_host_set_timeout(&task->host,
							wanted ? hg_device_timeout_alone_ms(task->device_no, timeout_ms)
								   : timeout_ms);
		if (task->spec.upload != NULL)
			return hg_match_uploaded_create(task, engine, &columns, wanted);
		return hg_match_device_create(task, engine, &columns, wanted);
	}
	if (wanted)
	{
		hg_stats_count_error();
		hg_host_throw(&task->host, error.status, &error);
	}
	/* a server without the program was set up that way: not worth a log message */
	if (state != HG_DEVICE_ABSENT)
		hg_device_log_fallback(&error);
	strlcpy(task->report.fallback, error.message, sizeof(task->report.fallback));
	return NULL;
}

/* Returns the source of a device job that the participants share. NULL in all of them: the CPU. */
static HgMatchSource *
hg_matcher_choose_fetched(HgMatchTask *task)
{
	const HgMatcherSpec *spec = &task->spec;
	const bool wanted = hg_backend == HG_BACKEND_CUDA;
	HgDeviceParticipantsShared *shared = spec->participants->device;
	HgMatchColumns columns = {0};
	HgMatcherEstimate estimate;
	uint64 rows[2];

	if (shared->job == 0)
	{
		if (wanted)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("parallel workers can not share this HashGraph join on a device"),
					 errhint("Set hashgraph.backend to auto or cpu, or have the query planned "
							 "again with backend cuda.")));
		return NULL;
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		rows[side] = pg_atomic_read_u64(&shared->rows[side]);
	hg_matcher_estimate(shared->costs_known ? &shared->costs : NULL, spec, rows[HG_OUTER],
						rows[HG_INNER], &estimate);
	task->report.device_ms = estimate.device_ms;
	task->report.cpu_ms = estimate.cpu_ms;
	if (!wanted && (estimate.device_ms >= estimate.cpu_ms ||
					(!estimate.reduced && !spec->counted &&
					 spec->pairs * 2 * sizeof(uint32) > (double) spec->participants->match_bytes)))
		return NULL;
	if (estimate.reduced)
		columns.reduction = spec->reduction;
	else
		hg_matcher_choose_gather_shared(task, rows, &columns);
	return hg_match_fetched_create(task, &columns, wanted);
}

/*
 * Returns the source of a join with covered rows. It uses the cached indexes, on a device if that
 * has replicas and else here. Backend cuda requires a device all the same.
 */
static HgMatchSource *
hg_matcher_choose_resident(HgMatchTask *task)
{
	HgError error;

	/* the leader checks that for its parallel workers */
	if (hg_backend == HG_BACKEND_CUDA && !task->spec.small && !IsParallelWorker() &&
		hg_device_choose(HG_ALL_DEVICES, true, &task->device_no, &error) != HG_DEVICE_READY)
	{
		hg_stats_count_error();
		hg_host_throw(&task->host, error.status, &error);
	}
	return hg_match_resident_create(task);
}

HgMatchSource *
hg_matcher_choose(HgMatchTask *task)
{
	const bool is_shared = task->spec.participants != NULL;
	HgMatchSource *source;

	/* a side whose covered rows were joined elsewhere has delta rows numbered from first_row on */
	if (task->spec.first_row[HG_OUTER] > 0 || task->spec.first_row[HG_INNER] > 0)
		return hg_matcher_choose_resident(task);
	if (task->spec.streamed_rows > 0)
		return hg_matcher_choose_streamed(task);
	source = is_shared ? hg_matcher_choose_fetched(task) : hg_matcher_choose_device(task);
	if (source != NULL)
		return source;
	hg_match_task_end_upload(task);
	return is_shared ? hg_match_participants_create(task) : hg_match_cpu_create(task);
}
