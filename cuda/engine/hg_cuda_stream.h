/*-------------------------------------------------------------------------
 *
 * hg_cuda_stream.h
 *	  The matches of a job: all found at once, written a chunk at a time.
 *
 * A stream is the matches of one mode, numbered from 0 to job->matches - 1; job->position is the
 * index of the next match to emit. The chunk has job->chunk_count matches from number
 * job->chunk_first on, in device memory, until it is filled again.
 *
 * All calls are for jobs that are built; the job's device is current. After a failure a job can
 * only be closed, as hg_engine.h says.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_STREAM_H
#define HG_CUDA_STREAM_H

#include "hg_cuda_job.h"

/* Builds the graphs of both sides, if that was put off until matches are found. */
HgStatus hg_cuda_stream_graphs(HgCudaJob *job, HgError *error);

/* Counts the matches of a mode. An existing stream stays as it is. */
HgStatus hg_cuda_stream_count(HgCudaJob *job, HgMatchMode mode, uint64_t *matches, HgError *error);

/*
 * Finds the matches of a mode, and sets the position to 0. An existing stream of another mode
 * ends; one of the same mode starts again.
 */
HgStatus hg_cuda_stream_start(HgCudaJob *job, HgMatchMode mode, HgError *error);

/* Ensures that the match at the position, if there is one, is in the chunk. */
HgStatus hg_cuda_stream_fill(HgCudaJob *job, HgError *error);

/*
 * Copies the next matches to the caller's arrays, with the requested values, and advances the
 * position. At least one match must be left; it returns at least one, and at most those in the
 * chunk. It waits for the copies, even after a failure.
 */
HgStatus hg_cuda_stream_next(HgCudaJob *job, HgMatches *matches, HgError *error);

/* Frees what start allocated, except a chunk of up to HG_CHUNK_PAIRS, for the next stream. */
void hg_cuda_stream_end(HgCudaJob *job);

/* The same, and frees that chunk, too. */
void hg_cuda_stream_close(HgCudaJob *job);

#endif /* HG_CUDA_STREAM_H */
