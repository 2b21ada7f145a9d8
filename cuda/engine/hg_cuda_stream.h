/*-------------------------------------------------------------------------
 *
 * hg_cuda_stream.h
 *	  The matches of a job: found at once, written a chunk at a time.
 *
 * A stream is the matches of one mode, numbered from 0 to job->matches - 1, and its position
 * is the number of the next one that is wanted.  The chunk has job->chunk_count of them from
 * number job->chunk_first on, in device memory.  They stay there until it is filled again.
 *
 * All of it is for jobs that are built, and for threads whose device is the job's.  A job that
 * something failed of can only be closed, as hg_engine.h says.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_STREAM_H
#define HG_CUDA_STREAM_H

#include "hg_cuda_job.h"

/* Build the graphs of both sides, where that was put off until matches are found. */
HgStatus hg_cuda_stream_graphs(HgCudaJob *job, HgError *error);

/* Count the matches of a mode.  A stream that there is stays as it is. */
HgStatus hg_cuda_stream_count(HgCudaJob *job, HgMatchMode mode, uint64_t *matches, HgError *error);

/*
 * Find the matches of a mode, and stand before the first one.  The stream that there was ends, or
 * begins anew if it is of this mode.
 */
HgStatus hg_cuda_stream_start(HgCudaJob *job, HgMatchMode mode, HgError *error);

/* Have the match at the position, where there is one, and some of those behind it in the chunk. */
HgStatus hg_cuda_stream_fill(HgCudaJob *job, HgError *error);

/*
 * Copy the next matches, of which there are some, to the caller's arrays, with the values that he
 * wants, and move on: at least one, as many as are in the chunk at most.  It waits until they
 * are copied, even on failure.
 */
HgStatus hg_cuda_stream_next(HgCudaJob *job, HgMatches *matches, HgError *error);

/* Give back what start took, but for the chunk, which the next stream uses; or that as well. */
void hg_cuda_stream_end(HgCudaJob *job);
void hg_cuda_stream_close(HgCudaJob *job);

#endif /* HG_CUDA_STREAM_H */
