/*-------------------------------------------------------------------------
 *
 * test_measure.c
 *	  What an engine that measures tables must do, whichever it is.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_measure.h"

#include "hg_tap.h"
#include "test_engine_suite.h"

#include <string.h>

/* Keys that tables are measured over. */
static const struct
{
	TestKeys kind;
	uint64_t rows;
	bool odd; /* with keys whose words mark slots */
} columns[] = {
	{TEST_KEYS_UNIQUE, 0, false},		  {TEST_KEYS_UNIQUE, 1, false},
	{TEST_KEYS_EXTREMES, 20, false},	  {TEST_KEYS_EQUAL, 300, false},
	{TEST_KEYS_SKEWED, 3000, false},	  {TEST_KEYS_UNIQUE, 400, true},
	{TEST_KEYS_DUPLICATES, 20000, false}, {TEST_KEYS_UNIQUE, 100000, false},
};

/* Have the first inner keys be those whose words are all ones, or nearly. */
static void
add_odd_keys(TestData *data)
{
	for (uint32_t row = 0; row < 3; row++)
		if (data->key_width == 4)
			((uint32_t *) data->keys[HG_INNER])[row] = hg_unmix32(UINT32_MAX - row);
		else
			((uint64_t *) data->keys[HG_INNER])[row] = hg_unmix64(UINT64_MAX - row);
}

HgStatus
test_measure(HgEngine *engine, const HgHost *host, const TestData *data, const HgTableTrial *trial,
			 HgTableMeasure *measure, HgError *error)
{
	const HgJobSpec spec = {.key_width = data->key_width,
							.sides[HG_INNER] = {.expected_rows = data->rows[HG_INNER]},
							.device = -1,
							.product = {HG_PRODUCT_TABLE, .trial = trial}};
	HgJob *job;
	HgStatus status = engine->open(engine, host, &spec, &job, error);

	if (status != HG_OK)
		return status;
	status = engine->join->append(job, HG_INNER, data->keys[HG_INNER], data->rows[HG_INNER], error);
	if (status == HG_OK)
		status = engine->measure->measure_table(job, measure, error);
	engine->join->close(job);
	return status;
}

/* Does a table of these keys have the rows that it must have, and was it changed as it must be? */
static bool
is_measured(HgEngine *engine, const HgHost *host, const TestData *data, const HgTableTrial *trial)
{
	const uint64_t rows =
		trial->spec.content == HG_TABLE_MULTIMAP ? data->rows[HG_INNER] : data->distinct[HG_INNER];
	HgTableMeasure measure;
	HgError error = {0};
	HgStatus status = test_measure(engine, host, data, trial, &measure, &error);
	bool right;

	if (status != HG_OK)
	{
		hg_tap_diag("%s (%s)", error.message, error.detail);
		return false;
	}
	right = measure.stats.rows == rows && (rows == 0 || measure.stats.bytes > 0) &&
			hg_table_measure_is_sane(trial, data->rows[HG_INNER], &measure);
	/* what was built, looked up and changed took its time */
	right = right && (rows == 0 || (measure.build_ns > 0 && measure.find_ns > 0));
	right = right && (measure.sampled > 0) == (rows > 0 && hg_table_trial_batches(trial) > 0);
	right = right && (measure.sampled > 0) == (measure.erase_ns > 0 && measure.insert_ns > 0);
	/* of a map's key any row may have stayed, and that is in no batch then */
	if (trial->spec.content != HG_TABLE_MAP || rows == data->rows[HG_INNER])
		right = right && (measure.sampled > 0) == (measure.erased > 0);
	if (!right)
		hg_tap_diag("%llu keys of %u bytes: %llu rows, not %llu, %llu slots; %llu sampled, "
					"%llu erased, %llu inserted",
					(unsigned long long) data->rows[HG_INNER], (unsigned) data->key_width,
					(unsigned long long) measure.stats.rows, (unsigned long long) rows,
					(unsigned long long) measure.stats.slots, (unsigned long long) measure.sampled,
					(unsigned long long) measure.erased, (unsigned long long) measure.inserted);
	return right;
}

/* Tables of a kind with a content. */
static void
test_kind(HgEngine *engine, const HgHost *host, HgTableKind kind, HgTableContent content)
{
	bool right = true;

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		for (uint32_t width = 4; width <= 8; width += 4)
		{
			HgTableTrial trial = {.spec = {.kind = kind,
										   .content = content,
										   .key_width = width,
										   .layout = i % 2 ? HG_TABLE_SOA : HG_TABLE_AOS,
										   .max_padding = 10000},
								  .batches = (uint32_t) i};
			TestData data;

			test_data_create(&data, columns[i].kind, width, 1, columns[i].rows);
			if (columns[i].odd)
				add_odd_keys(&data);
			right = is_measured(engine, host, &data, &trial) && right;
			test_data_destroy(&data);
		}
	hg_tap_ok(right, "%s, %s: measured over all keys", hg_table_kind_name(kind),
			  hg_table_content_name(content));
}

/* Keys that a table can't have: an answer, after which others are measured. */
static void
test_unmeasurable(HgEngine *engine, const HgHost *host)
{
	HgTableTrial trial = {
		.spec = {.kind = HG_TABLE_ELLPACK, .content = HG_TABLE_MULTIMAP, .key_width = 4},
		.batches = 1};
	HgJobSpec spec = {.key_width = 4, .device = -1, .product = {HG_PRODUCT_TABLE, .trial = &trial}};
	HgTableMeasure measure;
	HgError error = {0};
	TestData data;
	HgStatus status;
	HgJob *job;

	test_data_create(&data, TEST_KEYS_SKEWED, 4, 1, 20000);
	status = test_measure(engine, host, &data, &trial, &measure, &error);
	hg_tap_ok(status == HG_INVALID && error.message[0] != '\0',
			  "lists that would be padded too far are an answer");
	trial.spec.kind = HG_TABLE_CSR;
	hg_tap_ok(is_measured(engine, host, &data, &trial), "... and keys without padding too");
	test_data_destroy(&data);

	trial.batches = HG_TABLE_MAX_BATCHES + 1;
	status = engine->open(engine, host, &spec, &job, &error);
	hg_tap_ok(status == HG_INVALID, "a table can't be changed in any number of batches");
	trial.batches = 1;
	trial.spec.kind = (HgTableKind) 77;
	status = engine->open(engine, host, &spec, &job, &error);
	hg_tap_ok(status == HG_INVALID, "... nor be of any kind");
	trial.spec.kind = HG_TABLE_CUCKOO;
	trial.spec.bad_functions = 1;
	trial.spec.content = HG_TABLE_MAP;
	status = engine->open(engine, host, &spec, &job, &error);
	hg_tap_ok(status == HG_INVALID, "... nor have functions that are bad");
	trial.spec.bad_functions = 0;
	spec.key_width = 8;
	status = engine->open(engine, host, &spec, &job, &error);
	hg_tap_ok(status == HG_INVALID, "... nor keys of another width than the job");
	spec.key_width = 4;
	spec.sides[HG_INNER].ncolumns = 1;
	spec.sides[HG_INNER].column_width[0] = 4;
	status = engine->open(engine, host, &spec, &job, &error);
	hg_tap_ok(status == HG_INVALID, "... nor columns beside them");

	spec = (HgJobSpec){.key_width = 4, .device = -1};
	status = engine->open(engine, host, &spec, &job, &error);
	if (status == HG_OK)
	{
		status = engine->measure->measure_table(job, &measure, &error);
		engine->join->close(job);
	}
	hg_tap_ok(status == HG_INVALID, "a job without a table has none to be measured");
}

/* Cancelled at each of the first polls, and without each of its allocations. */
static void
test_stopped(HgEngine *engine, const HgHost *base, HgTableKind kind)
{
	const HgTableTrial trial = {.spec = {.kind = kind, .content = HG_TABLE_MAP, .key_width = 4},
								.batches = 3};
	HgTableMeasure measure;
	HgError error = {0};
	TestData data;
	HgStatus status;
	uint64_t at;
	bool good = true;

	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 1, 30000);
	for (at = 1; good && at < 5000; at += 1 + at / 2)
	{
		TestHost host;

		test_host_init(&host, base);
		host.cancel_poll = at;
		status = test_measure(engine, &host.host, &data, &trial, &measure, &error);
		good = (status == HG_CANCELLED || status == HG_OK) && host.held_bytes == 0 && !host.misused;
		if (status == HG_OK)
			break;
	}
	hg_tap_ok(good && at > 1, "%s: cancelled while it is measured", hg_table_kind_name(kind));
	status = HG_OUT_OF_MEMORY;
	for (at = 1; good && status != HG_OK; at++)
	{
		TestHost host;

		test_host_init(&host, base);
		host.fail_allocation = at;
		status = test_measure(engine, &host.host, &data, &trial, &measure, &error);
		good = (status == HG_OUT_OF_MEMORY || (status == HG_OK && host.allocations < at)) &&
			   host.held_bytes == 0 && !host.misused;
	}
	hg_tap_ok(good, "... and without memory of the host");
	test_data_destroy(&data);
}

void
test_measure_suite(HgEngine *engine, const HgHost *host)
{
	for (int kind = 0; kind < HG_TABLE_KINDS; kind++)
		for (int content = 0; content < HG_TABLE_CONTENTS; content++)
			if (hg_table_traits((HgTableKind) kind, (HgTableContent) content).possible &&
				hg_tap_turn())
				test_kind(engine, host, (HgTableKind) kind, (HgTableContent) content);
	for (int kind = 0; kind < HG_TABLE_KINDS; kind++)
		if (hg_tap_turn())
			test_stopped(engine, host, (HgTableKind) kind);
	if (hg_tap_turn())
		test_unmeasurable(engine, host);
}
