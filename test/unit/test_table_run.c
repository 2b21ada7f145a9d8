/*-------------------------------------------------------------------------
 *
 * test_table_run.c
 *	  One table beside a naive one, compared in every respect.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_table_suite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hg_tap.h"

/* Pairs that are asked for at once: so few that most streams take several chunks. */
#define CHUNK 37

const char *
test_pool_name(TestPool pool)
{
	static const char *const names[TEST_POOL_COUNT] = {"dense keys", "random keys", "extreme keys",
													   "keys of one list", "one key"};

	return names[pool];
}

uint32_t
test_table_random(TestTable *test, uint32_t limit)
{
	test->random += UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t) ((hg_mix64(test->random) >> 32) * limit >> 32);
}

/* What mixing makes a word of, widened, and the inverse. */
static uint64_t
unmixed(uint32_t width, uint64_t mixed)
{
	return width == 4 ? hg_unmix32((uint32_t) mixed) : hg_unmix64(mixed);
}

static uint64_t
pool_key(TestPool pool, uint32_t width, uint64_t i)
{
	uint64_t mask = width == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t near = i / 4;

	switch (pool)
	{
		case TEST_POOL_DENSE:
			return i;
		case TEST_POOL_RANDOM:
			return unmixed(width, (i + 1) * UINT64_C(0x9e3779b97f4a7c15) & mask);
		case TEST_POOL_EXTREMES:
			switch (i % 4)
			{
				case 0:
					return near;
				case 1:
					return mask - near;
				case 2:
					return unmixed(width, near);
				default:
					return unmixed(width, mask - near);
			}
		case TEST_POOL_ONE_LIST:
			/* with 4 bytes as close together as different hashes are */
			return unmixed(width, UINT64_C(0x8000000000000000) >> (64 - 8 * width) | i);
		default:
			return 42;
	}
}

static int
compare_words(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *) a;
	uint64_t right = *(const uint64_t *) b;

	return (left > right) - (left < right);
}

static int
compare_rows(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;

	return (left > right) - (left < right);
}

bool
test_table_create(TestTable *test, HgTables *tables, const HgTableSpec *spec, TestPool pool,
				  size_t keys)
{
	HgError error = {0};
	HgStatus status;
	size_t distinct = 0;

	memset(test, 0, sizeof(*test));
	test->tables = tables;
	test->spec = *spec;
	test->keys = test_malloc(keys * sizeof(uint64_t));
	for (size_t i = 0; i < keys; i++)
		test->keys[i] = pool_key(pool, spec->key_width, i);
	qsort(test->keys, keys, sizeof(uint64_t), compare_words);
	for (size_t i = 0; i < keys; i++)
		if (i == 0 || test->keys[i] != test->keys[distinct - 1])
			test->keys[distinct++] = test->keys[i];
	hg_naive_create(&test->naive, spec->content, distinct);
	test->numbers = test_malloc(distinct * sizeof(uint32_t));
	memset(test->numbers, 0xff, distinct * sizeof(uint32_t));

	test_host_init(&test->host, test_host_plain());
	status = tables->open(tables, &test->host.host, spec, &test->table, &error);
	if (status != HG_OK)
	{
		test->table = NULL;
		hg_tap_diag("open: status %d, %s (%s)", (int) status, error.message, error.detail);
	}
	return status == HG_OK;
}

bool
test_table_destroy(TestTable *test)
{
	bool good;

	if (test->table != NULL)
		test->tables->close(test->table);
	good = test->host.held_bytes == 0 && !test->host.misused;
	if (!good)
		hg_tap_diag("%" PRIu64 " bytes are left, wrong sizes: %d", test->host.held_bytes,
					(int) test->host.misused);
	hg_naive_destroy(&test->naive);
	free(test->keys);
	free(test->numbers);
	return good;
}

/* Write a key of the table's width. */
static void
put_key(const TestTable *test, void *keys, size_t i, uint64_t key)
{
	if (test->spec.key_width == 4)
		((uint32_t *) keys)[i] = (uint32_t) key;
	else
		((uint64_t *) keys)[i] = key;
}

static uint64_t
get_key(const TestTable *test, const void *keys, size_t i)
{
	return test->spec.key_width == 4 ? ((const uint32_t *) keys)[i] : ((const uint64_t *) keys)[i];
}

/* The number of a key in the list of those that are used, or SIZE_MAX. */
static size_t
key_number(const TestTable *test, uint64_t key)
{
	const uint64_t *found =
		bsearch(&key, test->keys, test->naive.keys, sizeof(uint64_t), compare_words);

	return found == NULL ? SIZE_MAX : (size_t) (found - test->keys);
}

/* Random keys with random rows, or now and then with rows that follow each other. */
static void
batch_fill(TestTable *test, HgTableBatch *batch, uint32_t **numbers, uint32_t rows,
		   uint32_t row_limit)
{
	void *keys = test_malloc((size_t) rows * test->spec.key_width);
	uint32_t *row = test_malloc(rows * sizeof(uint32_t));
	uint32_t salt = test_table_random(test, UINT32_MAX);

	*numbers = test_malloc(rows * sizeof(uint32_t));
	batch->count = rows;
	batch->keys = keys;
	batch->rows = row;
	for (uint32_t i = 0; i < rows; i++)
	{
		(*numbers)[i] = test_table_random(test, (uint32_t) test->naive.keys);
		put_key(test, keys, i, test->keys[(*numbers)[i]]);
		row[i] = test_table_random(test, row_limit);
		if (test_table_random(test, 64) == 0)
			row[i] = HG_MAX_ROWS - 1;

		/* where any of a batch may come in, all that have the same key have the same row */
		if (!test->tables->first_of_batch_stays && test->spec.content == HG_TABLE_MAP)
			row[i] = hg_mix32((*numbers)[i] ^ salt) % row_limit;
	}
	if (rows > 0 && row_limit > rows && test->tables->first_of_batch_stays &&
		test_table_random(test, 4) == 0)
	{
		free(row);
		batch->rows = NULL;
		batch->first_row = test_table_random(test, row_limit - rows);
	}
}

void
test_batch_create(TestTable *test, TestBatch *batch, TestChange kind, uint32_t rows,
				  uint32_t row_limit)
{
	memset(batch, 0, sizeof(*batch));
	batch->kind = kind;
	if (kind == TEST_BUILD || kind == TEST_INSERT || kind == TEST_REPLACE)
		batch_fill(test, &batch->in, &batch->key_numbers[1], rows, row_limit);
	if (kind == TEST_ERASE_KEYS || kind == TEST_ERASE_PAIRS || kind == TEST_REPLACE)
		batch_fill(test, &batch->out, &batch->key_numbers[0], rows, row_limit);
	batch->out.by_key = kind == TEST_ERASE_KEYS;

	/* rows that are there go, not only those that are not */
	if (batch->out.rows != NULL)
		for (uint32_t i = 0; i < rows; i++)
		{
			const HgNaiveRows *there = &test->naive.rows[batch->key_numbers[0][i]];

			if (there->count > 0 && test_table_random(test, 2) == 0)
				((uint32_t *) batch->out.rows)[i] =
					there->rows[test_table_random(test, (uint32_t) there->count)];
		}
}

void
test_batch_destroy(TestBatch *batch)
{
	free((void *) batch->in.keys);
	free((void *) batch->in.rows);
	free((void *) batch->out.keys);
	free((void *) batch->out.rows);
	free(batch->key_numbers[0]);
	free(batch->key_numbers[1]);
}

HgStatus
test_batch_run(TestTable *test, const TestBatch *batch, HgTableChange *change, HgError *error)
{
	HgTables *tables = test->tables;

	switch (batch->kind)
	{
		case TEST_BUILD:
			return tables->build(test->table, &batch->in, change, error);
		case TEST_INSERT:
			return tables->insert(test->table, &batch->in, change, error);
		case TEST_REPLACE:
			return tables->replace(test->table, &batch->out, &batch->in, change, error);
		default:
			return tables->erase(test->table, &batch->out, change, error);
	}
}

void
test_batch_expect(TestTable *test, const TestBatch *batch, HgTableChange *change)
{
	memset(change, 0, sizeof(*change));
	for (uint64_t i = 0; i < batch->out.count; i++)
	{
		uint32_t key = batch->key_numbers[0][i];
		uint32_t row =
			batch->out.rows != NULL ? batch->out.rows[i] : batch->out.first_row + (uint32_t) i;

		change->erased += batch->out.by_key ? hg_naive_erase_key(&test->naive, key)
											: hg_naive_erase_pair(&test->naive, key, row);
	}
	for (uint64_t i = 0; i < batch->in.count; i++)
		change->inserted += hg_naive_insert(
			&test->naive, batch->key_numbers[1][i],
			batch->in.rows != NULL ? batch->in.rows[i] : batch->in.first_row + (uint32_t) i);
}

bool
test_table_change(TestTable *test, TestChange kind, uint32_t rows, uint32_t row_limit)
{
	TestBatch batch;
	HgTableChange done = {0};
	HgTableChange expected;
	HgError error = {0};
	HgStatus status;
	bool good;

	test_batch_create(test, &batch, kind, rows, row_limit);
	status = test_batch_run(test, &batch, &done, &error);
	test_batch_expect(test, &batch, &expected);
	good = status == HG_OK && done.inserted == expected.inserted && done.erased == expected.erased;
	if (!good)
		hg_tap_diag("change %d of %u rows: status %d, %s (%s); %" PRIu64 " in, %" PRIu64
					" out, and not %" PRIu64 ", %" PRIu64,
					(int) kind, rows, (int) status, error.message, error.detail, done.inserted,
					done.erased, expected.inserted, expected.erased);
	test_batch_destroy(&batch);
	return good;
}

/* One row or number of a key is as it must be. */
static bool
row_is_right(TestTable *test, size_t key, uint32_t row)
{
	const HgNaiveRows *rows = &test->naive.rows[key];

	if (rows->count == 0)
		return row == HG_NO_ROW;
	if (test->spec.content == HG_TABLE_NUMBERING)
	{
		/* which one it gets is the table's, but then it stays */
		if (test->numbers[key] == HG_NO_ROW)
			test->numbers[key] = row;
		return row < test->naive.count && row == test->numbers[key];
	}
	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i] == row)
			return true;
	return false;
}

/* The rows of a key are as they must be, in any order, which may change here. */
static bool
rows_are_right(TestTable *test, size_t key, uint32_t *rows, size_t count)
{
	HgNaiveRows *expected = &test->naive.rows[key];

	if (count != expected->count)
		return false;
	if (count == 0)
		return true;
	if (test->spec.content == HG_TABLE_NUMBERING)
		return row_is_right(test, key, rows[0]);
	if (test->spec.content == HG_TABLE_MULTIMAP)
	{
		qsort(rows, count, sizeof(uint32_t), compare_rows);
		qsort(expected->rows, count, sizeof(uint32_t), compare_rows);
	}
	return memcmp(rows, expected->rows, count * sizeof(uint32_t)) == 0;
}

/* What a reading compares. */
typedef struct Probe
{
	size_t count;
	uint32_t *numbers; /* [count] of its keys, naive.keys for one that no table has */
	void *keys;		   /* [count] */
	uint32_t *rows;	   /* [count] room for answers */
} Probe;

static void
probe_create(TestTable *test, Probe *probe)
{
	probe->count = test->naive.keys + 20;
	probe->numbers = test_malloc(probe->count * sizeof(uint32_t));
	probe->keys = test_malloc(probe->count * test->spec.key_width);
	probe->rows = test_malloc(probe->count * sizeof(uint32_t));
	for (size_t i = 0; i < probe->count; i++)
	{
		/* each key once, then some again, and some that are not there */
		uint32_t number = i < test->naive.keys
							  ? (uint32_t) i
							  : test_table_random(test, (uint32_t) test->naive.keys);
		uint64_t key = test->keys[number];

		if (i % 16 == 15)
		{
			do
				key = pool_key(TEST_POOL_RANDOM, test->spec.key_width,
							   UINT32_C(0x40000000) + test_table_random(test, 1 << 20));
			while (key_number(test, key) != SIZE_MAX);
			number = (uint32_t) test->naive.keys;
		}
		probe->numbers[i] = number;
		put_key(test, probe->keys, i, key);
	}
}

static void
probe_destroy(Probe *probe)
{
	free(probe->numbers);
	free(probe->keys);
	free(probe->rows);
}

/* Rows that key number i of a probe has. */
static uint64_t
probe_expected(const TestTable *test, const Probe *probe, size_t i)
{
	return probe->numbers[i] == test->naive.keys ? 0 : test->naive.rows[probe->numbers[i]].count;
}

static bool
compare_find(TestTable *test, const Probe *probe)
{
	HgError error = {0};
	HgStatus status =
		test->tables->find(test->table, probe->keys, probe->count, probe->rows, &error);

	for (size_t i = 0; i < probe->count && status == HG_OK; i++)
	{
		bool right = probe->numbers[i] == test->naive.keys
						 ? probe->rows[i] == HG_NO_ROW
						 : row_is_right(test, probe->numbers[i], probe->rows[i]);

		if (!right)
		{
			hg_tap_diag("find: key %" PRIx64 " has row %u", get_key(test, probe->keys, i),
						probe->rows[i]);
			return false;
		}
	}
	if (status != HG_OK)
		hg_tap_diag("find: status %d, %s (%s)", (int) status, error.message, error.detail);
	return status == HG_OK;
}

static bool
compare_count(TestTable *test, const Probe *probe)
{
	HgError error = {0};
	uint64_t all = 0;
	uint64_t again = 0;
	uint64_t expected = 0;
	HgStatus status =
		test->tables->count(test->table, probe->keys, probe->count, probe->rows, &all, &error);

	for (size_t i = 0; i < probe->count && status == HG_OK; i++)
	{
		uint64_t rows = probe_expected(test, probe, i);

		expected += rows;
		if (probe->rows[i] != rows)
		{
			hg_tap_diag("count: key %" PRIx64 " has %u rows, not %" PRIu64,
						get_key(test, probe->keys, i), probe->rows[i], rows);
			return false;
		}
	}
	if (status == HG_OK)
		status = test->tables->count(test->table, probe->keys, probe->count, NULL, &again, &error);
	if (status != HG_OK || all != expected || again != expected)
	{
		hg_tap_diag("count: status %d, %s (%s); %" PRIu64 " and %" PRIu64 ", not %" PRIu64,
					(int) status, error.message, error.detail, all, again, expected);
		return false;
	}
	return true;
}

/* Read a stream, and compare the rows of each key. */
static bool
compare_stream(TestTable *test, const Probe *probe, HgTableStream *stream)
{
	uint32_t probes[CHUNK];
	uint32_t rows[CHUNK];
	HgTableMatches matches = {.probe = probes, .row = rows, .capacity = CHUNK};
	uint32_t *one = test_malloc((test->naive.count + 1) * sizeof(uint32_t));
	size_t collected = 0;
	size_t at = 0; /* whose rows are collected */
	HgError error = {0};
	HgStatus status;
	bool good = true;

	do
	{
		matches.capacity = 1 + test_table_random(test, CHUNK);
		status = test->tables->next(stream, &matches, &error);
		good &= status == HG_OK && matches.count <= matches.capacity;
		for (size_t i = 0; i < matches.count && good; i++)
		{
			for (; at < probes[i] && good; at++, collected = 0)
				good &=
					collected == probe_expected(test, probe, at) &&
					(collected == 0 || rows_are_right(test, probe->numbers[at], one, collected));
			good &= at == probes[i] && at < probe->count && collected < test->naive.count;
			if (good)
				one[collected++] = rows[i];
		}
	} while (good && matches.count > 0);
	for (; at < probe->count && good; at++, collected = 0)
		good &= collected == probe_expected(test, probe, at) &&
				(collected == 0 || rows_are_right(test, probe->numbers[at], one, collected));
	free(one);
	if (!good)
		hg_tap_diag("match: status %d, %s (%s); at key %zu, with %zu rows", (int) status,
					error.message, error.detail, at, collected);
	return good;
}

static bool
compare_match(TestTable *test, const Probe *probe)
{
	HgTableStream *stream;
	HgError error = {0};
	HgTableBatch none = {.keys = probe->keys};
	HgStatus status = test->tables->match(test->table, probe->keys, probe->count, &stream, &error);
	bool good;

	if (status != HG_OK)
	{
		hg_tap_diag("match: status %d, %s (%s)", (int) status, error.message, error.detail);
		return false;
	}
	good = compare_stream(test, probe, stream);
	if (test->tables->insert(test->table, &none, NULL, &error) != HG_INVALID)
	{
		hg_tap_diag("a table is changed while it is read");
		good = false;
	}
	test->tables->end(stream);
	return good;
}

/* What is exported is what there is, and describe and the host agree on the rest. */
static bool
compare_export(TestTable *test)
{
	size_t width = test->spec.key_width;
	HgTableStats stats = {0};
	HgError error = {0};
	HgNaiveTable copy;
	void *keys;
	uint32_t *rows;
	bool good;
	HgStatus status = test->tables->describe(test->table, &stats, &error);

	if (status != HG_OK || stats.rows != test->naive.count ||
		(!test->tables->on_device && (stats.bytes != test->host.held_bytes ||
									  stats.peak_bytes != test->host.peak_bytes)) ||
		stats.slots < stats.rows ||
		stats.filled != (stats.slots == 0 ? 0 : (double) stats.rows / (double) stats.slots))
	{
		hg_tap_diag("describe: status %d, %s (%s); %" PRIu64 " rows, not %" PRIu64 ", %" PRIu64
					" slots, %" PRIu64 " bytes, not %" PRIu64 ", at most %" PRIu64 ", not %" PRIu64,
					(int) status, error.message, error.detail, stats.rows, test->naive.count,
					stats.slots, stats.bytes, test->host.held_bytes, stats.peak_bytes,
					test->host.peak_bytes);
		return false;
	}

	keys = test_malloc(stats.rows * width);
	rows = test_malloc(stats.rows * sizeof(uint32_t));
	status = test->tables->export_entries(test->table, keys, rows, &error);
	good = status == HG_OK;
	hg_naive_create(&copy, HG_TABLE_MULTIMAP, test->naive.keys);
	for (uint64_t i = 0; i < stats.rows && good; i++)
	{
		size_t number = key_number(test, get_key(test, keys, i));

		good = number != SIZE_MAX;
		if (good && test->spec.content == HG_TABLE_NUMBERING)
			good = rows[i] == i && row_is_right(test, number, rows[i]);
		if (good)
			hg_naive_insert(&copy, number, rows[i]);
	}
	for (size_t key = 0; key < test->naive.keys && good; key++)
		good = rows_are_right(test, key, copy.rows[key].rows, copy.rows[key].count);
	if (good && stats.rows > 0)
		good = test->tables->export_entries(test->table, keys, NULL, &error) == HG_OK;
	if (!good)
		hg_tap_diag("export: status %d, %s (%s)", (int) status, error.message, error.detail);
	hg_naive_destroy(&copy);
	free(keys);
	free(rows);
	return good;
}

bool
test_table_compare(TestTable *test)
{
	Probe probe;
	bool good;

	probe_create(test, &probe);
	good = compare_find(test, &probe) && compare_count(test, &probe) &&
		   compare_match(test, &probe) && compare_export(test);
	probe_destroy(&probe);
	return good;
}
