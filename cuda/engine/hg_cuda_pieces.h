/*-------------------------------------------------------------------------
 *
 * hg_cuda_pieces.h
 *	  Pieces of a job's pages on their way to the device, several at a time.
 *
 * A piece is memory for pages, with a stream of its own, in which pages are copied and their rows
 * counted. This needs only what stays as the job was opened, so that any thread may do it without
 * the job's turn. Writing the rows, whose number is known then, needs the turn: it is launched in
 * the job's stream, and not waited for. The piece's stream waits for it before the next pages are
 * copied there, or its memory is freed.
 *
 *	bring	(any thread)	the caller gets the piece
 *	take	(in a turn)		rows are written out of it (hg_cuda_job.h)
 *	give	(any thread)	the piece is free for the next caller
 *
 * MEMORY. Pieces use memory beyond the job's minimum, within the device's budget, that no other
 * job was promised. Of the job's own limit they get a part of what it is not expected to need; the
 * job does without that part until it is built. If there is no memory, or all pieces are taken,
 * pages are copied in the job's stream, in its turn, to the piece that is part of the job's
 * minimum.
 *
 * THREADS. One mutex guards the list of pieces and their owners; a piece belongs to one thread at
 * a time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PIECES_H
#define HG_CUDA_PIECES_H

#include "../kernels/hg_cuda_pages.h"

#include <mutex>

/* The state of a piece. */
enum HgCudaPieceState
{
	HG_PIECE_NONE = 0, /* no stream and no memory */
	HG_PIECE_IDLE,
	HG_PIECE_TAKEN /* a caller owns it */
};

struct HgCudaPiece
{
	HgCudaPieceState state;
	uint64_t turn; /* order in which pieces became idle; the least was idle for longest */
	/* its stream and memory; pace 0 of its kit follows the writing of rows in the job's stream */
	HgCudaWork work;
	HgCudaPages pages;
};

struct HgCudaPieces
{
	HgCudaDevice *device;
	const HgJobSpec *spec; /* the job's */
	int most;			   /* most pieces that may exist */
	uint64_t limit;		   /* bytes that all pieces may hold */

	std::mutex lock; /* guards all fields below, except pieces that are taken */
	uint64_t held;	 /* bytes that all pieces hold */
	uint64_t peak;	 /* most bytes that they held */
	uint64_t turns;
	bool full;		 /* no new pieces are made, as memory is short */
	bool ended;		 /* the last piece has been taken */
	int users;		 /* callers that work on pages */
	double began_ms; /* when users last became positive */
	double used_ms;	 /* total time with users > 0 */
	HgCudaPiece pieces[HG_PIECES];
};

/*
 * Initializes the zeroed struct for a job whose minimum is job_bytes. spec must stay in place.
 * *reserved is the part of the job's own limit that the pieces get; 0 without a limit.
 */
void hg_cuda_pieces_open(HgCudaPieces *pieces, HgCudaDevice *device, const HgJobSpec *spec,
						 uint64_t job_bytes, uint64_t *reserved);

/* Frees idle pieces for a job that needs memory; no more pieces are made. */
void hg_cuda_pieces_yield(HgCudaPieces *pieces);

/* Frees idle pieces; the others are freed when they are given back, and none can be taken. */
void hg_cuda_pieces_end(HgCudaPieces *pieces);

/* Destroys the struct. All pieces must have been given back. */
void hg_cuda_pieces_close(HgCudaPieces *pieces);

/* Counts a caller that works on pages; the time with any such caller is measured. */
void hg_cuda_pieces_enter(HgCudaPieces *pieces);

/* Ends the work of a caller that hg_cuda_pieces_enter() has counted. */
void hg_cuda_pieces_leave(HgCudaPieces *pieces);

/* Returns the time with at least one caller, in ms, and the most memory that pieces held. */
void hg_cuda_pieces_use(HgCudaPieces *pieces, double *used_ms, uint64_t *peak);

/*
 * Copies count pages of a side to a piece, counts their rows, and waits, polling the host's
 * cancelled(). The pages are then the caller's again, and the caller owns *piece until it gives it
 * back. *piece is NULL, with HG_OK, if no piece is available.
 */
HgStatus hg_cuda_pieces_bring(HgCudaPieces *pieces, const HgHost *host, HgSide side,
							  const void *from, uint64_t count, HgCudaPiece **piece,
							  HgError *error);

/* Lets the next use of a piece wait for all earlier work of a stream, which reads the piece. */
HgStatus hg_cuda_pieces_follow(HgCudaPiece *piece, cudaStream_t stream, HgError *error);

/* Gives a piece back. */
void hg_cuda_pieces_release(HgCudaPieces *pieces, HgCudaPiece *piece);

#endif /* HG_CUDA_PIECES_H */
