/*-------------------------------------------------------------------------
 *
 * hg_cuda_pages.cu
 *	  The rows of a relation's pages, which are parsed in device memory a piece at a time.
 *
 * A piece is parsed twice, from the cache: the number of rows must be known before there is memory
 * for them.  The rows of a page stay together; pages come in the order in which they were counted,
 * which is undefined.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_pages.h"

#include "../device/hg_cuda_launch.h"
#include "hg_cuda_pages_kernels.h"
#include "hg_cuda_tuning.h"

/* Returns the bytes beside the pages of a piece: specs, results, and rows before each page. */
static uint64_t
beside_bytes(const HgJobSpec *spec, uint64_t room)
{
	uint32_t least = HG_PAGES_MOST_SIZE;

	for (const HgJobSide &side : spec->sides)
		if (side.kind == HG_SOURCE_PAGES && side.pages->page_size < least)
			least = side.pages->page_size;
	return 2 * sizeof(HgPageSpec) + (HG_PAGES_FOUND + room / least) * sizeof(uint32_t);
}

uint64_t
hg_cuda_pages_bytes(const HgJobSpec *spec, uint64_t room)
{
	return room + beside_bytes(spec, room);
}

HgStatus
hg_cuda_pages_open(HgCudaWork *work, const HgJobSpec *spec, uint64_t room, HgCudaPages *pages,
				   HgError *error)
{
	unsigned char *beside;

	memset(pages, 0, sizeof(*pages));
	HG_TRY(hg_cuda_alloc_array(work, beside_bytes(spec, room), &beside, error));
	pages->specs = reinterpret_cast<HgPageSpec *>(beside);
	HG_TRY(hg_cuda_alloc_array(work, room, &pages->pages, error));
	pages->found = reinterpret_cast<uint32_t *>(beside + 2 * sizeof(HgPageSpec));
	pages->starts = pages->found + HG_PAGES_FOUND;
	pages->room = room;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (spec->sides[side].kind == HG_SOURCE_PAGES)
			HG_CUDA_TRY(cudaMemcpyAsync(pages->specs + side, hg_side_pages(spec, (HgSide) side), sizeof(HgPageSpec),
										cudaMemcpyHostToDevice, work->stream),
						error);
	return HG_OK;
}

/* Returns the number of blocks, for a warp for each page of a piece. */
static unsigned
blocks_of(const HgCudaPages *pages)
{
	return hg_blocks_for((uint64_t) pages->count * 32, HG_PAGES_THREADS);
}

HgStatus
hg_cuda_pages_count(HgCudaWork *work, HgCudaPages *pages, const HgJobSpec *spec, HgSide side,
					const void *from, uint32_t count, HgError *error)
{
	const uint32_t *found;
	const void *host;

	pages->side = side;
	pages->count = count;
	/* work that is enqueued before the copy does not delay other copies on the bus */
	HG_CUDA_TRY(cudaMemsetAsync(pages->found, 0, HG_PAGES_FOUND * sizeof(uint32_t), work->stream),
				error);
	HG_CUDA_TRY(cudaMemcpyAsync(pages->pages, from, (uint64_t) count * hg_side_pages(spec, (HgSide) side)->page_size,
								cudaMemcpyHostToDevice, work->stream),
				error);
	HG_TRY(hg_cuda_launch<hg_pages_count_kernel>(work->stream, "hg_pages_count_kernel",
												 blocks_of(pages), HG_PAGES_THREADS, error,
												 pages->specs + side, spec->sides[side].ncolumns,
												 pages->pages, count, pages->starts, pages->found));
	HG_TRY(hg_cuda_read_back(work, pages->found, HG_PAGES_FOUND * sizeof(uint32_t), &host, error));
	found = static_cast<const uint32_t *>(host);
	pages->rows = found[0];
	pages->nulls = found[1] & ~HG_PAGES_BAD;
	pages->null_keys = found[2];
	pages->bad = (found[1] & HG_PAGES_BAD) != 0;
	return HG_OK;
}

HgStatus
hg_cuda_pages_write(HgCudaWork *work, const HgCudaPages *pages, const HgCudaPagesTarget *target,
					uint32_t first_row, HgError *error)
{
	return hg_cuda_launch<hg_pages_write_kernel>(
		work->stream, "hg_pages_write_kernel", blocks_of(pages), HG_PAGES_THREADS, error,
		pages->specs + pages->side, pages->pages, pages->count, pages->starts, first_row, *target);
}

void
hg_cuda_pages_close(HgCudaWork *work, HgCudaPages *pages)
{
	hg_cuda_free(work, pages->specs);
	hg_cuda_free(work, pages->pages);
	memset(pages, 0, sizeof(*pages));
}
