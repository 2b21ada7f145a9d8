/*-------------------------------------------------------------------------
 *
 * hg_host_computed.c
 *	  Computed columns of a side that is a graph replica, in host memory, by the plainest means.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_computed.h"

HgStatus
hg_host_computed_open(HgHostComputed *computed, const HgJobSpec *spec, HgSide side,
					  const HgHost *host, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32_t i = 0; i < spec->sides[side].ncolumns && status == HG_OK; i++)
	{
		const HgReplicaColumnUse *use = &spec->sides[side].replica.columns[i];

		if (use->program == 0)
			continue;
		computed->has[i] = true;
		computed->programs[i] = spec->sides[side].replica.programs[use->program - 1];
		status = hg_host_column_open(&computed->columns[i], &use->shape, host, error);
	}
	return status;
}

/* A number that a step has left. */
typedef struct Number
{
	int64_t value;
	bool null;
} Number;

/* The value of a row in a column, as a step says. */
static __int128
take_value(const HgHostReduce *reduce, HgSide side, const HgStep *step, uint32_t row, bool *null)
{
	const uint32_t above = 64 - 8 * reduce->job.sides[side].column_width[step->column];
	uint64_t bits;

	*null = hg_host_reduce_value(reduce, side, step->column, row, &bits);
	return step->is_signed ? (int64_t) (bits << above) >> above : (__int128) bits;
}

/* Do a step, of the numbers that are left, and of which *count become fewer; false: it overflows.
 */
static bool
do_step(const HgHostReduce *reduce, HgSide side, const HgStep *step, uint32_t row, Number *numbers,
		uint32_t *count)
{
	const Number *left = numbers + *count - hg_step_takes(step);
	const __int128 most = ((__int128) 1 << (step->bits - 1)) - 1;
	__int128 value = 0;
	bool null = false;

	if (step->kind == HG_STEP_COLUMN)
		value = take_value(reduce, side, step, row, &null);
	else if (step->kind == HG_STEP_CONSTANT)
		value = step->constant;
	else
	{
		null = left[0].null || (step->kind >= HG_STEP_ADD && left[1].null);
		value = left[0].value;
		if (step->kind == HG_STEP_NEGATE)
			value = -value;
		else if (step->kind == HG_STEP_MODULO)
			value %= step->constant;
		else if (step->kind == HG_STEP_ADD)
			value += left[1].value;
		else if (step->kind == HG_STEP_SUBTRACT)
			value -= left[1].value;
		else if (step->kind == HG_STEP_MULTIPLY)
			value *= left[1].value;
	}
	*count -= hg_step_takes(step);
	if (!null && (value > most || value < -most - 1))
		return false;
	numbers[(*count)++] = (Number){null ? 0 : (int64_t) value, null};
	return true;
}

/* Compute the value of a row. */
static HgStatus
compute(HgHostComputed *computed, const HgHostReduce *reduce, HgSide side, uint32_t column,
		uint32_t row, const HgHost *host, HgError *error)
{
	const HgProgram *program = &computed->programs[column];
	HgHostColumn *values = &computed->columns[column];
	const uint8_t one = 1;
	Number numbers[HG_MAX_STEP_NUMBERS];
	uint32_t count = 0;

	for (uint32_t i = 0; i < program->nsteps; i++)
		if (!do_step(reduce, side, &program->steps[i], row, numbers, &count))
			return hg_error_set(error, HG_OVERFLOW, NULL, "a computed number does not fit");
	return hg_host_column_put(values, host, &numbers[0].value, numbers[0].null ? &one : NULL, 1,
							  hg_replica_ordinal(values->shape.stride, row), error);
}

HgStatus
hg_host_computed_run(HgHostComputed *computed, HgSide side, const HgFlatGraph *graph,
					 const HgHostMask *mask, HgHostReduce *reduce, const HgHost *host,
					 HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32_t column = 0; column < HG_MAX_COLUMNS; column++)
	{
		if (!computed->has[column])
			continue;
		for (uint32_t bin = 0; bin < UINT32_C(1) << graph->shape.bins_log2 && status == HG_OK;
			 bin++)
		{
			const void *keys;
			const uint32_t *rows;
			const uint64_t count = hg_flat_scan(graph, bin, &keys, &rows);

			for (uint64_t i = 0; i < count && status == HG_OK; i++)
				if (hg_host_mask_has(mask, rows[i]))
					status = compute(computed, reduce, side, column, rows[i], host, error);
			if (status == HG_OK)
				status = hg_host_check_cancel(host, error);
		}
		if (status != HG_OK)
			return status;
		hg_host_reduce_set_external(reduce, side, column, &computed->columns[column], NULL,
									computed->columns[column].shape.stride);
	}
	return HG_OK;
}

uint64_t
hg_host_computed_bytes(const HgJobSpec *spec, HgSide side)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0;
		 hg_side_replica(spec, side)->nprograms > 0 && i < spec->sides[side].ncolumns; i++)
		if (spec->sides[side].replica.columns[i].program > 0)
			bytes += hg_host_column_bytes(&spec->sides[side].replica.columns[i].shape);
	return bytes;
}

void
hg_host_computed_free(HgHostComputed *computed, const HgHost *host)
{
	for (uint32_t i = 0; i < HG_MAX_COLUMNS; i++)
		hg_host_column_free(&computed->columns[i], host);
}
