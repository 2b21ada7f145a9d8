/*-------------------------------------------------------------------------
 *
 * hg_cuda_append.h
 *	  Appends rows to a side of a job of the CUDA engine: as keys, or as pages of a table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_APPEND_H
#define HG_CUDA_APPEND_H

#include "hg_cuda_job.h"

/* Copies count keys to a side of a job that is not built, and waits for the copies. */
HgStatus hg_cuda_append_keys(HgCudaJob *job, HgSide side, const void *keys, uint64_t count,
							 HgError *error);

/*
 * Prepares an open job for pages, if a side of it comes as pages. job_bytes is the job's minimum;
 * part of its limit beyond that is reserved for the pieces.
 */
HgStatus hg_cuda_append_open(HgCudaJob *job, uint64_t job_bytes, HgError *error);

/*
 * Copies count pages to a side that comes as pages, of a job that is not built, and extracts their
 * rows. On return the pages are the caller's again; the rows may still be being written. An
 * invalid page sets job->bad_page, and the call succeeds.
 */
HgStatus hg_cuda_append_pages(HgCudaJob *job, HgSide side, const void *pages, uint64_t count,
							  uint64_t first_page, HgError *error);

/* The same with a piece of pages that are on the device. Gives it back, also on failure. */
HgStatus hg_cuda_append_piece(HgCudaJob *job, HgCudaPiece *piece, uint64_t first_page,
							  HgError *error);

/* Ends the appending of pages: frees the idle pieces, and restores the job's limit. */
void hg_cuda_append_end(HgCudaJob *job);

/* Frees the pieces of a job that is about to be closed. */
void hg_cuda_append_close(HgCudaJob *job);

/* Adds the pieces' time and memory to a job's statistics. */
void hg_cuda_append_stats(HgCudaJob *job, HgJobStats *stats);

/* Returns the memory that a job with pages needs beyond that of the same keys. */
uint64_t hg_cuda_append_pages_bytes(const HgJobSpec *spec);

#endif /* HG_CUDA_APPEND_H */
