/*-------------------------------------------------------------------------
 *
 * hg_device_supervisor.c
 *	  The life of one device process of the server.
 *
 * STATES that the worker publishes to sessions (hg_device_shared.h) when the process
 *
 *	is spawned		STARTING
 *	greets			READY
 *	declines		UNAVAILABLE with its reason; retried after HG_SUPERVISOR_RETRY_MS
 *	dies			STARTING if it is replaced soon, else UNAVAILABLE. The pause doubles from
 *					HG_SUPERVISOR_FIRST_PAUSE_MS to HG_SUPERVISOR_LONGEST_PAUSE_MS, and starts
 *					again when a process has lived for a minute
 *	ends by itself	RESTING: it was idle for gpu_idle_timeout. Started again on request
 *	is missing		UNAVAILABLE; retried after HG_SUPERVISOR_RETRY_MS, or when a session that has
 *					found the program asks
 *
 * A process whose settings change is replaced. It is published as STARTING, so that no job begins,
 * and ends with its last job or after HG_SUPERVISOR_DRAIN_MS. A process whose GPU is no longer
 * used ends likewise, but as UNAVAILABLE. A reload of the configuration also ends all pauses.
 *
 * LIVENESS. The worker pings once a second, and at once when a session reports no answer. After a
 * second without an answer the process is published as silent, which keeps sessions away; after
 * HG_SUPERVISOR_SILENCE_MS it is killed. A starting process may be mute for
 * HG_SUPERVISOR_START_MS, unless a signal has stopped it.
 *
 * END. The process ends when the worker's end of the connection closes, however the worker ends:
 * also by an immediate shutdown, SIGKILL, or the death of the postmaster. The next start removes a
 * socket file that is left behind.
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

#include "backend/device/hg_device_supervisor.h"
#include "backend/device/hg_device_connection.h"

/* How long to wait before retrying a program that is missing or has no device. */
#define HG_SUPERVISOR_RETRY_MS (60 * 1000)

/* Pause before a lost process is replaced: the first one and the longest one. */
#define HG_SUPERVISOR_FIRST_PAUSE_MS 100
#define HG_SUPERVISOR_LONGEST_PAUSE_MS (60 * 1000)

/* The longest pause that is published as STARTING and not as UNAVAILABLE. */
#define HG_SUPERVISOR_SHORT_PAUSE_MS (5 * 1000)

/* How long a process must live to reset the pause. */
#define HG_SUPERVISOR_HEALTHY_MS (60 * 1000)

/* How long a process may take to start, and to finish its jobs when it is replaced. */
#define HG_SUPERVISOR_START_MS (60 * 1000)
#define HG_SUPERVISOR_DRAIN_MS (60 * 1000)

/* How often a process is pinged, and when a silent one is killed. */
#define HG_SUPERVISOR_PING_MS 1000
#define HG_SUPERVISOR_SILENCE_MS (10 * 1000)

static uint32 hg_supervisor_wait_event;

/* ------------------------------------------------------------------------
 * The process
 * ------------------------------------------------------------------------ */

static void
hg_supervisor_publish(HgDeviceSupervisor *supervisor, HgServerDeviceState state)
{
	if (state == HG_SERVER_DEVICE_STARTING && supervisor->device.state != HG_SERVER_DEVICE_STARTING)
		supervisor->device.starting_since = GetCurrentTimestamp();
	supervisor->device.state = state;
	hg_device_shared_publish(supervisor->device_no, &supervisor->device);
}

/* Publishes that there is no device, and sets when to try again. */
static void
hg_supervisor_set_unavailable(HgDeviceSupervisor *supervisor, const HgError *reason,
							  TimestampTz next_start)
{
	supervisor->device.reason = *reason;
	supervisor->device.reason.status = HG_UNAVAILABLE;
	supervisor->next_start = next_start;
	hg_supervisor_publish(supervisor, HG_SERVER_DEVICE_UNAVAILABLE);
}

/* Publishes that there is no GPU for this device any more, so that no session waits for it. */
static void
hg_supervisor_set_unused(HgDeviceSupervisor *supervisor)
{
	HgError reason;

	hg_error_set(&reason, HG_UNAVAILABLE, "", "hashgraph.gpu_device excludes the device");
	hg_supervisor_set_unavailable(supervisor, &reason, DT_NOEND);
}

/* Logs why there is no device, unless the reason is the same as before. */
static void
hg_supervisor_log_reason(HgDeviceSupervisor *supervisor, const HgError *reason)
{
	const HgError *before = &supervisor->device.reason;

	if (strcmp(before->message, reason->message) == 0 &&
		strcmp(before->detail, reason->detail) == 0)
		return;
	ereport(supervisor->device.installed ? LOG : DEBUG1,
			(hg_device_shared_count() > 1 ? errmsg("hashgraph does not use GPU %d: %s",
												   supervisor->device.ordinal, reason->message)
										  : errmsg("hashgraph uses no GPU: %s", reason->message),
			 reason->detail[0] != '\0' ? errdetail("%s", reason->detail) : 0));
}

/* Closes the connection, which ends the process. The caller must reap the returned PID. */
static pid_t
hg_supervisor_disconnect(HgDeviceSupervisor *supervisor)
{
	pid_t pid = supervisor->device.pid;

	hg_device_listener_close(supervisor->device_no, supervisor->client);
	supervisor->client = NULL;
	supervisor->device.pid = 0;
	supervisor->drained_at = 0;
	return pid;
}

/* Ends the process and reaps it; returns its wait status or -1. */
static int
hg_supervisor_end_process(HgDeviceSupervisor *supervisor)
{
	pid_t pid = hg_supervisor_disconnect(supervisor);
	int status = hg_device_reap(pid, HG_DEVICE_LISTENER_GRACE_MS);

	if (status == -1)
		supervisor->lingering = pid;
	return status;
}

/*
 * Reaps a process when the worker exits. This runs last, when no other server process depends on
 * the worker and all device processes have been told to end. They share one grace period. If the
 * worker dies without callbacks, the kernel closes the connections.
 */
static void
hg_supervisor_reap_at_exit(int code pg_attribute_unused(), Datum pid)
{
	static TimestampTz deadline = 0;
	TimestampTz now = GetCurrentTimestamp();

	if (deadline == 0)
		deadline = TimestampTzPlusMilliseconds(now, HG_DEVICE_LISTENER_GRACE_MS);
	hg_device_reap((pid_t) DatumGetInt32(pid),
				   (int) TimestampDifferenceMilliseconds(now, deadline));
}

void
hg_supervisor_end(HgDeviceSupervisor *supervisor)
{
	if (supervisor->client != NULL)
	{
		on_proc_exit(hg_supervisor_reap_at_exit,
					 Int32GetDatum(hg_supervisor_disconnect(supervisor)));
		hg_supervisor_publish(supervisor, HG_SERVER_DEVICE_STARTING);
	}
}

/* Ends the process on purpose; why completes "was stopped". */
static void
hg_supervisor_stop(HgDeviceSupervisor *supervisor, const char *why)
{
	pid_t pid = supervisor->device.pid;

	hg_supervisor_end_process(supervisor);
	ereport(LOG, (errmsg("hashgraph device process (PID %d) was stopped: %s", (int) pid, why)));
}

/* Ends the process, to start one with new settings if the device is still wanted. */
static void
hg_supervisor_replace(HgDeviceSupervisor *supervisor, TimestampTz now)
{
	hg_supervisor_stop(supervisor, supervisor->wanted ? "it is started again with new settings"
													  : "its GPU is not used any more");
	supervisor->next_start = now;
}

/* After a loss: schedules the next start and publishes the state until then. */
static void
hg_supervisor_pause(HgDeviceSupervisor *supervisor, TimestampTz now, const HgError *reason)
{
	TimestampTz next_start = TimestampTzPlusMilliseconds(now, supervisor->pause_ms);

	if (supervisor->pause_ms <= HG_SUPERVISOR_SHORT_PAUSE_MS)
	{
		supervisor->next_start = next_start;
		hg_supervisor_publish(supervisor, HG_SERVER_DEVICE_STARTING);
	}
	else
		hg_supervisor_set_unavailable(supervisor, reason, next_start);
	supervisor->pause_ms = Min(2 * supervisor->pause_ms, HG_SUPERVISOR_LONGEST_PAUSE_MS);
}

/* Fills in what a process would be started with now. */
static void
hg_supervisor_launch(const HgDeviceSupervisor *supervisor, HgDeviceLaunch *launch)
{
	hg_device_launch_init(launch);
	launch->device = supervisor->device.ordinal;
}

/* Starts a process, or finds that the program is missing. */
static void
hg_supervisor_start(HgDeviceSupervisor *supervisor, TimestampTz now)
{
	TimestampTz retry = TimestampTzPlusMilliseconds(now, HG_SUPERVISOR_RETRY_MS);
	HgError error;
	int rc;

	hg_supervisor_launch(supervisor, &supervisor->launch);
	supervisor->device.installed = hg_device_is_installed(&supervisor->launch);
	if (!supervisor->device.installed)
	{
		hg_device_set_missing(&error);
		hg_supervisor_log_reason(supervisor, &error);
		hg_supervisor_set_unavailable(supervisor, &error, retry);
		return;
	}
	supervisor->started_at = now;
	rc = hg_device_listener_start(supervisor->device_no, &supervisor->launch, &supervisor->client,
								  &supervisor->device.pid);
	if (rc != 0)
	{
		hg_error_set(&error, HG_UNAVAILABLE, strerror(rc), "could not start the device process");
		hg_supervisor_log_reason(supervisor, &error);
		hg_supervisor_pause(supervisor, now, &error);
		return;
	}
	hg_supervisor_publish(supervisor, HG_SERVER_DEVICE_STARTING);
}

/* ------------------------------------------------------------------------
 * What it says
 * ------------------------------------------------------------------------ */

static bool
hg_supervisor_cancelled(void *arg pg_attribute_unused())
{
	return ShutdownRequestPending;
}

/* Waits for an answer until the server shuts down or the process has been silent too long. */
static bool
hg_supervisor_wait_readable(void *arg, int fd)
{
	HgDeviceSupervisor *supervisor = arg;

	while (!ShutdownRequestPending)
	{
		long waited = TimestampDifferenceMilliseconds(supervisor->asked_at, GetCurrentTimestamp());
		int events;

		if (waited >= HG_SUPERVISOR_SILENCE_MS)
			return false;
		if (waited >= HG_SUPERVISOR_PING_MS && !supervisor->reported_silent)
		{
			hg_device_shared_set_silent(supervisor->device_no, supervisor->device.epoch);
			supervisor->reported_silent = true;
		}
		events = WaitLatchOrSocket(
			MyLatch, WL_LATCH_SET | WL_SOCKET_READABLE | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, fd,
			supervisor->reported_silent ? HG_SUPERVISOR_SILENCE_MS - waited
										: HG_SUPERVISOR_PING_MS - waited,
			HG_WAIT_EVENT(hg_supervisor_wait_event, "HashGraphDeviceMain"));
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

/* Returns the host with which the client waits for an answer; starts the clock. */
static HgHost
hg_supervisor_host(HgDeviceSupervisor *supervisor)
{
	supervisor->asked_at = GetCurrentTimestamp();
	supervisor->reported_silent = false;
	return (HgHost){.cancelled = hg_supervisor_cancelled,
					.wait_readable = hg_supervisor_wait_readable,
					.arg = supervisor};
}

/*
 * Handles a process that was lost or does not answer: logs how and plans the next start. how is
 * NULL if it closed the connection itself.
 */
static void
hg_supervisor_lose(HgDeviceSupervisor *supervisor, TimestampTz now, const char *how)
{
	bool replaced = supervisor->drained_at != 0;
	bool was_ready = supervisor->device.state == HG_SERVER_DEVICE_READY || replaced;
	bool healthy = was_ready && TimestampDifferenceExceeds(supervisor->started_at, now,
														   HG_SUPERVISOR_HEALTHY_MS);
	pid_t pid = supervisor->device.pid;
	char detail[sizeof(((HgError *) 0)->detail)];
	HgError error;
	int status;

	/* a distrusted process exits with status 0, like one that was idle */
	if (how == NULL && hg_wire_client_is_distrusted(supervisor->client))
		how = "It sent an invalid message.";
	status = hg_supervisor_end_process(supervisor);
	if (how == NULL && was_ready && status == 0)
	{
		ereport(LOG,
				(errmsg("hashgraph device process (PID %d) has ended: it was idle", (int) pid)));
		supervisor->next_start = DT_NOEND;
		hg_supervisor_publish(supervisor, HG_SERVER_DEVICE_RESTING);
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
	supervisor->device.restarts++;
	if (healthy || replaced)
		supervisor->pause_ms = HG_SUPERVISOR_FIRST_PAUSE_MS;
	hg_supervisor_pause(supervisor, now, &error);
}

/* Kills and replaces a process that did not answer, unless the server shuts down. */
static void
hg_supervisor_miss_answer(HgDeviceSupervisor *supervisor)
{
	if (hg_wire_client_state(supervisor->client, NULL) != HG_WIRE_READY || ShutdownRequestPending)
		return; /* the next check finds out */
	kill(supervisor->device.pid, SIGKILL);
	hg_supervisor_lose(supervisor, GetCurrentTimestamp(), "It did not answer, and was killed.");
}

/* Handles a process that has come up: reads its devices and publishes it as READY. */
static void
hg_supervisor_announce(HgDeviceSupervisor *supervisor, TimestampTz now)
{
	const HgHost host = hg_supervisor_host(supervisor);

	supervisor->device.name[0] = '\0';
	if (hg_wire_client_devices(supervisor->client, &host, supervisor->seen,
							   lengthof(supervisor->seen), &supervisor->nseen, NULL) != HG_OK)
	{
		hg_supervisor_miss_answer(supervisor);
		return;
	}
	for (int i = 0; i < supervisor->nseen; i++)
		if (strcmp(supervisor->seen[i].state, "ready") == 0)
		{
			strlcpy(supervisor->device.name, supervisor->seen[i].name,
					sizeof(supervisor->device.name));
			/* its replacement should use the same GPU */
			supervisor->launch.device = supervisor->device.ordinal = supervisor->seen[i].ordinal;
			break;
		}
	supervisor->device.costs = *hg_wire_client_costs(supervisor->client);
	supervisor->device.epoch = hg_device_shared_next_epoch();
	memset(&supervisor->device.reason, 0, sizeof(HgError));
	supervisor->next_ping = now;
	ereport(LOG, (errmsg("hashgraph device process (PID %d) is ready: %s",
						 (int) supervisor->device.pid, supervisor->device.name)));
	/* sessions that may not use this GPU must find the others, not an empty list */
	if (supervisor->learn != NULL)
		supervisor->learn(now);
	hg_supervisor_publish(supervisor, HG_SERVER_DEVICE_READY);
}

/* Pings the process. */
static void
hg_supervisor_ping(HgDeviceSupervisor *supervisor, TimestampTz now)
{
	const HgHost host = hg_supervisor_host(supervisor);
	HgDeviceStatus status;

	if (hg_wire_client_status(supervisor->client, &host, &status, NULL) != HG_OK)
	{
		hg_supervisor_miss_answer(supervisor);
		return;
	}
	hg_device_shared_clear_silent(supervisor->device_no);
	supervisor->next_ping = TimestampTzPlusMilliseconds(now, HG_SUPERVISOR_PING_MS);
	if (supervisor->drained_at != 0 &&
		((status.jobs_open == 0 && status.jobs_queued == 0) || now >= supervisor->drained_at))
		hg_supervisor_replace(supervisor, now);
}

void
hg_supervisor_drop(HgDeviceSupervisor *supervisor, const HgReplicaName *name)
{
	if (supervisor->client != NULL &&
		hg_wire_client_state(supervisor->client, NULL) == HG_WIRE_READY)
		hg_wire_client_drop(supervisor->client, name);
}

/* Returns true if a signal has stopped the process and it was not continued. */
static bool
hg_supervisor_is_stopped(HgDeviceSupervisor *supervisor)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t) supervisor->device.pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
		   info.si_pid == supervisor->device.pid;
}

/* Watches the running process. */
static void
hg_supervisor_look_after(HgDeviceSupervisor *supervisor, TimestampTz now)
{
	HgServerDevice shared;
	HgError error;

	switch (hg_wire_client_state(supervisor->client, &error))
	{
		case HG_WIRE_STARTING:
			if (TimestampDifferenceExceeds(supervisor->started_at, now, HG_SUPERVISOR_START_MS))
			{
				kill(supervisor->device.pid, SIGKILL);
				hg_supervisor_lose(supervisor, now, "It did not start in time, and was killed.");
			}
			else if (TimestampDifferenceExceeds(supervisor->started_at, now,
												HG_SUPERVISOR_SILENCE_MS) &&
					 hg_supervisor_is_stopped(supervisor))
			{
				kill(supervisor->device.pid, SIGKILL);
				hg_supervisor_lose(supervisor, now,
								   "It was stopped while it started, and was killed.");
			}
			return;
		case HG_WIRE_READY:
			if (supervisor->device.state == HG_SERVER_DEVICE_STARTING &&
				supervisor->drained_at == 0)
				hg_supervisor_announce(supervisor, now);
			else if (now >= supervisor->next_ping ||
					 (hg_device_shared_read(supervisor->device_no, &shared) && shared.silent))
				hg_supervisor_ping(supervisor, now);
			return;
		case HG_WIRE_UNAVAILABLE:
			hg_supervisor_end_process(supervisor);
			hg_supervisor_log_reason(supervisor, &error);
			hg_supervisor_set_unavailable(supervisor, &error,
										  TimestampTzPlusMilliseconds(now, HG_SUPERVISOR_RETRY_MS));
			return;
		case HG_WIRE_LOST:
			hg_supervisor_lose(supervisor, now, NULL);
			return;
	}
}

void
hg_supervisor_reload(HgDeviceSupervisor *supervisor, TimestampTz now)
{
	HgDeviceLaunch launch;

	hg_supervisor_launch(supervisor, &launch);
	supervisor->pause_ms = HG_SUPERVISOR_FIRST_PAUSE_MS;
	if (supervisor->client == NULL)
	{
		if (supervisor->device.state != HG_SERVER_DEVICE_RESTING)
			supervisor->next_start = now;
	}
	else if ((!supervisor->wanted || !hg_device_launch_equal(&launch, &supervisor->launch)) &&
			 supervisor->drained_at == 0)
	{
		if (supervisor->device.state == HG_SERVER_DEVICE_READY)
		{
			supervisor->drained_at = TimestampTzPlusMilliseconds(now, HG_SUPERVISOR_DRAIN_MS);
			supervisor->next_ping = now;
			if (supervisor->wanted)
				hg_supervisor_publish(supervisor, HG_SERVER_DEVICE_STARTING);
			else
				hg_supervisor_set_unused(supervisor);
		}
		else
			hg_supervisor_replace(supervisor, now);
	}
}

void
hg_supervisor_init(HgDeviceSupervisor *supervisor, int device_no)
{
	memset(supervisor, 0, sizeof(*supervisor));
	supervisor->device_no = device_no;
	supervisor->pause_ms = HG_SUPERVISOR_FIRST_PAUSE_MS;
	/* the counters outlive this worker */
	hg_device_shared_read(device_no, &supervisor->device);
	supervisor->device.pid = 0;
}

void
hg_supervisor_begin(HgDeviceSupervisor *supervisor, int ordinal, bool rests, TimestampTz now)
{
	supervisor->wanted = true;
	supervisor->device.ordinal = ordinal;
	if (supervisor->client != NULL)
	{
		/* it was draining, and is replaced after all */
		if (supervisor->drained_at != 0)
			hg_supervisor_publish(supervisor, HG_SERVER_DEVICE_STARTING);
		return;
	}
	supervisor->next_start = rests ? DT_NOEND : now;
	hg_supervisor_publish(supervisor, rests ? HG_SERVER_DEVICE_RESTING : HG_SERVER_DEVICE_STARTING);
}

void
hg_supervisor_work(HgDeviceSupervisor *supervisor, bool taken, TimestampTz now)
{
	if (hg_device_shared_was_asked(supervisor->device_no) && supervisor->client == NULL &&
		(supervisor->device.state == HG_SERVER_DEVICE_RESTING ||
		 (supervisor->device.state == HG_SERVER_DEVICE_UNAVAILABLE &&
		  !supervisor->device.installed)))
		supervisor->next_start = now;
	/* one that did not end in time */
	if (supervisor->lingering != 0 && waitpid(supervisor->lingering, NULL, WNOHANG) != 0)
		supervisor->lingering = 0;
	if (supervisor->client != NULL)
		hg_supervisor_look_after(supervisor, now);
	else if (supervisor->wanted && now >= supervisor->next_start)
	{
		if (taken)
			supervisor->next_start = TimestampTzPlusMilliseconds(now, HG_SUPERVISOR_FIRST_PAUSE_MS);
		else
			hg_supervisor_start(supervisor, now);
	}
	if (supervisor->client == NULL && !supervisor->wanted &&
		supervisor->device.state != HG_SERVER_DEVICE_NONE &&
		supervisor->device.state != HG_SERVER_DEVICE_UNAVAILABLE)
		hg_supervisor_set_unused(supervisor);
}

TimestampTz
hg_supervisor_next_work(const HgDeviceSupervisor *supervisor, TimestampTz now)
{
	if (supervisor->client == NULL)
		return supervisor->wanted ? supervisor->next_start : DT_NOEND;
	if (supervisor->device.state == HG_SERVER_DEVICE_STARTING && supervisor->drained_at == 0)
		return Max(
			TimestampTzPlusMilliseconds(supervisor->started_at, HG_SUPERVISOR_SILENCE_MS + 1),
			TimestampTzPlusMilliseconds(now, HG_SUPERVISOR_PING_MS));
	return supervisor->next_ping;
}
