/*-------------------------------------------------------------------------
 *
 * hg_sql_probe_stats.c
 *	  hashgraph_probe_stats(): the costs of joining two key columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "sql/hg_sql_match.h"
#include "sql/hg_sql_row.h"

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
		instr_time start;

		CHECK_FOR_INTERRUPTS();
		INSTR_TIME_SET_CURRENT(start);
		for (size_t i = 0; i < count; i++)
			if (hg_sql_match_recheck(match, left[i], right[i]))
				matches++;
		*recheck_ms += hg_sql_ms_since(start);
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
	hg_sql_row_set_number(row, PROBE_TOTAL_MS, hg_sql_ms_since(match->start));
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
