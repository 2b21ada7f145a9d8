/*-------------------------------------------------------------------------
 *
 * hg_cuda_pieces.h
 *	  Work in pieces of some milliseconds, with checks for cancellation between them.
 *
 * A piece is a range of items: rows, slots, lists or tiles, first .. end - 1 of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PIECES_H
#define HG_CUDA_PIECES_H

#include "../device/hg_cuda_launch.h"
#include "../device/hg_cuda_work.h"
#include "hg_cuda_tuning.h"

/* Calls does(first, end) for pieces of n items, at most most items each, until one fails. */
template <typename Does>
static inline HgStatus
hg_cuda_in_pieces(HgCudaWork *work, uint64_t n, uint64_t most, HgError *error, const Does &does)
{
	for (uint64_t first = 0; first < n; first += most)
	{
		const uint64_t end = n - first < most ? n : first + most;

		HG_TRY(does(first, end));
		if (end < n)
			HG_TRY(hg_cuda_pace(work, error));
	}
	return HG_OK;
}

/* Placeholders for the range of a piece among the arguments of a kernel. */
struct HgCudaPieceFirst
{
};
struct HgCudaPieceEnd
{
};
constexpr HgCudaPieceFirst HG_PIECE_FIRST;
constexpr HgCudaPieceEnd HG_PIECE_END;

/* Return the argument for the piece first .. end - 1: the argument itself, first or end. */
template <typename Argument>
static inline const Argument &
hg_cuda_of_piece(const Argument &argument, uint64_t, uint64_t)
{
	return argument;
}

static inline uint64_t
hg_cuda_of_piece(HgCudaPieceFirst, uint64_t first, uint64_t)
{
	return first;
}

static inline uint64_t
hg_cuda_of_piece(HgCudaPieceEnd, uint64_t, uint64_t end)
{
	return end;
}

/*
 * Launches a kernel for n items in pieces of at most most items: blocks of THREADS threads, which
 * have ITEMS items each.  HG_PIECE_FIRST and HG_PIECE_END among the arguments become the range of
 * each piece.
 */
template <auto KERNEL, uint64_t THREADS, uint64_t ITEMS = THREADS, typename... Arguments>
static inline HgStatus
hg_cuda_launch_pieces(HgCudaWork *work, const char *name, uint64_t n, uint64_t most, HgError *error,
					  const Arguments &...arguments)
{
	return hg_cuda_in_pieces(work, n, most, error,
							 [&](uint64_t first, uint64_t end)
							 {
								 return hg_cuda_launch<KERNEL>(
									 work->stream, name, hg_blocks_for(end - first, ITEMS), THREADS,
									 error, hg_cuda_of_piece(arguments, first, end)...);
							 });
}

#endif /* HG_CUDA_PIECES_H */
