/*-------------------------------------------------------------------------
 *
 * hg_match_kept.c
 *	  Lent rows that a device keeps the HashGraphs of.
 *
 * A job has the two graphs by their names (engine/hg_kept.h), and is told which of their rows are
 * lent, unless all are.  No key is sent.  What it counts are pairs of lent rows alone; those of held
 * rows are found here (hg_match_resident.c), which are few.
 *
 * The graphs may be gone when they are asked for, and so may the device.  Then the pairs are counted
 * here, from the graphs that the host has in any case.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_shared.h"
#include "backend/matcher/hg_match_kept.h"
#include "backend/matcher/hg_patience.h"

/* Words of the bits of a part's rows. */
#define HG_PART_WORDS (UINT64CONST(1) << (HG_FLAT_ROW_BITS - 6))

/* Where the CPU intersects two graphs it takes so many ns a row: what a device may take at most. */
#define HG_KEPT_CPU_NS 5.0

bool
hg_match_kept_may(const HgMatcherSpec *spec)
{
	return spec->kept[HG_OUTER] != NULL && spec->kept[HG_INNER] != NULL;
}

/* Tell a job which rows of a side are lent. */
static HgStatus
hg_kept_mask(HgEngine *engine, HgJob *job, HgSide side, const HgFlatMask *mask,
			 const HgKeptLent *kept, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32 part = 0; part < kept->shape.parts && status == HG_OK; part++)
	{
		const uint64 first = part * HG_PART_WORDS;
		const HgFlatPartState state =
			part < mask->nparts ? (HgFlatPartState) mask->states[part] : HG_FLAT_NONE;

		if (state == HG_FLAT_NONE)
			status = engine->mask(job, side, first, HG_PART_WORDS, NULL, error);
		else if (state == HG_FLAT_SOME)
			status = engine->mask(job, side, first,
								  (kept->places[part + 1] - kept->places[part] + 63) / 64,
								  mask->bits[part], error);
	}
	return status;
}

/* Have a job of the engine count the pairs. */
static HgStatus
hg_kept_count(HgMatchTask *task, HgEngine *engine, HgJobStats *stats, uint64 *pairs, HgError *error)
{
	const HgMatcherSpec *spec = &task->spec;
	HgKeptUse uses[2] = {0};
	HgJobSpec asked;
	HgJob *job;
	HgStatus status;

	hg_matcher_init_spec(&asked, sizeof(uint64), NULL, true);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		uses[side] = (HgKeptUse){.name = spec->kept[side]->name,
								 .shape = spec->kept[side]->shape,
								 .masked = spec->lent[side]->mask != NULL};
		asked.kept[side] = &uses[side];
		asked.expected_rows[side] = uses[side].shape.rows;
	}
	status = engine->open(engine, &task->host.host, &asked, &job, error);
	if (status != HG_OK)
		return status;
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		if (uses[side].masked)
			status = hg_kept_mask(engine, job, (HgSide) side, spec->lent[side]->mask,
								  spec->kept[side], error);
	/* both requests are on their way before the first of them is answered */
	if (status == HG_OK)
		status = engine->start(job, HG_AHEAD_COUNT, spec->mode, error);
	if (status == HG_OK)
		status = engine->build(job, error);
	if (status == HG_OK)
		status = engine->count(job, spec->mode, pairs, error);
	engine->stats(job, stats);
	engine->close(job);
	return status;
}

/* What the CPU would take at most, in ms, which a device may take too. */
static double
hg_kept_patience_ms(const HgMatchTask *task)
{
	const double rows = (double) (task->spec.kept[HG_OUTER]->shape.rows +
								  task->spec.kept[HG_INNER]->shape.rows);

	return hg_patience_ms(task->sides, rows * HG_KEPT_CPU_NS / 1e6);
}

HgStatus
hg_match_kept_count(HgMatchTask *task, HgJobStats *stats, bool *counted, uint64 *pairs,
					HgError *error)
{
	const double patience_ms = hg_kept_patience_ms(task);
	HgEngine *engine = NULL;
	HgStatus status;

	*counted = false;
	if (hg_device_state(false, (long) patience_ms, error) == HG_DEVICE_READY)
		engine = hg_device_engine(true);
	if (engine != NULL)
	{
		hg_host_set_patience(&task->host, patience_ms);
		status = hg_kept_count(task, engine, stats, pairs, error);
		if (status == HG_CANCELLED && hg_host_lost_patience(&task->host))
			status = hg_device_complain(error);
		hg_host_set_patience(&task->host, -1);
		if (status == HG_OK)
			strlcpy(task->report.device, hg_device_name(), sizeof(task->report.device));
		*counted = status == HG_OK;
		if (status == HG_OK || status == HG_CANCELLED)
			return status;
		if (status == HG_CONNECTION_LOST)
			hg_device_discard_lost();
		task->missed = status == HG_NOT_KEPT;
	}
	hg_device_log_fallback(error);
	strlcpy(task->report.fallback, error->message, sizeof(task->report.fallback));
	return HG_OK;
}
