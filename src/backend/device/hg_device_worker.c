/*-------------------------------------------------------------------------
 *
 * hg_device_worker.c
 *	  The background worker that keeps the server's device process.
 *
 * A GPU belongs to a server, not to a session: its context takes half a second and half a
 * gigabyte, and only one process that sees all jobs can share memory among them.  This worker
 * starts the program, with a socket on which sessions connect, and a connection to itself, over
 * which it learns that the process is up, that it lives, and that it has gone.  It loads no CUDA,
 * and no key ever passes through it: sessions talk to the process themselves.
 *
 * THE PROCESS'S LIFE, as the worker tells it to the sessions (hg_device_shared.h)
 *
 *	spawned			STARTING
 *	says hello		READY
 *	declines		UNAVAILABLE with its reason; tried again after HG_WORKER_RETRY_MS
 *	dies			STARTING if it is replaced soon, else UNAVAILABLE: after a pause that doubles
 *					from HG_WORKER_FIRST_PAUSE_MS to HG_WORKER_LONGEST_PAUSE_MS, and begins
 *					anew when one has lived for a minute
 *	ends by itself	RESTING: it was idle for gpu_idle_timeout.  Started again when asked
 *	no program		UNAVAILABLE; looked for again after HG_WORKER_RETRY_MS, or when a session
 *					that has found it asks
 *
 * Settings that a process is started with may change while it runs.  It is then replaced: sessions
 * are told that it is STARTING, so that no job begins, and it ends when the last one has, or after
 * HG_WORKER_DRAIN_MS.  A reload of the configuration also ends all pauses.
 *
 * DOES IT LIVE?  The worker asks once a second, and at once when a session complains
 * that it got no answer.  A process that keeps it waiting for a second is called
 * silent, which keeps sessions away; one that says nothing for HG_WORKER_SILENCE_MS is
 * killed.  A process that starts has nothing to say for up to HG_WORKER_START_MS, but if it was
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

#include "fmgr.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "backend/device/hg_device_listener.h"
#include "backend/device/hg_device_shared.h"
#include "backend/device/hg_device_worker.h"
#include "hg_guc.h"

/* How long a worker that has failed is left alone. */
#define HG_WORKER_RESTART_S 5

/* How long a program that is missing, or has no device, is left alone. */
#define HG_WORKER_RETRY_MS (60 * 1000)

/* How long a lost process is not replaced, from the first time on. */
#define HG_WORKER_FIRST_PAUSE_MS 100
#define HG_WORKER_LONGEST_PAUSE_MS (60 * 1000)

/* What sessions may wait through without being told that there is no device. */
#define HG_WORKER_SHORT_PAUSE_MS (5 * 1000)

/* How long a process must live to have its losses forgotten. */
#define HG_WORKER_HEALTHY_MS (60 * 1000)

/* How long a process may take to start, and to let its jobs end when it is replaced. */
#define HG_WORKER_START_MS (60 * 1000)
#define HG_WORKER_DRAIN_MS (60 * 1000)

/* How often it is asked whether it lives, and when it is held for dead. */
#define HG_WORKER_PING_MS 1000
#define HG_WORKER_SILENCE_MS (10 * 1000)

static struct
{
	HgServerDevice device; /* as it was published last */
	HgDeviceLaunch launch; /* of the process that runs, or ran last */
	HgWireClient *client;  /* NULL where no process runs */
	TimestampTz started_at;
	TimestampTz next_start; /* DT_NOEND: when a session asks */
	TimestampTz next_ping;
	TimestampTz drained_at; /* 0, or when it is replaced at the latest */
	long pause_ms;			/* before the next replacement */

	/* while a question is under way */
	TimestampTz asked_at;
	bool told_silent;
} worker;

static uint32 hg_worker_wait_event;

PGDLLEXPORT pg_noreturn void hg_device_worker_main(Datum arg);

void
hg_device_worker_init(void)
{
	BackgroundWorker registered = {0};

	if (!process_shared_preload_libraries_in_progress)
		return;
	hg_device_shared_init();
	/* pg_upgrade has no use for a GPU */
	if (IsBinaryUpgrade)
		return;

	/* a connection, to no database, is what makes it show in pg_stat_activity */
	registered.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	registered.bgw_start_time = BgWorkerStart_ConsistentState;
	registered.bgw_restart_time = HG_WORKER_RESTART_S;
	strlcpy(registered.bgw_library_name, "hashgraph", sizeof(registered.bgw_library_name));
	strlcpy(registered.bgw_function_name, "hg_device_worker_main",
			sizeof(registered.bgw_function_name));
	strlcpy(registered.bgw_name, "hashgraph device", sizeof(registered.bgw_name));
	strlcpy(registered.bgw_type, "hashgraph device", sizeof(registered.bgw_type));
	RegisterBackgroundWorker(&registered);
}

/* ------------------------------------------------------------------------
 * The process
 * ------------------------------------------------------------------------ */

static void
hg_worker_publish(HgServerDeviceState state)
{
	worker.device.state = state;
	hg_device_shared_publish(&worker.device);
}

/* There is no device; when to look again. */
static void
hg_worker_set_unavailable(const HgError *reason, TimestampTz next_start)
{
	worker.device.reason = *reason;
	worker.device.reason.status = HG_UNAVAILABLE;
	worker.next_start = next_start;
	hg_worker_publish(HG_SERVER_DEVICE_UNAVAILABLE);
}

/* Log why there is no device, unless that was the reason before. */
static void
hg_worker_log_reason(const HgError *reason)
{
	const HgError *before = &worker.device.reason;

	if (strcmp(before->message, reason->message) == 0 &&
		strcmp(before->detail, reason->detail) == 0)
		return;
	ereport(worker.device.installed ? LOG : DEBUG1,
			(errmsg("hashgraph uses no GPU: %s", reason->message),
			 reason->detail[0] != '\0' ? errdetail("%s", reason->detail) : 0));
}

/* Close the connection, which ends the process: it is to be seen off. */
static pid_t
hg_worker_disconnect(void)
{
	pid_t pid = worker.device.pid;

	hg_device_listener_close(worker.client);
	worker.client = NULL;
	worker.device.pid = 0;
	worker.drained_at = 0;
	return pid;
}

/* End the process and see it off; returns its status. */
static int
hg_worker_end_process(void)
{
	return hg_device_reap(hg_worker_disconnect(), HG_DEVICE_LISTENER_GRACE_MS);
}

/*
 * The end of the worker is that of the process.  It is seen off last, when the other processes of
 * the server no longer count on this one.  On the ways out that do not come by here the kernel
 * closes the connection.
 */
static void
hg_worker_reap_at_exit(int code pg_attribute_unused(), Datum pid)
{
	hg_device_reap((pid_t) DatumGetInt32(pid), HG_DEVICE_LISTENER_GRACE_MS);
}

static void
hg_worker_at_exit(int code pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	if (worker.client != NULL)
	{
		on_proc_exit(hg_worker_reap_at_exit, Int32GetDatum(hg_worker_disconnect()));
		hg_worker_publish(HG_SERVER_DEVICE_STARTING);
	}
}

/* End the process on purpose; why completes "was stopped". */
static void
hg_worker_stop(const char *why)
{
	pid_t pid = worker.device.pid;

	hg_worker_end_process();
	ereport(LOG, (errmsg("hashgraph device process (PID %d) was stopped: %s", (int) pid, why)));
}

/* After a loss: when the next one is started, and what sessions are told until then. */
static void
hg_worker_pause(TimestampTz now, const HgError *reason)
{
	TimestampTz next_start = TimestampTzPlusMilliseconds(now, worker.pause_ms);

	if (worker.pause_ms <= HG_WORKER_SHORT_PAUSE_MS)
	{
		worker.next_start = next_start;
		hg_worker_publish(HG_SERVER_DEVICE_STARTING);
	}
	else
		hg_worker_set_unavailable(reason, next_start);
	worker.pause_ms = Min(2 * worker.pause_ms, HG_WORKER_LONGEST_PAUSE_MS);
}

/* Start a process, or find that there is none to start. */
static void
hg_worker_start(TimestampTz now)
{
	TimestampTz retry = TimestampTzPlusMilliseconds(now, HG_WORKER_RETRY_MS);
	HgError error;
	int rc;

	hg_device_launch_init(&worker.launch);
	worker.device.installed = hg_device_is_installed(&worker.launch);
	if (!worker.device.installed)
	{
		hg_device_set_missing(&error);
		hg_worker_log_reason(&error);
		hg_worker_set_unavailable(&error, retry);
		return;
	}
	worker.started_at = now;
	rc = hg_device_listener_start(&worker.launch, &worker.client, &worker.device.pid);
	if (rc != 0)
	{
		hg_error_set(&error, HG_UNAVAILABLE, strerror(rc), "could not start the device process");
		hg_worker_log_reason(&error);
		hg_worker_pause(now, &error);
		return;
	}
	hg_worker_publish(HG_SERVER_DEVICE_STARTING);
}

/* ------------------------------------------------------------------------
 * What it says
 * ------------------------------------------------------------------------ */

static bool
hg_worker_cancelled(void *arg pg_attribute_unused())
{
	return ShutdownRequestPending;
}

/* Wait for an answer: until the server ends, or the process is held for dead. */
static bool
hg_worker_wait_readable(void *arg pg_attribute_unused(), int fd)
{
	while (!ShutdownRequestPending)
	{
		long waited = TimestampDifferenceMilliseconds(worker.asked_at, GetCurrentTimestamp());
		int events;

		if (waited >= HG_WORKER_SILENCE_MS)
			return false;
		if (waited >= HG_WORKER_PING_MS && !worker.told_silent)
		{
			hg_device_shared_set_silent(worker.device.epoch);
			worker.told_silent = true;
		}
		events = WaitLatchOrSocket(
			MyLatch, WL_LATCH_SET | WL_SOCKET_READABLE | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, fd,
			worker.told_silent ? HG_WORKER_SILENCE_MS - waited : HG_WORKER_PING_MS - waited,
			HG_WAIT_EVENT(hg_worker_wait_event, "HashGraphDeviceMain"));
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
static const HgHost *
hg_worker_host(void)
{
	static const HgHost host = {.cancelled = hg_worker_cancelled,
								.wait_readable = hg_worker_wait_readable};

	worker.asked_at = GetCurrentTimestamp();
	worker.told_silent = false;
	return &host;
}

/* The process has gone, or does not answer: say how, and think of the next one. */
static void
hg_worker_lose(TimestampTz now, const char *how)
{
	bool replaced = worker.drained_at != 0;
	bool was_ready = worker.device.state == HG_SERVER_DEVICE_READY || replaced;
	bool healthy =
		was_ready && TimestampDifferenceExceeds(worker.started_at, now, HG_WORKER_HEALTHY_MS);
	pid_t pid = worker.device.pid;
	char detail[sizeof(((HgError *) 0)->detail)];
	HgError error;
	int status;

	/* it ends in good order then, as one that was idle */
	if (how == NULL && hg_wire_client_is_distrusted(worker.client))
		how = "What it said made no sense.";
	status = hg_worker_end_process();
	if (how == NULL && was_ready && status == 0)
	{
		ereport(LOG,
				(errmsg("hashgraph device process (PID %d) has ended: it was idle", (int) pid)));
		worker.next_start = DT_NOEND;
		hg_worker_publish(HG_SERVER_DEVICE_RESTING);
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
	worker.device.restarts++;
	if (healthy || replaced)
		worker.pause_ms = HG_WORKER_FIRST_PAUSE_MS;
	hg_worker_pause(now, &error);
}

/* A question was not answered: see off what does not answer, unless that is the server's end. */
static void
hg_worker_miss_answer(void)
{
	if (hg_wire_client_state(worker.client, NULL) != HG_WIRE_READY || ShutdownRequestPending)
		return; /* the next look finds out */
	kill(worker.device.pid, SIGKILL);
	hg_worker_lose(GetCurrentTimestamp(), "It did not answer, and was killed.");
}

/* The process has come up: learn what it has, and let the sessions in. */
static void
hg_worker_announce(TimestampTz now)
{
	HgDeviceInfo infos[16];
	int count = 0;

	worker.device.name[0] = '\0';
	if (hg_wire_client_devices(worker.client, hg_worker_host(), infos, lengthof(infos), &count,
							   NULL) != HG_OK)
	{
		hg_worker_miss_answer();
		return;
	}
	for (int i = 0; i < count; i++)
		if (strcmp(infos[i].state, "ready") == 0)
		{
			strlcpy(worker.device.name, infos[i].name, sizeof(worker.device.name));
			break;
		}
	worker.device.costs = *hg_wire_client_costs(worker.client);
	worker.device.epoch++;
	memset(&worker.device.reason, 0, sizeof(HgError));
	worker.next_ping = now;
	ereport(LOG, (errmsg("hashgraph device process (PID %d) is ready: %s", (int) worker.device.pid,
						 worker.device.name)));
	hg_worker_publish(HG_SERVER_DEVICE_READY);
}

/* Ask the process how it is. */
static void
hg_worker_ping(TimestampTz now)
{
	HgDeviceStatus status;

	if (hg_wire_client_status(worker.client, hg_worker_host(), &status, NULL) != HG_OK)
	{
		hg_worker_miss_answer();
		return;
	}
	hg_device_shared_clear_silent();
	worker.next_ping = TimestampTzPlusMilliseconds(now, HG_WORKER_PING_MS);
	if (worker.drained_at != 0 &&
		((status.jobs_open == 0 && status.jobs_queued == 0) || now >= worker.drained_at))
	{
		hg_worker_stop("it is started again with new settings");
		worker.next_start = now;
	}
}

/* Have the process drop graphs that it keeps for nobody any more. */
static void
hg_worker_drop_forgotten(void)
{
	HgKeptName name;

	while (hg_device_shared_next_forgotten(&name))
		hg_wire_client_drop(worker.client, &name);
}

/* Has the process been stopped by a signal, and not been told to go on? */
static bool
hg_worker_is_stopped(void)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t) worker.device.pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
		   info.si_pid == worker.device.pid;
}

/* Look after the process that runs. */
static void
hg_worker_look_after(TimestampTz now)
{
	HgServerDevice shared;
	HgError error;

	switch (hg_wire_client_state(worker.client, &error))
	{
		case HG_WIRE_STARTING:
			if (TimestampDifferenceExceeds(worker.started_at, now, HG_WORKER_START_MS))
			{
				kill(worker.device.pid, SIGKILL);
				hg_worker_lose(now, "It did not start in time, and was killed.");
			}
			else if (TimestampDifferenceExceeds(worker.started_at, now, HG_WORKER_SILENCE_MS) &&
					 hg_worker_is_stopped())
			{
				kill(worker.device.pid, SIGKILL);
				hg_worker_lose(now, "It was stopped while it started, and was killed.");
			}
			return;
		case HG_WIRE_READY:
			hg_worker_drop_forgotten();
			if (worker.device.state == HG_SERVER_DEVICE_STARTING && worker.drained_at == 0)
				hg_worker_announce(now);
			else if (now >= worker.next_ping || (hg_device_shared_read(&shared) && shared.silent))
				hg_worker_ping(now);
			return;
		case HG_WIRE_UNAVAILABLE:
			hg_worker_end_process();
			hg_worker_log_reason(&error);
			hg_worker_set_unavailable(&error, TimestampTzPlusMilliseconds(now, HG_WORKER_RETRY_MS));
			return;
		case HG_WIRE_LOST:
			hg_worker_lose(now, NULL);
			return;
	}
}

/* The configuration was read again: does the process still do? */
static void
hg_worker_reload(TimestampTz now)
{
	HgDeviceLaunch launch;

	hg_device_launch_init(&launch);
	worker.pause_ms = HG_WORKER_FIRST_PAUSE_MS;
	if (worker.client == NULL)
	{
		if (worker.device.state != HG_SERVER_DEVICE_RESTING)
			worker.next_start = now;
	}
	else if (!hg_device_launch_equal(&launch, &worker.launch) && worker.drained_at == 0)
	{
		if (worker.device.state == HG_SERVER_DEVICE_READY)
		{
			worker.drained_at = TimestampTzPlusMilliseconds(now, HG_WORKER_DRAIN_MS);
			worker.next_ping = now;
			hg_worker_publish(HG_SERVER_DEVICE_STARTING);
		}
		else
		{
			hg_worker_stop("it is started again with new settings");
			worker.next_start = now;
		}
	}
}

/* Do what is due. */
static void
hg_worker_work(TimestampTz now)
{
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
		hg_worker_reload(now);
	}
	if (hg_device_shared_was_asked() && worker.client == NULL &&
		(worker.device.state == HG_SERVER_DEVICE_RESTING ||
		 (worker.device.state == HG_SERVER_DEVICE_UNAVAILABLE && !worker.device.installed)))
		worker.next_start = now;
	if (worker.client != NULL)
		hg_worker_look_after(now);
	else
	{
		/* one that would not go in time */
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (now >= worker.next_start)
			hg_worker_start(now);
	}
}

/* When something is due again. */
static TimestampTz
hg_worker_next_work(TimestampTz now)
{
	if (worker.client == NULL)
		return worker.next_start;
	if (worker.device.state == HG_SERVER_DEVICE_STARTING && worker.drained_at == 0)
		return Max(TimestampTzPlusMilliseconds(worker.started_at, HG_WORKER_SILENCE_MS + 1),
				   TimestampTzPlusMilliseconds(now, HG_WORKER_PING_MS));
	return worker.next_ping;
}

void
hg_device_worker_main(Datum arg pg_attribute_unused())
{
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGINT, SIG_IGN);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	/* a reload since this process was forked was not told to it, if it came before the handler */
	ProcessConfigFile(PGC_SIGHUP);

	hg_device_shared_attach();
	before_shmem_exit(hg_worker_at_exit, 0);
	worker.pause_ms = HG_WORKER_FIRST_PAUSE_MS;
	/* the counters are the server's, not this worker's */
	hg_device_shared_read(&worker.device);
	worker.device.pid = 0;
	if (hg_backend == HG_BACKEND_CPU)
	{
		worker.next_start = DT_NOEND;
		hg_worker_publish(HG_SERVER_DEVICE_RESTING);
	}
	else
		hg_worker_publish(HG_SERVER_DEVICE_STARTING);

	while (!ShutdownRequestPending)
	{
		int events = WL_LATCH_SET | WL_EXIT_ON_PM_DEATH;
		pgsocket fd = PGINVALID_SOCKET;
		TimestampTz now;
		TimestampTz next;
		long timeout = -1;

		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		now = GetCurrentTimestamp();
		hg_worker_work(now);
		if (ShutdownRequestPending)
			break;
		next = hg_worker_next_work(now);
		if (next != DT_NOEND)
		{
			events |= WL_TIMEOUT;
			timeout = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), next);
		}
		if (worker.client != NULL)
		{
			events |= WL_SOCKET_READABLE;
			fd = hg_wire_client_socket(worker.client);
		}
		WaitLatchOrSocket(MyLatch, events, fd, timeout,
						  HG_WAIT_EVENT(hg_worker_wait_event, "HashGraphDeviceMain"));
	}
	/* not 0: the postmaster would take it that the worker is done for good */
	proc_exit(1);
}
