/*-------------------------------------------------------------------------
 *
 * test_server_computed.c
 *	  Columns that a device process computes of its column replicas: what it is told, and its
 * memory.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this program.  With
 * the path of a device process as its argument it runs all of it with that.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"
#include "test_engine_computed.h"
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
	hg_engine_computed_suite(&named.engine, test_host_plain());
	hg_tap_ok(hg_wire_client_state(client, NULL) == HG_WIRE_READY &&
				  test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0),
			  "nothing is left of what was computed");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * One job
 * ------------------------------------------------------------------------ */

/* A job of graph 1 with itself, whose outer side has its columns and one computed of them. */
typedef struct Asked
{
	HgReplicaUse use;
	HgReplicaColumnUse columns[COLUMNS + 1];
	HgProgram program;
	HgJobSpec spec;
} Asked;

static void
asked_init(Asked *asked)
{
	memset(asked, 0, sizeof(*asked));
	asked->use = (HgReplicaUse){.name = {TEST_EPOCH, 1, 0, 0}, .shape = {8, 1, ROWS}};
	for (uint32_t i = 0; i < COLUMNS; i++)
		asked->columns[i] =
			(HgReplicaColumnUse){.name = {TEST_EPOCH, 1, i + 1, 0}, .shape = {4, 1, ROWS, 0}};
	asked->columns[COLUMNS] = (HgReplicaColumnUse){.shape = {8, 1, ROWS, 0}, .program = 1};
	/* a * b - 5 */
	asked->program = (HgProgram){.nsteps = 5,
								 .steps = {{.kind = HG_STEP_COLUMN, .bits = 64, .is_signed = 1},
										   {.kind = HG_STEP_COLUMN, .bits = 64, .column = 1},
										   {.kind = HG_STEP_MULTIPLY, .bits = 64},
										   {.kind = HG_STEP_CONSTANT, .bits = 16, .constant = 5},
										   {.kind = HG_STEP_SUBTRACT, .bits = 64}}};
	asked->spec = (HgJobSpec){.key_width = 8,
							  .device = -1,
							  .sides[HG_OUTER].ncolumns = COLUMNS + 1,
							  .sides[HG_OUTER].column_width = {4, 4, 8},
							  .sides[HG_OUTER].kind = HG_SOURCE_REPLICA,
							  .sides[HG_OUTER].replica.use = &asked->use,
							  .sides[HG_INNER].kind = HG_SOURCE_REPLICA,
							  .sides[HG_INNER].replica.use = &asked->use,
							  .sides[HG_OUTER].replica.columns = asked->columns,
							  .sides[HG_OUTER].replica.nprograms = 1,
							  .sides[HG_OUTER].replica.programs = &asked->program};
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

/* A client knows what is no program, and no name. */
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
			  "a column is computed of two that are kept");
	asked.program.steps[4].kind = HG_STEP_ADD;
	asked.program.steps[2].bits = 16;
	hg_tap_ok(ask(client, &asked) == HG_OVERFLOW && test_named_is_at_rest(&server, 3) &&
				  hg_wire_client_state(client, NULL) == HG_WIRE_READY,
			  "a number that overflows is told of, and nothing is left");
	asked_init(&asked);
	asked.columns[COLUMNS].name = asked.columns[0].name;
	good = ask(client, &asked) == HG_INVALID;
	asked_init(&asked);
	asked.columns[0].program = 1;
	good = good && ask(client, &asked) == HG_INVALID;
	asked_init(&asked);
	asked.spec.sides[HG_OUTER].replica.nprograms = HG_MAX_PROGRAMS + 1;
	good = good && ask(client, &asked) == HG_INVALID;
	asked_init(&asked);
	asked.spec.sides[HG_OUTER].replica.nprograms = 0;
	good = good && ask(client, &asked) == HG_INVALID;
	asked_init(&asked);
	hg_tap_ok(good && hg_wire_client_state(client, NULL) == HG_WIRE_READY &&
				  ask(client, &asked) == HG_OK,
			  "a client does not ask for what can't be computed");
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
	memcpy(message->request.replica_columns[HG_OUTER], asked->columns, sizeof(asked->columns));
	message->opening.programs[HG_OUTER][0] = asked->program;
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
	HgProgram *program = &message.opening.programs[HG_OUTER][0];
	Asked asked;
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	asked_init(&asked);
	good = test_named_make_all(client, 1, ROWS, 2, ROWS) == HG_OK;
	test_start_speaker(&server, &speaker);
	for (uint32_t job = 1; job <= 8; job++)
	{
		set_opening(&message, &asked);
		if (job == 1)
			program->nsteps = UINT32_MAX;
		if (job == 2)
			program->nsteps = 4;
		if (job == 3)
			program->steps[0].column = COLUMNS;
		if (job == 4)
			program->steps[4].kind = 0xff;
		if (job == 5)
			program->steps[4].bits = 0xff;
		if (job == 6)
			message.request.spec.sides[HG_OUTER].replica.nprograms = UINT32_MAX;
		if (job == 7)
			message.request.replica_columns[HG_OUTER][COLUMNS].program = UINT32_MAX;
		if (job == 8)
			message.request.replica_columns[HG_OUTER][COLUMNS].shape.stride = ROWS + 1;
		test_ask(&speaker, HG_WIRE_OPEN, job, &message);
		good = test_is_answered(&speaker, HG_INVALID) && good;
	}
	hg_tap_ok(good && test_named_is_at_rest(&server, 3), "programs that can't be are refused");

	set_opening(&message, &asked);
	message.request.spec.sides[HG_OUTER].replica.programs =
		message.request.spec.sides[HG_INNER].replica.programs = nowhere;
	message.request.replica_columns[HG_OUTER][COLUMNS].column = nowhere;
	test_ask(&speaker, HG_WIRE_OPEN, 10, &message);
	good = test_is_answered(&speaker, HG_OK);
	test_ask_plainly(&speaker, HG_WIRE_BUILD, 10);
	hg_tap_ok(good && test_is_answered(&speaker, HG_OK),
			  "a job that computes does not look where a client points");
	set_opening(&message, &asked);
	message.request.replica_columns[HG_OUTER][COLUMNS].name = asked.columns[0].name;
	test_ask(&speaker, HG_WIRE_OPEN, 11, &message);
	hg_tap_ok(test_is_cut_off(&speaker), "who names what is computed is cut off");
	test_end_speaker(&speaker);
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
	test_refusals();
	return hg_tap_done();
}
