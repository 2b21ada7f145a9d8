/*-------------------------------------------------------------------------
 *
 * test_engine_pages.c
 *	  The conformity suite of sides that come as pages.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_engine_pages.h"

#include "../../src/engine/hg_pages_parse.h"
#include "hg_tap.h"
#include "test_replica_groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char *const way_names[] = {"kept", "appended", "numbered", "", "in pages"};

static const TestPagesForm usual_form = {.nquals = 2, .noise = 10};

/* ------------------------------------------------------------------------
 * One join
 * ------------------------------------------------------------------------ */

void
test_pages_join_create(TestPagesJoin *join, const TestReplicaSpread spreads[2],
					   const TestPagesForm forms[2], uint64_t seed)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		test_replica_side_create(&join->sides[side], &spreads[side], &seed);
		if (spreads[side].way == TEST_REPLICA_PAGES)
			test_pages_make(&join->sides[side], &forms[side], &seed);
	}
	test_replica_naive(&join->sides[HG_OUTER], &join->sides[HG_INNER], &join->wanted);
}

void
test_pages_join_destroy(TestPagesJoin *join)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		test_replica_side_destroy(&join->sides[side]);
	free(join->wanted.pairs);
}

/* Read the whole stream, with all values or without. */
static HgStatus
read_right(TestPagesJoin *join, HgEngine *engine, HgJob *job, HgMatchMode mode, size_t capacity,
		   uint32_t unwanted, HgError *error)
{
	TestReplicaPairs pairs = {0};
	HgStatus status = engine->join->match(job, mode, error);

	if (status == HG_OK)
		status =
			test_replica_read_values(engine, job, &join->sides[HG_OUTER], &join->sides[HG_INNER],
									 capacity, UINT64_MAX, unwanted, &pairs, error);
	if (status == HG_OK && !test_replica_right(&pairs, &join->wanted, mode))
		status = hg_error_set(error, HG_INVALID, NULL, "wrong pairs");
	free(pairs.pairs);
	return status;
}

static HgStatus
count_right(TestPagesJoin *join, HgEngine *engine, HgJob *job, HgMatchMode mode, HgError *error)
{
	uint64_t matches = 0;
	HgStatus status = engine->join->count(job, mode, &matches, error);

	if (status == HG_OK && matches != test_replica_wanted(&join->wanted, mode))
		status = hg_error_set(error, HG_INVALID, NULL, "wrong count");
	return status;
}

static HgStatus
reduce_right(TestPagesJoin *join, HgEngine *engine, HgJob *job, uint32_t nkeys, size_t capacity,
			 HgError *error)
{
	const TestReplicaSide *outer = &join->sides[HG_OUTER];
	const TestReplicaSide *inner = &join->sides[HG_INNER];
	TestReplicaGroups groups = {0};
	TestReplicaGroups wanted;
	HgReduceSpec spec;
	uint64_t state = nkeys;
	uint64_t count = 0;
	HgStatus status;

	test_replica_draw_reduce(&spec, outer, inner, false, nkeys, &state);
	status = engine->columns->reduce(job, HG_MATCH_ALL, &spec, &count, error);
	if (status != HG_OK)
		return status;
	/* what has no room is no failure, but there would have been */
	if (count == HG_TOO_MANY_GROUPS)
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, NULL, "too many groups");
	test_replica_naive_groups(outer, inner, &join->wanted, HG_MATCH_ALL, &spec, &wanted);
	status = test_replica_fetch_groups(engine, job, &spec, count, capacity, &groups, error);
	if (status == HG_OK && !test_replica_groups_equal(&groups, &wanted, &spec))
		status = hg_error_set(error, HG_INVALID, NULL, "%u keys: wrong groups", nkeys);
	free(groups.words);
	free(wanted.words);
	return status;
}

/* Rows of a side that have no key, and count otherwise. */
static uint64_t
null_keys_of(const TestReplicaSide *side)
{
	const HgPageSpec *spec = &side->pages.spec;
	uint64_t null_keys = 0;

	for (uint64_t page = 0; side->spread.way == TEST_REPLICA_PAGES && page < side->pages.count;
		 page++)
	{
		const unsigned char *from = side->pages.bytes + page * spec->page_size;
		HgPageValues values;
		uint32_t lines;

		if (!hg_page_open(spec, from, &lines))
			continue;
		for (uint32_t line = 0; line < lines; line++)
			null_keys += hg_page_take(spec, side->spread.ncolumns, from, line, &values) ==
						 HG_PAGE_ROW_NO_KEY;
	}
	return null_keys;
}

/* Does the job have as many rows as the sides have that count? */
static HgStatus
rows_right(TestPagesJoin *join, HgEngine *engine, HgJob *job, HgError *error)
{
	HgJobStats stats;

	engine->join->stats(job, &stats);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const TestReplicaSide *made = &join->sides[side];

		if (stats.rows[side] != made->spread.count || stats.null_keys[side] != null_keys_of(made))
			return hg_error_set(
				error, HG_INVALID, NULL,
				"%" PRIu64 " rows and %" PRIu64 " without a key, not %u and %" PRIu64,
				stats.rows[side], stats.null_keys[side], made->spread.count, null_keys_of(made));
	}
	return HG_OK;
}

HgStatus
test_pages_join_ask(TestPagesJoin *join, HgEngine *engine, HgJob *job, size_t capacity,
					HgError *error)
{
	const bool columns =
		join->sides[HG_OUTER].spread.ncolumns + join->sides[HG_INNER].spread.ncolumns > 0;
	HgStatus status = rows_right(join, engine, job, error);

	if (status == HG_OK)
		status = count_right(join, engine, job, HG_MATCH_ALL, error);
	if (status == HG_OK)
		status = read_right(join, engine, job, HG_MATCH_ALL, capacity, 0, error);
	for (uint32_t nkeys = 0; nkeys <= 2 && columns && status == HG_OK; nkeys++)
		status = reduce_right(join, engine, job, nkeys, capacity, error);
	if (status == HG_OK)
		status = read_right(join, engine, job, HG_MATCH_FIRST, capacity, 0x155, error);
	if (status == HG_OK)
		status = count_right(join, engine, job, HG_MATCH_FIRST, error);
	if (status == HG_OK)
		status = read_right(join, engine, job, HG_MATCH_ALL, 1 + capacity / 3, UINT32_MAX, error);
	return status;
}

HgStatus
test_pages_join_run(TestPagesJoin *join, HgEngine *engine, const HgHost *host, size_t capacity,
					HgError *error)
{
	HgJob *job = NULL;
	HgStatus status = HG_OK;

	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		if (join->sides[side].spread.way == TEST_REPLICA_GRAPH)
			status = test_replica_make(engine, host, &join->sides[side], error);
	if (status == HG_OK)
		status = test_replica_build(engine, host, &join->sides[HG_OUTER], &join->sides[HG_INNER],
									&job, error);
	if (status == HG_OK)
		status = test_pages_join_ask(join, engine, job, capacity, error);
	if (job != NULL)
		engine->join->close(job);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		test_replica_release(engine, &join->sides[side]);
	return status;
}

static bool
is_replica_shape(const TestReplicaSpread spreads[2])
{
	return spreads[0].way == TEST_REPLICA_GRAPH || spreads[1].way == TEST_REPLICA_GRAPH;
}

/* A join, named, of sides as two spreads and forms say. */
static void
test_join(HgEngine *engine, const HgHost *base, const TestReplicaSpread spreads[2],
		  const TestPagesForm forms[2], size_t capacity, uint64_t seed)
{
	TestPagesJoin join;
	HgError error = {0};
	TestHost host;
	HgStatus status;

	if (!hg_tap_turn() || (is_replica_shape(spreads) && engine->store == NULL))
		return;
	test_host_init(&host, base);
	test_pages_join_create(&join, spreads, forms, seed);
	status = test_pages_join_run(&join, engine, &host.host, capacity, &error);
	if (!hg_tap_ok(status == HG_OK && host.held_bytes == 0 && !host.misused,
				   "%s: %u rows %s, %u columns, %u quals, pages of %u x %u, of %u %s, %u, %u, of "
				   "%u x %u, keys of %u and %u",
				   engine->name, spreads[0].count, way_names[spreads[0].way], spreads[0].ncolumns,
				   forms[0].nquals, forms[0].page_size, forms[0].stride, spreads[1].count,
				   way_names[spreads[1].way], spreads[1].ncolumns, forms[1].nquals,
				   forms[1].page_size, forms[1].stride, spreads[0].width, spreads[1].width))
		hg_tap_diag("status %d: %s %s", (int) status, error.message, error.detail);
	test_pages_join_destroy(&join);
}

/* ------------------------------------------------------------------------
 * Joins
 * ------------------------------------------------------------------------ */

/* Pages and each other way a side can come, with columns of both, or one, or none. */
static void
test_ways(HgEngine *engine, const HgHost *host)
{
	static const TestReplicaWay ways[][2] = {
		{TEST_REPLICA_PAGES, TEST_REPLICA_PAGES},	 {TEST_REPLICA_PAGES, TEST_REPLICA_APPENDED},
		{TEST_REPLICA_APPENDED, TEST_REPLICA_PAGES}, {TEST_REPLICA_PAGES, TEST_REPLICA_NUMBERED},
		{TEST_REPLICA_NUMBERED, TEST_REPLICA_PAGES}, {TEST_REPLICA_PAGES, TEST_REPLICA_GRAPH},
		{TEST_REPLICA_GRAPH, TEST_REPLICA_PAGES}};
	static const uint32_t ncolumns[][2] = {{8, 8}, {5, 0}, {0, 3}, {0, 0}};
	const uint32_t rows = hg_tap_suite() == HG_SUITE_TINY ? 500 : 5000;
	uint64_t seed = 100;

	for (uint32_t width = 4; width <= 8; width += 4)
		for (size_t way = 0; way < LENGTH(ways); way++)
			for (size_t c = 0; c < LENGTH(ncolumns); c++)
			{
				TestReplicaSpread spreads[2] = {{.way = ways[way][0],
												 .mask = TEST_MASK_SOME,
												 .width = width,
												 .parts = 3,
												 .count = rows,
												 .keys = rows,
												 .hot = 40,
												 .numbers = 70000,
												 .ncolumns = ncolumns[c][0],
												 .values = 12,
												 .nulls = 20}};
				TestPagesForm forms[2] = {usual_form, {.nquals = 8, .noise = 30}};

				spreads[1] = spreads[0];
				spreads[1].way = ways[way][1];
				spreads[1].ncolumns = ncolumns[c][1];
				spreads[1].hot = 25;
				/* a graph of another width is joined, too */
				if (spreads[1].way == TEST_REPLICA_GRAPH)
					spreads[1].width = 12 - width;
				/* the rows of a side are counted whatever a mask says */
				test_join(engine, host, spreads, forms, 1500, seed++);
			}
}

/* Pages of each size, strides, keys that become wider, and rows whose attributes are not there. */
static void
test_forms(HgEngine *engine, const HgHost *host)
{
	static const struct
	{
		uint32_t width;
		TestPagesForm form;
	} cases[] = {
		{8, {.page_size = 1024, .noise = 20}},
		{4, {.page_size = 2048, .stride = 7}},
		{8, {.page_size = 16384, .nquals = 5}},
		{4, {.page_size = 32768, .noise = 5}},
		{4, {.plain = true}},
		{8, {.plain = true, .page_size = 32768}},
		{4, {.key_bytes = 2, .nquals = 1}},
		{8, {.key_bytes = 2, .noise = 10}},
		{8, {.key_bytes = 4, .noise = 90}},
		{8, {.stride = 100000, .run = 1}},
		{4, {.stride = 1, .plain = true, .run = 1000}},
	};
	const uint32_t rows = hg_tap_suite() == HG_SUITE_TINY ? 300 : 3000;
	uint64_t seed = 500;

	for (size_t i = 0; i < LENGTH(cases); i++)
	{
		const TestPagesForm *form = &cases[i].form;
		const bool narrow = form->key_bytes > 0;
		const TestReplicaSpread spreads[2] = {
			{.way = TEST_REPLICA_PAGES,
			 .width = cases[i].width,
			 .count = rows,
			 .keys = rows,
			 .hot = narrow ? rows : 20,
			 .ncolumns = 4,
			 .values = i % 2 == 0 ? 5 : 0,
			 .nulls = 10},
			{.way = narrow ? TEST_REPLICA_PAGES : TEST_REPLICA_APPENDED,
			 .width = cases[i].width,
			 .count = narrow ? 20 : rows,
			 .keys = rows,
			 .hot = narrow ? 20 : 9,
			 .ncolumns = 2}};
		const TestPagesForm forms[2] = {*form, *form};

		test_join(engine, host, spreads, forms, 2000, seed++);
	}
}

/* No rows, no pages, and more rows than one piece of anything has. */
static void
test_sizes(HgEngine *engine, const HgHost *host, uint32_t most_rows)
{
	static const uint32_t rows[] = {0, 1, 2, 100, 30000};
	uint64_t seed = 700;

	for (size_t i = 0; i < LENGTH(rows) + 2; i++)
		for (size_t j = 0; j < LENGTH(rows); j++)
		{
			const uint32_t count = i < LENGTH(rows) ? rows[i] : most_rows >> (i - LENGTH(rows));
			const TestReplicaSpread spreads[2] = {{.way = TEST_REPLICA_PAGES,
												   .width = 8,
												   .count = count,
												   .keys = 2 * (uint64_t) count + 1,
												   .ncolumns = 1},
												  {.way = TEST_REPLICA_PAGES,
												   .width = 8,
												   .count = rows[j],
												   .keys = 2 * (uint64_t) rows[j] + 1,
												   .ncolumns = i % 2,
												   .nulls = 5}};
			const TestPagesForm forms[2] = {{.plain = true, .run = 1 << 20},
											{.noise = 5, .run = 1 << 20}};

			if (count <= most_rows && rows[j] <= most_rows && (count < 10000 || j == 4))
				test_join(engine, host, spreads, forms, 100000, seed++);
		}
}

/* ------------------------------------------------------------------------
 * Pages of no sense
 * ------------------------------------------------------------------------ */

static const TestReplicaSpread small[2] = {
	{.way = TEST_REPLICA_PAGES, .width = 8, .count = 900, .keys = 500, .ncolumns = 3, .nulls = 9},
	{.way = TEST_REPLICA_PAGES, .width = 8, .count = 700, .keys = 500, .ncolumns = 1}};
static const TestPagesForm small_forms[2] = {{.nquals = 2, .noise = 10}, {.nquals = 1}};

/* One damaged page of either side, the first or the last or one between them. */
static void
test_bad_pages(HgEngine *engine, const HgHost *base)
{
	uint64_t seed = 900;

	for (int which = HG_OUTER; which <= HG_INNER; which++)
		for (int position = 0; position < 3; position++)
			for (int damage = 0; damage < 3; damage++)
			{
				TestPagesJoin join;
				TestReplicaPages *pages;
				HgError error = {0};
				HgJob *job = NULL;
				uint64_t matches;
				unsigned char *page;
				TestHost host;
				bool good;

				test_host_init(&host, base);
				test_pages_join_create(&join, small, small_forms, seed++);
				pages = &join.sides[which].pages;
				page = pages->bytes +
					   (uint64_t) position * (pages->count - 1) / 2 * pages->spec.page_size;
				if (damage == 0)
					page[18] ^= 1; /* its version */
				else if (damage == 1)
					test_page_set_line(page, 0, 8000, 1, 0x7FFF);
				else
				{
					/* more bytes of a row than it has */
					test_page_init(page, pages->spec.page_size);
					test_page_add_row(page, pages->spec.page_size, NULL, 0, NULL, 0);
					memset(page + pages->spec.page_size - 24 + 18, 0xFF, 2);
				}
				good = test_replica_build(engine, &host.host, &join.sides[0], &join.sides[1], &job,
										  &error) == HG_BAD_PAGE;
				good = good && engine->join->count(job, HG_MATCH_ALL, &matches, NULL) != HG_OK &&
					   engine->join->match(job, HG_MATCH_ALL, NULL) != HG_OK;
				if (job != NULL)
					engine->join->close(job);
				hg_tap_ok(good && host.held_bytes == 0,
						  "%s: a page of side %d that makes no sense: damage %d at place %d",
						  engine->name, which, damage, position);
				test_pages_join_destroy(&join);
			}
}

/* ------------------------------------------------------------------------
 * Refusals
 * ------------------------------------------------------------------------ */

/* A key, a column, and what a qual asks for, all of 8 bytes but the last. */
static const HgPageSpec good_spec = {.page_size = 8192,
									 .rows_per_page = 291,
									 .natts = 4,
									 .nquals = 1,
									 .columns = {1},
									 .quals = {{.attribute = 2}},
									 .attributes = {{.length = 8, .align = 8},
													{.length = 8, .align = 8},
													{.length = 4, .align = 4},
													{.length = HG_PAGES_VARLENA, .align = 4}}};

/* A member of a spec, and a number that it can not have. */
typedef struct Spoiled
{
	size_t at;
	size_t bytes;
	uint64_t value;
} Spoiled;

#define SPOILED(member, value)                                                                     \
	{                                                                                              \
		offsetof(HgPageSpec, member), sizeof(((HgPageSpec *) NULL)->member), (uint64_t) (value)    \
	}

static const Spoiled spoiled[] = {
	SPOILED(page_size, 0),
	SPOILED(page_size, 512),
	SPOILED(page_size, 8190),
	SPOILED(page_size, 65536),
	SPOILED(rows_per_page, 0),
	SPOILED(natts, 0),
	SPOILED(natts, HG_PAGES_MAX_ATTRIBUTES + 1),
	SPOILED(nquals, HG_PAGES_MAX_QUALS + 1),
	SPOILED(key, 3),
	SPOILED(key, 4),
	SPOILED(key, UINT16_MAX),
	SPOILED(attributes[0].length, 1),
	SPOILED(attributes[0].length, 3),
	SPOILED(attributes[0].length, 16),
	SPOILED(attributes[1].length, 4),
	SPOILED(attributes[3].length, 0),
	SPOILED(attributes[3].length, -3),
	SPOILED(attributes[3].align, 1),
	SPOILED(attributes[0].align, 0),
	SPOILED(attributes[0].align, 3),
	SPOILED(attributes[0].align, 16),
	SPOILED(attributes[2].missing, UINT64_C(1) << 32),
	SPOILED(columns[0], 4),
	SPOILED(columns[0], 2),
	SPOILED(quals[0].attribute, 3),
	SPOILED(quals[0].attribute, 4),
	SPOILED(quals[0].operation, HG_PAGE_OPERATORS),
	SPOILED(quals[0].is_signed, 2),
};

static bool
is_refused(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgStatus wanted)
{
	HgJob *job = NULL;
	const HgStatus status = engine->open(engine, host, spec, &job, NULL);

	if (job != NULL)
		engine->join->close(job);
	return status == wanted;
}

/* Each thing that a spec may not say. */
static void
test_bad_specs(HgEngine *engine, const HgHost *host)
{
	static const HgReplicaSpec new_replica = {.name = {1, 1, 0, 0},
											  .shape = {.key_width = 8, .parts = 1, .rows = 1}};
	static const HgReplicaColumnSpec new_column = {.name = {1, 1, 1, 0},
												   .shape = {.width = 4, .parts = 1, .stride = 1}};
	HgPageSpec pages = good_spec;
	const HgJobSpec spec = {
		.key_width = 8,
		.device = -1,
		.sides[HG_OUTER] = {
			.kind = HG_SOURCE_PAGES, .ncolumns = 1, .column_width = {8}, .pages = &pages}};
	HgJobSpec bad = spec;

	hg_tap_ok(is_refused(engine, host, &spec, HG_OK), "%s: pages that can be", engine->name);
	for (size_t i = 0; i < LENGTH(spoiled); i++)
	{
		pages = good_spec;
		memcpy((char *) &pages + spoiled[i].at, &spoiled[i].value, spoiled[i].bytes);
		hg_tap_ok(is_refused(engine, host, &spec, HG_INVALID), "%s: pages that can not be, %zu",
				  engine->name, i);
	}
	pages = good_spec;
	bad.key_width = 4;
	hg_tap_ok(is_refused(engine, host, &bad, HG_INVALID), "%s: a key of pages that is too wide",
			  engine->name);
	bad = spec;
	bad.product = (HgJobProduct){HG_PRODUCT_GRAPH, .graph = &new_replica};
	hg_tap_ok(is_refused(engine, host, &bad, HG_INVALID), "%s: pages where a graph is made",
			  engine->name);
	bad = spec;
	bad.product = (HgJobProduct){HG_PRODUCT_COLUMN, .column = &new_column};
	hg_tap_ok(is_refused(engine, host, &bad, HG_INVALID), "%s: pages where a column is made",
			  engine->name);
}

/* What can not be asked of a job with pages. */
static void
test_bad_calls(HgEngine *engine, const HgHost *host)
{
	TestReplicaSpread spreads[2] = {small[0], small[1]};
	static const int64_t keys[3] = {1, 2, 3};
	TestPagesJoin join;
	const TestReplicaPages *pages;
	HgError error = {0};
	HgJob *job = NULL;
	bool good;

	spreads[HG_INNER].way = TEST_REPLICA_APPENDED;
	test_pages_join_create(&join, spreads, small_forms, 18);
	pages = &join.sides[HG_OUTER].pages;
	good = test_replica_open(engine, host, &join.sides[0], &join.sides[1], &job, &error) == HG_OK;
	hg_tap_ok(good && engine->join->append(job, HG_OUTER, keys, 3, &error) == HG_INVALID,
			  "%s: keys are not appended to a side that comes as pages", engine->name);
	hg_tap_ok(good && engine->join->append_rows(job, HG_OUTER, keys, 3, 0, &error) == HG_INVALID,
			  "%s: nor with their numbers", engine->name);
	hg_tap_ok(good && engine->columns->append_column(job, HG_OUTER, 0, keys, NULL, 1, 0, &error) ==
						  HG_INVALID,
			  "%s: nor columns", engine->name);
	hg_tap_ok(good && engine->pages->append_pages(job, HG_INNER, pages->bytes, 1, 0, &error) ==
						  HG_INVALID,
			  "%s: pages are not appended to another side", engine->name);
	hg_tap_ok(good &&
				  engine->pages->append_pages(job, HG_OUTER, pages->bytes, 0, 0, &error) == HG_OK,
			  "%s: no pages at all are no harm", engine->name);
	for (int side = HG_OUTER; side <= HG_INNER && good; side++)
		good =
			test_replica_append(engine, job, (HgSide) side, 0, &join.sides[side], &error) == HG_OK;
	good = good && engine->join->build(job, &error) == HG_OK &&
		   test_pages_join_ask(&join, engine, job, 1000, &error) == HG_OK;
	hg_tap_ok(good, "%s: what was refused has done nothing", engine->name);
	hg_tap_ok(good && engine->pages->append_pages(job, HG_OUTER, pages->bytes, 1, 100000, &error) ==
						  HG_INVALID,
			  "%s: pages are not appended after build", engine->name);
	if (job != NULL)
		engine->join->close(job);
	job = NULL;
	good = test_replica_open(engine, host, &join.sides[0], &join.sides[1], &job, &error) == HG_OK;
	hg_tap_ok(good && engine->pages->append_pages(job, HG_OUTER, pages->bytes, 1,
												  HG_MAX_ROWS / pages->spec.rows_per_page,
												  &error) == HG_TOO_MANY_ROWS,
			  "%s: no row has a number that can not be", engine->name);
	if (job != NULL)
		engine->join->close(job);
	test_pages_join_destroy(&join);
}

/* The greatest ordinals that there can be. */
static void
test_last_page(HgEngine *engine, const HgHost *host)
{
	TestReplicaSpread spreads[2] = {small[0], small[1]};
	const TestPagesForm forms[2] = {{.run = 100, .plain = true}, {.plain = true}};
	TestPagesJoin join;
	TestReplicaSide *outer = &join.sides[HG_OUTER];
	HgError error = {0};
	HgJob *job = NULL;
	uint64_t last;
	HgStatus status;

	/* values by number are dear to engines of tests */
	spreads[HG_OUTER].ncolumns = 0;
	spreads[HG_OUTER].count = 200;
	test_pages_join_create(&join, spreads, forms, 19);
	last = HG_MAX_ROWS / outer->pages.spec.rows_per_page - outer->pages.count;
	for (uint32_t i = 0; i < outer->spread.count; i++)
		outer->rows[i] += (uint32_t) ((last - 1) * outer->pages.spec.rows_per_page);
	free(join.wanted.pairs);
	test_replica_naive(outer, &join.sides[HG_INNER], &join.wanted);
	status = test_replica_open(engine, host, outer, &join.sides[HG_INNER], &job, &error);
	if (status == HG_OK)
		status = engine->pages->append_pages(job, HG_OUTER, outer->pages.bytes, outer->pages.count,
											 last, &error);
	if (status == HG_OK)
		status = test_replica_append(engine, job, HG_INNER, 0, &join.sides[HG_INNER], &error);
	if (status == HG_OK)
		status = engine->join->build(job, &error);
	if (status == HG_OK)
		status = test_pages_join_ask(&join, engine, job, 1000, &error);
	if (!hg_tap_ok(status == HG_OK, "%s: rows of the last pages that there can be", engine->name))
		hg_tap_diag("status %d: %s", (int) status, error.message);
	if (job != NULL)
		engine->join->close(job);
	test_pages_join_destroy(&join);
}

/* ------------------------------------------------------------------------
 * Failures
 * ------------------------------------------------------------------------ */

HgStatus
test_pages_stretch(HgEngine *engine, const HgHost *host, HgError *error)
{
	const int joins = engine->store != NULL ? 3 : 2;
	HgStatus status = HG_OK;

	for (int i = 0; i < joins && status == HG_OK; i++)
	{
		TestReplicaSpread spreads[2] = {small[0], small[1]};
		TestPagesJoin join;

		spreads[HG_INNER].parts = 1;
		spreads[HG_INNER].numbers = 1000;
		spreads[HG_INNER].way = i == 0	 ? TEST_REPLICA_PAGES
								: i == 1 ? TEST_REPLICA_APPENDED
										 : TEST_REPLICA_GRAPH;
		test_pages_join_create(&join, spreads, small_forms, 20);
		status = test_pages_join_run(&join, engine, host, 1000, error);
		test_pages_join_destroy(&join);
	}
	return status;
}

/* Refuse each allocation of the stretch, and then cancel at each of its polls. */
static void
test_failures(HgEngine *engine, const HgHost *base)
{
	const uint64_t stride = hg_tap_stride();
	TestHost host;
	HgError error = {0};
	uint64_t moments[2];
	bool good;

	test_host_init(&host, base);
	good = test_pages_stretch(engine, &host.host, &error) == HG_OK && host.held_bytes == 0 &&
		   !host.misused;
	if (!hg_tap_ok(good, "%s: a stretch with pages leaves nothing", engine->name))
		hg_tap_diag("%s %s", error.message, error.detail);
	moments[0] = host.allocations;
	moments[1] = host.polls;
	for (int cancelled = 0; cancelled <= 1 && good; cancelled++)
	{
		for (uint64_t at = 1; at <= moments[cancelled] && good; at += stride)
		{
			HgStatus status;

			test_host_init(&host, base);
			host.fail_allocation = cancelled ? 0 : at;
			host.cancel_poll = cancelled ? at : 0;
			status = test_pages_stretch(engine, &host.host, &error);
			good = host.held_bytes == 0 && !host.misused &&
				   (cancelled ? status == HG_CANCELLED || status == HG_OK
							  : status == HG_OUT_OF_MEMORY || status == HG_DEVICE_OUT_OF_MEMORY);
			if (!good)
				hg_tap_diag("%s %" PRIu64 " of %" PRIu64 ": status %d, %" PRIu64 " bytes",
							cancelled ? "poll" : "allocation", at, moments[cancelled], (int) status,
							host.held_bytes);
		}
		hg_tap_ok(good, "%s: a stretch with pages, %s at each of %" PRIu64 " moments", engine->name,
				  cancelled ? "cancelled" : "without memory", moments[cancelled]);
	}
}

/* Little memory of the job's own. */
static void
test_little_memory(HgEngine *engine, const HgHost *host)
{
	TestPagesJoin join;
	uint64_t refused = 0;
	uint64_t fitted = 0;
	bool good = true;

	test_pages_join_create(&join, small, small_forms, 21);
	for (uint64_t limit = 10000; good && fitted < 2 && limit < UINT64_C(1) << 32;
		 limit += limit / 3)
	{
		HgJobSpec spec = {.key_width = 8, .device = -1, .memory_limit = limit};
		HgError error = {0};
		HgJob *job = NULL;
		HgStatus status;

		for (int side = HG_OUTER; side <= HG_INNER; side++)
		{
			spec.sides[side].kind = HG_SOURCE_PAGES;
			spec.sides[side].pages = &join.sides[side].pages.spec;
			spec.sides[side].ncolumns = join.sides[side].spread.ncolumns;
			memcpy(spec.sides[side].column_width, test_replica_widths, sizeof(test_replica_widths));
		}
		status = engine->open(engine, host, &spec, &job, &error);
		for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
			status = test_replica_append(engine, job, (HgSide) side, 0, &join.sides[side], &error);
		if (status == HG_OK)
			status = engine->join->build(job, &error);
		if (status == HG_OK)
			status = test_pages_join_ask(&join, engine, job, 1000, &error);
		if (job != NULL)
			engine->join->close(job);
		fitted += status == HG_OK;
		refused += status == HG_OUT_OF_MEMORY || status == HG_DEVICE_OUT_OF_MEMORY;
		good = status == HG_OK || status == HG_OUT_OF_MEMORY || status == HG_DEVICE_OUT_OF_MEMORY;
	}
	hg_tap_ok(good && refused > 2 && fitted == 2,
			  "%s: pages within little memory: %" PRIu64 " refused", engine->name, refused);
	test_pages_join_destroy(&join);
}

void
hg_engine_pages_suite(HgEngine *engine, const HgHost *host, uint32_t most_rows)
{
	test_ways(engine, host);
	test_forms(engine, host);
	test_sizes(engine, host, most_rows);
	if (!hg_tap_turn())
		return;
	test_bad_pages(engine, host);
	test_bad_specs(engine, host);
	test_bad_calls(engine, host);
	test_last_page(engine, host);
	test_failures(engine, host);
	test_little_memory(engine, host);
}
