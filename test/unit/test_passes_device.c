/*-------------------------------------------------------------------------
 *
 * test_passes_device.c
 *	  Ranges of a job that does not fit a device process: two at a time there.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this program.
 * test_passes.c tests what does not need a process beside this one.
 *
 * With the path of a device process as its argument it runs the tests that do not need a
 * misbehaving one with that.  With HG_SUITE=large it also joins 100 million rows by 100 million in
 * 64 MB of device memory: that takes 2 GB of the host's, and some seconds on a GPU.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* usleep */

#include "../../src/engine/hg_passes.h"
#include "hg_tap.h"
#include "test_serving.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Slices that a cut job has at least. */
#define LEAST_PASSES 5

static HgEngine *
engine_of(void *client)
{
	return hg_wire_client_engine(client);
}

/* The engine of a client, which removes a file when keys of a second job are appended. */
static HgEngine watched_engine;
static HgJoinCalls watched_join;
static HgEngine *client_engine;
static const char *watched_file;
static int jobs_opened;

static HgStatus
watched_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
			 HgError *error)
{
	(void) engine;
	jobs_opened++;
	return client_engine->open(client_engine, host, spec, job, error);
}

static HgStatus
watched_append(HgJob *job, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	if (jobs_opened > 1)
		unlink(watched_file);
	return client_engine->join->append(job, side, keys, count, error);
}

static HgEngine *
watched_engine_of(void *client)
{
	client_engine = hg_wire_client_engine(client);
	watched_engine = *client_engine;
	watched_engine.open = watched_open;
	watched_join = *client_engine->join;
	watched_join.append = watched_append;
	watched_engine.join = &watched_join;
	return &watched_engine;
}

/*
 * Any kind of keys and of call gives what it must.  An engine of a GPU needs scale times as much as
 * the stand-in's for what can't be cut: inner rows of one key.
 */
static void
test_results(uint64_t scale)
{
	static const struct
	{
		TestKeys kind;
		uint64_t rows[2];
		uint64_t limit;
	} cases[] = {
		/* ranges, parts of a range, and keys that fit alone, or not at once */
		{TEST_KEYS_UNIQUE, {300000, 200000}, 1100000},
		{TEST_KEYS_DUPLICATES, {60000, 60000}, 1100000},
		{TEST_KEYS_DUPLICATES, {60000, 60000}, 400000},
		{TEST_KEYS_SKEWED, {50000, 50}, 1100000},
		{TEST_KEYS_EQUAL, {5, 30000}, 1100000},
		{TEST_KEYS_EQUAL, {50000, 5}, 1100000},
	};
	TestServer server;
	HgWireClient *client;
	HgPasses passes;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	hg_passes_init(&passes, "ranges", engine_of, client);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint32_t width = 4; width <= 8; width += 4)
		{
			TestData data;
			TestRun run = {.engine = &passes.engine,
						   .host = test_host_plain(),
						   .data = &data,
						   .spec = test_plain_spec,
						   .piece = 7777,
						   .capacity = 4096};

			test_data_create(&data, cases[i].kind, width, cases[i].rows[0], cases[i].rows[1]);
			run.spec.key_width = width;
			run.spec.memory_limit = cases[i].limit * scale;
			hg_tap_ok(test_run(&run),
					  "ranges of a process: %" PRIu64 " x %" PRIu64 " rows, keys %s of %u bytes",
					  data.rows[0], data.rows[1], test_keys_name(cases[i].kind), width);
			test_data_destroy(&data);
		}
	hg_tap_ok(test_counts_become(&server, 1, 0, 0) && test_status_of(&server).staging_leased == 0,
			  "ranges of a process: no job and no lease is left");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Run a job of slices to its end; returns what came of it. */
static HgStatus
run_passes(HgEngine *engine, const HgHost *host, const TestData *data, bool stream,
		   HgJobStats *stats, uint64_t *matches)
{
	/* the stand-in asks for 32 bytes a row */
	TestRun run = {.engine = engine, .host = host, .data = data, .spec = test_plain_spec};
	uint32_t outer[4096];
	uint32_t inner[4096];
	HgMatches chunk = {.outer = outer, .inner = inner, .capacity = 4096};
	HgError error;
	HgStatus status;
	HgJob *job;

	run.spec.memory_limit = (data->rows[HG_OUTER] + data->rows[HG_INNER]) * 32 / 4;
	run.spec.sides[HG_OUTER].expected_rows = data->rows[HG_OUTER];
	run.spec.sides[HG_INNER].expected_rows = data->rows[HG_INNER];
	*matches = 0;
	status = test_run_build(&run, &job, &error);
	if (status == HG_OK && stream)
	{
		status = engine->join->match(job, HG_MATCH_ALL, &error);
		do
		{
			chunk.count = 0;
			if (status == HG_OK)
				status = engine->join->next(job, &chunk, &error);
			*matches += chunk.count;
		} while (status == HG_OK && chunk.count > 0);
	}
	else if (status == HG_OK)
		status = engine->join->count(job, HG_MATCH_ALL, matches, &error);
	if (job != NULL)
	{
		engine->join->stats(job, stats);
		engine->join->close(job);
	}
	return status;
}

/*
 * The device builds a slice while the next one is made and sent: the first is not built before keys
 * of the second have come.
 */
static void
test_overlap(void)
{
	TestData data;

	/* all of it in one load */
	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 65536, 65536);
	for (int stream = 0; stream <= 1; stream++)
	{
		TestServer server;
		HgWireClient *client;
		HgPasses passes;
		HgJobStats stats = {0};
		uint64_t matches;

		watched_file = test_new_file();
		jobs_opened = 0;
		test_start_server_env(&server, "HG_STANDIN_BUILD_WHILE", watched_file);
		client = test_start_client(&server);
		hg_passes_init(&passes, "ranges", watched_engine_of, client);
		hg_tap_ok(run_passes(&passes.engine, test_host_plain(), &data, stream == 1, &stats,
							 &matches) == HG_OK &&
					  matches == data.pairs && stats.passes >= LEAST_PASSES,
				  "ranges of a process: %s, the device works while the next is sent",
				  stream ? "matches" : "a count");
		unlink(watched_file);
		hg_wire_client_destroy(client);
		hg_tap_ok(test_stop_server(&server), "the process ends after that");
	}
	test_data_destroy(&data);
}

/* Matches are counted once, in either mode, and so the figures say. */
static void
test_counts(void)
{
	TestServer server;
	HgWireClient *client;
	HgPasses passes;
	TestData data;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	hg_passes_init(&passes, "ranges", engine_of, client);
	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 80000, 80000);
	for (int mode = HG_MATCH_ALL; mode <= HG_MATCH_FIRST; mode++)
	{
		TestRun run = {.engine = &passes.engine,
					   .host = test_host_plain(),
					   .data = &data,
					   .spec = test_plain_spec};
		HgJobStats stats = {0};
		uint64_t matches = 0;
		HgError error;
		HgStatus status;

		/* the stand-in asks for 32 bytes a row */
		run.spec.memory_limit = 160000 * 32 / 4;
		run.spec.sides[HG_OUTER].expected_rows = data.rows[HG_OUTER];
		run.spec.sides[HG_INNER].expected_rows = data.rows[HG_INNER];
		status = test_run_count(&run, (HgMatchMode) mode, &matches, &stats, &error);
		hg_tap_ok(status == HG_OK && stats.passes > 1 && stats.matches == matches &&
					  matches == (mode == HG_MATCH_ALL ? data.pairs : data.first),
				  "ranges of a process: %s are counted once",
				  mode == HG_MATCH_ALL ? "all matches" : "first matches");
	}
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
	test_data_destroy(&data);
}

/* A cancel is seen behind the requests that were sent ahead, and so is the client's end. */
static void
test_cancel(void)
{
	TestServer server;
	HgWireClient *client;
	HgPasses passes;
	TestData data;
	HgJobStats stats;
	uint64_t matches;
	TestTimeoutHost impatient;
	double started;

	test_start_server_env(&server, "HG_STANDIN_BUILD_MS", "60000");
	client = test_start_client(&server);
	hg_passes_init(&passes, "ranges", engine_of, client);
	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 200000, 200000);
	started = test_now_ms();
	test_timeout_init(&impatient, 300);
	hg_tap_ok(run_passes(&passes.engine, &impatient.host, &data, false, &stats, &matches) ==
				  HG_CANCELLED,
			  "ranges of a process: cancelled while one is built");
	hg_tap_ok(test_counts_become(&server, 1, 0, 0) && test_now_ms() - started < TEST_TIMEOUT_MS,
			  "ranges of a process: the device stops too, and closes both jobs");
	hg_tap_ok(test_status_of(&server).staging_leased == 0,
			  "ranges of a process: staging is given back");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
	test_data_destroy(&data);
}

/* The process dies while it has two jobs. */
static void
test_death(void)
{
	TestServer server;
	HgWireClient *client;
	HgPasses passes;
	TestData data;
	HgJobStats stats;
	uint64_t matches;
	int status;

	test_start_server_env(&server, "HG_STANDIN_BUILD_MS", "300");
	client = test_start_client(&server);
	hg_passes_init(&passes, "ranges", engine_of, client);
	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 200000, 200000);
	if (fork() == 0)
	{
		usleep(500000);
		kill(server.process, SIGKILL);
		_exit(0);
	}
	hg_tap_ok(run_passes(&passes.engine, test_host_plain(), &data, false, &stats, &matches) ==
				  HG_CONNECTION_LOST,
			  "ranges of a process: its death in the midst is a lost connection");
	hg_wire_client_destroy(client);
	hg_wire_client_destroy(server.control);
	hg_tap_ok(test_process_ends(server.process, &status), "the process is gone");
	test_data_destroy(&data);
}

/* Who has a job open may open another ahead, but not past those who wait. */
static void
test_ahead(void)
{
	static const char *const options[] = {"--memory-budget", "32000000", NULL};
	TestServer server;
	TestSpeaker first;
	TestSpeaker second;
	HgWireMessage message;

	test_start_server(&server, options);
	test_start_speaker(&server, &first);
	test_start_speaker(&server, &second);
	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.spec.sides[HG_OUTER].expected_rows = 100000;
	message.request.spec.sides[HG_INNER].expected_rows = 100000;
	message.request.spec.group = 7;
	message.request.spec.ahead = 1;

	test_ask_open(&first, 1, 200000, 7);
	test_is_answered(&first, HG_OK);
	test_ask(&first, HG_WIRE_OPEN, 2, &message);
	hg_tap_ok(test_is_answered(&first, HG_OK), "a job is opened ahead while nobody waits");
	test_send_note(&first, HG_WIRE_CLOSE, 2);
	test_ask_open(&second, 1, 1000000, 8);
	hg_tap_ok(test_counts_become(&server, 2, 1, 1), "somebody waits");
	test_ask(&first, HG_WIRE_OPEN, 3, &message);
	hg_tap_ok(test_is_answered(&first, HG_DEVICE_OUT_OF_MEMORY), "then it is refused");
	test_send_note(&first, HG_WIRE_CLOSE, 1);
	hg_tap_ok(test_is_answered(&second, HG_OK), "and who waited is next");
	test_end_speaker(&first);
	test_end_speaker(&second);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Two numbers without a common divisor other than 1? */
static bool
are_coprime(uint64_t a, uint64_t b)
{
	while (b > 0)
	{
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a == 1;
}

/* A multiple of it takes each value below n once: keys far from any order. */
static uint64_t
step_for(uint64_t n)
{
	uint64_t step = UINT64_C(2654435761);

	while (!are_coprime(step, n))
		step += 2;
	return step;
}

/*
 * A join whose result is known from how its keys are made: an outer row for each key below rows,
 * and two inner rows for each from 3/4 rows to 5/4 rows.
 */
static void
test_large(uint64_t rows, uint64_t limit, uint64_t least_passes)
{
	const uint64_t outer_step = step_for(rows);
	const uint64_t inner_step = step_for(rows / 2);
	uint32_t *outer_keys = test_malloc(rows * sizeof(uint32_t));
	uint32_t *inner_keys = test_malloc(rows * sizeof(uint32_t));
	HgMatches chunk = {.outer = test_malloc(65536 * sizeof(uint32_t)),
					   .inner = test_malloc(65536 * sizeof(uint32_t)),
					   .capacity = 65536};
	HgJobSpec spec = test_plain_spec;
	uint64_t outer_sum = 0;
	uint64_t inner_sum = 0;
	uint64_t matches = 0;
	uint64_t counted = 0;
	HgJobStats stats = {0};
	TestServer server;
	HgWireClient *client;
	HgPasses passes;
	HgError error = {0};
	HgStatus status;
	HgJob *job;
	bool equal = true;
	double started;
	double built;
	double streamed;

	for (uint64_t row = 0; row < rows; row++)
	{
		outer_keys[row] = (uint32_t) (row * outer_step % rows);
		inner_keys[row] = (uint32_t) (row % (rows / 2) * inner_step % (rows / 2) + rows / 4 * 3);
		/* what is delivered is taken off again */
		outer_sum +=
			outer_keys[row] >= rows / 4 * 3 ? 2 * test_pair_checksum((uint32_t) row, 1) : 0;
		inner_sum += inner_keys[row] < rows ? test_pair_checksum((uint32_t) row, 2) : 0;
	}
	test_start_server(&server, NULL);
	client = test_start_client(&server);
	hg_passes_init(&passes, "ranges", engine_of, client);
	spec.memory_limit = limit;
	spec.sides[HG_OUTER].expected_rows = spec.sides[HG_INNER].expected_rows = rows;

	started = test_now_ms();
	status = passes.engine.open(&passes.engine, test_host_plain(), &spec, &job, &error);
	if (status == HG_OK)
		status = passes.engine.join->append(job, HG_OUTER, outer_keys, rows, &error);
	if (status == HG_OK)
		status = passes.engine.join->append(job, HG_INNER, inner_keys, rows, &error);
	if (status == HG_OK)
		status = passes.engine.join->build(job, &error);
	if (status == HG_OK)
		status = passes.engine.join->match(job, HG_MATCH_ALL, &error);
	do
	{
		chunk.count = 0;
		if (status == HG_OK)
			status = passes.engine.join->next(job, &chunk, &error);
		for (size_t i = 0; i < chunk.count; i++)
		{
			equal &= outer_keys[chunk.outer[i]] == inner_keys[chunk.inner[i]];
			outer_sum -= test_pair_checksum(chunk.outer[i], 1);
			inner_sum -= test_pair_checksum(chunk.inner[i], 2);
		}
		matches += chunk.count;
	} while (status == HG_OK && chunk.count > 0);
	streamed = test_now_ms();
	hg_tap_ok(status == HG_OK && equal && matches == rows / 2 && outer_sum == 0 && inner_sum == 0,
			  "%" PRIu64 " x %" PRIu64 " rows in %" PRIu64 " bytes: the right matches", rows, rows,
			  limit);
	if (status == HG_OK)
		status = passes.engine.join->count(job, HG_MATCH_ALL, &counted, &error);
	built = test_now_ms();
	passes.engine.join->stats(job, &stats);
	hg_tap_ok(status == HG_OK && counted == rows / 2 && stats.peak_bytes <= limit &&
				  stats.passes >= least_passes,
			  "the right count, in %" PRIu64 " ranges and %" PRIu64 " bytes", stats.passes,
			  stats.peak_bytes);
	hg_tap_diag("stream %.0f ms, count %.0f ms (%.1f ns a row), cutting %.0f ms of both%s%s",
				streamed - started, built - streamed,
				(built - streamed) * 1e6 / (2.0 * (double) rows), stats.phase_ms[HG_PHASE_TRANSFER],
				status == HG_OK ? "" : ": ", status == HG_OK ? "" : error.message);
	passes.engine.join->close(job);
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
	free(chunk.outer);
	free(chunk.inner);
	free(outer_keys);
	free(inner_keys);
}

int
main(int argc, char **argv)
{
	if (test_choose_device(argc, argv))
	{
		test_overlap();
		test_counts();
		test_cancel();
		test_death();
		test_ahead();
	}
	test_results(argc > 1 ? 4 : 1);
	/* as many ranges as the large one has, more or less */
	test_large(1000000, 1280000, 32);
	if (hg_tap_suite() == HG_SUITE_LARGE)
		test_large(100000000, UINT64_C(64) << 20, 64);
	return hg_tap_done();
}
