/*-------------------------------------------------------------------------
 *
 * test_server_filter.c
 *	  Filters of rows of a device process's graph replicas: what it is told, and what stays.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this program.  With
 * the path of a device process as its argument it runs all of it with that.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"
#include "test_engine_filters.h"
#include "test_named.h"

#include <string.h>

/* Rows of the graph that is named by hand, and its columns, which are of 4 bytes. */
#define ROWS 2000
#define COLUMNS 2

/* The whole suite, over the wire. */
static void
test_suite(void)
{
	TestServer server;
	HgWireClient *client;
	TestNamed named;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	test_named_init(&named, client);
	hg_engine_filters_suite(&named.engine, test_host_plain());
	hg_tap_ok(hg_wire_client_state(client, NULL) == HG_WIRE_READY &&
				  test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0),
			  "nothing is left of what was filtered");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * One job
 * ------------------------------------------------------------------------ */

/* A job of graph 1 with itself, whose outer side is filtered by its columns. */
typedef struct Asked
{
	HgReplicaUse use;
	HgRowFilters filters;
	HgJobSpec spec;
} Asked;

static void
asked_init(Asked *asked)
{
	memset(asked, 0, sizeof(*asked));
	asked->use = (HgReplicaUse){.name = {TEST_EPOCH, 1, 0, 0}, .shape = {8, 1, ROWS}};
	/* a is not NULL, and not above b */
	asked->filters = (HgRowFilters){.nfilters = 1,
									.ncolumns = COLUMNS,
									.nranges = 1,
									.filters = {{.nsteps = 3}},
									.steps = {{.kind = HG_FILTER_IN, .is_signed = 1, .count = 1},
											  {.kind = HG_FILTER_ORDER,
											   .other = 1,
											   .is_signed = 1,
											   .allowed = HG_FILTER_LESS | HG_FILTER_EQUAL},
											  {.kind = HG_FILTER_AND}},
									.ranges = {{INT64_MIN, INT64_MAX}}};
	for (uint32_t i = 0; i < COLUMNS; i++)
		asked->filters.columns[i] =
			(HgReplicaColumnUse){.name = {TEST_EPOCH, 1, i + 1, 0}, .shape = {4, 1, ROWS, 0}};
	asked->spec = (HgJobSpec){.key_width = 8,
							  .device = -1,
							  .sides[HG_OUTER].kind = HG_SOURCE_REPLICA,
							  .sides[HG_OUTER].replica.use = &asked->use,
							  .sides[HG_INNER].kind = HG_SOURCE_REPLICA,
							  .sides[HG_INNER].replica.use = &asked->use,
							  .sides[HG_OUTER].replica.filters = &asked->filters};
}

/* Open, build and close it. */
static HgStatus
ask(HgWireClient *client, const Asked *asked)
{
	HgEngine *engine = hg_wire_client_engine(client);
	HgError error = {0};
	HgJob *job = NULL;
	HgStatus status = engine->open(engine, test_host_plain(), &asked->spec, &job, &error);

	if (status == HG_OK)
		status = engine->join->build(job, &error);
	if (job != NULL)
		engine->join->close(job);
	return status;
}

/* A client knows what is no filter, and no name; a column without a replica is reported. */
static void
test_client(void)
{
	TestServer server;
	HgWireClient *client;
	Asked asked;
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	asked_init(&asked);
	hg_tap_ok(ask(client, &asked) == HG_NO_REPLICA &&
				  test_named_make_all(client, 1, ROWS, 2, ROWS) == HG_OK &&
				  ask(client, &asked) == HG_OK && test_named_is_at_rest(&server, 3),
			  "rows are filtered by two columns that are kept");
	asked.filters.columns[1].shape.stride = ROWS + 1;
	asked.filters.columns[0].shape.stride = ROWS + 1;
	good = ask(client, &asked) == HG_NO_REPLICA;
	asked_init(&asked);
	asked.filters.columns[1].name.column = 3;
	good = good && ask(client, &asked) == HG_NO_REPLICA;
	hg_tap_ok(good && hg_wire_client_state(client, NULL) == HG_WIRE_READY &&
				  test_named_is_at_rest(&server, 3),
			  "a column that is not kept, or of another shape, is told of");
	asked_init(&asked);
	asked.filters.columns[0].name.column = 0;
	good = ask(client, &asked) == HG_INVALID;
	asked_init(&asked);
	asked.filters.columns[0].name.serial = 0;
	good = good && ask(client, &asked) == HG_INVALID;
	asked_init(&asked);
	asked.filters.filters[0].nsteps = 2;
	good = good && ask(client, &asked) == HG_INVALID;
	asked_init(&asked);
	hg_tap_ok(good && hg_wire_client_state(client, NULL) == HG_WIRE_READY &&
				  ask(client, &asked) == HG_OK,
			  "a client does not ask for what can't be filtered");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Columns that a job filters by stay as long as it is open, also when they are dropped. */
static void
test_pins(void)
{
	TestServer server;
	HgWireClient *client;
	HgError error = {0};
	HgEngine *engine;
	HgJob *job = NULL;
	uint64_t pairs = 0;
	Asked asked;
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	asked_init(&asked);
	good = test_named_make_all(client, 1, ROWS, 2, ROWS) == HG_OK &&
		   engine->open(engine, test_host_plain(), &asked.spec, &job, &error) == HG_OK;
	hg_wire_client_drop(client, &asked.use.name);
	good = good && ask(client, &asked) == HG_NO_REPLICA &&
		   engine->join->build(job, &error) == HG_OK &&
		   engine->join->count(job, HG_MATCH_ALL, &pairs, &error) == HG_OK && pairs > 0;
	if (job != NULL)
		engine->join->close(job);
	hg_tap_ok(good && test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0),
			  "columns of filters stay until their job is closed");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Nonsense
 * ------------------------------------------------------------------------ */

/* A request that opens it, as a client sends it. */
static void
set_opening(HgWireMessage *message, const Asked *asked)
{
	memset(message, 0, sizeof(*message));
	message->request.spec = asked->spec;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgReplicaSource *replica = &message->request.spec.sides[side].replica;

		*replica =
			(HgReplicaSource){.nlookups = replica->nlookups, .nprograms = replica->nprograms};
	}
	message->request.replica[HG_OUTER] = message->request.replica[HG_INNER] = asked->use;
	message->opening.filters[HG_OUTER] = asked->filters;
}

/* Is a connection cut off that opens a job so? */
static bool
is_cut_off_for(TestServer *server, const HgWireMessage *message)
{
	HgWireMessage sent = *message;
	TestSpeaker speaker;
	bool cut_off;

	test_start_speaker(server, &speaker);
	test_ask(&speaker, HG_WIRE_OPEN, 1, &sent);
	cut_off = test_is_cut_off(&speaker);
	test_end_speaker(&speaker);
	return cut_off;
}

/* What can't be is refused by the process too, and pointers of a client's mean nothing there. */
static void
test_refusals(void)
{
	void *const nowhere = (void *) (uintptr_t) 0x5a5a5a5a5a5a5a50;
	TestServer server;
	HgWireClient *client;
	TestSpeaker speaker;
	HgWireMessage message;
	HgRowFilters *filters = &message.opening.filters[HG_OUTER];
	Asked asked;
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	asked_init(&asked);
	good = test_named_make_all(client, 1, ROWS, 2, ROWS) == HG_OK;
	test_start_speaker(&server, &speaker);
	for (uint32_t job = 1; job <= 16; job++)
	{
		set_opening(&message, &asked);
		if (job == 1)
			filters->nfilters = UINT32_MAX;
		if (job == 2)
			filters->filters[0].nsteps = UINT32_MAX;
		if (job == 3)
			filters->filters[0].lookup = UINT32_MAX;
		if (job == 4)
			filters->nranges = UINT32_MAX;
		if (job == 5)
			filters->steps[0].kind = 0xff;
		if (job == 6)
			filters->steps[0].column = 0xff;
		if (job == 7)
			filters->steps[1].other = COLUMNS;
		if (job == 8)
			filters->steps[0].first = filters->steps[0].count = UINT16_MAX;
		if (job == 9)
			filters->ranges[0] = (HgFilterRange){1, 0};
		if (job == 10)
			filters->columns[0].lookup = UINT32_MAX;
		if (job == 11)
			filters->columns[0].shape.stride = ROWS + 1;
		if (job >= 12)
		{
			filters->nnumbers = 1;
			filters->numbers[0].count = 1;
			filters->steps[0].computed = HG_FILTER_COMPUTED;
			filters->number_steps[0] = (HgStep){.kind = HG_STEP_COLUMN, .bits = 64, .is_signed = 1};
		}
		if (job == 12)
			filters->nnumbers = UINT32_MAX;
		if (job == 13)
			filters->numbers[0].first = filters->numbers[0].count = UINT16_MAX;
		if (job == 14)
			filters->steps[0].column = UINT8_MAX;
		if (job == 15)
			filters->number_steps[0].column = UINT8_MAX;
		if (job == 16)
			filters->number_steps[0].kind = UINT8_MAX;
		test_ask(&speaker, HG_WIRE_OPEN, job, &message);
		good = test_is_answered(&speaker, HG_INVALID) && good;
	}
	hg_tap_ok(good && test_named_is_at_rest(&server, 3), "filters that can't be are refused");

	set_opening(&message, &asked);
	message.request.spec.sides[HG_OUTER].replica.filters =
		message.request.spec.sides[HG_INNER].replica.filters = nowhere;
	filters->columns[0].column = filters->columns[HG_MAX_FILTER_COLUMNS - 1].column = nowhere;
	test_ask(&speaker, HG_WIRE_OPEN, 17, &message);
	good = test_is_answered(&speaker, HG_OK);
	test_ask_plainly(&speaker, HG_WIRE_BUILD, 17);
	hg_tap_ok(good && test_is_answered(&speaker, HG_OK),
			  "a job that filters does not look where a client points");
	test_end_speaker(&speaker);

	set_opening(&message, &asked);
	filters->columns[0].name.column = 0;
	good = is_cut_off_for(&server, &message);
	set_opening(&message, &asked);
	filters->columns[COLUMNS].name = filters->columns[0].name;
	good = good && is_cut_off_for(&server, &message);
	set_opening(&message, &asked);
	filters->ncolumns = UINT32_MAX;
	good = good && is_cut_off_for(&server, &message);
	set_opening(&message, &asked);
	message.opening.filters[HG_INNER] = asked.filters;
	memset(&message.request.replica[HG_INNER], 0, sizeof(HgReplicaUse));
	hg_tap_ok(good && is_cut_off_for(&server, &message),
			  "who names what a filter can't look at is cut off");
	hg_tap_ok(test_counts_become(&server, 1, 0, 0) && ask(client, &asked) == HG_OK &&
				  test_named_is_at_rest(&server, 3),
			  "nothing is left");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

int
main(int argc, char **argv)
{
	test_choose_device(argc, argv);
	test_suite();
	test_client();
	test_pins();
	test_refusals();
	return hg_tap_done();
}
