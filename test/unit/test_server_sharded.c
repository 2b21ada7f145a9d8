/*-------------------------------------------------------------------------
 *
 * test_server_sharded.c
 *	  Jobs that are sharded over several device processes, and what a shard may be asked.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* getpid, opendir */

#include "../../src/engine/hg_passes.h"
#include "../../src/engine/hg_reduce.h"
#include "../../src/engine/hg_sharded.h"
#include "hg_tap.h"
#include "test_columns.h"
#include "test_serving.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_SERVERS 3

/* Rows that a shard is dealt in turn. */
#define DEAL_ROWS 1000

/* Processes, each with a session. */
typedef struct Several
{
	uint32_t count;
	TestServer servers[MOST_SERVERS];
	HgWireClient *clients[MOST_SERVERS];
	HgSharded sharded;
	HgPasses passes;
} Several;

static HgEngine *
find_engine(void *arg, uint32_t shard)
{
	Several *several = arg;

	return hg_wire_client_engine(several->clients[shard]);
}

static HgEngine *
find_sharded(void *arg)
{
	return &((Several *) arg)->sharded.engine;
}

/* Start them, on devices in turn where HG_DEVICES says how many there are. */
static void
start_several(Several *several, uint32_t count, const char *const *options)
{
	const char *devices = getenv("HG_DEVICES");

	several->count = count;
	for (uint32_t i = 0; i < count; i++)
	{
		char device[16];
		const char *const one[] = {"--device", device, NULL};

		snprintf(device, sizeof(device), "%d", devices != NULL ? (int) i % atoi(devices) : 0);
		test_start_server(&several->servers[i], devices != NULL && options == NULL ? one : options);
		several->clients[i] = test_start_client(&several->servers[i]);
	}
	hg_sharded_init(&several->sharded, "wide", count, DEAL_ROWS, find_engine, several);
	hg_passes_init(&several->passes, "ranges of wide", find_sharded, several);
}

/* Has none of them a job left? */
static bool
are_idle(Several *several)
{
	bool good = true;

	for (uint32_t i = 0; i < several->count; i++)
		good = test_counts_become(&several->servers[i], 1, 0, 0) && good;
	return good;
}

static void
stop_several(Several *several)
{
	bool good = true;

	for (uint32_t i = 0; i < several->count; i++)
	{
		hg_wire_client_destroy(several->clients[i]);
		good = test_stop_server(&several->servers[i]) && good;
	}
	hg_tap_ok(good, "... and all of %u processes end", several->count);
}

/* ------------------------------------------------------------------------
 * Joins
 * ------------------------------------------------------------------------ */

/* Any kind of keys and of call gives what it must. */
static void
test_results(uint32_t count)
{
	static const TestKeys kinds[] = {TEST_KEYS_UNIQUE, TEST_KEYS_DUPLICATES, TEST_KEYS_SKEWED,
									 TEST_KEYS_EQUAL};
	Several several;

	start_several(&several, count, NULL);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (uint32_t width = 4; width <= 8; width += 4)
		{
			TestData data;
			TestRun run = {.engine = &several.sharded.engine,
						   .host = test_host_plain(),
						   .data = &data,
						   .spec = test_plain_spec,
						   .piece = 7777,
						   .capacity = 5000};

			test_data_create(&data, kinds[i], width, 20000, 300);
			run.spec.key_width = width;
			hg_tap_ok(test_run(&run), "keys %s of %u bytes over %u processes",
					  test_keys_name(kinds[i]), width, count);
			test_data_destroy(&data);
		}
	hg_engine_reduce_suite(&several.sharded.engine, test_host_plain());
	hg_tap_ok(are_idle(&several), "no member is left open");
	stop_several(&several);
}

/* A job is counted over devices of this much memory; how many ranges does that take? */
static HgStatus
count_in(const TestData *data, uint32_t count, const char *budget, uint64_t *passes)
{
	const char *const options[] = {"--memory-budget", budget, NULL};
	Several several;
	TestRun run = {.engine = &several.passes.engine,
				   .host = test_host_plain(),
				   .data = data,
				   .spec = test_plain_spec};
	HgJobStats stats = {0};
	uint64_t counted;
	HgError error;
	HgStatus status;

	start_several(&several, count, options);
	run.spec.key_width = data->key_width;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		run.spec.sides[side].expected_rows = data->rows[side];
	status = test_run_count(&run, HG_MATCH_ALL, &counted, &stats, &error);
	if (status == HG_OK && counted != data->pairs)
		status = HG_INVALID;
	*passes = stats.passes;
	stop_several(&several);
	return status;
}

/* What is too large for one device is whole on several, and cut where it is too large for these. */
static void
test_memory(void)
{
	TestData data;
	uint64_t passes[3] = {0};
	HgStatus status;

	test_data_create(&data, TEST_KEYS_DUPLICATES, 8, 100000, 100000);
	status = count_in(&data, 1, "5000000", &passes[0]);
	if (status == HG_OK)
		status = count_in(&data, 3, "5000000", &passes[1]);
	if (status == HG_OK)
		status = count_in(&data, 3, "1000000", &passes[2]);
	hg_tap_ok(status == HG_OK && passes[0] > 1 && passes[1] == 3 && passes[2] > 6 &&
				  passes[2] % 3 == 0,
			  "one device has %" PRIu64 " ranges for it, three have %" PRIu64
			  ", three smaller ones %" PRIu64,
			  passes[0], passes[1], passes[2]);
	test_data_destroy(&data);
}

/* Have groups made of a built job, and count the pairs that they are made of. */
static HgStatus
count_in_groups(HgEngine *engine, HgJob *job, const HgReduceSpec *spec, uint64_t *pairs,
				HgError *error)
{
	uint64_t words[3 * 100];
	HgGroupRecords records = {.words = words, .capacity = 100};
	uint64_t groups;
	HgStatus status = engine->columns->reduce(job, HG_MATCH_ALL, spec, &groups, error);

	*pairs = 0;
	while (status == HG_OK)
	{
		status = engine->columns->next_groups(job, &records, error);
		if (status != HG_OK || records.count == 0)
			break;
		for (size_t i = 0; i < records.count; i++)
			*pairs += words[i * 3 + 2];
	}
	return status;
}

/*
 * All shards make their groups at the same time, whether they were told before build or when they
 * are asked for them; so they do when they have made other groups before.  The stand-in has none of
 * them go on before all are at it.
 */
static void
test_groups_together(void)
{
	const HgReduceSpec spec = {.nkeys = 1, .max_groups = 1000};
	const HgReduceSpec few = {.nkeys = 1, .max_groups = 1};
	TestCase c = {.kind = TEST_KEYS_DUPLICATES,
				  .key_width = 4,
				  .rows = {3000, 3000},
				  .spread = {.values = 20, .nulls = 10}};
	Several several;
	HgEngine *engine = &several.sharded.engine;
	HgError error = {0};
	uint64_t pairs = 0;
	uint64_t groups = 0;
	const char *file = test_new_file();
	char meeting[2048];
	bool good = true;
	HgJob *job;

	snprintf(meeting, sizeof(meeting), "%d %s", MOST_SERVERS, file);
	setenv("HG_STANDIN_MEET", meeting, 1);
	start_several(&several, MOST_SERVERS, NULL);
	unsetenv("HG_STANDIN_MEET");
	test_case_create(&c, 1);
	good = test_case_build(&c, engine, test_host_plain(), &job, &error) == HG_OK;
	for (int time = 0; time < 2 && good; time++)
	{
		good =
			count_in_groups(engine, job, &spec, &pairs, &error) == HG_OK && pairs == c.data.pairs;
		/* too many are told by all of them, and leave the job as it was */
		good = good && engine->columns->reduce(job, HG_MATCH_ALL, &few, &groups, &error) == HG_OK &&
			   groups == HG_TOO_MANY_GROUPS;
	}
	hg_tap_ok(good, "groups: %u processes make them together", MOST_SERVERS);
	engine->join->close(job);

	good = engine->open(engine, test_host_plain(), &c.spec, &job, &error) == HG_OK;
	for (int side = HG_OUTER; side <= HG_INNER && good; side++)
		good = test_case_append_keys(&c, engine, job, (HgSide) side, &error) == HG_OK &&
			   test_case_append_column(&c, engine, job, (HgSide) side, 0, &error) == HG_OK;
	good = good &&
		   engine->ahead->start(job, HG_AHEAD_REDUCE, HG_MATCH_ALL, &spec, &error) == HG_OK &&
		   engine->join->build(job, &error) == HG_OK &&
		   count_in_groups(engine, job, &spec, &pairs, &error) == HG_OK && pairs == c.data.pairs;
	hg_tap_ok(good, "groups: ... and so where they begin before the job is built");
	good = engine->ahead->start(job, HG_AHEAD_REDUCE, HG_MATCH_ALL, &(HgReduceSpec){.nkeys = 9},
								&error) == HG_INVALID;
	hg_tap_ok(good && count_in_groups(engine, job, &spec, &pairs, &error) == HG_OK &&
				  pairs == c.data.pairs,
			  "groups: what can't be made is not begun");
	engine->join->close(job);
	test_case_destroy(&c);
	hg_tap_ok(are_idle(&several), "groups: nothing is left of it");
	unlink(file);
	stop_several(&several);
}

/* One of the processes dies before the job is built, or while matches are fetched. */
static void
test_death(bool built)
{
	Several several;
	TestData data;
	TestRun run = {.host = test_host_plain(), .data = &data, .spec = test_plain_spec};
	uint32_t rows[2][100];
	HgMatches matches = {.outer = rows[0], .inner = rows[1], .capacity = 100};
	HgError error = {0};
	HgStatus status;
	HgJob *job;

	start_several(&several, 3, NULL);
	run.engine = &several.sharded.engine;
	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 5000, 5000);
	status = test_run_append(&run, &job, &error);
	if (status == HG_OK && built)
		status = run.engine->join->build(job, &error);
	if (status == HG_OK && built)
		status = run.engine->join->match(job, HG_MATCH_ALL, &error);
	kill(several.servers[1].process, SIGKILL);
	if (status == HG_OK && !built)
		status = run.engine->join->build(job, &error);
	while (status == HG_OK)
	{
		status = run.engine->join->next(job, &matches, &error);
		if (matches.count == 0)
			break;
	}
	run.engine->join->close(job);
	hg_tap_ok(status == HG_CONNECTION_LOST && test_counts_become(&several.servers[0], 1, 0, 0) &&
				  test_counts_become(&several.servers[2], 1, 0, 0),
			  "a process that dies %s is a lost connection, and the others have no member left",
			  built ? "as matches are fetched" : "before the rows are exchanged");
	for (uint32_t i = 0; i < 3; i++)
	{
		hg_wire_client_destroy(several.clients[i]);
		hg_wire_client_destroy(several.servers[i].control);
		test_process_ends(several.servers[i].process, &(int){0});
	}
	test_data_destroy(&data);
}

/* A session gives up time and again while a process does not run for a moment. */
static void
test_cancel_at_rest(void)
{
	Several several;
	TestData data;
	TestRun run = {.data = &data, .spec = test_plain_spec};
	uint64_t counted = 0;
	HgError error = {0};
	HgStatus status = HG_CANCELLED;
	pid_t waker;
	int ended;

	start_several(&several, 2, NULL);
	run.engine = &several.sharded.engine;
	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 3000, 3000);
	kill(several.servers[0].process, SIGSTOP);
	waker = fork();
	if (waker == 0)
	{
		usleep(100000);
		_exit(kill(several.servers[0].process, SIGCONT) != 0);
	}
	for (int i = 0; i < 20 && status == HG_CANCELLED; i++)
	{
		TestTimeoutHost impatient;

		test_timeout_init(&impatient, 1);
		run.host = &impatient.host;
		status = test_run_count(&run, HG_MATCH_ALL, &counted, NULL, &error);
	}
	if (!hg_tap_ok(status == HG_CANCELLED || status == HG_OK,
				   "a process that rests for a moment is not lost"))
		hg_tap_diag("status %d: %s", (int) status, error.detail);
	run.host = test_host_plain();
	status = test_run_count(&run, HG_MATCH_ALL, &counted, NULL, &error);
	hg_tap_ok(status == HG_OK && counted == data.pairs && waitpid(waker, &ended, 0) == waker &&
				  ended == 0 && are_idle(&several),
			  "... and does the next job");
	test_data_destroy(&data);
	stop_several(&several);
}

/* A shard's client stops waiting at any moment. */
static void
test_cancel(void)
{
	Several several;
	TestData data;
	TestRun run = {.data = &data, .spec = test_plain_spec};
	bool good = true;
	int cancels = 0;

	start_several(&several, 2, NULL);
	run.engine = &several.sharded.engine;
	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 30000, 30000);
	for (double wait = 0.2; wait < 40; wait *= 1.5)
	{
		TestTimeoutHost impatient;
		uint64_t counted;
		HgError error;
		HgStatus status;

		test_timeout_init(&impatient, wait);
		run.host = &impatient.host;
		status = test_run_count(&run, HG_MATCH_ALL, &counted, NULL, &error);
		if (status != HG_CANCELLED && (status != HG_OK || counted != data.pairs))
		{
			hg_tap_diag("%.1f ms: status %d: %s", wait, (int) status,
						status != HG_OK ? error.message : "a wrong count");
			good = false;
		}
		cancels += status == HG_CANCELLED;
	}
	hg_tap_ok(good && cancels > 0 && are_idle(&several), "a wide job can be cancelled, %d times",
			  cancels);
	test_data_destroy(&data);
	stop_several(&several);
}

/* ------------------------------------------------------------------------
 * Rows that processes send each other
 * ------------------------------------------------------------------------ */

/* The descriptors that a process has. */
static int
count_descriptors(pid_t process)
{
	char path[64];
	int count = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int) process);
	directory = opendir(path);
	while (directory != NULL && readdir(directory) != NULL)
		count++;
	if (directory != NULL)
		closedir(directory);
	return count;
}

/* Has it so many in the end?  It closes some when it has answered. */
static bool
descriptors_become(pid_t process, int count)
{
	const double deadline = hg_clock_ms() + TEST_TIMEOUT_MS;

	while (count_descriptors(process) != count && hg_clock_ms() < deadline)
		usleep(1000);
	return count_descriptors(process) == count;
}

/* Start processes that are told how to send. */
static void
start_sending(Several *several, uint32_t count, const char *name, const char *value)
{
	if (value != NULL)
		setenv(name, value, 1);
	start_several(several, count, NULL);
	unsetenv(name);
}

/* Stop those that are left, one of which may be dead. */
static void
end_several(Several *several)
{
	for (uint32_t i = 0; i < several->count; i++)
	{
		hg_wire_client_destroy(several->clients[i]);
		hg_wire_client_destroy(several->servers[i].control);
		test_process_ends(several->servers[i].process, &(int){0});
	}
}

/* All rows go from process to process; on a device where it reaches others' memory. */
static void
test_sent(uint32_t count, bool is_standin)
{
	Several several;
	TestData data;
	TestRun run = {.host = test_host_plain(), .data = &data, .spec = test_plain_spec};
	HgJobStats stats = {0};
	uint64_t counted = 0;
	HgError error;
	bool good = true;
	int before[2] = {0};

	start_several(&several, count, NULL);
	run.engine = &several.sharded.engine;
	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 300000, 200000);
	for (int time = 0; time < 3; time++)
	{
		good = good && test_run_count(&run, HG_MATCH_ALL, &counted, &stats, &error) == HG_OK &&
			   counted == data.pairs;
		good = are_idle(&several) && good;
		if (time == 0)
		{
			before[0] = count_descriptors(getpid());
			before[1] = count_descriptors(several.servers[0].process);
		}
	}
	hg_tap_ok(good && stats.exchanged > 100000 &&
				  (stats.sent == stats.exchanged || (!is_standin && stats.sent == 0)),
			  "of %" PRIu64 " rows %u processes send %" PRIu64 " to each other", stats.exchanged,
			  count, stats.sent);
	hg_tap_ok(count_descriptors(getpid()) == before[0] &&
				  descriptors_become(several.servers[0].process, before[1]),
			  "... and no descriptor is left of that, here or there");
	test_data_destroy(&data);
	stop_several(&several);
}

/* Where a process does wrong as it sends; rows that it can't send go another way. */
static void
test_sends(const char *how, HgStatus expected)
{
	Several several;
	TestData data;
	TestRun run = {.host = test_host_plain(), .data = &data, .spec = test_plain_spec};
	HgJobStats stats = {0};
	uint64_t counted = 0;
	HgError error;
	HgStatus status;

	start_sending(&several, 3, "HG_STANDIN_SENDS", how);
	run.engine = &several.sharded.engine;
	run.spec.key_width = 8;
	test_data_create(&data, TEST_KEYS_UNIQUE, 8, 20000, 20000);
	status = test_run_count(&run, HG_MATCH_ALL, &counted, &stats, &error);
	hg_tap_ok(status == expected && (status != HG_OK || (counted == data.pairs && stats.sent == 0)),
			  "of processes that send \"%s\" the job %s", how,
			  expected == HG_OK ? "is right" : "fails");
	test_data_destroy(&data);
	if (expected == HG_OK)
		stop_several(&several);
	else
		end_several(&several);
}

/* One that rows are sent to, and that sends some, dies meanwhile; or it is cancelled. */
static void
test_while_sending(bool dies)
{
	Several several;
	TestData data;
	TestTimeoutHost impatient;
	TestRun run = {.host = &impatient.host, .data = &data, .spec = test_plain_spec};
	uint64_t counted = 0;
	HgError error;
	HgStatus status;
	double began;
	bool good;

	start_sending(&several, 3, "HG_STANDIN_SEND_MS", "1000");
	run.engine = &several.sharded.engine;
	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 5000, 5000);
	test_timeout_init(&impatient, 300);
	impatient.victim = dies ? several.servers[1].process : 0;
	began = hg_clock_ms();
	status = test_run_count(&run, HG_MATCH_ALL, &counted, NULL, &error);
	good = status == (dies ? HG_CONNECTION_LOST : HG_CANCELLED) &&
		   hg_clock_ms() - began < TEST_TIMEOUT_MS &&
		   test_counts_become(&several.servers[0], 1, 0, 0) &&
		   test_counts_become(&several.servers[2], 1, 0, 0);
	hg_tap_ok(good, "a process that %s while rows are sent: nothing is left of the job",
			  dies ? "dies" : "is to stop");
	test_data_destroy(&data);
	end_several(&several);
}

/* ------------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------------ */

#define HAND_ROWS 8

/* Open a shard, whose inner side has a column of one byte. */
static void
ask_shard(TestSpeaker *speaker, uint32_t shards)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	if (shards > 0)
		message.request.spec.product = (HgJobProduct){HG_PRODUCT_SHARD, .shards = shards};
	message.request.spec.sides[HG_INNER].ncolumns = 1;
	message.request.spec.sides[HG_INNER].column_width[0] = 1;
	message.request.spec.sides[HG_OUTER].expected_rows = HAND_ROWS;
	test_ask(speaker, HG_WIRE_OPEN, 1, &message);
}

/* Requests that a shard can't be asked end the connection. */
static void
test_nonsense(void)
{
	static const struct
	{
		const char *what;
		HgWireType type;
		uint32_t shards;
		uint32_t side;
		uint32_t columns;
		uint64_t count;
		bool beyond; /* the lease */
	} cases[] = {
		{"a tally of a job that is no member", HG_WIRE_TALLY, 0, HG_OUTER, 0, HG_EXCHANGE_PARTS,
		 false},
		{"rows for a job that is no member", HG_WIRE_PUT_ROWS, 0, HG_OUTER, 0, 0, false},
		{"a tally of no side", HG_WIRE_TALLY, 2, 2, 0, HG_EXCHANGE_PARTS, false},
		{"a tally of too many parts", HG_WIRE_TALLY, 2, HG_OUTER, 0, HG_EXCHANGE_PARTS + 1, false},
		{"what no side expects", HG_WIRE_EXPECT, 2, 7, 0, 0, false},
		{"no rows at all", HG_WIRE_TAKE_ROWS, 2, HG_OUTER, 0, 0, false},
		{"rows of no side", HG_WIRE_TAKE_ROWS, 2, UINT32_MAX, 0, 1, false},
		{"columns of another side", HG_WIRE_PUT_ROWS, 2, HG_OUTER, HG_WIRE_COLUMN(HG_INNER, 0), 1,
		 false},
		{"a column that is not there", HG_WIRE_PUT_ROWS, 2, HG_INNER, HG_WIRE_COLUMN(HG_INNER, 1),
		 1, false},
		{"more rows than a lease holds", HG_WIRE_PUT_ROWS, 2, HG_OUTER, 0, 1 << 28, false},
		{"more rows than there are numbers", HG_WIRE_PUT_ROWS, 2, HG_OUTER, 0, UINT64_MAX - 3,
		 false},
		{"rows beyond a lease", HG_WIRE_PUT_ROWS, 2, HG_OUTER, 0, 1, true},
		{"the arrival of no side", HG_WIRE_ARRIVED, 2, 2, 0, 0, false},
		{"an offer of a job that is no member", HG_WIRE_PEER_WINDOW, 0, HG_OUTER, 0, 0, false},
		{"an offer of no side", HG_WIRE_PEER_WINDOW, 2, 2, 0, 0, false},
		{"the sending of no side", HG_WIRE_SEND_ROWS, 2, 7, 0, 0, false},
	};
	TestServer server;

	test_start_server(&server, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		TestSpeaker speaker;
		HgWireMessage message;
		bool good;

		test_start_speaker(&server, &speaker);
		ask_shard(&speaker, cases[i].shards);
		good = test_is_answered(&speaker, HG_OK);
		memset(&message, 0, sizeof(message));
		message.request.side = cases[i].side;
		message.request.columns = cases[i].columns;
		message.request.count = cases[i].count;
		message.request.offset = speaker.answer.reply.lease_offset +
								 (cases[i].beyond ? speaker.answer.reply.lease_bytes : 0);
		test_ask(&speaker, cases[i].type, 1, &message);
		hg_tap_ok(good && test_is_cut_off(&speaker), "who asks for %s is cut off", cases[i].what);
		test_end_speaker(&speaker);
	}
	test_stop_server(&server);
}

/* Send a request with a descriptor, which is closed then. */
static void
ask_with(TestSpeaker *speaker, HgWireType type, HgWireMessage *message, int attached)
{
	hg_wire_header(&message->header, type, 1, ++speaker->sequence);
	hg_wire_send(speaker->fd, message, attached);
	if (attached >= 0)
		close(attached);
}

/* Send nothing but a descriptor, which is closed then: to the other end that is the end. */
static void
send_descriptor(TestSpeaker *speaker, int attached)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	hg_wire_send(speaker->fd, &message, attached);
	close(attached);
}

/* A request to send rows that has no descriptor, or another one, is refused, and no other has one.
 */
static void
test_attached(void)
{
	TestServer server;
	TestSpeaker speaker;
	HgWireMessage message;
	bool good;
	int before;

	test_start_server(&server, NULL);
	before = count_descriptors(server.process);
	test_start_speaker(&server, &speaker);
	send_descriptor(&speaker, open("/dev/null", O_RDWR));
	good = test_is_cut_off(&speaker);
	test_end_speaker(&speaker);
	hg_tap_ok(good && descriptors_become(server.process, before),
			  "a descriptor with no message is closed, as the connection is");
	test_start_speaker(&server, &speaker);
	ask_shard(&speaker, 2);
	good = test_is_answered(&speaker, HG_OK);
	memset(&message, 0, sizeof(message));
	message.request.side = HG_OUTER;
	message.request.shard = 1;
	message.request.exchange.shards = 2;
	message.request.exchange.numbers = HAND_ROWS;
	message.request.exchange.ends[0] = 100;
	message.request.exchange.ends[1] = HG_EXCHANGE_PARTS;
	test_ask(&speaker, HG_WIRE_EXPECT, 1, &message);
	good = good && test_is_answered(&speaker, HG_OK);
	before = count_descriptors(server.process);
	message.request.window.bytes = HG_PEER_WINDOW_ROWS;
	/* a number in the message is nobody's descriptor */
	message.request.window.memory = 3;
	test_ask(&speaker, HG_WIRE_SEND_ROWS, 1, &message);
	good = good && test_is_answered(&speaker, HG_INVALID);
	for (int i = 0; i < 20; i++)
	{
		ask_with(&speaker, HG_WIRE_SEND_ROWS, &message, open("/dev/null", O_RDWR));
		good = good && test_is_answered(&speaker, HG_INVALID);
	}
	hg_tap_ok(good && descriptors_become(server.process, before),
			  "rows are sent to no memory that was not offered");
	ask_with(&speaker, HG_WIRE_PEER_WINDOW, &message, open("/dev/null", O_RDWR));
	hg_tap_ok(test_is_cut_off(&speaker),
			  "... and who attaches something to another request is cut off");
	test_end_speaker(&speaker);
	test_stop_server(&server);
}

/* Rows that come in greater numbers than were expected have memory reserved, or are refused. */
static void
test_reserved(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	const uint64_t before = HAND_ROWS * (32 + 24);
	TestServer server;
	TestSpeaker speaker;
	HgWireMessage message;
	HgDeviceStatus status;
	bool good;

	test_start_server(&server, options);
	test_start_speaker(&server, &speaker);
	ask_shard(&speaker, 2);
	good = test_is_answered(&speaker, HG_OK);
	status = test_status_of(&server);
	hg_tap_ok(good && status.memory_reserved == before,
			  "a member is admitted with its share and the exchange: %" PRIu64 " bytes",
			  status.memory_reserved);

	memset(&message, 0, sizeof(message));
	message.request.side = HG_OUTER;
	message.request.exchange.shards = 3;
	message.request.exchange.numbers = 10 * HAND_ROWS;
	message.request.exchange.ends[0] = 100;
	message.request.exchange.ends[1] = HG_EXCHANGE_PARTS;
	message.request.exchange.rows[1] = 10 * HAND_ROWS;
	test_ask(&speaker, HG_WIRE_EXPECT, 1, &message);
	good = test_is_answered(&speaker, HG_INVALID);
	message.request.exchange.shards = 2;
	test_ask(&speaker, HG_WIRE_EXPECT, 1, &message);
	good = good && test_is_answered(&speaker, HG_OK);
	status = test_status_of(&server);
	hg_tap_ok(good && status.memory_reserved == 10 * before,
			  "... and what comes has memory reserved: %" PRIu64 " bytes", status.memory_reserved);

	message.request.side = HG_INNER;
	message.request.exchange.numbers = message.request.exchange.rows[1] = FULL_ROWS;
	test_ask(&speaker, HG_WIRE_EXPECT, 1, &message);
	hg_tap_ok(test_is_answered(&speaker, HG_DEVICE_OUT_OF_MEMORY),
			  "... or is refused where there is none");
	test_end_speaker(&speaker);
	test_stop_server(&server);
}

/* A shard whose client has to do with others is not evicted as soon as other jobs are. */
static void
test_idle(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	static const HgWireType steps[] = {HG_WIRE_EXPECT, HG_WIRE_ARRIVED};
	TestServer server;
	TestSpeaker speaker;
	TestSpeaker other;
	HgWireMessage message;
	bool good;

	setenv("HG_STANDIN_EVICT_MS", "100", 1);
	test_start_server(&server, options);
	unsetenv("HG_STANDIN_EVICT_MS");
	test_start_speaker(&server, &speaker);
	test_start_speaker(&server, &other);
	ask_shard(&speaker, 2);
	good = test_is_answered(&speaker, HG_OK);
	for (uint32_t side = HG_OUTER; side <= HG_INNER; side++)
		for (int step = 0; step < 2; step++)
		{
			memset(&message, 0, sizeof(message));
			message.request.side = side;
			message.request.exchange.shards = 2;
			message.request.exchange.ends[1] = HG_EXCHANGE_PARTS;
			test_ask(&speaker, steps[step], 1, &message);
			good = good && test_is_answered(&speaker, HG_OK);
		}
	test_ask_plainly(&speaker, HG_WIRE_BUILD, 1);
	good = good && test_is_answered(&speaker, HG_OK);
	test_ask_open(&other, 1, FULL_ROWS, 0);
	good = good && test_counts_become(&server, 2, 1, 1);
	for (int i = 0; i < 3; i++)
		good = good && test_is_waiting(&other);
	hg_tap_ok(good, "a member is idle for longer than other jobs may be");
	good = test_is_answered(&other, HG_OK);
	memset(&message, 0, sizeof(message));
	message.request.mode = HG_MATCH_ALL;
	test_ask(&speaker, HG_WIRE_COUNT, 1, &message);
	hg_tap_ok(good && test_is_answered(&speaker, HG_EVICTED), "... and is evicted in the end");
	test_end_speaker(&other);
	test_end_speaker(&speaker);
	test_stop_server(&server);
}

int
main(int argc, char **argv)
{
	const bool is_standin = test_choose_device(argc, argv);

	for (uint32_t count = 1; count <= MOST_SERVERS; count++)
		test_results(count);
	for (uint32_t count = 2; count <= MOST_SERVERS; count++)
		test_sent(count, is_standin);
	test_cancel_at_rest();
	test_cancel();
	test_death(false);
	test_death(true);
	if (is_standin)
	{
		test_memory();
		test_groups_together();
		test_nonsense();
		test_attached();
		test_sends("not", HG_OK);
		test_sends("fails", HG_OK);
		test_sends("dies", HG_CONNECTION_LOST);
		test_sends("alters", HG_CONNECTION_LOST);
		test_sends("numbers", HG_CONNECTION_LOST);
		test_sends("short", HG_CONNECTION_LOST);
		test_sends("silent", HG_CONNECTION_LOST);
		test_while_sending(false);
		test_while_sending(true);
		test_reserved();
		test_idle();
	}
	return hg_tap_done();
}
