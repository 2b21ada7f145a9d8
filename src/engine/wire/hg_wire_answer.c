/*-------------------------------------------------------------------------
 *
 * hg_wire_answer.c
 *	  Checks of a device process's answers before they are used.
 *
 * The device process is a separate process so that its faults do not harm the session: no number
 * from it is used before it has been compared with what is possible.  A message is the client's
 * own copy.  Staging is not: the process may write there at any time, so data there is copied
 * first, then checked, and only the copy is used.
 *
 * WHAT IS DETECTED:
 *
 *	answers to other requests than those sent, or for other jobs
 *	states and statuses that do not exist or can not occur
 *	parts of staging outside of it
 *	rows that were not appended; a job that lacks appended rows, or rows of its replicas
 *	more or fewer matches than the job's statistics say, or more than its rows can have
 *	groups that do not add up to the matches, or have numbers that columns can not give
 *	tables that can not be made of the job's keys
 *	rows of a shard that the join does not have, or in another number than was sent or comes
 *	rows for another shard that are not of its parts, or in another number than tallied
 *	missing replicas that were not requested
 *	new replicas that take less memory than their rows, or far more
 *
 * WHAT IS BELIEVED: numbers that are possible and agree with each other.  A process that omits
 * matches and does not count them, joins rows with different keys, or returns wrong values of a
 * column, is not detected: that would take a second join.  (The caller rechecks matches of keys
 * that are hashes.)
 *
 * test/unit/test_one_lie.c, test_lies.c and test/t/device_lies.pl lie in all of these ways.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../hg_reduce.h"
#include "hg_wire_internal.h"

#include <math.h>

/* ------------------------------------------------------------------------
 * Texts and figures
 * ------------------------------------------------------------------------ */

/* Terminates a received text and makes it printable ASCII, valid in any encoding. */
static void
clean_text(char *text, size_t bytes)
{
	text[bytes - 1] = '\0';
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/* Terminates the texts of a received error, and replaces what is not printable ASCII by '?'. */
static void
clean_error(HgError *error)
{
	clean_text(error->message, sizeof(error->message));
	clean_text(error->detail, sizeof(error->detail));
}

bool
hg_wire_answer_take_devices(HgWireDevices *devices)
{
	clean_error(&devices->error);
	if (devices->error.status != HG_OK)
		devices->error.status = HG_UNAVAILABLE;
	if (devices->count > HG_WIRE_MAX_DEVICES)
		return false;
	for (uint32_t i = 0; i < devices->count; i++)
	{
		clean_text(devices->infos[i].name, sizeof(devices->infos[i].name));
		clean_text(devices->infos[i].state, sizeof(devices->infos[i].state));
	}
	return true;
}

/* Returns true if a cost is plausible. */
static bool
is_cost(double cost)
{
	return isfinite(cost) && cost >= 0;
}

static bool
are_costs(const HgCosts *costs)
{
	return is_cost(costs->job_ms) && is_cost(costs->outer_ns) && is_cost(costs->inner_ns) &&
		   is_cost(costs->pair_ns) && is_cost(costs->column_ns) && is_cost(costs->reduce_ns);
}

bool
hg_wire_answer_has_costs(const HgEngineCosts *costs)
{
	for (int index = 0; index < HG_COSTS_WIDTHS; index++)
		if (!are_costs(&costs->device[index]) || !are_costs(&costs->cpu[index]))
			return false;
	return is_cost(costs->connect_ms);
}

/* ------------------------------------------------------------------------
 * Answers to requests of a job
 * ------------------------------------------------------------------------ */

static bool
status_exists(HgStatus status)
{
	switch (status)
	{
		case HG_OK:
		case HG_INVALID:
		case HG_OUT_OF_MEMORY:
		case HG_DEVICE_OUT_OF_MEMORY:
		case HG_TOO_MANY_ROWS:
		case HG_CANCELLED:
		case HG_UNAVAILABLE:
		case HG_EVICTED:
		case HG_NO_REPLICA:
		case HG_NOT_UNIQUE:
		case HG_BAD_PAGE:
		case HG_OVERFLOW:
		case HG_DEVICE_FAILED:
			return true;
		case HG_CONNECTION_LOST: /* a process that says so has a connection */
			break;
	}
	return false;
}

/* Returns true if graph replicas are sides of the job. */
static bool
has_replicas(const HgRemoteJob *job)
{
	return job->spec.sides[HG_OUTER].kind == HG_SOURCE_REPLICA ||
		   job->spec.sides[HG_INNER].kind == HG_SOURCE_REPLICA;
}

/* Returns true if rows of such sides look up others. */
static bool
has_lookups(const HgRemoteJob *job)
{
	return hg_side_replica(&job->spec, HG_OUTER)->nlookups > 0 ||
		   hg_side_replica(&job->spec, HG_INNER)->nlookups > 0;
}

/* Returns true if the job is not shared. */
static bool
is_alone(const HgRemoteJob *job)
{
	return job->spec.participants_id == 0;
}

/* Returns true if the job computes columns, or numbers in filters. */
static bool
has_computed(const HgRemoteJob *job)
{
	bool computed = false;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		computed |= hg_computed_columns(&job->spec, (HgSide) side) > 0 ||
					hg_row_filters_compute(hg_side_replica(&job->spec, (HgSide) side)->filters);
	return computed;
}

/* Returns true if a request of the job can be answered with this status. */
static bool
status_is_sane(const HgRemoteJob *job, const HgWireAsked *asked, HgStatus status)
{
	/* requests sent ahead, behind a request that has failed, fail with the same status */
	if (status == job->failure.status)
		return status_exists(status);
	if (status == HG_NO_REPLICA)
		return asked->type == HG_WIRE_OPEN && has_replicas(job);
	if (status == HG_NOT_UNIQUE)
		return asked->type == HG_WIRE_BUILD && has_lookups(job);
	/* another participant may have sent BUILD */
	if (status == HG_BAD_PAGE)
		return hg_pages_are_there(&job->spec) && (asked->type == HG_WIRE_BUILD || !is_alone(job));
	if (status == HG_OVERFLOW)
		return asked->type == HG_WIRE_BUILD && has_computed(job);
	return status_exists(status);
}

/* Returns true if the job uses the replica of this name. */
static bool
names(const HgRemoteJob *job, const HgReplicaName *name)
{
	bool named = false;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgReplicaSource *replica = &job->spec.sides[side].replica;
		const HgRowFilters *filters = hg_side_replica(&job->spec, (HgSide) side)->filters;

		if (job->spec.sides[side].kind != HG_SOURCE_REPLICA)
			continue;
		named |= hg_replica_name_equal(&job->replica[side].name, name);
		for (uint32_t i = 0; i < job->spec.sides[side].ncolumns; i++)
			named |= hg_replica_name_equal(&job->replica_columns[side][i].name, name);
		for (uint32_t i = 0; i < replica->nlookups; i++)
			named |= hg_replica_name_equal(&job->lookups[side][i].own.name, name) ||
					 hg_replica_name_equal(&job->lookups[side][i].found.name, name);
		for (uint32_t i = 0; filters != NULL && i < filters->ncolumns; i++)
			named |= hg_replica_name_equal(&filters->columns[i].name, name);
	}
	return named;
}

/* Returns true if the job names all replicas that are reported missing. */
static bool
missing_is_sane(const HgRemoteJob *job, const HgMissingReplicas *missing)
{
	for (int i = 0; i < HG_MAX_MISSING_REPLICAS && missing->names[i].serial != 0; i++)
		if (!names(job, &missing->names[i]))
			return false;
	return true;
}

/* Returns true if a job, also one that makes a replica, can report this algorithm. */
static bool
build_is_sane(const HgRemoteJob *job, HgBuildAlgorithm build)
{
	return (uint32_t) build <= HG_BUILD_DIRECT || (build == HG_BUILD_RESIDENT && has_replicas(job));
}

/* Returns the most rows that a side can have: those sent, or those that come to a shard. */
static uint64_t
most_rows(const HgRemoteJob *job, HgSide side)
{
	if (!is_alone(job))
		return HG_MAX_ROWS;
	return job->exchange[side].rows > job->rows[side] ? job->exchange[side].rows : job->rows[side];
}

/* Returns true if the job can have these statistics. */
static bool
stats_are_sane(const HgRemoteJob *job, const HgJobStats *stats)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (stats->rows[side] > most_rows(job, (HgSide) side))
			return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (stats->null_keys[side] >
			(job->spec.sides[side].kind == HG_SOURCE_PAGES ? HG_MAX_ROWS : 0))
			return false;
	/* a process knows only one shard */
	if (stats->exchanged != 0 || stats->sent != 0)
		return false;
	/* differences of times, which rounding may have made negative */
	for (int phase = 0; phase < HG_PHASE_COUNT; phase++)
		if (!isfinite(stats->phase_ms[phase]))
			return false;
	return build_is_sane(job, stats->build) && (uint32_t) stats->probe <= HG_PROBE_INTERSECT &&
		   stats->table == HG_TABLE_CSR && stats->vertices <= UINT64_C(1) << HG_MAX_VERTICES_LOG2 &&
		   stats->bins <= UINT64_C(1) << HG_MAX_BINS_LOG2 && stats->passes <= 1;
}

/*
 * Maximum bytes of a replica: this multiple of the bytes that it needs and a spare.  The shape of
 * graphs and the granularity of memory are up to the engine.
 */
#define REPLICA_BYTES_RATIO 64
#define REPLICA_BYTES_SPARE (UINT64_C(1) << 20)

/* Returns true if the replica that the job has made, if any, can take bytes bytes. */
static bool
replica_bytes_are_sane(const HgRemoteJob *job, uint64_t bytes)
{
	const uint64_t least = hg_replica_is_made(&job->spec) ? hg_replica_least_bytes(&job->spec) : 0;

	return bytes >= least && bytes / REPLICA_BYTES_RATIO <= least + REPLICA_BYTES_SPARE;
}

/*
 * Returns true if the job has all rows that it was sent.  In a shared job all participants' rows
 * are counted together, and the rows of pages are known only to the device process.
 */
static bool
has_all_rows(const HgRemoteJob *job, const HgJobStats *stats)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (is_alone(job) && job->spec.sides[side].kind != HG_SOURCE_PAGES &&
			stats->rows[side] != job->rows[side])
			return false;
	return true;
}

/* Takes the row count of a shard to which all rows have come; false if it is not as expected. */
static bool
take_arrived(HgRemoteJob *job, HgSide side, const HgJobStats *stats)
{
	job->rows[side] = job->exchange[side].rows;
	return stats->rows[side] == job->rows[side];
}

/* Takes the row counts of pages of a job that is built; before, they were upper bounds. */
static void
take_page_rows(HgRemoteJob *job, const HgJobStats *stats)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (is_alone(job) && job->spec.sides[side].kind == HG_SOURCE_PAGES)
			job->rows[side] = stats->rows[side];
}

/*
 * Returns true if the job has made matches matches since the last answer.  In a shared job matches
 * are also made for other participants.
 */
static bool
has_made(const HgRemoteJob *job, const HgJobStats *stats, uint64_t matches)
{
	const uint64_t made = stats->matches - job->stats.matches;

	return stats->matches >= job->stats.matches &&
		   (is_alone(job) ? made == matches : made >= matches);
}

/* Returns true if the rows of an unshared job can have that number of matches. */
static bool
can_have(const HgRemoteJob *job, const HgWireAsked *asked, uint64_t matches)
{
	const uint64_t inner = asked->mode == HG_MATCH_FIRST ? 1 : job->rows[HG_INNER];

	return matches <= job->rows[HG_OUTER] * inner;
}

static bool
graph_is_sane(const HgRemoteJob *job, HgSide side, const HgWireReply *reply)
{
	const HgGraphStats *graph = &reply->graph;

	return graph->vertices == reply->stats.vertices && graph->edges <= reply->stats.rows[side] &&
		   graph->empty_vertices <= graph->vertices && graph->longest_list <= graph->edges &&
		   graph->distinct_keys <= graph->edges &&
		   (!is_alone(job) || graph->edges == job->rows[side]);
}

/* Returns true if the part of staging that an answer names is inside of it. */
static bool
part_is_sane(const HgWireReply *reply, uint64_t staging_bytes)
{
	return reply->lease_offset % HG_WIRE_PAGE == 0 && reply->lease_bytes % HG_WIRE_PAGE == 0 &&
		   reply->lease_offset <= staging_bytes &&
		   reply->lease_bytes <= staging_bytes - reply->lease_offset;
}

/* The same for results with elements of asked->width bytes. */
static bool
has_room(const HgWireAsked *asked, const HgWireReply *reply, uint64_t staging_bytes)
{
	return part_is_sane(reply, staging_bytes) && reply->count <= asked->count &&
		   reply->count <= reply->lease_bytes / asked->width;
}

/* Takes the answer to REDUCE; returns false if it is not plausible. */
static bool
take_groups(HgRemoteJob *job, const HgWireAsked *asked, const HgWireReply *reply)
{
	HgRemoteGroups *groups = &job->groups;

	groups->left = groups->pairs = 0;
	job->count = reply->count;
	if (reply->count == HG_TOO_MANY_GROUPS)
		return true;
	if (reply->count > groups->spec.max_groups || reply->stats.matches < job->stats.matches)
		return false;
	groups->left = reply->count;
	groups->pairs = reply->stats.matches - job->stats.matches;
	/* a shared job gives all groups to one participant, and may count matches for another */
	if (!is_alone(job))
		return true;
	if (!can_have(job, asked, groups->pairs))
		return false;
	return groups->spec.nkeys == 0
			   ? groups->left == 1
			   : groups->left <= groups->pairs && (groups->left > 0) == (groups->pairs > 0);
}

/* Takes the results of a request that succeeded; returns false if they are not plausible. */
static bool
result_is_sane(HgRemoteJob *job, const HgWireAsked *asked, const HgWireReply *reply,
			   uint64_t staging_bytes)
{
	switch ((HgWireType) asked->type)
	{
		case HG_WIRE_OPEN:
			job->lease_offset = reply->lease_offset;
			job->slot_bytes = reply->lease_bytes / HG_WIRE_SLOTS;
			return part_is_sane(reply, staging_bytes) && reply->lease_bytes > 0;
		case HG_WIRE_BUILD:
			job->replica_bytes = reply->count;
			take_page_rows(job, &reply->stats);
			return has_all_rows(job, &reply->stats) && replica_bytes_are_sane(job, reply->count);
		case HG_WIRE_COUNT:
			job->count = reply->count;
			/* a shared job counts once, for the participant whose request is first */
			return is_alone(job) ? has_made(job, &reply->stats, reply->count) &&
									   can_have(job, asked, reply->count)
								 : reply->count <= reply->stats.matches;
		case HG_WIRE_NEXT:
			return has_room(asked, reply, staging_bytes) &&
				   has_made(job, &reply->stats, reply->count);
		case HG_WIRE_NEXT_GROUPS:
			return has_room(asked, reply, staging_bytes) && reply->count <= job->groups.left &&
				   (reply->count > 0 || job->groups.left == 0);
		case HG_WIRE_EXPORT:
			return has_room(asked, reply, staging_bytes) &&
				   (reply->count > 0) == (asked->count > 0);
		case HG_WIRE_REDUCE:
			return take_groups(job, asked, reply);
		case HG_WIRE_MEASURE:
			return has_all_rows(job, &reply->stats) &&
				   hg_table_measure_is_sane(&job->trial, job->rows[HG_INNER], &reply->table);
		case HG_WIRE_TALLY:
			return has_room(asked, reply, staging_bytes) && reply->count == HG_EXCHANGE_PARTS;
		case HG_WIRE_TAKE_ROWS:
			return has_room(asked, reply, staging_bytes);
		case HG_WIRE_ARRIVED:
			return take_arrived(job, (HgSide) asked->side, &reply->stats);
		case HG_WIRE_DESCRIBE:
			return graph_is_sane(job, (HgSide) asked->side, reply);
		default:
			return true;
	}
}

bool
hg_wire_answer_take(HgRemoteJob *job, const HgWireAsked *asked, HgWireReply *reply,
					uint64_t staging_bytes)
{
	const HgStatus status = reply->error.status;

	clean_error(&reply->error);
	if (!status_is_sane(job, asked, status) ||
		(status == HG_NO_REPLICA && !missing_is_sane(job, &reply->missing)))
		return false;
	/* results of a job that has failed or was cancelled are not used */
	if (job->failure.status != HG_OK && job->failure.status != HG_INVALID)
		return true;
	/* only the client cancels requests */
	if (status == HG_CANCELLED || !stats_are_sane(job, &reply->stats))
		return false;
	if (status == HG_OK && !result_is_sane(job, asked, reply, staging_bytes))
		return false;
	job->stats = reply->stats;
	if (status != HG_OK && job->failure.status == HG_OK)
		job->failure = reply->error;
	return true;
}

/* ------------------------------------------------------------------------
 * Results, which were copied
 * ------------------------------------------------------------------------ */

/* Numbers that are compared at a time, as wide as registers are. */
#define AT_ONCE 8

/* Returns true if all numbers are below end.  It takes a fifth of a nanosecond for each. */
static bool
are_below(const uint32_t *rows, size_t count, uint64_t end)
{
	uint32_t largest[AT_ONCE] = {0};
	bool all = true;
	size_t i = 0;

	for (; i + AT_ONCE <= count; i += AT_ONCE)
		for (int k = 0; k < AT_ONCE; k++)
			largest[k] = rows[i + k] > largest[k] ? rows[i + k] : largest[k];
	for (; i < count; i++)
		largest[0] = rows[i] > largest[0] ? rows[i] : largest[0];
	for (int k = 0; k < AT_ONCE; k++)
		all = all && largest[k] < end;
	return all || count == 0;
}

/* Returns true if all numbers exist, without a branch for each. */
static bool
are_numbers(const uint32_t *rows, size_t count, const HgRowNumbers *numbers)
{
	const uint32_t mask = (UINT32_C(1) << numbers->block_log2) - 1;
	unsigned gaps = 0;

	if (!are_below(rows, count, (uint64_t) numbers->blocks << numbers->block_log2))
		return false;
	for (size_t i = 0; i < count; i++)
		gaps |= (rows[i] & mask) >= numbers->rows[rows[i] >> numbers->block_log2];
	return gaps == 0;
}

static bool
are_rows(const HgRemoteJob *job, HgSide side, const uint32_t *rows, size_t count)
{
	if (job->numbers[side] != NULL)
		return are_numbers(rows, count, job->numbers[side]);
	if (job->spec.sides[side].kind == HG_SOURCE_REPLICA)
		return are_below(rows, count, hg_replica_rows_end(&job->replica[side].shape));
	if (job->spec.sides[side].kind == HG_SOURCE_PAGES && is_alone(job))
		return are_below(rows, count, job->page_rows[side]);
	if (job->exchange[side].arrived)
		return are_below(rows, count, job->exchange[side].numbers);
	return are_below(rows, count, job->numbered || !is_alone(job) ? HG_MAX_ROWS : job->rows[side]);
}

bool
hg_wire_answer_has_matches(const HgRemoteJob *job, const HgMatches *matches)
{
	return are_rows(job, HG_OUTER, matches->outer, matches->count) &&
		   are_rows(job, HG_INNER, matches->inner, matches->count);
}

/* Returns true if all keys are of parts begin .. begin + parts - 1, without a branch for each. */
static bool
are_of_parts(const HgRemoteJob *job, const HgExchangeRows *rows, uint32_t begin, uint32_t parts)
{
	unsigned others = 0;

	if (job->spec.key_width == sizeof(uint32_t))
		for (size_t i = 0; i < rows->count; i++)
			others |=
				hg_exchange_part32(hg_mix32(((const uint32_t *) rows->keys)[i])) - begin >= parts;
	else
		for (size_t i = 0; i < rows->count; i++)
			others |=
				hg_exchange_part64(hg_mix64(((const uint64_t *) rows->keys)[i])) - begin >= parts;
	return others == 0;
}

bool
hg_wire_answer_has_rows(HgRemoteJob *job, HgSide side, uint32_t shard, const HgExchangeRows *rows)
{
	HgRemoteExchange *exchange = &job->exchange[side];
	uint32_t begin;

	if (shard >= job->spec.product.shards ||
		!are_below(rows->numbers, rows->count, exchange->numbers))
		return false;
	begin = shard > 0 ? exchange->ends[shard - 1] : 0;
	if (!are_of_parts(job, rows, begin, exchange->ends[shard] - begin))
		return false;
	/* exactly the rows that were tallied */
	if (exchange->is_tallied &&
		(rows->count > exchange->left[shard] || (rows->count == 0) != (exchange->left[shard] == 0)))
		return false;
	exchange->left[shard] -= exchange->is_tallied ? rows->count : 0;
	return true;
}

bool
hg_wire_answer_has_tally(const HgRemoteJob *job, HgSide side, const uint64_t *counts)
{
	uint64_t left = job->rows[side];

	for (uint32_t part = 0; part < HG_EXCHANGE_PARTS; part++)
	{
		if (counts[part] > left)
			return false;
		left -= counts[part];
	}
	return left == 0;
}

bool
hg_wire_answer_has_groups(HgRemoteJob *job, const HgGroupRecords *records)
{
	HgRemoteGroups *groups = &job->groups;
	const uint32_t words = hg_reduce_words(&groups->spec);

	for (size_t i = 0; i < records->count; i++)
	{
		const uint64_t *record = records->words + i * words;
		const uint64_t pairs = record[groups->spec.nkeys + 1];

		if (pairs > groups->pairs || !hg_reduce_record_check(&job->spec, &groups->spec, record))
			return false;
		groups->pairs -= pairs;
	}
	groups->left -= records->count;
	/* a shared job may have made more matches */
	return groups->left > 0 || groups->pairs == 0 || !is_alone(job);
}
