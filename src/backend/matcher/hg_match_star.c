/*-------------------------------------------------------------------------
 *
 * hg_match_star.c
 *	  A multi-way join on a device that has graph replicas of all tables.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/hg_cleanup.h"
#include "backend/hg_elapsed.h"
#include "backend/matcher/hg_match_replica.h"
#include "backend/matcher/hg_match_star.h"

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
	instr_time start;

	INSTR_TIME_SET_CURRENT(start);
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
	hg_star_report(star, hg_elapsed_ms(start), &answer->report);
}
