/*-------------------------------------------------------------------------
 *
 * hg_watch.c
 *	  How long a session computes without a look at interrupts.
 *
 * While hashgraph.watch_interrupts is on, a timer pretends again and again that an interrupt is
 * pending.  CHECK_FOR_INTERRUPTS(), anybody's, takes that back; a timer that finds it still pending
 * knows how long nobody has looked.  The clock is that of the processor time that the process
 * takes, so that neither waits nor other processes on the machine count.  SHOW tells
 * the longest time since the setting was set, in milliseconds.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "miscadmin.h"
#include "utils/guc.h"

#include "hg_watch.h"

/* Microseconds of processor time between two timers; the kernel may make it more. */
#define WATCH_INTERVAL 1000

static bool watch_interrupts = false;

/* of the process's processor time */
static volatile int64 pending_since;
static volatile int64 longest;

static int64
processor_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * INT64CONST(1000000000) + now.tv_nsec;
}

static void
look(int signal pg_attribute_unused())
{
	int saved = errno;
	int64 now = processor_ns();

	if (InterruptPending)
		longest = Max(longest, now - pending_since);
	else
	{
		pending_since = now;
		InterruptPending = true;
	}
	errno = saved;
}

static void
assign_watch_interrupts(bool value, void *extra pg_attribute_unused())
{
	const struct itimerval interval = {.it_interval = {.tv_usec = value ? WATCH_INTERVAL : 0},
									   .it_value = {.tv_usec = value ? WATCH_INTERVAL : 0}};
	struct sigaction action = {.sa_handler = look, .sa_flags = SA_RESTART};

	pending_since = processor_ns();
	longest = 0;
	if (value)
		sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &interval, NULL);
}

static const char *
show_watch_interrupts(void)
{
	static char text[32];

	if (!watch_interrupts)
		return "off";
	snprintf(text, sizeof(text), "%.1f", (double) longest / 1000000);
	return text;
}

void
hg_watch_init(void)
{
	DefineCustomBoolVariable("hashgraph.watch_interrupts",
							 "Watches how long this session computes without a look at interrupts.",
							 "SHOW tells the longest time, in milliseconds.", &watch_interrupts,
							 false, PGC_SUSET, GUC_NOT_IN_SAMPLE, NULL, assign_watch_interrupts,
							 show_watch_interrupts);
}
