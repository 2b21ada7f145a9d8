/*-------------------------------------------------------------------------
 *
 * test_engine_run.c
 *	  One job, checked in every respect.
 *
 * The matches are checked one by one (both rows exist, their keys are equal, the
 * matches of an outer row follow each other) and all together (their number and
 * checksum are those of the reference), which leaves no room for a wrong, missing
 * or repeated one.  A graph is checked to be the CSR that the keys ask for.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"
#include "test_engine_suite.h"
#include "test_finished.h"

#include "../../src/engine/hg_shape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Streams of so many matches are read by a caller that does not want all of them too. */
#define FINISHED_PAIRS (1 << 18)

/* Explain and leave the function with false unless condition holds. */
#define CHECK(condition, ...)                                                                      \
	do                                                                                             \
	{                                                                                              \
		if (!(condition))                                                                          \
		{                                                                                          \
			hg_tap_diag(__VA_ARGS__);                                                              \
			return false;                                                                          \
		}                                                                                          \
	} while (0)

/* The same unless call returns HG_OK. */
#define CHECK_STATUS(call, error, what)                                                            \
	do                                                                                             \
	{                                                                                              \
		HgStatus returned = (call);                                                                \
                                                                                                   \
		CHECK(returned == HG_OK, "%s: status %d, %s (%s)", what, (int) returned, (error)->message, \
			  (error)->detail);                                                                    \
	} while (0)

/* Arrays that the checks of a run share. */
typedef struct RunArrays
{
	HgMatches matches;
	unsigned char *seen; /* by outer row: it has had its matches */
} RunArrays;

HgStatus
test_run_append(const TestRun *run, HgJob **job, HgError *error)
{
	const TestData *data = run->data;
	HgStatus status;

	*job = NULL;
	memset(error, 0, sizeof(*error));
	status = run->engine->open(run->engine, run->host, &run->spec, job, error);
	if (status != HG_OK)
		return status;

	for (int side = 0; side < 2; side++)
	{
		uint64_t piece = run->piece > 0 ? run->piece : data->rows[side];
		uint64_t step;

		for (uint64_t at = 0; at < data->rows[side]; at += step)
		{
			step = data->rows[side] - at < piece ? data->rows[side] - at : piece;
			status = run->engine->join->append(
				*job, (HgSide) side, (char *) data->keys[side] + at * data->key_width, step, error);
			if (status != HG_OK)
				return status;
		}
	}
	return HG_OK;
}

HgStatus
test_run_build(const TestRun *run, HgJob **job, HgError *error)
{
	HgStatus status = test_run_append(run, job, error);

	return status == HG_OK ? run->engine->join->build(*job, error) : status;
}

HgStatus
test_run_count(const TestRun *run, HgMatchMode mode, uint64_t *matches, HgJobStats *stats,
			   HgError *error)
{
	HgJob *job;
	HgStatus status = test_run_build(run, &job, error);

	*matches = 0;
	if (status == HG_OK)
		status = run->engine->join->count(job, mode, matches, error);
	if (job == NULL)
		return status;
	if (stats != NULL)
		run->engine->join->stats(job, stats);
	run->engine->join->close(job);
	return status;
}

/* Is there something else than HashGraphs? */
static bool
has_no_graphs(const HgJobStats *stats)
{
	return stats->build == HG_BUILD_DIRECT || stats->build == HG_BUILD_TABLE;
}

/* The smallest power of two that is at least n. */
static uint64_t
power_of_two(uint64_t n)
{
	uint64_t power = 1;

	while (power < n)
		power *= 2;
	return power;
}

/* The vertices are the keys, of which there are as many as that from the least to the greatest. */
static bool
check_direct_shape(const TestRun *run, const HgJobStats *stats)
{
	const TestData *data = run->data;
	const int unused = 64 - 8 * (int) data->key_width;
	int64_t least = 0;
	int64_t greatest = 0;

	CHECK(run->spec.shape.direct, "vertices are keys without leave");
	for (uint64_t row = 0; row < data->rows[HG_INNER]; row++)
	{
		uint64_t difference = test_data_key(data, HG_INNER, row) - test_data_key(data, HG_INNER, 0);
		int64_t widened = (int64_t) (difference << unused) >> unused;

		least = widened < least ? widened : least;
		greatest = widened > greatest ? widened : greatest;
	}
	CHECK(stats->vertices == (uint64_t) (greatest - least) + 1, "%" PRIu64 " vertices",
		  stats->vertices);
	CHECK(stats->vertices <=
			  hg_shape_direct_vertices(&run->spec, data->rows[HG_OUTER], data->rows[HG_INNER]),
		  "%" PRIu64 " vertices are too many", stats->vertices);
	CHECK(stats->bins == 1 && stats->probe == HG_PROBE_STANDARD, "bins, or another probe");
	return true;
}

/* There is a table of the kind that was asked for. */
static bool
check_table_shape(const TestRun *run, const HgJobStats *stats)
{
	CHECK(run->spec.shape.table != HG_TABLE_CSR && stats->table == run->spec.shape.table,
		  "a table of kind %d, not %d", (int) stats->table, (int) run->spec.shape.table);
	CHECK(stats->vertices > 0 && stats->bins == 1 && stats->probe == HG_PROBE_STANDARD,
		  "no slots, or bins, or another probe");
	CHECK(run->spec.shape.build != HG_BUILD_V2 && run->spec.shape.probe != HG_PROBE_INTERSECT &&
			  run->spec.shape.bins <= 1,
		  "a table where graphs were asked for");
	return true;
}

/* The shape is what was asked for, and the number of vertices hg_shape.h's. */
static bool
check_shape(const TestRun *run, const HgJobStats *stats)
{
	const TestData *data = run->data;
	HgShapeLimits limits = {1, 1, HG_MAX_BINS_LOG2, false};
	HgJobSpec spec = run->spec;
	HgShape shape;

	CHECK(stats->rows[0] == data->rows[0] && stats->rows[1] == data->rows[1],
		  "wrong number of rows: %" PRIu64 ", %" PRIu64, stats->rows[0], stats->rows[1]);
	if (stats->build == HG_BUILD_DIRECT)
		return check_direct_shape(run, stats);
	if (stats->build == HG_BUILD_TABLE)
		return check_table_shape(run, stats);
	CHECK(stats->build == HG_BUILD_V1 || stats->build == HG_BUILD_V2, "no build was chosen");
	CHECK(stats->probe == HG_PROBE_STANDARD || stats->probe == HG_PROBE_INTERSECT,
		  "no probe was chosen");
	CHECK(spec.shape.build == HG_BUILD_AUTO || spec.shape.build == stats->build,
		  "build was not honoured");
	CHECK(spec.shape.probe == HG_PROBE_AUTO || spec.shape.probe == stats->probe,
		  "probe was not honoured");

	/* limits matter for the choice of the probe only, which is made now */
	spec.shape.probe = stats->probe;
	shape = hg_shape_choose(&spec, &limits, data->rows[HG_OUTER], data->rows[HG_INNER]);
	CHECK(stats->vertices == UINT64_C(1) << shape.vertices_log2, "%" PRIu64 " vertices, not 2^%u",
		  stats->vertices, shape.vertices_log2);

	CHECK(stats->bins == power_of_two(stats->bins) && stats->bins <= stats->vertices,
		  "%" PRIu64 " bins", stats->bins);
	CHECK(stats->build == HG_BUILD_V2 || stats->bins == 1, "v1 with bins");
	if (stats->build == HG_BUILD_V2 && spec.shape.bins > 0)
	{
		uint64_t wanted = power_of_two(spec.shape.bins);

		if (wanted > stats->vertices)
			wanted = stats->vertices;
		CHECK(stats->bins == wanted, "%" PRIu64 " bins, not %" PRIu64, stats->bins, wanted);
	}
	return true;
}

/* The exported arrays are the graph of the side's keys. */
static bool
check_csr(const TestData *data, HgSide side, uint64_t vertices, const uint32_t *offsets,
		  const void *edge_keys, const uint32_t *edge_rows, unsigned char *used)
{
	uint64_t rows = data->rows[side];
	uint32_t log2 = 0;

	while ((UINT64_C(1) << log2) < vertices)
		log2++;

	memset(used, 0, rows);
	CHECK(offsets[0] == 0, "the first offset is %u", offsets[0]);
	CHECK(offsets[vertices] == rows, "the last offset is %u", offsets[vertices]);
	for (uint64_t v = 0; v < vertices; v++)
	{
		CHECK(offsets[v] <= offsets[v + 1] && offsets[v + 1] <= rows,
			  "offsets of vertex %" PRIu64 ": %u, %u", v, offsets[v], offsets[v + 1]);
		for (uint32_t i = offsets[v]; i < offsets[v + 1]; i++)
		{
			uint64_t key = data->key_width == 4 ? ((const uint32_t *) edge_keys)[i]
												: ((const uint64_t *) edge_keys)[i];

			CHECK(edge_rows[i] < rows && !used[edge_rows[i]], "edge %u: row %u again", i,
				  edge_rows[i]);
			used[edge_rows[i]] = 1;
			CHECK(key == test_data_key(data, side, edge_rows[i]),
				  "edge %u: the key is not that of row %u", i, edge_rows[i]);
			CHECK(hg_vertex_of_hash(test_hash(data->key_width, key), log2) == v,
				  "edge %u does not belong to vertex %" PRIu64, i, v);
		}
	}
	return true;
}

/* describe() agrees with the exported graph and the reference. */
static bool
check_description(const TestData *data, HgSide side, const HgGraphStats *graph,
				  const uint32_t *offsets)
{
	uint64_t empty = 0;
	uint64_t longest = 0;
	uint64_t bytes;

	for (uint64_t v = 0; v < graph->vertices; v++)
	{
		uint64_t length = offsets[v + 1] - offsets[v];

		empty += length == 0;
		longest = length > longest ? length : longest;
	}
	bytes = (graph->vertices + 1) * sizeof(uint32_t) +
			data->rows[side] * (data->key_width + sizeof(uint32_t));

	CHECK(graph->edges == data->rows[side], "%" PRIu64 " edges", graph->edges);
	CHECK(graph->empty_vertices == empty, "%" PRIu64 " empty vertices, not %" PRIu64,
		  graph->empty_vertices, empty);
	CHECK(graph->longest_list == longest, "longest list %" PRIu64 ", not %" PRIu64,
		  graph->longest_list, longest);
	CHECK(graph->distinct_keys == data->distinct[side], "%" PRIu64 " distinct, not %" PRIu64,
		  graph->distinct_keys, data->distinct[side]);
	CHECK(graph->bytes == bytes, "%" PRIu64 " bytes, not %" PRIu64, graph->bytes, bytes);
	return true;
}

static bool
check_graph(const TestRun *run, HgJob *job, HgSide side, uint64_t vertices)
{
	const TestData *data = run->data;
	uint64_t rows = data->rows[side];
	uint32_t *offsets = test_malloc((vertices + 1) * sizeof(uint32_t));
	void *edge_keys = test_malloc(rows * data->key_width);
	uint32_t *edge_rows = test_malloc(rows * sizeof(uint32_t));
	unsigned char *used = test_malloc(rows);
	HgGraphStats graph;
	HgError error = {0};
	HgStatus status;
	bool good = false;

	status = run->engine->join->export_graph(job, side, offsets, edge_keys, edge_rows, &error);
	if (status == HG_OK)
		status = run->engine->join->describe(job, side, &graph, &error);

	/* where memory is limited a device may have none for what it copies out */
	if (status == HG_DEVICE_OUT_OF_MEMORY && run->spec.memory_limit > 0)
		good = true;
	else if (status != HG_OK)
		hg_tap_diag("export or describe: status %d, %s", (int) status, error.message);
	else if (graph.vertices != vertices)
		hg_tap_diag("%" PRIu64 " vertices described", graph.vertices);
	else
		good = check_csr(data, side, vertices, offsets, edge_keys, edge_rows, used) &&
			   check_description(data, side, &graph, offsets);
	free(used);
	free(edge_rows);
	free(edge_keys);
	free(offsets);
	return good;
}

/* Read the stream to its end and compare it with the reference. */
static bool
check_stream(const TestRun *run, HgJob *job, HgMatchMode mode, RunArrays *arrays)
{
	const TestData *data = run->data;
	HgMatches *matches = &arrays->matches;
	uint64_t wanted = mode == HG_MATCH_ALL ? data->pairs : data->first;
	uint64_t total = 0;
	uint64_t checksum = 0;
	uint32_t current = UINT32_MAX;
	HgError error = {0};
	HgStatus status;

	memset(arrays->seen, 0, data->rows[HG_OUTER]);
	status = run->engine->join->match(job, mode, &error);
	CHECK_STATUS(status, &error, "match");
	for (;;)
	{
		status = run->engine->join->next(job, matches, &error);
		CHECK_STATUS(status, &error, "next");
		if (matches->count == 0)
			break;
		CHECK(matches->count <= matches->capacity, "%zu matches in a chunk", matches->count);
		for (size_t i = 0; i < matches->count; i++)
		{
			uint32_t outer = matches->outer[i];
			uint32_t inner = matches->inner[i];

			CHECK(outer < data->rows[HG_OUTER] && inner < data->rows[HG_INNER],
				  "no such rows: %u, %u", outer, inner);
			CHECK(test_data_key(data, HG_OUTER, outer) == test_data_key(data, HG_INNER, inner),
				  "rows %u and %u do not match", outer, inner);
			CHECK(outer != current || mode == HG_MATCH_ALL, "outer row %u matched twice", outer);
			if (outer != current)
			{
				CHECK(!arrays->seen[outer], "the matches of outer row %u are apart", outer);
				arrays->seen[outer] = 1;
				current = outer;
			}
			checksum += test_pair_checksum(outer, inner);
		}
		total += matches->count;
		CHECK(total <= wanted, "more than %" PRIu64 " matches", wanted);
	}
	CHECK(total == wanted, "%" PRIu64 " matches, not %" PRIu64, total, wanted);
	CHECK(mode != HG_MATCH_ALL || checksum == data->checksum, "checksum of matches is wrong");

	/* the end stays the end */
	status = run->engine->join->next(job, matches, &error);
	CHECK_STATUS(status, &error, "next after the end");
	CHECK(matches->count == 0, "matches after the end");
	return true;
}

/* Counts, streams and statistics of a built job. */
static bool
check_matching(const TestRun *run, HgJob *job, RunArrays *arrays)
{
	const TestData *data = run->data;
	HgEngine *engine = run->engine;
	uint64_t all = 0;
	uint64_t first = 0;
	uint64_t emitted;
	HgJobStats stats;
	HgError error = {0};

	/* a stream that is left early, so that the next one begins anew */
	CHECK_STATUS(engine->join->match(job, HG_MATCH_ALL, &error), &error, "match");
	CHECK_STATUS(engine->join->next(job, &arrays->matches, &error), &error, "next");
	emitted = arrays->matches.count;
	CHECK((emitted > 0) == (data->pairs > 0), "first chunk of %" PRIu64, emitted);

	if (!check_stream(run, job, HG_MATCH_ALL, arrays))
		return false;
	CHECK_STATUS(engine->join->count(job, HG_MATCH_ALL, &all, &error), &error, "count all");
	CHECK(all == data->pairs, "%" PRIu64 " counted, not %" PRIu64, all, data->pairs);
	if (!check_stream(run, job, HG_MATCH_FIRST, arrays))
		return false;
	CHECK_STATUS(engine->join->count(job, HG_MATCH_FIRST, &first, &error), &error, "count first");
	CHECK(first == data->first, "%" PRIu64 " counted first, not %" PRIu64, first, data->first);

	engine->join->stats(job, &stats);
	emitted += 2 * data->pairs + 2 * data->first;
	CHECK(stats.matches == emitted, "%" PRIu64 " matches in statistics, not %" PRIu64,
		  stats.matches, emitted);
	CHECK(data->pairs == 0 || stats.intersections > 0, "no intersections in statistics");
	CHECK(data->pairs == 0 || (stats.comparisons == 0) == has_no_graphs(&stats),
		  "%" PRIu64 " comparisons in statistics", stats.comparisons);
	CHECK(stats.peak_bytes > 0, "no peak of memory in statistics");
	for (int phase = 0; phase < HG_PHASE_COUNT; phase++)
		CHECK(stats.phase_ms[phase] >= 0, "phase %d took %f ms", phase, stats.phase_ms[phase]);
	return true;
}

/* The graphs of a job that was cut into ranges: described in sum, and not exported. */
static bool
check_partitioned_graph(const TestRun *run, HgJob *job, HgSide side)
{
	const TestData *data = run->data;
	uint32_t nothing = 0;
	HgGraphStats graph;
	HgError error = {0};
	HgStatus status;

	CHECK(run->engine->join->export_graph(job, side, &nothing, &nothing, &nothing, &error) ==
			  HG_INVALID,
		  "a graph that was cut is exported");
	status = run->engine->join->describe(job, side, &graph, &error);

	/* the outer rows of one key are matched in parts, but they are one list */
	if (side == HG_OUTER && status == HG_DEVICE_OUT_OF_MEMORY &&
		data->distinct[side] < data->rows[side])
		return true;
	CHECK_STATUS(status, &error, "describe");
	CHECK(graph.edges == data->rows[side], "%" PRIu64 " edges", graph.edges);
	CHECK(graph.distinct_keys == data->distinct[side], "%" PRIu64 " distinct, not %" PRIu64,
		  graph.distinct_keys, data->distinct[side]);
	CHECK(graph.longest_list <= data->rows[side] &&
			  (data->rows[side] == 0 || graph.longest_list > 0) &&
			  graph.vertices - graph.empty_vertices <= data->distinct[side],
		  "lists do not hold the keys");
	return true;
}

/* What is to be known of a job that was cut, beside its matches; stats as of a describe. */
static bool
check_partitioned_job(const TestRun *run, HgJob *job, const HgJobStats *stats)
{
	const TestData *data = run->data;

	CHECK(stats->rows[0] == data->rows[0] && stats->rows[1] == data->rows[1],
		  "wrong number of rows: %" PRIu64 ", %" PRIu64, stats->rows[0], stats->rows[1]);
	CHECK(data->rows[HG_INNER] == 0 || (stats->vertices > 0 && stats->bins > 0),
		  "%" PRIu64 " vertices, %" PRIu64 " bins", stats->vertices, stats->bins);
	if (!check_partitioned_graph(run, job, HG_INNER))
		return false;
	return run->spec.shape.probe != HG_PROBE_INTERSECT ||
		   check_partitioned_graph(run, job, HG_OUTER);
}

/* There is nothing that could be described or exported. */
static bool
check_no_graphs(const TestRun *run, HgJob *job)
{
	uint32_t nothing = 0;
	HgGraphStats graph;
	HgError error = {0};

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		CHECK(run->engine->join->describe(job, (HgSide) side, &graph, &error) == HG_INVALID &&
				  run->engine->join->export_graph(job, (HgSide) side, &nothing, &nothing, &nothing,
												  &error) == HG_INVALID,
			  "a graph that was not built is described or exported");
	return true;
}

/* The caller may have enough of a row's matches before he has all: of streams that are not long. */
static bool
check_finished(const TestRun *run, HgJob *job)
{
	TestJobStream of = {run->engine, job};
	TestStream stream = test_job_stream(&of, run->data->rows[HG_OUTER], run->capacity);

	return run->data->pairs > FINISHED_PAIRS || test_finished_checked(&stream);
}

static bool
check_job(const TestRun *run, HgJob *job, RunArrays *arrays)
{
	HgJobStats stats;
	HgError error = {0};
	HgGraphStats graph;

	run->engine->join->stats(job, &stats);
	CHECK(stats.passes > 0, "no ranges");
	if ((stats.passes == 1 && !check_shape(run, &stats)) || !check_matching(run, job, arrays) ||
		!check_finished(run, job))
		return false;
	run->engine->join->stats(job, &stats);
	if (has_no_graphs(&stats) && stats.passes == 1)
		return check_no_graphs(run, job);

	/* whatever wants more memory than building did can cut a job */
	CHECK_STATUS(run->engine->join->describe(job, HG_INNER, &graph, &error), &error, "describe");
	run->engine->join->stats(job, &stats);
	if (stats.passes > 1)
		return check_partitioned_job(run, job, &stats);
	if (!check_graph(run, job, HG_INNER, stats.vertices))
		return false;

	if (stats.probe == HG_PROBE_INTERSECT)
		return check_graph(run, job, HG_OUTER, stats.vertices);
	CHECK(run->engine->join->describe(job, HG_OUTER, &graph, &error) == HG_INVALID,
		  "a graph that was not built is described");
	return true;
}

bool
test_run(const TestRun *run)
{
	RunArrays arrays = {0};
	TestHost host;
	TestRun counted = *run;
	HgJob *job;
	HgError error;
	HgStatus status;
	bool good;

	test_host_init(&host, run->host);
	counted.host = &host.host;
	/* no engine writes where there is room for more, which sanitizers fetch for each job */
	if (counted.capacity > run->data->pairs)
		counted.capacity = (size_t) run->data->pairs + 1;
	arrays.matches.capacity = counted.capacity;
	arrays.matches.outer = test_malloc(counted.capacity * sizeof(uint32_t));
	arrays.matches.inner = test_malloc(counted.capacity * sizeof(uint32_t));
	arrays.seen = test_malloc(run->data->rows[HG_OUTER]);

	status = test_run_build(&counted, &job, &error);
	if (status != HG_OK)
		hg_tap_diag("build: status %d, %s (%s)", (int) status, error.message, error.detail);
	good = status == HG_OK && check_job(&counted, job, &arrays);
	if (job != NULL)
		run->engine->join->close(job);
	if (host.held_bytes != 0 || host.misused)
	{
		hg_tap_diag("memory left: %" PRIu64 " bytes%s", host.held_bytes,
					host.misused ? ", freed with a wrong size" : "");
		good = false;
	}

	if (!good)
		hg_tap_diag("... in a job of %" PRIu64 " x %" PRIu64
					" rows, keys of %u bytes, build %s%s, probe %s, load factor %g, bins %u, "
					"pieces of %" PRIu64 ", chunks of %zu",
					run->data->rows[0], run->data->rows[1], run->spec.key_width,
					run->spec.shape.direct ? "direct or " : "",
					hg_build_name(run->spec.shape.build), hg_probe_name(run->spec.shape.probe),
					run->spec.shape.load_factor, run->spec.shape.bins, run->piece,
					counted.capacity);
	free(arrays.seen);
	free(arrays.matches.inner);
	free(arrays.matches.outer);
	return good;
}

/*
 * The right number of intersections, worked out on the keys: for intersect the
 * vertices whose lists are not empty on either side, for standard the outer rows
 * whose vertex has an inner list that is not empty.
 */
static uint64_t
count_intersections(const TestData *data, HgProbeAlgorithm probe, uint64_t vertices)
{
	unsigned char *filled = test_malloc(vertices);
	uint64_t total = 0;
	uint32_t log2 = 0;

	while ((UINT64_C(1) << log2) < vertices)
		log2++;
	memset(filled, 0, vertices);
	for (uint64_t row = 0; row < data->rows[HG_INNER]; row++)
		filled[hg_vertex_of_hash(test_hash(data->key_width, test_data_key(data, HG_INNER, row)),
								 log2)] = 1;
	for (uint64_t row = 0; row < data->rows[HG_OUTER]; row++)
	{
		uint32_t hash = test_hash(data->key_width, test_data_key(data, HG_OUTER, row));
		uint32_t vertex = hg_vertex_of_hash(hash, log2);

		total += filled[vertex];
		if (probe == HG_PROBE_INTERSECT)
			filled[vertex] = 0; /* a pair of lists counts once */
	}
	free(filled);
	return total;
}

bool
test_run_intersections(const TestRun *run)
{
	uint64_t counted = 0;
	uint64_t wanted;
	HgJobStats stats = {0};
	HgError error;
	HgJob *job;
	HgStatus status = test_run_build(run, &job, &error);

	if (status == HG_OK)
		status = run->engine->join->count(job, HG_MATCH_ALL, &counted, &error);
	if (job != NULL)
	{
		run->engine->join->stats(job, &stats);
		run->engine->join->close(job);
	}
	CHECK_STATUS(status, &error, "count");
	CHECK(counted == run->data->pairs, "%" PRIu64 " counted", counted);
	if (stats.passes > 1)
		return true; /* the vertices of each range are its own */

	if (has_no_graphs(&stats))
		wanted = run->data->first; /* a list that is not empty is one of matches */
	else
		wanted = count_intersections(run->data, stats.probe, stats.vertices);
	CHECK(stats.intersections == wanted, "%" PRIu64 " intersections, not %" PRIu64,
		  stats.intersections, wanted);
	return true;
}
