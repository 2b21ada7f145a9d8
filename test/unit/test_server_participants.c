/*-------------------------------------------------------------------------
 *
 * test_server_participants.c
 *	  Jobs that several connections of a device process have together.
 *
 * The device process is the stand-in, or the one that the argument names (test_server.c).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* setenv */

#include "hg_tap.h"
#include "test_serving.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTICIPANTS 3

/* An id of participants, and what fills the stand-in's memory (test_server.c). */
#define PARTICIPANTS_ID UINT64_C(0x7eaf00d)
#define FULL_ROWS 1000000
#define FULL_BUDGET "--memory-budget", "32000000"

/* Jobs that participants have one after the other. */
#define ATTEMPTS 200

/* Rows that one participant appends at a time. */
#define PIECE 700

/* The connections of participants, and their parts of the job. */
typedef struct Participants
{
	HgWireClient *clients[PARTICIPANTS];
	HgEngine *engines[PARTICIPANTS];
	HgJob *jobs[PARTICIPANTS];
} Participants;

static void
connect_participants(TestServer *server, Participants *participants)
{
	memset(participants, 0, sizeof(*participants));
	for (int i = 0; i < PARTICIPANTS; i++)
	{
		participants->clients[i] = test_start_client(server);
		participants->engines[i] = hg_wire_client_engine(participants->clients[i]);
	}
}

static void
disconnect_participants(Participants *participants)
{
	for (int i = 0; i < PARTICIPANTS; i++)
		if (participants->clients[i] != NULL)
			hg_wire_client_destroy(participants->clients[i]);
}

/* Open the job in all of them. */
static bool
open_participants(Participants *participants, uint64_t number, const TestData *data)
{
	HgJobSpec spec = {
		.key_width = data->key_width, .device = -1, .group = 99, .participants_id = number};
	bool good = true;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec.sides[side].expected_rows = data->rows[side];
	for (int i = 0; i < PARTICIPANTS; i++)
		good = good && participants->engines[i]->open(participants->engines[i], test_host_plain(),
													  &spec, &participants->jobs[i], NULL) == HG_OK;
	return good;
}

/* Give the rows to the participants in turn, piece by piece. */
static bool
give_keys(Participants *participants, const TestData *data)
{
	bool good = true;
	int turn = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint64_t at = 0; at < data->rows[side]; at += PIECE)
		{
			uint64_t count = data->rows[side] - at < PIECE ? data->rows[side] - at : PIECE;
			int i = turn++ % PARTICIPANTS;

			good = good && participants->engines[i]->join->append_rows(
							   participants->jobs[i], (HgSide) side,
							   (const char *) data->keys[side] + at * data->key_width, count, at,
							   NULL) == HG_OK;
		}
	return good;
}

/* Wait until all has arrived. */
static bool
end_appends(Participants *participants)
{
	bool good = true;

	for (int i = 0; i < PARTICIPANTS; i++)
		good = good && hg_wire_client_end_append(participants->jobs[i], NULL) == HG_OK;
	return good;
}

static bool
fill_participants(Participants *participants, const TestData *data)
{
	return give_keys(participants, data) && end_appends(participants);
}

static bool
build_participants(Participants *participants)
{
	bool good = true;

	for (int i = 0; i < PARTICIPANTS; i++)
		good = good && participants->engines[i]->join->build(participants->jobs[i], NULL) == HG_OK;
	return good;
}

static void
close_participants(Participants *participants)
{
	for (int i = 0; i < PARTICIPANTS; i++)
		if (participants->jobs[i] != NULL)
			participants->engines[i]->join->close(participants->jobs[i]);
	memset(participants->jobs, 0, sizeof(participants->jobs));
}

/*
 * Fetch all matches, a chunk for each participant in turn; adds to pairs[participant] how many each
 * got, and returns whether they are right.
 */
static bool
fetch_participants(Participants *participants, const TestData *data, uint64_t pairs[PARTICIPANTS])
{
	uint32_t outer[300];
	uint32_t inner[300];
	uint64_t all = 0;
	uint64_t checksum = 0;
	bool good = true;
	bool more = true;

	for (int i = 0; i < PARTICIPANTS; i++)
		good = good && (participants->jobs[i] == NULL ||
						participants->engines[i]->join->match(participants->jobs[i], HG_MATCH_ALL,
															  NULL) == HG_OK);
	while (good && more)
	{
		more = false;
		for (int i = 0; i < PARTICIPANTS; i++)
		{
			HgMatches matches = {.outer = outer, .inner = inner, .capacity = 300};

			if (participants->jobs[i] == NULL)
				continue;
			good = good && participants->engines[i]->join->next(participants->jobs[i], &matches,
																NULL) == HG_OK;
			for (size_t k = 0; good && k < matches.count; k++)
				checksum += test_pair_checksum(outer[k], inner[k]);
			pairs[i] += matches.count;
			all += matches.count;
			more = more || matches.count > 0;
		}
	}
	return good && all == data->pairs && checksum == data->checksum;
}

static void
test_together(uint32_t key_width)
{
	TestServer server;
	TestData data;
	Participants participants;
	uint64_t pairs[PARTICIPANTS] = {0};
	uint64_t counts[PARTICIPANTS] = {0};
	HgGraphStats graph;
	HgJobStats stats;
	HgDeviceStatus status;
	bool good;

	test_data_create(&data, TEST_KEYS_DUPLICATES, key_width, 9000, 4000);
	test_start_server(&server, NULL);
	connect_participants(&server, &participants);
	good = open_participants(&participants, PARTICIPANTS_ID, &data);
	good = good && participants.engines[1]->join->append(participants.jobs[1], HG_OUTER,
														 data.keys[HG_OUTER], 1, NULL) == HG_OK;
	good = good && hg_wire_client_end_append(participants.jobs[1], NULL) == HG_INVALID;
	hg_tap_ok(good, "the rows of a shared job have numbers, %u bytes", (unsigned) key_width);
	close_participants(&participants);

	good = open_participants(&participants, PARTICIPANTS_ID, &data) &&
		   fill_participants(&participants, &data) && build_participants(&participants);
	for (int i = 0; i < PARTICIPANTS && good; i++)
	{
		participants.engines[i]->join->stats(participants.jobs[i], &stats);
		good = stats.rows[HG_OUTER] == data.rows[HG_OUTER] &&
			   stats.rows[HG_INNER] == data.rows[HG_INNER];
	}
	hg_tap_ok(good, "members fill and build a job together, and know of the rows of all");
	for (int i = 0; i < PARTICIPANTS; i++)
		good = good &&
			   participants.engines[i]->join->count(participants.jobs[i], HG_MATCH_ALL, &counts[i],
													NULL) == HG_OK &&
			   counts[i] == data.pairs;
	hg_tap_ok(good, "... all get its count");
	hg_tap_ok(good && participants.engines[0]->join->describe(participants.jobs[0], HG_INNER,
															  &graph, NULL) == HG_INVALID,
			  "its graphs are nobody's");
	hg_tap_ok(good && fetch_participants(&participants, &data, pairs) && pairs[0] > 0 &&
				  pairs[1] > 0 && pairs[2] > 0,
			  "each match goes to one of them, under the rows' numbers");
	close_participants(&participants);
	hg_tap_ok(test_counts_become(&server, PARTICIPANTS, 0, 0),
			  "the job ends with the last of them");
	status = test_status_of(&server);
	hg_tap_ok(status.staging_leased == 0 && status.memory_reserved == 0 && status.memory_held == 0,
			  "and leaves nothing behind");
	disconnect_participants(&participants);
	hg_tap_ok(test_stop_server(&server), "the process ends after them");
	test_data_destroy(&data);
}

/* Open a job with a column of each side in all of them; one may want another width. */
static bool
open_with_columns(Participants *participants, const TestData *data, uint64_t number, int odd_one,
				  HgStatus statuses[PARTICIPANTS])
{
	bool good = true;

	for (int i = 0; i < PARTICIPANTS; i++)
	{
		HgJobSpec spec = {
			.key_width = data->key_width,
			.device = -1,
			.group = 99,
			.participants_id = number,
			.sides = {{.expected_rows = data->rows[0], .ncolumns = 1, .column_width = {4}},
					  {.expected_rows = data->rows[1],
					   .ncolumns = 1,
					   .column_width = {i == odd_one ? 2 : 8}}}};

		statuses[i] = participants->engines[i]->open(participants->engines[i], test_host_plain(),
													 &spec, &participants->jobs[i], NULL);
		good = good && statuses[i] == HG_OK;
	}
	return good;
}

/* The value of an inner row is NULL for one row in so many, but in the first piece. */
#define NULL_SHARE 7

static bool
has_null(uint64_t inner_row)
{
	return inner_row >= PIECE && inner_row % NULL_SHARE == 0;
}

/*
 * Each participant gives the rows that it has from give_keys their values, with NULLs or without.
 */
static bool
give_values(Participants *participants, const TestData *data, bool with_nulls)
{
	bool good = true;
	int turn = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint64_t at = 0; at < data->rows[side]; at += PIECE)
		{
			uint64_t count = data->rows[side] - at < PIECE ? data->rows[side] - at : PIECE;
			int i = turn++ % PARTICIPANTS;
			int32_t outer[PIECE];
			int64_t inner[PIECE];
			uint8_t nulls[PIECE];

			/* an outer row's value is its number, negative; an inner row's its number modulo 5 */
			for (uint64_t k = 0; k < count; k++)
			{
				outer[k] = -(int32_t) (at + k);
				inner[k] = (int64_t) ((at + k) % 5);
				nulls[k] = has_null(at + k);
			}
			good = good &&
				   participants->engines[i]->columns->append_column(
					   participants->jobs[i], (HgSide) side, 0,
					   side == HG_OUTER ? (const void *) outer : (const void *) inner,
					   side == HG_INNER && with_nulls ? nulls : NULL, count, at, NULL) == HG_OK;
		}
	return good;
}

/* The whole of a job with columns, up to its groups. */
static bool
build_with_columns(Participants *participants, const TestData *data, uint64_t number,
				   bool with_nulls)
{
	HgStatus statuses[PARTICIPANTS];

	return open_with_columns(participants, data, number, -1, statuses) &&
		   give_keys(participants, data) && give_values(participants, data, with_nulls) &&
		   end_appends(participants) && build_participants(participants);
}

/* Room for the matches that one participant fetches at a time. */
#define CHUNK 300

/* Are the values of matches, those that were asked for, the rows' own? */
static bool
values_are_right(const HgMatches *matches, const int32_t *outer, const int64_t *inner,
				 const uint8_t *nulls, bool with_nulls)
{
	bool good = !matches->has_nulls[HG_OUTER][0];

	for (size_t k = 0; k < matches->count; k++)
	{
		const uint32_t row = matches->inner[k];
		const bool is_null = matches->has_nulls[HG_INNER][0] && nulls[k] != 0;

		if (matches->values[HG_OUTER][0] != NULL)
			good = good && outer[k] == -(int32_t) matches->outer[k];
		if (matches->values[HG_INNER][0] != NULL)
			good = good && is_null == (with_nulls && has_null(row)) &&
				   (is_null || inner[k] == row % 5);
	}
	return good;
}

/*
 * The participants take chunks in turn: one with no values, one with those of a side, one with all.
 */
static void
test_values(bool with_nulls)
{
	TestServer server;
	TestData data;
	Participants participants;
	int32_t outer_values[CHUNK];
	int64_t inner_values[CHUNK];
	uint8_t nulls[2][CHUNK];
	uint32_t outer[CHUNK];
	uint32_t inner[CHUNK];
	uint64_t pairs[PARTICIPANTS] = {0};
	uint64_t checksum = 0;
	size_t count;
	bool good;

	test_data_create(&data, TEST_KEYS_DUPLICATES, 8, 6000, 3000);
	test_start_server(&server, NULL);
	connect_participants(&server, &participants);
	good = build_with_columns(&participants, &data, PARTICIPANTS_ID + 3, with_nulls);
	for (int i = 0; i < PARTICIPANTS; i++)
		good = good && participants.engines[i]->join->match(participants.jobs[i], HG_MATCH_ALL,
															NULL) == HG_OK;
	do
	{
		count = 0;
		for (int i = 0; i < PARTICIPANTS && good; i++)
		{
			HgMatches matches = {.outer = outer, .inner = inner, .capacity = CHUNK};

			if (i > 0)
			{
				matches.values[HG_INNER][0] = inner_values;
				matches.nulls[HG_INNER][0] = nulls[HG_INNER];
			}
			if (i > 1)
			{
				matches.values[HG_OUTER][0] = outer_values;
				matches.nulls[HG_OUTER][0] = nulls[HG_OUTER];
			}
			good =
				participants.engines[i]->join->next(participants.jobs[i], &matches, NULL) ==
					HG_OK &&
				values_are_right(&matches, outer_values, inner_values, nulls[HG_INNER], with_nulls);
			for (size_t k = 0; good && k < matches.count; k++)
				checksum += test_pair_checksum(outer[k], inner[k]);
			pairs[i] += matches.count;
			count += matches.count;
		}
	} while (good && count > 0);
	hg_tap_ok(good && pairs[0] > 0 && pairs[1] > 0 && pairs[2] > 0,
			  "each member gets the values that it asks for, %s",
			  with_nulls ? "some of them NULL" : "none of them NULL");
	hg_tap_ok(pairs[0] + pairs[1] + pairs[2] == data.pairs && checksum == data.checksum,
			  "and all matches go to one of them");
	close_participants(&participants);
	disconnect_participants(&participants);
	hg_tap_ok(test_stop_server(&server), "the process ends after them");
	test_data_destroy(&data);
}

static void
test_groups(void)
{
	const HgReduceColumn outer = {.side = HG_OUTER, .is_signed = 1};
	HgReduceSpec spec = {.nkeys = 1,
						 .nitems = 1,
						 .keys = {{.side = HG_INNER}},
						 .items = {{.kind = HG_REDUCE_SUM, .argument = outer}},
						 .max_groups = 4};
	TestServer server;
	TestData data;
	Participants participants;
	HgStatus statuses[PARTICIPANTS];
	uint64_t groups[PARTICIPANTS];
	uint64_t words[3][10 * 6];
	HgGroupRecords records[PARTICIPANTS];
	uint64_t pairs = 0;
	int64_t sum = 0;
	bool good;

	/* keys 0 .. 2999 in both: the pairs of row numbers are all that matters here */
	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 3000, 3000);
	test_start_server(&server, NULL);
	connect_participants(&server, &participants);
	open_with_columns(&participants, &data, PARTICIPANTS_ID, 1, statuses);
	hg_tap_ok(statuses[0] == HG_OK && statuses[1] == HG_INVALID && statuses[2] == HG_OK,
			  "columns of another width are not a team's");
	participants.jobs[1] = NULL;
	close_participants(&participants);

	good = build_with_columns(&participants, &data, PARTICIPANTS_ID + 1, false);
	for (int i = 0; i < PARTICIPANTS; i++)
		good = good &&
			   participants.engines[i]->columns->reduce(participants.jobs[i], HG_MATCH_ALL, &spec,
														&groups[i], NULL) == HG_OK &&
			   groups[i] == HG_TOO_MANY_GROUPS;
	hg_tap_ok(good, "too many groups are too many for all members");
	hg_tap_ok(good && fetch_participants(&participants, &data, groups),
			  "who can still get the matches");
	close_participants(&participants);

	spec.max_groups = 5;
	good = build_with_columns(&participants, &data, PARTICIPANTS_ID + 2, false);
	for (int i = PARTICIPANTS - 1; i >= 0; i--)
	{
		records[i] = (HgGroupRecords){.words = words[i], .capacity = 10};
		good = good &&
			   participants.engines[i]->columns->reduce(participants.jobs[i], HG_MATCH_ALL, &spec,
														&groups[i], NULL) == HG_OK &&
			   groups[i] == (i == PARTICIPANTS - 1 ? 5 : 0);
	}
	for (int i = 0; i < PARTICIPANTS; i++)
		good = good &&
			   participants.engines[i]->columns->next_groups(participants.jobs[i], &records[i],
															 NULL) == HG_OK &&
			   records[i].count == groups[i];
	for (size_t k = 0; good && k < 5; k++)
	{
		const uint64_t *record = words[PARTICIPANTS - 1] + k * 6;

		pairs += record[2];
		sum += (int64_t) record[4];
	}
	hg_tap_ok(good && pairs == 3000 && sum == -2999 * 3000 / 2,
			  "all groups go to the member that asks first");
	good =
		good && participants.engines[PARTICIPANTS - 1]->columns->next_groups(
					participants.jobs[PARTICIPANTS - 1], &records[PARTICIPANTS - 1], NULL) == HG_OK;
	hg_tap_ok(good && records[PARTICIPANTS - 1].count == 0, "once");
	/* records of fewer words would be written as the longer ones that they are */
	spec.nitems = 0;
	hg_tap_ok(participants.engines[PARTICIPANTS - 1]->columns->reduce(
				  participants.jobs[PARTICIPANTS - 1], HG_MATCH_ALL, &spec, &groups[0], NULL) ==
				  HG_INVALID,
			  "and no member can have it think of them as others");
	close_participants(&participants);
	hg_tap_ok(test_counts_become(&server, PARTICIPANTS, 0, 0) &&
				  test_status_of(&server).memory_held == 0,
			  "and nothing is left of them");
	disconnect_participants(&participants);
	hg_tap_ok(test_stop_server(&server), "the process ends after them");
	test_data_destroy(&data);
}

static void
test_leavers(void)
{
	TestServer server;
	TestData data;
	Participants participants;
	uint64_t pairs[PARTICIPANTS] = {0};
	HgEngine calls; /* of a client that is gone */
	bool good;

	test_data_create(&data, TEST_KEYS_SKEWED, 4, 5000, 500);
	test_start_server(&server, NULL);
	connect_participants(&server, &participants);
	good = open_participants(&participants, PARTICIPANTS_ID, &data) &&
		   fill_participants(&participants, &data) && build_participants(&participants);
	participants.engines[0]->join->close(participants.jobs[0]);
	participants.jobs[0] = NULL;
	calls = *participants.engines[1];
	hg_wire_client_destroy(participants.clients[1]);
	calls.join->close(participants.jobs[1]);
	participants.clients[1] = NULL;
	participants.jobs[1] = NULL;
	hg_tap_ok(good && fetch_participants(&participants, &data, pairs),
			  "what the first member closes, and a member that is gone, leave the job to the last");
	close_participants(&participants);
	hg_tap_ok(test_counts_become(&server, PARTICIPANTS - 1, 0, 0), "which ends with that one");
	disconnect_participants(&participants);
	hg_tap_ok(test_stop_server(&server), "the process ends after them");
	test_data_destroy(&data);
}

/*
 * All participants close their job and are answered something: there is room for the next one at
 * once.
 */
static void
test_next_attempt(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	const TestData data = {.key_width = 4, .rows = {FULL_ROWS / 2, FULL_ROWS / 2}};
	TestServer server;
	Participants participants;
	HgDeviceStatus status;
	bool good = true;

	test_start_server(&server, options);
	connect_participants(&server, &participants);
	for (uint64_t number = 0; number < ATTEMPTS && good; number++)
	{
		/* a job of the same group that is in its way would have it refused */
		good = open_participants(&participants, PARTICIPANTS_ID + number, &data);
		for (int i = 0; i < PARTICIPANTS && good; i++)
		{
			uint64_t participant = (i + number) % PARTICIPANTS;

			participants.engines[participant]->join->close(participants.jobs[participant]);
			participants.jobs[participant] = NULL;
		}
		for (int i = 0; i < PARTICIPANTS && good; i++)
			good = hg_wire_client_status(participants.clients[i], test_host_plain(), &status,
										 NULL) == HG_OK;
	}
	hg_tap_ok(good, "a job that all have closed is gone when they are answered the next thing");
	close_participants(&participants);
	disconnect_participants(&participants);
	hg_tap_ok(test_stop_server(&server), "the process ends after them");
}

/* Ask by hand for a part of a shared job. */
static void
ask_participant(TestSpeaker *speaker, uint32_t job, uint64_t rows, uint64_t number)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.spec.sides[HG_OUTER].expected_rows = rows / 2;
	message.request.spec.sides[HG_INNER].expected_rows = rows - rows / 2;
	message.request.spec.group = 5;
	message.request.spec.participants_id = number;
	test_ask(speaker, HG_WIRE_OPEN, job, &message);
}

static void
test_waiting(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	TestServer server;
	TestSpeaker other;
	TestSpeaker speakers[PARTICIPANTS];

	test_start_server(&server, options);
	test_start_speaker(&server, &other);
	test_ask_open(&other, 1, FULL_ROWS, 0);
	test_is_answered(&other, HG_OK);
	for (int i = 0; i < PARTICIPANTS; i++)
	{
		test_start_speaker(&server, &speakers[i]);
		ask_participant(&speakers[i], 1, FULL_ROWS, PARTICIPANTS_ID);
		if (i == 0)
			test_counts_become(&server, 2, 1, 1);
	}
	hg_tap_ok(test_is_waiting(&speakers[0]) && test_is_waiting(&speakers[1]) &&
				  test_counts_become(&server, 1 + PARTICIPANTS, 1, 1),
			  "the first member waits in the queue, and the others for it");
	test_send_note(&speakers[1], HG_WIRE_CANCEL, 1);
	hg_tap_ok(test_is_answered(&speakers[1], HG_CANCELLED), "one that waits can give up");
	test_send_note(&other, HG_WIRE_CLOSE, 1);
	hg_tap_ok(test_is_answered(&speakers[0], HG_OK) && test_is_answered(&speakers[2], HG_OK),
			  "the others come in together");
	test_send_note(&speakers[0], HG_WIRE_CLOSE, 1);
	test_send_note(&speakers[2], HG_WIRE_CLOSE, 1);
	hg_tap_ok(test_counts_become(&server, 1 + PARTICIPANTS, 0, 0), "and leave");

	/* the first one does not come in */
	test_ask_open(&other, 2, FULL_ROWS, 0);
	test_is_answered(&other, HG_OK);
	ask_participant(&speakers[0], 2, FULL_ROWS, PARTICIPANTS_ID + 1);
	test_counts_become(&server, 1 + PARTICIPANTS, 1, 1);
	ask_participant(&speakers[1], 2, FULL_ROWS, PARTICIPANTS_ID + 1);
	test_is_waiting(&speakers[1]);
	test_send_note(&speakers[0], HG_WIRE_CANCEL, 2);
	hg_tap_ok(test_is_answered(&speakers[0], HG_CANCELLED) &&
				  test_is_answered(&speakers[1], HG_UNAVAILABLE),
			  "when the first one gives up, there is no job for anybody");
	ask_participant(&speakers[1], 3, 2 * FULL_ROWS, PARTICIPANTS_ID + 2);
	hg_tap_ok(test_is_answered(&speakers[1], HG_DEVICE_OUT_OF_MEMORY),
			  "a job that can never fit is refused");

	for (int i = 0; i < PARTICIPANTS; i++)
		test_end_speaker(&speakers[i]);
	test_end_speaker(&other);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

static void
test_failures(void)
{
	TestServer server;
	TestSpeaker speakers[2];

	/* long enough for a cancel to come while the job is built */
	test_start_server_env(&server, "HG_STANDIN_BUILD_MS", "1500");
	for (int i = 0; i < 2; i++)
	{
		test_start_speaker(&server, &speakers[i]);
		ask_participant(&speakers[i], 1, 1000, PARTICIPANTS_ID);
		test_is_answered(&speakers[i], HG_OK);
	}
	test_ask_plainly(&speakers[0], HG_WIRE_BUILD, 1);
	test_is_waiting(&speakers[0]);
	test_ask_plainly(&speakers[1], HG_WIRE_BUILD, 1);
	hg_tap_ok(test_is_waiting(&speakers[1]), "one member waits for what another has asked for");
	test_send_note(&speakers[0], HG_WIRE_CANCEL, 1);
	hg_tap_ok(test_is_answered(&speakers[0], HG_CANCELLED) &&
				  test_is_answered(&speakers[1], HG_UNAVAILABLE),
			  "a cancel of the one at work ends the job for the other");
	test_ask_plainly(&speakers[1], HG_WIRE_COUNT, 1);
	hg_tap_ok(test_is_answered(&speakers[1], HG_UNAVAILABLE), "for good");

	for (int i = 0; i < 2; i++)
	{
		ask_participant(&speakers[i], 2, 1000, PARTICIPANTS_ID + 1);
		test_is_answered(&speakers[i], HG_OK);
	}
	test_ask_plainly(&speakers[0], HG_WIRE_BUILD, 2);
	test_is_waiting(&speakers[0]);
	test_ask_plainly(&speakers[1], HG_WIRE_BUILD, 2);
	test_is_waiting(&speakers[1]);
	test_send_note(&speakers[1], HG_WIRE_CANCEL, 2);
	hg_tap_ok(test_is_answered(&speakers[1], HG_CANCELLED) && test_is_answered(&speakers[0], HG_OK),
			  "a cancel of one that waits does nothing to the one at work");
	test_end_speaker(&speakers[0]);
	test_end_speaker(&speakers[1]);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_status_of(&server).memory_held == 0,
			  "nothing is left when they are gone");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Offer keys of a side until all are taken; how many offers took some. */
static int
try_append_all(HgJob *job, HgSide side, const TestData *data, bool numbered)
{
	uint64_t at = 0;
	int appends = 0;

	while (at < data->rows[side])
	{
		uint64_t taken;

		if (hg_wire_client_try_append(job, side,
									  (const char *) data->keys[side] + at * data->key_width,
									  data->rows[side] - at, numbered, at, &taken, NULL) != HG_OK)
			return -1;
		appends += taken > 0;
		at += taken;
	}
	return appends;
}

/* Keys are given to a job that was not waited for, as it has room for them. */
static void
test_try_append(bool is_shared)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	HgJobSpec spec = {.key_width = 8,
					  .device = -1,
					  .group = 7,
					  .participants_id = is_shared ? PARTICIPANTS_ID : 0};
	TestServer server;
	TestSpeaker other;
	TestData data;
	HgWireClient *client;
	HgEngine *engine;
	HgJob *job;
	uint64_t counted = 0;
	uint64_t taken = 1;
	int appends[2];
	bool good;

	test_data_create(&data, TEST_KEYS_DUPLICATES, 8, 90000, 40000);
	test_start_server(&server, options);
	test_start_speaker(&server, &other);
	test_ask_open(&other, 1, FULL_ROWS, 0);
	test_is_answered(&other, HG_OK);
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	/* half of the rows are expected */
	spec.sides[HG_OUTER].expected_rows = data.rows[HG_OUTER] / 2;
	spec.sides[HG_INNER].expected_rows = data.rows[HG_INNER] / 2;

	good = hg_wire_client_begin(client, test_host_plain(), &spec, &job, NULL) == HG_OK;
	hg_tap_ok(good && test_counts_become(&server, 2, 1, 1) && !hg_wire_client_is_admitted(job) &&
				  hg_wire_client_try_append(job, HG_OUTER, data.keys[HG_OUTER], 10, is_shared, 0,
											&taken, NULL) == HG_OK &&
				  taken == 0,
			  "%s: keys are not taken by a job that stands in the queue",
			  is_shared ? "shared" : "alone");
	test_send_note(&other, HG_WIRE_CLOSE, 1);
	test_counts_become(&server, 2, 1, 0);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		appends[side] = try_append_all(job, (HgSide) side, &data, is_shared);
	hg_tap_ok(hg_wire_client_is_admitted(job) && appends[HG_OUTER] > 1 && appends[HG_INNER] > 0,
			  "they are when it is admitted, a slot at a time, more than were expected");
	hg_tap_ok(hg_wire_client_end_append(job, NULL) == HG_OK &&
				  test_status_of(&server).staging_leased == 0 &&
				  engine->join->append(job, HG_OUTER, data.keys[HG_OUTER], 1, NULL) == HG_INVALID,
			  "a job whose appends have ended has no lease, and takes no more");
	hg_tap_ok(engine->join->build(job, NULL) == HG_OK &&
				  engine->join->count(job, HG_MATCH_ALL, &counted, NULL) == HG_OK &&
				  counted == data.pairs,
			  "and joins what it was given");
	engine->join->close(job);

	/* whoever thinks better of it leaves nothing behind */
	test_ask_open(&other, 2, FULL_ROWS, 0);
	test_is_answered(&other, HG_OK);
	good = hg_wire_client_begin(client, test_host_plain(), &spec, &job, NULL) == HG_OK &&
		   test_counts_become(&server, 2, 1, 1);
	engine->join->close(job);
	hg_tap_ok(good && test_counts_become(&server, 2, 1, 0), "a job that waits can be closed");
	test_send_note(&other, HG_WIRE_CLOSE, 2);
	hg_tap_ok(test_counts_become(&server, 2, 0, 0) && test_stream_works(engine, &data),
			  "and the next one is answered rightly");

	/* others have the memory that the rows which nobody expected would need */
	spec.sides[HG_OUTER].expected_rows = spec.sides[HG_INNER].expected_rows = 10;
	good = hg_wire_client_begin(client, test_host_plain(), &spec, &job, NULL) == HG_OK &&
		   test_counts_become(&server, 2, 1, 0);
	test_ask_open(&other, 3, FULL_ROWS - 1000, 0);
	good = good && test_is_answered(&other, HG_OK);
	good = good && (try_append_all(job, HG_OUTER, &data, is_shared) < 0 ||
					hg_wire_client_end_append(job, NULL) == HG_DEVICE_OUT_OF_MEMORY);
	hg_tap_ok(good, "rows that were not expected are refused where others have the memory");
	engine->join->close(job);
	test_end_speaker(&other);
	hg_wire_client_destroy(client);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_status_of(&server).memory_reserved == 0,
			  "nothing stays reserved");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
	test_data_destroy(&data);
}

/* More participants than there are leases, while their job and another fill the device. */
static void
test_leases(void)
{
	enum
	{
		CROWD = 12
	};
	static const char *const options[] = {FULL_BUDGET, "--staging-bytes", "131072", NULL};
	TestServer server;
	TestSpeaker speakers[CROWD];
	TestSpeaker other;
	HgDeviceStatus status;
	int ended = 0;
	bool good;

	test_start_server(&server, options);
	for (int i = 0; i < CROWD; i++)
	{
		test_start_speaker(&server, &speakers[i]);
		ask_participant(&speakers[i], 1, FULL_ROWS, PARTICIPANTS_ID);
		/* each has a thread: the next one must not come before it into the line */
		test_counts_jobs(&server, (uint32_t) i + 1);
	}
	good = test_is_answered(&speakers[0], HG_OK);
	/* it waits for the memory that they have */
	test_start_speaker(&server, &other);
	test_ask_open(&other, 1, FULL_ROWS, 0);
	test_counts_jobs(&server, CROWD + 1);
	status = test_status_of(&server);
	hg_tap_ok(good && status.jobs_queued > 1 && status.jobs_open > 1,
			  "members wait for a lease, as another job does for their memory");
	/* whoever has one ends its appends: those that wait get theirs */
	for (int round = 0; round < CROWD && ended < CROWD; round++)
		for (int i = ended; i < CROWD; i++)
		{
			if ((i > 0 && !test_is_answered(&speakers[i], HG_OK)))
				break;
			test_ask_plainly(&speakers[i], HG_WIRE_END_APPEND, 1);
			if (!test_is_answered(&speakers[i], HG_OK))
				break;
			ended++;
		}
	status = test_status_of(&server);
	hg_tap_ok(ended == CROWD && status.staging_leased == 0 && status.jobs_open == CROWD,
			  "all get one when the appends of others have ended");
	for (int i = 0; i < CROWD; i++)
		test_end_speaker(&speakers[i]);
	hg_tap_ok(test_is_answered(&other, HG_OK), "the other one when they have gone");
	test_end_speaker(&other);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_stop_server(&server),
			  "the process ends after that");
}

/* One of several processes that append to a shared job at once. */
typedef struct Appender
{
	pthread_t thread;
	pthread_barrier_t *ready;
	HgEngine *engine;
	HgJob *job;
	const void *keys;
	uint64_t first_row;
	bool good;
} Appender;

static void *
append_piece(void *arg)
{
	Appender *appender = arg;

	pthread_barrier_wait(appender->ready);
	appender->good =
		appender->engine->join->append_rows(appender->job, HG_INNER, appender->keys, PIECE,
											appender->first_row, NULL) == HG_OK &&
		hg_wire_client_end_append(appender->job, NULL) == HG_OK;
	return NULL;
}

/*
 * Rows beyond those that a shared job was admitted with have their memory reserved, whoever brings
 * them: the participants together bring more at once, none of them alone.
 */
static void
test_growing(void)
{
	const HgJobSpec one = {
		.key_width = 8, .device = -1, .sides[HG_INNER] = {.expected_rows = PIECE}};
	uint64_t row_bytes = 0;
	uint64_t keys[PIECE] = {0};
	Appender appenders[PARTICIPANTS];
	pthread_barrier_t ready;
	TestServer server;
	Participants participants;
	TestData data;
	HgJob *job = NULL;
	bool good;

	/* while the needs of one are reckoned the others come */
	test_start_server_env(&server, "HG_STANDIN_RECKON_MS", "10");
	connect_participants(&server, &participants);
	memset(&data, 0, sizeof(data));
	data.key_width = 8;
	data.rows[HG_INNER] = PIECE / 2;
	pthread_barrier_init(&ready, NULL, PARTICIPANTS);

	/* what a row is reckoned with */
	good = participants.engines[0]->open(participants.engines[0], test_host_plain(), &one, &job,
										 NULL) == HG_OK;
	row_bytes = test_status_of(&server).memory_reserved / PIECE;
	if (job != NULL)
		participants.engines[0]->join->close(job);
	good = good && test_counts_jobs(&server, 0) && row_bytes > 0;

	for (int attempt = 0; good && attempt < 5; attempt++)
	{
		good = open_participants(&participants, PARTICIPANTS_ID + (uint64_t) attempt, &data);
		for (int i = 0; good && i < PARTICIPANTS; i++)
		{
			appenders[i] = (Appender){.ready = &ready,
									  .engine = participants.engines[i],
									  .job = participants.jobs[i],
									  .keys = keys,
									  .first_row = (uint64_t) i * PIECE};
			if (pthread_create(&appenders[i].thread, NULL, append_piece, &appenders[i]) != 0)
				abort();
		}
		for (int i = 0; good && i < PARTICIPANTS; i++)
			pthread_join(appenders[i].thread, NULL);
		for (int i = 0; i < PARTICIPANTS; i++)
			good = good && appenders[i].good;
		if (good)
		{
			const uint64_t reserved = test_status_of(&server).memory_reserved;

			good = reserved == PARTICIPANTS * PIECE * row_bytes;
			if (!good)
				hg_tap_diag("attempt %d: %llu bytes reserved for %d rows of %llu bytes", attempt,
							(unsigned long long) reserved, PARTICIPANTS * PIECE,
							(unsigned long long) row_bytes);
		}
		close_participants(&participants);
		good = test_counts_jobs(&server, 0) && good;
	}
	hg_tap_ok(good, "what members bring at once beyond what was expected is reserved");
	pthread_barrier_destroy(&ready);
	disconnect_participants(&participants);
	test_stop_server(&server);
}

int
main(int argc, char **argv)
{
	if (test_choose_device(argc, argv))
	{
		test_waiting();
		test_next_attempt();
		test_failures();
		test_try_append(false);
		test_try_append(true);
		test_leases();
		test_growing();
	}
	test_together(4);
	test_together(8);
	test_groups();
	test_values(false);
	test_values(true);
	test_leavers();
	return hg_tap_done();
}
