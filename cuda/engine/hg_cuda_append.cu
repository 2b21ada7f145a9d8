/*-------------------------------------------------------------------------
 *
 * hg_cuda_append.cu
 *	  Appends rows to a side of a job of the CUDA engine: as keys, or as pages of a table.
 *
 * Pages are copied a piece at a time (hg_cuda_pieces.h), and dropped once their rows are
 * extracted. From then on each row of the side has a number of its own (hg_cuda_columns.h), and
 * nothing else of the job knows about pages.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_job.h"

#include "../kernels/hg_cuda_pages.h"
#include "../kernels/hg_cuda_tuning.h"

/* Least capacity of a column whose number of rows is unknown. */
static constexpr uint64_t FIRST_CAPACITY = UINT64_C(1) << 16;

/*
 * Grows an array to `needed` elements of a width, and keeps the first `had`. It allocates the
 * expected number at first and half as many more later or, if memory is short, just `needed`.
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

/* Makes room for count more keys of a side. */
static HgStatus
reserve_keys(HgCudaJob *job, HgSide side, uint64_t count, HgError *error)
{
	HgCudaKeyColumn *column = &job->columns[side];

	if (count > HG_MAX_ROWS - column->rows)
		return hg_error_set(error, HG_TOO_MANY_ROWS, nullptr,
							"too many rows in one side of a join");
	return reserve(job, &column->keys, &column->capacity, job->spec.key_width, column->rows,
				   column->rows + count, job->spec.sides[side].expected_rows, error);
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

/* Makes room for the keys, numbers and values of a piece's rows; *target says where they go. */
static HgStatus
reserve_rows(HgCudaJob *job, HgSide side, uint32_t rows, HgCudaPagesTarget *target, HgError *error)
{
	HgCudaKeyColumn *column = &job->columns[side];
	HgCudaColumns *values = &job->values[side];
	HgCudaNumbers *numbers = &job->numbers[side];
	const uint64_t expected = job->spec.sides[side].expected_rows;
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

/* The same. If memory is short, it frees the idle pieces first, and no more pieces are made. */
static HgStatus
make_room(HgCudaJob *job, HgSide side, uint32_t rows, HgCudaPagesTarget *target, HgError *error)
{
	const HgStatus status = reserve_rows(job, side, rows, target, error);

	if (status != HG_DEVICE_OUT_OF_MEMORY)
		return status;
	/* rows may still be written out of idle pieces */
	HG_TRY(hg_cuda_wait(&job->work, error));
	hg_cuda_pieces_yield(job->pieces);
	return reserve_rows(job, side, rows, target, error);
}

/* Extracts the rows of a piece of pages, which were counted. */
static HgStatus
take_rows(HgCudaJob *job, HgSide side, const HgCudaPages *pages, uint64_t first_row, HgError *error)
{
	HgCudaPagesTarget target;

	job->stats.null_keys[side] += pages->null_keys;
	if (pages->rows == 0)
		return HG_OK;
	HG_TRY(make_room(job, side, pages->rows, &target, error));
	HG_TRY(hg_cuda_pages_write(&job->work, pages, &target, (uint32_t) first_row, error));
	hg_cuda_columns_give(&job->values[side], pages->rows, pages->nulls);
	job->columns[side].rows += pages->rows;
	job->stats.rows[side] += pages->rows;
	return HG_OK;
}

HgStatus
hg_cuda_append_open(HgCudaJob *job, uint64_t job_bytes, HgError *error)
{
	uint64_t reserved;

	if (!hg_pages_are_there(&job->spec))
		return HG_OK;
	HG_TRY(hg_cuda_make_struct(job->work.host, sizeof(*job->pieces), &job->pieces, error));
	hg_cuda_pieces_open(job->pieces, job->work.device, &job->spec, job_bytes, &reserved);
	job->work.limit -= reserved;
	return HG_OK;
}

/* Extracts the rows of pages that were copied and counted in some stream. */
static HgStatus
take_pages(HgCudaJob *job, const HgCudaPages *pages, uint64_t first_page, HgError *error)
{
	const HgPageSpec *spec = hg_side_pages(&job->spec, pages->side);

	job->bad_page = job->bad_page || pages->bad;
	if (job->bad_page)
		return HG_OK;
	return take_rows(job, pages->side, pages, first_page * spec->rows_per_page, error);
}

HgStatus
hg_cuda_append_piece(HgCudaJob *job, HgCudaPiece *piece, uint64_t first_page, HgError *error)
{
	HgStatus status = take_pages(job, &piece->pages, first_page, error);

	if (status == HG_OK)
		status = hg_cuda_pieces_follow(piece, job->work.stream, error);
	hg_cuda_pieces_release(job->pieces, piece);
	return status;
}

/* Copies pages, a piece at most, in the job's own stream, and extracts their rows. */
static HgStatus
append_in_turn(HgCudaJob *job, HgSide side, const void *pages, uint32_t count, uint64_t first_page,
			   HgError *error)
{
	const uint64_t room = (uint64_t) count * hg_side_pages(&job->spec, side)->page_size;

	if (job->piece.room < room)
	{
		hg_cuda_pages_close(&job->work, &job->piece);
		HG_TRY(hg_cuda_pages_open(&job->work, &job->spec, room, &job->piece, error));
	}
	HG_TRY(hg_cuda_pages_count(&job->work, &job->piece, &job->spec, side, pages, count, error));
	return take_pages(job, &job->piece, first_page, error);
}

HgStatus
hg_cuda_append_pages(HgCudaJob *job, HgSide side, const void *pages, uint64_t count,
					 uint64_t first_page, HgError *error)
{
	const HgPageSpec *spec = hg_side_pages(&job->spec, side);
	const unsigned char *from = static_cast<const unsigned char *>(pages);

	while (count > 0 && !job->bad_page)
	{
		const uint64_t most = hg_cuda_pages_most(spec);
		const uint32_t taken = (uint32_t) (count < most ? count : most);
		HgCudaPiece *piece;

		HG_TRY(hg_cuda_pieces_bring(job->pieces, job->work.host, side, from, taken, &piece, error));
		if (piece != nullptr)
			HG_TRY(hg_cuda_append_piece(job, piece, first_page, error));
		else
			HG_TRY(append_in_turn(job, side, from, taken, first_page, error));
		from += (uint64_t) taken * spec->page_size;
		first_page += taken;
		count -= taken;
	}
	return HG_OK;
}

void
hg_cuda_append_end(HgCudaJob *job)
{
	uint64_t peak;
	double used_ms;

	if (job->pieces == nullptr)
		return;
	hg_cuda_pieces_use(job->pieces, &used_ms, &peak);
	job->append_peak = job->work.peak + peak;
	hg_cuda_pages_close(&job->work, &job->piece);
	hg_cuda_pieces_end(job->pieces);
	job->work.limit = job->spec.memory_limit;
}

void
hg_cuda_append_close(HgCudaJob *job)
{
	if (job->pieces == nullptr)
		return;
	hg_cuda_pieces_close(job->pieces);
	job->work.host->free(job->work.host->arg, job->pieces, sizeof(*job->pieces));
}

void
hg_cuda_append_stats(HgCudaJob *job, HgJobStats *stats)
{
	uint64_t peak;
	double used_ms;

	if (job->pieces == nullptr)
		return;
	hg_cuda_pieces_use(job->pieces, &used_ms, &peak);
	stats->phase_ms[HG_PHASE_TRANSFER] += used_ms;
	if (!job->built)
		stats->peak_bytes += peak;
	else if (stats->peak_bytes < job->append_peak)
		stats->peak_bytes = job->append_peak;
}

uint64_t
hg_cuda_append_pages_bytes(const HgJobSpec *spec)
{
	uint64_t numbers = 0;

	if (!hg_pages_are_there(spec))
		return 0;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (spec->sides[side].kind == HG_SOURCE_PAGES)
			numbers += spec->sides[side].expected_rows * sizeof(uint32_t);
	return hg_cuda_pages_bytes(spec, HG_PAGES_PIECE_BYTES) + numbers;
}
