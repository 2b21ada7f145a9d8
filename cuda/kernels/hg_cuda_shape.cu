/*-------------------------------------------------------------------------
 *
 * hg_cuda_shape.cu
 *	  The shape of a job on a device: layout, vertices and bins, and memory.
 *
 * The vertices are those of every engine (hg_shape.h).  The number of bins follows from what a
 * block of a kernel holds (hg_cuda_tuning.h), the same on every device.  So a job's shape and
 * memory are known before a device is chosen.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_shape.h"

#include "hg_cuda_columns.h"
#include "hg_cuda_partition.h"
#include "hg_cuda_tuning.h"

/* CUB's prefix sum counted in int for long: graphs with more vertices are built with bins. */
static constexpr uint32_t MAX_SCANNED_LOG2 = 30;

HgCudaLayout
hg_cuda_layout_choose(const HgJobSpec *spec)
{
	return spec->shape.build == HG_BUILD_AUTO && spec->shape.probe == HG_PROBE_AUTO &&
				   spec->shape.bins == 0
			   ? HG_LAYOUT_BINS
			   : HG_LAYOUT_GRAPHS;
}

bool
hg_cuda_is_binned(const HgShape *shape)
{
	return shape->build == HG_BUILD_V2 || shape->vertices_log2 > MAX_SCANNED_LOG2;
}

bool
hg_cuda_is_both(const HgJobSpec *spec, const HgShape *shape)
{
	return hg_cuda_layout_choose(spec) == HG_LAYOUT_GRAPHS && shape->build == HG_BUILD_V2 &&
		   shape->probe == HG_PROBE_INTERSECT &&
		   UINT64_C(1) << (shape->vertices_log2 - shape->bins_log2) <=
			   hg_both_vertices(spec->key_width);
}

uint32_t
hg_cuda_joined_bins_log2(uint32_t key_width, uint32_t vertices_log2, uint64_t inner_rows)
{
	uint32_t bins_log2 = 0;

	while (bins_log2 < vertices_log2 && bins_log2 < HG_MAX_BINS_LOG2 &&
		   ((inner_rows >> bins_log2) > hg_bins_mean_rows(key_width) ||
			(UINT64_C(1) << (vertices_log2 - bins_log2)) > hg_bins_vertices(key_width)))
		bins_log2++;
	return bins_log2;
}

/* Returns the limits of a device's fast memory. */
static HgShapeLimits
limits_of(uint32_t key_width, HgCudaLayout layout)
{
	HgShapeLimits limits;

	/* at load factor 1 a row takes an edge and an offset */
	limits.bin_bytes = (uint64_t) 2 * HG_BIN_MEAN_ROWS * (key_width + 2 * sizeof(uint32_t));
	limits.binned_from = HG_BINNED_FROM_BYTES;
	limits.max_bins_log2 = HG_MAX_BINS_LOG2;
	limits.bins_in_cache = layout == HG_LAYOUT_BINS;
	return limits;
}

/* Returns log2 of the fewest bins, from the shape's on, with these mean rows and vertices. */
static uint32_t
bins_log2_for(const HgShape *shape, uint64_t rows, uint32_t mean_rows, uint32_t bin_vertices)
{
	uint32_t bins_log2 = shape->bins_log2;

	while (bins_log2 < HG_MAX_BINS_LOG2 && bins_log2 < shape->vertices_log2 &&
		   (rows >> bins_log2) > mean_rows)
		bins_log2++;
	while (bins_log2 < HG_MAX_BINS_LOG2 &&
		   (UINT64_C(1) << (shape->vertices_log2 - bins_log2)) > bin_vertices)
		bins_log2++;
	return bins_log2;
}

HgShape
hg_cuda_shape_choose(const HgJobSpec *spec, uint64_t outer_rows, uint64_t inner_rows)
{
	const HgCudaLayout layout = hg_cuda_layout_choose(spec);
	HgShapeLimits limits = limits_of(spec->key_width, layout);
	HgJobSpec wanted = *spec;
	HgShape shape;

	/* a graph that is too big to be built without bins can still be small enough to be probed */
	if (layout == HG_LAYOUT_GRAPHS && spec->shape.probe == HG_PROBE_AUTO && inner_rows > 0 &&
		outer_rows / HG_STANDARD_MIN_RATIO >= inner_rows &&
		inner_rows * (spec->key_width + 2 * sizeof(uint32_t)) <= HG_STANDARD_UP_TO_BYTES)
		wanted.shape.probe = HG_PROBE_STANDARD;
	shape = hg_shape_choose(&wanted, &limits, outer_rows, inner_rows);

	if (layout == HG_LAYOUT_BINS)
	{
		shape.build = HG_BUILD_V2;
		shape.bins_log2 = 0;
		shape.bins_log2 = bins_log2_for(&shape, inner_rows, hg_bins_mean_rows(spec->key_width),
										hg_bins_vertices(spec->key_width));
	}
	else if (shape.build == HG_BUILD_V2 && spec->shape.bins == 0)
	{
		shape.bins_log2 = 0;
		shape.bins_log2 =
			shape.probe == HG_PROBE_INTERSECT
				? bins_log2_for(&shape, inner_rows + outer_rows, hg_both_mean_rows(spec->key_width),
								hg_both_vertices(spec->key_width))
				: bins_log2_for(&shape, inner_rows, HG_BIN_MEAN_ROWS, HG_BIN_VERTICES);
	}
	return shape;
}

HgShape
hg_cuda_graph_shape(uint32_t key_width, uint64_t rows)
{
	HgShape shape;
	uint64_t bytes;

	shape.probe = HG_PROBE_INTERSECT;
	shape.vertices_log2 = hg_shape_vertices_log2(rows, 1);
	shape.bins_log2 = 0;
	bytes = rows * (key_width + sizeof(uint32_t)) +
			(UINT64_C(1) << shape.vertices_log2) * sizeof(uint32_t);
	shape.build = bytes > HG_BINNED_FROM_BYTES ? HG_BUILD_V2 : HG_BUILD_V1;
	if (hg_cuda_is_binned(&shape))
		shape.bins_log2 = bins_log2_for(&shape, rows, HG_BIN_MEAN_ROWS, HG_BIN_VERTICES);
	return shape;
}

/* ------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------ */

/* Returns the greater of two numbers. */
static uint64_t
more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t
hg_cuda_graph_bytes(uint32_t key_width, const HgShape *shape, uint64_t rows)
{
	const uint64_t width = key_width;
	const uint64_t offsets = (UINT64_C(1) << shape->vertices_log2) * sizeof(uint32_t);

	if (hg_cuda_is_binned(shape))
		return hg_cuda_partition_bytes(key_width, rows, shape->bins_log2) + offsets;
	return rows * (2 * width + sizeof(uint32_t)) + 2 * offsets;
}

static uint64_t
graphs_bytes(const HgJobSpec *spec, const HgShape *shape, uint64_t outer_rows, uint64_t inner_rows)
{
	const uint64_t width = spec->key_width;
	const uint64_t edge = width + sizeof(uint32_t);
	const uint64_t offsets = (UINT64_C(1) << shape->vertices_log2) * sizeof(uint32_t);
	const uint64_t found = outer_rows * 2 * sizeof(uint32_t); /* see hg_cuda_join.cu */
	const uint64_t inner_graph = inner_rows * edge + offsets;
	uint64_t bytes = outer_rows * width + hg_cuda_graph_bytes(spec->key_width, shape, inner_rows);

	if (shape->probe == HG_PROBE_INTERSECT)
	{
		bytes = more(bytes, inner_graph + hg_cuda_graph_bytes(spec->key_width, shape, outer_rows));
		return more(bytes, inner_graph + outer_rows * edge + offsets + found);
	}
	return more(bytes, inner_graph + outer_rows * width + found);
}

/* Returns the most memory while both sides' rows are put into bins, and joined. */
static uint64_t
bins_bytes(const HgJobSpec *spec, const HgShape *shape, uint64_t outer_rows, uint64_t inner_rows)
{
	const uint64_t width = spec->key_width;
	const uint64_t edge = width + sizeof(uint32_t);
	const uint64_t pairs = HG_LEAST_CHUNK_PAIRS * 2 * sizeof(uint32_t);
	uint64_t bytes =
		outer_rows * width + hg_cuda_partition_bytes(spec->key_width, inner_rows, shape->bins_log2);

	bytes = more(bytes, inner_rows * edge +
							hg_cuda_partition_bytes(spec->key_width, outer_rows, shape->bins_log2));
	return more(bytes, (inner_rows + outer_rows) * edge + pairs);
}

uint64_t
hg_cuda_job_bytes(const HgJobSpec *spec, uint64_t outer_rows, uint64_t inner_rows)
{
	const HgShape shape = hg_cuda_shape_choose(spec, outer_rows, inner_rows);
	const uint64_t columns = spec->sides[HG_OUTER].ncolumns + spec->sides[HG_INNER].ncolumns == 0
								 ? 0
								 : outer_rows * hg_reduce_row_bytes(spec, HG_OUTER) +
									   inner_rows * hg_reduce_row_bytes(spec, HG_INNER) +
									   HG_GATHER_BYTES;

	if (hg_cuda_is_both(spec, &shape))
	{
		const uint64_t edge = spec->key_width + sizeof(uint32_t);
		const uint64_t starts = (UINT64_C(2) << shape.bins_log2) * sizeof(uint32_t);
		const uint64_t offsets = (UINT64_C(2) << shape.vertices_log2) * sizeof(uint32_t);

		/* graphs and chunk exist at the same time as the rows: hg_cuda_both.cu */
		return columns + more(bins_bytes(spec, &shape, outer_rows, inner_rows),
							  2 * (inner_rows + outer_rows) * edge + starts + offsets +
								  HG_LEAST_CHUNK_PAIRS * 2 * sizeof(uint32_t));
	}
	return columns + (hg_cuda_layout_choose(spec) == HG_LAYOUT_BINS
						  ? bins_bytes(spec, &shape, outer_rows, inner_rows)
						  : graphs_bytes(spec, &shape, outer_rows, inner_rows));
}
