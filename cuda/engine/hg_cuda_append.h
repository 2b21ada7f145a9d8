/*-------------------------------------------------------------------------
 *
 * hg_cuda_append.h
 *	  Rows that come to a side of a job of the CUDA engine: as keys, or as pages of a table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_APPEND_H
#define HG_CUDA_APPEND_H

#include "hg_cuda_job.h"

/* Copy keys to a side of a job that is not built, and wait for them. */
HgStatus hg_cuda_append_keys(HgCudaJob *job, HgSide side, const void *keys, uint64_t count,
							 HgError *error);

/* Be ready for pages, if a side of an open job comes as such, which needs so many bytes at least.
 */
HgStatus hg_cuda_append_open(HgCudaJob *job, uint64_t job_bytes, HgError *error);

/*
 * Copy pages to a side that comes so, of a job that is not built, and take them apart: they are the
 * caller's again then, but writing their rows need not be done.  One that makes no sense is noted
 * in the job.
 */
HgStatus hg_cuda_append_pages(HgCudaJob *job, HgSide side, const void *pages, uint64_t count,
							  uint64_t first_page, HgError *error);

/* The same with pages that were brought, which gives their piece back. */
HgStatus hg_cuda_append_piece(HgCudaJob *job, HgCudaPiece *piece, uint64_t first_page,
							  HgError *error);

/* No more pages come: give back what they were copied to. */
void hg_cuda_append_end(HgCudaJob *job);

/* The job is about to be closed. */
void hg_cuda_append_close(HgCudaJob *job);

/* Add to a job's statistics what pieces of pages took. */
void hg_cuda_append_stats(HgCudaJob *job, HgJobStats *stats);

/* What a job with pages needs beside what it would need of the same rows' keys. */
uint64_t hg_cuda_append_pages_bytes(const HgJobSpec *spec);

#endif /* HG_CUDA_APPEND_H */
