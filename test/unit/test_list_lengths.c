/*-------------------------------------------------------------------------
 *
 * test_list_lengths.c
 *	  Lengths of adjacency lists that no HashGraph was built for: as those of the one that is built.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../src/engine/cpu/hg_cpu.h"
#include "../../src/engine/hg_list_lengths.h"
#include "hg_tap.h"
#include "test_data.h"
#include "test_engine_suite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A column whose lists are looked at. */
typedef struct Column
{
	const void *keys;
	uint32_t key_width;
	uint64_t rows;
	double load_factor;
} Column;

/* Count the lists of a column in two pieces, and make their lengths. */
static HgStatus
make_lengths(const Column *column, const HgHost *host, HgListLengths *lists, HgError *error)
{
	uint64_t first = column->rows / 3;
	HgStatus status = hg_list_lengths_open(lists, host, column->key_width, column->load_factor,
										   column->rows, error);

	if (status != HG_OK)
		return status;
	status = hg_list_lengths_add(lists, column->keys, first, error);
	if (status == HG_OK)
		status = hg_list_lengths_add(lists, (const char *) column->keys + first * column->key_width,
									 column->rows - first, error);
	if (status == HG_OK)
		status = hg_list_lengths_make(lists, error);
	if (status != HG_OK)
		hg_list_lengths_close(lists);
	return status;
}

/* The offsets of the graph of a column, which the CPU engine builds, and its vertices. */
static uint32_t *
build_offsets(const Column *column, uint64_t *vertices)
{
	const HgJobSpec spec = {
		.key_width = column->key_width, .shape.load_factor = column->load_factor, .device = -1};
	HgEngine *engine = hg_cpu_engine();
	uint32_t *offsets = NULL;
	void *keys = malloc(column->rows * column->key_width + 1);
	uint32_t *rows = malloc((column->rows + 1) * sizeof(uint32_t));
	HgJobStats stats;
	HgError error;
	HgJob *job;
	bool good = engine->open(engine, test_host_plain(), &spec, &job, &error) == HG_OK;

	if (!good)
		abort();
	good = engine->join->append(job, HG_INNER, column->keys, column->rows, &error) == HG_OK &&
		   engine->join->build(job, &error) == HG_OK;
	engine->join->stats(job, &stats);
	*vertices = stats.vertices;
	offsets = malloc((stats.vertices + 1) * sizeof(uint32_t));
	if (!good || engine->join->export_graph(job, HG_INNER, offsets, keys, rows, &error) != HG_OK)
		abort();
	engine->join->close(job);
	free(keys);
	free(rows);
	return offsets;
}

/* Are lengths those of a graph's lists? */
static bool
lengths_are(const HgListLengths *lists, const uint32_t *offsets, uint64_t vertices)
{
	uint64_t all_vertices = 0;
	uint64_t all_rows = 0;

	for (uint64_t i = 0; i < lists->count; i++)
	{
		const HgListLength *length = &lists->lengths[i];
		uint64_t wanted = 0;

		for (uint64_t v = 0; v < vertices; v++)
			wanted += offsets[v + 1] - offsets[v] == length->length;
		if (length->vertices != wanted || wanted == 0 ||
			(i > 0 && length->length <= lists->lengths[i - 1].length))
		{
			hg_tap_diag("%" PRIu64 " lists of %" PRIu64 " rows, not %" PRIu64, length->vertices,
						length->length, wanted);
			return false;
		}
		all_vertices += length->vertices;
		all_rows += length->vertices * length->length;
	}
	return all_vertices == vertices && all_rows == offsets[vertices];
}

static void
test_column(const Column *column, const char *name)
{
	uint64_t vertices;
	uint32_t *offsets = build_offsets(column, &vertices);
	HgListLengths lists;
	TestHost host;
	HgError error;
	HgStatus status;

	test_host_init(&host, test_host_plain());
	status = make_lengths(column, &host.host, &lists, &error);
	if (status != HG_OK)
		hg_tap_diag("status %d: %s", (int) status, error.message);
	hg_tap_ok(status == HG_OK && lengths_are(&lists, offsets, vertices),
			  "%s, %" PRIu64 " rows of %u bytes, load factor %g: lists are as in the graph", name,
			  column->rows, (unsigned) column->key_width, column->load_factor);
	if (status == HG_OK)
		hg_list_lengths_close(&lists);
	hg_tap_ok(host.held_bytes == 0 && !host.misused, "%s: all memory is given back", name);
	free(offsets);
}

/* Each allocation fails, and each poll cancels. */
static void
test_failures(const Column *column)
{
	HgListLengths lists;
	TestHost all;
	HgError error;
	bool refused = true;
	bool cancelled = true;

	test_host_init(&all, test_host_plain());
	if (make_lengths(column, &all.host, &lists, &error) == HG_OK)
		hg_list_lengths_close(&lists);
	for (uint64_t n = 1; n <= all.allocations; n++)
	{
		TestHost host;

		test_host_init(&host, test_host_plain());
		host.fail_allocation = n;
		refused = refused && make_lengths(column, &host.host, &lists, &error) == HG_OUT_OF_MEMORY &&
				  host.held_bytes == 0 && !host.misused;
	}
	hg_tap_ok(refused && all.allocations == 3, "each of %" PRIu64 " allocations may fail",
			  all.allocations);
	for (uint64_t n = 1; n <= all.polls; n++)
	{
		TestHost host;

		test_host_init(&host, test_host_plain());
		host.cancel_poll = n;
		cancelled = cancelled && make_lengths(column, &host.host, &lists, &error) == HG_CANCELLED &&
					host.held_bytes == 0 && !host.misused;
	}
	hg_tap_ok(cancelled && all.polls > 3, "each of %" PRIu64 " polls may cancel", all.polls);
}

static void
test_refused(void)
{
	const uint32_t keys[4] = {1, 2, 3, 4};
	HgListLengths lists;
	HgError error;

	hg_tap_ok(hg_list_lengths_open(&lists, test_host_plain(), 5, 1, 1, &error) == HG_INVALID,
			  "keys of 5 bytes are refused");
	hg_tap_ok(hg_list_lengths_open(&lists, test_host_plain(), 4, 1000, 1, &error) == HG_INVALID,
			  "a load factor of 1000 is refused");
	hg_tap_ok(hg_list_lengths_open(&lists, test_host_plain(), 4, 1, UINT64_C(1) << 33, &error) ==
				  HG_TOO_MANY_ROWS,
			  "2^33 rows are refused");
	if (hg_list_lengths_open(&lists, test_host_plain(), 4, 1, 4, &error) != HG_OK)
		abort();
	hg_tap_ok(hg_list_lengths_add(&lists, keys, UINT64_C(1) << 33, &error) == HG_TOO_MANY_ROWS,
			  "and so are more than were told of");
	hg_list_lengths_close(&lists);
}

int
main(void)
{
	static const double load_factors[] = {1, 0.25, 4, 16};
	const uint64_t rows = hg_tap_suite() == HG_SUITE_TINY ? 3000 : 100000;

	for (int kind = 0; kind < TEST_KEYS_COUNT; kind++)
		for (uint32_t width = 4; width <= 8; width += 4)
		{
			TestData data;
			Column column;

			test_data_create(&data, (TestKeys) kind, width, 1, rows);
			column = (Column){data.keys[HG_INNER], width, rows, load_factors[kind % 4]};
			test_column(&column, test_keys_name((TestKeys) kind));
			if (kind == TEST_KEYS_SKEWED)
				test_failures(&column);
			test_data_destroy(&data);
		}
	test_column(&(Column){"", 4, 0, 1}, "none");
	test_refused();
	return hg_tap_done();
}
