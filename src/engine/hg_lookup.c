/*-------------------------------------------------------------------------
 *
 * hg_lookup.c
 *	  An engine whose jobs may have their inner rows in a table, and look outer rows up there.
 *
 * append only remembers where the keys are.  build makes the table of all inner ones: as one batch,
 * since some kinds build a new table for each; keys of several arrays are copied together for as
 * long.  Then the outer keys are looked up as they stand in their arrays.
 *
 * Where an outer row has one match at most, rows are found a few at a time and written over by the
 * next where there is none.  Else they come in streams of the table, one for each array of outer
 * keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_lookup.h"

#include "hg_reduce.h"
#include "hg_shape.h"

#include <string.h>

/* Keys that are looked up at once, whose rows then stay in the nearest cache. */
#define FOUND_ROWS 1024

/* Bytes of keys that are copied between two polls of cancelled(). */
#define COPIED_BYTES (256 * 1024)

/* Arrays of keys that the first append makes room for. */
#define FIRST_CAPACITY 16

typedef enum LookupState
{
	JOB_APPENDING,
	JOB_BUILT,
	JOB_MATCHING, /* built, and there is a stream */
	JOB_FAILED	  /* only close is left */
} LookupState;

/* Keys that one append brought; the memory is the caller's. */
typedef struct Piece
{
	const unsigned char *keys;
	uint64_t count;
} Piece;

typedef struct Side
{
	Piece *pieces;
	size_t count;
	size_t capacity;
	uint64_t rows;
} Side;

/* Where the stream of matches stands. */
typedef struct Cursor
{
	HgMatchMode mode;
	size_t piece;
	uint64_t at;		   /* the next key of the piece */
	uint64_t row;		   /* of the first key of the piece */
	uint32_t last;		   /* outer row of the last match */
	HgTableStream *stream; /* of the piece's keys; or NULL */
} Cursor;

typedef struct LookupJob
{
	HgLookup *lookup;
	const HgHost *host;
	HgJobSpec spec;
	HgJob *graphs; /* the wrapped engine's job, which has all to do, or NULL */
	LookupState state;
	Side sides[2]; /* by HgSide */
	HgTable *table;
	HgTableContent content;
	Cursor cursor;
	HgJobStats stats;
	uint64_t held_bytes; /* but for the table's */
} LookupJob;

static LookupJob *
lookup_job(HgJob *job)
{
	return (LookupJob *) job;
}

static HgEngine *
wrapped(const LookupJob *job)
{
	return job->lookup->graphs;
}

/* ------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------ */

static void
note_peak(LookupJob *job, uint64_t bytes)
{
	if (bytes > job->stats.peak_bytes)
		job->stats.peak_bytes = bytes;
}

static HgStatus
job_alloc(LookupJob *job, uint64_t bytes, void **ptr, HgError *error)
{
	const uint64_t limit = job->spec.memory_limit;

	*ptr = NULL;
	if (limit == 0 || bytes <= limit - (job->held_bytes < limit ? job->held_bytes : limit))
		*ptr = job->host->alloc(job->host->arg, bytes);
	if (*ptr == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	job->held_bytes += bytes;
	note_peak(job, job->held_bytes);
	return HG_OK;
}

static void
job_free(LookupJob *job, void *ptr, uint64_t bytes)
{
	if (ptr == NULL)
		return;
	job->host->free(job->host->arg, ptr, bytes);
	job->held_bytes -= bytes;
}

/* What the job may hold beside what it holds, for its table; UINT64_MAX where nothing limits it. */
static uint64_t
job_room(const LookupJob *job)
{
	const uint64_t limits[] = {job->spec.memory_limit, job->spec.direct_limit};
	uint64_t room = UINT64_MAX;

	for (int i = 0; i < 2; i++)
		if (limits[i] > 0)
		{
			uint64_t left = limits[i] > job->held_bytes ? limits[i] - job->held_bytes : 0;

			room = left < room ? left : room;
		}
	return room;
}

/* ------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------ */

static HgStatus
side_add(LookupJob *job, Side *side, const void *keys, uint64_t count, HgError *error)
{
	if (count >= HG_MAX_ROWS || side->rows >= HG_MAX_ROWS - count)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in one side of a join");
	if (side->count == side->capacity)
	{
		size_t capacity = side->capacity == 0 ? FIRST_CAPACITY : 2 * side->capacity;
		void *pieces;
		HgStatus status = job_alloc(job, capacity * sizeof(Piece), &pieces, error);

		if (status != HG_OK)
			return status;
		if (side->count > 0)
			memcpy(pieces, side->pieces, side->count * sizeof(Piece));
		job_free(job, side->pieces, side->capacity * sizeof(Piece));
		side->pieces = pieces;
		side->capacity = capacity;
	}
	side->pieces[side->count++] = (Piece){keys, count};
	side->rows += count;
	return HG_OK;
}

/* All keys of a side in one array: its own where it has one, else a copy, of *bytes. */
static HgStatus
side_together(LookupJob *job, const Side *side, const void **keys, void **copy, uint64_t *bytes,
			  HgError *error)
{
	const uint32_t width = job->spec.key_width;
	unsigned char *to;
	HgStatus status;

	*copy = NULL;
	*bytes = side->rows * width;
	*keys = side->count > 0 ? side->pieces[0].keys : NULL;
	if (side->count <= 1)
		return HG_OK;
	if (*bytes > job_room(job))
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	status = job_alloc(job, *bytes, copy, error);
	*keys = to = *copy;
	for (size_t i = 0; i < side->count && status == HG_OK; i++)
	{
		const uint64_t of_piece = side->pieces[i].count * width;

		for (uint64_t at = 0; at < of_piece && status == HG_OK; at += COPIED_BYTES)
		{
			memcpy(to + at, side->pieces[i].keys + at,
				   of_piece - at < COPIED_BYTES ? of_piece - at : COPIED_BYTES);
			if (job->host->cancelled(job->host->arg))
				status = hg_error_set(error, HG_CANCELLED, NULL, "cancelled");
		}
		to += of_piece;
	}
	return status;
}

/* Have the wrapped engine do the job, with the rows that there are so far. */
static HgStatus
job_hand_over(LookupJob *job, HgError *error)
{
	HgEngine *engine = wrapped(job);
	HgStatus status = engine->open(engine, job->host, &job->spec, &job->graphs, error);

	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		for (size_t i = 0; i < job->sides[side].count && status == HG_OK; i++)
			status = engine->append(job->graphs, (HgSide) side, job->sides[side].pieces[i].keys,
									job->sides[side].pieces[i].count, error);
	return status;
}

/* ------------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------------ */

static void
table_close(LookupJob *job)
{
	if (job->table != NULL)
		job->lookup->tables->close(job->table);
	job->table = NULL;
}

static void
cursor_end_stream(LookupJob *job)
{
	if (job->cursor.stream != NULL)
		job->lookup->tables->end(job->cursor.stream);
	job->cursor.stream = NULL;
}

/* Set *spec to what the table is to be; false where its kind can't be that. */
static bool
choose_spec(LookupJob *job, HgTableSpec *spec)
{
	const uint64_t room = job_room(job);

	*spec = (HgTableSpec){.kind = job->spec.table,
						  .content = !job->spec.first_only	? HG_TABLE_MULTIMAP
									 : job->spec.outer_only ? HG_TABLE_SET
															: HG_TABLE_MAP,
						  .key_width = job->spec.key_width,
						  .expected_rows = job->sides[HG_INNER].rows,
						  .load_factor = job->spec.load_factor};
	/* unique keys are no more than a map holds */
	if (!hg_table_traits(spec->kind, spec->content).possible)
		spec->content = HG_TABLE_MAP;
	/* 0 would be no limit */
	spec->memory_limit = room == UINT64_MAX ? 0 : room > 0 ? room : 1;
	job->content = spec->content;
	return hg_table_traits(spec->kind, spec->content).possible;
}

/* Is every row in the table that is wanted? */
static bool
is_complete(const LookupJob *job, const HgTableChange *change)
{
	return job->content == HG_TABLE_MULTIMAP || job->spec.first_only ||
		   change->inserted == job->sides[HG_INNER].rows;
}

/* Tell in the statistics what the table is like. */
static HgStatus
table_note(LookupJob *job, HgError *error)
{
	HgTableStats stats;
	HgStatus status = job->lookup->tables->describe(job->table, &stats, error);

	if (status != HG_OK)
		return status;
	job->stats.vertices = stats.slots > 0 ? stats.slots : 1;
	job->stats.bins = 1;
	job->stats.ranges = 1;
	job->stats.build = HG_BUILD_TABLE;
	job->stats.probe = HG_PROBE_STANDARD;
	job->stats.table = job->spec.table;
	note_peak(job, job->held_bytes + stats.peak_bytes);
	return HG_OK;
}

/* Make the table of the inner rows; HG_INVALID where its kind can't hold them. */
static HgStatus
table_build(LookupJob *job, HgError *error)
{
	HgTables *tables = job->lookup->tables;
	HgTableBatch batch = {.count = job->sides[HG_INNER].rows};
	HgTableChange change = {0};
	HgTableSpec spec;
	uint64_t bytes;
	void *copy;
	HgStatus status;

	/* the copy first: what it takes is no room for the table */
	status = side_together(job, &job->sides[HG_INNER], &batch.keys, &copy, &bytes, error);
	if (status == HG_OK && !choose_spec(job, &spec))
		status = hg_error_set(error, HG_INVALID, NULL, "no table of this kind for a join");
	if (status == HG_OK)
		status = tables->open(tables, job->host, &spec, &job->table, error);
	if (status == HG_OK && batch.count > 0)
		status = tables->build(job->table, &batch, &change, error);
	if (status == HG_OK && !is_complete(job, &change))
		status = hg_error_set(error, HG_INVALID, NULL, "keys are not unique");
	/* matches are to have room beside it */
	if (status == HG_OK && job->content == HG_TABLE_MULTIMAP)
	{
		status = tables->match(job->table, NULL, 0, &job->cursor.stream, error);
		cursor_end_stream(job);
	}
	if (status == HG_OK)
		status = table_note(job, error);
	job_free(job, copy, bytes);
	return status;
}

/* ------------------------------------------------------------------------
 * Matches
 * ------------------------------------------------------------------------ */

static void
cursor_init(LookupJob *job, HgMatchMode mode)
{
	cursor_end_stream(job);
	job->cursor = (Cursor){.mode = mode, .last = HG_NO_ROW};
}

/* Has an outer row one match at most? */
static bool
is_single(const LookupJob *job, HgMatchMode mode)
{
	return mode == HG_MATCH_FIRST || job->content != HG_TABLE_MULTIMAP;
}

/* Write the match of each of count outer rows from first on that has one. */
static size_t
write_found(const uint32_t *found, uint32_t first, uint32_t count, uint32_t *outer, uint32_t *inner)
{
	size_t n = 0;

	/* one without a match is written too, and written over later */
	for (uint32_t i = 0; i < count; i++)
	{
		outer[n] = first + i;
		inner[n] = found[i];
		n += found[i] != HG_NO_ROW;
	}
	return n;
}

/* The next matches where an outer row has one at most; some unless there are no more. */
static HgStatus
next_found(LookupJob *job, HgMatches *matches, HgError *error)
{
	Cursor *cursor = &job->cursor;
	const Side *outer = &job->sides[HG_OUTER];
	uint32_t found[FOUND_ROWS];

	while (cursor->piece < outer->count)
	{
		const Piece *piece = &outer->pieces[cursor->piece];
		const size_t room = matches->capacity - matches->count;
		uint64_t count = piece->count - cursor->at;
		HgStatus status;

		if (count == 0)
		{
			cursor->row += piece->count;
			cursor->piece++;
			cursor->at = 0;
			continue;
		}
		/* a few rows at a time are slower */
		if (room < FOUND_ROWS && matches->count > 0)
			break;
		count = count < FOUND_ROWS ? count : FOUND_ROWS;
		count = count < room ? count : room;
		status = job->lookup->tables->find(
			job->table, piece->keys + cursor->at * job->spec.key_width, count, found, error);
		if (status != HG_OK)
			return status;
		matches->count +=
			write_found(found, (uint32_t) (cursor->row + cursor->at), (uint32_t) count,
						matches->outer + matches->count, matches->inner + matches->count);
		cursor->at += count;
	}
	job->stats.intersections += matches->count;
	return HG_OK;
}

/* The next matches of a multimap. */
static HgStatus
next_streamed(LookupJob *job, HgMatches *matches, HgError *error)
{
	HgTables *tables = job->lookup->tables;
	Cursor *cursor = &job->cursor;
	const Side *outer = &job->sides[HG_OUTER];
	HgStatus status = HG_OK;

	while (cursor->piece < outer->count && matches->count == 0 && status == HG_OK)
	{
		const Piece *piece = &outer->pieces[cursor->piece];
		HgTableMatches pairs = {
			.probe = matches->outer, .row = matches->inner, .capacity = matches->capacity};

		if (cursor->stream == NULL)
			status = tables->match(job->table, piece->keys, piece->count, &cursor->stream, error);
		if (status == HG_OK)
			status = tables->next(cursor->stream, &pairs, error);
		if (status == HG_OK && pairs.count == 0)
		{
			cursor_end_stream(job);
			cursor->row += piece->count;
			cursor->piece++;
		}
		else if (status == HG_OK)
		{
			matches->count = pairs.count;
			for (size_t i = 0; i < pairs.count; i++)
			{
				matches->outer[i] += (uint32_t) cursor->row;
				job->stats.intersections += matches->outer[i] != cursor->last;
				cursor->last = matches->outer[i];
			}
		}
	}
	return status;
}

/* How many numbers are another one than this. */
static uint32_t
count_others(const uint32_t *numbers, uint32_t count, uint32_t number)
{
	uint32_t others = 0;

	for (uint32_t i = 0; i < count; i++)
		others += numbers[i] != number;
	return others;
}

static HgStatus
count_found(LookupJob *job, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgTables *tables = job->lookup->tables;
	const Side *outer = &job->sides[HG_OUTER];
	uint32_t found[FOUND_ROWS];

	*matches = 0;
	for (size_t i = 0; i < outer->count; i++)
	{
		const Piece *piece = &outer->pieces[i];

		for (uint64_t at = 0; at < piece->count; at += FOUND_ROWS)
		{
			const void *keys = piece->keys + at * job->spec.key_width;
			const uint64_t left = piece->count - at;
			const uint64_t count = left < FOUND_ROWS ? left : FOUND_ROWS;
			const bool single = is_single(job, mode);
			uint64_t all = 0;
			uint32_t there;
			HgStatus status = single ? tables->find(job->table, keys, count, found, error)
									 : tables->count(job->table, keys, count, found, NULL, error);

			if (status != HG_OK)
				return status;
			if (single)
				all = there = count_others(found, (uint32_t) count, HG_NO_ROW);
			else
			{
				there = count_others(found, (uint32_t) count, 0);
				for (uint64_t k = 0; k < count; k++)
					all += found[k];
			}
			*matches += all;
			job->stats.intersections += there;
		}
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Calls
 * ------------------------------------------------------------------------ */

/* A job that has failed stays failed, except after a call which the contract forbids. */
static HgStatus
job_finish(LookupJob *job, HgStatus status)
{
	if (status != HG_OK && status != HG_INVALID)
	{
		cursor_end_stream(job);
		job->state = JOB_FAILED;
	}
	return status;
}

static HgStatus
job_check_appending(const LookupJob *job, HgError *error)
{
	if (job->state == JOB_FAILED)
		return hg_error_set(error, HG_INVALID, NULL, "the job has failed before");
	if (job->state != JOB_APPENDING)
		return hg_error_set(error, HG_INVALID, NULL, "the job has been built already");
	return HG_OK;
}

static HgStatus
job_check_built(const LookupJob *job, HgError *error)
{
	if (job->state == JOB_FAILED)
		return hg_error_set(error, HG_INVALID, NULL, "the job has failed before");
	if (job->state == JOB_APPENDING)
		return hg_error_set(error, HG_INVALID, NULL, "the job has not been built yet");
	return HG_OK;
}

static HgStatus
job_check_mode(const LookupJob *job, HgMatchMode mode, HgError *error)
{
	HgStatus status = job_check_built(job, error);

	if (status != HG_OK)
		return status;
	if (mode != HG_MATCH_ALL && mode != HG_MATCH_FIRST)
		return hg_error_set(error, HG_INVALID, NULL, "unknown match mode: %d", (int) mode);
	if (mode == HG_MATCH_ALL && job->spec.first_only)
		return hg_error_set(error, HG_INVALID, NULL, "not all matches were to be asked for");
	return HG_OK;
}

/* Is the job one for a table, as far as can be said before there are rows? */
static bool
wants_table(const HgJobSpec *spec)
{
	return spec->table != HG_TABLE_CSR && spec->build != HG_BUILD_V2 &&
		   spec->probe != HG_PROBE_INTERSECT && spec->bins <= 1;
}

static HgStatus
engine_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
			HgError *error)
{
	LookupJob start;
	HgStatus status = hg_spec_check(spec, error);
	void *memory;

	if (status == HG_OK && spec->ncolumns[HG_OUTER] + spec->ncolumns[HG_INNER] > 0)
		status = hg_error_set(error, HG_INVALID, NULL, "this engine has no columns");
	if (status != HG_OK)
		return status;

	/* the job accounts for its own memory like for all other */
	memset(&start, 0, sizeof(start));
	start.lookup = (HgLookup *) engine;
	start.host = host;
	start.spec = *spec;
	start.stats.build = spec->build;
	start.stats.probe = spec->probe;
	status = job_alloc(&start, sizeof(LookupJob), &memory, error);
	if (status == HG_OK && !wants_table(spec))
	{
		status = job_hand_over(&start, error);
		if (status != HG_OK)
			job_free(&start, memory, sizeof(LookupJob));
	}
	if (status != HG_OK)
		return status;
	*lookup_job(memory) = start;
	*job = memory;
	return HG_OK;
}

static HgStatus
engine_append(HgJob *handle, HgSide which, const void *keys, uint64_t count, HgError *error)
{
	LookupJob *job = lookup_job(handle);
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->append(job->graphs, which, keys, count, error);
	status = job_check_appending(job, error);
	if (status == HG_OK && which != HG_OUTER && which != HG_INNER)
		status = hg_error_set(error, HG_INVALID, NULL, "unknown side: %d", (int) which);
	if (status == HG_OK && which == HG_OUTER && job->spec.streamed)
		status = hg_error_set(error, HG_INVALID, NULL, "outer rows of a streamed job come later");
	if (status != HG_OK || count == 0)
		return status;
	status = side_add(job, &job->sides[which], keys, count, error);
	job->stats.rows[which] = job->sides[which].rows;
	return job_finish(job, status);
}

/* Rows that have numbers, keys that are bits, and shared jobs are the wrapped engine's. */
static HgStatus
job_pass_on(LookupJob *job, HgError *error)
{
	HgStatus status;

	if (job->graphs != NULL)
		return HG_OK;
	status = job_check_appending(job, error);
	if (status == HG_OK && job->sides[HG_OUTER].rows + job->sides[HG_INNER].rows > 0)
		status = hg_error_set(error, HG_INVALID, NULL, "rows are numbered in two ways");
	if (status == HG_OK)
		status = job_hand_over(job, error);
	return job_finish(job, status);
}

static HgStatus
engine_append_rows(HgJob *handle, HgSide which, const void *keys, uint64_t count,
				   uint64_t first_row, HgError *error)
{
	LookupJob *job = lookup_job(handle);
	HgStatus status = job_pass_on(job, error);

	if (status == HG_OK)
		status = wrapped(job)->append_rows(job->graphs, which, keys, count, first_row, error);
	return status;
}

static HgStatus
engine_append_bits(HgJob *handle, const HgKeyBitmap *bitmap, HgError *error)
{
	LookupJob *job = lookup_job(handle);
	HgStatus status = job_pass_on(job, error);

	if (status == HG_OK)
		status = wrapped(job)->append_bits(job->graphs, bitmap, error);
	return status;
}

static HgStatus
engine_share(HgJob *handle, const HgTeam *team, HgError *error)
{
	LookupJob *job = lookup_job(handle);
	HgStatus status = job_pass_on(job, error);

	return status == HG_OK ? wrapped(job)->share(job->graphs, team, error) : status;
}

static HgStatus
engine_build(HgJob *handle, HgError *error)
{
	LookupJob *job = lookup_job(handle);
	double start = hg_clock_ms();
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->build(job->graphs, error);
	status = job_check_appending(job, error);
	if (status != HG_OK)
		return status;
	/* renew allocates nothing */
	if (job->spec.streamed)
	{
		status = side_add(job, &job->sides[HG_OUTER], NULL, 0, error);
		job->sides[HG_OUTER].count = 0;
	}
	if (status == HG_OK)
		status = table_build(job, error);
	job->stats.phase_ms[HG_PHASE_BUILD] += hg_clock_ms() - start;
	if (status == HG_INVALID || status == HG_OUT_OF_MEMORY || status == HG_TOO_MANY_ROWS)
	{
		table_close(job);
		status = job_hand_over(job, error);
		if (status == HG_OK)
			return wrapped(job)->build(job->graphs, error);
	}
	if (status == HG_OK)
		job->state = JOB_BUILT;
	return job_finish(job, status);
}

static HgStatus
engine_renew(HgJob *handle, const void *keys, uint64_t count, HgError *error)
{
	LookupJob *job = lookup_job(handle);
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->renew(job->graphs, keys, count, error);
	status = job_check_built(job, error);
	if (status != HG_OK)
		return status;
	if (!job->spec.streamed)
		return hg_error_set(error, HG_INVALID, NULL, "the job takes no outer rows any more");
	cursor_end_stream(job);
	job->state = JOB_BUILT;
	job->sides[HG_OUTER].count = 0;
	job->sides[HG_OUTER].rows = 0;
	job->stats.rows[HG_OUTER] += count;
	return count == 0 ? HG_OK
					  : job_finish(job, side_add(job, &job->sides[HG_OUTER], keys, count, error));
}

static HgStatus
engine_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	LookupJob *job = lookup_job(handle);
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->match(job->graphs, mode, error);
	status = job_check_mode(job, mode, error);
	if (status != HG_OK)
		return status;
	cursor_init(job, mode);
	job->state = JOB_MATCHING;
	return HG_OK;
}

static HgStatus
engine_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	LookupJob *job = lookup_job(handle);
	double start = hg_clock_ms();
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->next(job->graphs, matches, error);
	matches->count = 0;
	status = job_check_built(job, error);
	if (status == HG_OK && job->state != JOB_MATCHING)
		status = hg_error_set(error, HG_INVALID, NULL, "no stream of matches was started");
	if (status == HG_OK && matches->capacity == 0)
		status = hg_error_set(error, HG_INVALID, NULL, "there is no room for a match");
	if (status == HG_OK)
		status = hg_matches_check(&job->spec, matches, error);
	if (status != HG_OK)
		return status;
	status = is_single(job, job->cursor.mode) ? next_found(job, matches, error)
											  : next_streamed(job, matches, error);
	if (status != HG_OK)
		matches->count = 0;
	job->stats.matches += matches->count;
	job->stats.phase_ms[HG_PHASE_MATCH] += hg_clock_ms() - start;
	return job_finish(job, status);
}

static HgStatus
engine_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	LookupJob *job = lookup_job(handle);
	double start = hg_clock_ms();
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->count(job->graphs, mode, matches, error);
	status = job_check_mode(job, mode, error);
	if (status != HG_OK)
		return status;
	cursor_end_stream(job);
	job->state = JOB_BUILT;
	status = count_found(job, mode, matches, error);
	if (status == HG_OK)
		job->stats.matches += *matches;
	job->stats.phase_ms[HG_PHASE_MATCH] += hg_clock_ms() - start;
	return job_finish(job, status);
}

/* A table is no graph. */
static HgStatus
job_refuse_graph(LookupJob *job, HgError *error)
{
	HgStatus status = job_check_built(job, error);

	if (status != HG_OK)
		return status;
	cursor_end_stream(job);
	job->state = JOB_BUILT;
	return hg_error_set(error, HG_INVALID, NULL, "no graph was built for this side");
}

static HgStatus
engine_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	LookupJob *job = lookup_job(handle);

	if (job->graphs != NULL)
		return wrapped(job)->describe(job->graphs, side, stats, error);
	return job_refuse_graph(job, error);
}

static HgStatus
engine_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
					uint32_t *edge_rows, HgError *error)
{
	LookupJob *job = lookup_job(handle);

	if (job->graphs != NULL)
		return wrapped(job)->export_graph(job->graphs, side, offsets, edge_keys, edge_rows, error);
	return job_refuse_graph(job, error);
}

static void
engine_stats(HgJob *handle, HgJobStats *stats)
{
	LookupJob *job = lookup_job(handle);

	if (job->graphs == NULL)
	{
		*stats = job->stats;
		return;
	}
	wrapped(job)->stats(job->graphs, stats);
	/* what was tried before counts too */
	stats->phase_ms[HG_PHASE_BUILD] += job->stats.phase_ms[HG_PHASE_BUILD];
	stats->peak_bytes += job->held_bytes;
	if (job->stats.peak_bytes > stats->peak_bytes)
		stats->peak_bytes = job->stats.peak_bytes;
}

static void
engine_close(HgJob *handle)
{
	LookupJob *job = lookup_job(handle);
	LookupJob end;

	if (job->graphs != NULL)
		wrapped(job)->close(job->graphs);
	cursor_end_stream(job);
	table_close(job);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		job_free(job, job->sides[side].pieces, job->sides[side].capacity * sizeof(Piece));

	/* the job is the last thing that it holds */
	end = *job;
	job_free(&end, job, sizeof(LookupJob));
}

void
hg_lookup_init(HgLookup *lookup, HgEngine *graphs, HgTables *tables)
{
	*lookup = (HgLookup){.engine = {.name = graphs->name,
									.open = engine_open,
									.append = engine_append,
									.build = engine_build,
									.match = engine_match,
									.next = engine_next,
									.count = engine_count,
									.describe = engine_describe,
									.export_graph = engine_export_graph,
									.stats = engine_stats,
									.close = engine_close,
									.share = engine_share,
									.append_rows = engine_append_rows,
									.renew = engine_renew,
									.append_bits = engine_append_bits},
						 .graphs = graphs,
						 .tables = tables};
}
