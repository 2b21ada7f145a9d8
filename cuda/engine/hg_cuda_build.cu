/*-------------------------------------------------------------------------
 *
 * hg_cuda_build.cu
 *	  Builds a job of the CUDA engine: graphs or bins of its keys, or replicas.
 *
 * hg_cuda_shape.h chooses the layout: graphs (hg_cuda_graph.cu) if the caller names algorithms,
 * else bins (hg_cuda_partition.cu). A side that is a graph replica is built already
 * (hg_cuda_replica.h), and the other side becomes a graph, too.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_job.h"

#include "../kernels/hg_cuda_graph.h"

#include <cstring>

/* Adds the time between two marks to a phase. */
static HgStatus
add_phase(HgCudaJob *job, HgPhase phase, int from, int to, HgError *error)
{
	const cudaEvent_t *marks = job->work.kit.marks;
	float ms;

	HG_CUDA_TRY(cudaEventElapsedTime(&ms, marks[from], marks[to]), error);
	job->stats.phase_ms[phase] += ms;
	return HG_OK;
}

/* Stores the shape of what was built in the job's statistics. */
static void
note_shape(HgCudaJob *job, const HgShape *shape)
{
	job->stats.vertices = UINT64_C(1) << shape->vertices_log2;
	job->stats.bins = UINT64_C(1) << shape->bins_log2;
	job->stats.passes = 1;
	job->stats.build = shape->build;
	job->stats.probe = shape->probe;
}

/* Adds the phases that hg_cuda_graph_build has marked. */
static HgStatus
add_build_phases(HgCudaJob *job, HgError *error)
{
	HG_TRY(add_phase(job, HG_PHASE_BIN, 0, 1, error));
	return add_phase(job, HG_PHASE_BUILD, 1, 2, error);
}

/* Builds the graph of one side, whose keys have a width, and adds the time of its phases. */
static HgStatus
build_side(HgCudaJob *job, const HgShape *shape, uint32_t key_width, HgSide side, HgError *error)
{
	HgCudaKeyColumn *column = &job->columns[side];

	HG_TRY(hg_cuda_graph_build(&job->work, shape, key_width, column->keys, nullptr, column->rows,
							   false, side == HG_INNER, &job->graphs[side], error));
	memset(column, 0, sizeof(*column));
	return add_build_phases(job, error);
}

static HgStatus
build_graphs(HgCudaJob *job, const HgShape *shape, HgError *error)
{
	HgCudaKeyColumn *outer = &job->columns[HG_OUTER];

	HG_TRY(build_side(job, shape, job->spec.key_width, HG_INNER, error));
	if (shape->probe == HG_PROBE_INTERSECT)
		return build_side(job, shape, job->spec.key_width, HG_OUTER, error);
	/* the outer rows are looked up as they are */
	return hg_cuda_mix(&job->work, job->spec.key_width, outer->keys, outer->keys, outer->rows,
					   error);
}

/*
 * Takes the explicit numbers of a side's rows, or NULL if the job has columns, which are read by
 * position. The caller owns the array; the numbers replace positions from now on.
 */
static uint32_t *
take_numbers(HgCudaJob *job, HgSide side)
{
	HgCudaNumbers *numbers = &job->numbers[side];
	uint32_t *given = numbers->given;

	if (hg_cuda_job_has_columns(job))
		return nullptr;
	numbers->given = nullptr;
	numbers->given_capacity = 0;
	return given;
}

/* Puts the rows of both sides into bins. If both graphs are to be built, that is done later. */
static HgStatus
build_bins(HgCudaJob *job, const HgShape *shape, HgError *error)
{
	const cudaEvent_t *marks = job->work.kit.marks;

	HG_CUDA_TRY(cudaEventRecord(marks[0], job->work.stream), error);
	for (int side = HG_INNER; side >= HG_OUTER; side--)
	{
		HgCudaKeyColumn *column = &job->columns[side];

		HG_TRY(hg_cuda_partition_make(
			&job->work, job->spec.key_width, column->keys, take_numbers(job, (HgSide) side),
			column->rows, HG_KEEP_NOTHING, shape->bins_log2, &job->partitions[side], error));
		memset(column, 0, sizeof(*column));
	}
	HG_CUDA_TRY(cudaEventRecord(marks[1], job->work.stream), error);
	if (!job->both)
		HG_TRY(hg_cuda_bins_open(&job->work, &job->partitions[HG_INNER], &job->partitions[HG_OUTER],
								 shape->vertices_log2, 0, &job->bins, error));
	HG_CUDA_TRY(cudaEventRecord(marks[2], job->work.stream), error);
	HG_TRY(hg_cuda_wait(&job->work, error));
	return add_build_phases(job, error);
}

/* Makes the new graph replica. */
static HgStatus
build_making(HgCudaJob *job, HgError *error)
{
	const HgShape shape = hg_cuda_graph_shape(HG_REPLICA_KEY_WIDTH, job->making.shape.rows);

	HG_TRY(hg_cuda_making_build(&job->work, &job->making, error));
	HG_TRY(add_build_phases(job, error));
	note_shape(job, &shape);
	return HG_OK;
}

/* Completes the new column replica; it has no graph's shape. */
static HgStatus
build_making_column(HgCudaJob *job, HgError *error)
{
	HG_TRY(hg_cuda_replica_column_build(&job->work, &job->making.column, error));
	job->stats.bins = job->stats.passes = 1;
	job->stats.build = HG_BUILD_V1;
	job->stats.probe = HG_PROBE_INTERSECT;
	return HG_OK;
}

/* Widens the appended keys of a side to the width of graph replicas' keys. */
static HgStatus
widen_keys(HgCudaJob *job, HgSide side, HgError *error)
{
	HgCudaKeyColumn *column = &job->columns[side];
	uint64_t *wide;

	if (job->spec.key_width == HG_REPLICA_KEY_WIDTH || column->rows == 0)
		return HG_OK;
	HG_TRY(hg_cuda_alloc_array(&job->work, column->rows, &wide, error));
	HG_TRY(hg_cuda_edges_widen(&job->work, column->keys, wide, column->rows, error));
	hg_cuda_free(&job->work, column->keys);
	column->keys = wide;
	column->capacity = column->rows;
	return HG_OK;
}

/* Makes the graph of a side that is a replica. */
static HgStatus
build_replica_side(HgCudaJob *job, HgSide side, HgError *error)
{
	const cudaEvent_t *marks = job->work.kit.marks;

	/* such a side needs no work and no wait */
	if (hg_cuda_replica_side_is_whole(&job->replica[side]))
		return hg_cuda_replica_side_graph(&job->work, &job->replica[side], &job->values[side],
										  &job->graphs[side], error);
	HG_CUDA_TRY(cudaEventRecord(marks[1], job->work.stream), error);
	HG_TRY(hg_cuda_replica_side_graph(&job->work, &job->replica[side], &job->values[side],
									  &job->graphs[side], error));
	HG_CUDA_TRY(cudaEventRecord(marks[2], job->work.stream), error);
	HG_TRY(hg_cuda_wait(&job->work, error));
	return add_phase(job, HG_PHASE_BUILD, 1, 2, error);
}

/* Makes the graphs of both sides, one or both replicas; their numbers of vertices may differ. */
static HgStatus
build_replica(HgCudaJob *job, HgError *error)
{
	HgShape shape = {};

	if (hg_cuda_job_has_columns(job))
		HG_TRY(hg_cuda_gather_open(&job->work, &job->gather, error));
	job->layout = HG_LAYOUT_GRAPHS;
	for (int which = HG_INNER; which >= HG_OUTER; which--)
	{
		const HgSide side = (HgSide) which;
		const HgShape alone = hg_cuda_graph_shape(HG_REPLICA_KEY_WIDTH, job->columns[side].rows);

		if (job->replica[side].replica != nullptr)
			HG_TRY(build_replica_side(job, side, error));
		else
		{
			HG_TRY(widen_keys(job, side, error));
			HG_TRY(build_side(job, &alone, HG_REPLICA_KEY_WIDTH, side, error));
		}
		if (job->graphs[side].vertices_log2 > shape.vertices_log2)
			shape.vertices_log2 = job->graphs[side].vertices_log2;
	}
	shape.build = HG_BUILD_RESIDENT;
	shape.probe = HG_PROBE_INTERSECT;
	note_shape(job, &shape);
	return HG_OK;
}

/* Makes graphs or bins of the keys of both sides. */
static HgStatus
build_keys(HgCudaJob *job, HgError *error)
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
	note_shape(job, &shape);
	return HG_OK;
}

HgStatus
hg_cuda_build(HgCudaJob *job, HgError *error)
{
	if (hg_cuda_job_is_making_graph(job))
		HG_TRY(build_making(job, error));
	else if (hg_cuda_job_is_making_column(job))
		HG_TRY(build_making_column(job, error));
	else if (hg_cuda_job_has_replicas(job))
		HG_TRY(build_replica(job, error));
	else
		HG_TRY(build_keys(job, error));
	job->built = true;
	return HG_OK;
}
