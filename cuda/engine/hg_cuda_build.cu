/*-------------------------------------------------------------------------
 *
 * hg_cuda_build.cu
 *	  What build makes of the keys of a job of the CUDA engine: graphs, or bins.
 *
 * That is the layout (hg_cuda_shape.h): where the caller asks for algorithms, graphs
 * (hg_cuda_graph.cu), else bins (hg_cuda_partition.cu).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_build.h"

#include <cstring>

/* Add the time between two marks to a phase. */
static HgStatus
add_phase(HgCudaJob *job, HgPhase phase, int from, int to, HgError *error)
{
	const cudaEvent_t *marks = job->work.kit.marks;
	float ms;

	HG_CUDA_TRY(cudaEventElapsedTime(&ms, marks[from], marks[to]), error);
	job->stats.phase_ms[phase] += ms;
	return HG_OK;
}

/* Build the graph of one side, and note the time its phases took. */
static HgStatus
build_side(HgCudaJob *job, const HgShape *shape, HgSide side, HgError *error)
{
	HgCudaKeyColumn *column = &job->columns[side];

	HG_TRY(hg_cuda_graph_build(&job->work, shape, job->spec.key_width, column->keys, nullptr,
							   column->rows, false, side == HG_INNER, &job->graphs[side], error));
	memset(column, 0, sizeof(*column));
	HG_TRY(add_phase(job, HG_PHASE_BIN, 0, 1, error));
	return add_phase(job, HG_PHASE_BUILD, 1, 2, error);
}

static HgStatus
build_graphs(HgCudaJob *job, const HgShape *shape, HgError *error)
{
	HgCudaKeyColumn *outer = &job->columns[HG_OUTER];

	HG_TRY(build_side(job, shape, HG_INNER, error));
	if (shape->probe == HG_PROBE_INTERSECT)
		return build_side(job, shape, HG_OUTER, error);
	/* its rows are looked up as they are */
	return hg_cuda_mix(&job->work, job->spec.key_width, outer->keys, outer->keys, outer->rows,
					   error);
}

/* Put the rows of both sides into bins; with both graphs nothing else is built yet. */
static HgStatus
build_bins(HgCudaJob *job, const HgShape *shape, HgError *error)
{
	const cudaEvent_t *marks = job->work.kit.marks;

	HG_CUDA_TRY(cudaEventRecord(marks[0], job->work.stream), error);
	for (int side = HG_INNER; side >= HG_OUTER; side--)
	{
		HgCudaKeyColumn *column = &job->columns[side];

		HG_TRY(hg_cuda_partition_make(&job->work, job->spec.key_width, column->keys, nullptr,
									  column->rows, false, shape->bins_log2, &job->partitions[side],
									  error));
		memset(column, 0, sizeof(*column));
	}
	HG_CUDA_TRY(cudaEventRecord(marks[1], job->work.stream), error);
	if (!job->both)
		HG_TRY(hg_cuda_bins_open(&job->work, &job->partitions[HG_INNER], &job->partitions[HG_OUTER],
								 shape->vertices_log2, 0, &job->bins, error));
	HG_CUDA_TRY(cudaEventRecord(marks[2], job->work.stream), error);
	HG_TRY(hg_cuda_wait(&job->work, error));
	HG_TRY(add_phase(job, HG_PHASE_BIN, 0, 1, error));
	return add_phase(job, HG_PHASE_BUILD, 1, 2, error);
}

HgStatus
hg_cuda_build(HgCudaJob *job, HgError *error)
{
	HgShape shape;

	if (hg_cuda_job_has_columns(job))
		HG_TRY(hg_cuda_gather_open(&job->work, &job->gather, error));
	job->layout = hg_cuda_layout_choose(&job->spec);
	shape =
		hg_cuda_shape_choose(&job->spec, job->columns[HG_OUTER].rows, job->columns[HG_INNER].rows);
	job->shape = shape;
	job->both = hg_cuda_is_both(&job->spec, &shape);
	if (hg_cuda_job_in_bins(job))
		HG_TRY(build_bins(job, &shape, error));
	else
		HG_TRY(build_graphs(job, &shape, error));

	job->stats.vertices = UINT64_C(1) << shape.vertices_log2;
	job->stats.bins = UINT64_C(1) << shape.bins_log2;
	job->stats.ranges = 1;
	job->stats.build = shape.build;
	job->stats.probe = shape.probe;
	job->built = true;
	return HG_OK;
}
