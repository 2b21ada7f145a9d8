/*-------------------------------------------------------------------------
 *
 * test_engine_brought.c
 *	  The conformity suite of pages that are brought to a job, and taken in turns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_engine_brought.h"

#include "hg_tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Pages that are on their way at a time, in one thread, and threads that bring some. */
#define AT_A_TIME 7
#define THREADS 6

static const TestPagesForm forms[2] = {{.nquals = 2, .noise = 10, .run = 3}, {.noise = 20}};

/* Two sides that come as pages, of which so many rows count. */
static void
create_join(TestPagesJoin *join, uint32_t rows, uint64_t seed)
{
	TestReplicaSpread spreads[2] = {{.way = TEST_REPLICA_PAGES,
									 .width = 8,
									 .count = rows,
									 .keys = rows,
									 .hot = 20,
									 .ncolumns = 3,
									 .values = 9,
									 .nulls = 10}};

	spreads[HG_INNER] = spreads[HG_OUTER];
	spreads[HG_INNER].ncolumns = 1;
	test_pages_join_create(join, spreads, forms, seed);
}

static HgStatus
open_job(HgEngine *engine, const HgHost *host, TestPagesJoin *join, HgJob **job, HgError *error)
{
	return test_replica_open(engine, host, &join->sides[HG_OUTER], &join->sides[HG_INNER], job,
							 error);
}

static HgStatus
finish_job(HgEngine *engine, HgJob *job, TestPagesJoin *join, HgError *error)
{
	HgStatus status = engine->join->build(job, error);

	return status == HG_OK ? test_pages_join_ask(join, engine, job, 1000, error) : status;
}

static void
close_job(HgEngine *engine, HgJob *job)
{
	if (job != NULL)
		engine->join->close(job);
}

/* One page, which may be on its way. */
typedef struct Brought
{
	HgSide side;
	const unsigned char *from;
	uint64_t ordinal;
	HgBroughtPages *pages; /* NULL: it is to be appended */
} Brought;

static Brought
page_of(const TestPagesJoin *join, HgSide side, uint64_t page)
{
	const TestReplicaPages *pages = &join->sides[side].pages;

	return (Brought){.side = side,
					 .from = pages->bytes + page * pages->spec.page_size,
					 .ordinal = test_pages_ordinal(pages, page)};
}

static HgStatus
bring(HgEngine *engine, HgJob *job, const HgHost *host, Brought *page, HgError *error)
{
	return engine->brought->bring_pages(job, host, page->side, page->from, 1, &page->pages, error);
}

static HgStatus
take(HgEngine *engine, HgJob *job, const Brought *page, HgError *error)
{
	if (page->pages == NULL)
		return engine->pages->append_pages(job, page->side, page->from, 1, page->ordinal, error);
	return engine->brought->take_pages(job, page->pages, page->ordinal, error);
}

/* ------------------------------------------------------------------------
 * Several at a time
 * ------------------------------------------------------------------------ */

/* Bring some pages, drop the first of them and bring it again, and take them from the last on. */
static HgStatus
give_some(HgEngine *engine, HgJob *job, const HgHost *host, Brought *pages, int count,
		  HgError *error)
{
	HgStatus status = HG_OK;
	int there = 0;

	for (; there < count && status == HG_OK; there++)
		status = bring(engine, job, host, &pages[there], error);
	if (status == HG_OK && pages[0].pages != NULL)
	{
		engine->brought->drop_pages(job, pages[0].pages);
		status = bring(engine, job, host, &pages[0], error);
	}
	for (int i = there - 1; i >= 0 && status == HG_OK; i--)
		status = take(engine, job, &pages[i], error);
	return status;
}

static void
test_at_a_time(HgEngine *engine, const HgHost *base, uint32_t rows)
{
	TestPagesJoin join;
	HgError error = {0};
	HgJob *job = NULL;
	TestHost host;
	HgStatus status;

	test_host_init(&host, base);
	create_join(&join, rows, 41);
	status = open_job(engine, &host.host, &join, &job, &error);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const uint64_t count = join.sides[side].pages.count;

		for (uint64_t first = 0; first < count && status == HG_OK; first += AT_A_TIME)
		{
			Brought pages[AT_A_TIME];
			int some = 0;

			for (; some < AT_A_TIME && first + some < count; some++)
				pages[some] = page_of(&join, (HgSide) side, first + some);
			status = give_some(engine, job, &host.host, pages, some, &error);
		}
	}
	if (status == HG_OK)
		status = finish_job(engine, job, &join, &error);
	close_job(engine, job);
	if (!hg_tap_ok(status == HG_OK && host.held_bytes == 0 && !host.misused,
				   "%s: pages of which several are on their way, taken in another order",
				   engine->name))
		hg_tap_diag("status %d: %s %s", (int) status, error.message, error.detail);
	test_pages_join_destroy(&join);
}

/* ------------------------------------------------------------------------
 * Several threads
 * ------------------------------------------------------------------------ */

typedef struct Crowd
{
	HgEngine *engine;
	HgJob *job;
	const HgHost *host;
	const TestPagesJoin *join;
	pthread_mutex_t turn;
} Crowd;

typedef struct Worker
{
	pthread_t thread;
	Crowd *crowd;
	int number;
	HgStatus status;
	HgError error;
} Worker;

/* Bring each so many'th page of a side, one after the other, and take it in a turn. */
static void
give_part(Worker *worker, HgSide side)
{
	Crowd *crowd = worker->crowd;
	const uint64_t count = crowd->join->sides[side].pages.count;

	for (uint64_t i = (uint64_t) worker->number; i < count && worker->status == HG_OK; i += THREADS)
	{
		Brought page = page_of(crowd->join, side, i);

		worker->status = bring(crowd->engine, crowd->job, crowd->host, &page, &worker->error);
		if (worker->status != HG_OK)
			break;
		pthread_mutex_lock(&crowd->turn);
		worker->status = take(crowd->engine, crowd->job, &page, &worker->error);
		pthread_mutex_unlock(&crowd->turn);
	}
}

/* Threads are on different sides at a time. */
static void *
work(void *arg)
{
	Worker *worker = arg;

	give_part(worker, worker->number % 2 == 0 ? HG_OUTER : HG_INNER);
	give_part(worker, worker->number % 2 == 0 ? HG_INNER : HG_OUTER);
	return NULL;
}

static void
test_crowd(HgEngine *engine, const HgHost *host, uint32_t rows, uint64_t participants_id)
{
	TestPagesJoin join;
	Crowd crowd = {
		.engine = engine, .host = host, .join = &join, .turn = PTHREAD_MUTEX_INITIALIZER};
	HgJobSpec spec = {.key_width = 8, .device = -1, .participants_id = participants_id};
	Worker workers[THREADS];
	HgError error = {0};
	HgStatus status;

	create_join(&join, rows, 42);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec.sides[side].kind = HG_SOURCE_PAGES;
		spec.sides[side].pages = &join.sides[side].pages.spec;
		spec.sides[side].ncolumns = join.sides[side].spread.ncolumns;
		memcpy(spec.sides[side].column_width, test_replica_widths, sizeof(test_replica_widths));
	}
	status = engine->open(engine, host, &spec, &crowd.job, &error);
	for (int i = 0; i < THREADS && status == HG_OK; i++)
	{
		workers[i] = (Worker){.crowd = &crowd, .number = i};
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			abort();
	}
	for (int i = 0; i < THREADS && crowd.job != NULL; i++)
	{
		pthread_join(workers[i].thread, NULL);
		if (status == HG_OK)
			error = workers[i].error;
		if (status == HG_OK)
			status = workers[i].status;
	}
	if (status == HG_OK)
		status = finish_job(engine, crowd.job, &join, &error);
	close_job(engine, crowd.job);
	if (!hg_tap_ok(status == HG_OK, "%s: %d threads bring pages of %u rows, %s", engine->name,
				   THREADS, rows, participants_id != 0 ? "as a shared job's" : "as one process's"))
		hg_tap_diag("status %d: %s %s", (int) status, error.message, error.detail);
	test_pages_join_destroy(&join);
}

/* ------------------------------------------------------------------------
 * Refusals
 * ------------------------------------------------------------------------ */

static void
test_refusals(HgEngine *engine, const HgHost *base)
{
	TestPagesJoin join;
	Brought page;
	HgError error = {0};
	HgJob *job = NULL;
	TestHost host;
	HgStatus status;
	bool good;

	test_host_init(&host, base);
	create_join(&join, 500, 43);
	good = open_job(engine, &host.host, &join, &job, &error) == HG_OK;
	page = page_of(&join, HG_INNER, 0);

	host.cancel_poll = host.polls + 1;
	status = good ? bring(engine, job, &host.host, &page, &error) : HG_INVALID;
	hg_tap_ok(good && status == HG_CANCELLED, "%s: who brings pages can be cancelled",
			  engine->name);
	host.cancel_poll = 0;

	/* that was his own business: the job goes on */
	good = good && bring(engine, job, &host.host, &page, &error) == HG_OK;
	page.ordinal = HG_MAX_ROWS;
	hg_tap_ok(good && take(engine, job, &page, &error) == HG_TOO_MANY_ROWS,
			  "%s: no row of theirs has a number that can not be", engine->name);
	close_job(engine, job);
	job = NULL;

	good = open_job(engine, &host.host, &join, &job, &error) == HG_OK;
	for (int side = HG_OUTER; side <= HG_INNER && good; side++)
		good =
			test_replica_append(engine, job, (HgSide) side, 0, &join.sides[side], &error) == HG_OK;
	page = page_of(&join, HG_OUTER, 0);
	good = good && bring(engine, job, &host.host, &page, &error) == HG_OK &&
		   engine->join->build(job, &error) == HG_OK;
	hg_tap_ok(good && take(engine, job, &page, &error) == HG_INVALID,
			  "%s: pages are not taken after build", engine->name);
	good = good && test_pages_join_ask(&join, engine, job, 1000, &error) == HG_OK;
	close_job(engine, job);
	hg_tap_ok(good && host.held_bytes == 0 && !host.misused, "%s: which does no harm",
			  engine->name);
	test_pages_join_destroy(&join);
}

/* Of a page of no sense build tells, and nothing else. */
static void
test_bad_page(HgEngine *engine, const HgHost *base)
{
	TestPagesJoin join;
	Brought page;
	HgError error = {0};
	HgJob *job = NULL;
	TestHost host;
	bool good;

	test_host_init(&host, base);
	create_join(&join, 500, 44);
	join.sides[HG_OUTER].pages.bytes[18] ^= 1;
	good = open_job(engine, &host.host, &join, &job, &error) == HG_OK;
	page = page_of(&join, HG_OUTER, 0);
	good = good && bring(engine, job, &host.host, &page, &error) == HG_OK &&
		   take(engine, job, &page, &error) == HG_OK;
	page = page_of(&join, HG_INNER, 0);
	good = good && bring(engine, job, &host.host, &page, &error) == HG_OK &&
		   take(engine, job, &page, &error) == HG_OK &&
		   engine->join->build(job, &error) == HG_BAD_PAGE;
	close_job(engine, job);
	hg_tap_ok(good && host.held_bytes == 0, "%s: a page that makes no sense is brought",
			  engine->name);
	test_pages_join_destroy(&join);
}

/* A job with little memory of its own has pages brought or not, but has them. */
static void
test_little_memory(HgEngine *engine, const HgHost *host, uint32_t rows)
{
	TestPagesJoin join;
	uint64_t fitted = 0;
	bool good = true;

	create_join(&join, rows, 45);
	for (uint64_t limit = 100000; good && fitted < 3 && limit < UINT64_C(1) << 32;
		 limit += limit / 2)
	{
		HgJobSpec spec = {.key_width = 8, .device = -1, .memory_limit = limit};
		HgError error = {0};
		HgJob *job = NULL;
		HgJobStats stats = {0};
		HgStatus status;

		for (int side = HG_OUTER; side <= HG_INNER; side++)
		{
			spec.sides[side].kind = HG_SOURCE_PAGES;
			spec.sides[side].pages = &join.sides[side].pages.spec;
			spec.sides[side].ncolumns = join.sides[side].spread.ncolumns;
			memcpy(spec.sides[side].column_width, test_replica_widths, sizeof(test_replica_widths));
		}
		status = engine->open(engine, host, &spec, &job, &error);
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			for (uint64_t i = 0; i < join.sides[side].pages.count && status == HG_OK; i++)
			{
				Brought page = page_of(&join, (HgSide) side, i);

				status = bring(engine, job, host, &page, &error);
				if (status == HG_OK)
					status = take(engine, job, &page, &error);
			}
		if (status == HG_OK)
			status = finish_job(engine, job, &join, &error);
		if (status == HG_OK)
			engine->join->stats(job, &stats);
		close_job(engine, job);
		fitted += status == HG_OK;
		good = stats.peak_bytes <= limit &&
			   (status == HG_OK || status == HG_OUT_OF_MEMORY || status == HG_DEVICE_OUT_OF_MEMORY);
	}
	hg_tap_ok(good && fitted == 3, "%s: pages are brought within little memory", engine->name);
	test_pages_join_destroy(&join);
}

void
hg_engine_brought_suite(HgEngine *engine, const HgHost *host, uint32_t rows)
{
	test_at_a_time(engine, host, rows);
	test_crowd(engine, host, rows, 0);
	test_crowd(engine, host, rows, UINT64_C(0x7ea9a9e5));
	test_refusals(engine, host);
	test_bad_page(engine, host);
	test_little_memory(engine, host, rows < 20000 ? rows : 20000);
}
