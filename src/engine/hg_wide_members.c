/*-------------------------------------------------------------------------
 *
 * hg_wide_members.c
 *	  The members of a job that is spread over several engines, and what each is given.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_wide_job.h"

/* The most rows of a side that a member has: of those it is dealt in turns, or by whole parts. */
static uint64_t
member_rows(const HgWide *wide, uint64_t rows)
{
	const uint64_t turns = (rows + wide->deal_rows - 1) / wide->deal_rows;
	const uint64_t dealt = (turns + wide->members - 1) / wide->members * wide->deal_rows;
	const uint64_t most = dealt + rows / HG_EXCHANGE_PARTS;

	return most < rows ? most : rows;
}

/* What a member is asked for. */
static HgJobSpec
member_spec(const HgWideJob *job)
{
	HgJobSpec spec = job->spec;

	if (job->wide->members == 1)
		return spec;
	spec.members = job->is_sliced ? 0 : job->wide->members;
	spec.direct = 0; /* one member might be, and the next not */
	spec.device = -1;
	spec.memory_limit = (spec.memory_limit + job->wide->members - 1) / job->wide->members;
	for (int side = 0; side < 2 && !job->is_sliced; side++)
		spec.expected_rows[side] = member_rows(job->wide, spec.expected_rows[side]);
	return spec;
}

HgStatus
hg_wide_members_open(HgWideJob *job, HgError *error)
{
	const HgJobSpec common = member_spec(job);
	HgWideSliceSpec slices;
	HgStatus status = HG_OK;

	while (job->members < job->wide->members && status == HG_OK)
	{
		HgEngine *target = job->wide->target(job->wide->arg, job->members);
		HgWideMember *member = &job->member[job->members];
		HgJobSpec spec = common;

		if (target == NULL)
			return hg_error_set(error, HG_CONNECTION_LOST, NULL, "the device process is gone");
		if (spec.members != 0 && target->tally == NULL)
			return hg_error_set(error, HG_INVALID, NULL, "an engine exchanges no rows");
		if (job->is_sliced)
			hg_wide_slices_member(job, job->members, &slices, &spec);
		member->calls = *target;
		status = target->open(target, job->host, &spec, &member->job, error);
		if (status == HG_OK)
			job->members++;
	}
	return status;
}

HgStatus
hg_wide_members_start(HgWideJob *job, HgAhead ahead, HgMatchMode mode, const HgReduceSpec *spec,
					  HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32_t i = 0; i < job->members && status == HG_OK; i++)
		if (job->member[i].calls.start != NULL)
			status = job->member[i].calls.start(job->member[i].job, ahead, mode, spec, error);
	return status;
}

void
hg_wide_members_close(HgWideJob *job)
{
	while (job->members > 0)
	{
		HgWideMember *member = &job->member[--job->members];

		member->calls.close(member->job);
	}
}

HgWideMember *
hg_wide_member_of_row(HgWideJob *job, uint64_t row, uint64_t *end)
{
	const uint64_t deal = row / job->wide->deal_rows;

	*end = job->members > 1 ? (deal + 1) * job->wide->deal_rows : UINT64_MAX;
	return &job->member[deal % job->members];
}
