/*-------------------------------------------------------------------------
 *
 * hg_shape.c
 *	  The shape of a job's HashGraphs: algorithms, vertices and bins.
 *
 * The caller's parameters are used as they are.  This file chooses those left open from the
 * numbers of rows, which are exact at build.
 *
 * Probe.  Intersect needs the graphs of both sides.  It pays for the second graph by touching
 * memory in order afterwards.  If the inner graph stays in fast memory, its lists can be probed in
 * any order at little cost, and a graph of a much bigger outer side would be wasted work: only
 * then the probe is standard.  An engine that builds a bin's graph when its matches are read has
 * it in fast memory whatever the sizes (bins_in_cache): there the probe is always standard.
 * (Measured with the CPU engine, 10^7 x 10^7 keys of 4 bytes in bins: one graph and probes 37 + 37
 * ms, two graphs and intersection 65 + 34 ms.)
 *
 * Vertices.  The paper sizes V by the load factor C = N / V.  A join has two N and one V.  If the
 * bigger side determined V, the smaller one would be a graph of empty lists, whose offsets cost
 * more than its edges: V follows the smaller side.  A very small side would make the lists of the
 * bigger side long, and each row without a partner would be compared with rows of other keys: V is
 * at least a 32nd of what the bigger side would get.
 *
 * Bins.  Build touches offsets and edges at random.  That is cheap as long as they stay in cache,
 * and bins would only add a pass (v1).  Beyond that, rows are first moved into bins that fit the
 * nearest fast memory (v2).  For a standard probe only the inner graph counts, as the outer rows
 * are read in order: a big outer side is binned only when the inner graph is too big.  (Measured
 * likewise, 10^7 outer rows: with 10^5 inner rows 44 ms without bins, with 3 * 10^5 79 ms, and
 * with 10^6 120 ms, or 84 ms with bins.)
 *
 * Keys as vertices.  If keys are dense, as serial numbers are, key - least is a perfect hash.
 * Each list has one key, which need not be stored or compared; nothing is binned, and outer rows
 * are probed in their order.  A vertex without a row costs as much as one with a row.  So the
 * table may have a few times as many vertices as the inner side has rows.  A table that stays in
 * the nearest cache may have as many as can be cleared in less time than hashing the rows takes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_shape.h"

#include "hg_exchange.h"
#include "hg_replica.h"
#include "hg_pages.h"
#include "hg_table_measure.h"

#include <stdio.h>

/* Ratio of outer to inner rows from which on the outer side counts as much bigger. */
#define STANDARD_MIN_RATIO 4

/* Maximum mean list length, in units of C, of the bigger side. */
#define MAX_LIST_RATIO 32

/* Limits of the load factor. */
#define MIN_LOAD_FACTOR 0.25
#define MAX_LOAD_FACTOR 16.0

/* Maximum vertices of a direct table per inner row. */
#define DIRECT_RATIO 4

/*
 * Maximum vertices per row of both sides, for a table of at most DIRECT_NEAR_VERTICES, which stays
 * in a near cache.  The greater of the two limits counts.
 */
#define DIRECT_NEAR_RATIO 8
#define DIRECT_NEAR_VERTICES (UINT64_C(128) * 1024)

uint32_t
hg_shape_vertices_log2(uint64_t rows, double c)
{
	double wanted = (double) rows / c;
	uint32_t log2 = 0;

	/* 2^(log2 + 1/2) is the border between 2^log2 and its double */
	while (log2 < HG_MAX_VERTICES_LOG2 && (double) (UINT64_C(1) << log2) * 1.41421356 < wanted)
		log2++;
	return log2;
}

/* Returns the bytes of a graph: edges and offsets. */
static uint64_t
graph_bytes(uint32_t key_width, uint64_t rows, uint32_t vertices_log2)
{
	return rows * (key_width + sizeof(uint32_t)) +
		   ((UINT64_C(1) << vertices_log2) + 1) * sizeof(uint32_t);
}

/* Chooses standard if the inner graph is small beside fast memory and the outer side. */
static HgProbeAlgorithm
choose_probe(const HgJobSpec *spec, const HgShapeLimits *limits, double c, uint64_t outer_rows,
			 uint64_t inner_rows)
{
	uint64_t bytes;

	if (spec->shape.probe != HG_PROBE_AUTO)
		return spec->shape.probe;
	if (limits->bins_in_cache)
		return HG_PROBE_STANDARD;

	bytes = graph_bytes(spec->key_width, inner_rows, hg_shape_vertices_log2(inner_rows, c));
	if (inner_rows > 0 && outer_rows / STANDARD_MIN_RATIO >= inner_rows &&
		bytes <= limits->binned_from)
		return HG_PROBE_STANDARD;
	return HG_PROBE_INTERSECT;
}

/* Returns the number of rows that determines V: see the head of this file. */
static uint64_t
sizing_rows(HgProbeAlgorithm probe, uint64_t outer_rows, uint64_t inner_rows)
{
	uint64_t smaller = outer_rows < inner_rows ? outer_rows : inner_rows;
	uint64_t bigger = outer_rows < inner_rows ? inner_rows : outer_rows;

	if (smaller == 0)
		return bigger;
	if (probe == HG_PROBE_STANDARD)
		return inner_rows; /* the only graph */
	if (smaller < bigger / MAX_LIST_RATIO)
		return bigger / MAX_LIST_RATIO;
	return smaller;
}

HgShape
hg_shape_choose(const HgJobSpec *spec, const HgShapeLimits *limits, uint64_t outer_rows,
				uint64_t inner_rows)
{
	HgShape shape;
	double c = spec->shape.load_factor > 0 ? spec->shape.load_factor : 1.0;
	uint64_t bytes;

	shape.probe = choose_probe(spec, limits, c, outer_rows, inner_rows);
	shape.vertices_log2 =
		hg_shape_vertices_log2(sizing_rows(shape.probe, outer_rows, inner_rows), c);

	bytes = graph_bytes(spec->key_width, inner_rows, shape.vertices_log2);
	if (shape.probe == HG_PROBE_INTERSECT)
		bytes += graph_bytes(spec->key_width, outer_rows, shape.vertices_log2);

	if (spec->shape.build != HG_BUILD_AUTO)
		shape.build = spec->shape.build;
	else if (spec->shape.bins > 0)
		shape.build = spec->shape.bins > 1 ? HG_BUILD_V2 : HG_BUILD_V1;
	else
		shape.build = bytes > limits->binned_from ? HG_BUILD_V2 : HG_BUILD_V1;

	shape.bins_log2 = 0;
	if (shape.build == HG_BUILD_V2)
	{
		if (spec->shape.bins > 0)
			shape.bins_log2 = hg_ceil_log2(spec->shape.bins);
		else
			while (shape.bins_log2 < limits->max_bins_log2 &&
				   (bytes >> shape.bins_log2) > limits->bin_bytes)
				shape.bins_log2++;

		/* a bin is a range of whole vertices, and each engine has a maximum */
		if (shape.bins_log2 > limits->max_bins_log2)
			shape.bins_log2 = limits->max_bins_log2;
		if (shape.bins_log2 > shape.vertices_log2)
			shape.bins_log2 = shape.vertices_log2;
	}
	return shape;
}

uint64_t
hg_shape_direct_vertices(const HgJobSpec *spec, uint64_t outer_rows, uint64_t inner_rows)
{
	const uint64_t limit = UINT64_C(1) << HG_MAX_VERTICES_LOG2;
	uint64_t vertices = DIRECT_RATIO * inner_rows;
	uint64_t near = DIRECT_NEAR_RATIO * (outer_rows + inner_rows);

	if (!spec->shape.direct || spec->shape.build != HG_BUILD_AUTO ||
		spec->shape.probe != HG_PROBE_AUTO || spec->shape.bins > 0 ||
		(spec->shape.load_factor != 0 && spec->shape.load_factor != 1) || outer_rows == 0 ||
		inner_rows == 0)
		return 0;
	near = near < DIRECT_NEAR_VERTICES ? near : DIRECT_NEAR_VERTICES;
	vertices = vertices > near ? vertices : near;
	return vertices < limit ? vertices : limit;
}

/* Checks the parameters of the graphs. */
static HgStatus
check_shape(const HgJobShape *shape, HgError *error)
{
	char detail[80];

	if (shape->build != HG_BUILD_AUTO && shape->build != HG_BUILD_V1 && shape->build != HG_BUILD_V2)
	{
		snprintf(detail, sizeof(detail), "Its number is %d.", (int) shape->build);
		return hg_error_set(error, HG_INVALID, detail, "unknown build algorithm");
	}
	if (shape->probe != HG_PROBE_AUTO && shape->probe != HG_PROBE_STANDARD &&
		shape->probe != HG_PROBE_INTERSECT)
	{
		snprintf(detail, sizeof(detail), "Its number is %d.", (int) shape->probe);
		return hg_error_set(error, HG_INVALID, detail, "unknown probe algorithm");
	}

	if ((uint32_t) shape->table >= HG_TABLE_KINDS)
		return hg_error_set(error, HG_INVALID, NULL, "unknown kind of table: %d",
							(int) shape->table);

	/* written so that a NaN fails */
	if (shape->load_factor != 0 &&
		!(shape->load_factor >= MIN_LOAD_FACTOR && shape->load_factor <= MAX_LOAD_FACTOR))
	{
		snprintf(detail, sizeof(detail), "It must be from %g to %g, or 0 for the default.",
				 MIN_LOAD_FACTOR, MAX_LOAD_FACTOR);
		return hg_error_set(error, HG_INVALID, detail, "load factor out of range: %g",
							shape->load_factor);
	}
	if (shape->bins > UINT32_C(1) << HG_MAX_BINS_LOG2)
	{
		snprintf(detail, sizeof(detail), "At most %u are possible.",
				 UINT32_C(1) << HG_MAX_BINS_LOG2);
		return hg_error_set(error, HG_INVALID, detail, "too many bins: %u", shape->bins);
	}
	return HG_OK;
}

/* Checks one side. */
static HgStatus
check_side(const HgJobSpec *spec, HgSide which, HgError *error)
{
	const HgJobSide *side = &spec->sides[which];

	if (side->ncolumns > HG_MAX_COLUMNS)
		return hg_error_set(error, HG_INVALID, NULL, "too many columns: %u", side->ncolumns);
	for (uint32_t column = 0; column < side->ncolumns; column++)
	{
		const uint8_t width = side->column_width[column];

		if (width != 1 && width != 2 && width != 4 && width != 8)
			return hg_error_set(error, HG_INVALID, NULL, "columns can not be %u bytes wide",
								(unsigned) width);
	}
	if (side->kind == HG_SOURCE_PAGES)
		return hg_pages_side_check(spec, which, error);
	if (side->kind == HG_SOURCE_ROWS)
		return HG_OK;
	if (side->kind != HG_SOURCE_REPLICA)
		return hg_error_set(error, HG_INVALID, NULL, "unknown kind of side: %d", (int) side->kind);
	if (side->replica.partitions != NULL)
		return hg_error_set(error, HG_INVALID, NULL, "this engine has no slices of graph replicas");
	return hg_replica_side_check(spec, which, error);
}

/* Checks a table to measure. */
static HgStatus
check_trial(const HgJobSpec *spec, HgError *error)
{
	const HgTableTrial *trial = spec->product.trial;

	HG_TRY(hg_table_trial_check(trial, error));
	if (trial->spec.key_width != spec->key_width ||
		spec->sides[HG_OUTER].ncolumns + spec->sides[HG_INNER].ncolumns > 0)
		return hg_error_set(error, HG_INVALID, NULL,
							"a table is measured over the keys of a job of its own");
	return HG_OK;
}

/* Checks what a job makes, of sides that are valid. */
static HgStatus
check_product(const HgJobSpec *spec, HgError *error)
{
	const HgJobProduct *product = &spec->product;
	HgStatus status = HG_OK;

	if ((uint32_t) product->kind >= HG_PRODUCT_KINDS)
		return hg_error_set(error, HG_INVALID, NULL, "unknown kind of product: %d",
							(int) product->kind);
	if (product->kind == HG_PRODUCT_GRAPH)
		status = hg_replica_check(&product->graph->shape, error);
	else if (product->kind == HG_PRODUCT_COLUMN)
		status = hg_replica_column_check(&product->column->shape, error);
	else if (product->kind == HG_PRODUCT_TABLE)
		status = check_trial(spec, error);
	else if (product->kind == HG_PRODUCT_SHARD &&
			 (product->shards < 2 || product->shards > HG_MAX_SHARDS))
		status = hg_error_set(error, HG_INVALID, NULL, "a join can not have %u members",
							  product->shards);
	if (status == HG_OK && product->kind != HG_PRODUCT_MATCHES &&
		(spec->sides[HG_OUTER].kind != HG_SOURCE_ROWS ||
		 spec->sides[HG_INNER].kind != HG_SOURCE_ROWS || spec->participants_id != 0))
		status = hg_error_set(error, HG_INVALID, NULL,
							  "only a whole join is shared, or has sides other than rows");
	if (status == HG_OK && hg_replica_is_used(spec) && spec->participants_id != 0)
		status = hg_error_set(error, HG_INVALID, NULL, "a job of graph replicas is not shared");
	if (status == HG_OK && product->kind == HG_PRODUCT_SHARD && spec->streamed != 0)
		status =
			hg_error_set(error, HG_INVALID, NULL, "the outer rows of a shard can not be streamed");
	return status;
}

HgStatus
hg_spec_check(const HgJobSpec *spec, HgError *error)
{
	char detail[80];
	HgStatus status;

	if (spec->key_width != 4 && spec->key_width != 8)
	{
		snprintf(detail, sizeof(detail), "Keys of %u bytes were asked for.", spec->key_width);
		return hg_error_set(error, HG_INVALID, detail, "keys must be 4 or 8 bytes wide");
	}
	status = check_shape(&spec->shape, error);
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		status = check_side(spec, (HgSide) side, error);
	if (status == HG_OK)
		status = check_product(spec, error);
	if (status == HG_OK && spec->device < -1)
		status = hg_error_set(error, HG_INVALID, "It must be -1 for any device, or an ordinal.",
							  "device out of range: %d", (int) spec->device);
	return status;
}

HgStatus
hg_spec_check_joins_rows(const HgJobSpec *spec, HgError *error)
{
	if (spec->product.kind == HG_PRODUCT_TABLE)
		return hg_error_set(error, HG_INVALID, NULL, "this engine measures no tables");
	if (hg_replica_is_used(spec))
		return hg_error_set(error, HG_INVALID, NULL, "this engine keeps no graphs");
	if (hg_pages_are_there(spec))
		return hg_error_set(error, HG_INVALID, NULL, "this engine takes no pages apart");
	if (spec->product.kind == HG_PRODUCT_SHARD)
		return hg_error_set(error, HG_INVALID, NULL, "this engine exchanges no rows");
	return HG_OK;
}
