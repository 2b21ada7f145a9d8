/*-------------------------------------------------------------------------
 *
 * hg_wrapped_job.h
 *	  State and checks common to jobs of engines around other engines (hg_passes.h, hg_sharded.h).
 *
 * Engines on the host have hg_host_job.h for that, which manages keys and memory as well.  A call
 * of an engine here calls a check, does its work, and returns by way of hg_wrapped_finish.  A check
 * that fails fills *error, unless it is NULL.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WRAPPED_JOB_H
#define HG_WRAPPED_JOB_H

#include "hg_engine.h"

typedef struct HgWrappedState
{
	bool built;
	bool failed; /* only close is allowed */
} HgWrappedState;

/*
 * Ends a call and returns its status.  A failure other than HG_INVALID makes the job fail for
 * good; a call that answers HG_INVALID has changed nothing.
 */
static inline HgStatus
hg_wrapped_finish(HgWrappedState *state, HgStatus status)
{
	if (status != HG_OK && status != HG_INVALID)
		state->failed = true;
	return status;
}

/* Returns HG_OK, or HG_INVALID if the job has failed. */
static inline HgStatus
hg_wrapped_check_usable(const HgWrappedState *state, HgError *error)
{
	if (state->failed)
		return hg_error_set(error, HG_INVALID, NULL, "the job has failed before");
	return HG_OK;
}

/* Returns HG_OK, or HG_INVALID if the job has failed or is not built. */
static inline HgStatus
hg_wrapped_check_built(const HgWrappedState *state, HgError *error)
{
	HgStatus status = hg_wrapped_check_usable(state, error);

	if (status == HG_OK && !state->built)
		return hg_error_set(error, HG_INVALID, NULL, "the job has not been built yet");
	return status;
}

/* Returns HG_OK, or HG_INVALID if the match mode is unknown. */
static inline HgStatus
hg_wrapped_check_mode(HgMatchMode mode, HgError *error)
{
	if (mode != HG_MATCH_ALL && mode != HG_MATCH_FIRST)
		return hg_error_set(error, HG_INVALID, NULL, "unknown match mode: %d", (int) mode);
	return HG_OK;
}

/* Returns HG_OK, or HG_INVALID if the side is unknown. */
static inline HgStatus
hg_wrapped_check_side(HgSide side, HgError *error)
{
	if (side != HG_OUTER && side != HG_INNER)
		return hg_error_set(error, HG_INVALID, NULL, "unknown side: %d", (int) side);
	return HG_OK;
}

/* Returns HG_OK, or HG_INVALID if the job is not built or the match mode is unknown. */
static inline HgStatus
hg_wrapped_check_matching(const HgWrappedState *state, HgMatchMode mode, HgError *error)
{
	HG_TRY(hg_wrapped_check_built(state, error));
	return hg_wrapped_check_mode(mode, error);
}

#endif /* HG_WRAPPED_JOB_H */
