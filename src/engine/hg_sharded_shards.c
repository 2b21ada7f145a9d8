/*-------------------------------------------------------------------------
 *
 * hg_sharded_shards.c
 *	  The shards of a job: their shares, opening, start and close.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_sharded_job.h"

/*
 * Chooses the shards' shares, and their turns in one round of dealing.  The turns of a shard are
 * as far apart as possible, so that the rows of an incomplete round are in about the same shares.
 */
static void
choose_shares(HgShardedJob *job)
{
	const HgSharded *sharded = job->sharded;
	uint64_t room[HG_MAX_SHARDS];
	uint32_t given[HG_MAX_SHARDS] = {0};

	for (uint32_t m = 0; m < sharded->shards; m++)
		room[m] =
			sharded->room != NULL && !job->is_partitioned ? sharded->room(sharded->arg, m) : 1;
	job->turns = hg_exchange_ranges_share(sharded->shards, room, job->shares);
	for (uint32_t turn = 0; turn < job->turns; turn++)
	{
		int64_t most = INT64_MIN;

		/* the shard that lags most behind its share of the turns so far */
		for (uint32_t m = 0; m < sharded->shards; m++)
		{
			const int64_t lag = (int64_t) job->shares[m] * (turn + 1) - //
								(int64_t) given[m] * job->turns;

			if (lag > most)
				job->turn[turn] = (uint8_t) m;
			most = lag > most ? lag : most;
		}
		given[job->turn[turn]]++;
	}
}

/* Returns a shard's share of a total, rounded up. */
static uint64_t
share_of(const HgShardedJob *job, uint32_t shard, uint64_t all)
{
	const uint64_t rest = all % job->turns * job->shares[shard];

	return all / job->turns * job->shares[shard] + (rest + job->turns - 1) / job->turns;
}

/*
 * Returns the most rows of a side that a shard has, of rows in all: those that it is dealt in
 * turns, or its share in whole parts.
 */
static uint64_t
shard_rows(const HgShardedJob *job, uint32_t shard, uint64_t rows)
{
	const uint64_t deal_rows = job->sharded->deal_rows;
	const uint64_t turns = (rows + deal_rows - 1) / deal_rows;
	const uint64_t share = share_of(job, shard, rows);
	uint64_t dealt = turns / job->turns * job->shares[shard];
	uint64_t most;

	for (uint32_t turn = 0; turn < turns % job->turns; turn++)
		dealt += job->turn[turn] == shard;
	most = (dealt * deal_rows > share ? dealt * deal_rows : share) + rows / HG_EXCHANGE_PARTS;
	return most < rows ? most : rows;
}

/* Returns the spec of a shard. */
static HgJobSpec
shard_spec(const HgShardedJob *job, uint32_t shard)
{
	HgJobSpec spec = job->spec;

	if (job->sharded->shards == 1)
		return spec;
	spec.shards = job->is_partitioned ? 0 : job->sharded->shards;
	spec.direct = 0; /* one shard might have dense keys, and the next not */
	spec.device = -1;
	spec.memory_limit = share_of(job, shard, spec.memory_limit);
	for (int side = 0; side < 2 && !job->is_partitioned; side++)
		spec.expected_rows[side] = shard_rows(job, shard, spec.expected_rows[side]);
	return spec;
}

HgStatus
hg_shards_open(HgShardedJob *job, HgError *error)
{
	HgShardedPartitionSpec partitions;
	HgStatus status = HG_OK;

	choose_shares(job);
	while (job->shards < job->sharded->shards && status == HG_OK)
	{
		HgEngine *target = job->sharded->target(job->sharded->arg, job->shards);
		HgShard *shard = &job->shard[job->shards];
		HgJobSpec spec = shard_spec(job, job->shards);

		job->sharded->called = job->shards;
		if (target == NULL)
			return hg_error_set(error, HG_CONNECTION_LOST, NULL, "the device process is gone");
		if (spec.shards != 0 && target->tally == NULL)
			return hg_error_set(error, HG_INVALID, NULL, "an engine exchanges no rows");
		if (job->is_partitioned)
			hg_sharded_partitions_shard(job, job->shards, &partitions, &spec);
		shard->calls = *target;
		status = target->open(target, job->host, &spec, &shard->job, error);
		if (status == HG_OK)
			job->shards++;
	}
	return status;
}

HgStatus
hg_shards_start(HgShardedJob *job, HgAhead ahead, HgMatchMode mode, const HgReduceSpec *spec,
				HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32_t i = 0; i < job->shards && status == HG_OK; i++)
	{
		job->sharded->called = i;
		if (job->shard[i].calls.start != NULL)
			status = job->shard[i].calls.start(job->shard[i].job, ahead, mode, spec, error);
	}
	return status;
}

void
hg_shards_close(HgShardedJob *job)
{
	while (job->shards > 0)
	{
		HgShard *shard = &job->shard[--job->shards];

		shard->calls.close(shard->job);
	}
}

HgShard *
hg_shard_of_row(HgShardedJob *job, uint64_t row, uint64_t *end)
{
	const uint64_t deal = row / job->sharded->deal_rows;

	*end = job->shards > 1 ? (deal + 1) * job->sharded->deal_rows : UINT64_MAX;
	return &job->shard[job->turn[deal % job->turns]];
}
