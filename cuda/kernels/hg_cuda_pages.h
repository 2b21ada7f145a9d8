/*-------------------------------------------------------------------------
 *
 * hg_cuda_pages.h
 *	  The rows of a relation's pages, which are parsed in device memory a piece at a time.
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

/* Set in the bits of columns if a page is invalid. */
#define HG_PAGES_BAD (UINT32_C(1) << 31)

/* Results of counting a piece. */
#define HG_PAGES_FOUND 3

/* A piece of a side's pages, in two blocks of device memory. */
struct HgCudaPages
{
	HgPageSpec *specs;	  /* [2] by HgSide, in device memory like the arrays below */
	uint32_t *found;	  /* [HG_PAGES_FOUND] see hg_pages_count_kernel */
	uint32_t *starts;	  /* [pages] rows before each page */
	unsigned char *pages; /* [room] */
	uint64_t room;		  /* bytes */

	/* the piece, as hg_cuda_pages_count found it */
	HgSide side;
	uint32_t count; /* pages */
	uint32_t rows;
	uint32_t null_keys; /* rows that are wanted but for their NULL key */
	uint32_t nulls;		/* bit i is set if a row has NULL in column i */
	bool bad;			/* a page is invalid, and the numbers of rows are undefined */
};

/* Arrays in device memory that rows are written to, by position, from position first on. */
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

/* Returns the most pages of a piece. */
static inline uint64_t
hg_cuda_pages_most(const HgPageSpec *spec)
{
	return HG_PAGES_PIECE_BYTES / spec->page_size;
}

/* Returns the device memory for pieces of room bytes, of either side of a job. */
uint64_t hg_cuda_pages_bytes(const HgJobSpec *spec, uint64_t room);

/*
 * Allocates memory for pieces of room bytes, of the sides of a job that come as pages.  The spec
 * must stay in place.
 */
HgStatus hg_cuda_pages_open(HgCudaWork *work, const HgJobSpec *spec, uint64_t room,
							HgCudaPages *pages, HgError *error);

/*
 * Copies count pages of a side, at most a piece, and counts their rows.  Waits.  An invalid page
 * sets pages->bad, and is no failure.
 */
HgStatus hg_cuda_pages_count(HgCudaWork *work, HgCudaPages *pages, const HgJobSpec *spec,
							 HgSide side, const void *from, uint32_t count, HgError *error);

/*
 * Writes the rows of the pages that were counted, none of which is invalid.  first_row is the
 * number of the first page's first line pointer.  Returns once the work is launched.  work may
 * have another stream than the work that counted them.
 */
HgStatus hg_cuda_pages_write(HgCudaWork *work, const HgCudaPages *pages,
							 const HgCudaPagesTarget *target, uint32_t first_row, HgError *error);

/* Frees the memory. */
void hg_cuda_pages_close(HgCudaWork *work, HgCudaPages *pages);

#endif /* HG_CUDA_PAGES_H */
