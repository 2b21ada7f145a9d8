/*-------------------------------------------------------------------------
 *
 * test_lookup.c
 *	  Tests of jobs that look outer rows up in a table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _DEFAULT_SOURCE /* setenv */

#include "hg_tap.h"
#include "test_engine_suite.h"

#include "../../src/engine/cpu/hg_cpu.h"
#include "../../src/engine/hg_lookup.h"
#include "../../src/tables/hg_table_cpu.h"

#include <stdlib.h>
#include <string.h>

static HgLookup lookup;

/* What a job with a first match for each outer row came to. */
typedef struct FirstMatches
{
	uint64_t counted;
	uint64_t found;
	bool right; /* each has an inner row of its key, and none comes twice */
	HgJobStats stats;
} FirstMatches;

/* Ask a streamed job for its first matches, some outer rows at a time. */
static HgStatus
read_first(const TestRun *run, HgJob *job, FirstMatches *first, HgError *error)
{
	const TestData *data = run->data;
	uint32_t *room = test_malloc(2 * run->capacity * sizeof(uint32_t));
	HgMatches matches = {.outer = room, .inner = room + run->capacity, .capacity = run->capacity};
	HgStatus status = HG_OK;
	uint64_t step;

	*first = (FirstMatches){.right = true};
	for (uint64_t at = 0; at < data->rows[HG_OUTER] && status == HG_OK; at += step)
	{
		uint64_t counted = 0;
		int64_t last = -1;

		step = data->rows[HG_OUTER] - at < run->piece ? data->rows[HG_OUTER] - at : run->piece;
		status = run->engine->local->renew(
			job, (char *) data->keys[HG_OUTER] + at * data->key_width, step, error);
		if (status == HG_OK)
			status = run->engine->join->count(job, HG_MATCH_FIRST, &counted, error);
		first->counted += counted;
		if (status == HG_OK)
			status = run->engine->join->match(job, HG_MATCH_FIRST, error);
		do
		{
			if (status == HG_OK)
				status = run->engine->join->next(job, &matches, error);
			for (size_t i = 0; i < matches.count && status == HG_OK; i++)
			{
				first->right &= matches.outer[i] < step && (int64_t) matches.outer[i] > last;
				last = matches.outer[i];
				if (run->spec.outer_only || !first->right)
					continue;
				first->right = matches.inner[i] < data->rows[HG_INNER] &&
							   test_data_key(data, HG_OUTER, at + matches.outer[i]) ==
								   test_data_key(data, HG_INNER, matches.inner[i]);
			}
			first->found += matches.count;
		} while (status == HG_OK && matches.count > 0);
	}
	run->engine->join->stats(job, &first->stats);
	free(room);
	return status;
}

/* Streamed jobs with maps and sets, and keys that come once or more often. */
static void
test_first(HgTableKind kind, TestKeys keys, uint32_t key_width, bool outer_only)
{
	TestData data;
	TestData inner;
	TestHost host;
	TestRun run = {&lookup.engine, &host.host, &inner, {.device = -1}, 700, 256};
	FirstMatches first = {0};
	uint64_t all;
	HgJob *job;
	HgError error;
	HgStatus status;
	bool good;

	test_host_init(&host, test_host_plain());
	test_data_create(&data, keys, key_width, 5000, 3000);
	inner = data;
	inner.rows[HG_OUTER] = 0;
	run.spec.key_width = key_width;
	run.spec.shape.table = kind;
	run.spec.streamed = 1;
	run.spec.first_only = 1;
	run.spec.outer_only = outer_only;
	run.spec.sides[HG_OUTER].expected_rows = data.rows[HG_OUTER];
	status = test_run_build(&run, &job, &error);
	run.data = &data;
	if (status == HG_OK)
		status = read_first(&run, job, &first, &error);
	good = status == HG_OK && first.right && first.counted == data.first &&
		   first.found == data.first && first.stats.build == HG_BUILD_TABLE &&
		   first.stats.table == kind && first.stats.rows[HG_OUTER] == data.rows[HG_OUTER] &&
		   run.engine->join->count(job, HG_MATCH_ALL, &all, &error) == HG_INVALID;
	if (job != NULL)
		run.engine->join->close(job);
	hg_tap_ok(good && host.held_bytes == 0 && !host.misused,
			  "%s: first matches of keys of %u bytes, %s, %s", hg_table_kind_name(kind),
			  (unsigned) key_width, test_keys_name(keys), outer_only ? "in a set" : "in a map");
	if (status != HG_OK)
		hg_tap_diag("status %d, %s", (int) status, error.message);
	test_data_destroy(&data);
}

/* What a kind can't hold stands in a graph. */
static void
test_refused(HgTableKind kind, TestKeys keys)
{
	TestData data;
	TestRun run = {
		&lookup.engine, test_host_plain(), &data, {.key_width = 4, .device = -1}, 300, 64};
	HgJobStats stats = {0};
	uint64_t matches = 0;
	HgError error;

	test_data_create(&data, keys, 4, 2000, 3000);
	run.spec.shape.table = kind;
	hg_tap_ok(test_run(&run) &&
				  test_run_count(&run, HG_MATCH_ALL, &matches, &stats, &error) == HG_OK &&
				  stats.build == HG_BUILD_V1 && stats.table == HG_TABLE_CSR,
			  "%s: what can't be held stands in a graph, keys %s", hg_table_kind_name(kind),
			  test_keys_name(keys));
	test_data_destroy(&data);
}

/* A table that would pass the job's limit is none, and a graph is made if there is room for it. */
static void
test_limit(void)
{
	TestData data;
	TestRun run = {&lookup.engine, test_host_plain(), &data, {.key_width = 4, .device = -1}, 0, 64};
	HgJobStats stats = {0};
	uint64_t matches = 0;
	HgError error;
	bool good;

	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 2000, 20000);
	run.spec.shape.table = HG_TABLE_ELLPACK;
	good = test_run_count(&run, HG_MATCH_ALL, &matches, &stats, &error) == HG_OK &&
		   stats.build == HG_BUILD_TABLE;
	run.spec.shape.direct_limit = stats.peak_bytes / 2;
	good = good && test_run_count(&run, HG_MATCH_ALL, &matches, &stats, &error) == HG_OK &&
		   stats.build == HG_BUILD_V1 && matches == data.pairs;
	run.spec.shape.direct_limit = 0;
	run.spec.memory_limit = stats.peak_bytes * 2;
	good = good && test_run_count(&run, HG_MATCH_ALL, &matches, &stats, &error) == HG_OK &&
		   stats.build == HG_BUILD_V1 && stats.peak_bytes <= run.spec.memory_limit &&
		   matches == data.pairs;
	run.spec.memory_limit = 50000;
	good = good && test_run_count(&run, HG_MATCH_ALL, &matches, &stats, &error) == HG_OUT_OF_MEMORY;
	hg_tap_ok(good, "a table that would pass the limit is none");
	test_data_destroy(&data);
}

int
main(void)
{
	/* what is big is not more of a table: test_table has that */
	setenv("HG_SUITE", "small", 0);
	hg_lookup_init(&lookup, hg_cpu_engine(), hg_table_cpu());
	for (int kind = HG_TABLE_ELLPACK; kind < HG_TABLE_KINDS; kind++)
	{
		static const TestKeys keys[] = {TEST_KEYS_UNIQUE, TEST_KEYS_DUPLICATES};

		for (int i = 0; i < 8; i++)
			test_first((HgTableKind) kind, keys[i & 1], (i & 2) != 0 ? 8 : 4, (i & 4) != 0);
	}
	test_refused(HG_TABLE_DYCUCKOO, TEST_KEYS_DUPLICATES);
	test_refused(HG_TABLE_ELLPACK, TEST_KEYS_EQUAL);
	test_limit();
	for (int kind = HG_TABLE_CSR; kind < HG_TABLE_KINDS; kind++)
	{
		hg_engine_suite_base.shape.table = (HgTableKind) kind;
		hg_tap_diag("the suite, with tables of kind %s", hg_table_kind_name((HgTableKind) kind));
		hg_engine_suite(&lookup.engine, test_host_plain());
	}
	return hg_tap_done();
}
