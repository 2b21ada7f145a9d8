/*-------------------------------------------------------------------------
 *
 * hg_match_participants.c
 *	  Match source: this process's part of a job that the participants share on the CPU.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/matcher/hg_match_job.h"
#include "backend/matcher/hg_match_participants.h"

static HgStatus
hg_match_participants_open(HgMatchSource *source, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;
	HgStatus status = hg_match_job_open(source, error);

	if (status == HG_OK)
		status = job->engine->share(job->job, &source->task->participants.participants, error);
	return status;
}

static HgStatus
hg_match_participants_build(HgMatchSource *source, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;
	HgStatus status = HG_OK;
	HgStatus built;
	HgError ignored;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgKeySet *set = &source->task->sides[side];

		for (int i = 0; i < set->npieces && status == HG_OK; i++)
			status =
				job->engine->append_rows(job->job, (HgSide) side, set->pieces[i].keys,
										 set->pieces[i].count, set->pieces[i].first_row, error);
	}
	/* builds even after a failure, because the others wait for it */
	built = job->engine->build(job->job, status == HG_OK ? error : &ignored);
	return status == HG_OK ? built : status;
}

static const HgMatchSourceOps hg_match_participants_ops = {
	.backend = "cpu",
	.open = hg_match_participants_open,
	.build = hg_match_participants_build,
	.next = hg_match_job_next,
	.count = hg_match_job_count,
	.report = hg_match_job_report,
	.close = hg_match_job_close,
};

HgMatchSource *
hg_match_participants_create(HgMatchTask *task)
{
	return hg_match_job_create_on_cpu(task, &hg_match_participants_ops);
}
