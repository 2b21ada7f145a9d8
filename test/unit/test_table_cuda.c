/*-------------------------------------------------------------------------
 *
 * test_table_cuda.c
 *	  The tables of a device: the conformity suite, and tables of many rows.
 *
 * The suite has a host that counts what is asked of it, and refuses.  Here that goes for memory of
 * the device too, whose allocation is stood in for (see cuda.mk).
 *
 * On a machine without a usable device it says so and passes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../cuda/engine/hg_cuda_engine.h"
#include "hg_tap.h"
#include "test_table_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

/* ------------------------------------------------------------------------
 * Memory of the device that is counted and refused
 * ------------------------------------------------------------------------ */

/* The tables of the device, and the host of the one that is open; NULL: none of the suite. */
static HgTables *device_tables;
static TestHost *open_host;

/* An allocation was refused, and will be tried once again. */
static bool refused_before;

/* What tables find in memory that they have not written. */
#define RUBBISH 0xa5

extern cudaError_t __real_cudaMallocFromPoolAsync(void **ptr, size_t bytes, cudaMemPool_t pool,
												  cudaStream_t stream);
extern cudaError_t __wrap_cudaMallocFromPoolAsync(void **ptr, size_t bytes, cudaMemPool_t pool,
												  cudaStream_t stream);

cudaError_t
__wrap_cudaMallocFromPoolAsync(void **ptr, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
	cudaError_t code;

	if (open_host != NULL && refused_before)
	{
		refused_before = false;
		return cudaErrorMemoryAllocation;
	}
	if (open_host != NULL && ++open_host->allocations == open_host->fail_allocation)
	{
		refused_before = true;
		return cudaErrorMemoryAllocation;
	}
	code = __real_cudaMallocFromPoolAsync(ptr, bytes, pool, stream);

	/* a tool that looks for what was not written must see that it was not */
	if (code == cudaSuccess && hg_tap_suite() != HG_SUITE_TINY)
		cudaMemsetAsync(*ptr, RUBBISH, bytes, stream);
	return code;
}

static HgStatus
counted_open(HgTables *tables, const HgHost *host, const HgTableSpec *spec, HgTable **table,
			 HgError *error)
{
	HgStatus status;

	(void) tables;
	open_host = host->arg;
	refused_before = false;
	status = device_tables->open(device_tables, host, spec, table, error);
	if (status != HG_OK)
		open_host = NULL;
	return status;
}

static void
counted_close(HgTable *table)
{
	device_tables->close(table);
	open_host = NULL;
}

/* ------------------------------------------------------------------------
 * Many rows
 * ------------------------------------------------------------------------ */

/* The key of a number, all over the words of its width; of different numbers below 2^31 another. */
static void
put_key(void *keys, uint32_t width, uint64_t i, uint64_t number)
{
	if (width == 4)
		((uint32_t *) keys)[i] = (uint32_t) number * UINT32_C(0x9e3779b1);
	else
		((uint64_t *) keys)[i] = number * UINT64_C(0x9e3779b97f4a7c15);
}

/* Rows first, first + 1 ... of the keys of these numbers go in or out; true if all of them do. */
static bool
change_many(HgTables *tables, HgTable *table, uint32_t width, bool insert, uint32_t first,
			uint32_t count)
{
	HgTableBatch batch = {.count = count, .first_row = first};
	HgTableChange change = {0};
	HgError error = {0};
	HgStatus status;
	void *keys = test_malloc((size_t) count * width);

	for (uint32_t i = 0; i < count; i++)
		put_key(keys, width, i, first + i);
	batch.keys = keys;
	status = insert ? tables->insert(table, &batch, &change, &error)
					: tables->erase(table, &batch, &change, &error);
	free(keys);
	if (status != HG_OK || (insert ? change.inserted : change.erased) != count)
	{
		hg_tap_diag("%s of %u rows: status %d, %s (%s); %llu in, %llu out",
					insert ? "insert" : "erase", count, (int) status, error.message, error.detail,
					(unsigned long long) change.inserted, (unsigned long long) change.erased);
		return false;
	}
	return true;
}

/* Of the keys of numbers 0 .. keys - 1 those from first to end - 1 are there, each with its row. */
static bool
look_up_many(HgTables *tables, HgTable *table, const HgTableSpec *spec, uint32_t keys,
			 uint32_t first, uint32_t end)
{
	void *probe = test_malloc((size_t) keys * spec->key_width);
	uint32_t *rows = test_malloc(keys * sizeof(*rows));
	HgError error = {0};
	uint64_t all = 0;
	bool good;

	for (uint32_t i = 0; i < keys; i++)
		put_key(probe, spec->key_width, i, i);
	good = tables->find(table, probe, keys, rows, &error) == HG_OK &&
		   tables->count(table, probe, keys, NULL, &all, &error) == HG_OK && all == end - first;
	for (uint32_t i = 0; i < keys && good; i++)
	{
		bool there = i >= first && i < end;

		if (spec->content == HG_TABLE_MAP || spec->content == HG_TABLE_MULTIMAP)
			good = rows[i] == (there ? i : HG_NO_ROW);
		else
			good = (rows[i] != HG_NO_ROW) == there;
		if (!good)
			hg_tap_diag("key %u has row %u", i, rows[i]);
	}
	if (!good)
		hg_tap_diag("of %u keys %u to %u: status %d, %s (%s), %llu found", keys, first, end,
					(int) error.status, error.message, error.detail, (unsigned long long) all);
	free(probe);
	free(rows);
	return good;
}

/* A large batch, then small ones, and all is found again. */
static void
test_many(HgTables *tables, HgTableSpec spec, uint32_t rows)
{
	HgTable *table = NULL;
	HgError error = {0};
	bool good;

	if (!hg_tap_turn())
		return;
	good = tables->open(tables, test_host_plain(), &spec, &table, &error) == HG_OK &&
		   change_many(tables, table, spec.key_width, true, 0, rows / 2) &&
		   look_up_many(tables, table, &spec, rows, 0, rows / 2);
	for (uint32_t i = 0; i < 8 && good; i++)
		good = change_many(tables, table, spec.key_width, true, rows / 2 + i * (rows / 16),
						   rows / 16);
	good = good && look_up_many(tables, table, &spec, rows, 0, rows);
	if (good && spec.content != HG_TABLE_NUMBERING)
		good = change_many(tables, table, spec.key_width, false, 0, rows / 4) &&
			   look_up_many(tables, table, &spec, rows, rows / 4, rows) &&
			   change_many(tables, table, spec.key_width, true, 0, rows / 4) &&
			   look_up_many(tables, table, &spec, rows, 0, rows);
	if (table != NULL)
		tables->close(table);
	if (!good)
		hg_tap_diag("status %d, %s (%s)", (int) error.status, error.message, error.detail);
	hg_tap_ok(good, "cuda: %s, %s of %u bytes: %u rows", hg_table_kind_name(spec.kind),
			  hg_table_content_name(spec.content), spec.key_width, rows);
}

/*
 * All rows have one key but for one more, and come back in chunks; each row once, which the sum of
 * the rows tells.
 */
static void
test_one_key(HgTables *tables, HgTableSpec spec, uint32_t rows)
{
	enum
	{
		CHUNK = 10007
	};
	uint32_t *probes = test_malloc(CHUNK * sizeof(*probes));
	uint32_t *found = test_malloc(CHUNK * sizeof(*found));
	uint64_t *keys = test_malloc(rows * sizeof(*keys));
	HgTableMatches matches = {.probe = probes, .row = found, .capacity = CHUNK};
	HgTableBatch batch = {.keys = keys, .count = rows};
	const uint64_t probe[4] = {6, 5, 7, 5};
	HgTableStream *stream = NULL;
	HgTableChange change = {0};
	HgTable *table = NULL;
	HgError error = {0};
	uint64_t pairs[4] = {0};
	uint64_t sums[4] = {0};
	bool good;

	for (uint32_t i = 0; i < rows; i++)
		keys[i] = i == 0 ? 6 : 5;
	good = tables->open(tables, test_host_plain(), &spec, &table, &error) == HG_OK &&
		   tables->build(table, &batch, &change, &error) == HG_OK && change.inserted == rows &&
		   tables->match(table, probe, 4, &stream, &error) == HG_OK;
	while (good && (good = tables->next(stream, &matches, &error) == HG_OK) && matches.count > 0)
		for (size_t i = 0; i < matches.count; i++)
		{
			pairs[probes[i] & 3]++;
			sums[probes[i] & 3] += found[i];
		}
	if (stream != NULL)
		tables->end(stream);
	good = good && pairs[0] == 1 && pairs[1] == rows - 1 && pairs[2] == 0 && pairs[3] == rows - 1 &&
		   sums[0] == 0 && sums[1] == (uint64_t) rows * (rows - 1) / 2 && sums[3] == sums[1];

	/* by pair half of them go, and by key the others */
	batch.keys = keys + 1;
	batch.first_row = 1;
	batch.count = rows / 2;
	good = good && tables->erase(table, &batch, &change, &error) == HG_OK &&
		   change.erased == rows / 2;
	batch.count = 1;
	batch.by_key = true;
	good = good && tables->erase(table, &batch, &change, &error) == HG_OK &&
		   change.erased == rows - 1 - rows / 2;
	if (table != NULL)
		tables->close(table);
	if (!good)
		hg_tap_diag("status %d, %s (%s); %llu pairs and %llu", (int) error.status, error.message,
					error.detail, (unsigned long long) pairs[1], (unsigned long long) pairs[3]);
	hg_tap_ok(good, "cuda: %s: %u rows of one key", hg_table_kind_name(spec.kind), rows);
	free(probes);
	free(found);
	free(keys);
}

/* More rows are expected than there are numbers of slots for. */
static void
test_too_many_expected(HgTables *tables, HgTableKind kind)
{
	HgTableSpec spec = {
		.kind = kind, .content = HG_TABLE_SET, .key_width = 4, .expected_rows = UINT64_C(1) << 32};
	HgTable *table = NULL;
	HgError error = {0};
	HgStatus status;

	if (!hg_table_suite_wants(kind) || !hg_tap_turn())
		return;
	status = tables->open(tables, test_host_plain(), &spec, &table, &error);
	if (status == HG_OK)
		tables->close(table);
	hg_tap_ok(status == HG_TOO_MANY_ROWS, "cuda: %s: too many rows are expected: status %d, %s",
			  hg_table_kind_name(kind), (int) status, error.message);
}

static void
test_large(HgTables *tables)
{
	const uint32_t rows = hg_tap_suite() == HG_SUITE_TINY	  ? 1 << 12
						  : hg_tap_suite() == HG_SUITE_SMALL ? 1 << 16
															 : 1 << 22;

	for (int kind = 0; kind < HG_TABLE_KINDS; kind++)
		for (int content = 0; content < HG_TABLE_CONTENTS; content++)
			for (uint32_t width = 4; width <= 8; width += 4)
			{
				HgTableSpec spec = {.kind = (HgTableKind) kind,
									.content = (HgTableContent) content,
									.key_width = width,
									.max_padding = 64};

				if (hg_table_suite_wants(spec.kind) &&
					hg_table_traits(spec.kind, spec.content).possible)
					test_many(tables, spec, rows);
			}
	for (int kind = 0; kind < HG_TABLE_KINDS; kind++)
	{
		HgTableSpec spec = {
			.kind = (HgTableKind) kind, .content = HG_TABLE_MULTIMAP, .key_width = 8};

		/* lists as long as that are not to be padded */
		if (hg_table_suite_wants(spec.kind) && hg_table_traits(spec.kind, spec.content).possible &&
			kind != HG_TABLE_ELLPACK && kind != HG_TABLE_SLICED_ELLPACK && hg_tap_turn())
			test_one_key(tables, spec, rows / 4);
	}
	test_too_many_expected(tables, HG_TABLE_DYNAMIC);
	test_too_many_expected(tables, HG_TABLE_CUCKOO);
}

int
main(void)
{
	HgEngine *engine;
	HgTables counted;
	HgError error = {0};
	uint64_t budget;
	uint64_t held;
	uint64_t peak;

	if (hg_cuda_engine_start(-1, 0, &engine, &error) != HG_OK)
	{
		printf("1..0 # SKIP %s\n", error.message);
		return error.status == HG_UNAVAILABLE ? 0 : 1;
	}
	device_tables = hg_cuda_engine_tables(engine);
	counted = *device_tables;
	counted.open = counted_open;
	counted.close = counted_close;
	test_large(device_tables);
	hg_table_suite(&counted);

	/* what closed tables have given back is there when the device has passed that */
	cudaDeviceSynchronize();
	hg_cuda_engine_memory(engine, &budget, &held, &peak);
	hg_tap_ok(held == 0, "cuda: tables that are closed hold nothing");
	hg_cuda_engine_stop(engine);
	return hg_tap_done();
}
