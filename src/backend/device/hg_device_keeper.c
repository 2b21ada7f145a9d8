/*-------------------------------------------------------------------------
 *
 * hg_device_keeper.c
 *	  The life of the device process at one place of the server.
 *
 * THE PROCESS'S LIFE, as the worker tells it to the sessions (hg_device_shared.h)
 *
 *	spawned			STARTING
 *	says hello		READY
 *	declines		UNAVAILABLE with its reason; tried again after HG_KEEPER_RETRY_MS
 *	dies			STARTING if it is replaced soon, else UNAVAILABLE: after a pause that doubles
 *					from HG_KEEPER_FIRST_PAUSE_MS to HG_KEEPER_LONGEST_PAUSE_MS, and begins
 *					anew when one has lived for a minute
 *	ends by itself	RESTING: it was idle for gpu_idle_timeout.  Started again when asked
 *	no program		UNAVAILABLE; looked for again after HG_KEEPER_RETRY_MS, or when a session
 *					that has found it asks
 *
 * Settings that a process is started with may change while it runs.  It is then replaced: sessions
 * are told that it is STARTING, so that no job begins, and it ends when the last one has, or after
 * HG_KEEPER_DRAIN_MS.  One whose GPU is not used any more ends likewise, but is UNAVAILABLE.  A
 * reload of the configuration also ends all pauses.
 *
 * DOES IT LIVE?  The worker asks once a second, and at once when a session complains
 * that it got no answer.  A process that keeps it waiting for a second is called
 * silent, which keeps sessions away; one that says nothing for HG_KEEPER_SILENCE_MS is
 * killed.  A process that starts has nothing to say for up to HG_KEEPER_START_MS, but if it was
 * stopped by a signal it need not be waited for that long.
 *
 * HOW IT ENDS.  The process ends when the worker's end of the connection is closed, by whichever
 * way out the worker takes, also by an immediate shutdown, SIGKILL, and the death of the
 * postmaster.  A socket file that is left behind then is removed by the next start.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <signal.h>
#include <sys/wait.h>

#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/timestamp.h"

#include "backend/device/hg_device_keeper.h"
#include "backend/device/hg_device_listener.h"

/* How long a program that is missing, or has no device, is left alone. */
#define HG_KEEPER_RETRY_MS (60 * 1000)

/* How long a lost process is not replaced, from the first time on. */
#define HG_KEEPER_FIRST_PAUSE_MS 100
#define HG_KEEPER_LONGEST_PAUSE_MS (60 * 1000)

/* What sessions may wait through without being told that there is no device. */
#define HG_KEEPER_SHORT_PAUSE_MS (5 * 1000)

/* How long a process must live to have its losses forgotten. */
#define HG_KEEPER_HEALTHY_MS (60 * 1000)

/* How long a process may take to start, and to let its jobs end when it is replaced. */
#define HG_KEEPER_START_MS (60 * 1000)
#define HG_KEEPER_DRAIN_MS (60 * 1000)

/* How often it is asked whether it lives, and when it is held for dead. */
#define HG_KEEPER_PING_MS 1000
#define HG_KEEPER_SILENCE_MS (10 * 1000)

static uint32 hg_keeper_wait_event;

/* ------------------------------------------------------------------------
 * The process
 * ------------------------------------------------------------------------ */

static void
hg_keeper_publish(HgDeviceKeeper *keeper, HgServerDeviceState state)
{
	if (state == HG_SERVER_DEVICE_STARTING && keeper->device.state != HG_SERVER_DEVICE_STARTING)
		keeper->device.starting_since = GetCurrentTimestamp();
	keeper->device.state = state;
	hg_device_shared_publish(keeper->place, &keeper->device);
}

/* There is no device; when to look again. */
static void
hg_keeper_set_unavailable(HgDeviceKeeper *keeper, const HgError *reason, TimestampTz next_start)
{
	keeper->device.reason = *reason;
	keeper->device.reason.status = HG_UNAVAILABLE;
	keeper->next_start = next_start;
	hg_keeper_publish(keeper, HG_SERVER_DEVICE_UNAVAILABLE);
}

/* There is no GPU for it any more, so that nobody is to wait for its process. */
static void
hg_keeper_set_unused(HgDeviceKeeper *keeper)
{
	HgError reason;

	hg_error_set(&reason, HG_UNAVAILABLE, "", "hashgraph.gpu_device excludes the device");
	hg_keeper_set_unavailable(keeper, &reason, DT_NOEND);
}

/* Log why there is no device, unless that was the reason before. */
static void
hg_keeper_log_reason(HgDeviceKeeper *keeper, const HgError *reason)
{
	const HgError *before = &keeper->device.reason;

	if (strcmp(before->message, reason->message) == 0 &&
		strcmp(before->detail, reason->detail) == 0)
		return;
	ereport(keeper->device.installed ? LOG : DEBUG1,
			(hg_device_shared_places() > 1 ? errmsg("hashgraph does not use GPU %d: %s",
													keeper->device.ordinal, reason->message)
										   : errmsg("hashgraph uses no GPU: %s", reason->message),
			 reason->detail[0] != '\0' ? errdetail("%s", reason->detail) : 0));
}

/* Close the connection, which ends the process: it is to be seen off. */
static pid_t
hg_keeper_disconnect(HgDeviceKeeper *keeper)
{
	pid_t pid = keeper->device.pid;

	hg_device_listener_close(keeper->place, keeper->client);
	keeper->client = NULL;
	keeper->device.pid = 0;
	keeper->drained_at = 0;
	return pid;
}

/* End the process and see it off; returns its status. */
static int
hg_keeper_end_process(HgDeviceKeeper *keeper)
{
	pid_t pid = hg_keeper_disconnect(keeper);
	int status = hg_device_reap(pid, HG_DEVICE_LISTENER_GRACE_MS);

	if (status == -1)
		keeper->lingering = pid;
	return status;
}

/*
 * The end of the worker is that of the processes.  They are seen off last, when the other processes
 * of the server no longer count on this one, and when all of them have been asked to go: so all
 * have together the time that one has.  On the ways out that do not come by here the kernel closes
 * the connections.
 */
static void
hg_keeper_reap_at_exit(int code pg_attribute_unused(), Datum pid)
{
	static TimestampTz deadline = 0;
	TimestampTz now = GetCurrentTimestamp();

	if (deadline == 0)
		deadline = TimestampTzPlusMilliseconds(now, HG_DEVICE_LISTENER_GRACE_MS);
	hg_device_reap((pid_t) DatumGetInt32(pid),
				   (int) TimestampDifferenceMilliseconds(now, deadline));
}

void
hg_keeper_end(HgDeviceKeeper *keeper)
{
	if (keeper->client != NULL)
	{
		on_proc_exit(hg_keeper_reap_at_exit, Int32GetDatum(hg_keeper_disconnect(keeper)));
		hg_keeper_publish(keeper, HG_SERVER_DEVICE_STARTING);
	}
}

/* End the process on purpose; why completes "was stopped". */
static void
hg_keeper_stop(HgDeviceKeeper *keeper, const char *why)
{
	pid_t pid = keeper->device.pid;

	hg_keeper_end_process(keeper);
	ereport(LOG, (errmsg("hashgraph device process (PID %d) was stopped: %s", (int) pid, why)));
}

/* End it, for one with other settings, if the place is to have any. */
static void
hg_keeper_replace(HgDeviceKeeper *keeper, TimestampTz now)
{
	hg_keeper_stop(keeper, keeper->wanted ? "it is started again with new settings"
										  : "its GPU is not used any more");
	keeper->next_start = now;
}

/* After a loss: when the next one is started, and what sessions are told until then. */
static void
hg_keeper_pause(HgDeviceKeeper *keeper, TimestampTz now, const HgError *reason)
{
	TimestampTz next_start = TimestampTzPlusMilliseconds(now, keeper->pause_ms);

	if (keeper->pause_ms <= HG_KEEPER_SHORT_PAUSE_MS)
	{
		keeper->next_start = next_start;
		hg_keeper_publish(keeper, HG_SERVER_DEVICE_STARTING);
	}
	else
		hg_keeper_set_unavailable(keeper, reason, next_start);
	keeper->pause_ms = Min(2 * keeper->pause_ms, HG_KEEPER_LONGEST_PAUSE_MS);
}

/* What a process would be started with now. */
static void
hg_keeper_launch(const HgDeviceKeeper *keeper, HgDeviceLaunch *launch)
{
	hg_device_launch_init(launch);
	launch->device = keeper->device.ordinal;
}

/* Start a process, or find that there is none to start. */
static void
hg_keeper_start(HgDeviceKeeper *keeper, TimestampTz now)
{
	TimestampTz retry = TimestampTzPlusMilliseconds(now, HG_KEEPER_RETRY_MS);
	HgError error;
	int rc;

	hg_keeper_launch(keeper, &keeper->launch);
	keeper->device.installed = hg_device_is_installed(&keeper->launch);
	if (!keeper->device.installed)
	{
		hg_device_set_missing(&error);
		hg_keeper_log_reason(keeper, &error);
		hg_keeper_set_unavailable(keeper, &error, retry);
		return;
	}
	keeper->started_at = now;
	rc = hg_device_listener_start(keeper->place, &keeper->launch, &keeper->client,
								  &keeper->device.pid);
	if (rc != 0)
	{
		hg_error_set(&error, HG_UNAVAILABLE, strerror(rc), "could not start the device process");
		hg_keeper_log_reason(keeper, &error);
		hg_keeper_pause(keeper, now, &error);
		return;
	}
	hg_keeper_publish(keeper, HG_SERVER_DEVICE_STARTING);
}

/* ------------------------------------------------------------------------
 * What it says
 * ------------------------------------------------------------------------ */

static bool
hg_keeper_cancelled(void *arg pg_attribute_unused())
{
	return ShutdownRequestPending;
}

/* Wait for an answer: until the server ends, or the process is held for dead. */
static bool
hg_keeper_wait_readable(void *arg, int fd)
{
	HgDeviceKeeper *keeper = arg;

	while (!ShutdownRequestPending)
	{
		long waited = TimestampDifferenceMilliseconds(keeper->asked_at, GetCurrentTimestamp());
		int events;

		if (waited >= HG_KEEPER_SILENCE_MS)
			return false;
		if (waited >= HG_KEEPER_PING_MS && !keeper->told_silent)
		{
			hg_device_shared_set_silent(keeper->place, keeper->device.epoch);
			keeper->told_silent = true;
		}
		events = WaitLatchOrSocket(
			MyLatch, WL_LATCH_SET | WL_SOCKET_READABLE | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, fd,
			keeper->told_silent ? HG_KEEPER_SILENCE_MS - waited : HG_KEEPER_PING_MS - waited,
			HG_WAIT_EVENT(hg_keeper_wait_event, "HashGraphDeviceMain"));
		if (events & WL_LATCH_SET)
		{
			ResetLatch(MyLatch);
			CHECK_FOR_INTERRUPTS();
		}
		if (events & WL_SOCKET_READABLE)
			return true;
	}
	return false;
}

/* What the client needs of a host to wait for an answer, from now on. */
static HgHost
hg_keeper_host(HgDeviceKeeper *keeper)
{
	keeper->asked_at = GetCurrentTimestamp();
	keeper->told_silent = false;
	return (HgHost){
		.cancelled = hg_keeper_cancelled, .wait_readable = hg_keeper_wait_readable, .arg = keeper};
}

/* The process has gone, or does not answer: say how, and think of the next one. */
static void
hg_keeper_lose(HgDeviceKeeper *keeper, TimestampTz now, const char *how)
{
	bool replaced = keeper->drained_at != 0;
	bool was_ready = keeper->device.state == HG_SERVER_DEVICE_READY || replaced;
	bool healthy =
		was_ready && TimestampDifferenceExceeds(keeper->started_at, now, HG_KEEPER_HEALTHY_MS);
	pid_t pid = keeper->device.pid;
	char detail[sizeof(((HgError *) 0)->detail)];
	HgError error;
	int status;

	/* it ends in good order then, as one that was idle */
	if (how == NULL && hg_wire_client_is_distrusted(keeper->client))
		how = "What it said made no sense.";
	status = hg_keeper_end_process(keeper);
	if (how == NULL && was_ready && status == 0)
	{
		ereport(LOG,
				(errmsg("hashgraph device process (PID %d) has ended: it was idle", (int) pid)));
		keeper->next_start = DT_NOEND;
		hg_keeper_publish(keeper, HG_SERVER_DEVICE_RESTING);
		return;
	}
	if (how != NULL)
		strlcpy(detail, how, sizeof(detail));
	else if (status == -1)
		strlcpy(detail, "It closed its connection.", sizeof(detail));
	else if (WIFSIGNALED(status))
		snprintf(detail, sizeof(detail), "It was terminated by signal %d: %s.", WTERMSIG(status),
				 pg_strsignal(WTERMSIG(status)));
	else
		snprintf(detail, sizeof(detail), "It ended with exit code %d.", WEXITSTATUS(status));
	ereport(LOG, (errmsg("hashgraph device process (PID %d) was lost", (int) pid),
				  errdetail("%s", detail)));
	hg_error_set(&error, HG_UNAVAILABLE, detail, "the device process was lost");
	keeper->device.restarts++;
	if (healthy || replaced)
		keeper->pause_ms = HG_KEEPER_FIRST_PAUSE_MS;
	hg_keeper_pause(keeper, now, &error);
}

/* A question was not answered: see off what does not answer, unless that is the server's end. */
static void
hg_keeper_miss_answer(HgDeviceKeeper *keeper)
{
	if (hg_wire_client_state(keeper->client, NULL) != HG_WIRE_READY || ShutdownRequestPending)
		return; /* the next look finds out */
	kill(keeper->device.pid, SIGKILL);
	hg_keeper_lose(keeper, GetCurrentTimestamp(), "It did not answer, and was killed.");
}

/* The process has come up: learn what it has and what else it sees, and let the sessions in. */
static void
hg_keeper_announce(HgDeviceKeeper *keeper, TimestampTz now)
{
	const HgHost host = hg_keeper_host(keeper);

	keeper->device.name[0] = '\0';
	if (hg_wire_client_devices(keeper->client, &host, keeper->seen, lengthof(keeper->seen),
							   &keeper->nseen, NULL) != HG_OK)
	{
		hg_keeper_miss_answer(keeper);
		return;
	}
	for (int i = 0; i < keeper->nseen; i++)
		if (strcmp(keeper->seen[i].state, "ready") == 0)
		{
			strlcpy(keeper->device.name, keeper->seen[i].name, sizeof(keeper->device.name));
			/* the next one is to have the same */
			keeper->launch.device = keeper->device.ordinal = keeper->seen[i].ordinal;
			break;
		}
	keeper->device.costs = *hg_wire_client_costs(keeper->client);
	keeper->device.epoch = hg_device_shared_next_epoch();
	memset(&keeper->device.reason, 0, sizeof(HgError));
	keeper->next_ping = now;
	ereport(LOG, (errmsg("hashgraph device process (PID %d) is ready: %s", (int) keeper->device.pid,
						 keeper->device.name)));
	/* who is kept off this GPU is to find the others, and not that there are none */
	if (keeper->learn != NULL)
		keeper->learn(now);
	hg_keeper_publish(keeper, HG_SERVER_DEVICE_READY);
}

/* Ask the process how it is. */
static void
hg_keeper_ping(HgDeviceKeeper *keeper, TimestampTz now)
{
	const HgHost host = hg_keeper_host(keeper);
	HgDeviceStatus status;

	if (hg_wire_client_status(keeper->client, &host, &status, NULL) != HG_OK)
	{
		hg_keeper_miss_answer(keeper);
		return;
	}
	hg_device_shared_clear_silent(keeper->place);
	keeper->next_ping = TimestampTzPlusMilliseconds(now, HG_KEEPER_PING_MS);
	if (keeper->drained_at != 0 &&
		((status.jobs_open == 0 && status.jobs_queued == 0) || now >= keeper->drained_at))
		hg_keeper_replace(keeper, now);
}

void
hg_keeper_drop(HgDeviceKeeper *keeper, const HgReplicaName *name)
{
	if (keeper->client != NULL && hg_wire_client_state(keeper->client, NULL) == HG_WIRE_READY)
		hg_wire_client_drop(keeper->client, name);
}

/* Has the process been stopped by a signal, and not been told to go on? */
static bool
hg_keeper_is_stopped(HgDeviceKeeper *keeper)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t) keeper->device.pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
		   info.si_pid == keeper->device.pid;
}

/* Look after the process that runs. */
static void
hg_keeper_look_after(HgDeviceKeeper *keeper, TimestampTz now)
{
	HgServerDevice shared;
	HgError error;

	switch (hg_wire_client_state(keeper->client, &error))
	{
		case HG_WIRE_STARTING:
			if (TimestampDifferenceExceeds(keeper->started_at, now, HG_KEEPER_START_MS))
			{
				kill(keeper->device.pid, SIGKILL);
				hg_keeper_lose(keeper, now, "It did not start in time, and was killed.");
			}
			else if (TimestampDifferenceExceeds(keeper->started_at, now, HG_KEEPER_SILENCE_MS) &&
					 hg_keeper_is_stopped(keeper))
			{
				kill(keeper->device.pid, SIGKILL);
				hg_keeper_lose(keeper, now, "It was stopped while it started, and was killed.");
			}
			return;
		case HG_WIRE_READY:
			if (keeper->device.state == HG_SERVER_DEVICE_STARTING && keeper->drained_at == 0)
				hg_keeper_announce(keeper, now);
			else if (now >= keeper->next_ping ||
					 (hg_device_shared_read(keeper->place, &shared) && shared.silent))
				hg_keeper_ping(keeper, now);
			return;
		case HG_WIRE_UNAVAILABLE:
			hg_keeper_end_process(keeper);
			hg_keeper_log_reason(keeper, &error);
			hg_keeper_set_unavailable(keeper, &error,
									  TimestampTzPlusMilliseconds(now, HG_KEEPER_RETRY_MS));
			return;
		case HG_WIRE_LOST:
			hg_keeper_lose(keeper, now, NULL);
			return;
	}
}

void
hg_keeper_reload(HgDeviceKeeper *keeper, TimestampTz now)
{
	HgDeviceLaunch launch;

	hg_keeper_launch(keeper, &launch);
	keeper->pause_ms = HG_KEEPER_FIRST_PAUSE_MS;
	if (keeper->client == NULL)
	{
		if (keeper->device.state != HG_SERVER_DEVICE_RESTING)
			keeper->next_start = now;
	}
	else if ((!keeper->wanted || !hg_device_launch_equal(&launch, &keeper->launch)) &&
			 keeper->drained_at == 0)
	{
		if (keeper->device.state == HG_SERVER_DEVICE_READY)
		{
			keeper->drained_at = TimestampTzPlusMilliseconds(now, HG_KEEPER_DRAIN_MS);
			keeper->next_ping = now;
			if (keeper->wanted)
				hg_keeper_publish(keeper, HG_SERVER_DEVICE_STARTING);
			else
				hg_keeper_set_unused(keeper);
		}
		else
			hg_keeper_replace(keeper, now);
	}
}

void
hg_keeper_init(HgDeviceKeeper *keeper, int place)
{
	memset(keeper, 0, sizeof(*keeper));
	keeper->place = place;
	keeper->pause_ms = HG_KEEPER_FIRST_PAUSE_MS;
	/* the counters are the server's, not this worker's */
	hg_device_shared_read(place, &keeper->device);
	keeper->device.pid = 0;
}

void
hg_keeper_begin(HgDeviceKeeper *keeper, int ordinal, bool rests, TimestampTz now)
{
	keeper->wanted = true;
	keeper->device.ordinal = ordinal;
	if (keeper->client != NULL)
	{
		/* one that lets its jobs end, and is replaced after all */
		if (keeper->drained_at != 0)
			hg_keeper_publish(keeper, HG_SERVER_DEVICE_STARTING);
		return;
	}
	keeper->next_start = rests ? DT_NOEND : now;
	hg_keeper_publish(keeper, rests ? HG_SERVER_DEVICE_RESTING : HG_SERVER_DEVICE_STARTING);
}

void
hg_keeper_work(HgDeviceKeeper *keeper, bool taken, TimestampTz now)
{
	if (hg_device_shared_was_asked(keeper->place) && keeper->client == NULL &&
		(keeper->device.state == HG_SERVER_DEVICE_RESTING ||
		 (keeper->device.state == HG_SERVER_DEVICE_UNAVAILABLE && !keeper->device.installed)))
		keeper->next_start = now;
	/* one that would not go in time */
	if (keeper->lingering != 0 && waitpid(keeper->lingering, NULL, WNOHANG) != 0)
		keeper->lingering = 0;
	if (keeper->client != NULL)
		hg_keeper_look_after(keeper, now);
	else if (keeper->wanted && now >= keeper->next_start)
	{
		if (taken)
			keeper->next_start = TimestampTzPlusMilliseconds(now, HG_KEEPER_FIRST_PAUSE_MS);
		else
			hg_keeper_start(keeper, now);
	}
	if (keeper->client == NULL && !keeper->wanted &&
		keeper->device.state != HG_SERVER_DEVICE_NONE &&
		keeper->device.state != HG_SERVER_DEVICE_UNAVAILABLE)
		hg_keeper_set_unused(keeper);
}

TimestampTz
hg_keeper_next_work(const HgDeviceKeeper *keeper, TimestampTz now)
{
	if (keeper->client == NULL)
		return keeper->wanted ? keeper->next_start : DT_NOEND;
	if (keeper->device.state == HG_SERVER_DEVICE_STARTING && keeper->drained_at == 0)
		return Max(TimestampTzPlusMilliseconds(keeper->started_at, HG_KEEPER_SILENCE_MS + 1),
				   TimestampTzPlusMilliseconds(now, HG_KEEPER_PING_MS));
	return keeper->next_ping;
}
