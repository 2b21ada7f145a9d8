/*-------------------------------------------------------------------------
 *
 * hg_cuda_shards.cu
 *	  Exchanges rows between a job of the CUDA engine and other shards of its join.
 *
 * A side that expects rows has the positions of its own rows in the order of the shards that get
 * them. Rows that stay are copied first to the new arrays of the side; others are gathered as they
 * are taken. When all have arrived, the new arrays are the side: each row has an explicit number
 * (hg_cuda_columns.h), as if it came from a page.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <cstring>
#include <unistd.h>

#include "../kernels/hg_cuda_partition.h"
#include "hg_cuda_job.h"

/* ---------------------------------------------------------------------
 * Sends rows between shards of the CUDA engine from device to device, through peer windows
 *
 * A peer window is memory of the receiving job's device that others map for theirs
 * (hg_cuda_shared.h). A sender gathers rows in its own memory, as it does for a caller that takes
 * them, and copies them there in its stream: a copy over NVLink runs at 395 GB/s between two H200,
 * where a kernel that writes to the other device reaches 260. One piece is gathered while the host
 * waits for the copy of the piece before, and polls for a cancel.
 *
 * A sender that is refused or cancelled waits for its copies before it unmaps the window. The
 * owner of the window need not wait for the sender: the memory exists as long as the sender has it
 * mapped.
 * ---------------------------------------------------------------------
 */

static_assert(HG_PEER_WINDOW_ROWS <= HG_READBACK_BYTES,
			  "what stands before the rows can be read back");

/* ------------------------------------------------------------------------
 * The receiving shard
 * ------------------------------------------------------------------------ */

/* Writes the head, and zeroes all trailers. */
static HgStatus
write_head(HgCudaJob *job, const HgPeerWindowHead *head, unsigned char *memory, HgError *error)
{
	HgCudaWork *work = &job->work;

	memset(work->kit.readback, 0, HG_PEER_WINDOW_ROWS);
	memcpy(work->kit.readback, head, sizeof(*head));
	HG_CUDA_TRY(cudaMemcpyAsync(memory, work->kit.readback, HG_PEER_WINDOW_ROWS,
								cudaMemcpyHostToDevice, work->stream),
				error);
	return hg_cuda_wait(work, error);
}

HgStatus
hg_cuda_peer_windows_make(HgCudaJob *job, HgSide side, HgPeerWindow *window, HgError *error)
{
	HgCudaExchanged *it = &job->exchanges[side];
	HgStatus status;
	int descriptor;

	memset(window, 0, sizeof(*window));
	if (job->spec.product.kind != HG_PRODUCT_SHARD || it->stage != HG_EXCHANGE_EXPECTING ||
		it->window.memory != nullptr)
		return hg_error_set(error, HG_INVALID, nullptr, "this is not the time to offer memory");
	hg_peer_window_lay_out(&job->spec, side, &it->exchange, &it->head);
	HG_TRY(hg_peer_window_make_token(it->head.token, error));
	HG_TRY(hg_cuda_shared_make(&job->work, it->head.bytes, &it->window, &descriptor, error));
	status = write_head(job, &it->head, it->window.memory, error);
	if (status != HG_OK)
	{
		close(descriptor);
		hg_cuda_shared_close(&job->work, &it->window);
		return status;
	}
	memcpy(window->token, it->head.token, sizeof(window->token));
	window->bytes = it->head.bytes;
	window->memory = descriptor;
	return HG_OK;
}

/* Takes the rows that one shard has reported in its trailer. */
static HgStatus
put_from(HgCudaJob *job, HgSide side, uint32_t shard, const HgPeerWindowTrailer *trailer,
		 HgError *error)
{
	const HgCudaExchanged *it = &job->exchanges[side];
	HgExchangeRows rows;
	uint64_t count;

	HG_TRY(hg_peer_window_read_trailer(&it->head, shard, trailer, &count, error));
	if (count == 0)
		return HG_OK;
	hg_peer_window_rows_at(&it->head, it->window.memory, it->head.first[shard], &rows);
	rows.count = count;
	for (uint32_t column = 0; column < it->head.ncolumns; column++)
		rows.has_nulls[column] = (trailer->nulls >> column & 1) != 0;
	return hg_cuda_shards_put(job, side, &rows, error);
}

/* Takes the rows of all shards. */
static HgStatus
put_all(HgCudaJob *job, HgSide side, HgError *error)
{
	HgPeerWindowTrailer trailers[HG_MAX_SHARDS];
	const void *read;

	HG_TRY(hg_cuda_read_back(&job->work,
							 job->exchanges[side].window.memory + hg_peer_window_trailer_at(0),
							 sizeof(trailers), &read, error));
	memcpy(trailers, read, sizeof(trailers));
	for (uint32_t shard = 0; shard < job->spec.product.shards; shard++)
		HG_TRY(put_from(job, side, shard, &trailers[shard], error));
	return HG_OK;
}

HgStatus
hg_cuda_peer_windows_take(HgCudaJob *job, HgSide side, HgError *error)
{
	HgCudaExchanged *it = &job->exchanges[side];
	HgStatus status;

	if (it->window.memory == nullptr)
		return HG_OK;
	status = put_all(job, side, error);
	hg_cuda_shared_close(&job->work, &it->window);
	return status;
}

void
hg_cuda_peer_windows_close(HgCudaJob *job)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_cuda_shared_close(&job->work, &job->exchanges[side].window);
}

/* ------------------------------------------------------------------------
 * The sending shard
 * ------------------------------------------------------------------------ */

/*
 * Starts a copy between this job's memory and a window. A refusal at once gives HG_INVALID, so
 * that the rows can go another way; a later failure appears in the next wait.
 */
static HgStatus
copy_to_window(HgCudaJob *job, void *to, const void *from, uint64_t bytes, HgError *error)
{
	cudaError_t code = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, job->work.stream);

	if (code == cudaSuccess)
		return HG_OK;
	cudaGetLastError();
	return hg_error_set(error, HG_INVALID, cudaGetErrorString(code), "the device was not reached");
}

/* Copies gathered rows to their positions in the window. */
static HgStatus
copy_rows(HgCudaJob *job, const HgPeerWindowHead *head, const HgExchangeRows *from,
		  const HgExchangeRows *to, HgError *error)
{
	HG_TRY(copy_to_window(job, to->keys, from->keys, from->count * head->key_width, error));
	HG_TRY(copy_to_window(job, to->numbers, from->numbers, from->count * sizeof(uint32_t), error));
	for (uint32_t column = 0; column < head->ncolumns; column++)
	{
		HG_TRY(copy_to_window(job, to->values[column], from->values[column],
							  from->count * head->column_width[column], error));
		if (from->has_nulls[column])
			HG_TRY(copy_to_window(job, to->nulls[column], from->nulls[column], from->count, error));
	}
	return HG_OK;
}

/* Sends all count rows, and a trailer after them. */
static HgStatus
send_all(HgCudaJob *job, HgSide side, const HgPeerWindowHead *head, uint64_t count,
		 unsigned char *memory, HgError *error)
{
	const uint32_t self = job->exchanges[side].exchange.self;
	HgPeerWindowTrailer *trailer = static_cast<HgPeerWindowTrailer *>(job->work.kit.readback);
	uint64_t nulls = 0;

	for (uint64_t done = 0; done < count;)
	{
		HgExchangeRows from;
		HgExchangeRows to;

		HG_TRY(hg_cuda_shards_gather(job, side, head->self, &from, error));
		hg_peer_window_rows_at(head, memory, head->first[self] + done, &to);
		HG_TRY(copy_rows(job, head, &from, &to, error));
		for (uint32_t column = 0; column < head->ncolumns; column++)
			nulls |= (uint64_t) from.has_nulls[column] << column;
		done += from.count;
		HG_TRY(hg_cuda_pace(&job->work, error));
	}
	hg_peer_window_make_trailer(head, count, nulls, trailer);
	HG_TRY(copy_to_window(job, memory + hg_peer_window_trailer_at(self), trailer, sizeof(*trailer),
						  error));
	return hg_cuda_wait(&job->work, error);
}

/* Reads the head of a window, and checks that it is for these rows. */
static HgStatus
read_head(HgCudaJob *job, HgSide side, uint32_t shard, const HgPeerWindow *window, uint64_t count,
		  const unsigned char *memory, HgPeerWindowHead *head, HgError *error)
{
	HgCudaWork *work = &job->work;

	HG_TRY(copy_to_window(job, work->kit.readback, memory, sizeof(*head), error));
	HG_TRY(hg_cuda_wait(work, error));
	memcpy(head, work->kit.readback, sizeof(*head));
	return hg_peer_window_check(head, window, &job->spec, side, job->exchanges[side].exchange.self,
								shard, count, error);
}

HgStatus
hg_cuda_peer_windows_send(HgCudaJob *job, HgSide side, uint32_t shard, const HgPeerWindow *window,
						  HgError *error)
{
	HgCudaShared shared;
	HgPeerWindowHead head;
	uint64_t count;
	HgStatus status;

	HG_TRY(hg_cuda_shards_left(job, side, shard, &count, error));
	if (job->exchanges[side].taken[shard] > 0)
		return hg_error_set(error, HG_INVALID, nullptr, "rows were taken already");
	if (window->bytes < HG_PEER_WINDOW_ROWS)
		return hg_error_set(error, HG_INVALID, nullptr, "what was offered is too small");
	HG_TRY(hg_cuda_shared_open(&job->work, window->memory, window->bytes, &shared, error));
	status = read_head(job, side, shard, window, count, shared.memory, &head, error);
	if (status == HG_OK)
	{
		status = send_all(job, side, &head, count, shared.memory, error);
		if (status != HG_OK)
			hg_cuda_shards_rewind(job, side, shard);
	}
	hg_cuda_shared_close(&job->work, &shared);
	return status;
}

/* Most rows that are taken at a time. */
static constexpr uint64_t TAKEN_ROWS = UINT64_C(1) << 20;

/* ------------------------------------------------------------------------
 * Checks
 * ------------------------------------------------------------------------ */

/* Checks that the job is a shard that is not built, and that a side is in the given stage. */
static HgStatus
check_stage(const HgCudaJob *job, HgSide side, HgCudaExchangeStage stage, HgError *error)
{
	if (job->spec.product.kind != HG_PRODUCT_SHARD)
		return hg_error_set(error, HG_INVALID, nullptr, "the job is no member of several");
	if (job->built || job->exchanges[side].stage != stage)
		return hg_error_set(error, HG_INVALID, nullptr, "this is not the time to exchange rows so");
	return HG_OK;
}

HgStatus
hg_cuda_shards_check_append(const HgCudaJob *job, HgSide side, HgError *error)
{
	if (job->exchanges[side].stage != HG_EXCHANGE_APPENDING)
		return hg_error_set(error, HG_INVALID, nullptr, "the rows of this side are exchanged");
	return HG_OK;
}

HgStatus
hg_cuda_shards_check_build(const HgCudaJob *job, HgError *error)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (job->spec.product.kind == HG_PRODUCT_SHARD &&
			job->exchanges[side].stage != HG_EXCHANGE_ARRIVED)
			return hg_error_set(error, HG_INVALID, nullptr, "rows are still to be exchanged");
	return HG_OK;
}

/* Returns true if the numbers of all rows are below limit. */
static bool
numbers_stay(const HgCudaNumbers *numbers, uint64_t rows, uint64_t limit)
{
	if (numbers->count == 0)
		return rows <= limit;
	for (uint64_t i = 0; i < numbers->count; i++)
	{
		const uint64_t end = i + 1 < numbers->count ? numbers->runs[i + 1].position : rows;

		if (numbers->runs[i].number + (end - numbers->runs[i].position) > limit)
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------
 * Before rows move
 * ------------------------------------------------------------------------ */

HgStatus
hg_cuda_shards_tally(HgCudaJob *job, HgSide side, uint64_t *counts, HgError *error)
{
	const HgCudaKeyColumn *column = &job->columns[side];

	HG_TRY(check_stage(job, side, HG_EXCHANGE_APPENDING, error));
	return hg_cuda_parts_tally(&job->work, job->spec.key_width, column->keys, column->rows, counts,
							   error);
}

/* Computes where the rows of each shard begin, in the order of shards. */
static HgStatus
find_starts(HgCudaJob *job, HgSide side, const HgExchange *exchange, HgError *error)
{
	uint64_t counts[HG_EXCHANGE_PARTS];
	uint64_t *starts = job->exchanges[side].starts;

	HG_TRY(hg_cuda_shards_tally(job, side, counts, error));
	starts[0] = 0;
	for (uint32_t shard = 0; shard < exchange->shards; shard++)
		starts[shard + 1] = starts[shard] + hg_exchange_rows_of(counts, exchange->ends, shard);
	if (starts[exchange->self + 1] - starts[exchange->self] != exchange->rows[exchange->self])
		return hg_error_set(error, HG_INVALID, nullptr, "not as many rows stay as were said to");
	return HG_OK;
}

/* Gathers count rows, in order from `first` on, into device arrays: keys, numbers, values. */
static HgStatus
gather_rows(HgCudaJob *job, HgSide side, uint64_t first, uint64_t count, void *keys,
			uint32_t *numbers, HgCudaColumns *values, HgError *error)
{
	const uint32_t *order = job->exchanges[side].order + first;
	HgCudaColumns *from = &job->values[side];
	uint32_t nulls = 0;

	HG_TRY(hg_cuda_parts_gather(&job->work, job->spec.key_width, job->columns[side].keys, order,
								count, keys, error));
	HG_CUDA_TRY(cudaMemcpyAsync(numbers, order, count * sizeof(*numbers), cudaMemcpyDeviceToDevice,
								job->work.stream),
				error);
	HG_TRY(hg_cuda_numbers_translate(&job->work, &job->numbers[side], numbers, count, error));
	for (uint32_t column = 0; column < from->count && count > 0; column++)
	{
		void *to_values;
		uint8_t *to_nulls;

		hg_cuda_columns_arrays(values, column, &to_values, &to_nulls);
		HG_TRY(hg_cuda_parts_gather(&job->work, from->width[column],
									hg_cuda_columns_values(from, column), order, count, to_values,
									error));
		if (!from->has_nulls[column])
			continue;
		nulls |= 1u << column;
		HG_TRY(hg_cuda_parts_gather(&job->work, 1, hg_cuda_columns_nulls(from, column), order,
									count, to_nulls, error));
	}
	hg_cuda_columns_give(values, count, nulls);
	return HG_OK;
}

/* Initializes the columns of a side, without memory. */
static void
empty_columns(const HgCudaJob *job, HgSide side, HgCudaColumns *columns)
{
	hg_cuda_columns_init(columns, &job->spec, side);
}

HgStatus
hg_cuda_shards_expect(HgCudaJob *job, HgSide side, const HgExchange *exchange, HgError *error)
{
	HgCudaExchanged *it = &job->exchanges[side];
	const HgCudaKeyColumn *column = &job->columns[side];
	const uint64_t rows = hg_exchange_rows(exchange);
	uint8_t owners[HG_EXCHANGE_PARTS];

	HG_TRY(check_stage(job, side, HG_EXCHANGE_APPENDING, error));
	HG_TRY(hg_exchange_check(exchange, job->spec.product.shards, error));
	HG_TRY(hg_cuda_columns_check(&job->values[side], column->rows, error));
	if (!numbers_stay(&job->numbers[side], column->rows, exchange->numbers))
		return hg_error_set(error, HG_INVALID, nullptr, "a row has a number beyond all others");
	HG_TRY(find_starts(job, side, exchange, error));
	it->exchange = *exchange;
	hg_exchange_owners(exchange, owners);
	HG_TRY(hg_cuda_alloc(&job->work, rows * job->spec.key_width, &it->keys, error));
	HG_TRY(hg_cuda_alloc_array(&job->work, rows, &it->numbers, error));
	empty_columns(job, side, &it->values);
	if (it->values.count > 0)
		HG_TRY(hg_cuda_columns_reserve(&job->work, &it->values, rows, rows, error));
	HG_TRY(hg_cuda_alloc_array(&job->work, HG_EXCHANGE_PARTS, &it->owners, error));
	HG_CUDA_TRY(cudaMemcpyAsync(it->owners, owners, sizeof(owners), cudaMemcpyHostToDevice,
								job->work.stream),
				error);
	HG_TRY(hg_cuda_alloc_array(&job->work, column->rows, &it->order, error));
	HG_TRY(hg_cuda_parts_order(&job->work, job->spec.key_width, column->keys, column->rows,
							   it->owners, exchange->shards, it->starts, it->order, error));
	it->rows = exchange->rows[exchange->self];
	HG_TRY(gather_rows(job, side, it->starts[exchange->self], it->rows, it->keys, it->numbers,
					   &it->values, error));
	HG_TRY(hg_cuda_wait(&job->work, error));
	it->stage = HG_EXCHANGE_EXPECTING;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Rows on their way
 * ------------------------------------------------------------------------ */

/* Makes room for outgoing rows in the device buffers; their contents are lost. */
static HgStatus
reserve_taken(HgCudaJob *job, HgSide side, uint64_t rows, HgError *error)
{
	HgCudaExchanged *it = &job->exchanges[side];

	if (rows <= it->taken_room)
		return HG_OK;
	hg_cuda_free(&job->work, it->taken_keys);
	hg_cuda_free(&job->work, it->taken_numbers);
	hg_cuda_free(&job->work, it->taken_values.block);
	it->taken_keys = nullptr;
	it->taken_numbers = nullptr;
	it->taken_room = 0;
	empty_columns(job, side, &it->taken_values);
	HG_TRY(hg_cuda_alloc(&job->work, rows * job->spec.key_width, &it->taken_keys, error));
	HG_TRY(hg_cuda_alloc_array(&job->work, rows, &it->taken_numbers, error));
	if (it->taken_values.count > 0)
		HG_TRY(hg_cuda_columns_reserve(&job->work, &it->taken_values, rows, rows, error));
	it->taken_room = rows;
	return HG_OK;
}

/* Starts a copy of an array to the caller's. */
static HgStatus
copy_out(HgCudaJob *job, void *to, const void *from, uint64_t bytes, HgError *error)
{
	HG_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, job->work.stream), error);
	return HG_OK;
}

/* Starts the copies of gathered rows to the caller's arrays, which the caller must wait for. */
static HgStatus
copy_taken(HgCudaJob *job, HgSide side, uint64_t count, HgExchangeRows *rows, HgError *error)
{
	const HgCudaExchanged *it = &job->exchanges[side];

	HG_TRY(copy_out(job, rows->keys, it->taken_keys, count * job->spec.key_width, error));
	HG_TRY(copy_out(job, rows->numbers, it->taken_numbers, count * sizeof(uint32_t), error));
	for (uint32_t column = 0; column < it->taken_values.count; column++)
	{
		void *values;
		uint8_t *nulls;

		hg_cuda_columns_arrays(&it->taken_values, column, &values, &nulls);
		HG_TRY(copy_out(job, rows->values[column], values, count * it->taken_values.width[column],
						error));
		rows->has_nulls[column] = job->values[side].has_nulls[column];
		if (rows->has_nulls[column])
			HG_TRY(copy_out(job, rows->nulls[column], nulls, count, error));
	}
	return HG_OK;
}

HgStatus
hg_cuda_shards_left(const HgCudaJob *job, HgSide side, uint32_t shard, uint64_t *rows,
					HgError *error)
{
	const HgCudaExchanged *it = &job->exchanges[side];

	*rows = 0;
	HG_TRY(check_stage(job, side, HG_EXCHANGE_EXPECTING, error));
	if (shard >= job->spec.product.shards || shard == it->exchange.self)
		return hg_error_set(error, HG_INVALID, nullptr, "there is no such other member");
	*rows = it->starts[shard + 1] - it->starts[shard] - it->taken[shard];
	return HG_OK;
}

/* Gathers the next rows for another shard; *count is their number, `most` at most. */
static HgStatus
gather_next(HgCudaJob *job, HgSide side, uint32_t shard, uint64_t most, uint64_t *count,
			HgError *error)
{
	HgCudaExchanged *it = &job->exchanges[side];

	HG_TRY(hg_cuda_shards_left(job, side, shard, count, error));
	*count = *count < most ? *count : most;
	*count = *count < TAKEN_ROWS ? *count : TAKEN_ROWS;
	if (*count == 0)
		return HG_OK;
	HG_TRY(reserve_taken(job, side, *count, error));
	return gather_rows(job, side, it->starts[shard] + it->taken[shard], *count, it->taken_keys,
					   it->taken_numbers, &it->taken_values, error);
}

HgStatus
hg_cuda_shards_take(HgCudaJob *job, HgSide side, uint32_t shard, HgExchangeRows *rows,
					HgError *error)
{
	HgStatus status;
	HgStatus finished;
	uint64_t count;

	rows->count = 0;
	HG_TRY(hg_cuda_shards_left(job, side, shard, &count, error));
	if (rows->capacity == 0)
		return hg_error_set(error, HG_INVALID, nullptr, "there is no room for a row");
	HG_TRY(gather_next(job, side, shard, rows->capacity, &count, error));
	if (count == 0)
		return HG_OK;
	status = copy_taken(job, side, count, rows, error);
	/* copies to the caller's memory are waited for, even after a failure */
	finished = hg_cuda_finish(&job->work, status == HG_OK ? error : nullptr);
	HG_TRY(status);
	HG_TRY(finished);
	job->exchanges[side].taken[shard] += count;
	rows->count = count;
	return HG_OK;
}

HgStatus
hg_cuda_shards_gather(HgCudaJob *job, HgSide side, uint32_t shard, HgExchangeRows *rows,
					  HgError *error)
{
	HgCudaExchanged *it = &job->exchanges[side];
	uint64_t count;

	memset(rows, 0, sizeof(*rows));
	HG_TRY(gather_next(job, side, shard, TAKEN_ROWS, &count, error));
	rows->keys = it->taken_keys;
	rows->numbers = it->taken_numbers;
	for (uint32_t column = 0; column < job->values[side].count && count > 0; column++)
	{
		hg_cuda_columns_arrays(&it->taken_values, column, &rows->values[column],
							   &rows->nulls[column]);
		rows->has_nulls[column] = job->values[side].has_nulls[column];
	}
	rows->count = count;
	it->taken[shard] += count;
	return HG_OK;
}

void
hg_cuda_shards_rewind(HgCudaJob *job, HgSide side, uint32_t shard)
{
	job->exchanges[side].taken[shard] = 0;
}

/* Copies rows, from host or device memory, behind those that have arrived. */
static HgStatus
copy_in(HgCudaJob *job, HgSide side, const HgExchangeRows *rows, HgError *error)
{
	HgCudaExchanged *it = &job->exchanges[side];
	const uint32_t width = job->spec.key_width;
	cudaStream_t stream = job->work.stream;

	HG_CUDA_TRY(cudaMemcpyAsync(static_cast<char *>(it->keys) + it->rows * width, rows->keys,
								rows->count * width, cudaMemcpyDefault, stream),
				error);
	HG_CUDA_TRY(cudaMemcpyAsync(it->numbers + it->rows, rows->numbers,
								rows->count * sizeof(uint32_t), cudaMemcpyDefault, stream),
				error);
	for (uint32_t column = 0; column < it->values.count; column++)
	{
		const uint32_t bytes = it->values.width[column];
		void *values;
		uint8_t *nulls;

		hg_cuda_columns_arrays(&it->values, column, &values, &nulls);
		HG_CUDA_TRY(cudaMemcpyAsync(static_cast<char *>(values) + it->rows * bytes,
									rows->values[column], rows->count * bytes, cudaMemcpyDefault,
									stream),
					error);
		if (rows->has_nulls[column])
			HG_CUDA_TRY(cudaMemcpyAsync(nulls + it->rows, rows->nulls[column], rows->count,
										cudaMemcpyDefault, stream),
						error);
	}
	return HG_OK;
}

HgStatus
hg_cuda_shards_put(HgCudaJob *job, HgSide side, const HgExchangeRows *rows, HgError *error)
{
	HgCudaExchanged *it = &job->exchanges[side];
	uint32_t nulls = 0;
	bool right;

	HG_TRY(check_stage(job, side, HG_EXCHANGE_EXPECTING, error));
	if (rows->count > hg_exchange_rows(&it->exchange) - it->rows)
		return hg_error_set(error, HG_INVALID, nullptr, "more rows come than were expected");
	if (rows->count == 0)
		return HG_OK;
	/* the copy is checked: other processes may write to the original */
	HG_TRY(copy_in(job, side, rows, error));
	HG_TRY(hg_cuda_parts_check(&job->work, job->spec.key_width,
							   static_cast<char *>(it->keys) + it->rows * job->spec.key_width,
							   it->numbers + it->rows, rows->count, it->owners, it->exchange.self,
							   it->exchange.numbers, &right, error));
	if (!right)
		return hg_error_set(error, HG_INVALID, nullptr,
							"a row is another member's, or has a number beyond all others");
	for (uint32_t column = 0; column < it->values.count; column++)
		nulls |= rows->has_nulls[column] ? 1u << column : 0;
	hg_cuda_columns_give(&it->values, rows->count, nulls);
	it->rows += rows->count;
	return HG_OK;
}

/* Frees what a side had before, and the buffers of the exchange. */
static void
free_before(HgCudaJob *job, HgSide side)
{
	HgCudaExchanged *it = &job->exchanges[side];
	HgCudaNumbers *numbers = &job->numbers[side];

	for (void *block :
		 {job->columns[side].keys, static_cast<void *>(job->values[side].block),
		  static_cast<void *>(numbers->device_runs), static_cast<void *>(it->owners),
		  static_cast<void *>(it->order), it->taken_keys, static_cast<void *>(it->taken_numbers),
		  static_cast<void *>(it->taken_values.block)})
		hg_cuda_free(&job->work, block);
	hg_cuda_numbers_close(numbers, job->work.host);
	memset(numbers, 0, sizeof(*numbers));
}

HgStatus
hg_cuda_shards_arrived(HgCudaJob *job, HgSide side, HgError *error)
{
	HgCudaExchanged *it = &job->exchanges[side];

	HG_TRY(check_stage(job, side, HG_EXCHANGE_EXPECTING, error));
	if (it->rows < hg_exchange_rows(&it->exchange))
		return hg_error_set(error, HG_INVALID, nullptr, "fewer rows have come than were expected");
	free_before(job, side);
	job->columns[side].keys = it->keys;
	job->columns[side].rows = job->columns[side].capacity = it->rows;
	job->values[side] = it->values;
	job->numbers[side].given = it->numbers;
	job->numbers[side].given_capacity = it->rows;
	job->stats.rows[side] = it->rows;
	memset(it, 0, sizeof(*it));
	it->stage = HG_EXCHANGE_ARRIVED;
	return HG_OK;
}

/* Returns the bytes of a row of a side: its key, and its values with their null flags. */
static uint64_t
row_bytes(const HgJobSpec *spec, int side)
{
	uint64_t bytes = spec->key_width;

	for (uint32_t column = 0; column < spec->sides[side].ncolumns; column++)
		bytes += spec->sides[side].column_width[column] + 1;
	return bytes;
}

uint64_t
hg_cuda_shards_bytes(const HgJobSpec *spec, uint64_t joined)
{
	const bool columns = spec->sides[HG_OUTER].ncolumns + spec->sides[HG_INNER].ncolumns > 0;
	const uint64_t numbers =
		(spec->sides[HG_OUTER].expected_rows + spec->sides[HG_INNER].expected_rows) *
		sizeof(uint32_t);
	uint64_t exchanged = numbers;
	uint64_t most = 0;

	if (spec->product.kind != HG_PRODUCT_SHARD)
		return joined;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const uint64_t bytes = spec->sides[side].expected_rows * row_bytes(spec, side);
		const uint64_t taken = spec->sides[side].expected_rows < TAKEN_ROWS
								   ? spec->sides[side].expected_rows
								   : TAKEN_ROWS;
		/* for one side at a time: its future rows, its order, and outgoing rows */
		const uint64_t more = bytes + spec->sides[side].expected_rows * sizeof(uint32_t) +
							  taken * (row_bytes(spec, side) + sizeof(uint32_t));

		exchanged += bytes;
		most = more > most ? more : most;
	}
	exchanged += most;
	/* if rows are read by position, their numbers stay beside them */
	if (columns || hg_cuda_layout_choose(spec) != HG_LAYOUT_BINS)
		joined += numbers;
	return exchanged > joined ? exchanged : joined;
}
