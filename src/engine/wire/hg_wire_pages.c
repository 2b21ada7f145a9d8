/*-------------------------------------------------------------------------
 *
 * hg_wire_pages.c
 *	  Sends pages of a table to a job of the remote engine that is not built.
 *
 * Pages are sent in a slot of the job's lease (hg_wire_internal.h).  The caller may write them
 * there itself, so that they are copied only once on this side.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_wire_internal.h"

#include <string.h>

/* Checks that count pages can be appended. */
static HgStatus
check_pages(HgRemoteJob *job, HgSide side, uint64_t count, uint64_t first_page, HgError *error)
{
	HG_TRY(hg_wire_send_check_side(job, side, error));
	return hg_pages_append_check(hg_side_pages(&job->spec, side), count, first_page, error);
}

/* Adds the most rows that the pages sent can have, and notes their row numbers. */
static void
note_pages(HgRemoteJob *job, HgSide side, uint64_t count, uint64_t first_page)
{
	const HgPageSpec *pages = &job->pages[side];
	const uint64_t end = (first_page + count) * pages->rows_per_page;

	job->rows[side] += count * hg_pages_most_rows(pages);
	if (job->rows[side] > HG_MAX_ROWS)
		job->rows[side] = HG_MAX_ROWS;
	if (job->page_rows[side] < end)
		job->page_rows[side] = end;
}

HgStatus
hg_wire_client_page_room(HgJob *handle, HgSide side, void **to, uint64_t *count, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status = check_pages(job, side, 0, 0, error);

	/* its answer names the lease */
	if (status == HG_OK)
		status = hg_wire_open_wait(job, error);
	if (status == HG_OK)
		status = hg_wire_job_wait(job, job->slot_sequence[job->next_slot], error);
	if (status != HG_OK)
		return status;
	*count = job->slot_bytes / job->pages[side].page_size;
	if (*count == 0)
		return hg_error_set(error, HG_INVALID, NULL, "the staging area has no room for a page");
	*to = job->client->staging + job->lease_offset + job->next_slot * job->slot_bytes;
	return HG_OK;
}

HgStatus
hg_wire_client_send_pages(HgJob *handle, HgSide side, uint64_t count, uint64_t first_page,
						  HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status = check_pages(job, side, count, first_page, error);
	HgWireMessage message;
	unsigned char *slot;

	if (status != HG_OK || count == 0)
		return status;
	if (job->slot_bytes / job->pages[side].page_size < count)
		return hg_error_set(error, HG_INVALID, NULL, "there was no room for as many pages");
	HG_TRY(hg_wire_send_begin(job, count, count, &message, &slot, error));
	message.request.side = (uint32_t) side;
	message.request.first = first_page;
	/* not waited for: the next piece is copied while this one is under way */
	status = hg_wire_job_send(job, HG_WIRE_APPEND_PAGES, &message, error);
	note_pages(job, side, count, first_page);
	return status;
}

HgStatus
hg_wire_remote_append_pages(HgJob *handle, HgSide side, const void *pages, uint64_t count,
							uint64_t first_page, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	const unsigned char *from = pages;
	HgStatus status = check_pages(job, side, count, first_page, error);

	while (status == HG_OK && count > 0)
	{
		uint64_t piece;
		uint64_t bytes;
		void *to;

		status = hg_wire_client_page_room(handle, side, &to, &piece, error);
		if (status != HG_OK)
			break;
		if (piece > count)
			piece = count;
		bytes = piece * job->pages[side].page_size;
		memcpy(to, from, (size_t) bytes);
		status = hg_wire_client_send_pages(handle, side, piece, first_page, error);
		from += bytes;
		first_page += piece;
		count -= piece;
	}
	return status;
}
