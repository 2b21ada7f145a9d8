/*-------------------------------------------------------------------------
 *
 * hg_match_uploaded.c
 *	  Match source: a device job whose keys were uploaded while they were read.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/matcher/hg_match_device.h"
#include "backend/matcher/hg_match_uploaded.h"
#include "backend/matcher/hg_device_timeout.h"
#include "backend/matcher/hg_upload.h"
#include "engine/hg_passes.h"

/* Takes the upload's job over, with all keys and columns, and allows partition passes. */
static HgStatus
hg_match_uploaded_take_over(HgMatchJob *job, HgError *error)
{
	const HgMatchSource *source = &job->source;
	HgMatchTask *task = source->task;
	HgUpload *upload = task->spec.upload;
	HgJobSpec spec;
	HgStatus status;

	if (hg_upload_reduces(upload) != (source->reduction != NULL) ||
		hg_upload_columns(upload, HG_OUTER) != source->gather.columns[HG_OUTER] ||
		hg_upload_columns(upload, HG_INNER) != source->gather.columns[HG_INNER])
		return hg_error_set(error, HG_UNAVAILABLE, NULL, "other columns were expected");
	hg_match_source_fill_spec(source, &spec);
	status = hg_upload_finish(upload, &task->host, task->sides, error);
	if (status == HG_OK)
		status =
			hg_upload_hand_over(upload, job->engine, &task->host.host, &spec, &job->job, error);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgKeySet *set = &task->sides[side];

		for (int i = 0; i < set->npieces && status == HG_OK; i++)
			status = hg_passes_note(job->job, (HgSide) side, set->pieces[i].keys,
									set->pieces[i].count, error);
	}
	if (status == HG_OK)
		task->report.uploaded_rows = hg_upload_rows(upload);
	return status;
}

static HgStatus
hg_match_uploaded_open(HgMatchSource *source, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;
	HgStatus status = hg_match_uploaded_take_over(job, error);

	job->filled = status == HG_OK;
	if (job->filled)
		hg_device_timeout_begin_work(&source->task->host);
	else
		hg_match_job_close(source);
	hg_match_task_end_upload(source->task);
	/* open a new job, unless the user has cancelled */
	if (!job->filled && status != HG_CANCELLED)
		status = hg_match_device_open(source, error);
	return status;
}

static const HgMatchSourceOps hg_match_uploaded_ops = {
	HG_MATCH_DEVICE_CALLS,
	.open = hg_match_uploaded_open,
};

HgMatchSource *
hg_match_uploaded_create(HgMatchTask *task, HgEngine *engine, const HgMatchColumns *columns,
						 bool alone)
{
	return hg_match_device_create_as(task, &hg_match_uploaded_ops, engine, columns, alone);
}
