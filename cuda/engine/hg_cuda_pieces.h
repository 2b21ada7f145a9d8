/*-------------------------------------------------------------------------
 *
 * hg_cuda_pieces.h
 *	  Pieces of a job's pages on their way to the device, several at a time.
 *
 * A piece is memory for pages, and a stream of its own, in which they are copied and their rows are
 * counted: that needs nothing of the job but what stays as it was opened, and so no turn of whoever
 * works on the job.  What needs one is to write the rows, of which it is known then how many there
 * are: that is launched in the job's stream, and not waited for.  The piece's stream waits for
 * it, before the next pages are copied there, or its memory goes.
 *
 *	bring	(any thread)	-> the piece is the caller's
 *	take	(in a turn)		rows are written out of it (hg_cuda_append.h)
 *	give	(any thread)	-> it is the next one's
 *
 * MEMORY.  Pieces have some that the job was not admitted with, and that no other was promised,
 * within the device's budget as all memory.  Of a limit of the job's own they have a part of what
 * it is not expected to need, which the job does without until it is built.  Where there is none,
 * or all pieces are on their way, pages are copied in the job's stream, in its turn, to the piece
 * that it was admitted with.
 *
 * THREADS.  One mutex guards which pieces there are and whose they are; a piece belongs to one
 * thread at a time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PIECES_H
#define HG_CUDA_PIECES_H

#include "../kernels/hg_cuda_pages.h"

#include <mutex>

/* Where a piece is. */
enum HgCudaPieceState
{
	HG_PIECE_NONE = 0, /* nowhere: it has no stream, and no memory */
	HG_PIECE_IDLE,
	HG_PIECE_TAKEN /* somebody's */
};

struct HgCudaPiece
{
	HgCudaPieceState state;
	uint64_t turn;	 /* of idle ones the least is the one that has been so for longest */
	HgCudaWork work; /* its stream and memory; pace 0 of its kit is behind the rows' being written,
					  * in the job's stream */
	HgCudaPages pages;
};

struct HgCudaPieces
{
	HgCudaDevice *device;
	const HgJobSpec *spec; /* the job's */
	int most;			   /* pieces that there may be ... */
	uint64_t limit;		   /* ... and bytes that they may hold */

	std::mutex lock; /* guards all that follows, but for pieces that are taken */
	uint64_t held;	 /* bytes ... */
	uint64_t peak;	 /* ... and how many it were at most */
	uint64_t turns;
	bool full;		 /* there was no memory for another one */
	bool ended;		 /* none may be taken any more */
	int users;		 /* who bring, or have not given back yet ... */
	double began_ms; /* ... of whom there was none before that */
	double used_ms;	 /* for how long there was any */
	HgCudaPiece pieces[HG_PIECES];
};

/*
 * Be ready for pieces of a job that needs so many bytes at least, by its spec, which stays in
 * place; memory of its own limit that they have is *reserved.  The struct is zeros.
 */
void hg_cuda_pieces_open(HgCudaPieces *pieces, HgCudaDevice *device, const HgJobSpec *spec,
						 uint64_t job_bytes, uint64_t *reserved);

/* The job wants memory: idle pieces go, and no more are made. */
void hg_cuda_pieces_yield(HgCudaPieces *pieces);

/* There will be no more: idle ones go, and others when they are given back. */
void hg_cuda_pieces_end(HgCudaPieces *pieces);

/* All have been given back, and go. */
void hg_cuda_pieces_close(HgCudaPieces *pieces);

/* Someone begins, or ends, to work on pages: the time in which anybody does is counted. */
void hg_cuda_pieces_enter(HgCudaPieces *pieces);
void hg_cuda_pieces_leave(HgCudaPieces *pieces);

/* That time, and the most memory that was held. */
void hg_cuda_pieces_use(HgCudaPieces *pieces, double *used_ms, uint64_t *peak);

/*
 * Copy count pages of a side, and count their rows, polling the host's cancelled(): they are the
 * caller's again then, and *piece is, until he gives it back, or NULL where there is none.
 */
HgStatus hg_cuda_pieces_bring(HgCudaPieces *pieces, const HgHost *host, HgSide side,
							  const void *from, uint64_t count, HgCudaPiece **piece,
							  HgError *error);

/* All that was launched in a stream until now reads the piece: who has it next waits for that. */
HgStatus hg_cuda_pieces_follow(HgCudaPiece *piece, cudaStream_t stream, HgError *error);

void hg_cuda_pieces_give(HgCudaPieces *pieces, HgCudaPiece *piece);

#endif /* HG_CUDA_PIECES_H */
