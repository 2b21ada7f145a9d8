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

/* In place of columns' bits: a page makes no sense. */
#define HG_PAGES_BAD (UINT32_C(1) << 31)

/* Numbers that are counted of a piece. */
#define HG_PAGES_FOUND 3

/* A piece of a side's pages, in two blocks of device memory. */
struct HgCudaPages
{
	HgPageSpec *spec;	  /* in device memory, as what follows ... */
	uint32_t *found;	  /* [HG_PAGES_FOUND] as hg_pages_count_kernel has them */
	uint32_t *starts;	  /* [room] */
	unsigned char *pages; /* [room] */
	uint64_t room;		  /* in pages */
	uint32_t page_size;
	uint32_t ncolumns;

	/* ... but for what is known of the piece */
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

/* Pages that a piece has, where there are count. */
uint64_t hg_cuda_pages_piece(const HgPageSpec *spec, uint64_t count);

/* What pieces of a side take at most. */
uint64_t hg_cuda_pages_bytes(const HgPageSpec *spec);

/* Have room for pieces of some pages of a side. */
HgStatus hg_cuda_pages_open(HgCudaWork *work, const HgPageSpec *spec, uint32_t ncolumns,
							uint64_t piece, HgCudaPages *pages, HgError *error);

/* Copy count pages, a piece at most, and find how many rows they have.  It waits for that. */
HgStatus hg_cuda_pages_count(HgCudaWork *work, HgCudaPages *pages, const void *from, uint32_t count,
							 HgError *error);

/*
 * Write the rows that were counted, of pages that make sense, the first of which has its first line
 * pointer's row numbered first_row.  It returns when that is launched.
 */
HgStatus hg_cuda_pages_write(HgCudaWork *work, const HgCudaPages *pages,
							 const HgCudaPagesTarget *target, uint32_t first_row, HgError *error);

/* Give the memory back. */
void hg_cuda_pages_close(HgCudaWork *work, HgCudaPages *pages);

#endif /* HG_CUDA_PAGES_H */
