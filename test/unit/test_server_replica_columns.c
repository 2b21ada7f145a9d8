/*-------------------------------------------------------------------------
 *
 * test_server_replica_columns.c
 *	  Column replicas of a device process: their names, who reads them, and what is
 *	  left.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this program.  With
 * the path of a device process as its argument it runs the tests that need neither a misbehaving
 * one nor a certain amount of memory, with that.  What columns hold is
 * test_server_replica_columns_memory.c's.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"
#include "test_replica_groups.h"
#include "test_named.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Rows of most graphs here, and places of the parts of columns. */
#define ROWS 20000
#define STRIDE 20001

static const HgReplicaShape graph_shape = {8, 1, ROWS};
static const HgReplicaColumnShape column_shape = {4, 1, STRIDE, 0};

static bool
make_all(HgWireClient *client, uint64_t serial, uint32_t ncolumns)
{
	return test_named_make_all(client, serial, ROWS, ncolumns, STRIDE) == HG_OK;
}

static HgStatus
ask(HgWireClient *client, uint64_t serial, uint32_t ncolumns)
{
	return test_named_ask_columns(client, serial, ROWS, ncolumns, STRIDE);
}

/* ------------------------------------------------------------------------
 * Joins
 * ------------------------------------------------------------------------ */

/* Are values and groups of a join right, in each mode? */
static bool
join_is_right(HgEngine *joining, const TestReplicaSide *outer, const TestReplicaSide *inner,
			  uint64_t *state)
{
	TestReplicaPairs wanted;
	HgError error = {0};
	HgJob *job = NULL;
	bool good;

	test_replica_naive(outer, inner, &wanted);
	good = test_replica_build(joining, test_host_plain(), outer, inner, &job, &error) == HG_OK;
	for (int mode = HG_MATCH_ALL; mode <= HG_MATCH_FIRST && good; mode++)
	{
		TestReplicaPairs pairs = {0};

		good = joining->join->match(job, (HgMatchMode) mode, &error) == HG_OK &&
			   test_replica_read_values(joining, job, outer, inner, 777, UINT64_MAX, 0, &pairs,
										&error) == HG_OK &&
			   test_replica_right(&pairs, &wanted, (HgMatchMode) mode);
		free(pairs.pairs);
	}
	for (uint32_t nkeys = 0; nkeys <= 2 && good; nkeys++)
	{
		TestReplicaGroups groups = {0};
		TestReplicaGroups right;
		HgReduceSpec spec;
		uint64_t count = 0;

		test_replica_draw_reduce(&spec, outer, inner, false, nkeys, state);
		test_replica_naive_groups(outer, inner, &wanted, HG_MATCH_ALL, &spec, &right);
		good =
			joining->columns->reduce(job, HG_MATCH_ALL, &spec, &count, &error) == HG_OK &&
			test_replica_fetch_groups(joining, job, &spec, count, 100, &groups, &error) == HG_OK &&
			test_replica_groups_equal(&groups, &right, &spec);
		free(groups.words);
		free(right.words);
	}
	if (job != NULL)
		joining->join->close(job);
	free(wanted.pairs);
	if (!good)
		hg_tap_diag("%s %s", error.message, error.detail);
	return good;
}

static void
test_joins(void)
{
	static const TestReplicaSpread spreads[] = {
		{.width = 8,
		 .parts = 3,
		 .count = 6000,
		 .keys = 3000,
		 .numbers = 20000,
		 .ncolumns = 8,
		 .values = 9,
		 .nulls = 20},
		{.width = 4,
		 .parts = 1,
		 .count = 4000,
		 .keys = 3000,
		 .numbers = 4000,
		 .stride = 65536,
		 .ncolumns = 3,
		 .mask = TEST_MASK_SOME},
		{.width = 4, .parts = 2, .count = 3000, .keys = 3000, .numbers = 9000},
		{.way = TEST_REPLICA_NUMBERED,
		 .width = 8,
		 .count = 5000,
		 .keys = 3000,
		 .ncolumns = 5,
		 .values = 9,
		 .nulls = 10},
	};
	/* graphs, and columns of those */
	const uint64_t replica = 3 + 8 + 3;
	/* a column takes several requests */
	static const char *const options[] = {"--staging-bytes", "262144", NULL};
	TestReplicaSide sides[LENGTH(spreads)];
	TestServer server;
	HgWireClient *clients[2];
	TestNamed holding;
	TestNamed joining;
	HgError error = {0};
	uint64_t state = 5;
	bool good = true;

	test_start_server(&server, options);
	for (int i = 0; i < 2; i++)
		clients[i] = test_start_client(&server);
	test_named_init(&holding, clients[0]);
	test_named_init(&joining, clients[1]);
	for (size_t i = 0; i < LENGTH(spreads); i++)
	{
		test_replica_side_create(&sides[i], &spreads[i], &state);
		if (spreads[i].way == TEST_REPLICA_GRAPH)
			good = good && test_replica_make(&holding.engine, test_host_plain(), &sides[i],
											 &error) == HG_OK;
	}
	hg_tap_ok(good && test_named_is_at_rest(&server, replica), "graphs and columns are kept");
	for (size_t outer = 0; outer < LENGTH(spreads) && good; outer++)
		for (size_t inner = 0; inner < LENGTH(spreads) && good; inner++)
			if ((spreads[outer].way == TEST_REPLICA_GRAPH ||
				 spreads[inner].way == TEST_REPLICA_GRAPH) &&
				!join_is_right(&joining.engine, &sides[outer], &sides[inner], &state))
			{
				hg_tap_diag("of sides %d and %d", (int) outer, (int) inner);
				good = false;
			}
	hg_tap_ok(good, "columns that one connection has made are read by another");
	hg_wire_client_destroy(clients[0]);
	hg_tap_ok(test_counts_become(&server, 1, 0, 0) && test_named_is_at_rest(&server, replica) &&
				  join_is_right(&joining.engine, &sides[0], &sides[1], &state),
			  "when the one has gone, too");
	for (size_t i = 0; i < LENGTH(spreads); i++)
	{
		test_replica_release(&joining.engine, &sides[i]);
		test_replica_side_destroy(&sides[i]);
	}
	hg_tap_ok(test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0),
			  "until they are dropped");
	hg_wire_client_destroy(clients[1]);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------ */

/* Ask for a graph of some parts with one column of a shape, by their names. */
static HgStatus
open_with(HgWireClient *client, uint64_t serial, uint32_t parts, const HgReplicaName *column,
		  const HgReplicaColumnShape *shape)
{
	HgEngine *engine = hg_wire_client_engine(client);
	const HgReplicaUse use = {.name = {TEST_EPOCH, serial, 0, 0}, .shape = {8, parts, ROWS}};
	const HgReplicaColumnUse columns = {.name = *column, .shape = *shape};
	const HgJobSpec spec = {.key_width = 8,
							.device = -1,
							.sides[HG_OUTER] = {.kind = HG_SOURCE_REPLICA,
												.ncolumns = 1,
												.column_width = {(uint8_t) shape->width},
												.replica = {.use = &use, .columns = &columns}}};
	HgJob *job = NULL;
	HgStatus status = engine->open(engine, test_host_plain(), &spec, &job, NULL);

	if (job != NULL)
		engine->join->close(job);
	return status;
}

/* Nothing is ever answered from a column of another name, or of another shape. */
static void
test_names(void)
{
	static const struct
	{
		HgReplicaName name;
		HgReplicaColumnShape shape;
		const char *what;
	} others[] = {
		{{TEST_EPOCH, 1, 4, 0}, {4, 1, STRIDE, 0}, "of another number"},
		{{TEST_EPOCH, 3, 1, 0}, {4, 1, STRIDE, 0}, "of another serial"},
		{{TEST_EPOCH + 1, 1, 1, 0}, {4, 1, STRIDE, 0}, "of another epoch"},
		{{TEST_EPOCH, 1, 1, 0}, {8, 1, STRIDE, 0}, "of wider values"},
		{{TEST_EPOCH, 1, 1, 0}, {4, 1, STRIDE - 1, 0}, "of a smaller stride"},
		{{TEST_EPOCH, 1, 1, 0}, {4, 1, STRIDE + 1, 0}, "of a larger stride"},
	};
	static const struct
	{
		HgReplicaName graph;
		HgReplicaName column;
		const char *what;
	} wrong[] = {
		{{TEST_EPOCH, 1, 0, 0}, {TEST_EPOCH, 0, 1, 0}, "a column of the serial 0"},
		{{TEST_EPOCH, 1, 0, 0}, {TEST_EPOCH, 1, 0, 0}, "a column of the number 0"},
		{{TEST_EPOCH, 1, 1, 0}, {TEST_EPOCH, 1, 1, 0}, "a graph of a column's number"},
	};
	const HgReplicaName first = {TEST_EPOCH, 1, 1, 0};
	const HgReplicaColumnShape more_parts = {4, 2, STRIDE, 0};
	TestServer server;
	HgWireClient *client;
	HgEngine *engine;
	HgError error = {0};
	HgJob *job = NULL;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	hg_tap_ok(ask(client, 1, 0) == HG_NO_REPLICA && make_all(client, 1, 2) &&
				  ask(client, 1, 2) == HG_OK && test_named_is_at_rest(&server, 3),
			  "a graph and two columns are read, and all three are told of");
	hg_tap_ok(ask(client, 1, 3) == HG_NO_REPLICA && test_named_is_at_rest(&server, 3) &&
				  ask(client, 1, 2) == HG_OK,
			  "where one column of several is not there, nothing is read or held");
	for (size_t i = 0; i < LENGTH(others); i++)
		hg_tap_ok(open_with(client, 1, 1, &others[i].name, &others[i].shape) == HG_NO_REPLICA &&
					  hg_wire_client_state(client, NULL) == HG_WIRE_READY &&
					  test_named_is_at_rest(&server, 3),
				  "a column %s is not there", others[i].what);
	/* a graph of two parts has no columns of one, and there is none of two */
	hg_tap_ok(open_with(client, 1, 2, &first, &column_shape) == HG_INVALID &&
				  open_with(client, 1, 2, &first, &more_parts) == HG_NO_REPLICA,
			  "nor is one of more parts");
	for (size_t i = 0; i < LENGTH(wrong); i++)
	{
		const HgReplicaUse use = {.name = wrong[i].graph, .shape = graph_shape};
		const HgReplicaColumnUse column = {.name = wrong[i].column, .shape = column_shape};
		const HgJobSpec spec = {.key_width = 8,
								.device = -1,
								.sides = {{0},
										  {.kind = HG_SOURCE_REPLICA,
										   .ncolumns = 1,
										   .column_width = {4},
										   .replica = {.use = &use, .columns = &column}}}};

		hg_tap_ok(engine->open(engine, test_host_plain(), &spec, &job, &error) == HG_INVALID &&
					  (hg_replica_is_column(&wrong[i].column) ||
					   test_named_open_column(client, test_host_plain(), &wrong[i].column,
											  &column_shape, &job, &error) == HG_INVALID) &&
					  (hg_replica_is_graph(&wrong[i].graph) ||
					   test_named_open(client, test_host_plain(), &wrong[i].graph, &graph_shape,
									   &job, &error) == HG_INVALID) &&
					  hg_wire_client_state(client, NULL) == HG_WIRE_READY,
				  "%s is no name", wrong[i].what);
	}
	hg_tap_ok(test_named_make_column(client, test_host_plain(), 1, 1, STRIDE, &error) == HG_OK &&
				  test_named_is_at_rest(&server, 3) && ask(client, 1, 2) == HG_OK,
			  "a second one of its name is not kept");

	/* each goes by its own name, and with its graph */
	test_named_drop_column(client, 1, 9);
	test_named_drop_column(client, 2, 1);
	test_named_drop(client, 2);
	hg_tap_ok(ask(client, 1, 2) == HG_OK, "others can be dropped");
	test_named_drop_column(server.control, 1, 2);
	hg_tap_ok(test_named_graphs_become(&server, 2) && ask(client, 1, 2) == HG_NO_REPLICA &&
				  ask(client, 1, 1) == HG_OK,
			  "a graph and other columns stay where a column is dropped");
	test_named_drop(client, 1);
	hg_tap_ok(test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0) &&
				  test_status_of(&server).replicas_evicted == 0,
			  "columns go where their graph is dropped");
	hg_tap_ok(test_named_make_column(client, test_host_plain(), 1, 1, STRIDE, &error) == HG_OK &&
				  test_named_graphs_become(&server, 1),
			  "a column is kept without its graph");
	test_named_drop(client, 1);
	hg_tap_ok(test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0),
			  "and goes where that is dropped which is not there");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Columns that are in use are dropped. */
static void
test_drop_in_use(void)
{
	TestServer server;
	HgWireClient *user;
	HgWireClient *other;
	HgEngine *engine;
	HgError error = {0};
	HgJob *job = NULL;
	bool good;

	test_start_server(&server, NULL);
	user = test_start_client(&server);
	other = test_start_client(&server);
	engine = hg_wire_client_engine(user);
	good = make_all(other, 1, 3) &&
		   test_named_read(user, test_host_plain(), 1, ROWS, 3, STRIDE, &job, &error) == HG_OK;
	hg_tap_ok(good, "columns are in use");
	test_named_drop_column(other, 1, 2);
	hg_tap_ok(ask(other, 1, 3) == HG_NO_REPLICA && ask(other, 1, 1) == HG_OK &&
				  test_status_of(&server).replica_graphs == 4,
			  "nobody finds one when it was dropped, and it is still there");
	test_named_drop_column(other, 1, 2);
	hg_tap_ok(good && engine->join->build(job, &error) == HG_OK &&
				  test_named_reduce(user, job, ROWS, 3, &error) == HG_OK,
			  "who has it, has it still, for both sides");
	hg_tap_ok(test_named_make_column(other, test_host_plain(), 1, 2, STRIDE, &error) == HG_OK &&
				  ask(other, 1, 3) == HG_OK && test_status_of(&server).replica_graphs == 5,
			  "another one can take its name");
	if (job != NULL)
		engine->join->close(job);
	hg_tap_ok(test_named_graphs_become(&server, 4) && test_named_is_at_rest(&server, 4) &&
				  ask(other, 1, 3) == HG_OK,
			  "it goes with its last user, alone");

	/* all of them, the graph too, and the connection ends */
	job = NULL;
	good = test_named_read(user, test_host_plain(), 1, ROWS, 3, STRIDE, &job, &error) == HG_OK;
	test_named_drop(other, 1);
	hg_tap_ok(good && ask(other, 1, 0) == HG_NO_REPLICA &&
				  test_status_of(&server).replica_graphs == 4,
			  "a graph and all of its columns are dropped");
	hg_wire_client_destroy(user);
	if (job != NULL)
		hg_wire_client_engine(other)->join->close(job);
	hg_tap_ok(test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0),
			  "and go when the connection of who has them ends");
	hg_wire_client_destroy(other);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Nonsense
 * ------------------------------------------------------------------------ */

/* The jobs of a connection that says something which makes no sense, by number. */
enum
{
	JOB_PLAIN = 1, /* with a column of its outer side, which is appended */
	JOB_GRAPH,	   /* makes one */
	JOB_COLUMN,	   /* makes one */
	JOB_READS,	   /* has one of an outer side that is a replica, and the inner side is appended */
	JOB_NEW
};

/* What is wrong with a request, beside its job and type; offsets are from the job's lease on. */
typedef struct Nonsense
{
	const char *what;
	uint32_t job;
	HgWireType type;
	uint32_t nulls;
	uint64_t offset;
	uint64_t count;
	uint64_t first;
	HgReplicaSpec new_replica;
	HgReplicaUse replica;			/* of the outer side */
	uint32_t ncolumns;				/* of that */
	HgReplicaColumnSpec new_column; /* or, of the outer side ... */
	HgReplicaColumnUse columns[2];
	HgReplicaColumnUse inner_column; /* ... and of the inner one, which is none */
} Nonsense;

#define GRAPH                                                                                      \
	{                                                                                              \
		.name = {TEST_EPOCH, 1, 0, 0}, .shape = { 8, 1, ROWS }                                     \
	}
#define COLUMN                                                                                     \
	{                                                                                              \
		.name = {TEST_EPOCH, 1, 1, 0}, .shape = { 4, 1, STRIDE, 0 }                                \
	}

static const Nonsense nonsense[] = {
	{.what = "a graph by a column's name",
	 .job = JOB_NEW,
	 .type = HG_WIRE_OPEN,
	 .new_replica = {{TEST_EPOCH, 2, 1, 0}, {8, 1, ROWS}}},
	{.what = "a side by a column's name",
	 .job = JOB_NEW,
	 .type = HG_WIRE_OPEN,
	 .replica = {.name = {TEST_EPOCH, 1, 1, 0}, .shape = {8, 1, ROWS}}},
	{.what = "a column by a graph's name",
	 .job = JOB_NEW,
	 .type = HG_WIRE_OPEN,
	 .new_column = {{TEST_EPOCH, 2, 0, 0}, {4, 1, STRIDE, 0}}},
	{.what = "a column of no name",
	 .job = JOB_NEW,
	 .type = HG_WIRE_OPEN,
	 .new_column = {{TEST_EPOCH, 0, 1, 0}, {4, 1, STRIDE, 0}}},
	{.what = "a kept side's column by a graph's name",
	 .job = JOB_NEW,
	 .type = HG_WIRE_OPEN,
	 .replica = GRAPH,
	 .ncolumns = 1,
	 .columns = {{.name = {TEST_EPOCH, 1, 0, 0}, .shape = {4, 1, STRIDE, 0}}}},
	{.what = "a kept side's second column of no name",
	 .job = JOB_NEW,
	 .type = HG_WIRE_OPEN,
	 .replica = GRAPH,
	 .ncolumns = 2,
	 .columns = {COLUMN, {.shape = {4, 1, STRIDE, 0}}}},
	{.what = "a column more than a kept side has",
	 .job = JOB_NEW,
	 .type = HG_WIRE_OPEN,
	 .replica = GRAPH,
	 .ncolumns = 1,
	 .columns = {COLUMN, COLUMN}},
	{.what = "a column replica of an appended side",
	 .job = JOB_NEW,
	 .type = HG_WIRE_OPEN,
	 .ncolumns = 1,
	 .columns = {COLUMN}},
	{.what = "a column replica of the other side, which is appended",
	 .job = JOB_NEW,
	 .type = HG_WIRE_OPEN,
	 .replica = GRAPH,
	 .ncolumns = 1,
	 .columns = {COLUMN},
	 .inner_column = COLUMN},
	{.what = "values for a join", .job = JOB_PLAIN, .type = HG_WIRE_PUT_VALUES, .count = 1},
	{.what = "values for a graph", .job = JOB_GRAPH, .type = HG_WIRE_PUT_VALUES, .count = 1},
	{.what = "values for a column replica",
	 .job = JOB_READS,
	 .type = HG_WIRE_PUT_VALUES,
	 .count = 1},
	{.what = "values of no job", .job = JOB_NEW, .type = HG_WIRE_PUT_VALUES},
	{.what = "a value beyond the places",
	 .job = JOB_COLUMN,
	 .type = HG_WIRE_PUT_VALUES,
	 .first = STRIDE,
	 .count = 1},
	{.what = "values beyond the places",
	 .job = JOB_COLUMN,
	 .type = HG_WIRE_PUT_VALUES,
	 .first = STRIDE - 5,
	 .count = 6},
	{.what = "no values, beyond the places",
	 .job = JOB_COLUMN,
	 .type = HG_WIRE_PUT_VALUES,
	 .first = STRIDE + 1},
	{.what = "values that wrap",
	 .job = JOB_COLUMN,
	 .type = HG_WIRE_PUT_VALUES,
	 .first = 2,
	 .count = UINT64_MAX},
	{.what = "values out of place",
	 .job = JOB_COLUMN,
	 .type = HG_WIRE_PUT_VALUES,
	 .offset = 4,
	 .count = 1},
	{.what = "values before a lease",
	 .job = JOB_COLUMN,
	 .type = HG_WIRE_PUT_VALUES,
	 .offset = (uint64_t) -8,
	 .count = 1},
	{.what = "values beyond a lease",
	 .job = JOB_COLUMN,
	 .type = HG_WIRE_PUT_VALUES,
	 .offset = UINT64_C(1) << 40,
	 .count = 1},
	{.what = "values of another kind of NULL",
	 .job = JOB_COLUMN,
	 .type = HG_WIRE_PUT_VALUES,
	 .nulls = 2,
	 .count = 1},
	{.what = "edges for a column", .job = JOB_COLUMN, .type = HG_WIRE_PUT_EDGES, .count = 1},
	{.what = "keys for a column", .job = JOB_COLUMN, .type = HG_WIRE_APPEND, .count = 1},
	{.what = "a column for a column", .job = JOB_COLUMN, .type = HG_WIRE_APPEND_COLUMN, .count = 1},
	{.what = "a column for a kept side",
	 .job = JOB_READS,
	 .type = HG_WIRE_APPEND_COLUMN,
	 .count = 1},
	{.what = "a mask of a column", .job = JOB_COLUMN, .type = HG_WIRE_MASK, .count = 1},
	{.what = "matches of a column", .job = JOB_COLUMN, .type = HG_WIRE_MATCH},
	{.what = "pairs of a column", .job = JOB_COLUMN, .type = HG_WIRE_NEXT, .count = 1},
	{.what = "a count of a column", .job = JOB_COLUMN, .type = HG_WIRE_COUNT},
	{.what = "groups of a column", .job = JOB_COLUMN, .type = HG_WIRE_REDUCE},
	{.what = "more groups of a column", .job = JOB_COLUMN, .type = HG_WIRE_NEXT_GROUPS, .count = 1},
	{.what = "the shape of a column", .job = JOB_COLUMN, .type = HG_WIRE_DESCRIBE},
	{.what = "the arrays of a column", .job = JOB_COLUMN, .type = HG_WIRE_EXPORT, .count = 1},
	{.what = "a table of a column", .job = JOB_COLUMN, .type = HG_WIRE_MEASURE},
};

/* A request's spec of a job with so many columns of its outer side, of 4 bytes each. */
static void
set_spec(HgWireMessage *message, uint32_t ncolumns)
{
	message->request.spec = test_plain_spec;
	message->request.spec.key_width = 8;
	message->request.spec.sides[HG_INNER].expected_rows = 100;
	message->request.spec.sides[HG_OUTER].ncolumns = ncolumns;
	for (uint32_t i = 0; i < ncolumns; i++)
		message->request.spec.sides[HG_OUTER].column_width[i] = 4;
}

/* Open a job of a kind; its lease is where the answer says. */
static bool
open_by_hand(TestSpeaker *speaker, uint32_t job)
{
	static const HgReplicaUse graph = GRAPH;
	static const HgReplicaColumnUse column = COLUMN;
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	set_spec(&message, job == JOB_PLAIN || job == JOB_READS);
	if (job == JOB_GRAPH)
		message.request.new_replica =
			(HgReplicaSpec){.name = {TEST_EPOCH, 2, 0, 0}, .shape = graph_shape};
	if (job == JOB_COLUMN)
		message.request.new_column =
			(HgReplicaColumnSpec){.name = {TEST_EPOCH, 2, 1, 0}, .shape = column_shape};
	if (job == JOB_READS)
	{
		message.request.replica[HG_OUTER] = graph;
		message.request.replica_columns[HG_OUTER][0] = column;
	}
	test_ask(speaker, HG_WIRE_OPEN, job, &message);
	return test_is_answered(speaker, HG_OK);
}

static void
test_nonsense(void)
{
	TestServer server;
	HgWireClient *client;
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	good = make_all(client, 1, 1);
	for (size_t i = 0; i < LENGTH(nonsense); i++)
	{
		const Nonsense *said = &nonsense[i];
		TestSpeaker speaker;
		HgWireMessage message;

		test_start_speaker(&server, &speaker);
		memset(&message, 0, sizeof(message));
		if (said->job == JOB_NEW)
			set_spec(&message, said->ncolumns);
		else
			good = good && open_by_hand(&speaker, said->job);
		message.request.nulls = said->nulls;
		message.request.offset = speaker.answer.reply.lease_offset + said->offset;
		message.request.count = said->count;
		message.request.first = said->first;
		message.request.new_replica = said->new_replica;
		message.request.new_column = said->new_column;
		message.request.replica[HG_OUTER] = said->replica;
		memcpy(message.request.replica_columns[HG_OUTER], said->columns, sizeof(said->columns));
		message.request.replica_columns[HG_INNER][0] = said->inner_column;
		test_ask(&speaker, said->type, said->job, &message);
		hg_tap_ok(good && test_is_cut_off(&speaker) && test_counts_become(&server, 1, 0, 0) &&
					  test_named_is_at_rest(&server, 2),
				  "who says %s is cut off, and leaves nothing", said->what);
		test_end_speaker(&speaker);
	}
	hg_tap_ok(ask(client, 1, 1) == HG_OK, "which is nothing to others");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/*
 * Pointers of a client's mean nothing here: a request whose spec has some is answered as if it had
 * none.
 */
static void
test_pointers(void)
{
	const HgReplicaUse graph = GRAPH;
	const HgReplicaColumnUse column = COLUMN;
	TestServer server;
	HgWireClient *client;
	TestSpeaker speaker;
	HgWireMessage message;
	void *const nowhere = (void *) (uintptr_t) 0x5a5a5a5a5a5a5a50;
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	good = make_all(client, 1, 1);
	test_start_speaker(&server, &speaker);
	for (uint32_t job = 1; job <= 2; job++)
	{
		memset(&message, 0, sizeof(message));
		set_spec(&message, 1);
		message.request.spec.product.graph = nowhere;
		for (int side = HG_OUTER; side <= HG_INNER; side++)
		{
			message.request.spec.sides[side].replica.use = nowhere;
			message.request.spec.sides[side].replica.columns = nowhere;
			message.request.spec.sides[side].replica.lookups = nowhere;
		}
		if (job == 2)
		{
			message.request.replica[HG_OUTER] = graph;
			message.request.replica[HG_OUTER].graph = nowhere;
			message.request.replica_columns[HG_OUTER][0] = column;
			message.request.replica_columns[HG_OUTER][0].column = nowhere;
		}
		test_ask(&speaker, HG_WIRE_OPEN, job, &message);
		good = good && test_is_answered(&speaker, HG_OK);
		test_ask_plainly(&speaker, HG_WIRE_BUILD, job);
		good = good && test_is_answered(&speaker, HG_OK);
		test_ask_plainly(&speaker, HG_WIRE_COUNT, job);
		hg_tap_ok(good && test_is_answered(&speaker, HG_OK) && speaker.answer.reply.count == 0,
				  "a job with%s what is kept does not look where a client points",
				  job == 2 ? "" : "out");
	}
	test_end_speaker(&speaker);
	hg_tap_ok(test_counts_become(&server, 1, 0, 0) && ask(client, 1, 1) == HG_OK &&
				  test_named_is_at_rest(&server, 2),
			  "nothing is left");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* A client asks for none of it. */
static void
test_client_refuses(void)
{
	const HgReplicaName name = {TEST_EPOCH, 2, 1, 0};
	TestServer server;
	HgWireClient *client;
	HgEngine *engine;
	HgError error = {0};
	HgJob *job = NULL;
	HgReplica *replica = NULL;
	HgGraphStats described;
	HgReduceSpec reduce = {.max_groups = 1};
	uint32_t rows[2] = {0};
	uint64_t words[2] = {0};
	HgMatches matches = {.outer = rows, .inner = rows + 1, .capacity = 1};
	uint64_t number = 0;
	uint64_t before;
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	good = make_all(client, 1, 2);
	before = test_status_of(&server).replica_bytes;
	good = good && test_named_open_column(client, test_host_plain(), &name, &column_shape, &job,
										  &error) == HG_OK;
	hg_tap_ok(
		good && engine->join->append(job, HG_OUTER, words, 1, &error) == HG_INVALID &&
			engine->columns->append_column(job, HG_OUTER, 0, words, NULL, 1, 0, &error) ==
				HG_INVALID &&
			engine->store->put_edges(job, words, rows, 1, &error) == HG_INVALID &&
			engine->masks->mask(job, HG_OUTER, 0, 0, 1, words, &error) == HG_INVALID &&
			engine->store->put_values(job, words, NULL, 1, STRIDE, &error) == HG_INVALID &&
			engine->store->put_values(job, words, NULL, 2, STRIDE - 1, &error) == HG_INVALID &&
			engine->store->put_values(job, words, NULL, UINT64_MAX, 2, &error) == HG_INVALID &&
			engine->store->put_values(job, words, NULL, 0, STRIDE + 1, &error) == HG_INVALID &&
			engine->store->take_replica(job, &replica, &number, &error) == HG_INVALID &&
			engine->store->put_values(job, words, NULL, 0, STRIDE, &error) == HG_OK &&
			test_named_put_values(client, job, 1, 0, STRIDE, &error) == HG_OK &&
			engine->ahead->start(job, HG_AHEAD_COUNT, HG_MATCH_ALL, NULL, &error) == HG_INVALID &&
			engine->ahead->start(job, HG_AHEAD_MATCH, HG_MATCH_ALL, NULL, &error) == HG_INVALID &&
			engine->join->build(job, &error) == HG_OK,
		"a job that makes a column takes its values alone");
	hg_tap_ok(good && engine->store->put_values(job, words, NULL, 1, 0, &error) == HG_INVALID &&
				  engine->join->match(job, HG_MATCH_ALL, &error) == HG_INVALID &&
				  engine->join->next(job, &matches, &error) == HG_INVALID &&
				  engine->join->count(job, HG_MATCH_ALL, &number, &error) == HG_INVALID &&
				  engine->columns->reduce(job, HG_MATCH_ALL, &reduce, &number, &error) ==
					  HG_INVALID &&
				  engine->join->describe(job, HG_INNER, &described, &error) == HG_INVALID &&
				  engine->join->export_graph(job, HG_INNER, rows, rows, rows, &error) == HG_INVALID,
			  "and is asked for nothing when it has made it");
	hg_tap_ok(good && engine->store->take_replica(job, &replica, &number, &error) == HG_OK &&
				  replica == NULL && number >= STRIDE * 4 &&
				  number == test_status_of(&server).replica_bytes - before,
			  "but what it holds, to the byte");
	if (job != NULL)
		engine->join->close(job);
	job = NULL;
	good = test_named_read(client, test_host_plain(), 1, ROWS, 2, STRIDE, &job, &error) == HG_OK;
	reduce.nitems = 1;
	reduce.items[0].argument.column = 2;
	hg_tap_ok(good &&
				  engine->columns->append_column(job, HG_OUTER, 0, words, NULL, 1, 0, &error) ==
					  HG_INVALID &&
				  engine->store->put_values(job, words, NULL, 1, 0, &error) == HG_INVALID &&
				  engine->store->take_replica(job, &replica, &number, &error) == HG_INVALID &&
				  engine->join->build(job, &error) == HG_OK &&
				  engine->columns->reduce(job, HG_MATCH_ALL, &reduce, &number, &error) ==
					  HG_INVALID &&
				  test_named_reduce(client, job, ROWS, 2, &error) == HG_OK,
			  "a job that has columns for what it can be asked for");
	if (job != NULL)
		engine->join->close(job);
	hg_tap_ok(hg_wire_client_state(client, NULL) == HG_WIRE_READY &&
				  test_named_is_at_rest(&server, 4),
			  "nothing else is left");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Ends
 * ------------------------------------------------------------------------ */

/* How far a job comes before it ends. */
typedef enum Stage
{
	STAGE_OPEN,
	STAGE_GIVEN,
	STAGE_BUILT,
	STAGE_REDUCED,
	STAGES
} Stage;

static const char *const stage_names[STAGES] = {"open", "given something", "built", "reduced"};

/* Bring a job to a stage: one that makes a column, or one that reads two of them. */
static bool
come_to(HgWireClient *client, bool reads, Stage stage, HgJob **job)
{
	const HgReplicaName name = {TEST_EPOCH, 1, 1, 0};
	HgEngine *engine = hg_wire_client_engine(client);
	HgError error = {0};
	HgStatus status =
		reads
			? test_named_read(client, test_host_plain(), 1, ROWS, 2, STRIDE, job, &error)
			: test_named_open_column(client, test_host_plain(), &name, &column_shape, job, &error);

	if (status == HG_OK && stage >= STAGE_GIVEN && !reads)
		status = test_named_put_values(client, *job, 1, 9, STRIDE / 2, &error);
	if (status == HG_OK && stage >= STAGE_BUILT)
		status = engine->join->build(*job, &error);
	if (status == HG_OK && stage >= STAGE_REDUCED)
		status = test_named_reduce(client, *job, ROWS, 2, &error);
	return status == HG_OK;
}

static void
test_ends(void)
{
	TestServer server;
	HgWireClient *holder;

	test_start_server(&server, NULL);
	holder = test_start_client(&server);
	for (int stage = STAGE_OPEN; stage < STAGES; stage++)
		for (int lost = 0; lost < 2; lost++)
			for (int reads = 0; reads < 2; reads++)
			{
				HgWireClient *client;
				HgJob *job = NULL;
				bool good = true;

				if (!reads && stage == STAGE_REDUCED)
					continue;
				if (reads)
					good = make_all(holder, 1, 2);
				client = test_start_client(&server);
				good = good && come_to(client, reads, (Stage) stage, &job);
				if (!lost && job != NULL)
					hg_wire_client_engine(client)->join->close(job);
				hg_wire_client_destroy(client);
				if (lost && job != NULL)
					hg_wire_client_engine(holder)->join->close(job);
				good = good && test_counts_become(&server, 1, 0, 0) &&
					   test_named_is_at_rest(&server, reads ? 3 : stage == STAGE_BUILT);
				test_named_drop(holder, 1);
				for (uint32_t column = 1; column <= 2; column++)
					test_named_drop_column(holder, 1, column);
				good = good && test_named_graphs_become(&server, 0) &&
					   test_named_is_at_rest(&server, 0);
				hg_tap_ok(good, "nothing is left of a job that %s, is %s, and %s",
						  reads ? "has columns" : "makes one", stage_names[stage],
						  lost ? "loses its connection" : "is closed");
			}
	hg_wire_client_destroy(holder);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Failures
 * ------------------------------------------------------------------------ */

/* A client that is cancelled: while it puts values, and while they are built. */
static void
test_cancels(void)
{
	const HgReplicaName name = {TEST_EPOCH, 1, 1, 0};
	TestServer server;
	HgWireClient *client;
	HgEngine *engine;

	test_start_server_env(&server, "HG_STANDIN_BUILD_MS", "5000");
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	for (int building = 0; building < 2; building++)
	{
		TestTimeoutHost impatient;
		HgError error = {0};
		HgJob *job = NULL;
		HgStatus status;

		test_timeout_init(&impatient, 1000);
		status =
			test_named_open_column(client, &impatient.host, &name, &column_shape, &job, &error);
		/* from now on */
		impatient.deadline = building ? test_now_ms() + 1000 : 0;
		for (uint64_t first = 0; first < 100 && status == HG_OK; first++)
			status = test_named_put_values(client, job, 1, first, STRIDE - 100, &error);
		if (status == HG_OK)
			impatient.deadline = building ? test_now_ms() + 20 : 0;
		if (status == HG_OK)
			status = engine->join->build(job, &error);
		if (job != NULL)
			engine->join->close(job);
		hg_tap_ok(status == HG_CANCELLED && test_named_is_at_rest(&server, 0),
				  "no column is kept of what was cancelled while %s",
				  building ? "it was built" : "its values were put");
	}
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* An engine that can't open a job, or can't make a column: pins, and memory, are given back. */
static void
test_refusals(void)
{
	TestServer server;
	HgWireClient *client;
	HgError error = {0};
	bool good;

	test_start_server_env(&server, "HG_STANDIN_FORGETS", "1");
	client = test_start_client(&server);
	good = make_all(client, 1, 2) && ask(client, 1, 2) == HG_NO_REPLICA &&
		   test_named_is_at_rest(&server, 3);
	test_named_drop(client, 1);
	for (uint32_t column = 1; column <= 2; column++)
		test_named_drop_column(client, 1, column);
	hg_tap_ok(good && test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0),
			  "what an engine refuses to open holds nothing that it named");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");

	test_start_server_env(&server, "HG_STANDIN_OUT_OF_MEMORY", "1");
	client = test_start_client(&server);
	hg_tap_ok(test_named_make_column(client, test_host_plain(), 1, 1, STRIDE, &error) ==
					  HG_DEVICE_OUT_OF_MEMORY &&
				  test_named_is_at_rest(&server, 0) &&
				  hg_wire_client_state(client, NULL) == HG_WIRE_READY,
			  "nothing is kept of a column that has no memory");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

int
main(int argc, char **argv)
{
	const bool standin = test_choose_device(argc, argv);

	test_joins();
	test_names();
	test_drop_in_use();
	test_nonsense();
	test_pointers();
	test_client_refuses();
	test_ends();
	if (!standin)
	{
		hg_tap_skip("the stand-in alone has switches for them", "failures");
		return hg_tap_done();
	}
	test_cancels();
	test_refusals();
	return hg_tap_done();
}
