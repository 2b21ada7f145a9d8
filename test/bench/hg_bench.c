/*-------------------------------------------------------------------------
 *
 * hg_bench.c
 *	  Measure the engines on the workloads of hg_workload.h, and check them.
 *
 * One line for each workload and backend: rows, pairs, the median time from keys
 * to written pairs, and the rate in rows of both sides.  Every run's number of
 * pairs is compared with the right one, and the checksum of the pairs of one run
 * outside the measured ones; a difference makes the exit status 1.
 *
 * The CPU engine is measured in one thread, from append to the last chunk of
 * pairs, fresh memory included unless --warm; a chunk of 64K pairs is written over and over, as
 * a consumer of a stream would have it.  With --count nothing is written.  What
 * the CUDA engine is measured on stands in hg_bench.h.  With --jobs it is measured as the device
 * process uses it instead: a job from its opening to the last chunk of pairs in host memory, with
 * keys and pairs in memory that the device copies from and to by itself, as it does staging.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _DEFAULT_SOURCE /* strsep */

#include "hg_bench.h"
#include "hg_bench_gpus.h"
#include "hg_bench_host.h"
#include "hg_bench_options.h"
#include "hg_bench_report.h"

#ifdef HG_WITH_CUDA
#include "../../cuda/engine/hg_cuda_engine.h"
#endif
#include "../../src/engine/cpu/hg_cpu.h"
#include "../../src/engine/hg_lookup.h"
#include "../../src/tables/hg_table_cpu.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 65536
#define JOB_CHUNK (1 << 20)
#define MAX_REPEAT 101
#define BUILT_LOG2 25

/* Where pairs are read to. */
static uint32_t outer_rows[JOB_CHUNK];
static uint32_t inner_rows[JOB_CHUNK];

typedef struct Options
{
	bool cpu;
	bool cuda;
	bool count;			   /* --count: count pairs, write none */
	bool first;			   /* --first: one pair of each outer row */
	bool jobs;			   /* --jobs: whole jobs of the CUDA engine */
	uint32_t chunk;		   /* --chunk: pairs that they are asked for at a time */
	uint64_t memory;	   /* --memory: bytes of the device that they may hold; 0 for any number */
	const char *workloads; /* names, "all" or "variants" */
	unsigned scale;
	int repeat;
	HgJobSpec spec;
	HgBenchGpus gpus;	  /* --gpus, --rows, --strong, --quick: instead of workloads */
	HgBenchReport report; /* --phases, --json */
} Options;

/* Read the whole stream; returns its checksum if that is wanted, else 0. */
static HgStatus
read_stream(HgEngine *engine, HgJob *job, HgMatchMode mode, HgMatches *matches, bool sum,
			HgBenchResult *result, HgError *error)
{
	HgStatus status = engine->join->match(job, mode, error);

	result->pairs = 0;
	result->checksum = 0;
	while (status == HG_OK)
	{
		status = engine->join->next(job, matches, error);
		if (status != HG_OK || matches->count == 0)
			break;
		result->pairs += matches->count;
		for (size_t i = 0; sum && i < matches->count; i++)
			result->checksum += hg_workload_pair(matches->inner[i], matches->outer[i]);
	}
	return status;
}

/* One run: A is the inner side, B the outer. */
static HgStatus
run_job(HgEngine *engine, const HgWorkload *workload, const Options *options, bool sum,
		HgMatches *matches, HgBenchResult *result, HgError *error)
{
	const HgMatchMode mode = options->first ? HG_MATCH_FIRST : HG_MATCH_ALL;
	HgJobSpec spec = options->spec;
	HgJobStats stats;
	HgJob *job;
	HgStatus status;
	double start;

	spec.key_width = workload->key_width;
	spec.device = -1;
	spec.first_only = options->first;
	start = hg_clock_ms();
	status = engine->open(engine, &hg_bench_host, &spec, &job, error);
	if (status != HG_OK)
		return status;
	status = engine->join->append(job, HG_INNER, workload->keys_a, workload->rows_a, error);
	if (status == HG_OK)
		status = engine->join->append(job, HG_OUTER, workload->keys_b, workload->rows_b, error);
	if (status == HG_OK)
		status = engine->join->build(job, error);
	if (status == HG_OK && options->count && !sum)
		status = engine->join->count(job, mode, &result->pairs, error);
	else if (status == HG_OK)
		status = read_stream(engine, job, mode, matches, sum, result, error);
	result->total_ms = hg_clock_ms() - start;

	engine->join->stats(job, &stats);
	memcpy(result->phase_ms, stats.phase_ms, sizeof(result->phase_ms));
	result->peak_bytes = stats.peak_bytes;
	if (stats.build == HG_BUILD_TABLE)
		snprintf(result->device, sizeof(result->device), "table %s",
				 hg_table_kind_name(stats.table));
	else
		snprintf(result->device, sizeof(result->device), "%s %s, 2^%u bins",
				 hg_build_name(stats.build), hg_probe_name(stats.probe),
				 (unsigned) __builtin_ctzll(stats.bins));
	engine->join->close(job);
	return status;
}

static int
compare_totals(const void *a, const void *b)
{
	const HgBenchResult *left = a;
	const HgBenchResult *right = b;

	return left->total_ms < right->total_ms ? -1 : left->total_ms > right->total_ms;
}

/* The median of repeat runs, with the checksum of one run before them. */
static HgStatus
bench_job(HgEngine *engine, const HgWorkload *workload, const Options *options, uint32_t capacity,
		  HgBenchResult *result, HgError *error)
{
	HgMatches matches = {.outer = outer_rows, .inner = inner_rows, .capacity = capacity};
	HgBenchResult runs[MAX_REPEAT];
	HgBenchResult checked;
	HgStatus status;

	status = run_job(engine, workload, options, true, &matches, &checked, error);
	for (int i = 0; i < options->repeat && status == HG_OK; i++)
	{
		status = run_job(engine, workload, options, false, &matches, &runs[i], error);
		if (status == HG_OK && runs[i].pairs != checked.pairs)
			checked.checksum = ~workload->checksum; /* runs differ: not verified */
	}
	if (status != HG_OK)
		return status;

	qsort(runs, (size_t) options->repeat, sizeof(runs[0]), compare_totals);
	*result = runs[options->repeat / 2];
	result->pairs = checked.pairs;
	result->checksum = checked.checksum;
	return HG_OK;
}

#ifdef HG_WITH_CUDA
/* Measure a workload as whole jobs, of memory that the device copies from and to by itself. */
static HgStatus
bench_pinned(const HgWorkload *workload, const Options *options, HgBenchResult *result,
			 HgError *error)
{
	void *const memory[] = {workload->keys_a, workload->keys_b, outer_rows, inner_rows};
	const uint64_t bytes[] = {workload->rows_a * workload->key_width,
							  workload->rows_b * workload->key_width, sizeof(outer_rows),
							  sizeof(inner_rows)};
	HgEngine *engine;
	HgStatus status = hg_cuda_engine_start(-1, options->memory, &engine, error);
	int pinned = 0;

	if (status != HG_OK)
		return status;
	while (pinned < 4 && status == HG_OK)
	{
		status = hg_bench_cuda_pin(memory[pinned], bytes[pinned], error);
		pinned += status == HG_OK;
	}
	if (status == HG_OK)
		status = bench_job(engine, workload, options, options->chunk, result, error);
	while (pinned > 0)
		hg_bench_cuda_unpin(memory[--pinned]);
	hg_cuda_engine_stop(engine);
	return status;
}

/* Where both backends are measured, no device is no failure: that is said once. */
static bool
report_cuda(const HgWorkload *workload, Options *options)
{
	static const char *const names[] = {"cuda graphs", "cuda auto", "cuda kept", "cuda counted",
										"cuda job"};
	const int first = options->jobs ? HG_BENCH_JOB : HG_BENCH_GRAPHS;
	const int last = options->jobs ? HG_BENCH_JOB : HG_BENCH_COUNTED;
	bool right = true;

	for (int layout = first; layout <= last; layout++)
	{
		HgBenchResult result;
		HgError error;
		HgStatus status;

		memset(&result, 0, sizeof(result));
		status = options->jobs ? bench_pinned(workload, options, &result, &error)
							   : hg_bench_cuda(workload, (HgBenchLayout) layout, options->repeat,
											   &result, &error);
		if (status == HG_UNAVAILABLE && options->cpu)
		{
			printf("cuda is not measured: %s\n", error.message);
			options->cuda = false;
			break;
		}
		right &= status == HG_OK
					 ? hg_bench_report(&options->report, workload, names[layout], &result,
									   !HG_BENCH_HAS_GRAPHS(layout) || result.graphs_valid)
					 : hg_bench_report_failure(&options->report, workload, names[layout], status,
											   &error);
	}
	return right;
}
#endif

#ifdef HG_WITH_CUDA
/* Building alone, with ever more duplicates; returns whether all is right. */
static bool
report_builds(const Options *options)
{
	uint32_t rows_log2 = BUILT_LOG2 > options->scale ? BUILT_LOG2 - options->scale : 0;
	bool right = true;

	for (uint32_t duplicates = 1; duplicates <= 32; duplicates *= 2)
		for (int ordered = 0; ordered <= 1; ordered++)
		{
			uint64_t rows = UINT64_C(1) << rows_log2;
			HgBenchResult result;
			HgError error;
			HgStatus status = hg_bench_cuda_build(rows_log2, duplicates, ordered, options->repeat,
												  &result, &error);

			if (status == HG_UNAVAILABLE && options->cpu)
				return right; /* that has been said */
			if (status != HG_OK)
			{
				printf("build x%-7u failed with status %d: %s %s\n", duplicates, (int) status,
					   error.message, error.detail);
				return false;
			}
			printf("build x%-7u %-12s %11" PRIu64 " %11s %11s %10.3f %8.3f  %-8s %s\n", duplicates,
				   ordered ? "cuda ordered" : "cuda", rows, "", "", result.total_ms,
				   (double) rows / result.total_ms / 1e6, result.graphs_valid ? "yes" : "NO",
				   result.device);
			fflush(stdout);
			right &= result.graphs_valid;
		}
	return right;
}
#endif

#ifdef HG_WITH_CUDA
/*
 * Small joins as whole jobs of the CUDA engine, from open to the last pair in host memory, where
 * launches and waits count more than rows; returns whether all is right.
 */
static bool
report_jobs(Options *options)
{
	HgEngine *engine;
	HgError error;
	HgStatus status = hg_cuda_engine_start(-1, 0, &engine, &error);
	bool right = true;

	if (status != HG_OK)
		return status == HG_UNAVAILABLE && options->cpu; /* that has been said */
	for (int i = 0; i < hg_workload_count(); i++)
	{
		HgWorkload workload;
		HgBenchResult result;

		if (!hg_workload_is_small(i))
			continue;
		if (!hg_workload_generate(i, options->scale, &workload))
		{
			right = false;
			break;
		}
		status = bench_job(engine, &workload, options, JOB_CHUNK, &result, &error);
		right &=
			status == HG_OK
				? hg_bench_report(&options->report, &workload, "cuda job", &result, true)
				: hg_bench_report_failure(&options->report, &workload, "cuda job", status, &error);
		hg_workload_free(&workload);
	}
	hg_cuda_engine_stop(engine);
	return right;
}
#endif

/* Measure one workload on every backend asked for; returns whether all is right. */
static bool
bench_workload(int index, Options *options)
{
	HgWorkload workload;
	bool right = true;

	if (!hg_workload_generate(index, options->scale, &workload))
	{
		fprintf(stderr, "hg_bench: out of memory for workload %s\n", hg_workload_name(index));
		return false;
	}
	if (options->cpu)
	{
		HgLookup lookup;
		HgBenchResult result;
		HgError error;
		HgStatus status;

		hg_lookup_init(&lookup, hg_cpu_engine(), hg_table_cpu());
		status = bench_job(&lookup.engine, &workload, options, CHUNK, &result, &error);
		right = status == HG_OK
					? hg_bench_report(&options->report, &workload,
									  options->count ? "cpu count" : "cpu", &result, true)
					: hg_bench_report_failure(&options->report, &workload, "cpu", status, &error);
	}
#ifdef HG_WITH_CUDA
	if (options->cuda)
		right &= report_cuda(&workload, options);
#endif
	hg_bench_release();
	hg_workload_free(&workload);
	return right;
}

static void
usage(FILE *file)
{
	fprintf(file,
			"Usage: hg_bench [option]...\n"
			"  --backend cpu|cuda|cpu,cuda  what to measure (all that was built in)\n"
			"  --workload LIST          names with commas, all (the table: the default),\n"
			"                           or variants (what is beside the table), or\n"
			"                           jobs (cuda: small joins from open to the last pair)\n"
			"  --scale N                shrink every workload by 2^N (0)\n"
			"  --repeat N               measured runs of each, at most 101 (5)\n"
			"  --jobs                   cuda: whole jobs, keys and pairs in host memory\n"
			"  --chunk N                of --jobs: pairs asked for at a time (1048576)\n"
			"  --memory N               of --jobs: MB of the device to hold at most\n"
			"  --count                  cpu, --jobs: count pairs, write none\n"
			"  --warm                   cpu: use the memory of the run before again\n"
			"  --phases                 print the time of each phase, and memory\n"
			"  --build v1|v2            cpu: build algorithm\n"
			"  --probe standard|intersect  cpu: probe algorithm\n"
			"  --bins N                 cpu: number of bins\n"
			"  --direct                 cpu: dense keys may be the vertices\n"
			"  --load-factor C          cpu: rows for each vertex\n"
			"  --table KIND             cpu: look rows up in a table, ellpack, cuckoo ...\n"
			"  --json FILE              write times of all phases there\n"
			"  --first                  one pair of each outer row at most\n"
			"  --gpus LIST              cuda, instead of workloads: builds and joins on so many\n"
			"                           GPUs together, 1,2,4 say\n"
			"  --rows LOG2              of --gpus: rows of a side for each GPU (28)\n"
			"  --strong                 of --gpus: ... of all GPUs together\n"
			"  --quick                  of --gpus: fewer kinds of keys\n"
			"  --list                   print the names of all workloads\n"
			"Exit status: 0, or 1 where a result is wrong or a run failed, or 2.\n");
}

/* The position of text in a list of two names, or the end of the program. */
static int
parse_choice(const char *option, const char *text, const char *first, const char *second)
{
	if (strcmp(text, first) == 0)
		return 1;
	if (strcmp(text, second) == 0)
		return 2;
	fprintf(stderr, "hg_bench: --%s takes %s or %s, not \"%s\"\n", option, first, second, text);
	exit(2);
}

static void
parse_options(int argc, char **argv, Options *options)
{
	static const struct option names[] = {{"backend", required_argument, NULL, 'b'},
										  {"workload", required_argument, NULL, 'w'},
										  {"scale", required_argument, NULL, 's'},
										  {"repeat", required_argument, NULL, 'r'},
										  {"jobs", no_argument, NULL, 'j'},
										  {"chunk", required_argument, NULL, 'k'},
										  {"memory", required_argument, NULL, 'm'},
										  {"count", no_argument, NULL, 'c'},
										  {"warm", no_argument, NULL, 'W'},
										  {"phases", no_argument, NULL, 'p'},
										  {"build", required_argument, NULL, 'B'},
										  {"probe", required_argument, NULL, 'P'},
										  {"bins", required_argument, NULL, 'N'},
										  {"direct", no_argument, NULL, 'D'},
										  {"load-factor", required_argument, NULL, 'C'},
										  {"table", required_argument, NULL, 'T'},
										  {"json", required_argument, NULL, 'J'},
										  {"first", no_argument, NULL, 'F'},
										  {"gpus", required_argument, NULL, 'G'},
										  {"rows", required_argument, NULL, 'R'},
										  {"strong", no_argument, NULL, 'S'},
										  {"quick", no_argument, NULL, 'Q'},
										  {"list", no_argument, NULL, 'l'},
										  {"help", no_argument, NULL, 'h'},
										  {NULL, 0, NULL, 0}};
	const char *backends = NULL;
	int option;

	*options =
		(Options){.workloads = "all", .repeat = 5, .chunk = JOB_CHUNK, .gpus = {.rows_log2 = 28}};
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
		switch (option)
		{
			case 'b':
				backends = optarg;
				break;
			case 'w':
				options->workloads = optarg;
				break;
			case 's':
				options->scale = (unsigned) hg_bench_number("hg_bench", "scale", optarg, 27);
				break;
			case 'r':
				options->repeat = (int) hg_bench_number("hg_bench", "repeat", optarg, MAX_REPEAT);
				if (options->repeat == 0)
					options->repeat = 1;
				break;
			case 'j':
				options->jobs = true;
				break;
			case 'k':
				options->chunk = (uint32_t) hg_bench_number("hg_bench", "chunk", optarg, JOB_CHUNK);
				if (options->chunk == 0)
					options->chunk = 1;
				break;
			case 'm':
				options->memory = hg_bench_number("hg_bench", "memory", optarg, 1 << 20) << 20;
				break;
			case 'c':
				options->count = true;
				break;
			case 'W':
				hg_bench_pooled = true;
				break;
			case 'p':
				options->report.phases = true;
				break;
			case 'B':
				options->spec.shape.build =
					(HgBuildAlgorithm) parse_choice("build", optarg, "v1", "v2");
				break;
			case 'P':
				options->spec.shape.probe =
					(HgProbeAlgorithm) parse_choice("probe", optarg, "standard", "intersect");
				break;
			case 'N':
				options->spec.shape.bins =
					(uint32_t) hg_bench_number("hg_bench", "bins", optarg, UINT32_MAX);
				break;
			case 'D':
				options->spec.shape.direct = 1;
				break;
			case 'C':
				options->spec.shape.load_factor = strtod(optarg, NULL);
				break;
			case 'T':
				options->spec.shape.table = (HgTableKind) hg_bench_choice(
					"hg_bench", "kind of table", optarg, HG_TABLE_KINDS, hg_bench_kind_name);
				break;
			case 'J':
				hg_bench_json_open(&options->report.json, optarg);
				break;
			case 'F':
				options->first = true;
				break;
			case 'G':
				options->gpus.counts = optarg;
				break;
			case 'R':
				options->gpus.rows_log2 =
					(uint32_t) hg_bench_number("hg_bench", "rows", optarg, 29);
				break;
			case 'S':
				options->gpus.strong = true;
				break;
			case 'Q':
				options->gpus.quick = true;
				break;
			case 'l':
				for (int i = 0; i < hg_workload_count(); i++)
					printf("%s\n", hg_workload_name(i));
				exit(0);
			default:
				hg_bench_help(usage, option == 'h');
		}
	hg_bench_engines("hg_bench", "backend", options->gpus.counts != NULL ? "cuda" : backends,
					 &options->cpu, &options->cuda);
	options->gpus.repeat = options->repeat;
}

/* All workloads that were asked for; returns whether all is right. */
static bool
bench_workloads(Options *options)
{
	bool right = true;

#ifdef HG_WITH_CUDA
	if (strcmp(options->workloads, "jobs") == 0)
		return report_jobs(options);
#endif
	if (strcmp(options->workloads, "all") == 0 || strcmp(options->workloads, "variants") == 0)
	{
		bool want_main = strcmp(options->workloads, "all") == 0;

		for (int i = 0; i < hg_workload_count(); i++)
			if (hg_workload_is_main(i) == want_main)
				right &= bench_workload(i, options);
#ifdef HG_WITH_CUDA
		if (want_main && options->cuda && !options->jobs)
		{
			right &= report_builds(options);
			right &= report_jobs(options);
		}
#endif
	}
	else
	{
		char *list = strdup(options->workloads);
		char *rest = list;
		char *name;

		while (list != NULL && (name = strsep(&rest, ",")) != NULL)
			right &= bench_workload(hg_bench_choice("hg_bench", "workload", name,
													hg_workload_count(), hg_workload_name),
									options);
		right &= list != NULL;
		free(list);
	}
	return right;
}

int
main(int argc, char **argv)
{
	Options options;
	bool right;

	parse_options(argc, argv, &options);
	if (options.gpus.counts == NULL)
		printf("%-14s %-12s %11s %11s %11s %10s %8s  %-8s %s\n", "workload", "backend", "rows A",
			   "rows B", "pairs", "ms", "G rows/s", "verified", "how");
	if (options.report.json.file != NULL)
		hg_bench_json_begin(&options.report.json, "hashgraph engine", options.repeat);
#ifdef HG_WITH_CUDA
	if (options.gpus.counts != NULL)
		right = hg_bench_gpus(&options.gpus, &options.report);
	else
#endif
		right = bench_workloads(&options);
	if (options.report.json.file != NULL)
		right &= hg_bench_json_end(&options.report.json, "hg_bench");
	return right ? 0 : 1;
}
