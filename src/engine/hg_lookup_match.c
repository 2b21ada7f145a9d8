/*-------------------------------------------------------------------------
 *
 * hg_lookup_match.c
 *	  Looks outer rows up in the table of a job: returns pairs, or counts them.
 *
 * If an outer row has at most one match, rows are found a few at a time, and one without a match
 * is overwritten by the next.  Otherwise pairs come in streams of the table, one for each array of
 * outer keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_lookup_job.h"

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
		HgStatus status;

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
		status = job->lookup->tables->find(
			job->table, (const char *) piece->keys + cursor->at * job->base.spec.key_width, count,
			found, error);
		if (status != HG_OK)
			return status;
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
			job->base.stats.intersections += there;
		}
	}
	return HG_OK;
}
