/*-------------------------------------------------------------------------
 *
 * test_table.c
 *	  The tables of the CPU: the conformity suite, and what is their own promise.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"
#include "test_table_suite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/engine/hg_features.h"
#include "../../src/tables/hg_table_cpu.h"

/* A spec out of its limits is HG_INVALID, to open and to be told the memory of. */
static void
test_specs(void)
{
	static const struct
	{
		const char *what;
		HgTableSpec spec;
	} wrong[] = {
		{"no key width", {.kind = HG_TABLE_CSR}},
		{"keys of 16 bits", {.kind = HG_TABLE_CSR, .key_width = 2}},
		{"a numbering in lists", {.content = HG_TABLE_NUMBERING, .key_width = 4}},
		{"a multimap of subtables",
		 {.kind = HG_TABLE_DYCUCKOO, .content = HG_TABLE_MULTIMAP, .key_width = 4}},
		{"an unknown kind", {.kind = HG_TABLE_KINDS, .key_width = 4}},
		{"an unknown content", {.content = HG_TABLE_CONTENTS, .key_width = 4}},
		{"a load factor of 100", {.load_factor = 100, .key_width = 4}},
		{"padding below one", {.kind = HG_TABLE_ELLPACK, .max_padding = 0.5, .key_width = 4}},
		{"65 empty slots", {.kind = HG_TABLE_DYNAMIC, .empty_slots = 65, .key_width = 4}},
		{"an unknown layout", {.layout = (HgTableLayout) 2, .key_width = 4}},
		{"one function", {.kind = HG_TABLE_CUCKOO, .functions = 1, .key_width = 4}},
		{"two functions for a full table",
		 {.kind = HG_TABLE_CUCKOO, .functions = 2, .slots_factor = 1.25, .key_width = 4}},
		{"nine subtables", {.kind = HG_TABLE_DYCUCKOO, .subtables = 9, .key_width = 4}},
		{"filled factors too close",
		 {.kind = HG_TABLE_DYCUCKOO, .min_filled = 0.7, .max_filled = 0.8, .key_width = 4}},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
	{
		HgTable *table = NULL;
		HgTableMemory memory;
		HgError error = {0};
		TestHost host;

		test_host_init(&host, test_host_plain());
		hg_tap_ok(hg_table_cpu()->open(hg_table_cpu(), &host.host, &wrong[i].spec, &table,
									   &error) == HG_INVALID &&
					  table == NULL && host.allocations == 0 && error.message[0] != '\0' &&
					  hg_table_cpu()->memory(&wrong[i].spec, 1, &memory, NULL) == HG_INVALID,
				  "cpu: no table with %s", wrong[i].what);
	}
}

/* A table of numbers as keys of 8 bytes, each its own row unless rows says otherwise. */
typedef struct Numbers
{
	TestHost host;
	HgTable *table;
	HgTableStats stats; /* as it was last described */
	HgError error;
	uint64_t *keys;
	uint32_t *rows;
	uint32_t count;
} Numbers;

/* Open a table, and have keys first, first + step ... for it. */
static HgStatus
numbers_create(Numbers *numbers, const HgTableSpec *spec, uint32_t count, uint64_t first,
			   uint64_t step)
{
	memset(numbers, 0, sizeof(*numbers));
	test_host_init(&numbers->host, test_host_plain());
	numbers->count = count;
	numbers->keys = test_malloc(count * sizeof(uint64_t));
	numbers->rows = test_malloc(count * sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++)
	{
		numbers->keys[i] = first + step * i;
		numbers->rows[i] = i;
	}
	return hg_table_cpu()->open(hg_table_cpu(), &numbers->host.host, spec, &numbers->table,
								&numbers->error);
}

/* Close it; false where memory is left. */
static bool
numbers_destroy(Numbers *numbers)
{
	hg_table_cpu()->close(numbers->table);
	free(numbers->keys);
	free(numbers->rows);
	return numbers->host.held_bytes == 0;
}

/* Insert or erase keys from .. from + count - 1; true where as many went in or out. */
static bool
numbers_change(Numbers *numbers, bool insert, uint32_t from, uint32_t count)
{
	HgTableBatch batch = {.keys = numbers->keys + from, .rows = numbers->rows + from};
	HgTableChange change = {0};
	HgTables *tables = hg_table_cpu();
	HgStatus status;

	batch.count = count;
	status = insert ? tables->insert(numbers->table, &batch, &change, &numbers->error)
					: tables->erase(numbers->table, &batch, &change, &numbers->error);
	if (status == HG_OK)
		status = tables->describe(numbers->table, &numbers->stats, &numbers->error);
	return status == HG_OK && (insert ? change.inserted : change.erased) == count;
}

/* Are keys from .. from + count - 1 there, with their rows? */
static bool
numbers_are_there(Numbers *numbers, uint32_t from, uint32_t count)
{
	uint32_t *rows = test_malloc(count * sizeof(uint32_t));
	bool good = hg_table_cpu()->find(numbers->table, numbers->keys + from, count, rows,
									 &numbers->error) == HG_OK;

	for (uint32_t i = 0; i < count && good; i++)
		good = rows[i] == numbers->rows[from + i];
	free(rows);
	return good;
}

/* Too much padding is refused, and nothing has changed. */
static void
test_padding(void)
{
	for (int kind = HG_TABLE_ELLPACK; kind <= HG_TABLE_SLICED_ELLPACK; kind++)
	{
		HgTableSpec spec = {
			.kind = (HgTableKind) kind, .content = HG_TABLE_MULTIMAP, .key_width = 8};
		Numbers unique;
		Numbers equal;
		bool good = numbers_create(&unique, &spec, 20000, 7, 1) == HG_OK &&
					numbers_change(&unique, true, 0, 20000);
		uint64_t longest = unique.stats.longest_list;

		hg_tap_ok(good && unique.stats.slots <= 16 * unique.stats.rows &&
					  (kind == HG_TABLE_ELLPACK
						   ? unique.stats.slots == longest * unique.stats.lists
						   : unique.stats.slots < longest * unique.stats.lists),
				  "cpu: %s: %.1f slots a row, lists of %d rows at most",
				  hg_table_kind_name(spec.kind), 1 / unique.stats.filled, (int) longest);
		/* one list of all rows, and 31 empty ones beside it in its slice */
		good = numbers_create(&equal, &spec, 20000, 7, 0) == HG_OK;
		good = good && !numbers_change(&equal, true, 0, 20000) &&
			   equal.error.status == HG_INVALID && strstr(equal.error.message, "padding") != NULL &&
			   equal.error.detail[0] != '\0' && !numbers_change(&equal, true, 0, 20000) &&
			   numbers_change(&equal, true, 0, 1) && numbers_are_there(&equal, 0, 1);
		hg_tap_ok(good, "cpu: %s: too much padding is refused", hg_table_kind_name(spec.kind));
		good = numbers_destroy(&unique) && numbers_destroy(&equal);
		hg_tap_ok(good, "cpu: %s: all memory comes back", hg_table_kind_name(spec.kind));
	}
}

/* Room that is made for rows to come is no padding: with the first few of them nothing is refused.
 */
static void
test_room(void)
{
	for (int kind = HG_TABLE_ELLPACK; kind <= HG_TABLE_SLICED_ELLPACK; kind++)
	{
		HgTableSpec spec = {.kind = (HgTableKind) kind,
							.content = HG_TABLE_MAP,
							.key_width = 8,
							.expected_rows = 20000};
		Numbers numbers;
		HgTableMemory memory = {0};
		bool good = numbers_create(&numbers, &spec, 20000, 7, 1) == HG_OK &&
					numbers_change(&numbers, true, 0, 200) &&
					hg_table_cpu()->memory(&spec, 200, &memory, &numbers.error) == HG_OK &&
					numbers.stats.bytes <= memory.held &&
					numbers_change(&numbers, true, 200, 19800) &&
					numbers_are_there(&numbers, 0, 20000);

		hg_tap_ok(good, "cpu: %s: with room for more rows than there are nothing is refused",
				  hg_table_kind_name(spec.kind));
		good = numbers_destroy(&numbers);
		hg_tap_ok(good, "cpu: %s: all of its memory comes back", hg_table_kind_name(spec.kind));
	}
}

/*
 * Many rows of one key, in batches and erased by pair, take work in proportion to the rows: what a
 * table does between two polls is bounded, so that polls count it.
 */
static void
test_one_key(HgTableKind kind)
{
	enum
	{
		ROWS = 40000,
		MOST_POLLS = 60000
	};
	HgTableSpec spec = {.kind = kind, .content = HG_TABLE_MULTIMAP, .key_width = 8};
	Numbers numbers;
	uint64_t counted = 0;
	bool good = numbers_create(&numbers, &spec, ROWS, 99, 0) == HG_OK;

	for (uint32_t i = 0; i < 8; i++)
		good = good && numbers_change(&numbers, true, i * (ROWS / 8), ROWS / 8);
	good = good && numbers_change(&numbers, false, ROWS / 4, ROWS / 2) &&
		   hg_table_cpu()->count(numbers.table, numbers.keys, 2, NULL, &counted, &numbers.error) ==
			   HG_OK &&
		   counted == ROWS;
	hg_tap_ok(good && numbers.host.polls < MOST_POLLS,
			  "cpu: %s: many rows of one key, looked at %d times", hg_table_kind_name(kind),
			  (int) numbers.host.polls);
	good = numbers_destroy(&numbers);
}

/*
 * Rows go into empty slots as long as there are some, and further lists, and then all is built
 * anew.
 */
static void
test_dynamic(void)
{
	HgTableSpec spec = {
		.kind = HG_TABLE_DYNAMIC, .content = HG_TABLE_MAP, .key_width = 8, .expected_rows = 40000};
	Numbers numbers;
	bool good = numbers_create(&numbers, &spec, 200000, 5, 3) == HG_OK;

	for (uint32_t i = 0; i < 100; i++)
		good = good && numbers_change(&numbers, true, i * 400, 400);
	hg_tap_ok(good && numbers.stats.rebuilds == 0 && numbers.stats.longest_walk >= 1 &&
				  numbers.stats.longest_walk <= 32 && numbers_are_there(&numbers, 0, 40000),
			  "cpu: dynamic: 100 batches into the slots that were left empty, up to %d lists on",
			  (int) numbers.stats.longest_walk);
	good = numbers_change(&numbers, false, 0, 400) && numbers.stats.deleted == 400 &&
		   numbers_change(&numbers, true, 0, 400) && numbers.stats.deleted < 400 &&
		   numbers.stats.rebuilds == 0;
	hg_tap_ok(good, "cpu: dynamic: deleted slots are used again");
	for (uint32_t i = 100; i < 300; i++)
		good = good && numbers_change(&numbers, true, i * 400, 400);
	hg_tap_ok(good && numbers.stats.rebuilds >= 1 && numbers.stats.rebuilds < 10 &&
				  numbers_are_there(&numbers, 0, 120000),
			  "cpu: dynamic: %d rebuilds in 200 batches more", (int) numbers.stats.rebuilds);
	good = numbers_change(&numbers, true, 120000, 80000) && numbers_are_there(&numbers, 0, 200000);
	hg_tap_ok(numbers_destroy(&numbers) && good, "cpu: dynamic: a large batch");
}

/* Functions that are no good are replaced. */
static void
test_restarts(HgTableKind kind)
{
	HgTableSpec spec = {.kind = kind, .content = HG_TABLE_MAP, .key_width = 8, .bad_functions = 12};
	Numbers numbers;
	bool good = numbers_create(&numbers, &spec, 50000, 1, 1) == HG_OK;

	for (uint32_t i = 0; i < 10; i++)
		good = good && numbers_change(&numbers, true, i * 5000, 5000);
	good = good && numbers.stats.restarts >= 2 && numbers_are_there(&numbers, 0, 50000);
	hg_tap_ok(numbers_destroy(&numbers) && good, "cpu: %s: %d restarts after bad functions",
			  hg_table_kind_name(kind), (int) numbers.stats.restarts);
}

/* A cuckoo table is as full as is asked, and seldom starts again. */
static void
test_cuckoo(void)
{
	static const double factors[] = {2.2, 1.15, 1.05, 1.03};

	for (uint32_t functions = 2; functions <= 5; functions++)
	{
		HgTableSpec spec = {.kind = HG_TABLE_CUCKOO,
							.content = HG_TABLE_MAP,
							.key_width = 8,
							.functions = functions};
		Numbers numbers;
		bool good;

		spec.slots_factor = factors[functions - 2];
		good = numbers_create(&numbers, &spec, 200000, 1, 1) == HG_OK &&
			   numbers_change(&numbers, true, 0, 200000);
		good = good && numbers.stats.restarts <= 2 && numbers.stats.evictions > 0 &&
			   numbers.stats.filled > 0.99 / spec.slots_factor &&
			   numbers_are_there(&numbers, 0, 200000);
		hg_tap_ok(numbers_destroy(&numbers) && good,
				  "cpu: cuckoo: filled %.3f with %u functions, %.2f evictions a key, %d restarts",
				  numbers.stats.filled, (unsigned) functions,
				  (double) numbers.stats.evictions / 200000, (int) numbers.stats.restarts);
	}
}

/* Keys are numbered in the order in which they come. */
static void
test_numbering(void)
{
	HgTableSpec spec = {.kind = HG_TABLE_CUCKOO, .content = HG_TABLE_NUMBERING, .key_width = 8};
	Numbers numbers;
	bool good = numbers_create(&numbers, &spec, 30000, 1000, 7) == HG_OK;

	for (uint32_t i = 0; i < 30; i++)
		good = good && numbers_change(&numbers, true, i * 1000, 1000) &&
			   !numbers_change(&numbers, true, 0, 500);
	good = good && numbers_are_there(&numbers, 0, 30000);
	hg_tap_ok(numbers_destroy(&numbers) && good,
			  "cpu: a numbering goes on where it was, in the order of the keys");
}

/* The filled factor is held, growing and shrinking, by one subtable at a time. */
static void
test_filled(void)
{
	enum
	{
		ROWS = 100000,
		BATCH = 500
	};
	HgTableSpec spec = {.kind = HG_TABLE_DYCUCKOO, .content = HG_TABLE_MAP, .key_width = 8};
	uint64_t least = 3 * 16; /* slots of one bucket a subtable */
	Numbers numbers;
	bool held = true;
	bool one_at_a_time = true;
	bool good = numbers_create(&numbers, &spec, ROWS, 3, 5) == HG_OK;
	uint64_t slots = least;

	for (uint32_t i = 0; i < 2 * ROWS && good; i += BATCH)
	{
		bool grows = i < ROWS;

		good = numbers_change(&numbers, grows, grows ? i : i - ROWS, BATCH);
		held &= numbers.stats.filled <= 0.9 &&
				(numbers.stats.filled >= 0.4 || numbers.stats.slots == least);
		if (numbers.stats.rows > ROWS / 4)
			one_at_a_time &=
				grows ? numbers.stats.slots <= slots * 4 / 3 : numbers.stats.slots >= slots * 2 / 3;
		slots = numbers.stats.slots;
		if (i % (ROWS / 5) == 0)
			good &= grows ? numbers_are_there(&numbers, 0, i)
						  : numbers_are_there(&numbers, i - ROWS + BATCH, 2 * ROWS - i - BATCH);
	}
	hg_tap_ok(good && held, "cpu: dycuckoo: the filled factor is held");
	hg_tap_ok(good && one_at_a_time && numbers.stats.doubled > 10 && numbers.stats.halved > 10,
			  "cpu: dycuckoo: %d subtables doubled and %d halved, one at a time",
			  (int) numbers.stats.doubled, (int) numbers.stats.halved);
	good = numbers_destroy(&numbers);
}

/* Counts how often it is asked whether to go on. */
typedef struct PatientHost
{
	HgHost host;
	uint64_t polls;
} PatientHost;

static void *
patient_alloc(void *arg, size_t bytes)
{
	(void) arg;
	return test_host_plain()->alloc(NULL, bytes);
}

static void
patient_free(void *arg, void *ptr, size_t bytes)
{
	(void) arg;
	test_host_plain()->free(NULL, ptr, bytes);
}

static bool
patient_cancelled(void *arg)
{
	PatientHost *host = arg;

	host->polls++;
	return false;
}

/* The polls since the last look at them, which are to be so many at least. */
static bool
has_polled(PatientHost *host, uint64_t least)
{
	bool enough = host->polls >= least;

	if (!enough)
		hg_tap_diag("%" PRIu64 " polls of %" PRIu64, host->polls, least);
	host->polls = 0;
	return enough;
}

/*
 * However large a batch, a table looks up from it often: once in so many rows, in all that can be
 * done with it.
 */
static void
test_timeout(HgTableKind kind, HgTableContent content)
{
	enum
	{
		ROWS = 1 << 18,
		ROWS_A_POLL = 1 << 16
	};
	HgTableSpec spec = {.kind = kind, .content = content, .key_width = 8, .max_padding = 64};
	PatientHost host = {
		.host = {.alloc = patient_alloc, .free = patient_free, .cancelled = patient_cancelled}};
	HgTables *tables = hg_table_cpu();
	uint64_t *keys = test_malloc(ROWS * sizeof(uint64_t));
	uint32_t *rows = test_malloc(ROWS * sizeof(uint32_t));
	HgTableBatch batch = {.keys = keys, .count = ROWS};
	HgTable *table = NULL;
	HgTableStats stats;
	HgError error;
	uint64_t all;
	bool good;

	for (uint32_t i = 0; i < ROWS; i++)
		keys[i] = hg_mix64(i / 4 * 4);
	host.host.arg = &host;
	good = tables->open(tables, &host.host, &spec, &table, &error) == HG_OK &&
		   tables->build(table, &batch, NULL, &error) == HG_OK &&
		   has_polled(&host, ROWS / ROWS_A_POLL);
	batch.count = ROWS / 4;
	batch.by_key = true;
	if (content != HG_TABLE_NUMBERING)
		good = good && tables->erase(table, &batch, NULL, &error) == HG_OK &&
			   has_polled(&host, ROWS / 4 / ROWS_A_POLL);
	good = good && tables->insert(table, &batch, NULL, &error) == HG_OK &&
		   has_polled(&host, ROWS / 4 / ROWS_A_POLL) &&
		   tables->find(table, keys, ROWS, rows, &error) == HG_OK &&
		   has_polled(&host, ROWS / ROWS_A_POLL) &&
		   tables->count(table, keys, ROWS, NULL, &all, &error) == HG_OK &&
		   has_polled(&host, ROWS / ROWS_A_POLL) &&
		   tables->describe(table, &stats, &error) == HG_OK &&
		   has_polled(&host, ROWS / 4 / ROWS_A_POLL) &&
		   tables->export_entries(table, keys, rows, &error) == HG_OK &&
		   has_polled(&host, ROWS / 4 / ROWS_A_POLL);
	hg_tap_ok(good, "cpu: %s, %s: polls once in %d rows at least", hg_table_kind_name(kind),
			  hg_table_content_name(content), ROWS_A_POLL);
	if (table != NULL)
		tables->close(table);
	free(keys);
	free(rows);
}

/* Does each key of an even number below bound stand there with its row, and no other? */
static bool
evens_are_there(HgTable *table, uint32_t bound, uint32_t step)
{
	uint32_t *keys = test_malloc(bound * sizeof(uint32_t));
	uint32_t *rows = test_malloc((bound + 1) * sizeof(uint32_t));
	HgError error;
	bool good = true;

	for (uint32_t i = 0; i < bound; i++)
		keys[i] = i * UINT32_C(2654435761);
	for (uint32_t from = 0; from < bound && good; from += step)
	{
		uint32_t count = bound - from < step ? bound - from : step;

		rows[count] = 4711;
		good = hg_table_cpu()->find(table, keys + from, count, rows, &error) == HG_OK &&
			   rows[count] == 4711;
		for (uint32_t i = 0; i < count && good; i++)
			good = rows[i] == ((from + i) % 2 == 0 ? (from + i) / 2 : HG_NO_ROW);
	}
	free(keys);
	free(rows);
	return good;
}

/* Lookups by whatever instructions the machine has, as many at a time as there may be. */
static void
test_features(HgTableContent content)
{
	static const uint32_t steps[] = {1, 3, 8, 61, 128, 1000};
	const HgCpuFeatures best = hg_cpu_features();

	for (int features = HG_CPU_PORTABLE; features <= HG_CPU_AVX512; features += 2)
	{
		bool good = true;

		if (features > (int) best)
		{
			hg_tap_skip("this machine has no such instructions", "cpu: cuckoo, kernels %d",
						features);
			continue;
		}
		hg_cpu_limit_features((HgCpuFeatures) features);
		for (uint32_t functions = 2; functions <= HG_TABLE_MAX_FUNCTIONS && good; functions++)
		{
			HgTableSpec spec = {.kind = HG_TABLE_CUCKOO,
								.content = content,
								.key_width = 4,
								.functions = functions};
			uint32_t *keys = test_malloc(5000 * sizeof(uint32_t));
			HgTableBatch batch = {.keys = keys, .count = 5000};
			HgTable *table;
			HgError error;

			for (uint32_t i = 0; i < batch.count; i++)
				keys[i] = 2 * i * UINT32_C(2654435761);
			good = hg_table_cpu()->open(hg_table_cpu(), test_host_plain(), &spec, &table, &error) ==
				   HG_OK;
			good = good && hg_table_cpu()->build(table, &batch, NULL, &error) == HG_OK;
			for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && good; i++)
				good = evens_are_there(table, 10000, steps[i]);
			hg_table_cpu()->close(table);
			free(keys);
		}
		hg_tap_ok(good && hg_cpu_features() == (HgCpuFeatures) features,
				  "cpu: cuckoo, %s, kernels %s", hg_table_content_name(content),
				  features == HG_CPU_PORTABLE ? "portable" : "AVX-512");
	}
	hg_cpu_limit_features(HG_CPU_AVX512);
}

int
main(void)
{
	test_specs();
	test_padding();
	test_room();
	for (int kind = 0; kind < HG_TABLE_KINDS; kind++)
		for (int content = 0; content < HG_TABLE_CONTENTS; content++)
			if (hg_table_traits((HgTableKind) kind, (HgTableContent) content).possible)
				test_timeout((HgTableKind) kind, (HgTableContent) content);
	test_one_key(HG_TABLE_CSR);
	test_one_key(HG_TABLE_DYNAMIC);
	test_one_key(HG_TABLE_CUCKOO);
	test_dynamic();
	test_restarts(HG_TABLE_CUCKOO);
	test_restarts(HG_TABLE_DYCUCKOO);
	test_cuckoo();
	test_numbering();
	test_filled();
	test_features(HG_TABLE_MAP);
	test_features(HG_TABLE_NUMBERING);
	hg_table_suite(hg_table_cpu());
	return hg_tap_done();
}
