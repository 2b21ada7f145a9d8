/*-------------------------------------------------------------------------
 *
 * test_engine_reduce.c
 *	  Columns and groups: what every engine that has them must do.
 *
 * The right groups are those of hg_host_reduce.c over the matches of the CPU engine, but for
 * one job that is small enough to be worked out by hand.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../src/engine/cpu/hg_cpu.h"
#include "hg_host_reduce.h"
#include "hg_tap.h"
#include "test_columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------
 * Cases
 * ------------------------------------------------------------------------ */

/* Group by a column; and have an item, of each kind for each column where all are wanted. */
static void
add_key(TestCase *c, HgSide side, uint32_t column, bool is_signed)
{
	c->reduce.keys[c->reduce.nkeys++] =
		(HgReduceColumn){.side = side, .column = column, .is_signed = is_signed};
}

static void
add_item(TestCase *c, HgReduceKind kind, HgSide side, uint32_t column, bool is_signed)
{
	c->reduce.items[c->reduce.nitems++] = (HgReduceItem){
		.kind = kind, .argument = {.side = side, .column = column, .is_signed = is_signed}};
}

/* ------------------------------------------------------------------------
 * Groups
 * ------------------------------------------------------------------------ */

typedef struct Groups
{
	uint64_t count;
	uint64_t *words;
} Groups;

static uint32_t sorted_words; /* of the records that compare_records compares */

static int
compare_records(const void *a, const void *b)
{
	const uint64_t *left = a;
	const uint64_t *right = b;

	for (uint32_t i = 0; i < sorted_words; i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

/* Sort records by their keys, and set what is undefined in them to 0. */
static void
normalise(Groups *groups, const HgReduceSpec *spec)
{
	const uint32_t words = hg_reduce_words(spec);

	for (uint64_t group = 0; group < groups->count; group++)
	{
		uint64_t *item = groups->words + group * words + spec->nkeys + 2;

		for (uint32_t i = 0; i < spec->nitems; i++)
		{
			if (item[0] == 0 && spec->items[i].kind >= HG_REDUCE_MIN)
				item[1] = 0;
			item += hg_reduce_item_words(&spec->items[i]);
		}
	}
	sorted_words = words;
	qsort(groups->words, (size_t) groups->count, words * sizeof(uint64_t), compare_records);
}

/* The groups of the CPU's matches. */
static void
expected_groups(TestCase *c, Groups *groups)
{
	HgJobSpec keys_alone = c->spec;
	HgGroupRecords records;
	HgHostReduce reduce;
	HgStatus status;
	HgError error;
	HgJob *job;

	keys_alone.sides[HG_OUTER].ncolumns = keys_alone.sides[HG_INNER].ncolumns = 0;
	hg_host_reduce_init(&reduce, &c->spec);
	status = hg_cpu_engine()->open(hg_cpu_engine(), test_host_plain(), &keys_alone, &job, &error);
	for (int side = 0; side < 2 && status == HG_OK; side++)
	{
		status = hg_cpu_engine()->join->append(job, (HgSide) side, c->data.keys[side],
											   c->rows[side], &error);
		if (status == HG_OK)
			status = hg_host_reduce_add_rows(&reduce, (HgSide) side, c->rows[side], 0, &error);
		for (uint32_t column = 0; column < c->spec.sides[side].ncolumns && status == HG_OK;
			 column++)
			status = hg_host_reduce_append(&reduce, (HgSide) side, column, c->values[side][column],
										   c->nulls[side][column], c->rows[side], 0, &error);
	}
	if (status == HG_OK)
		status = hg_cpu_engine()->join->build(job, &error);
	if (status == HG_OK)
		status = hg_host_reduce_run(&reduce, hg_cpu_engine(), job, c->mode, &c->reduce,
									&groups->count, &error);
	if (status != HG_OK)
		abort();
	groups->words = test_malloc(groups->count * reduce.words * sizeof(uint64_t));
	records = (HgGroupRecords){.words = groups->words, .capacity = groups->count + 1};
	if (hg_host_reduce_next(&reduce, &records, &error) != HG_OK || records.count != groups->count)
		abort();
	normalise(groups, &c->reduce);
	hg_cpu_engine()->join->close(job);
	hg_host_reduce_free(&reduce);
}

/* Fetch all groups of a job, in chunks.  False after explaining. */
static bool
fetch_groups(HgEngine *engine, HgJob *job, const HgReduceSpec *spec, size_t capacity,
			 Groups *groups)
{
	const uint32_t words = hg_reduce_words(spec);
	HgGroupRecords records = {.capacity = capacity};
	HgError error = {0};
	uint64_t fetched = 0;

	groups->words = test_malloc((groups->count + capacity) * words * sizeof(uint64_t));
	do
	{
		records.words = groups->words + fetched * words;
		if (engine->columns->next_groups(job, &records, &error) != HG_OK)
		{
			hg_tap_diag("next_groups: %s (%s)", error.message, error.detail);
			return false;
		}
		fetched += records.count;
	} while (records.count > 0 && fetched <= groups->count);
	if (fetched == groups->count)
		return true;
	hg_tap_diag("%" PRIu64 " groups were promised, %" PRIu64 " came", groups->count, fetched);
	return false;
}

/* Are these the groups that they should be? */
static bool
groups_are(Groups *groups, const Groups *expected, const HgReduceSpec *spec)
{
	const uint32_t words = hg_reduce_words(spec);

	if (groups->count != expected->count)
	{
		hg_tap_diag("%" PRIu64 " groups, not %" PRIu64, groups->count, expected->count);
		return false;
	}
	normalise(groups, spec);
	for (uint64_t i = 0; i < groups->count * words; i++)
		if (groups->words[i] != expected->words[i])
		{
			hg_tap_diag("group %" PRIu64 ", word %" PRIu64 ": %#" PRIx64 ", not %#" PRIx64,
						i / words, i % words, groups->words[i], expected->words[i]);
			return false;
		}
	return true;
}

/* Reduce a job that was built, and compare. */
static bool
reduces_to(HgEngine *engine, HgJob *job, const TestCase *c, const Groups *expected)
{
	Groups groups = {0};
	HgError error = {0};
	bool good;

	if (engine->columns->reduce(job, c->mode, &c->reduce, &groups.count, &error) != HG_OK)
	{
		hg_tap_diag("reduce: %s (%s)", error.message, error.detail);
		return false;
	}
	if (groups.count == HG_TOO_MANY_GROUPS)
	{
		hg_tap_diag("there are too many groups, %" PRIu64 " were expected", expected->count);
		return false;
	}
	good = fetch_groups(engine, job, &c->reduce, c->capacity, &groups) &&
		   groups_are(&groups, expected, &c->reduce);
	free(groups.words);
	return good;
}

/* Stream all matches of a job and compare their number. */
static bool
streams(HgEngine *engine, HgJob *job, const TestData *data)
{
	uint32_t outer[1000];
	uint32_t inner[1000];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 1000};
	uint64_t pairs = 0;
	HgError error = {0};
	HgStatus status = engine->join->match(job, HG_MATCH_ALL, &error);

	do
	{
		if (status == HG_OK)
			status = engine->join->next(job, &matches, &error);
		pairs += matches.count;
	} while (status == HG_OK && matches.count > 0);
	if (status != HG_OK)
		hg_tap_diag("stream: %s (%s)", error.message, error.detail);
	return status == HG_OK && pairs == data->pairs;
}

/* Run a case whose columns are made. */
static void
run_case(HgEngine *engine, const HgHost *base, TestCase *c)
{
	TestHost host;
	Groups expected;
	HgError error = {0};
	HgJob *job;
	bool good;

	if (c->capacity == 0)
		c->capacity = 1000;
	if (c->reduce.max_groups == 0)
		c->reduce.max_groups = UINT64_C(1) << 40;
	expected_groups(c, &expected);
	test_host_init(&host, base);
	good = test_case_build(c, engine, &host.host, &job, &error) == HG_OK;
	if (!good)
		hg_tap_diag("%s (%s)", error.message, error.detail);
	good = good && reduces_to(engine, job, c, &expected);
	if (job != NULL)
		engine->join->close(job);
	good = good && host.held_bytes == 0 && !host.misused;
	hg_tap_ok(good, "groups: %s, %" PRIu64 " x %" PRIu64 " rows, %" PRIu64 " groups", c->name,
			  c->rows[HG_OUTER], c->rows[HG_INNER], expected.count);
	free(expected.words);
}

/* ------------------------------------------------------------------------
 * Values that come with the matches
 * ------------------------------------------------------------------------ */

/* Room for matches with the columns of a set: bit side * HG_MAX_COLUMNS + column. */
static HgMatches
make_room(const TestCase *c, uint32_t columns, size_t capacity)
{
	HgMatches matches = {.outer = test_malloc(capacity * sizeof(uint32_t)),
						 .inner = test_malloc(capacity * sizeof(uint32_t)),
						 .capacity = capacity};

	for (int side = 0; side < 2; side++)
		for (uint32_t column = 0; column < c->spec.sides[side].ncolumns; column++)
			if (columns >> (side * HG_MAX_COLUMNS + column) & 1)
			{
				matches.values[side][column] = test_malloc(capacity * test_widths[column]);
				matches.nulls[side][column] = test_malloc(capacity);
			}
	return matches;
}

static void
free_room(HgMatches *matches)
{
	free(matches->outer);
	free(matches->inner);
	for (int side = 0; side < 2; side++)
		for (uint32_t column = 0; column < HG_MAX_COLUMNS; column++)
		{
			free(matches->values[side][column]);
			free(matches->nulls[side][column]);
		}
}

/* The position of a row that has a number. */
static uint64_t
position_of(const TestCase *c, HgSide side, uint32_t number)
{
	const uint64_t blocks = c->numbers > 0 ? (c->rows[side] + c->numbers - 1) / c->numbers : 0;

	if (c->numbers == 0)
		return number;
	return (blocks - 1 - number / (c->numbers + 3)) * c->numbers + number % (c->numbers + 3);
}

/* Has each match of a chunk the values of its rows?  False after explaining. */
static bool
values_are_right(const TestCase *c, const HgMatches *matches)
{
	for (int side = 0; side < 2; side++)
		for (uint32_t column = 0; column < c->spec.sides[side].ncolumns; column++)
		{
			const uint32_t width = test_widths[column];
			const unsigned char *values = matches->values[side][column];
			const uint8_t *nulls = c->nulls[side][column];

			for (size_t i = 0; values != NULL && i < matches->count; i++)
			{
				const uint64_t row = position_of(
					c, (HgSide) side, side == HG_OUTER ? matches->outer[i] : matches->inner[i]);
				const bool is_null =
					matches->has_nulls[side][column] && matches->nulls[side][column][i] != 0;

				if (row < c->rows[side] && is_null == (nulls != NULL && nulls[row] != 0) &&
					(is_null ||
					 memcmp(values + i * width, c->values[side][column] + row * width, width) == 0))
					continue;
				hg_tap_diag("match %zu: column %u of side %d is not that of row %" PRIu64, i,
							column, side, row);
				return false;
			}
		}
	return true;
}

/* Stream all matches with some columns; *pairs is their number.  False after explaining. */
static bool
gathers(HgEngine *engine, HgJob *job, const TestCase *c, uint32_t columns, uint64_t *pairs)
{
	HgMatches matches = make_room(c, columns, c->capacity);
	HgError error = {0};
	HgStatus status = engine->join->match(job, c->mode, &error);
	bool good = true;

	*pairs = 0;
	do
	{
		if (status == HG_OK)
			status = engine->join->next(job, &matches, &error);
		good =
			status == HG_OK && matches.count <= matches.capacity && values_are_right(c, &matches);
		*pairs += matches.count;
	} while (good && matches.count > 0);
	if (status != HG_OK)
		hg_tap_diag("stream: %s (%s)", error.message, error.detail);
	free_room(&matches);
	return good;
}

/* Outer rows with a match, which are as many as the first matches. */
static uint64_t
count_first(HgEngine *engine, HgJob *job)
{
	uint64_t count = 0;

	return engine->join->count(job, HG_MATCH_FIRST, &count, NULL) == HG_OK ? count : UINT64_MAX;
}

/* Matches with values: kinds of keys, widths, NULLs, chunks of all sizes, in both modes. */
static void
test_gather(HgEngine *engine, const HgHost *base, bool small)
{
	const uint64_t many = small ? 5000 : 200000;
	TestCase cases[] = {
		{.name = "duplicates",
		 .kind = TEST_KEYS_DUPLICATES,
		 .rows = {3000, 2000},
		 .spread = {0, 0, 20}},
		{.name = "the first ones",
		 .kind = TEST_KEYS_DUPLICATES,
		 .rows = {3000, 2000},
		 .spread = {0, 0, 20},
		 .mode = HG_MATCH_FIRST},
		{.name = "one at a time",
		 .kind = TEST_KEYS_UNIQUE,
		 .rows = {60, 70},
		 .spread = {0, 0, 50},
		 .capacity = 1},
		{.name = "seven at a time",
		 .kind = TEST_KEYS_EQUAL,
		 .rows = {30, 20},
		 .spread = {0, 0, 10},
		 .capacity = 7},
		{.name = "no NULLs", .kind = TEST_KEYS_SKEWED, .rows = {3000, 200}, .spread = {0, 0, 0}},
		{.name = "NULLs alone",
		 .kind = TEST_KEYS_UNIQUE,
		 .rows = {300, 200},
		 .spread = {0, 0, 100}},
		{.name = "no matches", .kind = TEST_KEYS_UNIQUE, .rows = {100, 0}, .spread = {3, 0, 0}},
		{.name = "numbered rows",
		 .kind = TEST_KEYS_DUPLICATES,
		 .rows = {3000, 2500},
		 .spread = {0, 0, 10},
		 .numbers = 300,
		 .piece = 77},
		{.name = "both graphs",
		 .kind = TEST_KEYS_DUPLICATES,
		 .rows = {3000, 2500},
		 .spec = {.shape.probe = HG_PROBE_INTERSECT},
		 .spread = {0, 0, 10},
		 .numbers = 300},
		{.name = "build v1, standard",
		 .kind = TEST_KEYS_DUPLICATES,
		 .rows = {3000, 2500},
		 .spec = {.shape.build = HG_BUILD_V1, .shape.probe = HG_PROBE_STANDARD},
		 .spread = {0, 0, 10},
		 .numbers = 300},
		{.name = "many rows",
		 .kind = TEST_KEYS_DUPLICATES,
		 .rows = {many, many},
		 .spread = {0, 0, 5},
		 .capacity = 100000},
		{.name = "many matches",
		 .kind = TEST_KEYS_EQUAL,
		 .rows = {small ? 300 : 3000, small ? 200 : 1500},
		 .spread = {0, 0, 5},
		 .capacity = 70000},
	};
	/* every column, none, one of each side, those of the inner side */
	static const uint32_t columns[] = {0xFFFF, 0, 0x0201, 0xFF00};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		TestCase *c = &cases[i];
		TestHost host;
		HgError error = {0};
		uint64_t expected;
		uint64_t pairs = 0;
		HgJob *job;
		bool good;

		if (!hg_tap_turn() || (c->numbers > 0 && (engine->can & HG_CAN_NUMBER) == 0))
			continue;
		if (c->capacity == 0)
			c->capacity = 1000;
		c->key_width = i % 2 == 0 ? 4 : 8;
		test_case_create(c, i % 3 == 2 ? 4 : HG_MAX_COLUMNS);
		test_host_init(&host, base);
		good = test_case_build(c, engine, &host.host, &job, &error) == HG_OK;
		if (!good)
			hg_tap_diag("%s (%s)", error.message, error.detail);
		expected = c->mode == HG_MATCH_FIRST && good ? count_first(engine, job) : c->data.pairs;
		for (size_t set = 0; good && set < sizeof(columns) / sizeof(columns[0]); set++)
			good = gathers(engine, job, c, columns[set], &pairs) && pairs == expected;
		if (job != NULL)
			engine->join->close(job);
		good = good && host.held_bytes == 0 && !host.misused;
		hg_tap_ok(good,
				  "values of matches: %s, %" PRIu64 " x %" PRIu64 " rows, %" PRIu64 " matches",
				  c->name, c->rows[HG_OUTER], c->rows[HG_INNER], pairs);
		test_case_destroy(c);
	}
}

/* Values that there are none of are refused, which does the stream no harm. */
static void
test_gather_refusals(HgEngine *engine, const HgHost *host)
{
	TestCase c = {.kind = TEST_KEYS_UNIQUE,
				  .key_width = 4,
				  .rows = {500, 500},
				  .spread = {0, 0, 50},
				  .capacity = 64};
	unsigned char values[64 * 8];
	uint8_t nulls[64];
	uint64_t pairs = 0;
	HgMatches matches;
	HgError error = {0};
	HgJob *job;
	bool good;

	test_case_create(&c, 2);
	good = test_case_build(&c, engine, host, &job, &error) == HG_OK &&
		   engine->join->match(job, HG_MATCH_ALL, &error) == HG_OK;
	for (int what = 0; good && what < 3; what++)
	{
		matches = make_room(&c, 0, c.capacity);
		if (what == 0)
			matches.values[HG_INNER][2] = values;
		else
			matches.values[HG_OUTER][1] = what == 1 ? values : NULL;
		if (what != 1)
			matches.nulls[HG_OUTER][1] = nulls;
		if (what == 0)
			matches.nulls[HG_INNER][2] = nulls;
		good = engine->join->next(job, &matches, &error) == HG_INVALID && matches.count == 0;
		memset(matches.values, 0, sizeof(matches.values));
		memset(matches.nulls, 0, sizeof(matches.nulls));
		free_room(&matches);
	}
	hg_tap_ok(good, "values of matches: columns that are not there are refused");
	hg_tap_ok(good && gathers(engine, job, &c, 0x0301, &pairs) && pairs == c.data.pairs,
			  "values of matches: which does the job no harm");
	if (job != NULL)
		engine->join->close(job);
	test_case_destroy(&c);
}

/* ------------------------------------------------------------------------
 * The suite
 * ------------------------------------------------------------------------ */

/* A job whose groups are known: keys 1 1 2 3 and 1 1 2 4, a column of each side. */
static void
test_by_hand(HgEngine *engine, const HgHost *host)
{
	static const uint32_t keys[2][4] = {{1, 1, 2, 3}, {1, 1, 2, 4}};
	static const int16_t outer[4] = {-5, 6, 0, 9};
	static const uint8_t outer_nulls[4] = {0, 0, 1, 0};
	static const uint64_t inner[4] = {UINT64_MAX, 1, 3, 4};
	static const uint64_t expected[][13] = {
		/* key, nulls, pairs, count; sums of both, as signed and unsigned; least and greatest */
		{(uint64_t) -5, 0, 2, 2, 2, 0, 1, 2, 0, 0, 2, 1, 2},
		{0, 1, 1, 1, 1, 3, 0, 1, 3, 0, 1, 3, 1},
		{6, 0, 2, 2, 2, 0, 1, 2, 0, 0, 2, 1, 2},
	};
	static const uint64_t greatest[] = {UINT64_MAX, 3, UINT64_MAX};
	HgJobSpec spec = {
		.key_width = 4,
		.device = -1,
		.sides = {{.ncolumns = 1, .column_width = {2}}, {.ncolumns = 1, .column_width = {8}}}};
	const HgReduceColumn argument = {.side = HG_INNER, .column = 0, .is_signed = 0};
	const HgReduceColumn number = {.side = HG_INNER, .column = 0, .is_signed = 1};
	const HgReduceSpec reduce = {.nkeys = 1,
								 .nitems = 4,
								 .keys = {{.side = HG_OUTER, .column = 0, .is_signed = 1}},
								 .items = {{.kind = HG_REDUCE_COUNT, .argument = argument},
										   {.kind = HG_REDUCE_SUM, .argument = argument},
										   {.kind = HG_REDUCE_SUM, .argument = number},
										   {.kind = HG_REDUCE_MIN, .argument = argument}},
								 .max_groups = 3};
	HgReduceSpec greatest_alone = reduce;
	Groups groups = {0};
	HgError error = {0};
	HgJob *job = NULL;
	HgStatus status = engine->open(engine, host, &spec, &job, &error);
	bool good;

	for (int side = 0; side < 2 && status == HG_OK; side++)
		status = engine->join->append(job, (HgSide) side, keys[side], 4, &error);
	if (status == HG_OK)
		status = engine->columns->append_column(job, HG_OUTER, 0, outer, outer_nulls, 4, 0, &error);
	if (status == HG_OK)
		status = engine->columns->append_column(job, HG_INNER, 0, inner, NULL, 4, 0, &error);
	if (status == HG_OK)
		status = engine->join->build(job, &error);
	if (status == HG_OK)
		status = engine->columns->reduce(job, HG_MATCH_ALL, &reduce, &groups.count, &error);
	good = status == HG_OK && groups.count == 3 && fetch_groups(engine, job, &reduce, 2, &groups);
	for (uint64_t group = 0; good && group < 3; group++)
	{
		const uint64_t *record = groups.words + group * hg_reduce_words(&reduce);
		const uint64_t *right = expected[record[1] == 1 ? 1 : record[0] == 6 ? 2 : 0];

		/* the last word is not one of the record */
		good = memcmp(record, right, 12 * sizeof(uint64_t)) == 0;
	}
	free(groups.words);
	hg_tap_ok(good, "groups: counts, sums and least values as worked out by hand%s%s",
			  status == HG_OK ? "" : ": ", error.message);

	greatest_alone.nitems = 1;
	greatest_alone.items[0].kind = HG_REDUCE_MAX;
	groups.words = NULL;
	good = good &&
		   engine->columns->reduce(job, HG_MATCH_ALL, &greatest_alone, &groups.count, &error) ==
			   HG_OK &&
		   groups.count == 3 && fetch_groups(engine, job, &greatest_alone, 3, &groups);
	for (uint64_t group = 0; good && group < 3; group++)
	{
		const uint64_t *record = groups.words + group * hg_reduce_words(&greatest_alone);

		good = record[4] == greatest[record[1] == 1 ? 1 : 0];
	}
	free(groups.words);
	hg_tap_ok(good, "groups: greatest values too");
	if (job != NULL)
		engine->join->close(job);
}

/* Each kind, width and sign, without groups and with some; each way to find the matches. */
static void
test_kinds(HgEngine *engine, const HgHost *host)
{
	static const struct
	{
		const char *name;
		HgJobSpec spec;
	} ways[] = {
		{"the engine's way", {.shape.build = HG_BUILD_AUTO}},
		{"build v1, intersect", {.shape.build = HG_BUILD_V1, .shape.probe = HG_PROBE_INTERSECT}},
		{"build v2, standard",
		 {.shape.build = HG_BUILD_V2, .shape.probe = HG_PROBE_STANDARD, .shape.bins = 8}},
	};

	for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++)
		for (int kind = HG_REDUCE_COUNT; kind <= HG_REDUCE_MAX; kind++)
			for (int grouped = 0; grouped < 2; grouped++)
			{
				TestCase c = {.name = ways[way].name,
							  .kind = TEST_KEYS_DUPLICATES,
							  .key_width = way == 0 ? 8 : 4,
							  .rows = {3000, 2000},
							  .spec = ways[way].spec,
							  .spread = {.values = grouped ? 6 : 0, .nulls = 20}};

				if (!hg_tap_turn())
					continue;
				test_case_create(&c, 4);
				for (int side = 0; side < 2; side++)
					for (uint32_t column = 0; column < 4; column++)
						for (int is_signed = 0; is_signed < 2; is_signed++)
							add_item(&c, (HgReduceKind) kind, (HgSide) side, column, is_signed);
				if (grouped)
					add_key(&c, HG_OUTER, 2, true);
				run_case(engine, host, &c);
				test_case_destroy(&c);
			}
}

/* Keys of groups: of both sides, signed or not, many, few, hot; numbered rows; small chunks. */
static void
test_keys(HgEngine *engine, const HgHost *host, bool small)
{
	const uint64_t many = small ? 5000 : 300000;
	TestCase cases[] = {
		{.name = "four keys",
		 .kind = TEST_KEYS_DUPLICATES,
		 .rows = {3000, 2000},
		 .spread = {3, 0, 30}},
		{.name = "any bits",
		 .kind = TEST_KEYS_DUPLICATES,
		 .rows = {2000, 3000},
		 .spread = {0, 0, 5}},
		{.name = "no matches", .kind = TEST_KEYS_UNIQUE, .rows = {100, 0}, .spread = {3, 0, 0}},
		{.name = "a hot group",
		 .kind = TEST_KEYS_SKEWED,
		 .rows = {2000, 100},
		 .spread = {900, 90, 0}},
		{.name = "half of all in one group",
		 .kind = TEST_KEYS_DUPLICATES,
		 .rows = {many, many},
		 .spread = {2000, 50, 10}},
		{.name = "rows of one key",
		 .kind = TEST_KEYS_EQUAL,
		 .rows = {300, 200},
		 .spread = {50, 0, 10}},
		{.name = "one at a time",
		 .kind = TEST_KEYS_UNIQUE,
		 .rows = {70, 60},
		 .spread = {30, 0, 10},
		 .capacity = 1},
		{.name = "in pieces",
		 .kind = TEST_KEYS_UNIQUE,
		 .rows = {3000, 3000},
		 .spread = {30, 0, 10},
		 .piece = 700},
		{.name = "numbered rows",
		 .kind = TEST_KEYS_UNIQUE,
		 .rows = {3000, 2500},
		 .spread = {40, 0, 10},
		 .numbers = 300,
		 .piece = 77},
		{.name = "many groups",
		 .kind = TEST_KEYS_DUPLICATES,
		 .rows = {many, many},
		 .spread = {0, 0, 0},
		 .capacity = 4096},
		{.name = "many matches",
		 .kind = TEST_KEYS_EQUAL,
		 .rows = {small ? 500 : 5000, small ? 300 : 2000},
		 .spread = {100, 50, 1}},
		{.name = "one group",
		 .kind = TEST_KEYS_DUPLICATES,
		 .rows = {many, many},
		 .spread = {1, 0, 0}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint32_t nkeys = 0; nkeys <= HG_MAX_REDUCE_KEYS; nkeys++)
		{
			TestCase *c = &cases[i];

			if (!hg_tap_turn() || (c->numbers > 0 && (engine->can & HG_CAN_NUMBER) == 0))
				continue;
			c->key_width = nkeys % 2 == 0 ? 4 : 8;
			memset(&c->reduce, 0, sizeof(c->reduce));
			test_case_create(c, 4);
			for (uint32_t key = 0; key < nkeys; key++)
				add_key(c, key % 2 == 0 ? HG_INNER : HG_OUTER, key, key < 2);
			add_item(c, HG_REDUCE_SUM, HG_OUTER, 0, true);
			add_item(c, HG_REDUCE_MIN, HG_INNER, 1, true);
			add_item(c, HG_REDUCE_MAX, HG_OUTER, 2, false);
			add_item(c, HG_REDUCE_COUNT, HG_INNER, 2, false);
			c->reduce.expected_groups = nkeys == 2 ? 1000 : 0;
			run_case(engine, host, c);
			test_case_destroy(c);
		}
}

/* The first match of each outer row: which one it is shows in no outer column. */
static void
test_first(HgEngine *engine, const HgHost *host)
{
	TestCase c = {.name = "first matches",
				  .kind = TEST_KEYS_DUPLICATES,
				  .key_width = 4,
				  .rows = {3000, 2000},
				  .spread = {9, 0, 20},
				  .mode = HG_MATCH_FIRST};

	test_case_create(&c, HG_MAX_COLUMNS);
	add_key(&c, HG_OUTER, 6, true);
	add_item(&c, HG_REDUCE_SUM, HG_OUTER, 4, true);
	add_item(&c, HG_REDUCE_COUNT, HG_INNER, 1, false);
	run_case(engine, host, &c);
	test_case_destroy(&c);
}

/* Too many groups are no failure: the job goes on. */
static void
test_too_many(HgEngine *engine, const HgHost *host)
{
	TestCase c = {.kind = TEST_KEYS_UNIQUE,
				  .key_width = 4,
				  .rows = {20000, 20000},
				  .spread = {0, 0, 0},
				  .capacity = 3000};
	Groups expected;
	uint64_t groups = 0;
	HgError error = {0};
	HgJob *job;
	bool good;

	test_case_create(&c, 1);
	add_key(&c, HG_INNER, 0, true);
	add_item(&c, HG_REDUCE_SUM, HG_OUTER, 0, true);
	c.reduce.max_groups = UINT64_MAX;
	expected_groups(&c, &expected);
	good = test_case_build(&c, engine, host, &job, &error) == HG_OK;

	for (uint64_t most = 1; good && most < expected.count; most = most * 3 + 1)
	{
		c.reduce.max_groups = most;
		good = engine->columns->reduce(job, c.mode, &c.reduce, &groups, &error) == HG_OK &&
			   groups == HG_TOO_MANY_GROUPS;
	}
	c.reduce.max_groups = expected.count - 1;
	good = good && engine->columns->reduce(job, c.mode, &c.reduce, &groups, &error) == HG_OK &&
		   groups == HG_TOO_MANY_GROUPS;
	hg_tap_ok(good, "groups: %" PRIu64 " are too many where one less may be%s%s", expected.count,
			  error.message[0] != '\0' ? ": " : "", error.message);
	hg_tap_ok(good && streams(engine, job, &c.data), "groups: the matches are there all the same");
	c.reduce.max_groups = expected.count;
	hg_tap_ok(good && reduces_to(engine, job, &c, &expected) && streams(engine, job, &c.data) &&
				  reduces_to(engine, job, &c, &expected),
			  "groups: as many as may be come, before and after a stream");
	if (job != NULL)
		engine->join->close(job);
	free(expected.words);
	test_case_destroy(&c);
}

static bool
open_fails(HgEngine *engine, const HgHost *host, uint32_t ncolumns, uint8_t width)
{
	HgJobSpec spec = {.key_width = 4, .device = -1, .sides[HG_INNER] = {.ncolumns = ncolumns}};
	HgError error = {0};
	HgJob *job = NULL;
	HgStatus status;

	memset(spec.sides[HG_INNER].column_width, width, sizeof(spec.sides[HG_INNER].column_width));
	status = engine->open(engine, host, &spec, &job, &error);
	if (job != NULL)
		engine->join->close(job);
	return status == HG_INVALID && error.message[0] != '\0';
}

/* Values that came twice do not stand for those of rows that came behind them. */
static void
test_twice(HgEngine *engine, const HgHost *host)
{
	const HgJobSpec spec = {
		.key_width = 4, .device = -1, .sides = {{.ncolumns = 1, .column_width = {8}}, {0}}};
	uint32_t keys[64] = {0};
	uint64_t values[64] = {0};
	HgError error = {0};
	HgJob *job = NULL;
	HgStatus status = engine->open(engine, host, &spec, &job, &error);
	bool good;

	if (status == HG_OK)
		status = engine->join->append(job, HG_OUTER, keys, 64, &error);
	if (status == HG_OK)
		status = engine->columns->append_column(job, HG_OUTER, 0, values, NULL, 64, 0, &error);
	good = status == HG_OK;
	/* it may be told at once, or later */
	if (good)
		status = engine->columns->append_column(job, HG_OUTER, 0, values, NULL, 64, 0, &error);
	if (good && status == HG_OK)
		status = engine->join->append(job, HG_OUTER, keys, 64, &error);
	if (good && status == HG_OK)
		status = engine->join->build(job, &error);
	hg_tap_ok(good && status == HG_INVALID,
			  "columns: a value that comes twice does not stand for another's");
	if (job != NULL)
		engine->join->close(job);
}

/* What makes no sense is refused. */
static void
test_refusals(HgEngine *engine, const HgHost *host)
{
	TestCase c = {
		.kind = TEST_KEYS_UNIQUE, .key_width = 4, .rows = {100, 100}, .spread = {5, 0, 50}};
	Groups expected;
	uint64_t words[HG_MAX_REDUCE_WORDS];
	HgGroupRecords records = {.words = words, .capacity = 1};
	HgReduceSpec bad;
	uint64_t groups;
	HgError error = {0};
	HgStatus status;
	HgJob *job = NULL;
	bool good = true;

	hg_tap_ok(open_fails(engine, host, 1, 3) && open_fails(engine, host, 1, 0) &&
				  open_fails(engine, host, HG_MAX_COLUMNS + 1, 4),
			  "columns: open refuses widths that are none, and too many");

	test_case_create(&c, 2);
	add_key(&c, HG_INNER, 1, false);
	add_item(&c, HG_REDUCE_SUM, HG_OUTER, 0, true);
	c.reduce.max_groups = 1000;
	c.capacity = 10;
	expected_groups(&c, &expected);
	status = engine->open(engine, host, &c.spec, &job, &error);
	for (int side = 0; side < 2 && status == HG_OK; side++)
	{
		status = test_case_append_keys(&c, engine, job, (HgSide) side, &error);
		if (status == HG_OK)
			status = test_case_append_column(&c, engine, job, (HgSide) side, 0, &error);
	}
	if (status == HG_OK)
		status = test_case_append_column(&c, engine, job, HG_OUTER, 1, &error);
	hg_tap_ok(status == HG_OK && engine->columns->append_column(job, HG_INNER, 2, words, NULL, 1, 0,
																NULL) == HG_INVALID,
			  "columns: one that is not there takes no values");
	hg_tap_ok(status == HG_OK && engine->columns->reduce(job, HG_MATCH_ALL, &c.reduce, &groups,
														 &error) == HG_INVALID,
			  "groups: none are made before build");
	hg_tap_ok(status == HG_OK && engine->join->build(job, &error) == HG_INVALID,
			  "columns: build refuses a side that lacks one");
	engine->join->close(job);

	good = test_case_build(&c, engine, host, &job, &error) == HG_OK;
	hg_tap_ok(good && engine->columns->next_groups(job, &records, &error) == HG_INVALID,
			  "groups: none come before they are made");

	for (int what = 0; what < 6; what++)
	{
		bad = c.reduce;
		if (what == 0)
			bad.nkeys = HG_MAX_REDUCE_KEYS + 1;
		else if (what == 1)
			bad.nitems = HG_MAX_REDUCE_ITEMS + 1;
		else if (what == 2)
			bad.keys[0].column = 2;
		else if (what == 3)
			bad.items[0].argument.side = 2;
		else if (what == 4)
			bad.items[0].kind = HG_REDUCE_MAX + 1;
		else
			bad.max_groups = 0;
		good =
			good && engine->columns->reduce(job, HG_MATCH_ALL, &bad, &groups, &error) == HG_INVALID;
	}
	hg_tap_ok(good, "groups: columns and kinds that are not there are refused");
	hg_tap_ok(good && reduces_to(engine, job, &c, &expected), "groups: which does the job no harm");
	engine->join->close(job);
	free(expected.words);
	test_case_destroy(&c);
}

/* A value that comes twice, or for a row that did not come, is an error at build at the latest. */
static void
test_wrong_values(HgEngine *engine, const HgHost *host)
{
	for (int what = 0; what < 3; what++)
	{
		TestCase c = {
			.kind = TEST_KEYS_UNIQUE, .key_width = 4, .rows = {100, 100}, .spread = {5, 0, 0}};
		HgError error = {0};
		HgStatus status;
		HgJob *job = NULL;

		test_case_create(&c, 1);
		status = engine->open(engine, host, &c.spec, &job, &error);
		for (int side = 0; side < 2 && status == HG_OK; side++)
			status = test_case_append_keys(&c, engine, job, (HgSide) side, &error);
		if (status == HG_OK)
			status = test_case_append_column(&c, engine, job, HG_INNER, 0, &error);
		if (status == HG_OK && what < 2)
			status = test_case_append_column(&c, engine, job, HG_OUTER, 0, &error);
		if (status == HG_OK && what == 0)
			status = engine->columns->append_column(job, HG_OUTER, 0, c.values[0][0], NULL, 1, 99,
													&error);
		else if (status == HG_OK && what == 1)
			status = engine->columns->append_column(job, HG_OUTER, 0, c.values[0][0], NULL, 1, 100,
													&error);
		else if (status == HG_OK)
			status = engine->columns->append_column(job, HG_OUTER, 0, c.values[0][0], NULL, 100, 1,
													&error);
		if (status == HG_OK)
			status = engine->join->build(job, &error);
		hg_tap_ok(status == HG_INVALID && error.message[0] != '\0', "columns: %s is refused",
				  what == 0	  ? "a second value of a row"
				  : what == 1 ? "a value of no row"
							  : "a column that is one row off");
		if (job != NULL)
			engine->join->close(job);
		test_case_destroy(&c);
	}
}

/* A job that is cancelled at any moment, or finds no memory, says so and leaves nothing. */
static void
test_disturbed(HgEngine *engine, const HgHost *base)
{
	const uint64_t rows = hg_tap_suite() == HG_SUITE_TINY ? 3000 : 20000;
	const unsigned step = hg_tap_suite() == HG_SUITE_TINY ? 2 : 7; /* one by one, at first */
	TestCase c = {.kind = TEST_KEYS_DUPLICATES,
				  .key_width = 8,
				  .rows = {rows, rows},
				  .spread = {3000, 0, 10},
				  .capacity = 500};
	bool good = true;
	int cancelled = 0;
	HgStatus status = HG_CANCELLED;
	Groups expected;

	test_case_create(&c, 2);
	add_key(&c, HG_INNER, 0, true);
	add_item(&c, HG_REDUCE_SUM, HG_OUTER, 0, true);
	c.reduce.max_groups = 1000000;
	expected_groups(&c, &expected);
	for (uint64_t poll = 1; good && status == HG_CANCELLED; poll += 1 + poll / step)
	{
		TestHost host;
		uint64_t groups;
		HgError error = {0};
		HgJob *job;

		test_host_init(&host, base);
		host.cancel_poll = poll;
		status = test_case_build(&c, engine, &host.host, &job, &error);
		if (status == HG_OK)
			status = engine->columns->reduce(job, c.mode, &c.reduce, &groups, &error);
		good = status == HG_CANCELLED || (status == HG_OK && groups == expected.count);
		cancelled += status == HG_CANCELLED;
		if (job != NULL)
			engine->join->close(job);
		good = good && host.held_bytes == 0 && !host.misused;
	}
	hg_tap_ok(good && status == HG_OK && cancelled > 0,
			  "groups: a job can be cancelled at any moment (%d times)", cancelled);
	free(expected.words);
	test_case_destroy(&c);
}

void
hg_engine_reduce_suite(HgEngine *engine, const HgHost *host)
{
	const bool small = hg_tap_suite() <= HG_SUITE_SMALL;

	if (hg_tap_turn())
		test_by_hand(engine, host);
	test_kinds(engine, host);
	test_keys(engine, host, small);
	if (hg_tap_turn())
		test_first(engine, host);
	test_gather(engine, host, small);
	if (hg_tap_turn())
		test_gather_refusals(engine, host);
	if (hg_tap_turn())
		test_too_many(engine, host);
	if (hg_tap_turn())
		test_refusals(engine, host);
	if (hg_tap_turn())
		test_twice(engine, host);
	if (hg_tap_turn())
		test_wrong_values(engine, host);
	if (hg_tap_turn())
		test_disturbed(engine, host);
}
