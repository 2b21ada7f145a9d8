/*-------------------------------------------------------------------------
 *
 * hg_matcher_spec.c
 *	  What is asked of a job, and what it is expected to take: before there is a matcher.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/hg_device.h"
#include "backend/hg_matcher.h"
#include "hg_guc.h"

/*
 * What the CPU takes for each value that a match is aggregated by: to fetch it, and to make it part
 * of a group.  Measured in one process of a busy machine, 3 million rows a side: 10 to 35 ns, with
 * the writing of pairs.
 */
#define HG_CPU_VALUE_NS 10.0

void
hg_matcher_init_spec(HgJobSpec *spec, uint32 key_width, const HgReduction *reduction,
					 bool on_device)
{
	memset(spec, 0, sizeof(*spec));
	spec->key_width = key_width;
	spec->build = (HgBuildAlgorithm) hg_build;
	spec->probe = (HgProbeAlgorithm) hg_probe;
	spec->load_factor = hg_load_factor;
	spec->bins = (uint32) hg_bins;
	if (on_device)
		spec->memory_limit = (uint64) hg_gpu_memory_limit * 1024;
	spec->device = hg_gpu_device;
	spec->group = hg_device_group();
	if (reduction != NULL)
		hg_reduction_fill_spec(reduction, spec);
}

void
hg_matcher_estimate(const HgEngineCosts *costs, const HgMatcherSpec *spec, uint64 outer_rows,
					uint64 inner_rows, HgMatcherEstimate *estimate)
{
	const HgReduction *reduction = spec->reduction;
	const int processes = spec->team != NULL ? spec->team->processes : 1;
	const double pairs = spec->counted ? 0 : spec->pairs;
	double values_ms;
	double reduced_ms;

	hg_device_estimate(costs, spec->key_width, outer_rows, inner_rows, pairs, &estimate->device_ms,
					   &estimate->cpu_ms);
	estimate->cpu_ms /= processes;
	estimate->reduced = false;
	if (reduction == NULL)
		return;
	/* what is not reduced is gathered and aggregated here */
	values_ms = pairs * HG_CPU_VALUE_NS / 1e6 / processes *
				(reduction->columns[HG_OUTER].ncolumns + reduction->columns[HG_INNER].ncolumns);
	reduced_ms =
		hg_device_estimate_reduced(costs, spec->key_width, outer_rows, inner_rows,
								   hg_reduction_bytes(reduction, outer_rows, inner_rows), pairs);
	estimate->device_ms += values_ms;
	estimate->cpu_ms += values_ms;
	estimate->reduced = reduced_ms <= estimate->device_ms;
	if (estimate->reduced)
		estimate->device_ms = reduced_ms;
}
