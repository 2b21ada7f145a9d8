/*-------------------------------------------------------------------------
 *
 * hg_cuda_append.cu
 *	  Rows that come to a side of a job of the CUDA engine: as keys, or as pages of a table.
 *
 * Pages are copied a piece at a time, and let go when their rows are out of them.  From then on the
 * side is one whose rows have numbers of their own, one for each (hg_cuda_numbers.h), and nothing
 * else of the job knows that there were pages.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_append.h"

#include "../kernels/hg_cuda_pages.h"
#include "../kernels/hg_cuda_tuning.h"

/* The least room of a column whose rows nobody knows beforehand. */
static constexpr uint64_t FIRST_CAPACITY = UINT64_C(1) << 16;

/*
 * Make room for needed elements of a width in an array, keeping the ones that it has: the first
 * time for those that are expected, then for half as many more at a time, or, where memory is
 * short, for no more than these.
 */
static HgStatus
reserve(HgCudaJob *job, void **array, uint64_t *capacity, uint32_t width, uint64_t had,
		uint64_t needed, uint64_t expected, HgError *error)
{
	uint64_t wanted = *capacity + *capacity / 2;
	HgStatus status;
	void *larger;

	if (needed <= *capacity)
		return HG_OK;
	if (*capacity == 0)
		wanted = expected > 0 && expected <= HG_MAX_ROWS ? expected : FIRST_CAPACITY;
	if (wanted < needed)
		wanted = needed;
	if (wanted > HG_MAX_ROWS)
		wanted = HG_MAX_ROWS;

	status = hg_cuda_alloc(&job->work, wanted * width, &larger, error);
	if (status == HG_DEVICE_OUT_OF_MEMORY && wanted > needed)
	{
		wanted = needed;
		status = hg_cuda_alloc(&job->work, wanted * width, &larger, error);
	}
	HG_TRY(status);
	if (had > 0)
		HG_CUDA_TRY(cudaMemcpyAsync(larger, *array, had * width, cudaMemcpyDeviceToDevice,
									job->work.stream),
					error);
	hg_cuda_free(&job->work, *array);
	*array = larger;
	*capacity = wanted;
	return HG_OK;
}

/* Have room for count keys more of a side. */
static HgStatus
reserve_keys(HgCudaJob *job, HgSide side, uint64_t count, HgError *error)
{
	HgCudaKeyColumn *column = &job->columns[side];

	if (count > HG_MAX_ROWS - column->rows)
		return hg_error_set(error, HG_TOO_MANY_ROWS, nullptr,
							"too many rows in one side of a join");
	return reserve(job, &column->keys, &column->capacity, job->spec.key_width, column->rows,
				   column->rows + count, job->spec.expected_rows[side], error);
}

HgStatus
hg_cuda_append_keys(HgCudaJob *job, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	HgCudaKeyColumn *column = &job->columns[side];
	const unsigned char *from = static_cast<const unsigned char *>(keys);
	const uint32_t width = job->spec.key_width;

	HG_TRY(reserve_keys(job, side, count, error));
	while (count > 0)
	{
		uint64_t piece = count < HG_APPEND_KEYS ? count : HG_APPEND_KEYS;
		unsigned char *to = static_cast<unsigned char *>(column->keys) + column->rows * width;

		HG_CUDA_TRY(
			cudaMemcpyAsync(to, from, piece * width, cudaMemcpyHostToDevice, job->work.stream),
			error);
		HG_TRY(hg_cuda_wait(&job->work, error));
		column->rows += piece;
		job->stats.rows[side] += piece;
		from += piece * width;
		count -= piece;
	}
	return HG_OK;
}

/* Have room for the rows of a piece of pages, with numbers and values: *target is where they go. */
static HgStatus
reserve_rows(HgCudaJob *job, HgSide side, uint32_t rows, HgCudaPagesTarget *target, HgError *error)
{
	HgCudaKeyColumn *column = &job->columns[side];
	HgCudaColumns *values = &job->values[side];
	HgCudaNumbers *numbers = &job->numbers[side];
	const uint64_t expected = job->spec.expected_rows[side];
	const uint64_t needed = column->rows + rows;
	void *given = numbers->given;

	HG_TRY(reserve_keys(job, side, rows, error));
	HG_TRY(reserve(job, &given, &numbers->given_capacity, sizeof(uint32_t), column->rows, needed,
				   expected, error));
	numbers->given = static_cast<uint32_t *>(given);
	if (values->count > 0)
		HG_TRY(hg_cuda_columns_reserve(&job->work, values, needed, expected, error));

	*target = {};
	target->first = column->rows;
	target->keys = column->keys;
	target->numbers = numbers->given;
	target->key_width = job->spec.key_width;
	target->ncolumns = values->count;
	for (uint32_t i = 0; i < values->count; i++)
	{
		target->width[i] = values->width[i];
		hg_cuda_columns_arrays(values, i, &target->values[i], &target->nulls[i]);
	}
	return HG_OK;
}

/* Have the rows of a piece of pages, which were counted. */
static HgStatus
take_rows(HgCudaJob *job, HgSide side, const HgCudaPages *pages, uint64_t first_row, HgError *error)
{
	HgCudaPagesTarget target;

	job->stats.null_keys[side] += pages->null_keys;
	if (pages->rows == 0)
		return HG_OK;
	HG_TRY(reserve_rows(job, side, pages->rows, &target, error));
	HG_TRY(hg_cuda_pages_write(&job->work, pages, &target, (uint32_t) first_row, error));
	hg_cuda_columns_give(&job->values[side], pages->rows, pages->nulls);
	job->columns[side].rows += pages->rows;
	job->stats.rows[side] += pages->rows;
	return HG_OK;
}

/* Have room for a piece of a side's pages, of so many that have come. */
static HgStatus
reserve_piece(HgCudaJob *job, HgSide side, uint64_t count, HgError *error)
{
	const HgPageSpec *spec = job->spec.pages[side];
	const uint64_t room = hg_cuda_pages_piece(spec, count);

	if (job->piece.pages != nullptr && job->piece_side == side && job->piece.room >= room)
		return HG_OK;
	hg_cuda_append_pages_end(job);
	job->piece_side = side;
	return hg_cuda_pages_open(&job->work, spec, job->values[side].count, room, &job->piece, error);
}

HgStatus
hg_cuda_append_pages(HgCudaJob *job, HgSide side, const void *pages, uint64_t count,
					 uint64_t first_page, HgError *error)
{
	const HgPageSpec *spec = job->spec.pages[side];
	const unsigned char *from = static_cast<const unsigned char *>(pages);
	HgCudaPages *piece = &job->piece;

	if (count == 0 || job->bad_page)
		return HG_OK;
	HG_TRY(reserve_piece(job, side, count, error));
	while (count > 0 && !job->bad_page)
	{
		const uint32_t taken = (uint32_t) (count < piece->room ? count : piece->room);

		HG_TRY(hg_cuda_pages_count(&job->work, piece, from, taken, error));
		job->bad_page = piece->bad;
		if (!piece->bad)
			HG_TRY(take_rows(job, side, piece, first_page * spec->rows_per_page, error));
		from += (uint64_t) taken * spec->page_size;
		first_page += taken;
		count -= taken;
	}
	return HG_OK;
}

void
hg_cuda_append_pages_end(HgCudaJob *job)
{
	if (job->piece.spec != nullptr)
		hg_cuda_pages_close(&job->work, &job->piece);
}

uint64_t
hg_cuda_append_pages_bytes(const HgJobSpec *spec)
{
	uint64_t piece = 0;
	uint64_t numbers = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		if (spec->pages[side] == nullptr)
			continue;
		if (piece < hg_cuda_pages_bytes(spec->pages[side]))
			piece = hg_cuda_pages_bytes(spec->pages[side]);
		numbers += spec->expected_rows[side] * sizeof(uint32_t);
	}
	return piece + numbers;
}
