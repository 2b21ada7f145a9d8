/*-------------------------------------------------------------------------
 *
 * hg_server_participants.c
 *	  Shared jobs: one job of the engine for several connections.
 *
 * A shared job has a lock, and the engine works for the participant that holds it: the job's
 * cancelled() polls that participant's host. A participant that waits for the lock polls its own
 * host meanwhile. If a participant is cancelled at work, the job can only be closed: the others
 * find it failed.
 *
 * Bringing pages to the device needs no lock: several participants do it at a time, and take the
 * lock to append what they have brought. The engine's job exists as long as there are
 * participants.
 *
 * A list holds each shared job as long as it has participants.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* pthread_mutex_timedlock, clock_gettime */
#endif

#include "hg_server_internal.h"

#include "../../src/engine/hg_pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How often a waiting participant polls whether its client has given up, in ms. */
#define LOOK_MS 5

typedef struct Participant Participant;

typedef struct SharedJob
{
	/* in the list, whose lock guards this and the number of participants */
	struct SharedJob *next;
	uint64_t number;
	int participants;

	pthread_mutex_t lock;	 /* guards all fields below */
	pthread_cond_t answered; /* the job was opened, or has failed */
	HgEngine *engine;
	HgJob *job;			 /* NULL until it is open */
	Participant *worker; /* the participant that the engine works for */
	HgHost host;		 /* the job's host; its arg is this struct */
	HgError failure;	 /* status HG_OK while all is well */
	HgJobSpec spec;		 /* the first participant's, once it is open; its pages are copied */
	HgPageSpec pages[2];
	bool opened;
	uint64_t announced[2]; /* by HgSide; rows that were appended, or are about to be */
	uint64_t reached[2];   /* by HgSide; the most that was announced */
	bool built;
	bool counted[2]; /* by HgMatchMode */
	uint64_t counts[2];
	bool matching;
	HgMatchMode mode; /* of the stream, while matching */
	bool reduced;
	HgReduceSpec reduce;		 /* the spec of the groups, if reduced */
	bool has_groups;			 /* groups were made, and were not too many */
	const Participant *receiver; /* the participant that gets the groups */
} SharedJob;

struct Participant
{
	SharedJob *participants;
	const HgHost *host;
};

static struct
{
	pthread_mutex_t lock;
	SharedJob *first;
} shared_jobs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static Participant *
participant_of(HgJob *job)
{
	return (Participant *) job;
}

/* ------------------------------------------------------------------------
 * The engine's host
 * ------------------------------------------------------------------------ */

static void *
shared_alloc(void *arg, size_t bytes)
{
	const HgHost *host = ((SharedJob *) arg)->worker->host;

	return host->alloc(host->arg, bytes);
}

static void
shared_free(void *arg, void *ptr, size_t bytes)
{
	const HgHost *host = ((SharedJob *) arg)->worker->host;

	host->free(host->arg, ptr, bytes);
}

static bool
shared_cancelled(void *arg)
{
	const HgHost *host = ((SharedJob *) arg)->worker->host;

	return host->cancelled(host->arg);
}

/* ------------------------------------------------------------------------
 * Turns
 * ------------------------------------------------------------------------ */

/* Returns the time of a waiting participant's next poll. */
static struct timespec
next_look(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LOOK_MS * 1000000;
	if (until.tv_nsec >= 1000000000)
	{
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return until;
}

/* Takes the lock; HG_CANCELLED, without the lock, if the participant's client gives up before. */
static HgStatus
take_turn(Participant *participant, HgError *error)
{
	for (;;)
	{
		struct timespec until = next_look();

		if (pthread_mutex_timedlock(&participant->participants->lock, &until) == 0)
			break;
		if (participant->host->cancelled(participant->host->arg))
			return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
	}
	participant->participants->worker = participant;
	return HG_OK;
}

/* Returns the job's failure, if there is one. */
static HgStatus
check_job(const SharedJob *participants, HgError *error)
{
	if (participants->failure.status != HG_OK && error != NULL)
		*error = participants->failure;
	return participants->failure.status;
}

/* Takes the lock, and returns without it if the job has failed. */
static HgStatus
begin_turn(Participant *participant, HgError *error)
{
	HgStatus status;

	HG_TRY(take_turn(participant, error));
	status = check_job(participant->participants, error);
	if (status != HG_OK)
		pthread_mutex_unlock(&participant->participants->lock);
	return status;
}

/* Notes that the job has failed; the first failure stays. */
static void
fail_job(SharedJob *participants, HgStatus status, const HgError *why)
{
	if (participants->failure.status != HG_OK)
		return;
	if (status == HG_CANCELLED)
		hg_error_set(&participants->failure, HG_UNAVAILABLE, NULL,
					 "another process of the join was cancelled");
	else
	{
		participants->failure = *why;
		participants->failure.status = status;
	}
	pthread_cond_broadcast(&participants->answered);
}

/* Releases the lock after the engine has answered; a failure is the job's, except HG_INVALID. */
static HgStatus
end_turn(Participant *participant, HgStatus status, const HgError *error)
{
	if (status != HG_OK && status != HG_INVALID)
		fail_job(participant->participants, status, error);
	pthread_mutex_unlock(&participant->participants->lock);
	return status;
}

/* ------------------------------------------------------------------------
 * Participants
 * ------------------------------------------------------------------------ */

/* Adds a new shared job to the list, whose lock the caller holds; NULL when out of memory. */
static SharedJob *
add_job(HgEngine *engine, uint64_t number)
{
	SharedJob *participants = calloc(1, sizeof(*participants));

	if (participants == NULL)
		return NULL;
	if (pthread_mutex_init(&participants->lock, NULL) != 0)
	{
		free(participants);
		return NULL;
	}
	if (pthread_cond_init(&participants->answered, NULL) != 0)
	{
		pthread_mutex_destroy(&participants->lock);
		free(participants);
		return NULL;
	}
	participants->number = number;
	participants->engine = engine;
	participants->host.alloc = shared_alloc;
	participants->host.free = shared_free;
	participants->host.cancelled = shared_cancelled;
	participants->host.arg = participants;
	participants->next = shared_jobs.first;
	shared_jobs.first = participants;
	return participants;
}

/* Removes a participant from its job; returns the job if it was the last one. */
static SharedJob *
remove_participant(Participant *participant)
{
	SharedJob *participants = participant->participants;
	SharedJob **link = &shared_jobs.first;
	bool last;

	pthread_mutex_lock(&shared_jobs.lock);
	last = --participants->participants == 0;
	if (last)
	{
		while (*link != participants)
			link = &(*link)->next;
		*link = participants->next;
	}
	pthread_mutex_unlock(&shared_jobs.lock);
	return last ? participants : NULL;
}

static void
shared_close(HgJob *job)
{
	Participant *participant = participant_of(job);
	SharedJob *participants = remove_participant(participant);

	if (participants != NULL)
	{
		/* no participant waits for the lock any more; it makes all writes visible */
		pthread_mutex_lock(&participants->lock);
		participants->worker = participant;
		if (participants->job != NULL)
			participants->engine->join->close(participants->job);
		pthread_mutex_unlock(&participants->lock);
		pthread_cond_destroy(&participants->answered);
		pthread_mutex_destroy(&participants->lock);
		free(participants);
	}
	free(participant);
}

/* Checks that two participants append the same kind of rows. */
static HgStatus
check_widths(const HgJobSpec *a, const HgJobSpec *b, HgError *error)
{
	bool same = a->key_width == b->key_width;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		same = same &&
			   hg_pages_equal(hg_side_pages(a, (HgSide) side), hg_side_pages(b, (HgSide) side)) &&
			   a->sides[side].ncolumns == b->sides[side].ncolumns &&
			   memcmp(a->sides[side].column_width, b->sides[side].column_width,
					  a->sides[side].ncolumns) == 0;
	return same ? HG_OK
				: hg_error_set(error, HG_INVALID, NULL,
							   "the participants' rows have different widths");
}

/* Waits until the first participant has opened the job, whose rows must be like this one's. */
static HgStatus
wait_for_open(Participant *participant, const HgJobSpec *spec, HgError *error)
{
	SharedJob *participants = participant->participants;
	HgStatus status = HG_OK;

	HG_TRY(take_turn(participant, error));
	while ((status = check_job(participants, error)) == HG_OK && !participants->opened)
	{
		struct timespec until = next_look();

		if (pthread_cond_timedwait(&participants->answered, &participants->lock, &until) != 0 &&
			participant->host->cancelled(participant->host->arg))
		{
			status = hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
			break;
		}
	}
	if (status == HG_OK)
		status = check_widths(&participants->spec, spec, error);
	pthread_mutex_unlock(&participants->lock);
	return status;
}

HgStatus
hg_server_participants_join(HgEngine *engine, const HgHost *host, const HgJobSpec *spec,
							HgJob **job, bool *first, HgError *error)
{
	Participant *participant = malloc(sizeof(*participant));
	HgStatus status = HG_OK;
	SharedJob *participants;

	if (participant == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "the device process is out of memory");
	pthread_mutex_lock(&shared_jobs.lock);
	for (participants = shared_jobs.first;
		 participants != NULL && participants->number != spec->participants_id;
		 participants = participants->next)
		;
	*first = participants == NULL;
	if (participants == NULL)
		participants = add_job(engine, spec->participants_id);
	if (participants != NULL)
		participants->participants++;
	pthread_mutex_unlock(&shared_jobs.lock);
	if (participants == NULL)
	{
		free(participant);
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "the device process is out of memory");
	}
	participant->participants = participants;
	participant->host = host;
	if (!*first)
		status = wait_for_open(participant, spec, error);
	if (status != HG_OK)
	{
		shared_close((HgJob *) participant);
		return status;
	}
	*job = (HgJob *) participant;
	return HG_OK;
}

/* Copies the spec, which others read after the first participant has gone. */
static void
note_spec(SharedJob *participants, const HgJobSpec *spec)
{
	participants->spec = *spec;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (spec->sides[side].kind == HG_SOURCE_PAGES)
		{
			participants->pages[side] = *spec->sides[side].pages;
			participants->spec.sides[side].pages = &participants->pages[side];
		}
}

HgStatus
hg_server_participants_open(HgJob *job, const HgJobSpec *spec, HgError *error)
{
	Participant *participant = participant_of(job);
	SharedJob *participants = participant->participants;
	HgStatus status = HG_OK;

	HG_TRY(begin_turn(participant, error));
	if ((participants->engine->can & HG_CAN_NUMBER) == 0)
		status = hg_error_set(error, HG_INVALID, NULL, "this engine has no shared jobs");
	else
		status = participants->engine->open(participants->engine, &participants->host, spec,
											&participants->job, error);
	note_spec(participants, spec);
	participants->opened = status == HG_OK;
	pthread_cond_broadcast(&participants->answered);
	pthread_mutex_unlock(&participants->lock);
	return status;
}

void
hg_server_participants_give_up(HgJob *job, HgStatus status, const HgError *why)
{
	Participant *participant = participant_of(job);

	pthread_mutex_lock(&participant->participants->lock);
	fail_job(participant->participants, status, why);
	pthread_mutex_unlock(&participant->participants->lock);
}

HgStatus
hg_server_participants_announce(HgJob *job, HgSide side, uint64_t count, HgJobSpec *spec,
								uint64_t rows[2], uint64_t *wanted, HgError *error)
{
	Participant *participant = participant_of(job);
	SharedJob *participants = participant->participants;

	HG_TRY(begin_turn(participant, error));
	*spec = participants->spec;
	memcpy(rows, participants->reached, sizeof(participants->reached));
	participants->announced[side] += count;
	if (participants->reached[side] < participants->announced[side])
		participants->reached[side] = participants->announced[side];
	*wanted = participants->announced[side];
	pthread_mutex_unlock(&participants->lock);
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Calls of participants
 * ------------------------------------------------------------------------ */

static HgStatus
shared_append(HgJob *job, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	(void) job;
	(void) side;
	(void) keys;
	(void) count;
	return hg_error_set(error, HG_INVALID, NULL, "the rows of a shared job have numbers");
}

static HgStatus
shared_append_rows(HgJob *job, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
				   HgError *error)
{
	Participant *participant = participant_of(job);
	HgStatus status;

	HG_TRY(begin_turn(participant, error));
	status = participant->participants->engine->join->append_rows(
		participant->participants->job, side, keys, count, first_row, error);
	return end_turn(participant, status, error);
}

static HgStatus
shared_append_column(HgJob *job, HgSide side, uint32_t column, const void *values,
					 const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	Participant *participant = participant_of(job);
	HgStatus status;

	HG_TRY(begin_turn(participant, error));
	status = participant->participants->engine->columns->append_column(
		participant->participants->job, side, column, values, nulls, count, first_row, error);
	return end_turn(participant, status, error);
}

/* Brings pages without the lock. *brought is NULL if the engine can't now, or has failed. */
static HgStatus
bring_pages(Participant *participant, HgSide side, const void *pages, uint64_t count,
			HgBroughtPages **brought, HgError *error)
{
	const HgEngine *engine = participant->participants->engine;

	*brought = NULL;
	if (engine->brought == NULL)
		return HG_OK;
	return engine->brought->bring_pages(participant->participants->job, participant->host, side,
										pages, count, brought, error);
}

/* Appends pages, with the lock. Their announced rows are replaced by the real number. */
static HgStatus
take_pages(SharedJob *participants, HgSide side, const void *pages, uint64_t count,
		   HgBroughtPages *brought, uint64_t first_page, HgError *error)
{
	const HgEngine *engine = participants->engine;
	HgJobStats before;
	HgJobStats after;
	HgStatus status;

	engine->join->stats(participants->job, &before);
	if (brought != NULL)
		status = engine->brought->take_pages(participants->job, brought, first_page, error);
	else
		status =
			engine->pages->append_pages(participants->job, side, pages, count, first_page, error);
	engine->join->stats(participants->job, &after);
	participants->announced[side] -= count * hg_pages_most_rows(&participants->pages[side]) -
									 (after.rows[side] - before.rows[side]);
	return status;
}

static HgStatus
shared_append_pages(HgJob *job, HgSide side, const void *pages, uint64_t count, uint64_t first_page,
					HgError *error)
{
	Participant *participant = participant_of(job);
	SharedJob *participants = participant->participants;
	HgBroughtPages *brought;
	HgError why = {0};
	const HgStatus failed = bring_pages(participant, side, pages, count, &brought, &why);
	HgStatus status = begin_turn(participant, error);

	if (status != HG_OK)
	{
		if (brought != NULL)
			participants->engine->brought->drop_pages(participants->job, brought);
		return status;
	}
	if (failed == HG_OK)
		status = take_pages(participants, side, pages, count, brought, first_page, &why);
	else
		status = failed;
	if (status != HG_OK && error != NULL)
		*error = why;
	return end_turn(participant, status, &why);
}

static HgStatus
shared_build(HgJob *job, HgError *error)
{
	Participant *participant = participant_of(job);
	SharedJob *participants = participant->participants;
	HgStatus status = HG_OK;

	HG_TRY(begin_turn(participant, error));
	if (!participants->built)
		status = participants->engine->join->build(participants->job, error);
	participants->built = participants->built || status == HG_OK;
	return end_turn(participant, status, error);
}

static HgStatus
shared_count(HgJob *job, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	Participant *participant = participant_of(job);
	SharedJob *participants = participant->participants;
	HgStatus status = HG_OK;

	HG_TRY(begin_turn(participant, error));
	if (!participants->counted[mode] && participants->matching)
		status = hg_error_set(error, HG_INVALID, NULL, "the stream of matches has begun");
	else if (!participants->counted[mode])
		status = participants->engine->join->count(participants->job, mode,
												   &participants->counts[mode], error);
	participants->counted[mode] = participants->counted[mode] || status == HG_OK;
	*matches = participants->counts[mode];
	return end_turn(participant, status, error);
}

static HgStatus
shared_match(HgJob *job, HgMatchMode mode, HgError *error)
{
	Participant *participant = participant_of(job);
	SharedJob *participants = participant->participants;
	HgStatus status = HG_OK;

	HG_TRY(begin_turn(participant, error));
	if (participants->matching && participants->mode != mode)
		status = hg_error_set(error, HG_INVALID, NULL, "a shared job has one stream of matches");
	else if (!participants->matching)
		status = participants->engine->join->match(participants->job, mode, error);
	participants->mode = mode;
	participants->matching = participants->matching || status == HG_OK;
	return end_turn(participant, status, error);
}

static HgStatus
shared_next(HgJob *job, HgMatches *matches, HgError *error)
{
	Participant *participant = participant_of(job);
	HgStatus status;

	HG_TRY(begin_turn(participant, error));
	status = participant->participants->engine->join->next(participant->participants->job, matches,
														   error);
	return end_turn(participant, status, error);
}

static HgStatus
shared_reduce(HgJob *job, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
			  HgError *error)
{
	Participant *participant = participant_of(job);
	SharedJob *participants = participant->participants;
	HgStatus status = HG_OK;

	HG_TRY(begin_turn(participant, error));
	*groups = participants->has_groups ? 0 : HG_TOO_MANY_GROUPS;
	/* the words of a record are those of the receiver's request */
	if (participants->reduced && memcmp(&participants->reduce, spec, sizeof(*spec)) != 0)
		status = hg_error_set(error, HG_INVALID, NULL, "a shared job makes groups of one kind");
	else if (!participants->reduced && participants->matching)
		status = hg_error_set(error, HG_INVALID, NULL, "the stream of matches has begun");
	else if (!participants->reduced && participants->engine->columns == NULL)
		status = hg_error_set(error, HG_INVALID, NULL, "this engine makes no groups");
	else if (!participants->reduced)
	{
		status =
			participants->engine->columns->reduce(participants->job, mode, spec, groups, error);
		participants->reduced = status == HG_OK;
		participants->reduce = *spec;
		participants->has_groups = participants->reduced && *groups != HG_TOO_MANY_GROUPS;
		participants->receiver = participants->has_groups ? participant : NULL;
	}
	return end_turn(participant, status, error);
}

static HgStatus
shared_next_groups(HgJob *job, HgGroupRecords *records, HgError *error)
{
	Participant *participant = participant_of(job);
	SharedJob *participants = participant->participants;
	HgStatus status = HG_OK;

	HG_TRY(begin_turn(participant, error));
	records->count = 0;
	if (!participants->reduced)
		status = hg_error_set(error, HG_INVALID, NULL, "no groups were made");
	else if (participants->receiver == participant)
		status = participants->engine->columns->next_groups(participants->job, records, error);
	return end_turn(participant, status, error);
}

static HgStatus
shared_describe(HgJob *job, HgSide side, HgGraphStats *stats, HgError *error)
{
	(void) job;
	(void) side;
	(void) stats;
	return hg_error_set(error, HG_INVALID, NULL, "no member has the graph of a side");
}

static HgStatus
shared_export_graph(HgJob *job, HgSide side, uint32_t *offsets, void *edge_keys,
					uint32_t *edge_rows, HgError *error)
{
	(void) job;
	(void) side;
	(void) offsets;
	(void) edge_keys;
	(void) edge_rows;
	return hg_error_set(error, HG_INVALID, NULL, "no member has the graph of a side");
}

static void
shared_stats(HgJob *job, HgJobStats *stats)
{
	Participant *participant = participant_of(job);

	memset(stats, 0, sizeof(*stats));
	if (take_turn(participant, NULL) != HG_OK)
		return;
	if (participant->participants->job != NULL)
		participant->participants->engine->join->stats(participant->participants->job, stats);
	pthread_mutex_unlock(&participant->participants->lock);
}

/* A participant's job is opened by hg_server_participants_open. */
static HgStatus
shared_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
			HgError *error)
{
	(void) engine;
	(void) host;
	(void) spec;
	(void) job;
	return hg_error_set(error, HG_INVALID, NULL, "this engine has no jobs of its own");
}

static const HgJoinCalls shared_join = HG_JOIN_CALLS(shared);
static const HgColumnCalls shared_columns = HG_COLUMN_CALLS(shared);
static const HgPageCalls shared_pages = {.append_pages = shared_append_pages};

HgEngine *
hg_server_participants_engine(void)
{
	static HgEngine engine = {
		.name = "shared",
		.can = HG_CAN_NUMBER,
		.open = shared_open,
		.join = &shared_join,
		.columns = &shared_columns,
		.pages = &shared_pages,
	};

	return &engine;
}
