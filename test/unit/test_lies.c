/*-------------------------------------------------------------------------
 *
 * test_lies.c
 *	  Ends of the wire that lie: a device process to its client, and a client to it.
 *
 * The stand-in (hg_device_standin.c), which lies beside this program, lies at random (hg_lies.h),
 * and this program does, to an honest stand-in, for HG_FUZZ_SECONDS each: nobody may crash, hang
 * or, where it can be seen, be deceived.  HG_FUZZ_SEED begins elsewhere.  test_one_lie.c has the
 * lies one by one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* setenv, pid_t */

#include "../../src/engine/hg_passes.h"
#include "../../src/engine/hg_reduce.h"
#include "../../src/engine/wire/hg_wire_internal.h"
#include "hg_lies.h"
#include "hg_tap.h"
#include "test_columns.h"
#include "test_measure.h"
#include "test_named.h"
#include "test_pages.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A session asks for rows whose numbers no row can have: its job fails, and no more than that. */
static void
test_session_numbers(void)
{
	static const HgWireType types[] = {HG_WIRE_APPEND_ROWS, HG_WIRE_APPEND_COLUMN};
	TestServer server;
	TestSpeaker speaker;
	HgWireMessage message;

	test_start_server(&server, NULL);
	test_start_speaker(&server, &speaker);
	test_ask_open(&speaker, 1, UINT64_MAX - 1, 0);
	hg_tap_ok(test_is_answered(&speaker, HG_TOO_MANY_ROWS),
			  "a job that expects more rows than there can be is refused");
	for (uint32_t i = 0; i < 2; i++)
	{
		memset(&message, 0, sizeof(message));
		message.request.spec = test_plain_spec;
		message.request.spec.sides[HG_OUTER].ncolumns = 1;
		message.request.spec.sides[HG_OUTER].column_width[0] = 4;
		test_ask(&speaker, HG_WIRE_OPEN, 2 + i, &message);
		test_is_answered(&speaker, HG_OK);
		message.request.offset = speaker.answer.reply.lease_offset;
		message.request.count = 16;
		message.request.first = UINT64_MAX - 7;
		test_ask(&speaker, types[i], 2 + i, &message);
		hg_tap_ok(test_is_answered(&speaker, HG_TOO_MANY_ROWS), "so are %s behind the last number",
				  i == 0 ? "rows" : "values");
	}
	test_end_speaker(&speaker);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_stop_server(&server),
			  "and nothing is left of it");
}

/* ------------------------------------------------------------------------
 * Lies at random
 * ------------------------------------------------------------------------ */

/* What a session's job may take, and a whole session before it counts as hanging. */
#define JOB_MS 2000
#define HANG_SECONDS 60

static double fuzz_ms = 1000;
static uint64_t fuzz_seed = 1;

/* One that has been lost is of no use: a target of passes. */
static HgEngine *
engine_of(void *client)
{
	return hg_wire_client_engine(client);
}

/* Do values come from the rows of their matches? */
static bool
are_values(const TestCase *c, const HgMatches *matches)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < c->spec.sides[side].ncolumns; column++)
			for (size_t i = 0; matches->values[side][column] != NULL && i < matches->count; i++)
			{
				const uint32_t row = side == HG_OUTER ? matches->outer[i] : matches->inner[i];
				const size_t width = c->spec.sides[side].column_width[column];

				if (memcmp((char *) matches->values[side][column] + i * width,
						   c->values[side][column] + row * width, width) != 0)
					return false;
			}
	return true;
}

/* Stream the matches: right or not, if that is how they end. */
static HgStatus
play_stream(HgEngine *engine, HgJob *job, const TestCase *c, HgMatchMode mode, bool *right)
{
	uint32_t outer[500];
	uint32_t inner[500];
	uint64_t values[2][HG_MAX_COLUMNS][500];
	uint8_t nulls[2][HG_MAX_COLUMNS][500];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 1 + hg_lies_random() % 500};
	const TestData *data = &c->data;
	uint64_t pairs = 0;
	uint64_t checksum = 0;
	HgStatus status = engine->join->match(job, mode, NULL);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < c->spec.sides[side].ncolumns; column++)
		{
			matches.values[side][column] = values[side][column];
			matches.nulls[side][column] = nulls[side][column];
		}
	while (status == HG_OK && (status = engine->join->next(job, &matches, NULL)) == HG_OK &&
		   matches.count > 0)
	{
		for (size_t i = 0; i < matches.count; i++)
		{
			/* what is no row must not come this far, whatever is believed */
			if (outer[i] >= data->rows[HG_OUTER] || inner[i] >= data->rows[HG_INNER])
				abort();
			checksum += test_pair_checksum(outer[i], inner[i]);
			*right = *right && test_data_key(data, HG_OUTER, outer[i]) ==
								   test_data_key(data, HG_INNER, inner[i]);
		}
		*right = *right && are_values(c, &matches);
		pairs += matches.count;
		/* a stream of lies may have no end */
		if (pairs > 4 * data->pairs)
			return HG_CANCELLED;
	}
	if (status == HG_OK)
		*right =
			*right && (mode == HG_MATCH_FIRST ? pairs == data->first
											  : pairs == data->pairs && checksum == data->checksum);
	return status;
}

static HgStatus
play_groups(HgEngine *engine, HgJob *job, const TestCase *c, bool *right)
{
	const HgReduceSpec spec = {
		.nkeys = hg_lies_random() % 2,
		.nitems = 2,
		.keys = {{.side = HG_INNER, .column = 0, .is_signed = 1}},
		.items = {{.kind = HG_REDUCE_SUM, .argument = {.side = HG_OUTER, .is_signed = 1}},
				  {.kind = HG_REDUCE_MAX, .argument = {.side = HG_INNER, .is_signed = 1}}},
		.max_groups = 1 + hg_lies_random() % 1000};
	const uint32_t words = hg_reduce_words(&spec);
	uint64_t record[HG_MAX_REDUCE_WORDS * 8];
	HgGroupRecords records = {record, 8, 0};
	uint64_t groups;
	uint64_t taken = 0;
	uint64_t pairs = 0;
	HgStatus status = engine->columns->reduce(job, HG_MATCH_ALL, &spec, &groups, NULL);

	if (status != HG_OK || groups == HG_TOO_MANY_GROUPS)
		return status;
	while (taken < groups && (status = engine->columns->next_groups(job, &records, NULL)) == HG_OK)
	{
		/* the promise that nobody checks again */
		if (records.count == 0 || records.count > groups - taken)
			abort();
		for (size_t i = 0; i < records.count; i++)
			pairs += record[i * words + spec.nkeys + 1];
		taken += records.count;
	}
	if (status == HG_OK)
		*right = *right && pairs == c->data.pairs;
	return status;
}

/* Ask for what comes to mind of a job that is built. */
static void
play_job(HgEngine *engine, HgJob *job, const TestCase *c, bool may_export, bool *right)
{
	const bool has_columns = c->spec.sides[HG_OUTER].ncolumns > 0;
	HgStatus status = HG_OK;

	for (int asked = 0; asked < 4 && status == HG_OK; asked++)
	{
		const HgMatchMode mode = hg_lies_random() % 2 ? HG_MATCH_ALL : HG_MATCH_FIRST;
		uint64_t count = 0;
		HgGraphStats graph;
		HgJobStats stats;
		uint32_t *arrays;

		switch (hg_lies_random() % (may_export ? 5 : 4))
		{
			case 0:
				status = engine->join->count(job, mode, &count, NULL);
				if (status == HG_OK)
					*right =
						*right && count == (mode == HG_MATCH_ALL ? c->data.pairs : c->data.first);
				break;
			case 1:
				if (has_columns)
				{
					status = play_groups(engine, job, c, right);
					break;
				}
				status = engine->join->describe(job, HG_INNER, &graph, NULL);
				break;
			case 4:
				engine->join->stats(job, &stats);
				arrays =
					test_malloc((stats.vertices + 1 + 3 * stats.rows[HG_INNER]) * sizeof(uint32_t));
				engine->join->export_graph(job, HG_INNER, arrays, arrays + stats.vertices + 1,
										   arrays + stats.vertices + 1 + 2 * stats.rows[HG_INNER],
										   NULL);
				free(arrays);
				break;
			default:
				status = play_stream(engine, job, c, mode, right);
		}
	}
}

/* Have a table measured that has all keys. */
static void
play_table(HgEngine *engine, const HgHost *host, const TestData *data, bool *right)
{
	static const HgTableKind kinds[] = {HG_TABLE_CSR, HG_TABLE_DYNAMIC, HG_TABLE_CUCKOO};
	const HgTableTrial trial = {.spec = {.kind = kinds[hg_lies_random() % 3],
										 .content = HG_TABLE_MULTIMAP,
										 .key_width = data->key_width},
								.batches = hg_lies_random() % 4};
	HgTableMeasure measure;

	if (test_measure(engine, host, data, &trial, &measure, NULL) == HG_OK)
		*right = *right && measure.stats.rows == data->rows[HG_INNER];
}

/* Names of graphs that sessions make, and which others may have altered. */
#define REPLICA_NAMES 4
#define REPLICA_ROWS(serial) (1000 + 500 * (serial))
#define REPLICA_COLUMNS 3

/* Make a graph, and join what there may be of that name with itself. */
static void
play_replica(HgWireClient *client, const HgHost *host, bool *right)
{
	const uint64_t serial = 1 + hg_lies_random() % REPLICA_NAMES;
	const HgReplicaUse use = {.name = {TEST_EPOCH, serial},
							  .shape = {8, 1, REPLICA_ROWS(serial)},
							  .masked = hg_lies_random() % 2};
	const HgReplicaUse same = {.name = use.name, .shape = use.shape};
	/* its rows may look themselves up */
	const HgReplicaLookup lookup = {.stride = REPLICA_ROWS(serial),
									.found_stride = REPLICA_ROWS(serial),
									.own = same,
									.found = use};
	const HgJobSpec spec = {
		.key_width = 8,
		.device = -1,
		.sides = {{.kind = HG_SOURCE_REPLICA,
				   .replica = {.use = &use, .nlookups = hg_lies_random() % 2, .lookups = &lookup}},
				  {.kind = HG_SOURCE_REPLICA, .replica = {.use = &use}}}};
	const uint32_t left_out = use.masked ? 64 * (1 + spec.sides[HG_OUTER].replica.nlookups) : 0;
	HgEngine *engine = hg_wire_client_engine(client);
	uint32_t outer[500];
	uint32_t inner[500];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 500};
	uint64_t pairs = 0;
	uint64_t count = 0;
	HgStatus status = HG_OK;
	HgJob *job;

	if (hg_lies_random() % 2)
		test_named_make(client, host, serial, REPLICA_ROWS(serial), NULL);
	if (hg_lies_random() % 4 == 0)
		test_named_drop(client, 1 + hg_lies_random() % REPLICA_NAMES);
	if (engine->open(engine, host, &spec, &job, NULL) != HG_OK)
		return;
	/* all but the first 64 rows, which look up all but the next 64 */
	if (use.masked)
		status = engine->masks->mask(job, HG_OUTER, 0, 0, 1, NULL, NULL);
	if (status == HG_OK && use.masked && spec.sides[HG_OUTER].replica.nlookups > 0)
		status = engine->masks->mask(job, HG_OUTER, 1, 1, 1, NULL, NULL);
	if (status == HG_OK && engine->join->build(job, NULL) == HG_OK &&
		engine->join->count(job, HG_MATCH_ALL, &count, NULL) == HG_OK)
	{
		*right = *right && count == use.shape.rows - left_out;
		status = engine->join->match(job, HG_MATCH_ALL, NULL);
		while (status == HG_OK && (status = engine->join->next(job, &matches, NULL)) == HG_OK &&
			   matches.count > 0 && pairs <= 4 * use.shape.rows)
		{
			/* what is no row must not come this far, whatever is believed */
			for (size_t i = 0; i < matches.count; i++)
				if (outer[i] >= hg_replica_rows_end(&use.shape) ||
					inner[i] >= hg_replica_rows_end(&use.shape))
					abort();
			pairs += matches.count;
		}
		if (status == HG_OK)
			*right = *right && pairs == count;
	}
	engine->join->close(job);
}

/* The same of a graph with columns, which are summed up. */
static void
play_columns(HgWireClient *client, const HgHost *host, bool *right)
{
	const uint64_t serial = 1 + hg_lies_random() % REPLICA_NAMES;
	const uint64_t rows = REPLICA_ROWS(serial);
	const uint32_t ncolumns = 1 + (uint32_t) (hg_lies_random() % REPLICA_COLUMNS);
	HgEngine *engine = hg_wire_client_engine(client);
	HgStatus status;
	HgJob *job = NULL;
	bool summed;

	if (hg_lies_random() % 2)
		test_named_make(client, host, serial, rows, NULL);
	for (uint32_t column = 1; column <= ncolumns; column++)
		if (hg_lies_random() % 4 != 0)
			test_named_make_column(client, host, serial, column, (uint32_t) rows, NULL);
	if (hg_lies_random() % 4 == 0)
		test_named_drop_column(client, serial, 1 + (uint32_t) (hg_lies_random() % REPLICA_COLUMNS));
	if (test_named_read(client, host, serial, rows, ncolumns, (uint32_t) rows, &job, NULL) != HG_OK)
		return;
	status = engine->join->build(job, NULL);
	/* a process may refuse, in whatever words, but what it sums up is right */
	if (status == HG_OK && test_named_sum(client, job, rows, ncolumns, &summed, NULL) == HG_OK)
		*right = *right && summed;
	engine->join->close(job);
}

/* The same by a filter of its rows that lets all of them through, by what is computed of a column.
 */
static void
play_filter(HgWireClient *client, const HgHost *host, bool *right)
{
	const uint64_t serial = 1 + hg_lies_random() % REPLICA_NAMES;
	const uint64_t rows = REPLICA_ROWS(serial);
	const HgReplicaUse use = {.name = {TEST_EPOCH, serial}, .shape = {8, 1, rows}};
	const HgRowFilters filters = {
		.nfilters = 1,
		.ncolumns = 1,
		.nranges = 1,
		.nnumbers = 1,
		.filters = {{.nsteps = 3}},
		.columns = {{.name = {TEST_EPOCH, serial, 1, 0}, .shape = {4, 1, (uint32_t) rows, 0}}},
		.steps =
			{{.kind = HG_FILTER_IS_NULL},
			 {.kind = HG_FILTER_IN, .is_signed = 1, .computed = HG_FILTER_COMPUTED, .count = 1},
			 {.kind = HG_FILTER_OR}},
		.ranges = {{INT64_MIN, INT64_MAX}},
		.numbers = {{.count = 2}},
		.number_steps = {{.kind = HG_STEP_COLUMN, .bits = 64, .is_signed = 1},
						 {.kind = HG_STEP_MODULO, .bits = 64, .constant = -3}}};
	const HgJobSpec spec = {
		.key_width = 8,
		.device = -1,
		.sides = {{.kind = HG_SOURCE_REPLICA, .replica = {.use = &use, .filters = &filters}},
				  {.kind = HG_SOURCE_REPLICA, .replica = {.use = &use}}}};
	HgEngine *engine = hg_wire_client_engine(client);
	uint64_t count = 0;
	HgJob *job;

	if (hg_lies_random() % 2)
		test_named_make(client, host, serial, rows, NULL);
	if (hg_lies_random() % 2)
		test_named_make_column(client, host, serial, 1, (uint32_t) rows, NULL);
	if (engine->open(engine, host, &spec, &job, NULL) != HG_OK)
		return;
	if (engine->join->build(job, NULL) == HG_OK &&
		engine->join->count(job, HG_MATCH_ALL, &count, NULL) == HG_OK)
		*right = *right && count == rows;
	engine->join->close(job);
}

/* Join a side that comes as pages with itself. */
static void
play_pages(HgWireClient *client, const HgHost *host, bool *right)
{
	const TestReplicaSpread spread = {.way = TEST_REPLICA_PAGES,
									  .width = 8,
									  .count = 1 + (uint32_t) (hg_lies_random() % 1000),
									  .keys = UINT64_C(1) << 60,
									  .ncolumns = (uint32_t) (hg_lies_random() % 3)};
	const TestPagesForm form = {.nquals = 1, .noise = 10, .run = 10};
	HgEngine *engine = hg_wire_client_engine(client);
	uint64_t state = hg_lies_random();
	uint32_t outer[500];
	uint32_t inner[500];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 500};
	TestReplicaPairs wanted;
	TestReplicaSide side;
	uint64_t end;
	uint64_t pairs = 0;
	HgStatus status;
	HgJob *job = NULL;

	test_replica_side_create(&side, &spread, &state);
	test_pages_make(&side, &form, &state);
	test_replica_naive(&side, &side, &wanted);
	end = (test_pages_ordinal(&side.pages, side.pages.count) + 1) * side.pages.spec.rows_per_page;
	status = test_replica_build(engine, host, &side, &side, &job, NULL);
	if (status == HG_OK)
		status = engine->join->match(job, HG_MATCH_ALL, NULL);
	while (status == HG_OK && (status = engine->join->next(job, &matches, NULL)) == HG_OK &&
		   matches.count > 0 && pairs <= 4 * wanted.count)
	{
		/* what is no row must not come this far, whatever is believed */
		for (size_t i = 0; i < matches.count; i++)
			if (outer[i] >= end || inner[i] >= end)
				abort();
		pairs += matches.count;
	}
	if (status == HG_OK)
		*right = *right && pairs == wanted.count;
	if (job != NULL)
		engine->join->close(job);
	free(wanted.pairs);
	test_replica_side_destroy(&side);
}

/* One session with some jobs, until the connection is lost; false where it was deceived. */
static bool
play_session(HgWireClient *client)
{
	HgPasses ranges;
	bool right = true;

	alarm(HANG_SECONDS);
	for (int jobs = 0; jobs < 5 && hg_wire_client_state(client, NULL) == HG_WIRE_READY; jobs++)
	{
		TestCase c = {.kind = hg_lies_random() % 2 ? TEST_KEYS_UNIQUE : TEST_KEYS_DUPLICATES,
					  .key_width = hg_lies_random() % 2 ? 4 : 8,
					  .rows = {1 + hg_lies_random() % 3000, 1 + hg_lies_random() % 3000},
					  .spread = {5, 0, 0}};
		const bool whole = hg_lies_random() % 2;
		HgEngine *engine = hg_wire_client_engine(client);
		TestTimeoutHost impatient;
		HgJob *job = NULL;

		if (!whole)
		{
			hg_passes_init(&ranges, "cuda", engine_of, client);
			engine = &ranges.engine;
			c.spec.memory_limit = hg_lies_random() % 2 ? 0 : 1 << 16;
		}
		test_case_create(&c, hg_lies_random() % 3);
		test_timeout_init(&impatient, JOB_MS);
		if (hg_lies_random() % 4 == 0)
			play_table(hg_wire_client_engine(client), &impatient.host, &c.data, &right);
		if (hg_lies_random() % 3 == 0)
			play_replica(client, &impatient.host, &right);
		if (hg_lies_random() % 3 == 0)
			play_columns(client, &impatient.host, &right);
		if (hg_lies_random() % 3 == 0)
			play_filter(client, &impatient.host, &right);
		if (hg_lies_random() % 3 == 0)
			play_pages(client, &impatient.host, &right);
		if (test_case_build(&c, engine, &impatient.host, &job, NULL) == HG_OK)
			play_job(engine, job, &c, whole, &right);
		if (job != NULL)
			engine->join->close(job);
		test_case_destroy(&c);
	}
	alarm(0);
	return right;
}

/* Have the stand-in tell lies of a kind. */
static void
test_lying_process(const char *kind, bool seen)
{
	const double end = test_now_ms() + fuzz_ms;
	uint64_t sessions = 0;
	bool right = true;

	while (right && (sessions == 0 || test_now_ms() < end))
	{
		TestServer server;
		char lies[64];
		int status;

		/* sometimes one answer in three makes no sense, sometimes few do */
		snprintf(lies, sizeof(lies), "%s %d %llu", kind, hg_lies_random() % 2 ? 3 : 50,
				 (unsigned long long) hg_lies_random() % 1000000);
		setenv("HG_STANDIN_LIES", lies, 1);
		test_launch_server(&server, NULL);
		unsetenv("HG_STANDIN_LIES");
		for (int i = 0; right && i < 50 && test_now_ms() < end; i++)
		{
			HgWireClient *client = hg_wire_client_create(test_connect_to(&server));

			if (test_started_state(client, NULL) == HG_WIRE_READY)
				right = play_session(client) || !seen;
			hg_wire_client_destroy(client);
			sessions++;
		}
		hg_wire_client_destroy(server.control);
		right = test_process_ends(server.process, &status) && right && WIFEXITED(status);
		if (!right)
			hg_tap_diag("lies: %s, status %d", lies, status);
	}
	hg_tap_ok(right, "a process that tells lies of kind \"%s\" %s", kind,
			  seen ? "deceives nobody" : "does no harm");
	hg_tap_diag("%llu sessions", (unsigned long long) sessions);
}

/* Lie to an honest stand-in. */
static void
test_lying_client(const char *kind)
{
	const double end = test_now_ms() + fuzz_ms;
	uint64_t sessions = 0;
	uint64_t told = 0;
	TestServer server;
	TestData data;
	bool good = true;

	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 1000, 1000);
	test_start_server(&server, NULL);
	while (good && (sessions == 0 || test_now_ms() < end))
	{
		HgWireClient *client = test_start_client(&server);
		char lies[64];

		snprintf(lies, sizeof(lies), "%s %d %llu", kind, sessions % 2 ? 5 : 30,
				 (unsigned long long) (fuzz_seed + sessions));
		hg_lies_begin(lies, client->staging, client->staging_bytes);
		play_session(client);
		told += hg_lies_told();
		hg_lies_end();
		hg_wire_client_destroy(client);

		/* it has an ear for others */
		client = test_start_client(&server);
		good = test_stream_works(hg_wire_client_engine(client), &data);
		hg_wire_client_destroy(client);
		sessions++;
	}
	good = test_counts_become(&server, 0, 0, 0) && good;
	good = test_stop_server(&server) && good;
	hg_tap_ok(good, "a client that tells lies of kind \"%s\" does the process no harm", kind);
	hg_tap_diag("%llu sessions, %llu lies", (unsigned long long) sessions,
				(unsigned long long) told);
	test_data_destroy(&data);
}

int
main(int argc, char **argv)
{
	if (getenv("HG_FUZZ_SECONDS") != NULL)
		fuzz_ms = 1000 * strtod(getenv("HG_FUZZ_SECONDS"), NULL);
	if (getenv("HG_FUZZ_SEED") != NULL)
		fuzz_seed = strtoull(getenv("HG_FUZZ_SEED"), NULL, 10);
	/* the process may have been lied to in the middle of a message to it */
	signal(SIGPIPE, SIG_IGN);
	test_choose_device(argc, argv);
	hg_lies_seed(fuzz_seed);
	test_session_numbers();
	test_lying_process("seen", true);
	test_lying_process("any", false);
	test_lying_process("memory", false);
	test_lying_client("any");
	test_lying_client("memory");
	return hg_tap_done();
}
