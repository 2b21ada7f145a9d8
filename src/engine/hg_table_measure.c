/*-------------------------------------------------------------------------
 *
 * hg_table_measure.c
 *	  Measures a table: times of building it from keys, looking them up and changing it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_measure.h"

#include <math.h>
#include <string.h>

/* One row in ten is erased and inserted again. */
#define SAMPLE 10

/* Keys that are looked up in one call. */
#define FIND_KEYS 65536

/* A measurement in progress. */
typedef struct Trial
{
	HgTables *tables;
	const HgHost *host;
	const HgTableTrial *trial;
	HgTable *table;
	const char *keys;
	uint64_t nkeys;
	HgTableMeasure *measure;
} Trial;

/* ------------------------------------------------------------------------
 * Trials and their results
 * ------------------------------------------------------------------------ */

HgStatus
hg_table_trial_check(const HgTableTrial *trial, HgError *error)
{
	HG_TRY(hg_table_check(&trial->spec, error));
	if (trial->spec.expected_rows > HG_MAX_ROWS)
		return hg_error_set(error, HG_INVALID, NULL, "too many rows are expected of a table");
	if (trial->spec.bad_functions > 0)
		return hg_error_set(error, HG_INVALID, NULL, "bad functions are not measured");
	if (trial->batches > HG_TABLE_MAX_BATCHES)
		return hg_error_set(error, HG_INVALID, NULL, "too many batches: %u",
							(unsigned) trial->batches);
	return HG_OK;
}

uint32_t
hg_table_trial_batches(const HgTableTrial *trial)
{
	return hg_table_traits(trial->spec.kind, trial->spec.content).can_erase ? trial->batches : 0;
}

HgTableSample
hg_table_trial_sample(const HgTableTrial *trial, uint64_t nkeys, uint32_t batch)
{
	const uint64_t first = nkeys * batch / trial->batches;
	const uint64_t part = nkeys * ((uint64_t) batch + 1) / trial->batches - first;

	return (HgTableSample){first, (part + SAMPLE - 1) / SAMPLE};
}

uint64_t
hg_table_trial_bytes(HgTableMemoryCall memory, const HgTableTrial *trial, uint64_t nkeys)
{
	HgTableSpec spec = trial->spec;
	HgTableMemory bytes;

	spec.max_padding = 1;
	if (memory(&spec, nkeys, &bytes, NULL) != HG_OK)
		return 0;
	/* the old table exists while the new one is built */
	if (hg_table_trial_batches(trial) > 0 && !hg_table_traits(spec.kind, spec.content).in_place)
		return bytes.held + bytes.build;
	return bytes.build;
}

/* Returns true if the rows of the sample can have been erased and inserted. */
static bool
change_is_sane(const HgTableTrial *trial, uint64_t nkeys, const HgTableMeasure *measure)
{
	uint64_t sampled = 0;

	for (uint32_t i = 0; i < hg_table_trial_batches(trial); i++)
		sampled += hg_table_trial_sample(trial, nkeys, i).count;
	return measure->sampled == sampled && measure->erased <= sampled &&
		   (trial->spec.content != HG_TABLE_MULTIMAP || measure->erased == sampled) &&
		   measure->inserted == measure->erased && measure->erased <= measure->stats.rows;
}

/* Returns true if a table of these keys can have these statistics. */
static bool
stats_are_sane(const HgTableTrial *trial, uint64_t nkeys, const HgTableStats *stats)
{
	return stats->rows <= nkeys && (stats->rows > 0) == (nkeys > 0) &&
		   (trial->spec.content != HG_TABLE_MULTIMAP || stats->rows == nkeys) &&
		   stats->slots >= stats->rows && stats->deleted <= stats->slots &&
		   isfinite(stats->filled) && stats->filled >= 0 && stats->filled <= 1 &&
		   stats->bytes <= stats->peak_bytes && stats->empty_lists <= stats->lists &&
		   stats->longest_list <= stats->slots;
}

/* Returns true if a time is plausible. */
static bool
is_time(double ns)
{
	return isfinite(ns) && ns >= 0;
}

bool
hg_table_measure_is_sane(const HgTableTrial *trial, uint64_t nkeys, const HgTableMeasure *measure)
{
	return is_time(measure->build_ns) && is_time(measure->find_ns) && is_time(measure->erase_ns) &&
		   is_time(measure->insert_ns) && stats_are_sane(trial, nkeys, &measure->stats) &&
		   change_is_sane(trial, nkeys, measure);
}

/* ------------------------------------------------------------------------
 * Measuring
 * ------------------------------------------------------------------------ */

/* Returns nanoseconds since a value of hg_clock_ms(). */
static double
ns_since(double started)
{
	return (hg_clock_ms() - started) * 1e6;
}

/* Returns a batch of the keys from first on. */
static HgTableBatch
batch_of(const Trial *trial, uint64_t first, uint64_t count)
{
	return (HgTableBatch){.keys = trial->keys + first * trial->trial->spec.key_width,
						  .first_row = (uint32_t) first,
						  .count = count};
}

static HgStatus
build_all(Trial *trial, HgError *error)
{
	HgTableBatch batch = batch_of(trial, 0, trial->nkeys);
	const double started = hg_clock_ms();
	HgStatus status = trial->tables->build(trial->table, &batch, NULL, error);

	trial->measure->build_ns = ns_since(started);
	return status;
}

/* Looks all keys up, in the given order. */
static HgStatus
find_all(Trial *trial, HgError *error)
{
	const size_t bytes = FIND_KEYS * sizeof(uint32_t);
	void *rows;
	HgStatus status = HG_OK;
	double started;

	HG_TRY(hg_host_memory_alloc(trial->host, bytes, &rows, error));
	started = hg_clock_ms();
	for (uint64_t at = 0; at < trial->nkeys && status == HG_OK; at += FIND_KEYS)
	{
		const uint64_t left = trial->nkeys - at;
		HgTableBatch batch = batch_of(trial, at, left < FIND_KEYS ? left : FIND_KEYS);

		status = trial->tables->find(trial->table, batch.keys, batch.count, rows, error);
	}
	trial->measure->find_ns = ns_since(started);
	hg_host_memory_free(trial->host, rows, bytes);
	return status;
}

/* Erases or inserts the sample; *ns is the time, and *changed the number of rows changed. */
static HgStatus
change_sample(Trial *trial, bool insert, double *ns, uint64_t *changed, HgError *error)
{
	const uint32_t batches = hg_table_trial_batches(trial->trial);
	const double started = hg_clock_ms();
	HgStatus status = HG_OK;

	trial->measure->sampled = 0;
	for (uint32_t i = 0; i < batches && status == HG_OK; i++)
	{
		HgTableSample sample = hg_table_trial_sample(trial->trial, trial->nkeys, i);
		HgTableBatch batch = batch_of(trial, sample.first, sample.count);
		HgTableChange change = {0, 0};

		status = insert ? trial->tables->insert(trial->table, &batch, &change, error)
						: trial->tables->erase(trial->table, &batch, &change, error);
		trial->measure->sampled += batch.count;
		*changed += insert ? change.inserted : change.erased;
	}
	*ns = ns_since(started);
	return status;
}

/* Erases the sample, and inserts it again. */
static HgStatus
exchange_sample(Trial *trial, HgError *error)
{
	HgTableMeasure *measure = trial->measure;

	if (hg_table_trial_batches(trial->trial) == 0)
		return HG_OK;
	HG_TRY(change_sample(trial, false, &measure->erase_ns, &measure->erased, error));
	return change_sample(trial, true, &measure->insert_ns, &measure->inserted, error);
}

HgStatus
hg_table_measure(HgTables *tables, const HgHost *host, const HgTableTrial *asked, const void *keys,
				 uint64_t nkeys, HgTableMeasure *measure, HgError *error)
{
	Trial trial = {.tables = tables,
				   .host = host,
				   .trial = asked,
				   .keys = keys,
				   .nkeys = nkeys,
				   .measure = measure};
	HgStatus status;

	memset(measure, 0, sizeof(*measure));
	HG_TRY(tables->open(tables, host, &asked->spec, &trial.table, error));
	status = build_all(&trial, error);
	if (status == HG_OK)
		status = find_all(&trial, error);
	if (status == HG_OK)
		status = exchange_sample(&trial, error);
	if (status == HG_OK)
		status = tables->describe(trial.table, &measure->stats, error);
	tables->close(trial.table);
	return status;
}
