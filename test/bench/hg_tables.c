/*-------------------------------------------------------------------------
 *
 * hg_tables.c
 *	  Measure tables of every kind on the workloads of the papers they come from, and check them.
 *
 * One line for each engine, workload, kind and step: how many operations, the median of their
 * times, nanoseconds an operation and 10^9 operations a second.  Every answer of every run is
 * compared with what is known (hg_tables_work.c); a difference makes the exit status 1.  What a
 * kind refuses, because its lists would be padded too far, is said.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _DEFAULT_SOURCE /* getopt_long */

#include "hg_tables.h"

#include "hg_bench_json.h"
#include "hg_bench_options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* N where nothing is said: what a device is good for is too much for a thread. */
#define CPU_ROWS_LOG2 22
#define CUDA_ROWS_LOG2 25
#define QUICK_ROWS_LOG2 14
#define MIN_ROWS_LOG2 10
#define MAX_ROWS_LOG2 27

typedef struct Options
{
	bool cpu;
	bool cuda;
	bool quick;
	bool set;			   /* maps are to be sets */
	const char *workloads; /* names, or NULL for all */
	const char *kinds;	   /* the same */
	unsigned rows_log2;	   /* 0: as above */
	int runs;
	uint32_t key_width;
	HgTableSpec spec; /* parameters that were asked for */
	HgBenchJson json;
} Options;

static int
compare_ms(const void *a, const void *b)
{
	double left = *(const double *) a;
	double right = *(const double *) b;

	return (left > right) - (left < right);
}

/* "csr", "csr soa" */
static const char *
table_name(const HgTableSpec *spec)
{
	static char name[48];

	snprintf(name, sizeof(name), "%s%s", hg_table_kind_name(spec->kind),
			 spec->layout == HG_TABLE_SOA ? " soa" : "");
	return name;
}

static void
print_header(const HgBenchTables *bench)
{
	printf("%s: %s\n%-10s %-10s %-18s %-9s %-12s %11s %10s %9s %8s %6s %7s  %s\n", bench->name,
		   bench->device, "workload", "", "kind", "content", "step", "operations", "ms", "ns/op",
		   "G op/s", "filled", "MB", "verified");
}

static void
print_course(const HgBenchCourse *course)
{
	for (int i = 0; i < course->nsteps; i++)
	{
		const HgBenchStep *step = &course->steps[i];
		double ms = step->ms[step->runs / 2];
		double operations = (double) step->operations;

		printf("%-10s %-10s %-18s %-9s %-12s %11" PRIu64 " %10.3f %9.3f %8.3f %6.3f %7.1f  %s\n",
			   course->workload, course->detail, table_name(&course->spec),
			   hg_table_content_name(course->spec.content), step->name, step->operations, ms,
			   ms * 1e6 / operations, operations / ms / 1e6, course->stats.filled,
			   (double) course->stats.peak_bytes / 1e6, course->wrong ? "NO" : "yes");
	}
	fflush(stdout);
}

/* How full a table was over time, in one line. */
static void
print_filled(const HgBenchCourse *course)
{
	double least = course->nfilled > 0 ? course->filled[0] : 0;
	double most = least;

	if (course->nfilled == 0)
		return;
	for (int i = 1; i < course->nfilled; i++)
	{
		least = course->filled[i] < least ? course->filled[i] : least;
		most = course->filled[i] > most ? course->filled[i] : most;
	}
	printf("%-10s %-10s %-18s filled from %.3f to %.3f, doubled %" PRIu64 ", halved %" PRIu64
		   ", rebuilt %" PRIu64 "\n",
		   "", "", table_name(&course->spec), least, most, course->stats.doubled,
		   course->stats.halved, course->stats.rebuilds);
}

static void
write_numbers(FILE *json, const char *name, const double *numbers, int count)
{
	fprintf(json, "\"%s\": [", name);
	for (int i = 0; i < count; i++)
		fprintf(json, "%s%.6g", i == 0 ? "" : ", ", numbers[i]);
	fprintf(json, "]");
}

/* One object of the JSON's list. */
static void
write_course(Options *options, const HgBenchCourse *course, HgStatus status, const HgError *error)
{
	const HgTableStats *stats = &course->stats;
	FILE *json = options->json.file;

	hg_bench_json_next(&options->json);
	fprintf(json,
			"{\"engine\": \"%s\", \"workload\": \"%s\", \"detail\": \"%s\", \"kind\": \"%s\", "
			"\"layout\": \"%s\", \"content\": \"%s\", \"key_width\": %u, \"rows_log2\": %u, ",
			course->bench->name, course->workload, course->detail,
			hg_table_kind_name(course->spec.kind),
			course->spec.layout == HG_TABLE_SOA ? "soa" : "aos",
			hg_table_content_name(course->spec.content), course->spec.key_width, course->rows_log2);
	if (status != HG_OK)
	{
		fprintf(json, "\"%s\": ", status == HG_INVALID ? "refused" : "failed");
		hg_bench_json_text(&options->json, error->message);
		fputs(", ", json);
	}
	fprintf(json,
			"\"verified\": %s, \"slots\": %" PRIu64 ", \"filled_at_last\": %.6g, "
			"\"bytes\": %" PRIu64 ", \"peak_bytes\": %" PRIu64 ", \"longest_list\": %" PRIu64
			", \"evictions\": %" PRIu64 ", \"restarts\": %" PRIu64 ", \"rebuilds\": %" PRIu64
			", \"doubled\": %" PRIu64 ", \"halved\": %" PRIu64 ", ",
			course->wrong ? "false" : "true", stats->slots, stats->filled, stats->bytes,
			stats->peak_bytes, stats->longest_list, stats->evictions, stats->restarts,
			stats->rebuilds, stats->doubled, stats->halved);
	write_numbers(json, "filled", course->filled, course->nfilled);
	fprintf(json, ", \"steps\": [");
	for (int i = 0; i < course->nsteps; i++)
	{
		const HgBenchStep *step = &course->steps[i];

		fprintf(json, "%s{\"step\": \"%s\", \"operations\": %" PRIu64 ", \"median_ms\": %.6g, ",
				i == 0 ? "" : ", ", step->name, step->operations, step->ms[step->runs / 2]);
		write_numbers(json, "ms", step->ms, step->runs);
		fprintf(json, "}");
	}
	fprintf(json, "]}");
}

/* Measure one table on one variant of a workload; returns whether all is right. */
static bool
bench_table(const HgBenchTables *bench, const HgBenchWork *work, int variant,
			const HgTableSpec *spec, Options *options)
{
	HgBenchCourse course = {.bench = bench, .spec = *spec, .workload = work->name};
	HgStatus status;
	HgError error;

	course.rows_log2 = options->rows_log2 > 0			 ? options->rows_log2
					   : options->quick					 ? QUICK_ROWS_LOG2
					   : strcmp(bench->name, "cpu") == 0 ? CPU_ROWS_LOG2
														 : CUDA_ROWS_LOG2;
	course.runs = options->runs;
	status = work->run(&course, variant, &error);
	for (int i = 0; i < course.nsteps; i++)
		qsort(course.steps[i].ms, (size_t) course.steps[i].runs, sizeof(double), compare_ms);
	print_course(&course);
	if (status != HG_OK)
		printf("%-10s %-10s %-18s %-9s %s: %s %s\n", work->name, course.detail, table_name(spec),
			   hg_table_content_name(spec->content), status == HG_INVALID ? "refused" : "FAILED",
			   error.message, error.detail);
	else
		print_filled(&course);
	if (options->json.file != NULL)
		write_course(options, &course, status, &error);
	return status == HG_INVALID || (status == HG_OK && !course.wrong);
}

/* All kinds that a workload is for, in turn. */
static bool
bench_work(const HgBenchTables *bench, const HgBenchWork *work, int variant, Options *options)
{
	bool right = true;

	for (int kind = 0; kind < HG_TABLE_KINDS; kind++)
		for (int layout = HG_TABLE_AOS; layout <= HG_TABLE_SOA; layout++)
		{
			HgTableSpec spec = options->spec;

			spec.kind = (HgTableKind) kind;
			spec.layout = (HgTableLayout) layout;
			spec.content =
				options->set && work->content == HG_TABLE_MAP ? HG_TABLE_SET : work->content;
			spec.key_width = options->key_width;
			if (!hg_table_traits(spec.kind, spec.content).possible ||
				!hg_bench_is_listed(options->kinds, hg_table_kind_name(spec.kind)) ||
				(work->cuckoo && spec.kind != HG_TABLE_CUCKOO))
				continue;
			/* the others have one layout, and so have sets */
			if (layout == HG_TABLE_SOA &&
				(!work->layouts || spec.kind > HG_TABLE_DYNAMIC || spec.content == HG_TABLE_SET))
				continue;
			right &= bench_table(bench, work, variant, &spec, options);
		}
	return right;
}

static bool
bench_engine(const HgBenchTables *bench, Options *options)
{
	bool right = true;

	print_header(bench);
	for (int i = 0; i < hg_bench_work_count; i++)
		for (int variant = 0; variant < hg_bench_works[i].variants; variant++)
			if (hg_bench_is_listed(options->workloads, hg_bench_works[i].name))
				right &= bench_work(bench, &hg_bench_works[i], variant, options);
	return right;
}

static void
usage(FILE *file)
{
	fprintf(file, "Usage: hg_tables [option]...\n"
				  "  --engine cpu|cuda|cpu,cuda  what to measure (all that was built in)\n"
				  "  --workload LIST          names with commas (all):\n");
	for (int i = 0; i < hg_bench_work_count; i++)
		fprintf(file, "      %-20s %s\n", hg_bench_works[i].name, hg_bench_works[i].what);
	fprintf(file,
			"  --kind LIST              csr, ellpack, sliced_ellpack, dynamic, cuckoo, dycuckoo\n"
			"                           (all)\n"
			"  --size N                 of 2^N rows (cpu %d, cuda %d)\n"
			"  --runs N                 of each, at most %d; times are medians (5)\n"
			"  --quick                  2^%d rows and one run, to see that all is right\n"
			"  --set                    keys alone, where else each has a row\n"
			"  --key-width 4|8          bytes of a key (4)\n"
			"  --load-factor C          HashGraphs: rows a list (1)\n"
			"  --empty-slots N          dynamic: of each list when it is built (1)\n"
			"  --slots-factor F         cuckoo: slots a key (1.25)\n"
			"  --functions N            cuckoo: 2 to 5 (4)\n"
			"  --json FILE              write all times there\n"
			"Exit status: 0, or 1 where a result is wrong or a run failed, or 2.\n",
			CPU_ROWS_LOG2, CUDA_ROWS_LOG2, HG_BENCH_MAX_RUNS, QUICK_ROWS_LOG2);
}

/* The number of an option, or the end of the program. */
static unsigned long
number(const char *option, unsigned long max)
{
	return hg_bench_number("hg_tables", option, optarg, max);
}

static const char *
work_name(int work)
{
	return hg_bench_works[work].name;
}

static void
parse_options(int argc, char **argv, Options *options)
{
	static const struct option names[] = {{"engine", required_argument, NULL, 'e'},
										  {"workload", required_argument, NULL, 'w'},
										  {"kind", required_argument, NULL, 'k'},
										  {"size", required_argument, NULL, 's'},
										  {"runs", required_argument, NULL, 'r'},
										  {"quick", no_argument, NULL, 'q'},
										  {"set", no_argument, NULL, 'S'},
										  {"key-width", required_argument, NULL, 'K'},
										  {"load-factor", required_argument, NULL, 'C'},
										  {"empty-slots", required_argument, NULL, 'E'},
										  {"slots-factor", required_argument, NULL, 'F'},
										  {"functions", required_argument, NULL, 'f'},
										  {"json", required_argument, NULL, 'j'},
										  {"help", no_argument, NULL, 'h'},
										  {NULL, 0, NULL, 0}};
	const char *engines = NULL;
	int option;

	*options = (Options){.key_width = 4};
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
		switch (option)
		{
			case 'e':
				engines = optarg;
				break;
			case 'w':
				hg_bench_check_list("hg_tables", "workload", optarg, hg_bench_work_count,
									work_name);
				options->workloads = optarg;
				break;
			case 'k':
				hg_bench_check_list("hg_tables", "kind", optarg, HG_TABLE_KINDS,
									hg_bench_kind_name);
				options->kinds = optarg;
				break;
			case 's':
				options->rows_log2 = (unsigned) number("size", MAX_ROWS_LOG2);
				if (options->rows_log2 < MIN_ROWS_LOG2)
					options->rows_log2 = MIN_ROWS_LOG2;
				break;
			case 'r':
				options->runs = (int) number("runs", HG_BENCH_MAX_RUNS);
				break;
			case 'q':
				options->quick = true;
				break;
			case 'S':
				options->set = true;
				break;
			case 'K':
				options->key_width = number("key-width", 8) == 8 ? 8 : 4;
				break;
			case 'C':
				options->spec.load_factor = strtod(optarg, NULL);
				break;
			case 'E':
				options->spec.empty_slots =
					(uint32_t) number("empty-slots", HG_TABLE_MAX_EMPTY_SLOTS);
				break;
			case 'F':
				options->spec.slots_factor = strtod(optarg, NULL);
				break;
			case 'f':
				options->spec.functions = (uint32_t) number("functions", HG_TABLE_MAX_FUNCTIONS);
				break;
			case 'j':
				hg_bench_json_open(&options->json, optarg);
				break;
			default:
				hg_bench_help(usage, option == 'h');
		}
	if (options->runs == 0)
		options->runs = options->quick ? 1 : 5;
	hg_bench_engines("hg_tables", "engine", engines, &options->cpu, &options->cuda);
}

/* Measure what an engine has; no device is no failure where both are measured. */
static bool
bench_one(HgStatus (*make)(const HgBenchTables **bench, HgError *error), bool may_be_missing,
		  Options *options)
{
	const HgBenchTables *bench;
	HgError error;
	HgStatus status = make(&bench, &error);

	if (status == HG_OK)
		return bench_engine(bench, options);
	printf("not measured: %s\n", error.message);
	return status == HG_UNAVAILABLE && may_be_missing;
}

int
main(int argc, char **argv)
{
	Options options;
	bool right = true;

	parse_options(argc, argv, &options);
	if (options.json.file != NULL)
		hg_bench_json_begin(&options.json, "hashgraph tables", options.runs);
	if (options.cpu)
		right &= bench_one(hg_tables_cpu_bench, false, &options);
#ifdef HG_WITH_CUDA
	if (options.cuda)
		right &= bench_one(hg_tables_cuda_bench, options.cpu, &options);
#endif
	if (options.json.file != NULL)
		right &= hg_bench_json_end(&options.json, "hg_tables");
	return right ? 0 : 1;
}
