/*-------------------------------------------------------------------------
 *
 * hg_cuda_pieces.cu
 *	  Pieces of a job's pages on their way to the device, several at a time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_pieces.h"

#include <new>

/* Pieces get 1 / LIMIT_PARTS of what a job's own limit leaves beyond its minimum. */
static constexpr uint64_t LIMIT_PARTS = 4;

void
hg_cuda_pieces_open(HgCudaPieces *pieces, HgCudaDevice *device, const HgJobSpec *spec,
					uint64_t job_bytes, uint64_t *reserved)
{
	new (&pieces->lock) std::mutex;
	pieces->device = device;
	pieces->spec = spec;
	pieces->most = spec->participants_id != 0 ? HG_PIECES : HG_PIECES_ALONE;
	pieces->limit = HG_PIECES_BYTES;
	*reserved = 0;
	if (spec->memory_limit == 0)
		return;
	if (spec->memory_limit > job_bytes)
		*reserved = (spec->memory_limit - job_bytes) / LIMIT_PARTS;
	if (*reserved > HG_PIECES_BYTES)
		*reserved = HG_PIECES_BYTES;
	pieces->limit = *reserved;
}

/* Frees a piece that no caller owns. The caller holds the lock. */
static void
close_piece(HgCudaPieces *pieces, HgCudaPiece *piece)
{
	pieces->held -= piece->work.held;
	if (piece->work.device != nullptr)
		hg_cuda_work_close(&piece->work);
	memset(static_cast<void *>(piece), 0, sizeof(*piece));
}

/* Frees all idle pieces. The caller holds the lock. */
static void
close_idle(HgCudaPieces *pieces)
{
	for (HgCudaPiece &piece : pieces->pieces)
		if (piece.state == HG_PIECE_IDLE)
			close_piece(pieces, &piece);
}

void
hg_cuda_pieces_yield(HgCudaPieces *pieces)
{
	std::lock_guard<std::mutex> guard(pieces->lock);

	pieces->full = true;
	close_idle(pieces);
}

void
hg_cuda_pieces_end(HgCudaPieces *pieces)
{
	std::lock_guard<std::mutex> guard(pieces->lock);

	pieces->ended = true;
	close_idle(pieces);
}

void
hg_cuda_pieces_close(HgCudaPieces *pieces)
{
	hg_cuda_pieces_end(pieces);
	pieces->lock.~mutex();
}

/* Counts a caller. The caller holds the lock. */
static void
enter(HgCudaPieces *pieces)
{
	if (pieces->users++ == 0)
		pieces->began_ms = hg_clock_ms();
}

static void
leave(HgCudaPieces *pieces)
{
	if (--pieces->users == 0)
		pieces->used_ms += hg_clock_ms() - pieces->began_ms;
}

void
hg_cuda_pieces_enter(HgCudaPieces *pieces)
{
	std::lock_guard<std::mutex> guard(pieces->lock);

	enter(pieces);
}

void
hg_cuda_pieces_leave(HgCudaPieces *pieces)
{
	std::lock_guard<std::mutex> guard(pieces->lock);

	leave(pieces);
}

void
hg_cuda_pieces_use(HgCudaPieces *pieces, double *used_ms, uint64_t *peak)
{
	std::lock_guard<std::mutex> guard(pieces->lock);

	*used_ms = pieces->used_ms;
	*peak = pieces->peak;
}

/* Returns true if the rows of an idle piece have been written out of it. */
static bool
is_written(const HgCudaPiece *piece)
{
	const cudaError_t code = cudaEventQuery(piece->work.kit.paces[0]);

	if (code == cudaErrorNotReady)
		cudaGetLastError(); /* "not ready" must not be taken for the failure of a later call */
	return code != cudaErrorNotReady;
}

/*
 * Returns the piece that was idle for longest if its rows are written, else a new one if allowed,
 * else the idle one; NULL if there is none. The caller holds the lock.
 */
static HgCudaPiece *
choose(HgCudaPieces *pieces)
{
	HgCudaPiece *idle = nullptr;
	HgCudaPiece *none = nullptr;

	for (int i = 0; i < pieces->most; i++)
	{
		HgCudaPiece *piece = &pieces->pieces[i];

		if (piece->state == HG_PIECE_NONE)
			none = piece;
		else if (piece->state == HG_PIECE_IDLE && (idle == nullptr || piece->turn < idle->turn))
			idle = piece;
	}
	if (none == nullptr || pieces->full || (idle != nullptr && is_written(idle)))
		return idle;
	return none;
}

/* Charges bytes that a piece is about to allocate; false if all pieces exceed the limit. */
static bool
charge(HgCudaPieces *pieces, uint64_t bytes)
{
	std::lock_guard<std::mutex> guard(pieces->lock);

	if (bytes > pieces->limit || pieces->held > pieces->limit - bytes)
		return false;
	pieces->held += bytes;
	if (pieces->held > pieces->peak)
		pieces->peak = pieces->held;
	return true;
}

/* Replaces a charge by what the piece really holds. */
static void
correct(HgCudaPieces *pieces, uint64_t charged, const HgCudaPiece *piece)
{
	std::lock_guard<std::mutex> guard(pieces->lock);

	pieces->held -= charged - piece->work.held;
}

/*
 * Makes room for `room` bytes of pages in a piece that the caller owns. HG_DEVICE_OUT_OF_MEMORY,
 * perhaps without a message, if the limit or the memory beside promises is too small.
 */
static HgStatus
make_room(HgCudaPieces *pieces, HgCudaPiece *piece, uint64_t room, HgError *error)
{
	/* blocks are rounded up */
	const uint64_t bytes = hg_cuda_pages_bytes(pieces->spec, room) + 2 * HG_BLOCK_ALIGNMENT;
	HgStatus status = HG_DEVICE_OUT_OF_MEMORY;

	if (piece->pages.room >= room)
		return HG_OK;
	if (piece->pages.room > 0)
	{
		const uint64_t held = piece->work.held;

		hg_cuda_pages_close(&piece->work, &piece->pages);
		correct(pieces, held, piece);
	}
	if (!charge(pieces, bytes))
		return status;
	if (bytes <= hg_cuda_work_spare(&piece->work))
		status = hg_cuda_pages_open(&piece->work, pieces->spec, room, &piece->pages, error);
	correct(pieces, bytes, piece);
	return status;
}

/* The same; opens the piece's work first, if it has none. */
static HgStatus
prepare(HgCudaPieces *pieces, HgCudaPiece *piece, const HgHost *host, uint64_t room, HgError *error)
{
	HgCudaWork *work = &piece->work;

	if (work->device == nullptr)
	{
		HgStatus status = hg_cuda_work_open(work, pieces->device, host, 0, error);

		if (status != HG_OK)
			memset(work, 0, sizeof(*work));
		HG_TRY(status);
		/* many participants of a shared job wait at a time, and need the cores to fill staging */
		if (pieces->spec->participants_id != 0)
			work->spin_ms = 0;
	}
	work->host = host;
	return make_room(pieces, piece, room, error);
}

/* Gives a piece back. If it could not be made ready, it is freed, and no new ones are made. */
static void
release(HgCudaPieces *pieces, HgCudaPiece *piece, bool ready)
{
	std::lock_guard<std::mutex> guard(pieces->lock);

	piece->work.host = nullptr;
	piece->state = HG_PIECE_IDLE;
	piece->turn = pieces->turns++;
	pieces->full = pieces->full || !ready;
	if (!ready || pieces->ended)
		close_piece(pieces, piece);
	leave(pieces);
}

HgStatus
hg_cuda_pieces_bring(HgCudaPieces *pieces, const HgHost *host, HgSide side, const void *from,
					 uint64_t count, HgCudaPiece **piece, HgError *error)
{
	const uint64_t room = count * hg_side_pages(pieces->spec, side)->page_size;
	HgCudaPiece *chosen = nullptr;
	HgStatus status;

	*piece = nullptr;
	{
		std::lock_guard<std::mutex> guard(pieces->lock);

		if (!pieces->ended && count > 0 &&
			count <= hg_cuda_pages_most(hg_side_pages(pieces->spec, side)))
			chosen = choose(pieces);
		if (chosen == nullptr)
			return HG_OK;
		chosen->state = HG_PIECE_TAKEN;
		enter(pieces);
	}
	status = prepare(pieces, chosen, host, room, error);
	if (status != HG_OK)
	{
		release(pieces, chosen, false);
		return status == HG_DEVICE_OUT_OF_MEMORY ? HG_OK : status;
	}
	status = hg_cuda_pages_count(&chosen->work, &chosen->pages, pieces->spec, side, from,
								 (uint32_t) count, error);
	if (status != HG_OK)
		release(pieces, chosen, true);
	else
		*piece = chosen;
	return status;
}

HgStatus
hg_cuda_pieces_follow(HgCudaPiece *piece, cudaStream_t stream, HgError *error)
{
	HG_CUDA_TRY(cudaEventRecord(piece->work.kit.paces[0], stream), error);
	HG_CUDA_TRY(cudaStreamWaitEvent(piece->work.stream, piece->work.kit.paces[0], 0), error);
	return HG_OK;
}

void
hg_cuda_pieces_release(HgCudaPieces *pieces, HgCudaPiece *piece)
{
	release(pieces, piece, true);
}
