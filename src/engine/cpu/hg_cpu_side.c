/*-------------------------------------------------------------------------
 *
 * hg_cpu_side.c
 *	  The runs of a side, and the rows of its bins.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_side.h"

/* Initial capacity of the list of runs. */
#define FIRST_RUN_CAPACITY 16

HgStatus
hg_cpu_run_add(HgJob *job, HgCpuSide *side, HgCpuRunHeader *header, uint64_t bytes, HgError *error)
{
	HgCpuRun *run;

	if (side->run_count == side->run_capacity)
	{
		size_t capacity = side->run_capacity == 0 ? FIRST_RUN_CAPACITY : 2 * side->run_capacity;
		void *runs;

		HG_TRY(hg_host_alloc(&job->base, capacity * sizeof(HgCpuRun), &runs, error));
		if (side->run_count > 0)
			memcpy(runs, side->runs, side->run_count * sizeof(HgCpuRun));
		hg_host_free(&job->base, side->runs, side->run_capacity * sizeof(HgCpuRun));
		side->runs = runs;
		side->run_capacity = capacity;
	}
	run = &side->runs[side->run_count++];
	run->header = header;
	run->bytes = bytes;
	run->starts = header->starts;
	run->edges = (const char *) header + header->edges_at;
	return HG_OK;
}

uint64_t
hg_cpu_bin_rows(const HgCpuSide *side, uint32_t bin)
{
	uint64_t rows = 0;

	for (size_t run = 0; run < side->run_count; run++)
		rows += side->runs[run].starts[bin + 1] - side->runs[run].starts[bin];
	return rows;
}

HgStatus
hg_cpu_biggest_bin(HgJob *job, const HgCpuSide *side, uint64_t *rows, HgError *error)
{
	uint64_t bins = UINT64_C(1) << job->shape.bins_log2;
	uint64_t work = 0;

	*rows = 0;
	for (uint64_t bin = 0; bin < bins; bin++)
	{
		uint64_t in_bin = hg_cpu_bin_rows(side, (uint32_t) bin);

		*rows = in_bin > *rows ? in_bin : *rows;
		work += side->run_count + 1;
		if (work >= HG_CPU_POLL_ROWS)
		{
			HG_TRY(hg_host_poll(&job->base, error));
			work = 0;
		}
	}
	return HG_OK;
}
