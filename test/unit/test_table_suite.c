/*-------------------------------------------------------------------------
 *
 * test_table_suite.c
 *	  The conformity suite of tables: the cases.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_table_suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hg_tap.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Different keys, and rows in a batch, of a table that is small. */
#define KEYS 400
#define BATCH 300

/* Keys of a table that something happens to at each moment in turn. */
#define TROUBLE_KEYS 160

/* A table of a spec under a name. */
typedef struct Variant
{
	const char *name;
	HgTableSpec spec; /* without content and key width */
} Variant;

/* What of each kind differs in how it works. */
static const Variant variants[] = {
	{"csr", {.kind = HG_TABLE_CSR}},
	{"csr, soa", {.kind = HG_TABLE_CSR, .layout = HG_TABLE_SOA}},
	{"csr, long lists", {.kind = HG_TABLE_CSR, .load_factor = 64}},
	{"ellpack", {.kind = HG_TABLE_ELLPACK, .max_padding = 10000}},
	{"ellpack, soa", {.kind = HG_TABLE_ELLPACK, .max_padding = 10000, .layout = HG_TABLE_SOA}},
	{"sliced ellpack", {.kind = HG_TABLE_SLICED_ELLPACK, .max_padding = 10000}},
	{"sliced ellpack, soa",
	 {.kind = HG_TABLE_SLICED_ELLPACK, .max_padding = 10000, .layout = HG_TABLE_SOA}},
	{"dynamic", {.kind = HG_TABLE_DYNAMIC}},
	{"dynamic, soa", {.kind = HG_TABLE_DYNAMIC, .layout = HG_TABLE_SOA}},
	{"dynamic, room for all", {.kind = HG_TABLE_DYNAMIC, .expected_rows = 10000}},
	{"dynamic, 5 empty slots",
	 {.kind = HG_TABLE_DYNAMIC, .load_factor = 4, .empty_slots = 5, .expected_rows = 100}},
	{"cuckoo", {.kind = HG_TABLE_CUCKOO}},
	{"cuckoo, 2 functions", {.kind = HG_TABLE_CUCKOO, .functions = 2}},
	{"cuckoo, 5 functions", {.kind = HG_TABLE_CUCKOO, .functions = 5, .slots_factor = 1.02}},
	{"cuckoo, room for all", {.kind = HG_TABLE_CUCKOO, .expected_rows = 10000}},
	{"cuckoo, bad functions", {.kind = HG_TABLE_CUCKOO, .bad_functions = 9}},
	{"dycuckoo", {.kind = HG_TABLE_DYCUCKOO}},
	{"dycuckoo, 2 subtables", {.kind = HG_TABLE_DYCUCKOO, .subtables = 2}},
	{"dycuckoo, 4 subtables, full",
	 {.kind = HG_TABLE_DYCUCKOO, .subtables = 4, .min_filled = 0.7, .max_filled = 0.95}},
	{"dycuckoo, bad functions", {.kind = HG_TABLE_DYCUCKOO, .bad_functions = 5}},
	{"dycuckoo, room for all", {.kind = HG_TABLE_DYCUCKOO, .expected_rows = 10000}},
};

/* What is put into a name for a spec. */
static const char *
spec_name(const Variant *variant, const HgTableSpec *spec)
{
	static char name[120];

	snprintf(name, sizeof(name), "%s, %s of %u bytes", variant->name,
			 hg_table_content_name(spec->content), 8 * (unsigned) spec->key_width);
	return name;
}

/* Random changes, and after each everything is compared. */
static bool
run_random(HgTables *tables, const HgTableSpec *spec, TestPool pool, uint64_t seed)
{
	bool can_erase = hg_table_traits(spec->kind, spec->content).can_erase;
	TestTable test;
	bool good = test_table_create(&test, tables, spec, pool, KEYS);

	test.random = seed;
	if (good)
		good = test_table_compare(&test);
	if (good && test_table_random(&test, 2) == 0)
		good = test_table_change(&test, TEST_BUILD, test_table_random(&test, 3 * BATCH), 1000) &&
			   test_table_compare(&test);
	for (int step = 0; step < 14 && good; step += hg_tap_suite() == HG_SUITE_TINY ? 3 : 1)
	{
		/* grow, then shrink, then both; batches of all sizes */
		TestChange shrink = test_table_random(&test, 2) == 0 ? TEST_ERASE_KEYS : TEST_ERASE_PAIRS;
		TestChange change = step < 5	? TEST_INSERT
							: step < 10 ? shrink
							: test_table_random(&test, 2) == 0
								? TEST_REPLACE
								: (test_table_random(&test, 2) == 0 ? TEST_INSERT : shrink);
		uint32_t rows = test_table_random(&test, test_table_random(&test, 3) == 0 ? 4 : BATCH);

		if (!can_erase)
			change = TEST_INSERT;
		good = test_table_change(&test, change, rows, step % 2 == 0 ? 5 : 100000) &&
			   test_table_compare(&test);
	}
	return test_table_destroy(&test) && good;
}

/* All keys of a pool come and go, many times over. */
static bool
run_waves(HgTables *tables, const HgTableSpec *spec)
{
	int waves = hg_tap_suite() == HG_SUITE_TINY ? 1 : 6;
	TestTable test;
	bool good = test_table_create(&test, tables, spec, TEST_POOL_RANDOM, 3000);

	for (int wave = 0; wave < waves && good; wave++)
	{
		for (int step = 0; step < 6 && good; step++)
			good = test_table_change(&test, TEST_INSERT, 1500, 100000);
		if (good)
			good = test_table_compare(&test);
		for (int step = 0; step < 12 && good; step++)
			good = test_table_change(&test, TEST_ERASE_KEYS, 1500, 100000);
		if (good)
			good = test_table_compare(&test);
	}
	return test_table_destroy(&test) && good;
}

/* The changes in the life of a table that something is to happen to. */
static const struct
{
	TestChange change;
	uint32_t rows;
} life[] = {
	{TEST_BUILD, 100},		{TEST_INSERT, 10},		{TEST_INSERT, 200}, {TEST_ERASE_KEYS, 10},
	{TEST_ERASE_PAIRS, 30}, {TEST_ERASE_KEYS, 250}, {TEST_REPLACE, 40}, {TEST_INSERT, 300},
};

/* What is to happen. */
typedef enum Trouble
{
	TROUBLE_MEMORY, /* an allocation is refused */
	TROUBLE_CANCEL	/* a poll says that work should stop */
} Trouble;

static void
trouble_set(TestTable *test, Trouble trouble, uint64_t when)
{
	if (trouble == TROUBLE_MEMORY)
		test->host.fail_allocation = when;
	else
		test->host.cancel_poll = when;
}

/* At how many moments it could have happened so far. */
static uint64_t
trouble_moments(const TestTable *test, Trouble trouble)
{
	return trouble == TROUBLE_MEMORY ? test->host.allocations : test->host.polls;
}

/*
 * A change has failed as it should: a table that builds beside is as it was, and can do it now; of
 * another nothing but close is left.
 */
static bool
after_failed_change(TestTable *test, const TestBatch *batch)
{
	HgTableChange done;
	HgTableChange expected;
	HgTableStats stats;
	HgError error = {0};
	uint32_t row;
	uint64_t key = 0;

	if (hg_table_traits(test->spec.kind, test->spec.content).in_place)
		return test->tables->find(test->table, &key, 1, &row, &error) == HG_INVALID &&
			   test->tables->describe(test->table, &stats, &error) == HG_INVALID &&
			   test_batch_run(test, batch, NULL, &error) == HG_INVALID;
	if (!test_table_compare(test) || test_batch_run(test, batch, &done, &error) != HG_OK)
		return false;
	test_batch_expect(test, batch, &expected);
	return done.inserted == expected.inserted && done.erased == expected.erased &&
		   test_table_compare(test);
}

/* What a table says where memory is refused that it takes in a change. */
static HgStatus
refused(const HgTables *tables)
{
	return tables->on_device ? HG_DEVICE_OUT_OF_MEMORY : HG_OUT_OF_MEMORY;
}

/* Live a life in which something happens at that moment, from 1; *moments is how many it had. */
static bool
run_trouble(HgTables *tables, const HgTableSpec *spec, Trouble trouble, uint64_t when,
			uint64_t *moments)
{
	HgStatus wanted = trouble == TROUBLE_MEMORY ? refused(tables) : HG_CANCELLED;
	bool can_erase = hg_table_traits(spec->kind, spec->content).can_erase;
	bool good = true;
	TestTable test;
	TestBatch batch;
	HgTableChange change;
	HgError error = {0};
	HgStatus status = HG_OK;

	*moments = 0;
	if (!test_table_create(&test, tables, spec, TEST_POOL_EXTREMES, TROUBLE_KEYS))
		return test_table_destroy(&test) && false;

	/* what open asks for is looked at by another test */
	test.host.allocations = 0;
	test.host.polls = 0;
	test.random = 7;
	trouble_set(&test, trouble, when);
	for (size_t step = 0; step < LENGTH(life) && good && status == HG_OK; step++)
	{
		if (!can_erase && life[step].change != TEST_BUILD && life[step].change != TEST_INSERT)
			continue;
		test_batch_create(&test, &batch, life[step].change, life[step].rows, 40);
		status = test_batch_run(&test, &batch, &change, &error);
		if (status == HG_OK)
			test_batch_expect(&test, &batch, &change);
		else
		{
			trouble_set(&test, trouble, 0);
			good = status == wanted && after_failed_change(&test, &batch);
		}
		test_batch_destroy(&batch);
	}
	*moments = trouble_moments(&test, trouble);
	trouble_set(&test, trouble, 0);
	if (status == HG_OK && good)
		good = *moments < when && test_table_compare(&test);
	if (!good)
		hg_tap_diag("trouble %d at %" PRIu64 ": status %d, %s (%s)", (int) trouble, when,
					(int) status, error.message, error.detail);
	return test_table_destroy(&test) && good;
}

/*
 * Live a life without trouble, and then one for each of its moments at which that can happen, or
 * for the first, every n-th and the last of them (hg_tap_stride).
 */
static bool
run_troubles(HgTables *tables, const HgTableSpec *spec, Trouble trouble)
{
	const uint64_t stride = hg_tap_stride();
	uint64_t moments;
	uint64_t seen;
	uint64_t when = 1;

	/* what was given room for all at first may ask for no more */
	if (!run_trouble(tables, spec, trouble, UINT64_MAX, &moments) ||
		(moments == 0 && !(trouble == TROUBLE_MEMORY && spec->expected_rows > 0)))
		return false;
	while (when <= moments)
	{
		if (!run_trouble(tables, spec, trouble, when, &seen))
			return false;
		when = when < moments && moments - when < stride ? moments : when + stride;
	}
	return true;
}

/* Readings that fail leave the table as it was. */
static bool
run_trouble_reading(HgTables *tables, const HgTableSpec *spec)
{
	uint32_t keys[2 * KEYS];
	uint32_t rows[KEYS];
	HgTableMatches matches = {.probe = rows, .capacity = KEYS};
	HgTableStream *stream;
	HgTableStats stats;
	HgError error = {0};
	TestTable test;
	uint64_t all;
	bool good;

	memset(keys, 0, sizeof(keys));
	good = test_table_create(&test, tables, spec, TEST_POOL_DENSE, KEYS) &&
		   test_table_change(&test, TEST_BUILD, BATCH, 100);
	test.host.cancel_poll = 1;
	good = good && tables->find(test.table, keys, KEYS, rows, &error) == HG_CANCELLED;
	good = good && tables->count(test.table, keys, KEYS, rows, &all, &error) == HG_CANCELLED;
	good = good && tables->describe(test.table, &stats, &error) == HG_CANCELLED;
	good = good && tables->export_entries(test.table, keys, rows, &error) == HG_CANCELLED;
	test.host.cancel_poll = 0;
	test.host.fail_allocation = test.host.allocations + 1;
	good = good && tables->match(test.table, keys, KEYS, &stream, &error) == HG_OUT_OF_MEMORY;
	test.host.fail_allocation = 0;
	if (good)
	{
		good = tables->match(test.table, keys, KEYS, &stream, &error) == HG_OK;
		test.host.cancel_poll = 1;
		good = good && tables->next(stream, &matches, &error) == HG_CANCELLED;
		test.host.cancel_poll = 0;
		tables->end(stream);
	}
	good = good && test_table_compare(&test);
	return test_table_destroy(&test) && good;
}

/* What open asks for may be refused as well. */
static bool
run_trouble_opening(HgTables *tables, const HgTableSpec *spec)
{
	uint64_t when = 0;
	HgStatus status;

	do
	{
		TestHost host;
		HgTable *table = NULL;
		HgError error = {0};

		test_host_init(&host, test_host_plain());
		host.fail_allocation = ++when;
		status = tables->open(tables, &host.host, spec, &table, &error);
		if (status == HG_OK)
			tables->close(table);
		if ((status != HG_OK && status != HG_OUT_OF_MEMORY && status != refused(tables)) ||
			(status != HG_OK && table != NULL) || host.held_bytes != 0 || host.misused)
			return false;
	} while (status != HG_OK);
	return when > 1;
}

/* What the contract forbids is HG_INVALID and changes nothing. */
static bool
run_contract(HgTables *tables, const HgTableSpec *spec)
{
	bool can_erase = hg_table_traits(spec->kind, spec->content).can_erase;
	bool has_rows = spec->content == HG_TABLE_MAP || spec->content == HG_TABLE_MULTIMAP;
	uint64_t key = 3;
	uint32_t row = UINT32_MAX;
	uint32_t large = HG_MAX_ROWS;
	HgTableBatch one = {.keys = &key, .count = 1};
	HgTableBatch no_row = {.keys = &key, .rows = &row, .count = 1};
	HgTableBatch large_row = {.keys = &key, .rows = &large, .count = 1};
	HgTableBatch past_rows = {.keys = &key, .first_row = HG_MAX_ROWS, .count = 1};
	HgTableBatch too_many = {.keys = &key, .count = HG_MAX_ROWS};
	HgTableMatches matches = {.probe = &row, .capacity = 0};
	HgTableStream *stream;
	HgError error = {0};
	TestTable test;
	bool good = test_table_create(&test, tables, spec, TEST_POOL_DENSE, KEYS) &&
				test_table_change(&test, TEST_BUILD, BATCH, 100);

	good = good && tables->build(test.table, &one, NULL, &error) == HG_INVALID;
	if (!can_erase)
		good = good && tables->erase(test.table, &one, NULL, &error) == HG_INVALID &&
			   tables->replace(test.table, &one, &one, NULL, &error) == HG_INVALID;
	if (has_rows)
		good = good && tables->insert(test.table, &no_row, NULL, &error) == HG_INVALID &&
			   tables->insert(test.table, &large_row, NULL, &error) == HG_INVALID &&
			   tables->insert(test.table, &past_rows, NULL, &error) == HG_INVALID;
	good = good && tables->insert(test.table, &too_many, NULL, &error) == HG_TOO_MANY_ROWS;
	if (good)
	{
		good = tables->match(test.table, &key, 1, &stream, &error) == HG_OK;
		good = good && tables->next(stream, &matches, &error) == HG_INVALID;
		tables->end(stream);
	}
	good = good && test_table_compare(&test);
	return test_table_destroy(&test) && good;
}

/* Put as many rows into a table as it has bytes. */
static bool
run_memory_refused(HgTables *tables, const HgTableSpec *spec)
{
	uint64_t *keys = test_malloc(spec->memory_limit * sizeof(uint64_t));
	HgTableBatch batch = {.keys = keys, .count = spec->memory_limit};
	HgTable *table = NULL;
	HgError error = {0};
	TestHost host;
	HgStatus status;

	for (uint64_t i = 0; i < spec->memory_limit; i++)
		keys[i] = i << 32 | i;
	test_host_init(&host, test_host_plain());
	status = tables->open(tables, &host.host, spec, &table, &error);
	if (status == HG_OK)
	{
		status = tables->build(table, &batch, NULL, &error);
		tables->close(table);
	}
	free(keys);
	return status == refused(tables) && host.held_bytes == 0 &&
		   (tables->on_device || host.peak_bytes <= spec->memory_limit);
}

/* Is what a table holds, and what it held at most, as was told? */
static bool
holds_up_to(TestTable *test, uint64_t held, uint64_t peak)
{
	HgTableStats stats;
	HgError error = {0};

	return test->tables->describe(test->table, &stats, &error) == HG_OK && stats.bytes <= held &&
		   stats.peak_bytes <= peak;
}

/* Memory is told before it is taken, and a limit holds. */
static bool
run_memory(HgTables *tables, const HgTableSpec *spec)
{
	static const uint32_t sizes[] = {0, 1, 30, 1000, 5000};
	HgTableMemory needed;
	HgError error = {0};
	bool good = true;

	for (size_t i = 0; i < LENGTH(sizes) && good; i++)
	{
		HgTableSpec limited = *spec;
		TestTable test;

		limited.bad_functions = 0;
		good = tables->memory(&limited, sizes[i], &needed, &error) == HG_OK;
		limited.memory_limit = needed.build;
		good = good && test_table_create(&test, tables, &limited, TEST_POOL_RANDOM, 10000);
		if (good)
		{
			good = test_table_change(&test, TEST_BUILD, sizes[i], 100000) &&
				   holds_up_to(&test, needed.held, needed.build) && test_table_compare(&test);
			good = test_table_destroy(&test) && good;
		}

		limited.memory_limit = needed.change;
		good = good && test_table_create(&test, tables, &limited, TEST_POOL_RANDOM, 10000);
		if (good)
		{
			for (int step = 0; step < 10 && good; step++)
				good = test_table_change(&test, TEST_INSERT, sizes[i] / 10, 100000);
			good = good && holds_up_to(&test, needed.change, needed.change) &&
				   test_table_compare(&test);
			good = test_table_destroy(&test) && good;
		}

		/* a byte a row is not enough, and no more is taken */
		limited.memory_limit = sizes[i];
		if (good && sizes[i] >= 1000)
			good = run_memory_refused(tables, &limited);
		if (!good)
			hg_tap_diag("%u rows: told %" PRIu64 " held, %" PRIu64 " to build, %" PRIu64
						" to change",
						sizes[i], needed.held, needed.build, needed.change);
	}
	return good;
}

/* Every test of one table. */
static void
suite_one(HgTables *tables, const Variant *variant, const HgTableSpec *spec)
{
	bool small = hg_tap_suite() <= HG_SUITE_SMALL;
	bool good = true;

	for (int pool = 0; pool < TEST_POOL_COUNT && good; pool++)
		for (uint64_t seed = 1; seed <= (small ? 1 : 2) && good; seed++)
		{
			good = run_random(tables, spec, (TestPool) pool, seed);
			if (!good)
				hg_tap_diag("%s, seed %" PRIu64, test_pool_name((TestPool) pool), seed);
		}
	hg_tap_ok(good, "%s: %s: changes at random", tables->name, spec_name(variant, spec));

	if (hg_table_traits(spec->kind, spec->content).can_erase)
		hg_tap_ok(run_waves(tables, spec), "%s: %s: grows and shrinks", tables->name,
				  spec_name(variant, spec));
	hg_tap_ok(run_contract(tables, spec), "%s: %s: what is forbidden changes nothing", tables->name,
			  spec_name(variant, spec));
	hg_tap_ok(run_memory(tables, spec), "%s: %s: memory is told before it is taken", tables->name,
			  spec_name(variant, spec));
	for (int trouble = TROUBLE_MEMORY; trouble <= TROUBLE_CANCEL; trouble++)
		hg_tap_ok(run_troubles(tables, spec, (Trouble) trouble), "%s: %s: %s", tables->name,
				  spec_name(variant, spec),
				  trouble == TROUBLE_MEMORY ? "refused memory" : "cancelled");
	hg_tap_ok(run_trouble_reading(tables, spec) && run_trouble_opening(tables, spec),
			  "%s: %s: failures in reading and opening", tables->name, spec_name(variant, spec));
}

bool
hg_table_suite_wants(HgTableKind kind)
{
	const char *name = getenv("HG_KIND");
	bool known = false;

	if (name == NULL)
		return true;
	for (int i = 0; i < HG_TABLE_KINDS; i++)
		known |= strcmp(name, hg_table_kind_name((HgTableKind) i)) == 0;
	if (!known)
	{
		printf("Bail out! HG_KIND is \"%s\", not a kind of table\n", name);
		exit(1);
	}
	return strcmp(name, hg_table_kind_name(kind)) == 0;
}

void
hg_table_suite(HgTables *tables)
{
	for (size_t i = 0; i < LENGTH(variants); i++)
		for (int content = 0; content < HG_TABLE_CONTENTS; content++)
			for (uint32_t width = 4; width <= 8; width += 4)
			{
				HgTableSpec spec = variants[i].spec;

				spec.content = (HgTableContent) content;
				spec.key_width = width;
				if (hg_table_suite_wants(spec.kind) &&
					hg_table_traits(spec.kind, spec.content).possible && hg_tap_turn())
					suite_one(tables, &variants[i], &spec);
			}
}
