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
#include "../../src/engine/hg_pages_parse.h"
#include "../device/hg_cuda_launch.h"
#include "hg_cuda_pages.h"
#include "hg_cuda_tuning.h"

/*
 * The kernels that parse pages.
 *
 * A warp parses a page; its lanes take the page's line pointers in turn.
 */

/* 64-bit words of a spec. */
static_assert(sizeof(HgPageSpec) % sizeof(uint64_t) == 0, "a spec is made of words");
constexpr unsigned HG_PAGE_SPEC_WORDS = sizeof(HgPageSpec) / sizeof(uint64_t);

/* Copies the spec to shared memory.  All threads of the block call it. */
__device__ __forceinline__ void
hg_pages_share_spec(const HgPageSpec *spec, HgPageSpec *shared)
{
	const uint64_t *from = reinterpret_cast<const uint64_t *>(spec);
	uint64_t *to = reinterpret_cast<uint64_t *>(shared);

	for (unsigned i = threadIdx.x; i < HG_PAGE_SPEC_WORDS; i += HG_PAGES_THREADS)
		to[i] = from[i];
	__syncthreads();
}

/* Return the number of this warp's page, and the thread's lane. */
__device__ __forceinline__ uint32_t
hg_pages_page()
{
	return (blockIdx.x * HG_PAGES_THREADS + threadIdx.x) / 32;
}

__device__ __forceinline__ uint32_t
hg_pages_lane()
{
	return threadIdx.x % 32;
}

/* Replaces *sum and *other by their sums over the lanes of the warp, and *bits by the OR. */
__device__ __forceinline__ void
hg_pages_gather(uint32_t *sum, uint32_t *other, uint32_t *bits)
{
	for (int distance = 16; distance > 0; distance /= 2)
	{
		*sum += __shfl_xor_sync(0xFFFFFFFFu, *sum, distance);
		*other += __shfl_xor_sync(0xFFFFFFFFu, *other, distance);
		*bits |= __shfl_xor_sync(0xFFFFFFFFu, *bits, distance);
	}
}

/*
 * Counts the rows of pages.  starts[page] becomes the position of the page's first row.  found[0]
 * becomes the number of rows, and found[2] of the rows that are wanted but for their NULL key.
 * found[1] gets the bits of columns that have a NULL, and HG_PAGES_BAD if a page is invalid.  All
 * of found is 0 before.
 */
static __global__ void
__launch_bounds__(HG_PAGES_THREADS)
	hg_pages_count_kernel(const HgPageSpec *spec, uint32_t ncolumns, const unsigned char *pages,
						  uint32_t count, uint32_t *starts, uint32_t *found)
{
	__shared__ HgPageSpec shared;
	const uint32_t page = hg_pages_page();
	const unsigned char *from = pages + (uint64_t) page * spec->page_size;
	uint32_t rows = 0;
	uint32_t null_keys = 0;
	uint32_t bits = 0;
	uint32_t lines;

	hg_pages_share_spec(spec, &shared);
	if (page >= count)
		return;
	if (!hg_page_open(&shared, from, &lines))
	{
		bits = HG_PAGES_BAD;
		lines = 0;
	}
	for (uint32_t line = hg_pages_lane(); line < lines; line += 32)
	{
		HgPageValues values;
		const HgPageRow row = hg_page_take(&shared, ncolumns, from, line, &values);

		if (row == HG_PAGE_ROW_SELECTED)
		{
			rows++;
			bits |= values.nulls;
		}
		else if (row == HG_PAGE_ROW_NO_KEY)
			null_keys++;
		else if (row == HG_PAGE_ROW_BAD)
			bits |= HG_PAGES_BAD;
	}
	hg_pages_gather(&rows, &null_keys, &bits);
	if (hg_pages_lane() != 0)
		return;
	starts[page] = atomicAdd(&found[0], rows);
	if (null_keys > 0)
		atomicAdd(&found[2], null_keys);
	/* most pages have no bit that is not set already */
	if ((bits & ~*const_cast<volatile uint32_t *>(&found[1])) != 0)
		atomicOr(&found[1], bits);
}

/* Writes one row to a position of the target. */
__device__ __forceinline__ void
hg_pages_put(const HgCudaPagesTarget *target, uint64_t position, uint32_t number,
			 const HgPageValues *values)
{
	if (target->key_width == 4)
		static_cast<int32_t *>(target->keys)[position] = (int32_t) values->key;
	else
		static_cast<int64_t *>(target->keys)[position] = values->key;
	target->numbers[position] = number;
#pragma unroll
	for (uint32_t i = 0; i < HG_MAX_COLUMNS; i++)
	{
		const bool null = (values->nulls >> i & 1) != 0;
		const uint64_t value = null ? 0 : values->columns[i];

		if (i >= target->ncolumns)
			break;
		target->nulls[i][position] = null;
		switch (target->width[i])
		{
			case 1:
				static_cast<uint8_t *>(target->values[i])[position] = (uint8_t) value;
				break;
			case 2:
				static_cast<uint16_t *>(target->values[i])[position] = (uint16_t) value;
				break;
			case 4:
				static_cast<uint32_t *>(target->values[i])[position] = (uint32_t) value;
				break;
			default:
				static_cast<uint64_t *>(target->values[i])[position] = value;
				break;
		}
	}
}

/*
 * Writes the rows of valid pages, those of a page from position target.first + starts[page] on.
 * The line pointers of the first page are numbered from first_row on.
 */
static __global__ void
__launch_bounds__(HG_PAGES_THREADS)
	hg_pages_write_kernel(const HgPageSpec *spec, const unsigned char *pages, uint32_t count,
						  const uint32_t *starts, uint32_t first_row, HgCudaPagesTarget target)
{
	__shared__ HgPageSpec shared;
	const uint32_t page = hg_pages_page();
	const unsigned char *from = pages + (uint64_t) page * spec->page_size;
	const uint32_t before = (1u << hg_pages_lane()) - 1;
	uint64_t position;
	uint32_t lines;

	hg_pages_share_spec(spec, &shared);
	if (page >= count)
		return;
	first_row += page * shared.rows_per_page;
	position = target.first + starts[page];
	hg_page_open(&shared, from, &lines);
	for (uint32_t at = 0; at < lines; at += 32)
	{
		const uint32_t line = at + hg_pages_lane();
		HgPageValues values;
		const bool wanted = line < lines && hg_page_take(&shared, target.ncolumns, from, line,
														 &values) == HG_PAGE_ROW_SELECTED;
		const uint32_t all = __ballot_sync(0xFFFFFFFFu, wanted);

		if (wanted)
			hg_pages_put(&target, position + __popc(all & before), first_row + line, &values);
		position += __popc(all);
	}
}

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
			HG_CUDA_TRY(cudaMemcpyAsync(pages->specs + side, spec->sides[side].pages,
										sizeof(HgPageSpec), cudaMemcpyHostToDevice, work->stream),
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
	HG_CUDA_TRY(cudaMemcpyAsync(pages->pages, from,
								(uint64_t) count * hg_side_pages(spec, side)->page_size,
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
