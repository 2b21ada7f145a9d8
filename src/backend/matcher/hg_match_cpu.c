/*-------------------------------------------------------------------------
 *
 * hg_match_cpu.c
 *	  Match source: a job of this process on the CPU.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/matcher/hg_match_cpu.h"
#include "backend/matcher/hg_match_job.h"

static const HgMatchSourceOps hg_match_cpu_ops = {
	.backend = "cpu",
	.open = hg_match_job_open,
	.build = hg_match_job_build,
	.next = hg_match_job_next,
	.renew = hg_match_job_renew,
	.rewind = hg_match_job_rewind,
	.count = hg_match_job_count,
	.describe = hg_match_job_describe,
	.report = hg_match_job_report,
	.close = hg_match_job_close,
};

/* The matcher's caller measures a table that no device has measured. */
static const HgMatchSourceOps hg_match_cpu_table_ops = {
	.backend = "cpu",
	.open = hg_match_source_pass,
	.build = hg_match_source_pass,
	.report = hg_match_job_report,
	.close = hg_match_job_close,
};

HgMatchSource *
hg_match_cpu_create(HgMatchTask *task)
{
	return hg_match_job_create_on_cpu(task, task->spec.trial != NULL ? &hg_match_cpu_table_ops
																	 : &hg_match_cpu_ops);
}
