/*-------------------------------------------------------------------------
 *
 * hg_host.c
 *	  Callbacks of the engine into PostgreSQL: memory, interrupts, waits.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "storage/latch.h"

#include "backend/hg_host.h"
#include "backend/hg_memory.h"

/* Maximum time of one wait: a latch counts milliseconds in an int. */
#define HG_LONGEST_WAIT_MS (60.0 * 1000)

static uint32 hg_host_wait_event;

static void *
hg_host_alloc(void *arg, size_t bytes)
{
	HgPgHost *host = arg;

	return hg_block_alloc(host->context, bytes);
}

static void
hg_host_free(void *arg pg_attribute_unused(), void *ptr, size_t bytes pg_attribute_unused())
{
	hg_block_free(ptr);
}

void
hg_host_catch(HgPgHost *host)
{
	MemoryContextSwitchTo(host->context);
	host->caught = CopyErrorData();
	FlushErrorState();
}

/*
 * Processes interrupts.  Returns true if one of them raised an error, which is stored, or the
 * timeout has passed.  Also counts as a step of the engine's progress.
 */
static bool
hg_host_cancelled(void *arg)
{
	HgPgHost *host = arg;

	hg_progress_step(host->progress, 0);
	if (host->caught != NULL)
		return true;
	/* even after the timeout: the latch of the interrupt is reset, and no later wait sees it */
	if (INTERRUPTS_PENDING_CONDITION())
	{
		PG_TRY();
		{
			CHECK_FOR_INTERRUPTS();
		}
		PG_CATCH();
		{
			hg_host_catch(host);
		}
		PG_END_TRY();
	}
	return host->caught != NULL || (host->limited && host->timeout_ms <= 0);
}

/* Waits for fd, the latch or the end of the timeout; an error is stored. */
static int
hg_host_wait(HgPgHost *host, int fd)
{
	const int awaited = WL_LATCH_SET | WL_SOCKET_READABLE | WL_EXIT_ON_PM_DEATH;
	volatile int events = 0;

	PG_TRY();
	{
		events = WaitLatchOrSocket(
			MyLatch, awaited | (host->limited ? WL_TIMEOUT : 0), fd,
			host->limited ? (long) Min(host->timeout_ms, HG_LONGEST_WAIT_MS) + 1 : -1,
			HG_WAIT_EVENT(hg_host_wait_event, "HashGraphDeviceJob"));
	}
	PG_CATCH();
	{
		hg_host_catch(host);
	}
	PG_END_TRY();
	return events;
}

static bool
hg_host_wait_readable(void *arg, int fd)
{
	HgPgHost *host = arg;

	while (!hg_host_cancelled(arg))
	{
		double start = hg_clock_ms();
		int events;

		events = hg_host_wait(host, fd);
		host->timeout_ms -= hg_clock_ms() - start;
		if (events & WL_LATCH_SET)
			ResetLatch(MyLatch);
		if (events & WL_SOCKET_READABLE)
			return true;
	}
	return false;
}

void
hg_host_init(HgPgHost *host, MemoryContext context)
{
	host->host.alloc = hg_host_alloc;
	host->host.free = hg_host_free;
	host->host.cancelled = hg_host_cancelled;
	host->host.wait_readable = hg_host_wait_readable;
	host->host.arg = host;
	host->context = context;
	host->caught = NULL;
	host->progress = NULL;
	hg_host_set_timeout(host, -1);
}

void
hg_host_set_timeout(HgPgHost *host, double timeout_ms)
{
	host->limited = timeout_ms >= 0;
	host->timeout_ms = timeout_ms;
}

void
hg_host_extend_timeout(HgPgHost *host, double more_ms)
{
	host->timeout_ms += more_ms;
}

void
hg_host_set_min_timeout(HgPgHost *host, double least_ms)
{
	host->timeout_ms = Max(host->timeout_ms, least_ms);
}

bool
hg_host_timed_out(const HgPgHost *host)
{
	return host->caught == NULL && host->limited && host->timeout_ms <= 0;
}

void
hg_host_rethrow(HgPgHost *host)
{
	ErrorData *caught = host->caught;

	if (caught != NULL)
	{
		host->caught = NULL;
		ReThrowError(caught);
	}
}

void
hg_host_throw(HgPgHost *host, HgStatus status, const HgError *error)
{
	int sqlstate = ERRCODE_INTERNAL_ERROR;
	const char *hint = NULL;

	hg_host_rethrow(host);
	switch (status)
	{
		case HG_OUT_OF_MEMORY:
			sqlstate = ERRCODE_OUT_OF_MEMORY;
			break;
		case HG_DEVICE_OUT_OF_MEMORY:
			sqlstate = ERRCODE_INSUFFICIENT_RESOURCES;
			hint = "Set hashgraph.backend to auto or cpu, or raise hashgraph.gpu_memory_limit or "
				   "hashgraph.gpu_memory_budget.";
			break;
		case HG_TOO_MANY_ROWS:
			sqlstate = ERRCODE_PROGRAM_LIMIT_EXCEEDED;
			hint = "Set hashgraph.enabled to off for this query.";
			break;
		case HG_UNAVAILABLE:
			sqlstate = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
			hint = "Set hashgraph.backend to auto or cpu.";
			break;
		case HG_DEVICE_FAILED:
		case HG_CONNECTION_LOST:
			sqlstate = ERRCODE_SYSTEM_ERROR;
			hint =
				"The next join starts a new device process. Set hashgraph.backend to auto to let "
				"the CPU take over in such a case.";
			break;
		case HG_OK:
		case HG_INVALID:
		case HG_CANCELLED:
		case HG_EVICTED:	/* a job that can be evicted continues */
		case HG_NO_REPLICA: /* the caller continues without replicas */
		case HG_NOT_UNIQUE: /* the caller continues without lookups */
		case HG_BAD_PAGE:	/* the caller continues without pages */
		case HG_OVERFLOW:	/* the caller continues without computed columns */
			break;
	}
	ereport(ERROR, (errcode(sqlstate), errmsg("%s", error->message),
					error->detail[0] != '\0' ? errdetail("%s", error->detail) : 0,
					hint != NULL ? errhint("%s", hint) : 0));
}
