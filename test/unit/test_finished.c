/*-------------------------------------------------------------------------
 *
 * test_finished.c
 *	  A caller that has enough of some rows' matches before he has all of them.
 *
 * The stream is read twice: once as a whole, and once by a caller who says of each row when he has
 * enough.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_finished.h"

#include "hg_tap.h"
#include "test_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALL UINT32_MAX

/* An outer row: its matches in a stream, and a sum over them. */
typedef struct Row
{
	uint64_t sum;
	uint32_t matches; /* returned so far ... */
	uint32_t seen;	  /* ... and before the current call */
	bool reported;	  /* it was said that these are enough ... */
	bool silent;	  /* ... in a call before the current one */
} Row;

typedef struct Reader
{
	const TestStream *stream;
	Row *rows;			/* by number */
	uint32_t *reported; /* in the current call */
	uint32_t nreported;
	bool first;			/* one match is wanted of each row; or see wanted() */
	bool asked_of_none; /* there is no such row */
	uint64_t total;
} Reader;

/* How many matches of a row are wanted. */
static uint32_t
wanted(const Reader *reader, uint32_t row)
{
	static const uint32_t most[] = {ALL, 0, 1, 20};

	return reader->first ? 1 : most[row % 4];
}

static bool
is_finished(void *arg, uint32_t row)
{
	Reader *reader = arg;

	if (row >= reader->stream->rows)
	{
		reader->asked_of_none = true;
		return false;
	}
	if (reader->rows[row].seen < wanted(reader, row))
		return false;
	if (!reader->rows[row].reported)
		reader->reported[reader->nreported++] = row;
	reader->rows[row].reported = true;
	return true;
}

/* Take note of a chunk; false where it is not as it should be. */
static bool
note_chunk(Reader *reader, const HgMatches *matches, uint32_t *current)
{
	for (size_t i = 0; i < matches->count; i++)
	{
		uint32_t number = matches->outer[i];
		Row *row = &reader->rows[number];

		if (number >= reader->stream->rows || row->silent ||
			(number != *current && row->matches > 0))
		{
			hg_tap_diag("outer row %u has a match out of turn", number);
			return false;
		}
		*current = number;
		row->matches++;
		row->sum += test_pair_checksum(number, matches->inner[i]);
	}
	/* the caller looks at them, and what was said before holds from the next call on */
	for (size_t i = 0; i < matches->count; i++)
		reader->rows[matches->outer[i]].seen = reader->rows[matches->outer[i]].matches;
	for (uint32_t i = 0; i < reader->nreported; i++)
		reader->rows[reader->reported[i]].silent = true;
	reader->nreported = 0;
	reader->total += matches->count;
	return true;
}

/* Read the stream to its end. */
static bool
read_stream(Reader *reader, bool asked)
{
	const TestStream *stream = reader->stream;
	uint32_t *room = test_malloc(2 * stream->capacity * sizeof(uint32_t));
	HgMatches matches = {.outer = room,
						 .inner = room + stream->capacity,
						 .capacity = stream->capacity,
						 .is_finished = asked ? is_finished : NULL,
						 .finished_arg = reader};
	uint32_t current = UINT32_MAX;
	HgError error = {0};
	bool good = stream->begin(stream->arg, &error) == HG_OK;

	do
	{
		good = good && stream->next(stream->arg, &matches, &error) == HG_OK &&
			   matches.count <= stream->capacity && matches.capacity == stream->capacity &&
			   note_chunk(reader, &matches, &current);
	} while (good && matches.count > 0);
	if (!good)
		hg_tap_diag("status %d, %s", (int) error.status, error.message);
	if (reader->asked_of_none)
		hg_tap_diag("asked of a row that is not there");
	free(room);
	return good && !reader->asked_of_none;
}

static void
reader_init(Reader *reader, const TestStream *stream, bool first)
{
	/* zero pages, of which those of rows that are there are touched */
	*reader = (Reader){.stream = stream, .first = first};
	reader->rows = calloc(stream->rows + 1, sizeof(Row));
	reader->reported = calloc(stream->rows + 1, sizeof(uint32_t));
	if (reader->rows == NULL || reader->reported == NULL)
		abort();
}

static void
reader_end(Reader *reader)
{
	free(reader->rows);
	free(reader->reported);
}

bool
test_finished_checked(const TestStream *stream)
{
	Reader whole;
	Reader parts;
	bool good;

	reader_init(&whole, stream, false);
	reader_init(&parts, stream, false);
	good = read_stream(&whole, false) && read_stream(&parts, true);
	for (uint32_t number = 0; number < stream->rows && good; number++)
	{
		const Row *all = &whole.rows[number];
		const Row *some = &parts.rows[number];
		uint32_t least = wanted(&parts, number);

		/* those of a row of which all have come are the same, and none is there twice */
		good = some->matches <= all->matches &&
			   some->matches >= (least < all->matches ? least : all->matches) &&
			   (some->matches < all->matches || some->sum == all->sum);
		if (!good)
			hg_tap_diag("%u of %u matches of outer row %u", some->matches, all->matches, number);
	}
	reader_end(&whole);
	reader_end(&parts);
	return good;
}

uint64_t
test_finished_first(const TestStream *stream)
{
	Reader reader;
	uint64_t total;

	reader_init(&reader, stream, true);
	total = read_stream(&reader, true) ? reader.total : 0;
	reader_end(&reader);
	return total;
}

static HgStatus
job_begin(void *arg, HgError *error)
{
	TestJobStream *of = arg;

	return of->engine->join->match(of->job, HG_MATCH_ALL, error);
}

static HgStatus
job_next(void *arg, HgMatches *matches, HgError *error)
{
	TestJobStream *of = arg;

	return of->engine->join->next(of->job, matches, error);
}

TestStream
test_job_stream(TestJobStream *of, uint64_t rows, size_t capacity)
{
	return (TestStream){job_begin, job_next, of, rows, capacity};
}
