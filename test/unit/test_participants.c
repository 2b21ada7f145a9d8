/*-------------------------------------------------------------------------
 *
 * test_participants.c
 *	  Jobs that several participants share, each of them a thread.
 *
 * Shared memory is malloc's, behind handles; arrive is a barrier that participants can
 * join late.  Whatever number of them there is, and however the rows are dealt out, the matches
 * of all together must be those of the reference, each once.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include "hg_tap.h"
#include "test_engine_suite.h"

#include "../../src/engine/cpu/hg_cpu.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define MOST_PARTICIPANTS 9
#define MOST_CHUNKS 4096

/* Keys that a participant appends at a time. */
#define PIECE 1000

typedef struct Shared
{
	pthread_mutex_t mutex;
	pthread_cond_t turn;
	unsigned joined;  /* participants that arrive waits for */
	unsigned waiting; /* those who are there */
	unsigned arrives; /* completed */

	void *chunks[MOST_CHUNKS]; /* by handle - 1 */
	unsigned chunk_count;
	unsigned live;			/* chunks not freed */
	unsigned fail_at;		/* this allocation fails, from 1; 0 = none */
	unsigned cancel_arrive; /* this arrive of participant 0 is cancelled, from 1; 0 = none */
	unsigned reader;		/* by turns: whose turn it is to read matches */
	unsigned readers;		/* ... of those with a bit here */

	HgParticipantsState state;
} Shared;

typedef struct Participant
{
	Shared *shared;
	const TestData *data;
	HgJobSpec spec;
	HgParticipants group;
	unsigned number;
	unsigned of;	   /* participants that bring rows */
	unsigned join_at;  /* joins when so many arrives are completed */
	bool count;		   /* count, do not read the stream */
	bool alone;		   /* brings rows alone */
	bool by_turns;	   /* reads matches when it is its turn */
	bool fails_before; /* its append fails */
	bool direct;	   /* keys were the vertices */
	unsigned arrive_calls;
	HgMatchMode mode;
	HgStatus status;
	uint64_t pairs;
	uint64_t checksum;
	unsigned char *owners; /* [inner rows] whole bins: who has had a row, number + 1 */
	unsigned char *seen;   /* [outer rows] who has had it */
	bool right;
} Participant;

static uint64_t
shared_alloc(void *arg, size_t bytes)
{
	Shared *shared = ((Participant *) arg)->shared;
	uint64_t handle = 0;

	pthread_mutex_lock(&shared->mutex);
	if (shared->chunk_count < MOST_CHUNKS && bytes <= HG_SHARED_JOB_CHUNK_BYTES &&
		shared->chunk_count + 1 != shared->fail_at)
	{
		shared->chunks[shared->chunk_count] = test_malloc(bytes);
		memset(shared->chunks[shared->chunk_count], 0xa5, bytes);
		handle = ++shared->chunk_count;
		shared->live++;
	}
	else
		shared->fail_at = 0;
	pthread_mutex_unlock(&shared->mutex);
	return handle;
}

static void *
shared_address(void *arg, uint64_t handle)
{
	Shared *shared = ((Participant *) arg)->shared;
	void *address;

	pthread_mutex_lock(&shared->mutex);
	address = shared->chunks[handle - 1];
	pthread_mutex_unlock(&shared->mutex);
	return address;
}

static void
shared_free(void *arg, uint64_t handle)
{
	Shared *shared = ((Participant *) arg)->shared;

	pthread_mutex_lock(&shared->mutex);
	free(shared->chunks[handle - 1]);
	shared->chunks[handle - 1] = NULL;
	shared->live--;
	pthread_mutex_unlock(&shared->mutex);
}

static bool
shared_arrive(void *arg)
{
	Participant *self = arg;
	Shared *shared = self->shared;
	unsigned turn;
	bool leaves;

	pthread_mutex_lock(&shared->mutex);
	turn = shared->arrives;
	leaves = self->number == 0 && ++self->arrive_calls == shared->cancel_arrive;
	if (leaves)
		shared->joined--;
	else
		shared->waiting++;
	if (shared->waiting == shared->joined)
	{
		shared->waiting = 0;
		shared->arrives++;
		pthread_cond_broadcast(&shared->turn);
	}
	while (!leaves && shared->arrives == turn)
		pthread_cond_wait(&shared->turn, &shared->mutex);
	pthread_mutex_unlock(&shared->mutex);
	return !leaves;
}

/* Append the rows of a side whose piece is this participant's. */
static HgStatus
append_share(Participant *self, HgJob *job, HgSide side, HgError *error)
{
	const TestData *data = self->data;
	HgEngine *engine = hg_cpu_engine();
	uint64_t piece = 0;

	if (self->join_at > 0)
		return HG_OK;
	for (uint64_t at = 0; at < data->rows[side]; at += PIECE, piece++)
	{
		uint64_t left = data->rows[side] - at;
		HgStatus status;

		/* the first takes more than its share */
		if (self->alone ? self->number != 0
						: (piece % 3 == 0 ? 0 : piece % self->of) != self->number)
			continue;
		status = engine->join->append_rows(job, side,
										   (const char *) data->keys[side] + at * data->key_width,
										   left < PIECE ? left : PIECE, at, error);
		if (status != HG_OK)
			return status;
	}
	return HG_OK;
}

/* Wait for this participant's turn to read. */
static void
await_turn(Participant *self)
{
	Shared *shared = self->shared;

	pthread_mutex_lock(&shared->mutex);
	while (shared->reader != self->number)
		pthread_cond_wait(&shared->turn, &shared->mutex);
	pthread_mutex_unlock(&shared->mutex);
}

/* It is the next one's turn; ended: this one wants no more. */
static void
end_turn(Participant *self, bool ended)
{
	Shared *shared = self->shared;

	pthread_mutex_lock(&shared->mutex);
	if (ended)
		shared->readers &= ~(1U << self->number);
	do
		shared->reader = (shared->reader + 1) % MOST_PARTICIPANTS;
	while (shared->readers != 0 && (shared->readers & 1U << shared->reader) == 0);
	pthread_cond_broadcast(&shared->turn);
	pthread_mutex_unlock(&shared->mutex);
}

static HgStatus
read_share(Participant *self, HgJob *job, HgError *error)
{
	HgEngine *engine = hg_cpu_engine();
	uint32_t outer[500];
	uint32_t inner[500];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = LENGTH(outer)};
	HgStatus status;

	if (self->count)
		return engine->join->count(job, self->mode, &self->pairs, error);
	status = engine->join->match(job, self->mode, error);
	while (status == HG_OK)
	{
		if (self->by_turns)
			await_turn(self);
		status = engine->join->next(job, &matches, error);
		if (self->by_turns)
			end_turn(self, status != HG_OK || matches.count == 0);
		if (status != HG_OK || matches.count == 0)
			break;
		self->pairs += matches.count;
		for (size_t i = 0; i < matches.count; i++)
		{
			self->checksum += test_pair_checksum(outer[i], inner[i]);
			self->right &= test_data_key(self->data, HG_OUTER, outer[i]) ==
						   test_data_key(self->data, HG_INNER, inner[i]);
			self->seen[outer[i]] = 1;
			self->owners[inner[i]] = 1;
		}
	}
	return status;
}

static void *
participate(void *arg)
{
	Participant *self = arg;
	Shared *shared = self->shared;
	HgEngine *engine = hg_cpu_engine();
	HgError error = {0};
	HgGraphStats graph;
	TestHost host;
	HgJob *job = NULL;
	HgStatus status;

	test_host_init(&host, test_host_plain());
	self->group = (HgParticipants){.state = &shared->state,
								   .whole_bins = self->group.whole_bins,
								   .spread = self->group.spread,
								   .alloc = shared_alloc,
								   .address = shared_address,
								   .free = shared_free,
								   .arrive = shared_arrive,
								   .arg = self};

	/* whoever brings rows has been joined by the main thread */
	pthread_mutex_lock(&shared->mutex);
	while (shared->arrives < self->join_at)
		pthread_cond_wait(&shared->turn, &shared->mutex);
	if (self->join_at > 0 && shared->arrives < HG_SHARED_JOB_ARRIVES)
		shared->joined++;
	self->group.arrived = self->join_at > 0 ? shared->arrives : 0;
	pthread_mutex_unlock(&shared->mutex);

	status = engine->open(engine, &host.host, &self->spec, &job, &error);
	if (status == HG_OK)
		status = engine->local->share(job, &self->group, &error);
	for (int side = 0; side < 2 && status == HG_OK; side++)
		status = append_share(self, job, (HgSide) side, &error);
	if (status == HG_OK && self->fails_before)
		status = engine->join->append_rows(job, HG_OUTER, &host, HG_MAX_ROWS, 0, &error) == HG_OK
					 ? HG_INVALID
					 : HG_OK;
	if (status == HG_OK)
		status = engine->join->build(job, &error);
	if (status == HG_OK)
	{
		status = read_share(self, job, &error);
		self->right &= engine->join->match(job, self->mode, NULL) == HG_INVALID &&
					   engine->join->describe(job, HG_INNER, &graph, NULL) == HG_INVALID;
	}
	if (job != NULL)
	{
		HgJobStats stats;

		engine->join->stats(job, &stats);
		self->direct = stats.build == HG_BUILD_DIRECT;
		engine->join->close(job);
	}
	self->right &= host.held_bytes == 0 && !host.misused;
	self->status = status;
	return NULL;
}

/* What the participants are to be. */
typedef struct ParticipantsRun
{
	unsigned participants;
	unsigned late; /* of them, who join after the first arrive */
	bool whole_bins;
	bool spread;
	bool alone;	   /* the first one brings all rows */
	bool by_turns; /* they read a chunk of matches each, in turn */
	bool count;
	HgMatchMode mode;
	HgJobSpec spec;
	unsigned fail_at;
	unsigned cancel_arrive;
	bool fails_before;
	bool direct;		  /* keys are to be the vertices */
	uint64_t first_limit; /* the spec.direct_limit of the first one */
} ParticipantsRun;

/*
 * Run the participants; statuses are those of the participants.  Returns whether memory and, if all
 * went well, the matches are right.
 */
static bool
participants_run(const ParticipantsRun *run, const TestData *data, HgStatus *statuses)
{
	Shared *shared = test_malloc(sizeof(Shared));
	Participant *all = test_malloc(MOST_PARTICIPANTS * sizeof(Participant));
	pthread_t threads[MOST_PARTICIPANTS];
	uint64_t wanted = run->mode == HG_MATCH_ALL ? data->pairs : data->first;
	uint64_t pairs = 0;
	uint64_t checksum = 0;
	bool right = true;
	bool good = true;

	memset(shared, 0, sizeof(*shared));
	memset(all, 0, MOST_PARTICIPANTS * sizeof(Participant));
	pthread_mutex_init(&shared->mutex, NULL);
	pthread_cond_init(&shared->turn, NULL);
	shared->joined = run->participants - run->late;
	shared->fail_at = run->fail_at;
	shared->cancel_arrive = run->cancel_arrive;
	for (unsigned i = 0; i < run->participants; i++)
	{
		all[i] = (Participant){.shared = shared,
							   .data = data,
							   .spec = run->spec,
							   .number = i,
							   .of = shared->joined,
							   .mode = run->mode,
							   .count = run->count,
							   .alone = run->alone,
							   .by_turns = run->by_turns,
							   .fails_before = run->fails_before && i == 0,
							   .right = true};
		all[i].spec.key_width = data->key_width;
		all[i].spec.device = -1;
		all[i].spec.shape.direct_limit = i == 0 ? run->first_limit : 0;
		all[i].group.whole_bins = run->whole_bins;
		all[i].group.spread = run->spread ? run->participants : 0;
		shared->readers |= 1U << i;
		if (i >= run->participants - run->late)
			all[i].join_at = 1 + i % HG_SHARED_JOB_ARRIVES;
		all[i].owners = calloc(data->rows[HG_INNER] + 1, 1);
		all[i].seen = calloc(data->rows[HG_OUTER] + 1, 1);
	}
	for (unsigned i = 0; i < run->participants; i++)
		all[i].of = run->participants - run->late;
	for (unsigned i = 0; i < run->participants; i++)
		if (pthread_create(&threads[i], NULL, participate, &all[i]) != 0)
			abort();
	for (unsigned i = 0; i < run->participants; i++)
		pthread_join(threads[i], NULL);

	for (unsigned i = 0; i < run->participants; i++)
	{
		/* by turns nobody gets much more than another, where all are to have their part */
		right &= !run->by_turns || all[i].pairs < 2 * wanted / run->participants;
		statuses[i] = all[i].status;
		good &= all[i].status == HG_OK;
		right &= all[i].right;
		pairs += all[i].pairs;
		checksum += all[i].checksum;
	}
	if (good)
	{
		right &= pairs == wanted;
		for (unsigned i = 0; i < run->participants; i++)
			right &= run->direct == all[i].direct;
		right &= run->count || run->mode == HG_MATCH_FIRST || checksum == data->checksum;

		/* an outer row is one participant's, and an inner row where bins are whole */
		for (uint64_t row = 0; row < data->rows[HG_OUTER] && !run->count; row++)
		{
			unsigned owners = 0;

			for (unsigned i = 0; i < run->participants; i++)
				owners += all[i].seen[row];
			right &= owners <= 1;
		}
		for (uint64_t row = 0; row < data->rows[HG_INNER] && !run->count && run->whole_bins; row++)
		{
			unsigned owners = 0;

			for (unsigned i = 0; i < run->participants; i++)
				owners += all[i].owners[row];
			right &= owners <= 1;
		}
	}
	hg_participants_release(&all[0].group);
	right &= shared->live == 0 && shared->state.rows[0] == 0 && shared->state.runs[0] == 0;
	for (unsigned i = 0; i < run->participants; i++)
	{
		free(all[i].owners);
		free(all[i].seen);
	}
	pthread_cond_destroy(&shared->turn);
	pthread_mutex_destroy(&shared->mutex);
	free(all);
	free(shared);
	if (!right)
		hg_tap_diag("%u participants, %u late%s%s, mode %d: %" PRIu64 " pairs, not %" PRIu64,
					run->participants, run->late, run->whole_bins ? ", whole bins" : "",
					run->count ? ", count" : "", (int) run->mode, pairs, wanted);
	return right;
}

/* All is well with every number of participants over these rows. */
static void
test_participant_counts(TestKeys kind, uint32_t key_width, uint64_t outer_rows, uint64_t inner_rows)
{
	static const unsigned groups[][2] = {{1, 0}, {2, 0}, {3, 1}, {5, 0}, {8, 0}, {9, 4}};
	static const HgBuildAlgorithm builds[] = {HG_BUILD_AUTO, HG_BUILD_V1, HG_BUILD_V2};
	const bool big = outer_rows + inner_rows > 100000;
	const unsigned stride = big && hg_tap_suite() <= HG_SUITE_SMALL ? 13 : 1;
	TestData data;
	bool good = true;
	unsigned turn = 0;

	test_data_create(&data, kind, key_width, outer_rows, inner_rows);
	for (size_t group = 0; group < LENGTH(groups); group++)
		for (size_t b = 0; b < LENGTH(builds); b++)
			for (int probe = HG_PROBE_AUTO; probe <= HG_PROBE_INTERSECT; probe++)
			{
				HgStatus statuses[MOST_PARTICIPANTS];
				ParticipantsRun run = {.participants = groups[group][0], .late = groups[group][1]};

				/*
				 * one in thirteen where they take long, which has all numbers of participants but
				 * one
				 */
				if (turn++ % stride != 0)
					continue;
				run.spec.shape.build = builds[b];
				run.spec.shape.probe = (HgProbeAlgorithm) probe;
				run.spec.shape.bins = turn % 4 == 0 ? 16 : 0;
				run.whole_bins = turn % 2 == 0;
				run.spread = turn % 7 < 4;
				run.count = turn % 5 == 0;
				run.mode = turn % 3 == 0 ? HG_MATCH_FIRST : HG_MATCH_ALL;
				good &= participants_run(&run, &data, statuses);
				for (unsigned i = 0; i < run.participants; i++)
					good &= statuses[i] == HG_OK;
			}
	hg_tap_ok(good, "teams: %" PRIu64 " x %" PRIu64 " rows, keys %s of %u bytes", outer_rows,
			  inner_rows, test_keys_name(kind), key_width);
	test_data_destroy(&data);
}

/* Rows that one participant has brought: each returns its part of the matches all the same. */
static void
test_spread(TestKeys kind, uint64_t outer_rows, uint64_t inner_rows)
{
	HgStatus statuses[MOST_PARTICIPANTS];
	TestData data;
	bool good = true;

	test_data_create(&data, kind, 4, outer_rows, inner_rows);
	for (int probe = HG_PROBE_STANDARD; probe <= HG_PROBE_INTERSECT; probe++)
	{
		ParticipantsRun run = {.participants = 4,
							   .spread = true,
							   .alone = true,
							   .by_turns = true,
							   .spec = {.shape.probe = (HgProbeAlgorithm) probe}};

		good &= participants_run(&run, &data, statuses);
		for (unsigned i = 0; i < run.participants; i++)
			good &= statuses[i] == HG_OK;
	}
	hg_tap_ok(good, "teams: %" PRIu64 " x %" PRIu64 " rows of one, keys %s, are shared out",
			  outer_rows, inner_rows, test_keys_name(kind));
	test_data_destroy(&data);
}

/*
 * Keys that may be vertices: they are where the inner side is small, or small beside the outer one,
 * and outer rows need not be dealt out.
 */
static void
test_direct(uint32_t key_width)
{
	static const struct
	{
		uint64_t rows[2];
		TestInterval interval;
		bool direct;
	} cases[] = {
		{{3000, 500}, {7, 500, false}, true},
		{{3000, 500}, {0 - UINT64_C(100), 500, true}, true},
		{{40, 2500}, {0 - UINT64_C(3000), 2500, false}, true},
		{{3000, 500}, {0, 1000000, false}, false},
		{{3000, 2}, {5, UINT64_C(1) << 31, false}, false},
		{{0, 500}, {7, 500, false}, false},
		{{500, 0}, {7, 500, false}, false},
		{{400000, 400000}, {7, 400000, false}, false},
		{{3300000, 400000}, {7, 400000, true}, true},
	};
	static const unsigned groups[][2] = {{1, 0}, {3, 1}, {9, 4}};

	for (size_t c = 0; c < LENGTH(cases); c++)
	{
		TestData data;
		bool good = true;

		test_data_create_interval(&data, key_width, cases[c].rows, &cases[c].interval);
		for (unsigned turn = 0; turn < (cases[c].rows[0] > 100000 ? 4 : 36); turn++)
		{
			HgStatus statuses[MOST_PARTICIPANTS];
			const unsigned *group = groups[turn % LENGTH(groups)];
			ParticipantsRun run = {
				.participants = group[0], .late = group[1], .spec = {.shape.direct = 1}};

			run.count = turn % 4 == 0;
			run.mode = turn % 3 == 0 ? HG_MATCH_FIRST : HG_MATCH_ALL;
			run.whole_bins = turn % 6 == 5;
			run.spread = turn % 7 == 6;
			/* nobody has a table where one has no room for it */
			run.first_limit = turn % 5 == 4 ? 1000 : 0;
			run.direct = cases[c].direct && !run.whole_bins && !run.spread && run.first_limit == 0;
			good &= participants_run(&run, &data, statuses);
			for (unsigned i = 0; i < run.participants; i++)
				good &= statuses[i] == HG_OK;
		}
		hg_tap_ok(good,
				  "teams: %" PRIu64 " x %" PRIu64 " keys of %u bytes in %" PRIu64
				  " may be vertices",
				  cases[c].rows[0], cases[c].rows[1], key_width, cases[c].interval.keys);
		test_data_destroy(&data);
	}
}

/* A failure is everybody's, and nobody waits for ever. */
static void
test_failures(void)
{
	HgStatus statuses[MOST_PARTICIPANTS];
	TestData data;
	bool good = true;
	ParticipantsRun run = {.participants = 4, .spec = {.shape.build = HG_BUILD_V2}};

	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 20000, 20000);
	for (unsigned late = 0; late < 3; late++)
		for (run.fail_at = 1; run.fail_at < 5; run.fail_at++)
		{
			run.late = late;
			good &= participants_run(&run, &data, statuses);
			for (unsigned i = 0; i < run.participants; i++)
				good &= statuses[i] == HG_OUT_OF_MEMORY || (run.fail_at > 2 * (4 - late));
		}
	hg_tap_ok(good, "teams: an allocation that fails fails all");

	run = (ParticipantsRun){.participants = 4, .direct = true, .spec = {.shape.direct = 1}};
	good = true;
	for (run.fail_at = 1; run.fail_at < 7; run.fail_at++)
	{
		good &= participants_run(&run, &data, statuses);
		for (unsigned i = 0; i < run.participants; i++)
			good &= statuses[i] == HG_OUT_OF_MEMORY || run.fail_at > 4;
	}
	hg_tap_ok(good, "teams: an allocation for keys that are vertices that fails fails all");

	run = (ParticipantsRun){.participants = 4, .fails_before = true};
	good = participants_run(&run, &data, statuses);
	for (unsigned i = 0; i < run.participants; i++)
		good &= statuses[i] != HG_OK;
	hg_tap_ok(good, "teams: an append that fails fails all");

	run = (ParticipantsRun){.participants = 4, .cancel_arrive = 1};
	good = participants_run(&run, &data, statuses);
	for (unsigned i = 0; i < run.participants; i++)
		good &= statuses[i] == HG_CANCELLED;
	run.late = 2;
	good &= participants_run(&run, &data, statuses);
	for (unsigned i = 0; i < run.participants; i++)
		good &= statuses[i] == HG_CANCELLED;
	hg_tap_ok(good, "teams: one that is cancelled in the first wait fails all");

	run = (ParticipantsRun){.participants = 4, .cancel_arrive = 2};
	good = participants_run(&run, &data, statuses) && statuses[0] == HG_CANCELLED;
	for (unsigned i = 1; i < run.participants; i++)
		good &= statuses[i] == HG_OK;
	hg_tap_ok(good, "teams: one that is cancelled in the last wait leaves the others alone");
	test_data_destroy(&data);
}

int
main(void)
{
	for (int kind = 0; kind < TEST_KEYS_COUNT; kind++)
		for (uint32_t width = 4; width <= 8; width += 4)
		{
			test_participant_counts((TestKeys) kind, width, 3000, 500);
			test_participant_counts((TestKeys) kind, width, 40, 2500);
		}
	test_participant_counts(TEST_KEYS_UNIQUE, 4, 0, 0);
	test_participant_counts(TEST_KEYS_UNIQUE, 4, 1, 0);
	test_participant_counts(TEST_KEYS_UNIQUE, 8, 0, 1);
	test_participant_counts(TEST_KEYS_UNIQUE, 8, 1, 1);
	test_participant_counts(TEST_KEYS_DUPLICATES, 4, 200000, 100000);
	test_participant_counts(TEST_KEYS_UNIQUE, 8, 60000, 150000);
	test_participant_counts(TEST_KEYS_EQUAL, 4, 400000, 3);
	test_participant_counts(TEST_KEYS_EQUAL, 8, 3, 400000);
	test_spread(TEST_KEYS_UNIQUE, 40000, 10000);
	test_spread(TEST_KEYS_DUPLICATES, 30000, 30000);
	test_spread(TEST_KEYS_EQUAL, 10000, 3);
	test_direct(4);
	test_direct(8);
	test_failures();
	return hg_tap_done();
}
