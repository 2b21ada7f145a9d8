/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_computed.cu
 *	  Columns of a side that is a graph replica, which are computed from other columns, in device
 *	  memory.
 *
 * MEMORY: 9 bytes for each ordinal and column.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_replica_computed.h"

#include "../../src/engine/hg_replica.h"
#include "../kernels/hg_cuda_compute.h"

#include <cstring>

/* Blocks of device memory are multiples of this. */
static constexpr uint64_t BLOCK_BYTES = 256;

void
hg_cuda_replica_computed_init(HgCudaReplicaComputed *computed, const HgJobSpec *spec, HgSide side)
{
	memset(computed, 0, sizeof(*computed));
	for (uint32_t i = 0; spec->nprograms[side] > 0 && i < spec->ncolumns[side]; i++)
	{
		const HgReplicaColumnUse *use = &spec->replica_columns[side][i];

		if (use->program == 0)
			continue;
		computed->stride = use->shape.stride;
		computed->ordinals = hg_replica_ordinals(&use->shape);
		computed->columns[computed->count] = i;
		computed->programs[computed->count++] = spec->programs[side][use->program - 1];
	}
}

/* Fills in the columns that a program reads. */
static void
find_operands(const HgProgram *program, const HgCudaColumns *columns, HgCudaComputing *computing)
{
	memset(computing, 0, sizeof(*computing));
	computing->program = *program;
	for (uint32_t i = 0; i < program->nsteps; i++)
	{
		const uint32_t column = program->steps[i].column;

		if (program->steps[i].kind == HG_STEP_COLUMN)
			computing->columns[column] = {hg_cuda_columns_values(columns, column),
										  hg_cuda_columns_nulls(columns, column),
										  columns->width[column]};
	}
}

HgStatus
hg_cuda_replica_computed_run(HgCudaWork *work, HgCudaReplicaComputed *computed,
							 HgCudaColumns *columns, HgError *error)
{
	if (computed->count == 0)
		return HG_OK;
	HG_TRY(hg_cuda_alloc_array(work, 1, &computed->lost, error));
	HG_CUDA_TRY(cudaMemsetAsync(computed->lost, 0, sizeof(*computed->lost), work->stream), error);
	for (uint32_t i = 0; i < computed->count; i++)
	{
		HgCudaComputing computing;
		int64_t *values;
		uint8_t *nulls;

		find_operands(&computed->programs[i], columns, &computing);
		HG_TRY(hg_cuda_alloc_array(work, computed->ordinals, &values, error));
		HG_TRY(hg_cuda_alloc_array(work, computed->ordinals, &nulls, error));
		HG_TRY(hg_cuda_compute(work, &computing, computed->ordinals, values, nulls, computed->lost,
							   error));
		computed->nulls[i] = nulls;
		hg_cuda_columns_set_external(columns, computed->columns[i], values, nulls);
	}
	return HG_OK;
}

/* Reads the flag, waits, and clears it. */
static HgStatus
take_lost(HgCudaWork *work, HgCudaReplicaComputed *computed, bool *lost, HgError *error)
{
	uint32_t answer;
	const void *host;

	HG_TRY(hg_cuda_read_back(work, computed->lost, sizeof(answer), &host, error));
	memcpy(&answer, host, sizeof(answer));
	*lost = answer != 0;
	HG_CUDA_TRY(cudaMemsetAsync(computed->lost, 0, sizeof(*computed->lost), work->stream), error);
	return HG_OK;
}

HgStatus
hg_cuda_replica_computed_check(HgCudaWork *work, HgCudaReplicaComputed *computed,
							   const HgCudaGraph *graph, HgError *error)
{
	bool lost = false;

	if (computed->count == 0)
		return HG_OK;
	HG_TRY(take_lost(work, computed, &lost, error));
	if (lost)
	{
		for (uint32_t i = 0; i < computed->count; i++)
			HG_TRY(hg_cuda_compute_look(work, graph, computed->stride, computed->nulls[i],
										computed->lost, error));
		HG_TRY(take_lost(work, computed, &lost, error));
	}
	hg_cuda_free(work, computed->lost);
	computed->lost = nullptr;
	return lost ? hg_error_set(error, HG_OVERFLOW, nullptr, "a computed number does not fit")
				: HG_OK;
}

static uint64_t
block_bytes(uint64_t bytes)
{
	return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

uint64_t
hg_cuda_replica_computed_bytes(const HgJobSpec *spec, HgSide side)
{
	HgCudaReplicaComputed computed;

	hg_cuda_replica_computed_init(&computed, spec, side);
	if (computed.count == 0)
		return 0;
	return BLOCK_BYTES + computed.count * (block_bytes(computed.ordinals * HG_COMPUTED_WIDTH) +
										   block_bytes(computed.ordinals));
}
