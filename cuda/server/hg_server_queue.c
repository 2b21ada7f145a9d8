/*-------------------------------------------------------------------------
 *
 * hg_server_queue.c
 *	  Who may open a job, and who has which part of staging.
 *
 * Staging is two areas: leases for the keys of jobs that are not built yet, and room for
 * results.  A job may keep its lease for as long as its client takes to read its tables,
 * results go as soon as they are copied.  Were they in one area, leases could fill it, and
 * jobs that are to deliver what such a client reads would wait for it, as it does for them.
 *
 * There are three queues, of jobs, of members of jobs that have been admitted, and of wishes for
 * room, and whoever gives something back hands it to the first in the queue, then to the
 * second, until one does not fit: nobody overtakes.  Those of a group that has a job open are the
 * exception, for they must not wait: they take what is free, and are refused if it is not enough.
 * That befalls jobs in the middle of the queue too, when the first of their group is admitted.
 *
 * Members want staging alone, and come before jobs: what these wait for may be the memory
 * of the members' own job.  Whoever has a lease gives it back without waiting for anybody here, so
 * that they are served.
 *
 * One mutex guards all of it.  Whoever waits sleeps in poll(), on his socket and on
 * an eventfd which the thread that has granted his wish writes to.
 *
 * Memory that a job was admitted for is reserved until it is closed, whether it holds it yet
 * or not; jobs that hold more than they were expected to are known by what the engine says
 * that all of them hold together.  So is what there is to be reserved: other processes take
 * memory of the device.  That is measured for who comes, and from time to time for who is the
 * first in the queue.
 *
 * IDLE JOBS.  A client may keep a built job for as long as it likes, and ask for nothing: a cursor.
 * Where the first in the queue waits for memory, and jobs that have been idle for
 * config->evict_ms reserve what it needs, they are evicted, those that have been idle longest
 * first, and no more of them than it takes.  A job belongs to its connection's thread: the queue
 * marks it and wakes that thread, which evicts it unless a request has come first.  Who waits looks
 * for idle jobs when he joins the queue, and every LOOK_IDLE_MS; whoever leaves it looks for the
 * next.
 *
 * Never evicted are jobs of teams, whose members may be idle for each other's sake, jobs beside
 * which their group or connection has another open, as their clients could not wait for another
 * turn, and jobs whose keys are still to come: their clients are reading tables.  But one that was
 * opened ahead of another that is at work (HgJobSpec) is idle with that: when its whole connection
 * is.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_server_queue.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A lease is this at most, two slots of the largest size, and at least this where staging
 * is large. */
#define LEASE_MAX (2 * HG_WIRE_SLOT_MAX)
#define LEASE_MIN (UINT64_C(512) << 10)

/* A member's lease is this at most: it has part of the rows, and may keep it while it reads. */
#define LEASE_OF_MEMBER (UINT64_C(2) << 20)

/* Leases that any staging has room for. */
#define LEASES 8

/* How often a client that has sent something else is looked at while it waits, in ms. */
#define LOOK_MS 10

/* How often who waits looks for idle jobs, in ms. */
#define LOOK_IDLE_MS 500

/* A contiguous piece of staging, and the parts of it that are taken. */
typedef struct Area
{
	uint64_t offset;
	uint64_t bytes;
	uint64_t taken;
	HgQueuePart *parts;
} Area;

typedef struct Line
{
	HgQueueEntry *first;
	uint32_t length;
} Line;

struct HgServerQueue
{
	const HgServerConfig *config;
	pthread_mutex_t lock; /* guards all that follows */

	uint64_t reserved; /* device memory */
	uint32_t evicted;  /* jobs that are neither open any more nor closed */
	Line open;		   /* jobs, in no order */
	Line waiting;	   /* jobs */
	Line members;	   /* of teams, waiting for a lease */

	Area leases;
	Area rooms;
	Line wishes; /* for room */

	uint64_t started_ms;
	uint64_t idle_since_ms; /* while there is no job */
	HgDeviceStatus counted; /* connections and the numbers of jobs that have ended */
};

static uint64_t
now_ms(void)
{
	return (uint64_t) hg_clock_ms();
}

static uint64_t
less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t
whole_pages(uint64_t bytes)
{
	return bytes / HG_WIRE_PAGE * HG_WIRE_PAGE;
}

/* ------------------------------------------------------------------------
 * Staging
 * ------------------------------------------------------------------------ */

/*
 * Take wanted bytes of an area, or, where nothing as long is free, the longest that is,
 * unless that is less than least.  Both are multiples of the page.
 */
static bool
area_take(Area *area, HgQueuePart *part, uint64_t least, uint64_t wanted)
{
	HgQueuePart **link = &area->parts;
	HgQueuePart **best = NULL;
	uint64_t at = area->offset;

	part->bytes = 0;
	for (;;)
	{
		uint64_t end = *link != NULL ? (*link)->offset : area->offset + area->bytes;
		uint64_t gap = less(end - at, wanted);

		if (gap >= least && gap > part->bytes)
		{
			part->offset = at;
			part->bytes = gap;
			best = link;
		}
		if (part->bytes == wanted || *link == NULL)
			break;
		at = (*link)->offset + (*link)->bytes;
		link = &(*link)->next;
	}
	if (best == NULL)
		return false;
	part->next = *best;
	*best = part;
	area->taken += part->bytes;
	return true;
}

static void
area_give(Area *area, HgQueuePart *part)
{
	HgQueuePart **link = &area->parts;

	if (part->bytes == 0)
		return;
	while (*link != part)
		link = &(*link)->next;
	*link = part->next;
	area->taken -= part->bytes;
	part->bytes = 0;
}

/* Give a job a lease, if there is room for one. */
static bool
take_lease(HgServerQueue *queue, HgQueueEntry *job)
{
	Area *area = &queue->leases;
	uint64_t least = more(less(LEASE_MIN, whole_pages(area->bytes / LEASES)), HG_WIRE_PAGE);
	uint64_t most = less(LEASE_MAX, whole_pages((area->bytes - area->taken) / 4));

	return area_take(area, &job->part, least, more(less(job->wanted, most), least));
}

/* Give a wish its room, if there is any. */
static bool
take_room(HgServerQueue *queue, HgQueueEntry *wish)
{
	Area *area = &queue->rooms;
	uint64_t most = less(HG_WIRE_SLOT_MAX, whole_pages((area->bytes - area->taken) / 2));

	return area_take(area, &wish->part, HG_WIRE_PAGE, more(less(wish->wanted, most), HG_WIRE_PAGE));
}

/* ------------------------------------------------------------------------
 * Lines
 * ------------------------------------------------------------------------ */

static void
line_append(Line *line, HgQueueEntry *entry)
{
	HgQueueEntry **link = &line->first;

	while (*link != NULL)
		link = &(*link)->next;
	entry->next = NULL;
	*link = entry;
	line->length++;
}

static void
line_remove(Line *line, HgQueueEntry *entry)
{
	HgQueueEntry **link = &line->first;

	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	line->length--;
}

/* Take someone out of a line, whose wait is over. */
static void
line_settle(Line *line, HgQueueEntry *entry, HgQueueState state)
{
	const uint64_t one = 1;

	line_remove(line, entry);
	entry->state = state;
	/* it can't fail: the counter is far from full */
	if (write(entry->wake, &one, sizeof(one)) < 0)
		abort();
}

/* Are two jobs of one group, or of one connection?  Then neither waits while the other is open. */
static bool
are_kin(const HgQueueEntry *job, const HgQueueEntry *other)
{
	return other->connection == job->connection || (job->group != 0 && other->group == job->group);
}

/* Has the job's group, or its connection, a job open? */
static bool
has_kin(const HgServerQueue *queue, const HgQueueEntry *job)
{
	for (const HgQueueEntry *other = queue->open.first; other != NULL; other = other->next)
		if (are_kin(job, other))
			return true;
	return false;
}

/* The device memory that jobs may hold together, as things stand. */
static uint64_t
budget_of(const HgServerQueue *queue)
{
	HgMemoryUse use;

	queue->config->memory_use(queue->config->arg, &use);
	return use.budget;
}

/* That of it which no job has been admitted for, but for jobs that reserve idle bytes together. */
static uint64_t
unreserved(const HgServerQueue *queue, uint64_t idle)
{
	const uint64_t budget = budget_of(queue);
	const uint64_t reserved = queue->reserved - idle;

	return budget > reserved ? budget - reserved : 0;
}

/* Has the device memory for the job? */
static bool
has_memory(const HgServerQueue *queue, const HgQueueEntry *job)
{
	HgMemoryUse use;

	if (job->memory > unreserved(queue, 0))
		return false;
	if (queue->open.length == 0)
		return true;
	queue->config->memory_use(queue->config->arg, &use);
	return use.held < use.budget && job->memory <= use.budget - use.held;
}

/* Admit a job, which is in no line, if it fits now. */
static bool
admit(HgServerQueue *queue, HgQueueEntry *job)
{
	if (!has_memory(queue, job) || !take_lease(queue, job))
		return false;
	queue->reserved += job->memory;
	job->used_ms = now_ms();
	return true;
}

/* A job of this group is open: those that wait must not wait any longer. */
static void
settle_kin(HgServerQueue *queue, uint64_t group)
{
	HgQueueEntry *next;

	for (HgQueueEntry *job = queue->waiting.first; job != NULL; job = next)
	{
		next = job->next;
		if (job->group != group)
			continue;
		if (admit(queue, job))
		{
			line_settle(&queue->waiting, job, HG_QUEUE_GRANTED);
			line_append(&queue->open, job);
		}
		else
			line_settle(&queue->waiting, job, HG_QUEUE_REFUSED);
	}
}

/* ------------------------------------------------------------------------
 * Idle jobs
 * ------------------------------------------------------------------------ */

/* Is nothing done for a job, and was nothing for so long that it may be evicted? */
static bool
is_unused(const HgServerQueue *queue, const HgQueueEntry *job, uint64_t now)
{
	return !job->busy && now - job->used_ms >= (uint64_t) queue->config->evict_ms;
}

/* The same for all jobs of a connection. */
static bool
connection_is_idle(const HgServerQueue *queue, const void *connection, uint64_t now)
{
	for (const HgQueueEntry *job = queue->open.first; job != NULL; job = job->next)
		if (job->connection == connection && !is_unused(queue, job, now))
			return false;
	return true;
}

/*
 * Could the client of an open job not wait for another turn, if that were evicted?  It closes one
 * that was opened ahead together with the one that is at work: these two do not keep each other.
 */
static bool
is_bound(const HgServerQueue *queue, const HgQueueEntry *job)
{
	uint32_t kin = 0; /* that are at work */

	for (const HgQueueEntry *other = queue->open.first; other != NULL; other = other->next)
		kin += other != job && !other->ahead && are_kin(job, other);
	return kin > (job->ahead ? 1 : 0);
}

/* Is an open job one that may be evicted? */
static bool
is_idle(const HgServerQueue *queue, const HgQueueEntry *job, uint64_t now)
{
	if (job->in_team || job->memory == 0 || !is_unused(queue, job, now) || is_bound(queue, job))
		return false;
	/* who has no lease any more has been given all keys */
	return job->part.bytes == 0 || (job->ahead && connection_is_idle(queue, job->connection, now));
}

/* Ask for an open job to be evicted; the thread that was asked before may have missed it. */
static void
ask_job(HgQueueEntry *job)
{
	const uint64_t one = 1;

	job->asked = true;
	if (write(job->wake, &one, sizeof(one)) < 0)
		abort();
}

/*
 * Have idle jobs evicted where the first in the queue waits for their memory: all that it takes,
 * or none where that is not enough.
 */
static void
ask_idle_jobs(HgServerQueue *queue)
{
	const HgQueueEntry *first = queue->waiting.first;
	const uint64_t now = now_ms();
	uint64_t idle = 0;	/* bytes of jobs that are */
	uint64_t asked = 0; /* ... and of those that have been asked for */
	HgQueueEntry *longest;

	if (first == NULL || has_memory(queue, first))
		return;
	for (HgQueueEntry *job = queue->open.first; job != NULL; job = job->next)
	{
		job->asked = job->asked && is_idle(queue, job, now);
		if (job->asked)
			ask_job(job);
		if (job->asked)
			asked += job->memory;
		if (is_idle(queue, job, now))
			idle += job->memory;
	}
	if (first->memory > unreserved(queue, idle))
		return;
	/* where all is held that is not reserved, one by one */
	while (asked == 0 || first->memory > unreserved(queue, asked))
	{
		longest = NULL;
		for (HgQueueEntry *job = queue->open.first; job != NULL; job = job->next)
			if (!job->asked && is_idle(queue, job, now) &&
				(longest == NULL || job->used_ms < longest->used_ms))
				longest = job;
		if (longest == NULL)
			break;
		ask_job(longest);
		asked += longest->memory;
	}
}

/* Something is free again: whose turn is it? */
static void
admit_waiting(HgServerQueue *queue)
{
	HgQueueEntry *job;

	while ((job = queue->members.first) != NULL && take_lease(queue, job))
	{
		line_settle(&queue->members, job, HG_QUEUE_GRANTED);
		line_append(&queue->open, job);
	}
	/* they have staging at least */
	if (job != NULL)
		return;
	while ((job = queue->waiting.first) != NULL)
	{
		if (!admit(queue, job))
		{
			/* other processes may have more of the device than when it came */
			if (job->memory <= budget_of(queue))
				break;
			line_settle(&queue->waiting, job, HG_QUEUE_REFUSED);
			continue;
		}
		line_settle(&queue->waiting, job, HG_QUEUE_GRANTED);
		line_append(&queue->open, job);
		if (job->group != 0)
			settle_kin(queue, job->group);
	}
	ask_idle_jobs(queue);
}

static void
grant_wishes(HgServerQueue *queue)
{
	HgQueueEntry *wish;

	while ((wish = queue->wishes.first) != NULL && take_room(queue, wish))
		line_settle(&queue->wishes, wish, HG_QUEUE_GRANTED);
}

/* Is there a job?  The client of one that was evicted is still to be told. */
static bool
has_jobs(const HgServerQueue *queue)
{
	return queue->open.length > 0 || queue->waiting.length > 0 || queue->evicted > 0;
}

/* Note since when there has been nothing to do, if there is nothing. */
static void
note_idle(HgServerQueue *queue)
{
	if (!has_jobs(queue))
		queue->idle_since_ms = now_ms();
}

/* How long a wait for something sleeps at most, in ms; -1 for as long as nothing happens. */
static int
longest_sleep(const HgServerQueue *queue, const Line *line, bool sees_socket)
{
	if (!sees_socket)
		return LOOK_MS;
	return line == &queue->waiting ? LOOK_IDLE_MS : -1;
}

/*
 * Wait in a line until someone settles the entry, or the client gives up; with the lock
 * held, which is let go meanwhile.  Returns the state; HG_QUEUE_OUTSIDE where the client
 * gave up.
 */
static HgQueueState
wait_in_line(HgServerQueue *queue, Line *line, HgQueueEntry *entry, const HgQueueWaiter *waiter)
{
	struct pollfd ends[2] = {{.fd = waiter->wake, .events = POLLIN},
							 {.fd = waiter->socket, .events = POLLIN}};
	uint64_t count;

	entry->wake = waiter->wake;
	entry->state = HG_QUEUE_WAITING;
	line_append(line, entry);
	if (entry == queue->waiting.first)
		ask_idle_jobs(queue);
	while (entry->state == HG_QUEUE_WAITING)
	{
		const bool is_first = entry == queue->waiting.first;
		bool gave_up;

		pthread_mutex_unlock(&queue->lock);
		ends[0].revents = ends[1].revents = 0; /* poll may fail, for a signal */
		poll(ends, 2, longest_sleep(queue, line, ends[1].fd >= 0));
		gave_up = (ends[1].fd < 0 || ends[1].revents != 0) && waiter->gave_up(waiter->arg);
		/* a message that is no reason to give up stays where it is, readable */
		if (ends[1].revents != 0)
			ends[1].fd = -1;
		if (is_first)
			queue->config->measure(queue->config->arg);
		pthread_mutex_lock(&queue->lock);

		if (gave_up && entry->state == HG_QUEUE_WAITING)
		{
			line_remove(line, entry);
			entry->state = HG_QUEUE_OUTSIDE;
			return HG_QUEUE_OUTSIDE;
		}
		if (entry->state != HG_QUEUE_WAITING)
			break;
		/* another of this connection's jobs is to be evicted, which has to wait, too */
		if (ends[0].revents != 0 && read(waiter->wake, &count, sizeof(count)) < 0)
			abort();
		if (entry == queue->waiting.first)
			admit_waiting(queue);
	}
	/* it has been written to, before the state was seen */
	if (read(waiter->wake, &count, sizeof(count)) < 0)
		abort();
	return entry->state;
}

/* ------------------------------------------------------------------------
 * The queue
 * ------------------------------------------------------------------------ */

HgServerQueue *
hg_server_queue_create(const HgServerConfig *config)
{
	HgServerQueue *queue = calloc(1, sizeof(*queue));

	if (queue == NULL)
		return NULL;
	if (pthread_mutex_init(&queue->lock, NULL) != 0)
	{
		free(queue);
		return NULL;
	}
	queue->config = config;
	queue->leases.bytes = whole_pages(config->staging_bytes / 4 * 3);
	queue->rooms.offset = queue->leases.bytes;
	queue->rooms.bytes = whole_pages(config->staging_bytes) - queue->rooms.offset;
	queue->started_ms = queue->idle_since_ms = now_ms();
	return queue;
}

void
hg_server_queue_destroy(HgServerQueue *queue)
{
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

/* The bytes of staging that a job has a use for. */
static uint64_t
lease_for(const HgJobSpec *spec)
{
	const uint64_t outer = spec->expected_rows[HG_OUTER];
	const uint64_t inner = spec->expected_rows[HG_INNER];
	const uint64_t most = spec->team != 0 ? LEASE_OF_MEMBER : LEASE_MAX;

	if (outer == 0 || inner == 0 || outer > HG_MAX_ROWS || inner > HG_MAX_ROWS)
		return most;
	return whole_pages(less((outer + inner) * spec->key_width, most) + HG_WIRE_PAGE - 1);
}

/* The answer to a job that does not fit and may not wait, or that can never fit. */
static HgStatus
refuse(const HgQueueEntry *job, uint64_t limit, HgError *error)
{
	char detail[120];

	if (job->memory <= limit)
		return hg_error_set(
			error, HG_DEVICE_OUT_OF_MEMORY,
			"Another join of the same query is on the device, so that it can't wait.",
			"the device has no room for another join");
	snprintf(detail, sizeof(detail), "It needs %llu bytes at least, and may have %llu.",
			 (unsigned long long) job->memory, (unsigned long long) limit);
	return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, detail,
						"the join is too large for the device memory that it may have");
}

/* The device memory that a job may have, if it has all of it to itself. */
static uint64_t
limit_of(const HgServerQueue *queue, const HgJobSpec *spec)
{
	const uint64_t budget = budget_of(queue);

	return spec->memory_limit > 0 ? less(budget, spec->memory_limit) : budget;
}

HgStatus
hg_server_queue_enter(HgServerQueue *queue, HgQueueEntry *job, const HgJobSpec *spec,
					  const void *connection, const HgQueueWaiter *waiter, HgError *error)
{
	uint64_t limit;

	job->wake = waiter->wake;
	job->connection = connection;
	job->group = spec->group;
	job->in_team = spec->team != 0;
	job->ahead = spec->ahead != 0;
	job->wanted = lease_for(spec);
	job->memory = queue->config->job_bytes(queue->config->arg, spec);
	queue->config->measure(queue->config->arg);
	limit = limit_of(queue, spec);
	if (job->memory > limit)
		return refuse(job, limit, error);

	pthread_mutex_lock(&queue->lock);
	job->state = HG_QUEUE_REFUSED;
	if ((queue->waiting.length == 0 || (has_kin(queue, job) && spec->ahead == 0)) &&
		admit(queue, job))
	{
		job->state = HG_QUEUE_GRANTED;
		line_append(&queue->open, job);
		if (job->group != 0)
			settle_kin(queue, job->group);
	}
	else if (!has_kin(queue, job))
		wait_in_line(queue, &queue->waiting, job, waiter);
	if (job->state == HG_QUEUE_OUTSIDE)
	{
		queue->counted.jobs_cancelled++;
		/* the next in the line may be one that this one kept waiting */
		admit_waiting(queue);
		note_idle(queue);
	}
	pthread_mutex_unlock(&queue->lock);

	switch (job->state)
	{
		case HG_QUEUE_GRANTED:
			return HG_OK;
		case HG_QUEUE_OUTSIDE:
			return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
		case HG_QUEUE_WAITING:
		case HG_QUEUE_REFUSED:
			break;
	}
	return refuse(job, limit_of(queue, spec), error);
}

HgStatus
hg_server_queue_join(HgServerQueue *queue, HgQueueEntry *member, const HgJobSpec *spec,
					 const void *connection, const HgQueueWaiter *waiter, HgError *error)
{
	member->connection = connection;
	member->group = spec->group;
	member->in_team = true;
	member->wanted = lease_for(spec);

	pthread_mutex_lock(&queue->lock);
	member->state = HG_QUEUE_GRANTED;
	if (queue->members.length == 0 && take_lease(queue, member))
		line_append(&queue->open, member);
	else if (wait_in_line(queue, &queue->members, member, waiter) == HG_QUEUE_OUTSIDE)
	{
		queue->counted.jobs_cancelled++;
		admit_waiting(queue);
	}
	pthread_mutex_unlock(&queue->lock);

	if (member->state == HG_QUEUE_OUTSIDE)
		return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
	return HG_OK;
}

HgStatus
hg_server_queue_grow(HgServerQueue *queue, HgQueueEntry *job, uint64_t bytes, HgError *error)
{
	bool fits;

	pthread_mutex_lock(&queue->lock);
	fits = bytes <= unreserved(queue, 0);
	if (fits)
	{
		job->memory += bytes;
		queue->reserved += bytes;
	}
	pthread_mutex_unlock(&queue->lock);

	if (!fits)
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, NULL,
							"the join has more rows than expected, and the device has no room");
	return HG_OK;
}

void
hg_server_queue_begin_work(HgServerQueue *queue, HgQueueEntry *job)
{
	pthread_mutex_lock(&queue->lock);
	job->busy = true;
	pthread_mutex_unlock(&queue->lock);
}

void
hg_server_queue_end_work(HgServerQueue *queue, HgQueueEntry *job)
{
	pthread_mutex_lock(&queue->lock);
	job->busy = false;
	job->used_ms = now_ms();
	pthread_mutex_unlock(&queue->lock);
}

bool
hg_server_queue_must_evict(HgServerQueue *queue, HgQueueEntry *job)
{
	const HgQueueEntry *first;
	bool must;

	pthread_mutex_lock(&queue->lock);
	first = queue->waiting.first;
	must =
		job->asked && is_idle(queue, job, now_ms()) && first != NULL && !has_memory(queue, first);
	job->asked = false;
	pthread_mutex_unlock(&queue->lock);
	return must;
}

/* An open job is to leave the queue. */
static void
take_out(HgServerQueue *queue, HgQueueEntry *job)
{
	line_remove(&queue->open, job);
	job->state = HG_QUEUE_OUTSIDE;
}

void
hg_server_queue_evict(HgServerQueue *queue, HgQueueEntry *job)
{
	pthread_mutex_lock(&queue->lock);
	queue->counted.jobs_evicted++;
	queue->reserved -= job->memory;
	job->memory = 0;
	if (job->part.bytes == 0)
	{
		take_out(queue, job);
		queue->evicted++;
	}
	admit_waiting(queue);
	pthread_mutex_unlock(&queue->lock);
}

void
hg_server_queue_end_lease(HgServerQueue *queue, HgQueueEntry *job)
{
	pthread_mutex_lock(&queue->lock);
	area_give(&queue->leases, &job->part);
	/* what is built has taken the place of the one that was at work */
	job->ahead = false;
	admit_waiting(queue);
	pthread_mutex_unlock(&queue->lock);
}

void
hg_server_queue_leave(HgServerQueue *queue, HgQueueEntry *job, HgQueueOutcome outcome)
{
	pthread_mutex_lock(&queue->lock);
	area_give(&queue->leases, &job->part);
	queue->reserved -= job->memory;
	if (job->state == HG_QUEUE_GRANTED)
		take_out(queue, job);
	else if (outcome == HG_QUEUE_EVICTED)
		queue->evicted--;
	switch (outcome)
	{
		case HG_QUEUE_UNOPENED:
		case HG_QUEUE_EVICTED:
			break;
		case HG_QUEUE_DONE:
			queue->counted.jobs_done++;
			break;
		case HG_QUEUE_FAILED:
			queue->counted.jobs_failed++;
			break;
		case HG_QUEUE_CANCELLED:
			queue->counted.jobs_cancelled++;
			break;
	}
	admit_waiting(queue);
	note_idle(queue);
	pthread_mutex_unlock(&queue->lock);
}

HgStatus
hg_server_queue_take_room(HgServerQueue *queue, HgQueueEntry *room, uint64_t wanted,
						  const HgQueueWaiter *waiter, HgError *error)
{
	HgQueueState state = HG_QUEUE_GRANTED;

	room->wanted = whole_pages(less(wanted, HG_WIRE_SLOT_MAX) + HG_WIRE_PAGE - 1);
	pthread_mutex_lock(&queue->lock);
	if (queue->wishes.length > 0 || !take_room(queue, room))
		state = wait_in_line(queue, &queue->wishes, room, waiter);
	if (state == HG_QUEUE_OUTSIDE)
		grant_wishes(queue);
	pthread_mutex_unlock(&queue->lock);

	if (state == HG_QUEUE_OUTSIDE)
		return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
	return HG_OK;
}

void
hg_server_queue_give_room(HgServerQueue *queue, HgQueueEntry *room)
{
	if (room->part.bytes == 0)
		return;
	pthread_mutex_lock(&queue->lock);
	area_give(&queue->rooms, &room->part);
	grant_wishes(queue);
	pthread_mutex_unlock(&queue->lock);
}

void
hg_server_queue_count_connections(HgServerQueue *queue, int change)
{
	pthread_mutex_lock(&queue->lock);
	queue->counted.connections += (uint32_t) change;
	pthread_mutex_unlock(&queue->lock);
}

int64_t
hg_server_queue_idle_ms(HgServerQueue *queue)
{
	int64_t idle = -1;

	pthread_mutex_lock(&queue->lock);
	if (!has_jobs(queue))
		idle = (int64_t) (now_ms() - queue->idle_since_ms);
	pthread_mutex_unlock(&queue->lock);
	return idle;
}

void
hg_server_queue_status(HgServerQueue *queue, HgDeviceStatus *status)
{
	HgMemoryUse use;

	queue->config->memory_use(queue->config->arg, &use);
	pthread_mutex_lock(&queue->lock);
	*status = queue->counted;
	status->uptime_ms = now_ms() - queue->started_ms;
	status->jobs_open = queue->open.length;
	status->jobs_queued = queue->waiting.length + queue->members.length;
	status->staging_bytes = queue->config->staging_bytes;
	status->staging_leased = queue->leases.taken + queue->rooms.taken;
	status->memory_budget = use.budget;
	status->memory_reserved = queue->reserved;
	status->memory_held = use.held;
	status->memory_peak = use.peak;
	pthread_mutex_unlock(&queue->lock);
}
