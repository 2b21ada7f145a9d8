/*-------------------------------------------------------------------------
 *
 * hg_lookup.c
 *	  An engine whose jobs can have their inner rows in a table, in which they look outer rows up.
 *
 * append only remembers the arrays of keys.  build makes the table of all inner rows
 * (hg_lookup.c).  Then the outer keys are looked up in their arrays (hg_lookup.c).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "hg_host_job.h"
#include "hg_lookup.h"

/*
 * A job that can have its inner rows in a table: declarations shared by its files.
 *
 *	hg_lookup.c			the calls: checked, then done here or by the wrapped engine
 *	hg_lookup.c	builds the table of the inner rows
 *	hg_lookup.c	looks outer rows up: pairs, or their number
 */

/* Position of the stream of matches. */
typedef struct HgLookupCursor
{
	HgMatchMode mode;
	size_t piece;
	uint64_t at;		   /* index of the next key in the piece */
	uint64_t row;		   /* row number of the first key of the piece */
	uint32_t last;		   /* outer row of the last match */
	HgTableStream *stream; /* for the piece's keys; or NULL */
} HgLookupCursor;

typedef struct HgLookupJob
{
	HgHostJob base; /* first: calls get its address */
	HgLookup *lookup;
	HgJob *graphs; /* the wrapped engine's job, to which all calls go, or NULL */
	HgTable *table;
	HgTableContent content;
	HgLookupCursor cursor;
} HgLookupJob;

/* hg_lookup.c */

/* Builds the table of the inner rows; HG_INVALID if its kind can not hold them. */
extern HgStatus hg_lookup_build(HgLookupJob *job, HgError *error);

/* Frees the table, if there is one. */
extern void hg_lookup_close_table(HgLookupJob *job);

/* hg_lookup.c */

/* Starts a stream of matches. */
extern void hg_lookup_begin(HgLookupJob *job, HgMatchMode mode);

/* Returns the next matches; count is 0 at the end. */
extern HgStatus hg_lookup_next(HgLookupJob *job, HgMatches *matches, HgError *error);

/* Sets *matches to the number of all matches. */
extern HgStatus hg_lookup_count(HgLookupJob *job, HgMatchMode mode, uint64_t *matches,
								HgError *error);

/* Ends the table's stream, if there is one. */
extern void hg_lookup_end_stream(HgLookupJob *job);

/* ---------------------------------------------------------------------
 * Builds the table of the inner rows of a job
 *
 * All rows are one batch, since some kinds build a new table for each batch.  Keys of several
 * arrays are copied into one array meanwhile.
 * ---------------------------------------------------------------------
 */

/* Bytes of keys that are copied between two polls of cancelled(). */
#define COPIED_BYTES (256 * 1024)

/* Sets *keys to all keys of a side in one array: its own if it has one, else *copy, of *bytes. */
static HgStatus
side_together(HgLookupJob *job, const HgHostSide *side, const void **keys, void **copy,
			  uint64_t *bytes, HgError *error)
{
	const uint32_t width = job->base.spec.key_width;
	char *to;
	HgStatus status;

	*copy = NULL;
	*bytes = side->rows * width;
	*keys = side->piece_count > 0 ? side->pieces[0].keys : NULL;
	if (side->piece_count <= 1)
		return HG_OK;
	if (*bytes > hg_host_room(&job->base, 0))
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	status = hg_host_alloc(&job->base, *bytes, copy, error);
	*keys = to = *copy;
	for (size_t i = 0; i < side->piece_count && status == HG_OK; i++)
	{
		const uint64_t of_piece = side->pieces[i].count * width;

		for (uint64_t at = 0; at < of_piece && status == HG_OK; at += COPIED_BYTES)
		{
			memcpy(to + at, (const char *) side->pieces[i].keys + at,
				   of_piece - at < COPIED_BYTES ? of_piece - at : COPIED_BYTES);
			status = hg_host_poll(&job->base, error);
		}
		to += of_piece;
	}
	return status;
}

/* Sets *spec to the parameters of the table; false if its kind can not have the content. */
static bool
choose_spec(HgLookupJob *job, HgTableSpec *spec)
{
	const uint64_t room = hg_host_room(&job->base, 0);

	*spec = (HgTableSpec){.kind = job->base.spec.shape.table,
						  .content = !job->base.spec.first_only	 ? HG_TABLE_MULTIMAP
									 : job->base.spec.outer_only ? HG_TABLE_SET
																 : HG_TABLE_MAP,
						  .key_width = job->base.spec.key_width,
						  .expected_rows = job->base.sides[HG_INNER].rows,
						  .load_factor = job->base.spec.shape.load_factor};
	/* if keys are unique, a map holds them */
	if (!hg_table_traits(spec->kind, spec->content).possible)
		spec->content = HG_TABLE_MAP;
	/* 0 would mean no limit */
	spec->memory_limit = room == UINT64_MAX ? 0 : room > 0 ? room : 1;
	job->content = spec->content;
	return hg_table_traits(spec->kind, spec->content).possible;
}

/* Returns true if the table has every row that the job needs. */
static bool
is_complete(const HgLookupJob *job, const HgTableChange *change)
{
	return job->content == HG_TABLE_MULTIMAP || job->base.spec.first_only ||
		   change->inserted == job->base.sides[HG_INNER].rows;
}

/* Sets the statistics of the job from the table's. */
static HgStatus
table_note(HgLookupJob *job, HgError *error)
{
	HgTableStats stats;

	HG_TRY(job->lookup->tables->describe(job->table, &stats, error));
	job->base.stats.vertices = stats.slots > 0 ? stats.slots : 1;
	job->base.stats.bins = 1;
	job->base.stats.passes = 1;
	job->base.stats.build = HG_BUILD_TABLE;
	job->base.stats.probe = HG_PROBE_STANDARD;
	job->base.stats.table = job->base.spec.shape.table;
	hg_host_note_peak(&job->base, job->base.held_bytes + stats.peak_bytes);
	return HG_OK;
}

HgStatus
hg_lookup_build(HgLookupJob *job, HgError *error)
{
	HgTables *tables = job->lookup->tables;
	HgTableBatch batch = {.count = job->base.sides[HG_INNER].rows};
	HgTableChange change = {0};
	HgTableSpec spec;
	uint64_t bytes;
	void *copy;
	HgStatus status;

	/* the copy first: its memory is not available for the table */
	status = side_together(job, &job->base.sides[HG_INNER], &batch.keys, &copy, &bytes, error);
	if (status == HG_OK && !choose_spec(job, &spec))
		status = hg_error_set(error, HG_INVALID, NULL, "no table of this kind for a join");
	if (status == HG_OK)
		status = tables->open(tables, job->base.host, &spec, &job->table, error);
	if (status == HG_OK && batch.count > 0)
		status = tables->build(job->table, &batch, &change, error);
	if (status == HG_OK && !is_complete(job, &change))
		status = hg_error_set(error, HG_INVALID, NULL, "keys are not unique");
	/* a stream of matches must have room beside the table */
	if (status == HG_OK && job->content == HG_TABLE_MULTIMAP)
	{
		HgTableStream *stream = NULL;

		status = tables->match(job->table, NULL, 0, &stream, error);
		if (stream != NULL)
			tables->end(stream);
	}
	if (status == HG_OK)
		status = table_note(job, error);
	hg_host_free(&job->base, copy, bytes);
	return status;
}

void
hg_lookup_close_table(HgLookupJob *job)
{
	if (job->table != NULL)
		job->lookup->tables->close(job->table);
	job->table = NULL;
}

/* ---------------------------------------------------------------------
 * Looks outer rows up in the table of a job: returns pairs, or counts them
 *
 * If an outer row has at most one match, rows are found a few at a time, and one without a match
 * is overwritten by the next.  Otherwise pairs come in streams of the table, one for each array of
 * outer keys.
 * ---------------------------------------------------------------------
 */

/* Keys that are looked up at once; their rows stay in the nearest cache. */
#define FOUND_ROWS 1024

void
hg_lookup_end_stream(HgLookupJob *job)
{
	if (job->cursor.stream != NULL)
		job->lookup->tables->end(job->cursor.stream);
	job->cursor.stream = NULL;
}

void
hg_lookup_begin(HgLookupJob *job, HgMatchMode mode)
{
	hg_lookup_end_stream(job);
	job->cursor = (HgLookupCursor){.mode = mode, .last = HG_NO_ROW};
}

/* Returns true if an outer row has at most one match. */
static bool
is_single(const HgLookupJob *job, HgMatchMode mode)
{
	return mode == HG_MATCH_FIRST || job->content != HG_TABLE_MULTIMAP;
}

/* Writes the matches of count outer rows from first on, and returns their number. */
static size_t
write_found(const uint32_t *found, uint32_t first, uint32_t count, uint32_t *outer, uint32_t *inner)
{
	size_t n = 0;

	/* a row without a match is written too, and overwritten later */
	for (uint32_t i = 0; i < count; i++)
	{
		outer[n] = first + i;
		inner[n] = found[i];
		n += found[i] != HG_NO_ROW;
	}
	return n;
}

/* Returns the next matches if an outer row has at most one; none only at the end. */
static HgStatus
next_found(HgLookupJob *job, HgMatches *matches, HgError *error)
{
	HgLookupCursor *cursor = &job->cursor;
	const HgHostSide *outer = &job->base.sides[HG_OUTER];
	uint32_t found[FOUND_ROWS];

	while (cursor->piece < outer->piece_count)
	{
		const HgHostPiece *piece = &outer->pieces[cursor->piece];
		const size_t room = matches->capacity - matches->count;
		uint64_t count = piece->count - cursor->at;

		if (count == 0)
		{
			cursor->row += piece->count;
			cursor->piece++;
			cursor->at = 0;
			continue;
		}
		/* small batches are slower */
		if (room < FOUND_ROWS && matches->count > 0)
			break;
		count = count < FOUND_ROWS ? count : FOUND_ROWS;
		count = count < room ? count : room;
		HG_TRY(job->lookup->tables->find(
			job->table, (const char *) piece->keys + cursor->at * job->base.spec.key_width, count,
			found, error));
		matches->count +=
			write_found(found, (uint32_t) (cursor->row + cursor->at), (uint32_t) count,
						matches->outer + matches->count, matches->inner + matches->count);
		cursor->at += count;
	}
	job->base.stats.intersections += matches->count;
	return HG_OK;
}

/* Returns the next matches of a multimap. */
static HgStatus
next_streamed(HgLookupJob *job, HgMatches *matches, HgError *error)
{
	HgTables *tables = job->lookup->tables;
	HgLookupCursor *cursor = &job->cursor;
	const HgHostSide *outer = &job->base.sides[HG_OUTER];
	HgStatus status = HG_OK;

	while (cursor->piece < outer->piece_count && matches->count == 0 && status == HG_OK)
	{
		const HgHostPiece *piece = &outer->pieces[cursor->piece];
		HgTableMatches pairs = {
			.probe = matches->outer, .row = matches->inner, .capacity = matches->capacity};

		if (cursor->stream == NULL)
			status = tables->match(job->table, piece->keys, piece->count, &cursor->stream, error);
		if (status == HG_OK)
			status = tables->next(cursor->stream, &pairs, error);
		if (status == HG_OK && pairs.count == 0)
		{
			hg_lookup_end_stream(job);
			cursor->row += piece->count;
			cursor->piece++;
		}
		else if (status == HG_OK)
		{
			matches->count = pairs.count;
			for (size_t i = 0; i < pairs.count; i++)
			{
				matches->outer[i] += (uint32_t) cursor->row;
				job->base.stats.intersections += matches->outer[i] != cursor->last;
				cursor->last = matches->outer[i];
			}
		}
	}
	return status;
}

HgStatus
hg_lookup_next(HgLookupJob *job, HgMatches *matches, HgError *error)
{
	return is_single(job, job->cursor.mode) ? next_found(job, matches, error)
											: next_streamed(job, matches, error);
}

/* Returns how many numbers differ from this one. */
static uint32_t
count_others(const uint32_t *numbers, uint32_t count, uint32_t number)
{
	uint32_t others = 0;

	for (uint32_t i = 0; i < count; i++)
		others += numbers[i] != number;
	return others;
}

HgStatus
hg_lookup_count(HgLookupJob *job, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgTables *tables = job->lookup->tables;
	const HgHostSide *outer = &job->base.sides[HG_OUTER];
	uint32_t found[FOUND_ROWS];

	*matches = 0;
	for (size_t i = 0; i < outer->piece_count; i++)
	{
		const HgHostPiece *piece = &outer->pieces[i];

		for (uint64_t at = 0; at < piece->count; at += FOUND_ROWS)
		{
			const void *keys = (const char *) piece->keys + at * job->base.spec.key_width;
			const uint64_t left = piece->count - at;
			const uint64_t count = left < FOUND_ROWS ? left : FOUND_ROWS;
			const bool single = is_single(job, mode);
			uint64_t all = 0;
			uint32_t there;

			HG_TRY(single ? tables->find(job->table, keys, count, found, error)
						  : tables->count(job->table, keys, count, found, NULL, error));
			if (single)
				all = there = count_others(found, (uint32_t) count, HG_NO_ROW);
			else
			{
				there = count_others(found, (uint32_t) count, 0);
				for (uint64_t k = 0; k < count; k++)
					all += found[k];
			}
			*matches += all;
			job->base.stats.intersections += there;
		}
	}
	return HG_OK;
}

static HgLookupJob *
lookup_job(HgJob *job)
{
	return (HgLookupJob *) job;
}

static HgEngine *
wrapped(const HgLookupJob *job)
{
	return job->lookup->graphs;
}

/* Opens a job of the wrapped engine, with the rows so far, to which all calls then go. */
static HgStatus
job_hand_over(HgLookupJob *job, HgError *error)
{
	HgEngine *engine = wrapped(job);
	HgStatus status = engine->open(engine, job->base.host, &job->base.spec, &job->graphs, error);

	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		for (size_t i = 0; i < job->base.sides[side].piece_count && status == HG_OK; i++)
			status = engine->join->append(job->graphs, (HgSide) side,
										  job->base.sides[side].pieces[i].keys,
										  job->base.sides[side].pieces[i].count, error);
	return status;
}

/* Ends a call.  A job that has failed stays failed, and has no stream. */
static HgStatus
job_finish(HgLookupJob *job, HgStatus status)
{
	status = hg_host_finish(&job->base, status);
	if (job->base.state == HG_HOST_FAILED)
		hg_lookup_end_stream(job);
	return status;
}

static HgStatus
job_check_mode(const HgLookupJob *job, HgMatchMode mode, HgError *error)
{
	HG_TRY(hg_host_check_mode(&job->base, mode, error));
	if (mode == HG_MATCH_ALL && job->base.spec.first_only)
		return hg_error_set(error, HG_INVALID, NULL, "not all matches were to be asked for");
	return HG_OK;
}

/* Returns true if the spec requests a table that the job can use, before its rows are known. */
static bool
requests_table(const HgJobSpec *spec)
{
	return spec->shape.table != HG_TABLE_CSR && spec->shape.build != HG_BUILD_V2 &&
		   spec->shape.probe != HG_PROBE_INTERSECT && spec->shape.bins <= 1;
}

static HgStatus
engine_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
			HgError *error)
{
	HgHostJob *base;
	HgStatus status = HG_OK;

	HG_TRY(hg_host_open(host, spec, sizeof(HgLookupJob), &base, error));
	lookup_job((HgJob *) base)->lookup = (HgLookup *) engine;
	if (!requests_table(spec))
		status = job_hand_over((HgLookupJob *) base, error);
	if (status == HG_OK)
		*job = (HgJob *) base;
	else
		hg_host_close(base);
	return status;
}

static HgStatus
engine_append(HgJob *handle, HgSide which, const void *keys, uint64_t count, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->join->append(job->graphs, which, keys, count, error);
	status = hg_host_check_append(&job->base, which, error);
	if (status != HG_OK || count == 0)
		return status;
	return job_finish(
		job, hg_host_append(&job->base, which, keys, count, job->base.sides[which].rows, error));
}

/* Hands the job over to the wrapped engine, for numbered rows, keys as bits, and shared jobs. */
static HgStatus
job_pass_on(HgLookupJob *job, HgError *error)
{
	HgStatus status;

	if (job->graphs != NULL)
		return HG_OK;
	status = hg_host_check_appending(&job->base, error);
	if (status == HG_OK && job->base.sides[HG_OUTER].rows + job->base.sides[HG_INNER].rows > 0)
		status = hg_error_set(error, HG_INVALID, NULL, "rows are numbered in two ways");
	if (status == HG_OK)
		status = job_hand_over(job, error);
	return job_finish(job, status);
}

static HgStatus
engine_append_rows(HgJob *handle, HgSide which, const void *keys, uint64_t count,
				   uint64_t first_row, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);

	HG_TRY(job_pass_on(job, error));
	return wrapped(job)->join->append_rows(job->graphs, which, keys, count, first_row, error);
}

static HgStatus
engine_append_bits(HgJob *handle, const HgKeyBitmap *bitmap, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);

	HG_TRY(job_pass_on(job, error));
	return wrapped(job)->local->append_bits(job->graphs, bitmap, error);
}

static HgStatus
engine_share(HgJob *handle, const HgParticipants *participants, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);

	HG_TRY(job_pass_on(job, error));
	return wrapped(job)->local->share(job->graphs, participants, error);
}

static HgStatus
engine_build(HgJob *handle, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);
	double start = hg_clock_ms();
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->join->build(job->graphs, error);
	status = hg_host_check_appending(&job->base, error);
	if (status != HG_OK)
		return status;
	/* renew allocates nothing */
	if (job->base.spec.streamed)
		status = hg_host_reserve(&job->base, HG_OUTER, error);
	if (status == HG_OK)
		status = hg_lookup_build(job, error);
	job->base.stats.phase_ms[HG_PHASE_BUILD] += hg_clock_ms() - start;
	if (status == HG_INVALID || status == HG_OUT_OF_MEMORY || status == HG_TOO_MANY_ROWS)
	{
		hg_lookup_close_table(job);
		status = job_hand_over(job, error);
		if (status == HG_OK)
			return wrapped(job)->join->build(job->graphs, error);
	}
	if (status == HG_OK)
		job->base.state = HG_HOST_BUILT;
	return job_finish(job, status);
}

static HgStatus
engine_renew(HgJob *handle, const void *keys, uint64_t count, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);

	if (job->graphs != NULL)
		return wrapped(job)->local->renew(job->graphs, keys, count, error);
	HG_TRY(hg_host_check_built(&job->base, error));
	if (!job->base.spec.streamed)
		return hg_error_set(error, HG_INVALID, NULL, "the job takes no outer rows any more");
	hg_lookup_end_stream(job);
	job->base.state = HG_HOST_BUILT;
	return job_finish(job, hg_host_renew(&job->base, keys, count, error));
}

static HgStatus
engine_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);

	if (job->graphs != NULL)
		return wrapped(job)->join->match(job->graphs, mode, error);
	HG_TRY(job_check_mode(job, mode, error));
	hg_lookup_begin(job, mode);
	job->base.state = HG_HOST_MATCHING;
	return HG_OK;
}

static HgStatus
engine_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);
	double start = hg_clock_ms();
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->join->next(job->graphs, matches, error);
	matches->count = 0;
	HG_TRY(hg_host_check_next(&job->base, matches, error));
	status = hg_lookup_next(job, matches, error);
	if (status != HG_OK)
		matches->count = 0;
	job->base.stats.matches += matches->count;
	job->base.stats.phase_ms[HG_PHASE_MATCH] += hg_clock_ms() - start;
	return job_finish(job, status);
}

static HgStatus
engine_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);
	double start = hg_clock_ms();
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->join->count(job->graphs, mode, matches, error);
	HG_TRY(job_check_mode(job, mode, error));
	hg_lookup_end_stream(job);
	job->base.state = HG_HOST_BUILT;
	status = hg_lookup_count(job, mode, matches, error);
	if (status == HG_OK)
		job->base.stats.matches += *matches;
	job->base.stats.phase_ms[HG_PHASE_MATCH] += hg_clock_ms() - start;
	return job_finish(job, status);
}

/* Answers HG_INVALID to calls that need a graph, and ends the stream. */
static HgStatus
job_refuse_graph(HgLookupJob *job, HgError *error)
{
	HG_TRY(hg_host_check_built(&job->base, error));
	hg_lookup_end_stream(job);
	job->base.state = HG_HOST_BUILT;
	return hg_error_set(error, HG_INVALID, NULL, "no graph was built for this side");
}

static HgStatus
engine_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);

	if (job->graphs != NULL)
		return wrapped(job)->join->describe(job->graphs, side, stats, error);
	return job_refuse_graph(job, error);
}

static HgStatus
engine_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
					uint32_t *edge_rows, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);

	if (job->graphs != NULL)
		return wrapped(job)->join->export_graph(job->graphs, side, offsets, edge_keys, edge_rows,
												error);
	return job_refuse_graph(job, error);
}

static void
engine_stats(HgJob *handle, HgJobStats *stats)
{
	HgLookupJob *job = lookup_job(handle);

	if (job->graphs == NULL)
	{
		*stats = job->base.stats;
		return;
	}
	wrapped(job)->join->stats(job->graphs, stats);
	/* the attempt to build a table counts too */
	stats->phase_ms[HG_PHASE_BUILD] += job->base.stats.phase_ms[HG_PHASE_BUILD];
	stats->peak_bytes += job->base.held_bytes;
	if (job->base.stats.peak_bytes > stats->peak_bytes)
		stats->peak_bytes = job->base.stats.peak_bytes;
}

static void
engine_close(HgJob *handle)
{
	HgLookupJob *job = lookup_job(handle);

	if (job->graphs != NULL)
		wrapped(job)->join->close(job->graphs);
	hg_lookup_end_stream(job);
	hg_lookup_close_table(job);
	hg_host_close(&job->base);
}

static const HgJoinCalls lookup_join = HG_JOIN_CALLS(engine);
static const HgLocalCalls lookup_local = HG_LOCAL_CALLS(engine);

void
hg_lookup_init(HgLookup *lookup, HgEngine *graphs, HgTables *tables)
{
	*lookup = (HgLookup){.engine = {.name = graphs->name,
									.can = HG_CAN_NUMBER,
									.open = engine_open,
									.join = &lookup_join,
									.local = &lookup_local},
						 .graphs = graphs,
						 .tables = tables};
}
