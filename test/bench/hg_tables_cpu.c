/*-------------------------------------------------------------------------
 *
 * hg_tables_cpu.c
 *	  The benchmark of tables on the CPU: in one thread, with memory that is new for each table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tables.h"

#include "hg_bench_host.h"

#include "../../src/tables/hg_table_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 65536

struct HgBenchTable
{
	HgTables *tables;
	HgTable *table;
	bool used;
};

static HgBenchTable only_table;
static double started;
static uint32_t probes[CHUNK]; /* of matches, which a consumer would read at once */

static HgStatus
cpu_make(size_t bytes, void **array, HgError *error)
{
	*array = hg_bench_host.alloc(hg_bench_host.arg, bytes);
	if (*array == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory for an array");
	/* no page of it is new when it is measured */
	memset(*array, 0, bytes);
	return HG_OK;
}

static void
cpu_drop(void *array, size_t bytes)
{
	hg_bench_host.free(hg_bench_host.arg, array, bytes);
}

static HgStatus
cpu_put(void *array, const void *from, size_t bytes, HgError *error)
{
	(void) error;
	memcpy(array, from, bytes);
	return HG_OK;
}

static HgStatus
cpu_get(const void *array, void *to, size_t bytes, HgError *error)
{
	(void) error;
	memcpy(to, array, bytes);
	return HG_OK;
}

static HgStatus
cpu_start(HgError *error)
{
	(void) error;
	started = hg_clock_ms();
	return HG_OK;
}

static HgStatus
cpu_stop(double *ms, HgError *error)
{
	(void) error;
	*ms = hg_clock_ms() - started;
	return HG_OK;
}

static HgStatus
cpu_open(const HgTableSpec *spec, HgBenchTable **table, HgError *error)
{
	HgStatus status;

	only_table = (HgBenchTable){.tables = hg_table_cpu()};
	status =
		only_table.tables->open(only_table.tables, &hg_bench_host, spec, &only_table.table, error);
	*table = status == HG_OK ? &only_table : NULL;
	return status;
}

static void
cpu_close(HgBenchTable *table)
{
	table->tables->close(table->table);
}

static HgStatus
cpu_change(HgBenchTable *table, const HgTableBatch *out, const HgTableBatch *in, HgError *error)
{
	bool built = !table->used;

	if (out != NULL && in != NULL)
		return table->tables->replace(table->table, out, in, NULL, error);
	if (out != NULL)
		return table->tables->erase(table->table, out, NULL, error);
	table->used = true;
	return built ? table->tables->build(table->table, in, NULL, error)
				 : table->tables->insert(table->table, in, NULL, error);
}

static HgStatus
cpu_find(HgBenchTable *table, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	return table->tables->find(table->table, keys, count, rows, error);
}

static HgStatus
cpu_count(HgBenchTable *table, const void *keys, uint64_t count, uint32_t *counts, HgError *error)
{
	return table->tables->count(table->table, keys, count, counts, NULL, error);
}

static HgStatus
cpu_match(HgBenchTable *table, const void *keys, uint64_t count, uint32_t *rows, uint64_t pairs,
		  HgError *error)
{
	HgTableStream *stream;
	HgStatus status = table->tables->match(table->table, keys, count, &stream, error);
	uint64_t at = 0;

	if (status != HG_OK)
		return status;
	while (status == HG_OK && at < pairs)
	{
		HgTableMatches matches = {
			.probe = probes, .row = rows + at, .capacity = pairs - at < CHUNK ? pairs - at : CHUNK};

		status = table->tables->next(stream, &matches, error);
		if (status != HG_OK || matches.count == 0)
			break;
		at += matches.count;
	}
	table->tables->end(stream);
	return status;
}

static HgStatus
cpu_export(HgBenchTable *table, void *keys, HgError *error)
{
	return table->tables->export_entries(table->table, keys, NULL, error);
}

static HgStatus
cpu_describe(HgBenchTable *table, HgTableStats *stats, HgError *error)
{
	return table->tables->describe(table->table, stats, error);
}

HgStatus
hg_tables_cpu_bench(const HgBenchTables **bench, HgError *error)
{
	static const HgBenchTables cpu = {.name = "cpu",
									  .device = "one thread",
									  .make = cpu_make,
									  .drop = cpu_drop,
									  .put = cpu_put,
									  .get = cpu_get,
									  .start = cpu_start,
									  .stop = cpu_stop,
									  .open = cpu_open,
									  .close = cpu_close,
									  .change = cpu_change,
									  .find = cpu_find,
									  .count = cpu_count,
									  .match = cpu_match,
									  .export_entries = cpu_export,
									  .describe = cpu_describe};

	(void) error;
	*bench = &cpu;
	return HG_OK;
}
