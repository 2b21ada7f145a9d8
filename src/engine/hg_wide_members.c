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

/*
 * Choose the members' shares, and their turns in one round of dealing, which are as far apart as
 * can be: so what is left of the last round is dealt in these shares too.
 */
static void
choose_shares(HgWideJob *job)
{
	const HgWide *wide = job->wide;
	uint64_t room[HG_MAX_MEMBERS];
	uint32_t given[HG_MAX_MEMBERS] = {0};

	for (uint32_t m = 0; m < wide->members; m++)
		room[m] = wide->room != NULL && !job->is_sliced ? wide->room(wide->arg, m) : 1;
	job->turns = hg_exchange_ranges_share(wide->members, room, job->shares);
	for (uint32_t turn = 0; turn < job->turns; turn++)
	{
		int64_t most = INT64_MIN;

		/* whose share of the turns so far is farthest from being given */
		for (uint32_t m = 0; m < wide->members; m++)
		{
			const int64_t wanting = (int64_t) job->shares[m] * (turn + 1) - //
									(int64_t) given[m] * job->turns;

			if (wanting > most)
				job->turn[turn] = (uint8_t) m;
			most = wanting > most ? wanting : most;
		}
		given[job->turn[turn]]++;
	}
}

/* A member's share of something, no less. */
static uint64_t
share_of(const HgWideJob *job, uint32_t member, uint64_t all)
{
	const uint64_t rest = all % job->turns * job->shares[member];

	return all / job->turns * job->shares[member] + (rest + job->turns - 1) / job->turns;
}

/*
 * The most rows of a side that a member has, of so many in all: those it is dealt in turns, or its
 * share in whole parts.
 */
static uint64_t
member_rows(const HgWideJob *job, uint32_t member, uint64_t rows)
{
	const uint64_t deal_rows = job->wide->deal_rows;
	const uint64_t turns = (rows + deal_rows - 1) / deal_rows;
	const uint64_t share = share_of(job, member, rows);
	uint64_t dealt = turns / job->turns * job->shares[member];
	uint64_t most;

	for (uint32_t turn = 0; turn < turns % job->turns; turn++)
		dealt += job->turn[turn] == member;
	most = (dealt * deal_rows > share ? dealt * deal_rows : share) + rows / HG_EXCHANGE_PARTS;
	return most < rows ? most : rows;
}

/* What a member is asked for. */
static HgJobSpec
member_spec(const HgWideJob *job, uint32_t member)
{
	HgJobSpec spec = job->spec;

	if (job->wide->members == 1)
		return spec;
	spec.members = job->is_sliced ? 0 : job->wide->members;
	spec.direct = 0; /* one member might be, and the next not */
	spec.device = -1;
	spec.memory_limit = share_of(job, member, spec.memory_limit);
	for (int side = 0; side < 2 && !job->is_sliced; side++)
		spec.expected_rows[side] = member_rows(job, member, spec.expected_rows[side]);
	return spec;
}

HgStatus
hg_wide_members_open(HgWideJob *job, HgError *error)
{
	HgWideSliceSpec slices;
	HgStatus status = HG_OK;

	choose_shares(job);
	while (job->members < job->wide->members && status == HG_OK)
	{
		HgEngine *target = job->wide->target(job->wide->arg, job->members);
		HgWideMember *member = &job->member[job->members];
		HgJobSpec spec = member_spec(job, job->members);

		job->wide->called = job->members;
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
	{
		job->wide->called = i;
		if (job->member[i].calls.start != NULL)
			status = job->member[i].calls.start(job->member[i].job, ahead, mode, spec, error);
	}
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
	return &job->member[job->turn[deal % job->turns]];
}
