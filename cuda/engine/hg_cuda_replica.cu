/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica.cu
 *	  Replicas of graphs and columns in device memory: how they are made and released, and how
 *	  jobs use them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_replica.h"

#include "../../src/engine/hg_replica.h"
#include "../../src/engine/hg_reduce.h"
#include "../kernels/hg_cuda_graph.h"
#include "../kernels/hg_cuda_columns.h"
#include "../kernels/hg_cuda_shape.h"
#include "../kernels/hg_cuda_tuning.h"

#include <cstring>
#include <new>

/* Bytes of an edge: its key and its row. */
static constexpr uint64_t EDGE_BYTES = HG_REPLICA_KEY_WIDTH + sizeof(uint32_t);

/* ------------------------------------------------------------------------
 * Making
 * ------------------------------------------------------------------------ */

void
hg_cuda_making_init(HgCudaMaking *making, const HgJobSpec *spec)
{
	memset(making, 0, sizeof(*making));
	if (spec->product.kind == HG_PRODUCT_GRAPH)
		making->shape = spec->product.graph->shape;
	if (spec->product.kind == HG_PRODUCT_COLUMN)
		making->column.shape = spec->product.column->shape;
}

/* Most edges that are copied at a time. */
static uint64_t
piece_of(const HgReplicaShape *shape)
{
	return shape->rows < HG_APPEND_KEYS ? shape->rows : HG_APPEND_KEYS;
}

/* Allocates the arrays of all edges, once. */
static HgStatus
reserve(HgCudaWork *work, HgCudaMaking *making, HgError *error)
{
	const HgReplicaShape *shape = &making->shape;

	if (making->keys != nullptr)
		return HG_OK;
	HG_TRY(hg_cuda_alloc_array(work, shape->rows, &making->rows, error));
	if (shape->key_width < HG_REPLICA_KEY_WIDTH)
		HG_TRY(hg_cuda_alloc_array(work, piece_of(shape), &making->narrow, error));
	return hg_cuda_alloc_array(work, shape->rows, &making->keys, error);
}

/* Copies edges, a piece at most, and waits for the copies. */
static HgStatus
put_piece(HgCudaWork *work, HgCudaMaking *making, const void *keys, const uint32_t *rows,
		  uint64_t count, HgError *error)
{
	const bool narrow = making->narrow != nullptr;
	void *to = narrow ? static_cast<void *>(making->narrow) : making->keys + making->count;

	HG_CUDA_TRY(cudaMemcpyAsync(to, keys, count * making->shape.key_width, cudaMemcpyHostToDevice,
								work->stream),
				error);
	if (narrow)
		HG_TRY(
			hg_cuda_edges_widen(work, making->narrow, making->keys + making->count, count, error));
	HG_CUDA_TRY(cudaMemcpyAsync(making->rows + making->count, rows, count * sizeof(*rows),
								cudaMemcpyHostToDevice, work->stream),
				error);
	HG_TRY(hg_cuda_wait(work, error));
	making->count += count;
	return HG_OK;
}

HgStatus
hg_cuda_making_put(HgCudaWork *work, HgCudaMaking *making, const void *keys, const uint32_t *rows,
				   uint64_t count, HgError *error)
{
	const unsigned char *from = static_cast<const unsigned char *>(keys);

	if (count > making->shape.rows - making->count)
		return hg_error_set(error, HG_INVALID, nullptr, "more edges than the graph is to have");
	if (count == 0)
		return HG_OK;
	HG_TRY(reserve(work, making, error));
	while (count > 0)
	{
		const uint64_t most = piece_of(&making->shape);
		const uint64_t piece = count < most ? count : most;

		HG_TRY(put_piece(work, making, from, rows, piece, error));
		from += piece * making->shape.key_width;
		rows += piece;
		count -= piece;
	}
	return HG_OK;
}

HgStatus
hg_cuda_making_build(HgCudaWork *work, HgCudaMaking *making, HgError *error)
{
	const HgShape shape = hg_cuda_graph_shape(HG_REPLICA_KEY_WIDTH, making->shape.rows);
	bool below;

	if (making->count < making->shape.rows)
		return hg_error_set(error, HG_INVALID, nullptr, "fewer edges than the graph is to have");
	HG_TRY(hg_cuda_edges_check(work, making->rows, making->count,
							   (uint32_t) hg_replica_rows_end(&making->shape), &below,
							   &making->numbers, error));
	if (!below)
		return hg_error_set(error, HG_INVALID, nullptr,
							"an edge is of no row that the graph can have");
	hg_cuda_free(work, making->narrow);
	making->narrow = nullptr;
	HG_TRY(hg_cuda_graph_build(work, &shape, HG_REPLICA_KEY_WIDTH, making->keys, making->rows,
							   making->count, false, true, &making->graph, error));
	making->keys = nullptr;
	hg_cuda_free(work, making->rows);
	making->rows = nullptr;
	return HG_OK;
}

HgStatus
hg_cuda_making_take_replica(HgCudaWork *work, HgCudaMaking *making, HgReplica **graph,
							uint64_t *bytes, HgError *error)
{
	HgReplica *replica;

	if (making->graph.offsets == nullptr && making->column.values == nullptr)
		return hg_error_set(error, HG_INVALID, nullptr, "the job has nothing to be kept");
	replica = new (std::nothrow) HgReplica();
	if (replica == nullptr)
		return hg_error_set(error, HG_OUT_OF_MEMORY, nullptr, "out of memory");
	replica->device = work->device;
	replica->shape = making->shape;
	replica->graph = making->graph;
	replica->numbers = making->numbers;
	replica->column = making->column;
	/* the build has waited for all work that uses the arrays */
	replica->offsets_bytes = hg_cuda_detach(work, replica->graph.offsets);
	replica->words_bytes = hg_cuda_detach(work, replica->graph.edge_words);
	replica->rows_bytes = hg_cuda_detach(work, replica->graph.edge_rows);
	*bytes = replica->offsets_bytes + replica->words_bytes + replica->rows_bytes +
			 hg_cuda_replica_column_detach(work, &replica->column);
	memset(&making->graph, 0, sizeof(making->graph));
	making->column.values = making->column.nulls = nullptr;
	*graph = replica;
	return HG_OK;
}

void
hg_cuda_replica_release(HgReplica *replica)
{
	if (replica->graph.offsets != nullptr)
		hg_cuda_device_release(replica->device, replica->graph.offsets, replica->offsets_bytes);
	if (replica->graph.edge_words != nullptr)
		hg_cuda_device_release(replica->device, replica->graph.edge_words, replica->words_bytes);
	if (replica->graph.edge_rows != nullptr)
		hg_cuda_device_release(replica->device, replica->graph.edge_rows, replica->rows_bytes);
	hg_cuda_replica_column_release(replica->device, &replica->column);
	delete replica;
}

/* ------------------------------------------------------------------------
 * Sides
 * ------------------------------------------------------------------------ */

/* HG_NO_REPLICA if the device has no graph replica of that name and shape. */
static HgStatus
find_graph(const HgCudaDevice *device, const HgReplicaUse *use, HgError *error)
{
	if (use->graph == nullptr || use->graph->device != device ||
		!hg_replica_shape_equal(&use->graph->shape, &use->shape))
		return hg_error_set(error, HG_NO_REPLICA, nullptr, "there is no such graph replica");
	return HG_OK;
}

/* The same for the columns of a side. */
static HgStatus
find_columns(HgCudaReplicaSide *side, const HgCudaDevice *device, const HgJobSpec *spec,
			 HgSide which, HgError *error)
{
	const HgReplicaSource *source = hg_side_replica(spec, which);

	for (uint32_t i = 0; i < spec->sides[which].ncolumns; i++)
	{
		const HgReplicaColumnUse *column = &source->columns[i];

		if (column->program > 0)
			continue;
		if (column->column == nullptr || column->column->device != device ||
			!hg_replica_column_shape_equal(&column->column->column.shape, &column->shape))
			return hg_error_set(error, HG_NO_REPLICA, nullptr, "there is no such column replica");
		side->lookups.columns[i] = &column->column->column;
	}
	return HG_OK;
}

/* The same for the columns of a side's filters. */
static HgStatus
find_filters(HgCudaReplicaSide *side, const HgCudaDevice *device, const HgJobSpec *spec,
			 HgSide which, HgError *error)
{
	HgCudaReplicaFilters *filters = &side->filters;
	const HgReplicaSource *source = hg_side_replica(spec, which);

	if (source->filters == nullptr)
		return HG_OK;
	filters->all = *source->filters;
	for (uint32_t i = 0; i < filters->all.ncolumns; i++)
	{
		const HgReplicaColumnUse *column = &filters->all.columns[i];

		if (column->column == nullptr || column->column->device != device ||
			!hg_replica_column_shape_equal(&column->column->column.shape, &column->shape))
			return hg_error_set(error, HG_NO_REPLICA, nullptr, "there is no such column replica");
		filters->columns[i] = &column->column->column;
	}
	return HG_OK;
}

/* The same for the graphs of a side's lookups, whose rows must have ordinals. */
static HgStatus
find_lookups(HgCudaReplicaSide *side, const HgCudaDevice *device, const HgJobSpec *spec,
			 HgSide which, HgError *error)
{
	const HgReplicaSource *source = hg_side_replica(spec, which);

	hg_cuda_replica_lookups_init(&side->lookups, spec, which);
	for (uint32_t i = 0; i < source->nlookups; i++)
	{
		const HgReplicaLookup *lookup = &source->lookups[i];

		HG_TRY(find_graph(device, &lookup->own, error));
		HG_TRY(find_graph(device, &lookup->found, error));
		HG_TRY(hg_replica_lookup_ordinals_check(lookup, lookup->own.graph->numbers,
												lookup->found.graph->numbers, error));
		side->lookups.lookups[i].own = &lookup->own.graph->graph;
		side->lookups.lookups[i].found = &lookup->found.graph->graph;
	}
	return HG_OK;
}

HgStatus
hg_cuda_replica_side_open(HgCudaReplicaSide *side, const HgCudaDevice *device,
						  const HgJobSpec *spec, HgSide which, HgError *error)
{
	const HgReplicaUse *use = hg_side_replica(spec, which)->use;

	memset(side, 0, sizeof(*side));
	if (use == nullptr)
		return HG_OK;
	HG_TRY(find_graph(device, use, error));
	HG_TRY(find_lookups(side, device, spec, which, error));
	HG_TRY(find_columns(side, device, spec, which, error));
	HG_TRY(find_filters(side, device, spec, which, error));
	HG_TRY(hg_replica_ordinals_check(spec, which, use->graph->numbers, error));
	side->replica = use->graph;
	hg_cuda_replica_mask_init(&side->mask, use);
	hg_cuda_replica_computed_init(&side->computed, spec, which);
	return HG_OK;
}

void
hg_cuda_replica_side_attach(const HgJobSpec *spec, HgSide which, HgCudaColumns *columns,
							HgCudaNumbers *numbers)
{
	const HgReplicaSource *source = hg_side_replica(spec, which);

	if (spec->sides[which].kind != HG_SOURCE_REPLICA)
		return;
	columns->external = true;
	for (uint32_t i = 0; i < spec->sides[which].ncolumns; i++)
	{
		const HgReplica *replica = source->columns[i].column;

		if (source->columns[i].program == 0)
			hg_cuda_columns_set_external(columns, i, replica->column.values, replica->column.nulls);
		numbers->stride = hg_replica_side_stride(spec, which);
	}
}

HgStatus
hg_cuda_replica_side_mask(HgCudaWork *work, HgCudaReplicaSide *side, uint32_t lookup,
						  uint64_t first_word, uint64_t count, const uint64_t *words,
						  HgError *error)
{
	HgCudaReplicaMask *mask = &side->mask;

	if (lookup > side->lookups.count)
		return hg_error_set(error, HG_INVALID, nullptr, "the rows of this side look up no such");
	if (lookup > 0)
		mask = &side->lookups.lookups[lookup - 1].mask;
	return hg_cuda_replica_mask_put(work, mask, first_word, count, words, error);
}

HgStatus
hg_cuda_replica_side_graph(HgCudaWork *work, HgCudaReplicaSide *side, HgCudaColumns *columns,
						   HgCudaGraph *graph, HgError *error)
{
	bool copied;

	HG_TRY(hg_cuda_replica_filters_apply(work, &side->filters, 0, &side->mask, error));
	for (uint32_t i = 0; i < side->lookups.count; i++)
		HG_TRY(hg_cuda_replica_filters_apply(work, &side->filters, i + 1,
											 &side->lookups.lookups[i].mask, error));
	HG_TRY(hg_cuda_replica_lookups_run(work, &side->lookups, &side->mask, columns, error));
	HG_TRY(hg_cuda_replica_computed_run(work, &side->computed, columns, error));
	HG_TRY(hg_cuda_replica_mask_filter(work, &side->mask, &side->replica->graph, graph, &copied,
									   error));
	return hg_cuda_replica_computed_check(work, &side->computed, graph, error);
}

/* ------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------ */

static uint64_t
more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Returns the upper bound on the memory while a graph is built of wide keys. If frequent keys make
 * its edges be sorted, twice as many edges are there at a time.
 */
static uint64_t
graph_bytes(const HgShape *shape, uint64_t rows)
{
	const uint64_t offsets = ((UINT64_C(1) << shape->vertices_log2) + 1) * sizeof(uint32_t);

	return more(hg_cuda_graph_bytes(HG_REPLICA_KEY_WIDTH, shape, rows),
				2 * rows * EDGE_BYTES + offsets);
}

static uint64_t
making_bytes(const HgReplicaShape *shape)
{
	const HgShape built = hg_cuda_graph_shape(HG_REPLICA_KEY_WIDTH, shape->rows);
	const uint64_t narrow = shape->key_width < HG_REPLICA_KEY_WIDTH ? piece_of(shape) : 0;

	return shape->rows * sizeof(uint32_t) +
		   more(shape->rows * HG_REPLICA_KEY_WIDTH + narrow * sizeof(int32_t),
				graph_bytes(&built, shape->rows));
}

/* The bytes of a side before, during and after its build. */
struct SideBytes
{
	uint64_t before;
	uint64_t building;
	uint64_t after;
};

static SideBytes
side_bytes(const HgJobSpec *spec, HgSide side)
{
	const HgReplicaUse *use = hg_side_replica(spec, side)->use;
	const uint64_t rows = use != nullptr ? use->shape.rows : spec->sides[side].expected_rows;
	const HgShape shape = hg_cuda_graph_shape(HG_REPLICA_KEY_WIDTH, rows);
	SideBytes bytes = {0, 0, 0};

	if (use == nullptr)
	{
		bytes.before = rows * spec->key_width;
		bytes.building = more(
			spec->key_width < HG_REPLICA_KEY_WIDTH ? bytes.before + rows * HG_REPLICA_KEY_WIDTH : 0,
			graph_bytes(&shape, rows));
		bytes.after =
			rows * EDGE_BYTES + ((UINT64_C(1) << shape.vertices_log2) + 1) * sizeof(uint32_t);
	}
	else
	{
		const uint64_t mask = hg_replica_mask_words(&use->shape) * sizeof(uint64_t);
		const bool masked = hg_replica_is_masked(spec, side, 0);
		const bool filtered = masked || hg_replica_lookups_drop(spec, side);
		uint64_t held;
		uint64_t copy;

		bytes.before = masked ? mask : 0;
		bytes.before += hg_cuda_replica_lookups_mask_bytes(spec, side);
		held = bytes.before;
		bytes.building = hg_cuda_replica_lookups_bytes(spec, side, &held);
		held += hg_cuda_replica_computed_bytes(spec, side);
		bytes.building = more(bytes.building, held);
		bytes.after = held;
		if (filtered)
		{
			bytes.building =
				more(bytes.building,
					 held + hg_cuda_edges_filter_bytes(rows, shape.vertices_log2, &copy));
			bytes.after = held - mask + copy;
		}
	}
	return bytes;
}

/* Returns the bytes of a job's columns, without those of graph replicas. */
static uint64_t
columns_bytes(const HgJobSpec *spec)
{
	uint64_t bytes =
		spec->sides[HG_OUTER].ncolumns + spec->sides[HG_INNER].ncolumns > 0 ? HG_GATHER_BYTES : 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (spec->sides[side].kind != HG_SOURCE_REPLICA)
			bytes += spec->sides[side].expected_rows * hg_reduce_row_bytes(spec, (HgSide) side);
	return bytes;
}

uint64_t
hg_cuda_replica_job_bytes(const HgJobSpec *spec)
{
	SideBytes outer;
	SideBytes inner;
	uint64_t outer_rows;
	uint64_t found;

	if (spec->product.kind == HG_PRODUCT_GRAPH)
		return making_bytes(&spec->product.graph->shape);
	if (spec->product.kind == HG_PRODUCT_COLUMN)
		return hg_cuda_replica_column_bytes(&spec->product.column->shape);
	outer = side_bytes(spec, HG_OUTER);
	inner = side_bytes(spec, HG_INNER);
	outer_rows = spec->sides[HG_OUTER].kind == HG_SOURCE_REPLICA
					 ? hg_side_replica(spec, HG_OUTER)->use->shape.rows
					 : spec->sides[HG_OUTER].expected_rows;
	/* see hg_cuda_join.cu */
	found = outer_rows * 2 * sizeof(uint32_t) +
			(outer_rows / HG_TILE_ITEMS + 2) * 2 * sizeof(uint64_t) +
			HG_LEAST_CHUNK_PAIRS * 2 * sizeof(uint32_t);
	/* the inner side is built first */
	return columns_bytes(spec) +
		   more(more(outer.before + inner.building, inner.after + outer.building),
				inner.after + outer.after + found);
}
