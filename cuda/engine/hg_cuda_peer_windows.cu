/*-------------------------------------------------------------------------
 *
 * hg_cuda_peer_windows.cu
 *	  Sends rows between shards of the CUDA engine from device to device, through peer windows.
 *
 * A peer window is memory of the receiving job's device that others map for theirs
 * (hg_cuda_shared.h). A sender gathers rows in its own memory, as it does for a caller that takes
 * them, and copies them there in its stream: a copy over NVLink runs at 395 GB/s between two H200,
 * where a kernel that writes to the other device reaches 260. One piece is gathered while the host
 * waits for the copy of the piece before, and polls for a cancel.
 *
 * A sender that is refused or cancelled waits for its copies before it unmaps the window. The
 * owner of the window need not wait for the sender: the memory exists as long as the sender has it
 * mapped.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_peer_windows.h"

#include "hg_cuda_shards.h"

#include <cstring>
#include <unistd.h>

static_assert(HG_PEER_WINDOW_ROWS <= HG_READBACK_BYTES,
			  "what stands before the rows can be read back");

/* ------------------------------------------------------------------------
 * The receiving shard
 * ------------------------------------------------------------------------ */

/* Writes the head, and zeroes all trailers. */
static HgStatus
write_head(HgCudaJob *job, const HgPeerWindowHead *head, unsigned char *memory, HgError *error)
{
	HgCudaWork *work = &job->work;

	memset(work->kit.readback, 0, HG_PEER_WINDOW_ROWS);
	memcpy(work->kit.readback, head, sizeof(*head));
	HG_CUDA_TRY(cudaMemcpyAsync(memory, work->kit.readback, HG_PEER_WINDOW_ROWS,
								cudaMemcpyHostToDevice, work->stream),
				error);
	return hg_cuda_wait(work, error);
}

HgStatus
hg_cuda_peer_windows_make(HgCudaJob *job, HgSide side, HgPeerWindow *window, HgError *error)
{
	HgCudaExchanged *it = &job->exchanges[side];
	HgStatus status;
	int descriptor;

	memset(window, 0, sizeof(*window));
	if (job->spec.shards == 0 || it->stage != HG_EXCHANGE_EXPECTING || it->window.memory != nullptr)
		return hg_error_set(error, HG_INVALID, nullptr, "this is not the time to offer memory");
	hg_peer_window_lay_out(&job->spec, side, &it->exchange, &it->head);
	HG_TRY(hg_peer_window_make_token(it->head.token, error));
	HG_TRY(hg_cuda_shared_make(&job->work, it->head.bytes, &it->window, &descriptor, error));
	status = write_head(job, &it->head, it->window.memory, error);
	if (status != HG_OK)
	{
		close(descriptor);
		hg_cuda_shared_close(&job->work, &it->window);
		return status;
	}
	memcpy(window->token, it->head.token, sizeof(window->token));
	window->bytes = it->head.bytes;
	window->memory = descriptor;
	return HG_OK;
}

/* Takes the rows that one shard has reported in its trailer. */
static HgStatus
put_from(HgCudaJob *job, HgSide side, uint32_t shard, const HgPeerWindowTrailer *trailer,
		 HgError *error)
{
	const HgCudaExchanged *it = &job->exchanges[side];
	HgExchangeRows rows;
	uint64_t count;

	HG_TRY(hg_peer_window_read_trailer(&it->head, shard, trailer, &count, error));
	if (count == 0)
		return HG_OK;
	hg_peer_window_rows_at(&it->head, it->window.memory, it->head.first[shard], &rows);
	rows.count = count;
	for (uint32_t column = 0; column < it->head.ncolumns; column++)
		rows.has_nulls[column] = (trailer->nulls >> column & 1) != 0;
	return hg_cuda_shards_put(job, side, &rows, error);
}

/* Takes the rows of all shards. */
static HgStatus
put_all(HgCudaJob *job, HgSide side, HgError *error)
{
	HgPeerWindowTrailer trailers[HG_MAX_SHARDS];
	const void *read;

	HG_TRY(hg_cuda_read_back(&job->work,
							 job->exchanges[side].window.memory + hg_peer_window_trailer_at(0),
							 sizeof(trailers), &read, error));
	memcpy(trailers, read, sizeof(trailers));
	for (uint32_t shard = 0; shard < job->spec.shards; shard++)
		HG_TRY(put_from(job, side, shard, &trailers[shard], error));
	return HG_OK;
}

HgStatus
hg_cuda_peer_windows_take(HgCudaJob *job, HgSide side, HgError *error)
{
	HgCudaExchanged *it = &job->exchanges[side];
	HgStatus status;

	if (it->window.memory == nullptr)
		return HG_OK;
	status = put_all(job, side, error);
	hg_cuda_shared_close(&job->work, &it->window);
	return status;
}

void
hg_cuda_peer_windows_close(HgCudaJob *job)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_cuda_shared_close(&job->work, &job->exchanges[side].window);
}

/* ------------------------------------------------------------------------
 * The sending shard
 * ------------------------------------------------------------------------ */

/*
 * Starts a copy between this job's memory and a window. A refusal at once gives HG_INVALID, so
 * that the rows can go another way; a later failure appears in the next wait.
 */
static HgStatus
copy_out(HgCudaJob *job, void *to, const void *from, uint64_t bytes, HgError *error)
{
	cudaError_t code = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, job->work.stream);

	if (code == cudaSuccess)
		return HG_OK;
	cudaGetLastError();
	return hg_error_set(error, HG_INVALID, cudaGetErrorString(code), "the device was not reached");
}

/* Copies gathered rows to their positions in the window. */
static HgStatus
copy_rows(HgCudaJob *job, const HgPeerWindowHead *head, const HgExchangeRows *from,
		  const HgExchangeRows *to, HgError *error)
{
	HG_TRY(copy_out(job, to->keys, from->keys, from->count * head->key_width, error));
	HG_TRY(copy_out(job, to->numbers, from->numbers, from->count * sizeof(uint32_t), error));
	for (uint32_t column = 0; column < head->ncolumns; column++)
	{
		HG_TRY(copy_out(job, to->values[column], from->values[column],
						from->count * head->column_width[column], error));
		if (from->has_nulls[column])
			HG_TRY(copy_out(job, to->nulls[column], from->nulls[column], from->count, error));
	}
	return HG_OK;
}

/* Sends all count rows, and a trailer after them. */
static HgStatus
send_all(HgCudaJob *job, HgSide side, const HgPeerWindowHead *head, uint64_t count,
		 unsigned char *memory, HgError *error)
{
	const uint32_t self = job->exchanges[side].exchange.self;
	HgPeerWindowTrailer *trailer = static_cast<HgPeerWindowTrailer *>(job->work.kit.readback);
	uint64_t nulls = 0;

	for (uint64_t done = 0; done < count;)
	{
		HgExchangeRows from;
		HgExchangeRows to;

		HG_TRY(hg_cuda_shards_gather(job, side, head->self, &from, error));
		hg_peer_window_rows_at(head, memory, head->first[self] + done, &to);
		HG_TRY(copy_rows(job, head, &from, &to, error));
		for (uint32_t column = 0; column < head->ncolumns; column++)
			nulls |= (uint64_t) from.has_nulls[column] << column;
		done += from.count;
		HG_TRY(hg_cuda_pace(&job->work, error));
	}
	hg_peer_window_make_trailer(head, count, nulls, trailer);
	HG_TRY(
		copy_out(job, memory + hg_peer_window_trailer_at(self), trailer, sizeof(*trailer), error));
	return hg_cuda_wait(&job->work, error);
}

/* Reads the head of a window, and checks that it is for these rows. */
static HgStatus
read_head(HgCudaJob *job, HgSide side, uint32_t shard, const HgPeerWindow *window, uint64_t count,
		  const unsigned char *memory, HgPeerWindowHead *head, HgError *error)
{
	HgCudaWork *work = &job->work;

	HG_TRY(copy_out(job, work->kit.readback, memory, sizeof(*head), error));
	HG_TRY(hg_cuda_wait(work, error));
	memcpy(head, work->kit.readback, sizeof(*head));
	return hg_peer_window_check(head, window, &job->spec, side, job->exchanges[side].exchange.self,
								shard, count, error);
}

HgStatus
hg_cuda_peer_windows_send(HgCudaJob *job, HgSide side, uint32_t shard, const HgPeerWindow *window,
						  HgError *error)
{
	HgCudaShared shared;
	HgPeerWindowHead head;
	uint64_t count;
	HgStatus status;

	HG_TRY(hg_cuda_shards_left(job, side, shard, &count, error));
	if (job->exchanges[side].taken[shard] > 0)
		return hg_error_set(error, HG_INVALID, nullptr, "rows were taken already");
	if (window->bytes < HG_PEER_WINDOW_ROWS)
		return hg_error_set(error, HG_INVALID, nullptr, "what was offered is too small");
	HG_TRY(hg_cuda_shared_open(&job->work, window->memory, window->bytes, &shared, error));
	status = read_head(job, side, shard, window, count, shared.memory, &head, error);
	if (status == HG_OK)
	{
		status = send_all(job, side, &head, count, shared.memory, error);
		if (status != HG_OK)
			hg_cuda_shards_rewind(job, side, shard);
	}
	hg_cuda_shared_close(&job->work, &shared);
	return status;
}
