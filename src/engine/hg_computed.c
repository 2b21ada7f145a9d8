/*-------------------------------------------------------------------------
 *
 * hg_computed.c
 *	  Checks of programs that compute columns of graph replicas, common to all engines.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_computed.h"

#include "hg_replica.h"

/* Checks one step by itself; it may read columns with an index below column. */
static HgStatus
check_step(const HgStep *step, uint32_t column, HgError *error)
{
	if (step->kind >= HG_STEP_KINDS)
		return hg_error_set(error, HG_INVALID, NULL, "unknown kind of step: %u",
							(unsigned) step->kind);
	if (step->bits != 16 && step->bits != 32 && step->bits != 64)
		return hg_error_set(error, HG_INVALID, NULL, "numbers can not be of %u bits",
							(unsigned) step->bits);
	if (step->kind == HG_STEP_MODULO && step->constant == 0)
		return hg_error_set(error, HG_INVALID, NULL, "a number can not be divided by 0");
	if (step->kind == HG_STEP_COLUMN && (step->column >= column || step->is_signed > 1))
		return hg_error_set(error, HG_INVALID, NULL,
							"a column is computed of none that comes before it");
	return HG_OK;
}

HgStatus
hg_steps_check(const HgStep *steps, uint32_t nsteps, uint32_t column, HgError *error)
{
	uint32_t numbers = 0;

	for (uint32_t i = 0; i < nsteps; i++)
	{
		const HgStep *step = &steps[i];

		HG_TRY(check_step(step, column, error));
		if (hg_step_takes(step) > numbers)
			return hg_error_set(error, HG_INVALID, NULL, "a step takes numbers that no one left");
		numbers += 1 - hg_step_takes(step);
		if (numbers > HG_MAX_STEP_NUMBERS)
			return hg_error_set(error, HG_INVALID, NULL, "steps leave too many numbers");
	}
	return numbers == 1 ? HG_OK
						: hg_error_set(error, HG_INVALID, NULL, "a program is to leave one number");
}

HgStatus
hg_program_check(const HgProgram *program, uint32_t column, HgError *error)
{
	if (program->nsteps > HG_MAX_STEPS)
		return hg_error_set(error, HG_INVALID, NULL, "too many steps: %u", program->nsteps);
	return hg_steps_check(program->steps, program->nsteps, column, error);
}

uint32_t
hg_computed_columns(const HgJobSpec *spec, HgSide side)
{
	const HgReplicaSource *replica = hg_side_replica(spec, side);
	uint32_t computed = 0;

	for (uint32_t i = 0; replica->nprograms > 0 && i < spec->sides[side].ncolumns; i++)
		computed += replica->columns[i].program > 0;
	return computed;
}
