/*-------------------------------------------------------------------------
 *
 * hg_sql_graph_stats.c
 *	  hashgraph_build_stats(): the HashGraph of one key column.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "backend/hg_host.h"
#include "engine/hg_list_lengths.h"
#include "hg_guc.h"
#include "sql/hg_sql_relation.h"
#include "sql/hg_sql_row.h"

PG_FUNCTION_INFO_V1(hashgraph_build_stats);

/* Numbers of the result's columns. */
typedef enum HgBuildStatsColumn
{
	BUILD_ROWS = 0,
	BUILD_NULL_KEYS,
	BUILD_VERTICES,
	BUILD_EDGES,
	BUILD_LOAD_FACTOR,
	BUILD_EMPTY_VERTICES,
	BUILD_LONGEST_LIST,
	BUILD_MEAN_LIST,
	BUILD_DISTINCT_KEYS,
	BUILD_BINS,
	BUILD_BYTES,
	BUILD_SCAN_MS,
	BUILD_TRANSFER_MS,
	BUILD_BIN_MS,
	BUILD_BUILD_MS,
	BUILD_ALGORITHM,
	BUILD_BACKEND,
	BUILD_DEVICE,
	BUILD_FALLBACK,
	BUILD_COLUMNS
} HgBuildStatsColumn;

static void
hg_sql_build_stats_fill(HgSqlRow *row, const HgSqlSide *side, const HgGraphStats *graph,
						const HgMatcherReport *report, double scan_ms)
{
	const HgJobStats *job = &report->job;
	uint64 lists = graph->vertices - graph->empty_vertices;

	hg_sql_row_set_count(row, BUILD_ROWS, side->keys->rows + side->null_keys);
	hg_sql_row_set_count(row, BUILD_NULL_KEYS, side->null_keys);
	hg_sql_row_set_count(row, BUILD_VERTICES, graph->vertices);
	hg_sql_row_set_count(row, BUILD_EDGES, graph->edges);
	hg_sql_row_set_ratio(row, BUILD_LOAD_FACTOR, graph->edges, graph->vertices);
	hg_sql_row_set_count(row, BUILD_EMPTY_VERTICES, graph->empty_vertices);
	hg_sql_row_set_count(row, BUILD_LONGEST_LIST, graph->longest_list);
	hg_sql_row_set_ratio(row, BUILD_MEAN_LIST, graph->edges, lists);
	hg_sql_row_set_count(row, BUILD_DISTINCT_KEYS, graph->distinct_keys);
	hg_sql_row_set_count(row, BUILD_BINS, job->bins);
	hg_sql_row_set_count(row, BUILD_BYTES, graph->bytes);
	hg_sql_row_set_number(row, BUILD_SCAN_MS, scan_ms);
	hg_sql_row_set_number(row, BUILD_TRANSFER_MS, job->phase_ms[HG_PHASE_TRANSFER]);
	hg_sql_row_set_number(row, BUILD_BIN_MS, job->phase_ms[HG_PHASE_BIN]);
	hg_sql_row_set_number(row, BUILD_BUILD_MS, job->phase_ms[HG_PHASE_BUILD]);
	hg_sql_row_set_text(row, BUILD_ALGORITHM, hg_build_name(job->build));
	hg_sql_row_set_text(row, BUILD_BACKEND, report->backend);
	hg_sql_row_set_text(row, BUILD_DEVICE, report->device);
	hg_sql_row_set_text(row, BUILD_FALLBACK, hg_report_fallback(report));
}

/*
 * hashgraph_build_stats(rel regclass, key name)
 *
 * The column is the inner side of a job with an empty outer side, so that only its graph is built,
 * in the shape that fits it.
 */
Datum
hashgraph_build_stats(PG_FUNCTION_ARGS)
{
	HgSqlRow row = hg_sql_row_start(fcinfo, BUILD_COLUMNS);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "hashgraph_build_stats",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	HgSqlKey key = hg_sql_key_check(PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)));
	HgKeyClause clause = hg_sql_key_clause(&key, &key);
	HgKeyEncoder *encoder = hg_key_encoder_create(1, &clause);
	HgMatcherSpec spec = {.key_width = encoder->width, .mode = HG_MATCH_ALL};
	HgKeySet none = {0};
	HgKeySet set;
	HgSqlSide side;
	HgBudget budget;
	HgMatcher *matcher;
	HgGraphStats graph;
	HgMatcherReport report;
	double start = hg_clock_ms();
	double scan_ms;

	hg_budget_init(&budget, NULL, hg_sql_memory_limit());
	hg_sql_side_read(&side, &key, encoder, HG_INNER, false, &budget);
	scan_ms = hg_clock_ms() - start;

	set = hg_key_column_set(side.keys);
	matcher = hg_matcher_create(&spec, &none, &set);
	if (!hg_matcher_describe(matcher, HG_INNER, &graph))
		elog(ERROR, "the inner side has no HashGraph");
	hg_matcher_report(matcher, &report);
	hg_matcher_destroy(matcher);
	MemoryContextSwitchTo(caller);

	hg_sql_build_stats_fill(&row, &side, &graph, &report, scan_ms);
	MemoryContextDelete(context);
	PG_RETURN_DATUM(hg_sql_row_finish(&row));
}

/* ---------------------------------------------------------------------
 * hashgraph_probe_stats(): the costs of joining two key columns
 * ---------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(hashgraph_probe_stats);

/* Numbers of the result's columns. */
typedef enum HgProbeStatsColumn
{
	PROBE_LEFT_ROWS = 0,
	PROBE_RIGHT_ROWS,
	PROBE_LEFT_NULL_KEYS,
	PROBE_RIGHT_NULL_KEYS,
	PROBE_VERTICES,
	PROBE_BINS,
	PROBE_LOAD_FACTOR,
	PROBE_BUILD,
	PROBE_PROBE,
	PROBE_MATCHES,
	PROBE_CANDIDATES,
	PROBE_COMPARISONS,
	PROBE_INTERSECTIONS,
	PROBE_SCAN_MS,
	PROBE_TRANSFER_MS,
	PROBE_BIN_MS,
	PROBE_BUILD_MS,
	PROBE_MATCH_MS,
	PROBE_RECHECK_MS,
	PROBE_TOTAL_MS,
	PROBE_BACKEND,
	PROBE_DEVICE,
	PROBE_FALLBACK,
	PROBE_COLUMNS
} HgProbeStatsColumn;

/* Returns the number of matches that pass the recheck; *recheck_ms is its time. */
static uint64
hg_sql_probe_stats_recheck(HgSqlMatch *match, double *recheck_ms)
{
	const uint32 *left;
	const uint32 *right;
	size_t count;
	uint64 matches = 0;

	while (hg_matcher_next(match->matcher, &left, &right, &count))
	{
		double start = hg_clock_ms();

		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < count; i++)
			if (hg_sql_match_recheck(match, left[i], right[i]))
				matches++;
		*recheck_ms += hg_clock_ms() - start;
	}
	return matches;
}

static void
hg_sql_probe_stats_fill(HgSqlRow *row, HgSqlMatch *match, uint64 matches, double recheck_ms)
{
	const HgSqlSide *left = &match->sides[HG_OUTER];
	const HgSqlSide *right = &match->sides[HG_INNER];
	HgMatcherReport report;
	const HgJobStats *job = &report.job;

	hg_matcher_report(match->matcher, &report);
	hg_sql_row_set_count(row, PROBE_LEFT_ROWS, left->keys->rows + left->null_keys);
	hg_sql_row_set_count(row, PROBE_RIGHT_ROWS, right->keys->rows + right->null_keys);
	hg_sql_row_set_count(row, PROBE_LEFT_NULL_KEYS, left->null_keys);
	hg_sql_row_set_count(row, PROBE_RIGHT_NULL_KEYS, right->null_keys);
	hg_sql_row_set_count(row, PROBE_VERTICES, job->vertices);
	hg_sql_row_set_count(row, PROBE_BINS, job->bins);
	hg_sql_row_set_ratio(row, PROBE_LOAD_FACTOR, right->keys->rows, job->vertices);
	hg_sql_row_set_text(row, PROBE_BUILD, hg_build_name(job->build));
	hg_sql_row_set_text(row, PROBE_PROBE, hg_probe_name(job->probe));
	hg_sql_row_set_count(row, PROBE_MATCHES, matches);
	hg_sql_row_set_count(row, PROBE_CANDIDATES, job->matches);
	hg_sql_row_set_count(row, PROBE_COMPARISONS, job->comparisons);
	hg_sql_row_set_count(row, PROBE_INTERSECTIONS, job->intersections);
	hg_sql_row_set_number(row, PROBE_SCAN_MS, match->scan_ms);
	hg_sql_row_set_number(row, PROBE_TRANSFER_MS, job->phase_ms[HG_PHASE_TRANSFER]);
	hg_sql_row_set_number(row, PROBE_BIN_MS, job->phase_ms[HG_PHASE_BIN]);
	hg_sql_row_set_number(row, PROBE_BUILD_MS, job->phase_ms[HG_PHASE_BUILD]);
	hg_sql_row_set_number(row, PROBE_MATCH_MS, job->phase_ms[HG_PHASE_MATCH]);
	hg_sql_row_set_number(row, PROBE_RECHECK_MS, recheck_ms);
	hg_sql_row_set_number(row, PROBE_TOTAL_MS, hg_clock_ms() - match->start);
	hg_sql_row_set_text(row, PROBE_BACKEND, report.backend);
	hg_sql_row_set_text(row, PROBE_DEVICE, report.device);
	hg_sql_row_set_text(row, PROBE_FALLBACK, hg_report_fallback(&report));
}

/*
 * hashgraph_probe_stats(left_rel regclass, left_key name, right_rel regclass, right_key name)
 *
 * Exact keys are counted without writing a match.  Matches of hashes are rechecked one by one.
 */
Datum
hashgraph_probe_stats(PG_FUNCTION_ARGS)
{
	HgSqlRow row = hg_sql_row_start(fcinfo, PROBE_COLUMNS);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "hashgraph_probe_stats",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	HgSqlMatch match;
	uint64 matches;
	double recheck_ms = 0;

	hg_sql_match_open(&match, PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)), PG_GETARG_OID(2),
					  NameStr(*PG_GETARG_NAME(3)));
	if (match.exact)
		matches = hg_matcher_count(match.matcher);
	else
		matches = hg_sql_probe_stats_recheck(&match, &recheck_ms);
	MemoryContextSwitchTo(caller);

	hg_sql_probe_stats_fill(&row, &match, matches, recheck_ms);
	hg_matcher_destroy(match.matcher);
	MemoryContextDelete(context);
	PG_RETURN_DATUM(hg_sql_row_finish(&row));
}

/* ---------------------------------------------------------------------
 * hashgraph_list_lengths(): the lengths of the adjacency lists of a key column
 *
 * The lists are counted in this process, whatever backend a join would use: vertices and hash are
 * the same in each.
 *
 * MEMORY.  Keys and the counts of their lists are charged to a budget like that of the other
 * statistics functions.
 * ---------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(hashgraph_list_lengths);

/* Numbers of the result's columns. */
typedef enum HgListLengthsColumn
{
	LENGTHS_LENGTH = 0,
	LENGTHS_VERTICES,
	LENGTHS_ROWS,
	LENGTHS_COLUMNS
} HgListLengthsColumn;

/* Counts the lists of a side's keys. */
static HgStatus
hg_sql_lengths_make(HgListLengths *lists, const HgHost *host, const HgKeySet *set, uint32 width,
					HgError *error)
{
	HgStatus status = HG_OK;

	HG_TRY(hg_list_lengths_open(lists, host, width, hg_load_factor, set->rows, error));
	for (int i = 0; i < set->npieces && status == HG_OK; i++)
		status = hg_list_lengths_add(lists, set->pieces[i].keys, set->pieces[i].count, error);
	if (status == HG_OK)
		status = hg_list_lengths_make(lists, error);
	return status;
}

static void
hg_sql_lengths_return(ReturnSetInfo *result, const HgListLengths *lists)
{
	for (uint64 i = 0; i < lists->count; i++)
	{
		const HgListLength *length = &lists->lengths[i];
		Datum values[LENGTHS_COLUMNS];
		bool nulls[LENGTHS_COLUMNS] = {false};

		values[LENGTHS_LENGTH] = Int64GetDatum((int64) length->length);
		values[LENGTHS_VERTICES] = Int64GetDatum((int64) length->vertices);
		values[LENGTHS_ROWS] = Int64GetDatum((int64) (length->length * length->vertices));
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/* hashgraph_list_lengths(rel regclass, key name) */
Datum
hashgraph_list_lengths(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "hashgraph_list_lengths",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller;
	HgSqlKey key;
	HgKeyClause clause;
	HgKeyEncoder *encoder;
	HgKeySet set;
	HgSqlSide side;
	HgBudget budget;
	HgPgHost host;
	HgListLengths lists;
	HgError error;
	HgStatus status;

	InitMaterializedSRF(fcinfo, 0);
	if (result->setDesc->natts != LENGTHS_COLUMNS)
		elog(ERROR, "return type has %d columns, expected %d", result->setDesc->natts,
			 LENGTHS_COLUMNS);
	caller = MemoryContextSwitchTo(context);
	key = hg_sql_key_check(PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)));
	clause = hg_sql_key_clause(&key, &key);
	encoder = hg_key_encoder_create(1, &clause);
	hg_budget_init(&budget, NULL, hg_sql_memory_limit());
	hg_sql_side_read(&side, &key, encoder, HG_INNER, false, &budget);

	/* instead of the HashGraph, which no join will build */
	set = hg_key_column_set(side.keys);
	hg_charge_set(&side.keys->charge, hg_key_column_reserved(side.keys) +
										  hg_list_lengths_bytes(set.rows, hg_load_factor));
	hg_sql_memory_check(&budget);
	hg_host_init(&host, context);
	status = hg_sql_lengths_make(&lists, &host.host, &set, encoder->width, &error);
	if (status != HG_OK)
		hg_host_throw(&host, status, &error);
	MemoryContextSwitchTo(caller);
	hg_sql_lengths_return(result, &lists);
	MemoryContextDelete(context);
	return (Datum) 0;
}
