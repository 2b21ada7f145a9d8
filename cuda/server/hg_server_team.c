/*-------------------------------------------------------------------------
 *
 * hg_server_team.c
 *	  Jobs that several connections have together.
 *
 * A team has a lock, and whoever has it is the one for whom the engine works: the job's
 * cancelled() asks that member's host.  Who waits for the lock looks at his own meanwhile.
 * A member that is cancelled at work leaves a job that can only be closed: the others
 * find it failed.
 *
 * To bring pages needs no lock: members do that at a time, and have the lock to take what they have
 * brought.  The engine's job is there as long as they are.
 *
 * The teams are in a list, which holds each as long as it has members.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* pthread_mutex_timedlock, clock_gettime */
#endif

#include "hg_server_team.h"

#include "../../src/engine/hg_pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How often a member that waits for another looks whether its client has given up, in ms. */
#define LOOK_MS 5

typedef struct Member Member;

typedef struct Team
{
	struct Team *next; /* in the list, whose lock guards this and the members' number */
	uint64_t number;
	int members;

	pthread_mutex_t lock;	 /* guards all that follows */
	pthread_cond_t answered; /* the job has been opened, or has failed */
	HgEngine *engine;
	HgJob *job;		 /* NULL until it is open */
	Member *worker;	 /* for whom the engine works */
	HgHost host;	 /* the job's; its arg is this struct */
	HgError failure; /* status HG_OK while all is well */
	HgJobSpec spec;	 /* the first member's, once it is open, with pages of its own */
	HgPageSpec pages[2];
	bool opened;
	uint64_t announced[2]; /* rows by HgSide, appended or about to be ... */
	uint64_t reached[2];   /* ... and the most that there were of them */
	bool built;
	bool counted[2]; /* by HgMatchMode */
	uint64_t counts[2];
	bool matching;
	HgMatchMode mode; /* of the stream, while matching */
	bool reduced;
	HgReduceSpec reduce;	/* ... as this says */
	bool has_groups;		/* not too many of them ... */
	const Member *receiver; /* ... and whose they are */
} Team;

struct Member
{
	Team *team;
	const HgHost *host;
};

static struct
{
	pthread_mutex_t lock;
	Team *first;
} teams = {.lock = PTHREAD_MUTEX_INITIALIZER};

static Member *
member_of(HgJob *job)
{
	return (Member *) job;
}

/* ------------------------------------------------------------------------
 * What the engine is lent
 * ------------------------------------------------------------------------ */

static void *
team_alloc(void *arg, size_t bytes)
{
	const HgHost *host = ((Team *) arg)->worker->host;

	return host->alloc(host->arg, bytes);
}

static void
team_free(void *arg, void *ptr, size_t bytes)
{
	const HgHost *host = ((Team *) arg)->worker->host;

	host->free(host->arg, ptr, bytes);
}

static bool
team_cancelled(void *arg)
{
	const HgHost *host = ((Team *) arg)->worker->host;

	return host->cancelled(host->arg);
}

/* ------------------------------------------------------------------------
 * Turns
 * ------------------------------------------------------------------------ */

/* When a member that waits looks at its client again. */
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

/* Get the lock; HG_CANCELLED, without it, where the member's client gives up before. */
static HgStatus
take_turn(Member *member, HgError *error)
{
	for (;;)
	{
		struct timespec until = next_look();

		if (pthread_mutex_timedlock(&member->team->lock, &until) == 0)
			break;
		if (member->host->cancelled(member->host->arg))
			return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
	}
	member->team->worker = member;
	return HG_OK;
}

/* The failure of all, if there is one. */
static HgStatus
check_team(const Team *team, HgError *error)
{
	if (team->failure.status != HG_OK && error != NULL)
		*error = team->failure;
	return team->failure.status;
}

/* The same for a member that is about to have something done. */
static HgStatus
begin_turn(Member *member, HgError *error)
{
	HgStatus status = take_turn(member, error);

	if (status != HG_OK)
		return status;
	status = check_team(member->team, error);
	if (status != HG_OK)
		pthread_mutex_unlock(&member->team->lock);
	return status;
}

/* Note that the job has failed; the first failure stays. */
static void
fail_team(Team *team, HgStatus status, const HgError *why)
{
	if (team->failure.status != HG_OK)
		return;
	if (status == HG_CANCELLED)
		hg_error_set(&team->failure, HG_UNAVAILABLE, NULL,
					 "another process of the join was cancelled");
	else
	{
		team->failure = *why;
		team->failure.status = status;
	}
	pthread_cond_broadcast(&team->answered);
}

/* Give the lock back after the engine has answered. */
static HgStatus
end_turn(Member *member, HgStatus status, const HgError *error)
{
	if (status != HG_OK && status != HG_INVALID)
		fail_team(member->team, status, error);
	pthread_mutex_unlock(&member->team->lock);
	return status;
}

/* ------------------------------------------------------------------------
 * Members
 * ------------------------------------------------------------------------ */

/* A new team at the head of the list; NULL when out of memory. */
static Team *
add_team(HgEngine *engine, uint64_t number)
{
	Team *team = calloc(1, sizeof(*team));

	if (team == NULL)
		return NULL;
	if (pthread_mutex_init(&team->lock, NULL) != 0)
	{
		free(team);
		return NULL;
	}
	if (pthread_cond_init(&team->answered, NULL) != 0)
	{
		pthread_mutex_destroy(&team->lock);
		free(team);
		return NULL;
	}
	team->number = number;
	team->engine = engine;
	team->host.alloc = team_alloc;
	team->host.free = team_free;
	team->host.cancelled = team_cancelled;
	team->host.arg = team;
	team->next = teams.first;
	teams.first = team;
	return team;
}

/* Take a member off its team; returns that if it was the last one. */
static Team *
remove_member(Member *member)
{
	Team *team = member->team;
	Team **link = &teams.first;
	bool last;

	pthread_mutex_lock(&teams.lock);
	last = --team->members == 0;
	if (last)
	{
		while (*link != team)
			link = &(*link)->next;
		*link = team->next;
	}
	pthread_mutex_unlock(&teams.lock);
	return last ? team : NULL;
}

static void
team_close(HgJob *job)
{
	Member *member = member_of(job);
	Team *team = remove_member(member);

	if (team != NULL)
	{
		/* its lock, which nobody wants any more, makes all that was written seen */
		pthread_mutex_lock(&team->lock);
		team->worker = member;
		if (team->job != NULL)
			team->engine->close(team->job);
		pthread_mutex_unlock(&team->lock);
		pthread_cond_destroy(&team->answered);
		pthread_mutex_destroy(&team->lock);
		free(team);
	}
	free(member);
}

/* Would members who asked for these jobs append the same kind of rows? */
static HgStatus
check_widths(const HgJobSpec *a, const HgJobSpec *b, HgError *error)
{
	bool same = a->key_width == b->key_width;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		same = same && hg_pages_equal(a->pages[side], b->pages[side]) &&
			   a->ncolumns[side] == b->ncolumns[side] &&
			   memcmp(a->column_width[side], b->column_width[side], a->ncolumns[side]) == 0;
	return same ? HG_OK
				: hg_error_set(error, HG_INVALID, NULL, "the rows of a team have other widths");
}

/* Wait until the first member has opened the job, which must be like this one's. */
static HgStatus
wait_for_open(Member *member, const HgJobSpec *spec, HgError *error)
{
	Team *team = member->team;
	HgStatus status = take_turn(member, error);

	if (status != HG_OK)
		return status;
	while ((status = check_team(team, error)) == HG_OK && !team->opened)
	{
		struct timespec until = next_look();

		if (pthread_cond_timedwait(&team->answered, &team->lock, &until) != 0 &&
			member->host->cancelled(member->host->arg))
		{
			status = hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
			break;
		}
	}
	if (status == HG_OK)
		status = check_widths(&team->spec, spec, error);
	pthread_mutex_unlock(&team->lock);
	return status;
}

HgStatus
hg_server_team_join(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
					bool *first, HgError *error)
{
	Member *member = malloc(sizeof(*member));
	HgStatus status = HG_OK;
	Team *team;

	if (member == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "the device process is out of memory");
	pthread_mutex_lock(&teams.lock);
	for (team = teams.first; team != NULL && team->number != spec->team; team = team->next)
		;
	*first = team == NULL;
	if (team == NULL)
		team = add_team(engine, spec->team);
	if (team != NULL)
		team->members++;
	pthread_mutex_unlock(&teams.lock);
	if (team == NULL)
	{
		free(member);
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "the device process is out of memory");
	}
	member->team = team;
	member->host = host;
	if (!*first)
		status = wait_for_open(member, spec, error);
	if (status != HG_OK)
	{
		team_close((HgJob *) member);
		return status;
	}
	*job = (HgJob *) member;
	return HG_OK;
}

/* Have the spec, which others read when the first member is gone. */
static void
note_spec(Team *team, const HgJobSpec *spec)
{
	team->spec = *spec;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (spec->pages[side] != NULL)
		{
			team->pages[side] = *spec->pages[side];
			team->spec.pages[side] = &team->pages[side];
		}
}

HgStatus
hg_server_team_open(HgJob *job, const HgJobSpec *spec, HgError *error)
{
	Member *member = member_of(job);
	Team *team = member->team;
	HgStatus status = begin_turn(member, error);

	if (status != HG_OK)
		return status;
	if (team->engine->append_rows == NULL)
		status = hg_error_set(error, HG_INVALID, NULL, "this engine has no jobs of teams");
	else
		status = team->engine->open(team->engine, &team->host, spec, &team->job, error);
	note_spec(team, spec);
	team->opened = status == HG_OK;
	pthread_cond_broadcast(&team->answered);
	pthread_mutex_unlock(&team->lock);
	return status;
}

void
hg_server_team_give_up(HgJob *job, HgStatus status, const HgError *why)
{
	Member *member = member_of(job);

	pthread_mutex_lock(&member->team->lock);
	fail_team(member->team, status, why);
	pthread_mutex_unlock(&member->team->lock);
}

HgStatus
hg_server_team_announce(HgJob *job, HgSide side, uint64_t count, HgJobSpec *spec, uint64_t rows[2],
						uint64_t *wanted, HgError *error)
{
	Member *member = member_of(job);
	Team *team = member->team;
	HgStatus status = begin_turn(member, error);

	if (status != HG_OK)
		return status;
	*spec = team->spec;
	memcpy(rows, team->reached, sizeof(team->reached));
	team->announced[side] += count;
	if (team->reached[side] < team->announced[side])
		team->reached[side] = team->announced[side];
	*wanted = team->announced[side];
	pthread_mutex_unlock(&team->lock);
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * What is asked of the job
 * ------------------------------------------------------------------------ */

static HgStatus
team_append(HgJob *job, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	(void) job;
	(void) side;
	(void) keys;
	(void) count;
	return hg_error_set(error, HG_INVALID, NULL, "the rows of a team have numbers");
}

static HgStatus
team_append_rows(HgJob *job, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
				 HgError *error)
{
	Member *member = member_of(job);
	HgStatus status = begin_turn(member, error);

	if (status != HG_OK)
		return status;
	status =
		member->team->engine->append_rows(member->team->job, side, keys, count, first_row, error);
	return end_turn(member, status, error);
}

static HgStatus
team_append_column(HgJob *job, HgSide side, uint32_t column, const void *values,
				   const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	Member *member = member_of(job);
	HgStatus status = begin_turn(member, error);

	if (status != HG_OK)
		return status;
	status = member->team->engine->append_column(member->team->job, side, column, values, nulls,
												 count, first_row, error);
	return end_turn(member, status, error);
}

/*
 * Bring pages, if the engine does, without a turn: *brought is NULL where it has not, because it
 * can't now, or has failed.
 */
static HgStatus
bring_pages(Member *member, HgSide side, const void *pages, uint64_t count,
			HgBroughtPages **brought, HgError *error)
{
	const HgEngine *engine = member->team->engine;

	*brought = NULL;
	if (engine->bring_pages == NULL)
		return HG_OK;
	return engine->bring_pages(member->team->job, member->host, side, pages, count, brought, error);
}

/* Have pages appended, in a turn; what was announced of them is what they have room for. */
static HgStatus
take_pages(Team *team, HgSide side, const void *pages, uint64_t count, HgBroughtPages *brought,
		   uint64_t first_page, HgError *error)
{
	const HgEngine *engine = team->engine;
	HgJobStats before;
	HgJobStats after;
	HgStatus status;

	engine->stats(team->job, &before);
	if (brought != NULL)
		status = engine->take_pages(team->job, brought, first_page, error);
	else
		status = engine->append_pages(team->job, side, pages, count, first_page, error);
	engine->stats(team->job, &after);
	team->announced[side] -=
		count * hg_pages_most_rows(&team->pages[side]) - (after.rows[side] - before.rows[side]);
	return status;
}

static HgStatus
team_append_pages(HgJob *job, HgSide side, const void *pages, uint64_t count, uint64_t first_page,
				  HgError *error)
{
	Member *member = member_of(job);
	Team *team = member->team;
	HgBroughtPages *brought;
	HgError why = {0};
	const HgStatus failed = bring_pages(member, side, pages, count, &brought, &why);
	HgStatus status = begin_turn(member, error);

	if (status != HG_OK)
	{
		if (brought != NULL)
			team->engine->drop_pages(team->job, brought);
		return status;
	}
	if (failed == HG_OK)
		status = take_pages(team, side, pages, count, brought, first_page, &why);
	else
		status = failed;
	if (status != HG_OK && error != NULL)
		*error = why;
	return end_turn(member, status, &why);
}

static HgStatus
team_build(HgJob *job, HgError *error)
{
	Member *member = member_of(job);
	Team *team = member->team;
	HgStatus status = begin_turn(member, error);

	if (status != HG_OK)
		return status;
	if (!team->built)
		status = team->engine->build(team->job, error);
	team->built = team->built || status == HG_OK;
	return end_turn(member, status, error);
}

static HgStatus
team_count(HgJob *job, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	Member *member = member_of(job);
	Team *team = member->team;
	HgStatus status = begin_turn(member, error);

	if (status != HG_OK)
		return status;
	if (!team->counted[mode] && team->matching)
		status = hg_error_set(error, HG_INVALID, NULL, "the stream of matches has begun");
	else if (!team->counted[mode])
		status = team->engine->count(team->job, mode, &team->counts[mode], error);
	team->counted[mode] = team->counted[mode] || status == HG_OK;
	*matches = team->counts[mode];
	return end_turn(member, status, error);
}

static HgStatus
team_match(HgJob *job, HgMatchMode mode, HgError *error)
{
	Member *member = member_of(job);
	Team *team = member->team;
	HgStatus status = begin_turn(member, error);

	if (status != HG_OK)
		return status;
	if (team->matching && team->mode != mode)
		status = hg_error_set(error, HG_INVALID, NULL, "a team has one stream of matches");
	else if (!team->matching)
		status = team->engine->match(team->job, mode, error);
	team->mode = mode;
	team->matching = team->matching || status == HG_OK;
	return end_turn(member, status, error);
}

static HgStatus
team_next(HgJob *job, HgMatches *matches, HgError *error)
{
	Member *member = member_of(job);
	HgStatus status = begin_turn(member, error);

	if (status != HG_OK)
		return status;
	status = member->team->engine->next(member->team->job, matches, error);
	return end_turn(member, status, error);
}

static HgStatus
team_reduce(HgJob *job, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
			HgError *error)
{
	Member *member = member_of(job);
	Team *team = member->team;
	HgStatus status = begin_turn(member, error);

	if (status != HG_OK)
		return status;
	*groups = team->has_groups ? 0 : HG_TOO_MANY_GROUPS;
	/* the words of a record are those that its receiver has asked for */
	if (team->reduced && memcmp(&team->reduce, spec, sizeof(*spec)) != 0)
		status = hg_error_set(error, HG_INVALID, NULL, "a team makes groups of one kind");
	else if (!team->reduced && team->matching)
		status = hg_error_set(error, HG_INVALID, NULL, "the stream of matches has begun");
	else if (!team->reduced && team->engine->reduce == NULL)
		status = hg_error_set(error, HG_INVALID, NULL, "this engine makes no groups");
	else if (!team->reduced)
	{
		status = team->engine->reduce(team->job, mode, spec, groups, error);
		team->reduced = status == HG_OK;
		team->reduce = *spec;
		team->has_groups = team->reduced && *groups != HG_TOO_MANY_GROUPS;
		team->receiver = team->has_groups ? member : NULL;
	}
	return end_turn(member, status, error);
}

static HgStatus
team_next_groups(HgJob *job, HgGroupRecords *records, HgError *error)
{
	Member *member = member_of(job);
	Team *team = member->team;
	HgStatus status = begin_turn(member, error);

	if (status != HG_OK)
		return status;
	records->count = 0;
	if (!team->reduced)
		status = hg_error_set(error, HG_INVALID, NULL, "no groups were made");
	else if (team->receiver == member)
		status = team->engine->next_groups(team->job, records, error);
	return end_turn(member, status, error);
}

static HgStatus
team_describe(HgJob *job, HgSide side, HgGraphStats *stats, HgError *error)
{
	(void) job;
	(void) side;
	(void) stats;
	return hg_error_set(error, HG_INVALID, NULL, "no member has the graph of a side");
}

static HgStatus
team_export_graph(HgJob *job, HgSide side, uint32_t *offsets, void *edge_keys, uint32_t *edge_rows,
				  HgError *error)
{
	(void) job;
	(void) side;
	(void) offsets;
	(void) edge_keys;
	(void) edge_rows;
	return hg_error_set(error, HG_INVALID, NULL, "no member has the graph of a side");
}

static void
team_stats(HgJob *job, HgJobStats *stats)
{
	Member *member = member_of(job);

	memset(stats, 0, sizeof(*stats));
	if (take_turn(member, NULL) != HG_OK)
		return;
	if (member->team->job != NULL)
		member->team->engine->stats(member->team->job, stats);
	pthread_mutex_unlock(&member->team->lock);
}

HgEngine *
hg_server_team_engine(void)
{
	static HgEngine engine = {
		.name = "team",
		.append = team_append,
		.append_rows = team_append_rows,
		.append_column = team_append_column,
		.append_pages = team_append_pages,
		.build = team_build,
		.match = team_match,
		.next = team_next,
		.count = team_count,
		.reduce = team_reduce,
		.next_groups = team_next_groups,
		.describe = team_describe,
		.export_graph = team_export_graph,
		.stats = team_stats,
		.close = team_close,
	};

	return &engine;
}
