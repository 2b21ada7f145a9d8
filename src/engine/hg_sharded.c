/*-------------------------------------------------------------------------
 *
 * hg_sharded.c
 *	  An engine whose jobs are sharded: each job runs on several other engines.
 *
 * Rows are dealt out by number, HG_SHARDED_DEAL_ROWS to a shard in turn.  So the shard that has a
 * row's key, and gets its columns, follows from the row number.  build, or start, exchanges the
 * rows (hg_sharded_exchange.c).  From there on each call goes to all shards, which are all started
 * before the first one is waited for.
 *
 * If the sides are graph replicas of which the shards have partitions, nothing is exchanged, and
 * only counts and groups can be requested (hg_sharded_partitions.c).
 *
 * A stream returns the matches of the first shard, then those of the next, and so on: all matches
 * of an outer row are in one shard.  match starts the streams of all shards, so that a shard that
 * refuses does so before any match has been returned.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "hg_reduce.h"
#include "hg_shape.h"
#include "hg_sharded_job.h"

/* ---------------------------------------------------------------------
 * The shards of a job: their shares, opening, start and close
 * ---------------------------------------------------------------------
 */

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
	if (!job->is_partitioned)
		spec.product = (HgJobProduct){HG_PRODUCT_SHARD, .shards = job->sharded->shards};
	spec.shape.direct = 0; /* one shard might have dense keys, and the next not */
	spec.device = -1;
	spec.memory_limit = share_of(job, shard, spec.memory_limit);
	for (int side = 0; side < 2 && !job->is_partitioned; side++)
		spec.sides[side].expected_rows = shard_rows(job, shard, spec.sides[side].expected_rows);
	return spec;
}

/*
 * Opens the shards of a job on the engines.  On failure job->shards of them are open, and the
 * caller closes them.
 */
static HgStatus
shards_open(HgShardedJob *job, HgError *error)
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
		if (spec.product.kind == HG_PRODUCT_SHARD && target->exchange == NULL)
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

/* Calls start (HgAheadCalls), with the given arguments, on all shards whose engines have it. */
static HgStatus
shards_start(HgShardedJob *job, HgAhead ahead, HgMatchMode mode, const HgReduceSpec *spec,
			 HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32_t i = 0; i < job->shards && status == HG_OK; i++)
	{
		job->sharded->called = i;
		if (job->shard[i].calls.ahead != NULL)
			status = job->shard[i].calls.ahead->start(job->shard[i].job, ahead, mode, spec, error);
	}
	return status;
}

/* Closes all open shards. */
static void
shards_close(HgShardedJob *job)
{
	while (job->shards > 0)
	{
		HgShard *shard = &job->shard[--job->shards];

		shard->calls.join->close(shard->job);
	}
}

/* Returns the shard that gets a row when it is appended; *end is the first later row of another. */
static HgShard *
shard_of_row(HgShardedJob *job, uint64_t row, uint64_t *end)
{
	const uint64_t deal = row / job->sharded->deal_rows;

	*end = job->shards > 1 ? (deal + 1) * job->sharded->deal_rows : UINT64_MAX;
	return &job->shard[job->turn[deal % job->turns]];
}

static HgShardedJob *
job_of(HgJob *handle)
{
	return (HgShardedJob *) handle;
}

/* Checks that rows can still be appended to a side. */
static HgStatus
check_appending(const HgShardedJob *job, HgSide side, HgError *error)
{
	HG_TRY(hg_wrapped_check_usable(&job->state, error));
	if (job->is_partitioned)
		return hg_error_set(error, HG_INVALID, NULL, "keys can not be appended to a graph replica");
	if (job->exchanged)
		return hg_error_set(error, HG_INVALID, NULL, "the job has been built already");
	return hg_wrapped_check_side(side, error);
}

/* Starts work on all shards, unless start() has done that already. */
static HgStatus
start_unless_ahead(HgShardedJob *job, HgAhead ahead, HgMatchMode mode, const HgReduceSpec *spec,
				   HgError *error)
{
	const bool begun = job->is_ahead && job->ahead == ahead && job->ahead_mode == mode;

	job->is_ahead = false;
	return begun ? HG_OK : shards_start(job, ahead, mode, spec, error);
}

/* ------------------------------------------------------------------------
 * The calls
 * ------------------------------------------------------------------------ */

/* Checks a spec.  A side may be a graph replica in partitions, which other engines refuse. */
static HgStatus
check_spec(const HgJobSpec *spec, HgError *error)
{
	HgJobSpec whole = *spec;
	HgJobSpec rows = *spec;

	if (hg_sharded_are_partitioned(spec))
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			if (spec->sides[side].kind == HG_SOURCE_REPLICA)
			{
				whole.sides[side].replica.partitions = NULL;
				rows.sides[side].kind = HG_SOURCE_ROWS;
			}
	HG_TRY(hg_spec_check_joins_rows(&rows, error));
	return hg_spec_check(&whole, error);
}

static HgStatus
sharded_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **handle,
			 HgError *error)
{
	void *memory;
	HgShardedJob *job;
	HgStatus status;

	status = check_spec(spec, error);
	if (status == HG_OK)
		status = hg_host_memory_alloc(host, sizeof(HgShardedJob), &memory, error);
	if (status != HG_OK)
		return status;
	job = memory;
	memset(job, 0, sizeof(*job));
	job->sharded = (HgSharded *) engine;
	job->host = host;
	job->spec = *spec;
	job->is_partitioned = hg_sharded_are_partitioned(spec);
	if (job->is_partitioned)
		status = hg_sharded_partitions_open(job, error);
	if (status == HG_OK)
		status = shards_open(job, error);
	/* what they point to stays in place only until open has returned */
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (spec->sides[side].kind == HG_SOURCE_REPLICA)
			job->spec.sides[side].replica =
				(HgReplicaSource){.nlookups = spec->sides[side].replica.nlookups};
	if (status != HG_OK)
	{
		shards_close(job);
		hg_host_memory_free(host, job, sizeof(*job));
		return status;
	}
	*handle = (HgJob *) job;
	return HG_OK;
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Appends rows to the shards in turn. */
static HgStatus
deal_rows(HgShardedJob *job, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
		  HgError *error)
{
	const unsigned char *from = keys;
	HgStatus status = HG_OK;

	if (count >= HG_MAX_ROWS || first_row >= HG_MAX_ROWS - count ||
		job->appended[side] >= HG_MAX_ROWS - count)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in one side of a join");
	for (uint64_t row = first_row; row < first_row + count && status == HG_OK;)
	{
		uint64_t end;
		HgShard *shard = shard_of_row(job, row, &end);
		const uint64_t step = smaller(end, first_row + count) - row;

		status = shard->calls.join->append_rows(
			shard->job, side, from + (row - first_row) * job->spec.key_width, step, row, error);
		row += step;
	}
	job->appended[side] += count;
	if (first_row + count > job->rows[side])
		job->rows[side] = first_row + count;
	return status;
}

/* Appends rows; first_row is NULL if they are numbered by position. */
static HgStatus
append(HgShardedJob *job, HgSide side, const void *keys, uint64_t count, const uint64_t *first_row,
	   HgError *error)
{
	const HgShardedFilled filled =
		first_row != NULL ? HG_SHARDED_BY_NUMBER : HG_SHARDED_BY_POSITION;

	HG_TRY(check_appending(job, side, error));
	if (job->filled != HG_SHARDED_EMPTY && job->filled != filled)
		return hg_error_set(error, HG_INVALID, NULL, "rows are numbered by the caller, or are not");
	if (count == 0)
		return HG_OK;
	job->filled = filled;
	return hg_wrapped_finish(
		&job->state,
		deal_rows(job, side, keys, count, first_row != NULL ? *first_row : job->rows[side], error));
}

static HgStatus
sharded_append(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	return append(job_of(handle), side, keys, count, NULL, error);
}

static HgStatus
sharded_append_rows(HgJob *handle, HgSide side, const void *keys, uint64_t count,
					uint64_t first_row, HgError *error)
{
	return append(job_of(handle), side, keys, count, &first_row, error);
}

static HgStatus
sharded_append_column(HgJob *handle, HgSide side, uint32_t column, const void *values,
					  const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	HgShardedJob *job = job_of(handle);
	const unsigned char *from = values;
	HgStatus status = HG_OK;

	HG_TRY(check_appending(job, side, error));
	if (column >= job->spec.sides[side].ncolumns)
		return hg_error_set(error, HG_INVALID, NULL, "there is no such column");
	if (first_row > job->rows[side] || count > job->rows[side] - first_row)
		return hg_error_set(error, HG_INVALID, NULL, "a value is of no row");
	for (uint64_t row = first_row; row < first_row + count && status == HG_OK;)
	{
		uint64_t end;
		HgShard *shard = shard_of_row(job, row, &end);
		const uint64_t step = smaller(end, first_row + count) - row;
		const uint64_t at = row - first_row;

		status = shard->calls.columns->append_column(
			shard->job, side, column, from + at * job->spec.sides[side].column_width[column],
			nulls != NULL ? nulls + at : NULL, step, row, error);
		row += step;
		job->given[side][column] += status == HG_OK ? step : 0;
		/* values that went to another shard can not be taken back */
		if (status == HG_INVALID && at > 0)
			job->state.failed = true;
	}
	return hg_wrapped_finish(&job->state, status);
}

/* Checks that each row has its values. */
static HgStatus
check_columns(const HgShardedJob *job, HgError *error)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < job->spec.sides[side].ncolumns; column++)
			if (job->given[side][column] != job->appended[side])
				return hg_error_set(error, HG_INVALID, NULL, "not all rows have their columns");
	return HG_OK;
}

/* Exchanges the rows, or passes masks to the shards, unless that was done already. */
static HgStatus
exchange(HgShardedJob *job, HgError *error)
{
	if (!job->exchanged)
	{
		HG_TRY(job->is_partitioned ? HG_OK : check_columns(job, error));
		job->exchanged = true;
		if (job->is_partitioned)
			job->exchange_status = hg_sharded_partitions_send_masks(job, &job->exchange_error);
		else if (job->shards > 1)
			job->exchange_status = hg_sharded_exchange(job, &job->exchange_error);
	}
	if (error != NULL && job->exchange_status != HG_OK)
		*error = job->exchange_error;
	return job->exchange_status;
}

static HgStatus
sharded_start(HgJob *handle, HgAhead ahead, HgMatchMode mode, const HgReduceSpec *spec,
			  HgError *error)
{
	HgShardedJob *job = job_of(handle);
	HgStatus status = hg_wrapped_check_usable(&job->state, error);

	if (status == HG_OK)
		status = hg_wrapped_check_mode(mode, error);
	if (status == HG_OK && ahead == HG_AHEAD_REDUCE)
		status = hg_reduce_check(&job->spec, spec, error);
	if (status != HG_OK)
		return status;
	/* build returns the failure */
	if (exchange(job, NULL) != HG_OK)
		return HG_OK;
	job->is_ahead = true;
	job->ahead = ahead;
	job->ahead_mode = mode;
	return hg_wrapped_finish(&job->state, shards_start(job, ahead, mode, spec, error));
}

static HgStatus
sharded_build(HgJob *handle, HgError *error)
{
	HgShardedJob *job = job_of(handle);
	HgStatus status;

	HG_TRY(hg_wrapped_check_usable(&job->state, error));
	if (job->state.built)
		return hg_error_set(error, HG_INVALID, NULL, "the job has been built already");

	status = exchange(job, error);
	if (!job->exchanged)
		return status;
	if (status == HG_OK && !job->is_ahead)
		status = shards_start(job, HG_AHEAD_BUILD, HG_MATCH_ALL, NULL, error);
	for (uint32_t i = 0; i < job->shards && status == HG_OK; i++)
	{
		job->sharded->called = i;
		status = job->shard[i].calls.join->build(job->shard[i].job, error);
	}
	job->state.built = status == HG_OK;
	/* the rows have been exchanged, so that no failure can be repaired */
	if (status != HG_OK)
		job->state.failed = true;
	return status;
}

/* HgMaskCalls.mask: for partitioned graph replicas, and for those that are joined with one. */
static HgStatus
sharded_mask(HgJob *handle, HgSide side, uint32_t lookup, uint64_t first_word, uint64_t count,
			 const uint64_t *words, HgError *error)
{
	HgShardedJob *job = job_of(handle);

	HG_TRY(hg_wrapped_check_usable(&job->state, error));
	HG_TRY(hg_wrapped_check_side(side, error));
	if (!job->is_partitioned || lookup > hg_side_replica(&job->spec, side)->nlookups)
		return hg_error_set(error, HG_INVALID, NULL, "there is no graph replica to be masked");
	if (job->exchanged)
		return hg_error_set(error, HG_INVALID, NULL, "the job has been built already");
	return hg_wrapped_finish(&job->state, hg_sharded_partitions_mask(job, side, lookup, first_word,
																	 count, words, error));
}

static HgStatus
sharded_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	HgShardedJob *job = job_of(handle);
	HgStatus status;

	HG_TRY(hg_wrapped_check_matching(&job->state, mode, error));
	if (job->is_partitioned)
		return hg_error_set(error, HG_INVALID, NULL,
							"rows of slices have no numbers that others know");

	status = start_unless_ahead(job, HG_AHEAD_MATCH, mode, NULL, error);
	for (uint32_t i = 0; i < job->shards && status == HG_OK; i++)
		status = job->shard[i].calls.join->match(job->shard[i].job, mode, error);
	job->current = 0;
	job->streaming = status == HG_OK;
	return hg_wrapped_finish(&job->state, status);
}

static HgStatus
sharded_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	HgShardedJob *job = job_of(handle);
	HgStatus status;

	matches->count = 0;
	HG_TRY(hg_wrapped_check_built(&job->state, error));
	if (!job->streaming)
		return hg_error_set(error, HG_INVALID, NULL, "no stream of matches was started");
	if (matches->capacity == 0)
		return hg_error_set(error, HG_INVALID, NULL, "there is no room for a match");
	status = hg_matches_check(&job->spec, matches, error);

	while (status == HG_OK && matches->count == 0 && job->current < job->shards)
	{
		HgShard *shard = &job->shard[job->current];

		status = shard->calls.join->next(shard->job, matches, error);
		if (status == HG_OK && matches->count == 0)
			job->current++;
	}
	if (status != HG_OK)
		matches->count = 0;
	return hg_wrapped_finish(&job->state, status);
}

static HgStatus
sharded_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgShardedJob *job = job_of(handle);
	uint64_t sum = 0;
	HgStatus status;

	HG_TRY(hg_wrapped_check_matching(&job->state, mode, error));

	job->streaming = false;
	status = start_unless_ahead(job, HG_AHEAD_COUNT, mode, NULL, error);
	for (uint32_t i = 0; i < job->shards && status == HG_OK; i++)
	{
		uint64_t counted;

		job->sharded->called = i;
		status = job->shard[i].calls.join->count(job->shard[i].job, mode, &counted, error);
		if (status == HG_OK)
			sum += counted;
	}
	if (status == HG_OK)
		*matches = sum;
	return hg_wrapped_finish(&job->state, status);
}

static HgStatus
sharded_reduce(HgJob *handle, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
			   HgError *error)
{
	HgShardedJob *job = job_of(handle);
	HgStatus status;

	HG_TRY(hg_wrapped_check_matching(&job->state, mode, error));
	HG_TRY(hg_reduce_check(&job->spec, spec, error));
	job->streaming = false;
	status = start_unless_ahead(job, HG_AHEAD_REDUCE, mode, spec, error);
	if (status == HG_OK)
		status = hg_sharded_groups_make(job, mode, spec, groups, error);
	return hg_wrapped_finish(&job->state, status);
}

static HgStatus
sharded_next_groups(HgJob *handle, HgGroupRecords *records, HgError *error)
{
	HgShardedJob *job = job_of(handle);

	records->count = 0;
	HG_TRY(hg_wrapped_check_built(&job->state, error));
	if (job->groups.words == 0 || records->capacity == 0)
		return hg_error_set(error, HG_INVALID, NULL, "no groups were made, or none has room");
	hg_sharded_groups_next(job, records);
	return HG_OK;
}

static HgStatus
sharded_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	HgShardedJob *job = job_of(handle);
	HgGraphStats sum = {0};
	HgStatus status = HG_OK;

	HG_TRY(hg_wrapped_check_built(&job->state, error));
	HG_TRY(hg_wrapped_check_side(side, error));

	job->streaming = false;
	for (uint32_t i = 0; i < job->shards && status == HG_OK; i++)
	{
		HgGraphStats one;

		status = job->shard[i].calls.join->describe(job->shard[i].job, side, &one, error);
		if (status != HG_OK)
			break;
		sum.vertices += one.vertices;
		sum.edges += one.edges;
		sum.empty_vertices += one.empty_vertices;
		if (one.longest_list > sum.longest_list)
			sum.longest_list = one.longest_list;
		sum.distinct_keys += one.distinct_keys;
		sum.bytes += one.bytes;
	}
	if (status == HG_OK)
		*stats = sum;
	return hg_wrapped_finish(&job->state, status);
}

static HgStatus
sharded_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
					 uint32_t *edge_rows, HgError *error)
{
	HgShardedJob *job = job_of(handle);

	HG_TRY(hg_wrapped_check_built(&job->state, error));
	if (job->shards > 1)
		return hg_error_set(error, HG_INVALID, NULL, "the graph is in pieces");
	job->streaming = false;
	return hg_wrapped_finish(
		&job->state, job->shard[0].calls.join->export_graph(job->shard[0].job, side, offsets,
															edge_keys, edge_rows, error));
}

static void
sharded_stats(HgJob *handle, HgJobStats *stats)
{
	HgShardedJob *job = job_of(handle);

	job->shard[0].calls.join->stats(job->shard[0].job, stats);
	for (uint32_t i = 1; i < job->shards; i++)
	{
		HgJobStats one;

		job->shard[i].calls.join->stats(job->shard[i].job, &one);
		stats->vertices += one.vertices;
		stats->bins += one.bins;
		stats->passes += one.passes;
		stats->matches += one.matches;
		stats->comparisons += one.comparisons;
		stats->intersections += one.intersections;
		stats->peak_bytes += one.peak_bytes;
		for (int phase = 0; phase < HG_PHASE_COUNT; phase++)
			if (one.phase_ms[phase] > stats->phase_ms[phase])
				stats->phase_ms[phase] = one.phase_ms[phase];
	}
	stats->exchanged = job->moved;
	stats->sent = job->sent;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		stats->rows[side] = job->appended[side];
}

static void
sharded_close(HgJob *handle)
{
	HgShardedJob *job = job_of(handle);

	shards_close(job);
	hg_sharded_groups_free(job);
	hg_sharded_partitions_free(job);
	hg_host_memory_free(job->host, job, sizeof(*job));
}

static const HgJoinCalls sharded_join = HG_JOIN_CALLS(sharded);
static const HgColumnCalls sharded_columns = HG_COLUMN_CALLS(sharded);
static const HgAheadCalls sharded_ahead = {.start = sharded_start};
static const HgMaskCalls sharded_masks = {.mask = sharded_mask};

void
hg_sharded_init(HgSharded *sharded, const char *name, uint32_t shards, uint32_t deal_rows,
				HgEngine *(*target)(void *arg, uint32_t shard), void *arg)
{
	sharded->engine = (HgEngine){
		.name = name,
		.can = HG_CAN_NUMBER,
		.open = sharded_open,
		.join = &sharded_join,
		.columns = &sharded_columns,
		.ahead = &sharded_ahead,
		.masks = &sharded_masks,
	};
	sharded->shards = shards;
	sharded->deal_rows = deal_rows;
	sharded->target = target;
	sharded->room = NULL;
	sharded->arg = arg;
}
