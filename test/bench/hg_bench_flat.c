/*-------------------------------------------------------------------------
 *
 * hg_bench_flat.c
 *	  Measure flat HashGraphs on the CPU: making, merging, intersecting, lookups.
 *
 * Two graphs of unique keys, 0 .. rows - 1 in different orders, in one thread.  Each line is the
 * median of the CPU time of several runs, which are taken in turn with those of all other lines,
 * so that what else runs on the machine is shared by all; the last is a job of hg_engine.h of the
 * same keys, from appending them to their count.  Results are compared with the right ones; a
 * difference makes the exit status 1.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _DEFAULT_SOURCE /* clock_gettime, getopt_long */

#include "../../src/engine/cpu/hg_cpu.h"
#include "../../src/engine/hg_features.h"
#include "../../src/engine/hg_flat.h"
#include "../../src/engine/hg_hash.h"
#include "hg_bench_host.h"
#include "hg_bench_options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHUNK 65536
#define MAX_REPEAT 101
#define MAX_ROWS 1000000000
#define MAX_LINES 32
#define PART_ROWS 230000
#define FEW_KEYS 100000
#define MERGE_LIMIT (UINT64_C(8) << 20)

typedef struct Options
{
	uint32_t rows[2];
	uint32_t width;
	int repeat;
	const char *only; /* lines whose names begin so; NULL: all */
} Options;

/* A side: keys, their rows, the graph of it, and masks over it. */
typedef struct Side
{
	void *keys;
	HgFlatRows *pieces; /* a part each */
	uint32_t npieces;
	HgFlatGraph *graph;
	HgFlatMask all;	 /* every row counts */
	HgFlatMask most; /* one part in a hundred does not */
	HgFlatMask some; /* rows of all parts are looked at, of which one in a hundred does not count */
	uint64_t most_rows;
	uint64_t some_rows;
} Side;

static Options options = {.rows = {10000000, 10000000}, .width = 4, .repeat = 9};
static Side sides[2];
static bool wrong;

static double
cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

static void *
must_alloc(size_t bytes)
{
	void *ptr = hg_bench_host.alloc(hg_bench_host.arg, bytes);

	if (ptr == NULL)
	{
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return ptr;
}

/* The lines of the table. */
typedef struct Line
{
	char name[64];
	uint64_t rows; /* that the time is divided by */
	double ms[MAX_REPEAT];
	int runs;
} Line;

static Line lines[MAX_LINES];
static int nlines;

static void
note(const char *name, uint64_t rows, double ms)
{
	int i = 0;

	while (i < nlines && strcmp(lines[i].name, name) != 0)
		i++;
	if (i == nlines)
	{
		snprintf(lines[i].name, sizeof(lines[i].name), "%s", name);
		lines[i].rows = rows;
		nlines++;
	}
	lines[i].ms[lines[i].runs++] = ms;
}

static void
check(const char *name, HgStatus status, uint64_t got, uint64_t wanted)
{
	if (status == HG_OK && got == wanted)
		return;
	fprintf(stderr, "%s: status %d, %" PRIu64 " instead of %" PRIu64 "\n", name, (int) status, got,
			wanted);
	wrong = true;
}

/* Is a line to be measured? */
static bool
is_wanted(const char *name)
{
	return options.only == NULL || strncmp(name, options.only, strlen(options.only)) == 0;
}

static int
compare_doubles(const void *a, const void *b)
{
	double left = *(const double *) a;
	double right = *(const double *) b;

	return left < right ? -1 : left > right;
}

/* Keys 0 .. n - 1 shuffled. */
static void
side_create(Side *side, uint32_t n, uint64_t seed)
{
	uint32_t nparts = n / PART_ROWS + 1;
	uint8_t *states[3];
	const uint64_t **bits;
	uint64_t *words;

	side->keys = must_alloc((size_t) n * options.width + 64);
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t j = (uint32_t) (hg_mix64(seed + i) % (i + 1));

		if (options.width == 4)
		{
			((uint32_t *) side->keys)[i] = ((uint32_t *) side->keys)[j];
			((uint32_t *) side->keys)[j] = i;
		}
		else
		{
			((uint64_t *) side->keys)[i] = ((uint64_t *) side->keys)[j];
			((uint64_t *) side->keys)[j] = i;
		}
	}

	side->pieces = must_alloc(nparts * sizeof(HgFlatRows));
	side->npieces = nparts;
	words = must_alloc(PART_ROWS / 8 + 64);
	for (uint32_t w = 0; w < PART_ROWS / 64 + 1; w++)
		words[w] = ~(UINT64_C(1) << hg_mix64(seed + w) % 64);
	bits = must_alloc(nparts * sizeof(uint64_t *));
	for (int m = 0; m < 3; m++)
		states[m] = must_alloc(nparts);
	for (uint32_t p = 0; p < nparts; p++)
	{
		uint32_t first = p * PART_ROWS;

		side->pieces[p] = (HgFlatRows){.keys = (char *) side->keys + (size_t) first * options.width,
									   .first_row = HG_FLAT_ROW(p, 0),
									   .count = n - first < PART_ROWS ? n - first : PART_ROWS};
		bits[p] = words;
		states[0][p] = HG_FLAT_ALL;
		states[1][p] = p % 100 == 20 ? HG_FLAT_NONE : HG_FLAT_ALL;
		states[2][p] = HG_FLAT_SOME;
		side->most_rows += states[1][p] == HG_FLAT_ALL ? side->pieces[p].count : 0;
		for (uint32_t i = 0; i < side->pieces[p].count; i++)
			side->some_rows += words[i / 64] >> i % 64 & 1;
	}
	side->all = (HgFlatMask){nparts, states[0], bits};
	side->most = (HgFlatMask){nparts, states[1], bits};
	side->some = (HgFlatMask){nparts, states[2], bits};
}

static void
bench_make(const char *name)
{
	HgFlatShape shape = hg_flat_shape(options.width, options.rows[0]);
	HgFlatGraph *graph = NULL;
	double start = cpu_ms();
	HgStatus status;

	if (!is_wanted(name))
		return;
	status = hg_flat_make(&hg_bench_host, &shape, sides[0].pieces, sides[0].npieces, &graph, NULL);
	note(name, options.rows[0], cpu_ms() - start);
	check(name, status, status == HG_OK ? graph->rows : 0, options.rows[0]);
	hg_flat_destroy(&hg_bench_host, graph);
}

/* A graph of the outer one less one part in a hundred, which comes in anew. */
static void
bench_merge(const char *name)
{
	HgFlatShape shape = sides[0].graph->shape;
	uint64_t bins = UINT64_C(1) << shape.bins_log2;
	uint64_t bytes = 0;
	uint64_t merged = 0;
	double start = cpu_ms();
	HgFlatMaker *maker;
	HgStatus status;
	uint32_t end = 0;
	char *memory;
	char *at;

	if (!is_wanted(name))
		return;
	status = hg_flat_maker_open(&hg_bench_host, &shape, &maker, NULL);
	if (status == HG_OK)
		status = hg_flat_count_graph(maker, sides[0].graph, &sides[0].most, NULL);
	for (uint32_t p = 20; p < sides[0].npieces && status == HG_OK; p += 100)
		status = hg_flat_count(maker, &sides[0].pieces[p], NULL);
	for (uint32_t b = 0; b < bins; b++)
		bytes += hg_flat_bin_bytes(&shape, hg_flat_counted(maker, b));
	memory = at = must_alloc(bytes);
	while (status == HG_OK && end < bins)
	{
		uint32_t first = end;

		status = hg_flat_begin(maker, first, MERGE_LIMIT, &end, NULL);
		if (status == HG_OK)
			status = hg_flat_add_graph(maker, sides[0].graph, &sides[0].most, NULL);
		for (uint32_t p = 20; p < sides[0].npieces && status == HG_OK; p += 100)
			status = hg_flat_add(maker, &sides[0].pieces[p], NULL);
		for (uint32_t b = first; b < end && status == HG_OK; b++)
		{
			status = hg_flat_finish_bin(maker, b, at, NULL);
			at += hg_flat_bin_bytes(&shape, hg_flat_counted(maker, b));
			merged += hg_flat_counted(maker, b);
		}
	}
	note(name, options.rows[0], cpu_ms() - start);
	check(name, status, merged, options.rows[0]);
	hg_flat_maker_close(maker);
	free(memory);
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What is asked of a join. */
typedef enum Wanted
{
	COUNTED,	/* how many pairs there are */
	OUTER_ROWS, /* the outer rows of all */
	PAIRS
} Wanted;

/* Have a join answer, which is open if status is HG_OK; *pairs is how many there are. */
static HgStatus
answer(HgStatus status, HgFlatJoin *join, HgMatchMode mode, Wanted wanted, uint64_t *pairs)
{
	static uint32_t outer[CHUNK];
	static uint32_t inner[CHUNK];
	HgMatches matches = {
		.outer = outer, .inner = wanted == PAIRS ? inner : NULL, .capacity = CHUNK};

	*pairs = 0;
	if (status == HG_OK && wanted == COUNTED)
		status = hg_flat_join_count(join, mode, pairs, NULL);
	else if (status == HG_OK)
		while ((status = hg_flat_next(join, mode, &matches, NULL)) == HG_OK && matches.count > 0)
			*pairs += matches.count;
	return status;
}

static void
bench_join(const char *name, const HgFlatMask *mask, HgMatchMode mode, Wanted wanted,
		   uint64_t expected)
{
	HgFlatSide outer = {.graph = sides[0].graph, .mask = mask};
	HgFlatSide inner = {.graph = sides[1].graph};
	double start = cpu_ms();
	HgFlatJoin *join;
	uint64_t pairs;
	HgStatus status;

	if (!is_wanted(name))
		return;
	status = hg_flat_join_open(&hg_bench_host, &outer, &inner, NULL, &join, NULL);
	status = answer(status, join, mode, wanted, &pairs);
	note(name, (uint64_t) options.rows[0] + options.rows[1], cpu_ms() - start);
	check(name, status, pairs, expected);
	hg_flat_close(join);
}

static void
bench_lookup(const char *name, HgSide keys_of, Wanted wanted)
{
	HgFlatSide graph = {.graph = sides[0].graph};
	HgFlatRows rows = {.keys = sides[1].keys, .count = smaller(options.rows[1], FEW_KEYS)};
	double start = cpu_ms();
	uint64_t expected = 0;
	HgFlatJoin *join;
	uint64_t pairs;
	HgStatus status;

	if (!is_wanted(name))
		return;
	status =
		hg_flat_lookup_open(&hg_bench_host, &rows, options.width, keys_of, &graph, &join, NULL);
	status = answer(status, join, HG_MATCH_ALL, wanted, &pairs);
	note(name, rows.count, cpu_ms() - start);
	for (uint64_t i = 0; i < rows.count; i++)
		expected += (options.width == 4 ? ((uint32_t *) rows.keys)[i]
										: ((uint64_t *) rows.keys)[i]) < options.rows[0];
	check(name, status, pairs, expected);
	hg_flat_close(join);
}

static void
bench_job(const char *name)
{
	HgEngine *engine = hg_cpu_engine();
	HgJobSpec spec = {.key_width = options.width, .shape.probe = HG_PROBE_INTERSECT, .device = -1};
	double start = cpu_ms();
	uint64_t pairs = 0;
	HgStatus status;
	HgJob *job;

	if (!is_wanted(name))
		return;
	status = engine->open(engine, &hg_bench_host, &spec, &job, NULL);
	if (status != HG_OK)
	{
		check(name, status, 0, 0);
		return;
	}
	for (int s = 0; s < 2 && status == HG_OK; s++)
		status = engine->join->append(job, (HgSide) s, sides[s].keys, options.rows[s], NULL);
	if (status == HG_OK)
		status = engine->join->build(job, NULL);
	if (status == HG_OK)
		status = engine->join->count(job, HG_MATCH_ALL, &pairs, NULL);
	note(name, (uint64_t) options.rows[0] + options.rows[1], cpu_ms() - start);
	check(name, status, pairs, smaller(options.rows[0], options.rows[1]));
	engine->join->close(job);
}

static void
run_all(void)
{
	uint64_t all = smaller(options.rows[0], options.rows[1]);

	bench_make("make");
	bench_merge("merge");
	bench_join("intersect count", NULL, HG_MATCH_ALL, COUNTED, all);
	bench_join("intersect count, mask of ALL", &sides[0].all, HG_MATCH_ALL, COUNTED, all);
	if (options.rows[0] <= options.rows[1])
	{
		bench_join("intersect count, 1 % NONE", &sides[0].most, HG_MATCH_ALL, COUNTED,
				   sides[0].most_rows);
		bench_join("intersect count, SOME", &sides[0].some, HG_MATCH_ALL, COUNTED,
				   sides[0].some_rows);
	}
	bench_join("intersect count, first", NULL, HG_MATCH_FIRST, COUNTED, all);
	bench_join("intersect pairs", NULL, HG_MATCH_ALL, PAIRS, all);
	bench_join("intersect pairs, mask of ALL", &sides[0].all, HG_MATCH_ALL, PAIRS, all);
	bench_join("intersect first, outer alone", NULL, HG_MATCH_FIRST, OUTER_ROWS, all);
	bench_lookup("look up 100000 keys, count", HG_OUTER, COUNTED);
	bench_lookup("look up 100000 keys, pairs", HG_OUTER, PAIRS);
	bench_lookup("look up 100000 inner keys, pairs", HG_INNER, PAIRS);
	bench_job("job: intersect count");
}

static void
usage(FILE *file)
{
	fprintf(file,
			"Usage: hg_bench_flat [option]...\n"
			"  --rows N                 of both sides, at most %d (10000000)\n"
			"  --inner N                of the inner side alone, behind --rows\n"
			"  --width 4|8              bytes of a key (4)\n"
			"  --repeat N               runs of each line, at most %d; times are medians (9)\n"
			"  --features portable|avx2|avx512  of the processor, at most (all it has)\n"
			"  --small-pages            memory in no huge pages\n"
			"  --only NAME              lines whose names begin so\n"
			"Exit status: 0, or 1 where a result is wrong or a run failed, or 2.\n",
			MAX_ROWS, MAX_REPEAT);
}

/* The number of an option, at least 1, or the end of the program. */
static unsigned long
number(const char *option, unsigned long max)
{
	unsigned long value = hg_bench_number("hg_bench_flat", option, optarg, max);

	return value > 0 ? value : 1;
}

static const char *
features_name(int features)
{
	static const char *const names[] = {"portable", "avx2", "avx512"};

	return names[features];
}

int
main(int argc, char **argv)
{
	static const struct option names[] = {{"rows", required_argument, NULL, 'r'},
										  {"inner", required_argument, NULL, 'i'},
										  {"width", required_argument, NULL, 'w'},
										  {"repeat", required_argument, NULL, 'n'},
										  {"features", required_argument, NULL, 'f'},
										  {"small-pages", no_argument, NULL, 's'},
										  {"only", required_argument, NULL, 'o'},
										  {"help", no_argument, NULL, 'h'},
										  {NULL, 0, NULL, 0}};
	uint64_t bytes = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
		switch (option)
		{
			case 'r':
				options.rows[0] = options.rows[1] = (uint32_t) number("rows", MAX_ROWS);
				break;
			case 'i':
				options.rows[1] = (uint32_t) number("inner", MAX_ROWS);
				break;
			case 'w':
				options.width = number("width", 8) == 8 ? 8 : 4;
				break;
			case 'n':
				options.repeat = (int) number("repeat", MAX_REPEAT);
				break;
			case 'f':
				hg_cpu_limit_features((HgCpuFeatures) hg_bench_choice(
					"hg_bench_flat", "features", optarg, HG_CPU_AVX512 + 1, features_name));
				break;
			case 's':
				hg_bench_small_pages = true;
				break;
			case 'o':
				options.only = optarg;
				break;
			default:
				hg_bench_help(usage, option == 'h');
		}
	for (int s = 0; s < 2; s++)
	{
		HgFlatShape shape = hg_flat_shape(options.width, options.rows[s]);

		side_create(&sides[s], options.rows[s], (uint64_t) s << 40);
		if (hg_flat_make(&hg_bench_host, &shape, sides[s].pieces, sides[s].npieces, &sides[s].graph,
						 NULL) != HG_OK)
			return 1;
		bytes = 0;
		for (uint64_t b = 0; b < UINT64_C(1) << shape.bins_log2; b++)
			if (sides[s].graph->bins[b] != NULL)
				bytes += hg_flat_bin_bytes(&shape, sides[s].graph->bins[b]->rows);
		printf("%u rows in 2^%u bins of 2^%u vertices: %.2f bytes a row\n", options.rows[s],
			   shape.bins_log2, shape.vertices_log2, (double) bytes / options.rows[s]);
	}
	for (int i = 0; i < options.repeat; i++)
		run_all();

	printf("%-34s %10s %10s %10s\n", "", "median ms", "least ms", "ns a row");
	for (int i = 0; i < nlines; i++)
	{
		Line *line = &lines[i];
		double median;

		qsort(line->ms, line->runs, sizeof(double), compare_doubles);
		median = line->ms[line->runs / 2];
		printf("%-34s %10.2f %10.2f %10.2f\n", line->name, median, line->ms[0],
			   median * 1e6 / (double) line->rows);
	}
	return wrong ? 1 : 0;
}
