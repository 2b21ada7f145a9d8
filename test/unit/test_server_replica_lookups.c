/*-------------------------------------------------------------------------
 *
 * test_server_replica_lookups.c
 *	  Rows of a device process's graph replicas look up others there: their names, masks, and what
 *	  is left.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this program.  With
 * the path of a device process as its argument it runs all of it with that.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"
#include "test_replica_groups.h"
#include "test_replica_star.h"
#include "test_named.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Rows of the graphs that are named by hand, each of which has a key of its own: its number. */
#define ROWS 2000

/* ------------------------------------------------------------------------
 * Joins
 * ------------------------------------------------------------------------ */

/* Rows that look up others in each way, with some that find nothing, and doubles as they say. */
static TestStarSpread
star_of(uint32_t rows, TestStarDoubles doubles)
{
	return (TestStarSpread){
		.side = {.width = 8,
				 .parts = 2,
				 .mask = TEST_MASK_SOME,
				 .count = rows,
				 .keys = rows / 2,
				 .numbers = rows,
				 .ncolumns = 4,
				 .values = 9,
				 .nulls = 20},
		.nlookups = 3,
		.lookups = {
			{.found = {.width = 4,
					   .parts = 1,
					   .mask = TEST_MASK_SOME,
					   .count = rows / 3,
					   .keys = 9,
					   .numbers = rows},
			 .width = 8,
			 .nulls = 5,
			 .doubles = doubles},
			{.unmatched = true,
			 .found = {.width = 8, .parts = 3, .count = rows / 4, .keys = 9, .numbers = rows},
			 .width = 4,
			 .misses = 20},
			{.from = 1,
			 .found = {.width = 4,
					   .parts = 1,
					   .mask = TEST_MASK_FEW,
					   .count = 50,
					   .keys = 9,
					   .numbers = 60},
			 .width = 4}}};
}

/* Graphs and columns of one of those. */
#define STAR_REPLICA (1 + 4 + 3 * (2 + 4))

/* Is a join of two stars right? */
static HgStatus
join(HgEngine *engine, const TestStar *outer, const TestStar *inner, uint64_t *state,
	 HgError *error)
{
	const TestReplicaSide *const flat[2] = {test_star_flat(outer), test_star_flat(inner)};
	TestReplicaPairs pairs = {0};
	TestReplicaPairs wanted;
	TestReplicaGroups groups = {0};
	TestReplicaGroups right;
	HgReduceSpec spec;
	HgJob *job = NULL;
	uint64_t count = 0;
	HgStatus status = test_star_build(engine, test_host_plain(), outer, inner, &job, error);

	test_replica_naive(flat[0], flat[1], &wanted);
	test_replica_draw_reduce(&spec, flat[0], flat[1], false, 2, state);
	test_replica_naive_groups(flat[0], flat[1], &wanted, HG_MATCH_ALL, &spec, &right);
	if (status == HG_OK)
		status = engine->join->match(job, HG_MATCH_ALL, error);
	if (status == HG_OK)
		status = test_replica_read_values(engine, job, flat[0], flat[1], 777, UINT64_MAX, 0, &pairs,
										  error);
	if (status == HG_OK)
		status = engine->columns->reduce(job, HG_MATCH_ALL, &spec, &count, error);
	if (status == HG_OK)
		status = test_replica_fetch_groups(engine, job, &spec, count, 100, &groups, error);
	if (status == HG_OK && (!test_replica_right(&pairs, &wanted, HG_MATCH_ALL) ||
							!test_replica_groups_equal(&groups, &right, &spec)))
		status = hg_error_set(error, HG_INVALID, NULL, "wrong pairs or groups");
	if (job != NULL)
		engine->join->close(job);
	free(pairs.pairs);
	free(wanted.pairs);
	free(groups.words);
	free(right.words);
	return status;
}

static void
test_joins(void)
{
	/* a mask takes several requests */
	static const char *const options[] = {"--staging-bytes", "262144", NULL};
	TestServer server;
	HgWireClient *clients[2];
	TestNamed holding;
	TestNamed joining;
	TestStar stars[3];
	HgError error = {0};
	uint64_t state = 5;
	bool good = true;

	test_start_server(&server, options);
	for (int i = 0; i < 2; i++)
		clients[i] = test_start_client(&server);
	test_named_init(&holding, clients[0]);
	test_named_init(&joining, clients[1]);
	for (int i = 0; i < 3; i++)
	{
		const TestStarSpread spread =
			star_of(3000 - 900 * (uint32_t) i, i < 2 ? TEST_DOUBLES_MASKED : TEST_DOUBLES_SEEN);

		test_star_create(&stars[i], &spread, &state);
		good =
			good && test_star_make(&holding.engine, test_host_plain(), &stars[i], &error) == HG_OK;
	}
	hg_tap_ok(good && test_named_is_at_rest(&server, 3 * STAR_REPLICA), "stars are kept");
	for (int i = 0; i < 4 && good; i++)
		good = join(&joining.engine, &stars[i % 2], &stars[i / 2], &state, &error) == HG_OK;
	if (!hg_tap_ok(good && test_named_is_at_rest(&server, 3 * STAR_REPLICA),
				   "rows that one connection has sent look up others for another one"))
		hg_tap_diag("%s", error.message);
	for (int turned = 0; turned < 2; turned++)
		hg_tap_ok(join(&joining.engine, &stars[turned ? 0 : 2], &stars[turned ? 2 : 0], &state,
					   &error) == HG_NOT_UNIQUE &&
					  hg_wire_client_state(clients[1], NULL) == HG_WIRE_READY &&
					  test_named_is_at_rest(&server, 3 * STAR_REPLICA),
				  "a row that finds two is told of, and nothing is left");
	hg_tap_ok(join(&joining.engine, &stars[0], &stars[1], &state, &error) == HG_OK,
			  "others are joined after that");
	good = true;
	for (int i = 0; i < 3; i++)
	{
		test_star_release(&joining.engine, &stars[i]);
		test_star_destroy(&stars[i]);
		/* a socket has room for so many notes alone */
		good = test_named_graphs_become(&server, (2 - (uint64_t) i) * STAR_REPLICA) && good;
	}
	hg_tap_ok(good && test_named_is_at_rest(&server, 0), "all goes when it is dropped");
	for (int i = 0; i < 2; i++)
		hg_wire_client_destroy(clients[i]);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------ */

/*
 * A job of the graph 1, whose rows look up those of 3 by 2, and these those of 5 by 4: all find
 * themselves.
 */
typedef struct Chain
{
	HgReplicaUse use;
	HgReplicaLookup lookups[2];
	HgJobSpec spec;
} Chain;

static HgReplicaUse
named_use(uint64_t serial)
{
	return (HgReplicaUse){.name = {TEST_EPOCH, serial, 0, 0}, .shape = {8, 1, ROWS}};
}

static void
chain_init(Chain *chain)
{
	memset(chain, 0, sizeof(*chain));
	chain->use = named_use(1);
	for (uint32_t l = 0; l < 2; l++)
		chain->lookups[l] = (HgReplicaLookup){.from = l,
											  .stride = ROWS,
											  .found_stride = ROWS,
											  .own = named_use(2 * l + 2),
											  .found = named_use(2 * l + 3)};
	chain->lookups[1].found.masked = 1;
	chain->spec = (HgJobSpec){.key_width = 8,
							  .device = -1,
							  .sides[HG_OUTER].kind = HG_SOURCE_REPLICA,
							  .sides[HG_OUTER].replica.use = &chain->use,
							  .sides[HG_INNER].kind = HG_SOURCE_REPLICA,
							  .sides[HG_INNER].replica.use = &chain->use,
							  .sides[HG_OUTER].replica.nlookups = 2,
							  .sides[HG_OUTER].replica.lookups = chain->lookups};
}

/* Make the graphs of it. */
static bool
make_chain(HgWireClient *client)
{
	HgError error = {0};
	bool good = true;

	for (uint64_t serial = 1; serial <= 5 && good; serial++)
		good = test_named_make(client, test_host_plain(), serial, ROWS, &error) == HG_OK;
	return good;
}

/* Build it, and count: all rows but the 64 of one word of what is found last. */
static HgStatus
count_chain(HgEngine *engine, HgJob *job, HgError *error)
{
	uint64_t count = 0;
	HgStatus status = engine->masks->mask(job, HG_OUTER, 2, 3, 1, NULL, error);

	if (status == HG_OK)
		status = engine->join->build(job, error);
	if (status == HG_OK)
		status = engine->join->count(job, HG_MATCH_ALL, &count, error);
	if (status == HG_OK && count != ROWS - 64)
		status = hg_error_set(error, HG_INVALID, NULL, "counted %d", (int) count);
	return status;
}

static HgStatus
ask_chain(HgWireClient *client, const Chain *chain)
{
	HgEngine *engine = hg_wire_client_engine(client);
	HgError error = {0};
	HgJob *job = NULL;
	HgStatus status = engine->open(engine, test_host_plain(), &chain->spec, &job, &error);

	if (status == HG_OK)
		status = count_chain(engine, job, &error);
	if (job != NULL)
		engine->join->close(job);
	return status;
}

/* The graph of a lookup, by the number of both. */
static HgReplicaUse *
graph_of(Chain *chain, int number)
{
	HgReplicaLookup *lookup = &chain->lookups[number / 2];

	return number % 2 == 0 ? &lookup->own : &lookup->found;
}

/* Nothing is ever answered from a graph of another name, or of another shape. */
static void
test_names(void)
{
	TestServer server;
	HgWireClient *client;
	Chain chain;
	bool good = true;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	chain_init(&chain);
	hg_tap_ok(ask_chain(client, &chain) == HG_NO_REPLICA && make_chain(client) &&
				  ask_chain(client, &chain) == HG_OK && test_named_is_at_rest(&server, 5),
			  "rows look up others that are kept by their names");
	for (int number = 0; number < 4; number++)
	{
		HgReplicaUse *use = graph_of(&chain, number);

		use->name.serial = 6;
		good = good && ask_chain(client, &chain) == HG_NO_REPLICA;
		chain_init(&chain);
		use->name.epoch++;
		good = good && ask_chain(client, &chain) == HG_NO_REPLICA;
		chain_init(&chain);
		use->shape.rows++;
		good = good && ask_chain(client, &chain) == HG_NO_REPLICA;
		chain_init(&chain);
		use->shape.key_width = 4;
		good = good && ask_chain(client, &chain) == HG_NO_REPLICA;
		chain_init(&chain);
	}
	hg_tap_ok(good && test_named_is_at_rest(&server, 5) && ask_chain(client, &chain) == HG_OK,
			  "one of another name or shape is not there");
	for (int number = 0; number < 4; number++)
	{
		graph_of(&chain, number)->name.column = 1;
		good = good && ask_chain(client, &chain) == HG_INVALID;
		chain_init(&chain);
		graph_of(&chain, number)->name.serial = 0;
		good = good && ask_chain(client, &chain) == HG_INVALID;
		chain_init(&chain);
	}
	chain.spec.sides[HG_OUTER].replica.nlookups = HG_MAX_LOOKUPS + 1;
	good = good && ask_chain(client, &chain) == HG_INVALID;
	chain_init(&chain);
	hg_tap_ok(good && hg_wire_client_state(client, NULL) == HG_WIRE_READY &&
				  ask_chain(client, &chain) == HG_OK,
			  "a client does not ask for what is no name");
	for (uint64_t serial = 2; serial <= 5; serial++)
	{
		HgError error = {0};

		test_named_drop(client, serial);
		good = good && ask_chain(client, &chain) == HG_NO_REPLICA &&
			   test_named_is_at_rest(&server, 4) &&
			   test_named_make(client, test_host_plain(), serial, ROWS, &error) == HG_OK &&
			   ask_chain(client, &chain) == HG_OK;
	}
	hg_tap_ok(good && test_named_is_at_rest(&server, 5), "where one of several is not there, too");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Graphs that are looked up are dropped meanwhile. */
static void
test_drop_in_use(void)
{
	TestServer server;
	HgWireClient *user;
	HgWireClient *other;
	HgEngine *engine;
	HgError error = {0};
	HgJob *job = NULL;
	Chain chain;
	bool good;

	test_start_server(&server, NULL);
	user = test_start_client(&server);
	other = test_start_client(&server);
	engine = hg_wire_client_engine(user);
	chain_init(&chain);
	good = make_chain(other) &&
		   engine->open(engine, test_host_plain(), &chain.spec, &job, &error) == HG_OK;
	for (uint64_t serial = 1; serial <= 5; serial++)
		test_named_drop(other, serial);
	hg_tap_ok(good && ask_chain(other, &chain) == HG_NO_REPLICA &&
				  test_status_of(&server).replica_graphs == 5 &&
				  count_chain(engine, job, &error) == HG_OK,
			  "who has graphs that are dropped, has them still");
	if (job != NULL)
		engine->join->close(job);
	hg_tap_ok(test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0),
			  "and they go with him");
	hg_wire_client_destroy(user);
	hg_wire_client_destroy(other);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* What is not there any more is named, and nothing else. */
static void
test_missing(void)
{
	static const HgMissingReplicas none;
	TestServer server;
	HgWireClient *client;
	HgMissingReplicas missing;
	Chain chain;
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	chain_init(&chain);
	good = make_chain(client);
	test_named_drop(client, 3);
	good = good && ask_chain(client, &chain) == HG_NO_REPLICA;
	missing = *hg_wire_client_missing(client);
	hg_tap_ok(good && missing.names[0].serial == 3 && missing.names[0].column == 0,
			  "a graph that is not there is named");
	for (int i = 0; i < HG_MAX_MISSING_REPLICAS; i++)
		good = good && (missing.names[i].serial == 3 || missing.names[i].serial == 0);
	hg_tap_ok(good && memcmp(&missing, &none, sizeof(none)) != 0, "... and no other one");
	test_named_drop(client, 2);
	good = ask_chain(client, &chain) == HG_NO_REPLICA;
	missing = *hg_wire_client_missing(client);
	hg_tap_ok(good && missing.names[0].serial + missing.names[1].serial == 5 &&
				  missing.names[0].serial != missing.names[1].serial,
			  "so are two");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Nonsense
 * ------------------------------------------------------------------------ */

/* What makes no sense. */
typedef enum Nonsense
{
	SAID_COLUMN_NAME,
	SAID_NO_NAME,
	SAID_MORE,
	SAID_OF_APPENDED,
	SAID_TOO_MANY,
	SAID_MASK_OF_NONE,
	SAID_MASK_BEYOND,
	SAID_MASK_OF_OWN,
	SAID_MASK_LATER,
	SAID_COUNT
} Nonsense;

static const char *const said_names[SAID_COUNT] = {
	"a graph to be looked up by a column's name",
	"a graph to look up with by no name",
	"a lookup more than a side has",
	"a lookup of a side that is appended",
	"a name behind more lookups than there can be",
	"a mask of what is looked up and has none",
	"a mask beyond what is looked up",
	"a mask of a lookup that there is not",
	"a mask beyond what is looked up, by its first word",
};

/* A request that opens the chain, as a client sends it. */
static void
set_opening(HgWireMessage *message, const Chain *chain)
{
	memset(message, 0, sizeof(*message));
	message->request.spec = chain->spec;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgReplicaSource *replica = &message->request.spec.sides[side].replica;

		*replica =
			(HgReplicaSource){.nlookups = replica->nlookups, .nprograms = replica->nprograms};
	}
	message->request.replica[HG_OUTER] = message->request.replica[HG_INNER] = chain->use;
	memcpy(message->opening.lookups[HG_OUTER], chain->lookups, sizeof(chain->lookups));
}

/* Say it: of an open job, or to open it. */
static void
say(TestSpeaker *speaker, const Chain *chain, Nonsense nonsense)
{
	HgReplicaLookup *lookups;
	HgWireMessage message;

	set_opening(&message, chain);
	lookups = message.opening.lookups[HG_OUTER];
	if (nonsense == SAID_COLUMN_NAME)
		lookups[1].found.name.column = 1;
	if (nonsense == SAID_NO_NAME)
		lookups[0].own.name.serial = 0;
	if (nonsense == SAID_MORE)
		lookups[2] = lookups[0];
	if (nonsense == SAID_OF_APPENDED)
		memset(&message.request.replica[HG_OUTER], 0, sizeof(HgReplicaUse));
	if (nonsense == SAID_TOO_MANY)
		message.request.spec.sides[HG_OUTER].replica.nlookups = UINT32_MAX;
	test_ask(speaker, HG_WIRE_OPEN, 1, &message);
	if (nonsense < SAID_MASK_OF_NONE || !test_is_answered(speaker, HG_OK))
		return;
	memset(&message, 0, sizeof(message));
	message.request.zero = 1;
	message.request.count = nonsense == SAID_MASK_BEYOND ? UINT64_C(1) << 40 : 1;
	message.request.first = nonsense == SAID_MASK_LATER ? UINT64_MAX : 0;
	message.request.lookup = nonsense == SAID_MASK_OF_NONE	? 1
							 : nonsense == SAID_MASK_OF_OWN ? 3
															: 2;
	test_ask(speaker, HG_WIRE_MASK, 1, &message);
}

static void
test_nonsense(void)
{
	TestServer server;
	HgWireClient *client;
	Chain chain;
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	chain_init(&chain);
	good = make_chain(client);
	for (int nonsense = 0; nonsense < SAID_COUNT; nonsense++)
	{
		TestSpeaker speaker;

		test_start_speaker(&server, &speaker);
		say(&speaker, &chain, (Nonsense) nonsense);
		hg_tap_ok(good && test_is_cut_off(&speaker) && test_counts_become(&server, 1, 0, 0) &&
					  test_named_is_at_rest(&server, 5),
				  "who says %s is cut off, and leaves nothing", said_names[nonsense]);
		test_end_speaker(&speaker);
	}
	hg_tap_ok(ask_chain(client, &chain) == HG_OK, "which is nothing to others");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
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
	HgReplicaLookup *lookups = message.opening.lookups[HG_OUTER];
	Chain chain;
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	chain_init(&chain);
	good = make_chain(client);
	test_start_speaker(&server, &speaker);
	for (uint32_t job = 1; job <= 8; job++)
	{
		set_opening(&message, &chain);
		if (job == 1)
			lookups[0].from = 1;
		if (job == 2)
			lookups[1].from = UINT32_MAX;
		if (job == 3)
			lookups[1].stride = ROWS + 1;
		if (job == 4)
			lookups[0].stride = lookups[0].found_stride = lookups[1].stride = ROWS - 1;
		if (job == 5)
			lookups[1].found_stride = 0;
		if (job == 6)
			lookups[1].own.masked = 1;
		if (job == 7)
			lookups[1].found.shape.parts = 0;
		if (job == 8)
			lookups[1].found_stride = ROWS - 1;
		test_ask(&speaker, HG_WIRE_OPEN, job, &message);
		good = test_is_answered(&speaker, HG_INVALID) && good;
	}
	hg_tap_ok(good && test_named_is_at_rest(&server, 5), "lookups that can't be are refused");

	set_opening(&message, &chain);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		message.request.spec.sides[side].replica.lookups = nowhere;
	for (uint32_t l = 0; l < 2; l++)
		lookups[l].own.graph = lookups[l].found.graph = nowhere;
	test_ask(&speaker, HG_WIRE_OPEN, 9, &message);
	good = test_is_answered(&speaker, HG_OK);
	test_ask_plainly(&speaker, HG_WIRE_BUILD, 9);
	good = good && test_is_answered(&speaker, HG_OK);
	test_ask_plainly(&speaker, HG_WIRE_COUNT, 9);
	hg_tap_ok(good && test_is_answered(&speaker, HG_OK) && speaker.answer.reply.count == ROWS,
			  "a job that looks rows up does not look where a client points");
	test_end_speaker(&speaker);
	hg_tap_ok(test_counts_become(&server, 1, 0, 0) && ask_chain(client, &chain) == HG_OK &&
				  test_named_is_at_rest(&server, 5),
			  "nothing is left");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

int
main(int argc, char **argv)
{
	test_choose_device(argc, argv);
	test_joins();
	test_names();
	test_drop_in_use();
	test_missing();
	test_nonsense();
	test_refusals();
	return hg_tap_done();
}
