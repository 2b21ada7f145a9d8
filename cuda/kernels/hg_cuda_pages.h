/*-------------------------------------------------------------------------
 *
 * hg_cuda_pages.h
 *	  Pages of a table in device memory, a piece at a time, and the rows in them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PAGES_H
#define HG_CUDA_PAGES_H

#include "../../src/engine/hg_pages.h"
#include "../device/hg_cuda_work.h"
#include "hg_cuda_tuning.h"

/* In place of columns' bits: a page makes no sense. */
#define HG_PAGES_BAD (UINT32_C(1) << 31)

/* Numbers that are counted of a piece. */
#define HG_PAGES_FOUND 3

/* A piece of a side's pages, in two blocks of device memory. */
struct HgCudaPages
{
	HgPageSpec *specs;	  /* [2] by HgSide, in device memory, as what follows ... */
	uint32_t *found;	  /* [HG_PAGES_FOUND] as hg_pages_count_kernel has them */
	uint32_t *starts;	  /* one for each page */
	unsigned char *pages; /* [room] */
	uint64_t room;		  /* in bytes */

	/* ... but for what is known of the piece */
	HgSide side;
	uint32_t count; /* pages */
	uint32_t rows;
	uint32_t null_keys; /* rows that want a key alone */
	uint32_t nulls;		/* bit i is set where a row has NULL in column i */
	bool bad;			/* a page makes no sense, and nothing is known of rows */
};

/* Where rows go, by position from first on. */
struct HgCudaPagesTarget
{
	uint64_t first;
	void *keys;
	uint32_t *numbers;
	uint32_t key_width;
	uint32_t ncolumns;
	uint32_t width[HG_MAX_COLUMNS];
	void *values[HG_MAX_COLUMNS];
	uint8_t *nulls[HG_MAX_COLUMNS]; /* 1 where NULL, else 0 */
};

/* Pages of a side that a piece has at most. */
static inline uint64_t
hg_cuda_pages_most(const HgPageSpec *spec)
{
	return HG_PAGES_PIECE_BYTES / spec->page_size;
}

/* What a piece of so many bytes takes, of either side of a job. */
uint64_t hg_cuda_pages_bytes(const HgJobSpec *spec, uint64_t room);

/*
 * Have room for pieces of so many bytes of the sides of a job that come as pages, by its spec,
 * which stays in place.
 */
HgStatus hg_cuda_pages_open(HgCudaWork *work, const HgJobSpec *spec, uint64_t room,
							HgCudaPages *pages, HgError *error);

/*
 * Copy count pages of a side, a piece at most, and find how many rows they have.  It waits for
 * that.
 */
HgStatus hg_cuda_pages_count(HgCudaWork *work, HgCudaPages *pages, const HgJobSpec *spec,
							 HgSide side, const void *from, uint32_t count, HgError *error);

/*
 * Write the rows that were counted, of pages that make sense, the first of which has its first line
 * pointer's row numbered first_row.  It returns when that is launched, which may be in another
 * stream than that in which they were counted.
 */
HgStatus hg_cuda_pages_write(HgCudaWork *work, const HgCudaPages *pages,
							 const HgCudaPagesTarget *target, uint32_t first_row, HgError *error);

/* Give the memory back. */
void hg_cuda_pages_close(HgCudaWork *work, HgCudaPages *pages);

#endif /* HG_CUDA_PAGES_H */
