/*-------------------------------------------------------------------------
 *
 * hg_bench_report.c
 *	  What hg_bench tells of a run: a line, its phases, and an object in the JSON.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_bench_report.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const phase_names[HG_PHASE_COUNT] = {"transfer", "bin", "build", "match"};

/* Print the time of each phase, and how fast it went through memory where that is known. */
static void
report_phases(const HgBenchResult *result)
{
	printf("%-14s %-12s", "", "");
	for (int phase = 0; phase < HG_PHASE_COUNT; phase++)
	{
		printf(" %s %.3f ms", phase_names[phase], result->phase_ms[phase]);
		if (result->phase_bytes[phase] > 0 && result->phase_ms[phase] > 0)
		{
			double rate = result->phase_bytes[phase] / result->phase_ms[phase] / 1e6;

			printf(" (%.0f GB/s", rate);
			if (result->copy_rate > 0)
				printf(", %.0f %% of a copy", 100 * rate / result->copy_rate);
			printf(")");
		}
		printf(",");
	}
	if (result->copy_rate > 0)
		printf(" a copy %.0f GB/s,", result->copy_rate);
	printf(" %.0f MB\n", (double) result->peak_bytes / 1e6);
}

/* One object of the JSON's list: why a run failed, or what it did. */
static void
write_run(HgBenchJson *json, const HgWorkload *workload, const char *backend,
		  const HgBenchResult *result, bool right, const char *failed)
{
	hg_bench_json_next(json);
	fprintf(json->file,
			"{\"workload\": \"%s\", \"backend\": \"%s\", \"rows_a\": %" PRIu64
			", \"rows_b\": %" PRIu64 ", ",
			workload->name, backend, workload->rows_a, workload->rows_b);
	if (failed != NULL)
	{
		fputs("\"failed\": ", json->file);
		hg_bench_json_text(json, failed);
		putc('}', json->file);
		return;
	}
	fprintf(json->file, "\"pairs\": %" PRIu64 ", \"total_ms\": %.6g, \"phases_ms\": {",
			result->pairs, result->total_ms);
	for (int phase = 0; phase < HG_PHASE_COUNT; phase++)
		fprintf(json->file, "%s\"%s\": %.6g", phase == 0 ? "" : ", ", phase_names[phase],
				result->phase_ms[phase]);
	fprintf(json->file,
			"}, \"peak_bytes\": %" PRIu64 ", \"verified\": %s, \"how\": ", result->peak_bytes,
			right ? "true" : "false");
	hg_bench_json_text(json, result->device);
	putc('}', json->file);
}

bool
hg_bench_report(HgBenchReport *report, const HgWorkload *workload, const char *backend,
				const HgBenchResult *result, bool valid)
{
	double rate = (double) (workload->rows_a + workload->rows_b) / result->total_ms / 1e6;

	valid &= result->pairs == workload->pairs && result->checksum == workload->checksum;
	printf("%-14s %-12s %11" PRIu64 " %11" PRIu64 " %11" PRIu64 " %10.3f %8.3f  %-8s %s\n",
		   workload->name, backend, workload->rows_a, workload->rows_b, result->pairs,
		   result->total_ms, rate, valid ? "yes" : "NO", result->device);
	if (report->phases)
		report_phases(result);
	fflush(stdout);
	if (report->json.file != NULL)
		write_run(&report->json, workload, backend, result, valid, NULL);
	return valid;
}

bool
hg_bench_report_failure(HgBenchReport *report, const HgWorkload *workload, const char *backend,
						HgStatus status, const HgError *error)
{
	printf("%-14s %-12s failed with status %d: %s %s\n", workload->name, backend, (int) status,
		   error->message, error->detail);
	fflush(stdout);
	if (report->json.file != NULL)
		write_run(&report->json, workload, backend, NULL, false, error->message);
	return false;
}
