/*-------------------------------------------------------------------------
 *
 * hg_sql_build_stats.c
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

#include "sql/hg_sql_match.h"
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
	instr_time start;
	double scan_ms;

	INSTR_TIME_SET_CURRENT(start);
	hg_budget_init(&budget, NULL, hg_sql_memory_limit());
	hg_sql_side_read(&side, &key, encoder, HG_INNER, false, &budget);
	scan_ms = hg_sql_ms_since(start);

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
