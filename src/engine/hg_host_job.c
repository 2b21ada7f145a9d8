/*-------------------------------------------------------------------------
 *
 * hg_host_job.c
 *	  The common part of a job of an engine on the host: checks of its calls, its keys, its
 *	  memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_job.h"

#include "hg_reduce.h"
#include "hg_shape.h"

#include <string.h>

/* Pieces that the first append makes room for. */
#define FIRST_PIECE_CAPACITY 16

/* ---------------------------------------------------------------------
 * Memory
 * ---------------------------------------------------------------------
 */

HgStatus
hg_host_check_limit(HgHostJob *job, uint64_t bytes, HgError *error)
{
	return hg_host_memory_check(job->spec.memory_limit, job->held_bytes, bytes, error);
}

void
hg_host_note_peak(HgHostJob *job, uint64_t bytes)
{
	if (bytes > job->stats.peak_bytes)
		job->stats.peak_bytes = bytes;
}

void
hg_host_hold(HgHostJob *job, uint64_t bytes)
{
	job->held_bytes += bytes;
	hg_host_note_peak(job, job->held_bytes);
}

HgStatus
hg_host_alloc(HgHostJob *job, uint64_t bytes, void **ptr, HgError *error)
{
	*ptr = NULL;
	HG_TRY(hg_host_check_limit(job, bytes, error));
	HG_TRY(hg_host_memory_alloc(job->host, bytes, ptr, error));
	hg_host_hold(job, bytes);
	return HG_OK;
}

void
hg_host_free(HgHostJob *job, void *ptr, uint64_t bytes)
{
	hg_host_memory_free(job->host, ptr, bytes);
	if (ptr != NULL)
		job->held_bytes -= bytes;
}

uint64_t
hg_host_room(const HgHostJob *job, uint64_t will_hold)
{
	const uint64_t limits[] = {job->spec.memory_limit, job->spec.shape.direct_limit};
	const uint64_t held = job->held_bytes + will_hold;
	uint64_t room = UINT64_MAX;

	for (int i = 0; i < 2; i++)
		if (limits[i] > 0)
		{
			uint64_t left = limits[i] > held ? limits[i] - held : 0;

			room = left < room ? left : room;
		}
	return room;
}

HgStatus
hg_host_poll(HgHostJob *job, HgError *error)
{
	return hg_host_check_cancel(job->host, error);
}

/* ---------------------------------------------------------------------
 * Keys
 * ---------------------------------------------------------------------
 */

HgStatus
hg_host_reserve(HgHostJob *job, HgSide which, HgError *error)
{
	HgHostSide *side = &job->sides[which];
	size_t capacity = side->piece_capacity == 0 ? FIRST_PIECE_CAPACITY : 2 * side->piece_capacity;
	void *pieces;

	if (side->piece_count < side->piece_capacity)
		return HG_OK;

	HG_TRY(hg_host_alloc(job, capacity * sizeof(HgHostPiece), &pieces, error));
	if (side->piece_count > 0)
		memcpy(pieces, side->pieces, side->piece_count * sizeof(HgHostPiece));
	hg_host_free(job, side->pieces, side->piece_capacity * sizeof(HgHostPiece));
	side->pieces = pieces;
	side->piece_capacity = capacity;
	return HG_OK;
}

HgStatus
hg_host_append(HgHostJob *job, HgSide which, const void *keys, uint64_t count, uint64_t first_row,
			   HgError *error)
{
	HgHostSide *side = &job->sides[which];
	HgHostPiece *piece;
	HgStatus status;

	if (count >= HG_MAX_ROWS || first_row >= HG_MAX_ROWS - count ||
		side->rows >= HG_MAX_ROWS - count)
		return hg_host_finish(job, hg_error_set(error, HG_TOO_MANY_ROWS, NULL,
												"too many rows in one side of a join"));

	status = hg_host_reserve(job, which, error);
	if (status != HG_OK)
		return hg_host_finish(job, status);
	piece = &side->pieces[side->piece_count++];
	piece->keys = keys;
	piece->count = count;
	piece->first_row = (uint32_t) first_row;
	side->rows += count;
	job->stats.rows[which] += count;
	return HG_OK;
}

HgStatus
hg_host_renew(HgHostJob *job, const void *keys, uint64_t count, HgError *error)
{
	job->sides[HG_OUTER].piece_count = 0;
	job->sides[HG_OUTER].rows = 0;
	return count == 0 ? HG_OK : hg_host_append(job, HG_OUTER, keys, count, 0, error);
}

/* ---------------------------------------------------------------------
 * The life of a job
 * ---------------------------------------------------------------------
 */

HgStatus
hg_host_open(const HgHost *host, const HgJobSpec *spec, size_t bytes, HgHostJob **job,
			 HgError *error)
{
	HgHostJob start = {.host = host, .spec = *spec, .state = HG_HOST_APPENDING, .bytes = bytes};
	void *memory;

	HG_TRY(hg_spec_check(spec, error));
	if (spec->sides[HG_OUTER].ncolumns + spec->sides[HG_INNER].ncolumns > 0)
		return hg_error_set(error, HG_INVALID, NULL, "this engine has no columns");
	HG_TRY(hg_spec_check_joins_rows(spec, error));

	/* the job counts its own memory like all other */
	start.stats.build = spec->shape.build;
	start.stats.probe = spec->shape.probe;
	HG_TRY(hg_host_alloc(&start, bytes, &memory, error));
	memset(memory, 0, bytes);
	*job = memory;
	**job = start;
	return HG_OK;
}

void
hg_host_close(HgHostJob *job)
{
	HgHostJob end;

	for (int i = 0; i < 2; i++)
		hg_host_free(job, job->sides[i].pieces, job->sides[i].piece_capacity * sizeof(HgHostPiece));
	end = *job;
	hg_host_free(&end, job, end.bytes);
}

HgStatus
hg_host_finish(HgHostJob *job, HgStatus status)
{
	if (status != HG_OK && status != HG_INVALID)
		job->state = HG_HOST_FAILED;
	return status;
}

HgStatus
hg_host_check_appending(const HgHostJob *job, HgError *error)
{
	if (job->state == HG_HOST_FAILED)
		return hg_error_set(error, HG_INVALID, NULL, "the job has failed before");
	if (job->state != HG_HOST_APPENDING)
		return hg_error_set(error, HG_INVALID, NULL, "the job has been built already");
	return HG_OK;
}

HgStatus
hg_host_check_append(const HgHostJob *job, HgSide which, HgError *error)
{
	HG_TRY(hg_host_check_appending(job, error));
	if (which != HG_OUTER && which != HG_INNER)
		return hg_error_set(error, HG_INVALID, NULL, "unknown side: %d", (int) which);
	if (which == HG_OUTER && job->spec.streamed)
		return hg_error_set(error, HG_INVALID, NULL, "outer rows of a streamed job come later");
	return HG_OK;
}

HgStatus
hg_host_check_built(const HgHostJob *job, HgError *error)
{
	if (job->state == HG_HOST_FAILED)
		return hg_error_set(error, HG_INVALID, NULL, "the job has failed before");
	if (job->state == HG_HOST_APPENDING)
		return hg_error_set(error, HG_INVALID, NULL, "the job has not been built yet");
	return HG_OK;
}

HgStatus
hg_host_check_mode(const HgHostJob *job, HgMatchMode mode, HgError *error)
{
	HG_TRY(hg_host_check_built(job, error));
	if (mode != HG_MATCH_ALL && mode != HG_MATCH_FIRST)
		return hg_error_set(error, HG_INVALID, NULL, "unknown match mode: %d", (int) mode);
	return HG_OK;
}

HgStatus
hg_host_check_next(const HgHostJob *job, const HgMatches *matches, HgError *error)
{
	HG_TRY(hg_host_check_built(job, error));
	if (job->state != HG_HOST_MATCHING)
		return hg_error_set(error, HG_INVALID, NULL, "no stream of matches was started");
	if (matches->capacity == 0)
		return hg_error_set(error, HG_INVALID, NULL, "there is no room for a match");
	return hg_matches_check(&job->spec, matches, error);
}
