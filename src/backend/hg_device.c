/*-------------------------------------------------------------------------
 *
 * hg_device.c
 *	  This session's device process.
 *
 * No PostgreSQL process ever loads CUDA: a crash of the driver must not be a crash
 * of a backend, which would restart the whole cluster.  The session starts the
 * program with posix_spawn, which needs no copy of this process's page tables,
 * holding one end of a socket pair.  The process ends when that socket closes,
 * whichever way the session goes.
 *
 * That the device is of no use (no program, no driver, no device) is remembered for
 * a while, so that not every join pays for finding out again.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "backend/hg_device.h"
#include "backend/hg_host.h"
#include "engine/hg_ranges.h"
#include "hg_guc.h"

#define HG_DEVICE_PROGRAM "hashgraph_device"

/* The descriptor that the device process finds its socket on. */
#define HG_DEVICE_SOCKET 3

/* How long an unusable device is left alone, and how long a start may take. */
#define HG_DEVICE_RETRY_MS (60 * 1000)
#define HG_DEVICE_START_MS (60 * 1000)

/* How long a process may take to go after its socket was closed. */
#define HG_DEVICE_GRACE_MS 500

static struct
{
	HgWireClient *client; /* NULL where no process runs */
	pid_t pid;
	bool was_ready;								   /* it has come up */
	TimestampTz unusable_since;					   /* 0, or when it turned out to be of no use */
	HgError reason;								   /* why; valid while unusable_since is set */
	char program[MAXPGPATH];					   /* what was tried */
	char name[sizeof(((HgDeviceInfo *) 0)->name)]; /* of the device that jobs run on */
} hg_device;

extern char **environ;

/* Fill path with the program to run. */
static void
hg_device_find_program(char *path)
{
	if (hg_device_program != NULL && hg_device_program[0] != '\0')
		strlcpy(path, hg_device_program, MAXPGPATH);
	else
	{
		strlcpy(path, my_exec_path, MAXPGPATH);
		get_parent_directory(path);
		join_path_components(path, path, HG_DEVICE_PROGRAM);
	}
}

static void
hg_device_set_unusable(HgStatus status, const char *message, const char *detail)
{
	hg_error_set(&hg_device.reason, status, detail, "%s", message);
	hg_device.unusable_since = GetCurrentTimestamp();
}

/* See a process off whose socket has been closed. */
static void
hg_device_reap(pid_t pid)
{
	for (int waited = 0;; waited++)
	{
		pid_t done = waitpid(pid, NULL, WNOHANG);

		if (done == pid || (done < 0 && errno != EINTR))
			return;
		/* one that does not go by itself is killed halfway; no wait is for ever */
		if (waited == HG_DEVICE_GRACE_MS / 2)
			kill(pid, SIGKILL);
		if (waited == HG_DEVICE_GRACE_MS)
			return;
		pg_usleep(1000);
	}
}

/* Give the process up, whatever its state. */
static void
hg_device_discard(void)
{
	if (hg_device.client != NULL)
	{
		hg_wire_client_destroy(hg_device.client);
		ReleaseExternalFD();
		hg_device.client = NULL;
		hg_device.was_ready = false;
		hg_device.name[0] = '\0';
		hg_device_reap(hg_device.pid);
	}
}

static void
hg_device_at_exit(int code pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	hg_device_discard();
}

/* Spawn program with socket as its HG_DEVICE_SOCKET; returns an errno. */
static int
hg_device_spawn(const char *program, int socket, pid_t *pid)
{
	char socket_fd[16];
	char staging[32];
	char budget[32];
	char device[16];
	char idle[16];
	char *argv[] = {HG_DEVICE_PROGRAM,
					"--socket-fd",
					socket_fd,
					"--staging-bytes",
					staging,
					"--memory-budget",
					budget,
					"--device",
					device,
					"--idle-timeout",
					idle,
					NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	sigset_t all;
	int rc;

	snprintf(socket_fd, sizeof(socket_fd), "%d", HG_DEVICE_SOCKET);
	snprintf(staging, sizeof(staging), UINT64_FORMAT, (uint64) hg_staging_size * 1024);
	snprintf(budget, sizeof(budget), UINT64_FORMAT, (uint64) hg_gpu_memory_budget * 1024);
	snprintf(device, sizeof(device), "%d", hg_gpu_device);
	snprintf(idle, sizeof(idle), "%d", hg_gpu_idle_timeout);

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, socket, HG_DEVICE_SOCKET);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes,
							 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	rc = posix_spawn(pid, program, &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/* Start the device process unless it runs or is known to be of no use. */
static void
hg_device_start(void)
{
	static bool exit_callback_registered = false;
	char program[MAXPGPATH];
	int sockets[2];
	int rc;

	hg_device_find_program(program);
	if (hg_device.client != NULL)
		return;
	if (hg_device.unusable_since != 0 && strcmp(program, hg_device.program) == 0 &&
		!TimestampDifferenceExceeds(hg_device.unusable_since, GetCurrentTimestamp(),
									HG_DEVICE_RETRY_MS))
		return;
	hg_device.unusable_since = 0;
	strlcpy(hg_device.program, program, MAXPGPATH);

	if (access(program, X_OK) != 0)
	{
		hg_device_set_unusable(HG_UNAVAILABLE, "hashgraph was installed without CUDA",
							   psprintf("There is no program \"%s\".", program));
		return;
	}
	if (!AcquireExternalFD())
	{
		hg_device_set_unusable(HG_UNAVAILABLE, "too many files are open in this session", "");
		return;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
	{
		hg_device_set_unusable(HG_UNAVAILABLE, "could not create a socket for the device process",
							   strerror(errno));
		ReleaseExternalFD();
		return;
	}
	rc = hg_device_spawn(program, sockets[1], &hg_device.pid);
	close(sockets[1]);
	if (rc != 0)
	{
		close(sockets[0]);
		ReleaseExternalFD();
		hg_device_set_unusable(HG_UNAVAILABLE, "could not start the device process", strerror(rc));
		return;
	}
	if (fcntl(sockets[0], F_SETFL, O_NONBLOCK) != 0 ||
		(hg_device.client = hg_wire_client_create(sockets[0])) == NULL)
	{
		close(sockets[0]);
		ReleaseExternalFD();
		hg_device_reap(hg_device.pid);
		hg_device_set_unusable(HG_OUT_OF_MEMORY, "out of memory", "");
		return;
	}
	if (!exit_callback_registered)
	{
		on_proc_exit(hg_device_at_exit, 0);
		exit_callback_registered = true;
	}
}

/* Take in what the process says; returns what is known then. */
static HgDeviceState
hg_device_poll(HgError *error)
{
	bool came_up;
	HgError why;

	if (hg_device.client == NULL)
	{
		if (error != NULL)
			*error = hg_device.reason;
		return HG_DEVICE_UNAVAILABLE;
	}
	switch (hg_wire_client_state(hg_device.client, &why))
	{
		case HG_WIRE_STARTING:
			return HG_DEVICE_STARTING;
		case HG_WIRE_READY:
			hg_device.was_ready = true;
			return HG_DEVICE_READY;
		case HG_WIRE_UNAVAILABLE:
		case HG_WIRE_LOST:
			break;
	}
	came_up = hg_device.was_ready;
	hg_device_discard();
	/* one that was lost before it came up is left alone for a while, as one that declined */
	if (!came_up)
	{
		why.status = HG_UNAVAILABLE;
		hg_device.unusable_since = GetCurrentTimestamp();
	}
	hg_device.reason = why;
	if (error != NULL)
		*error = why;
	return HG_DEVICE_UNAVAILABLE;
}

HgDeviceState
hg_device_state(bool wait, HgError *error)
{
	TimestampTz deadline;
	HgDeviceState state;

	/* a process that ended since it was last used (idle, killed) is replaced */
	if (hg_device.was_ready)
		hg_device_discard_lost();
	hg_device_start();
	deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), HG_DEVICE_START_MS);
	while ((state = hg_device_poll(error)) == HG_DEVICE_STARTING && wait)
	{
		long left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
		int events;

		if (left <= 0)
		{
			hg_device_discard();
			hg_device_set_unusable(HG_UNAVAILABLE, "the device process did not start in time", "");
			continue;
		}
		events = WaitLatchOrSocket(
			MyLatch, WL_LATCH_SET | WL_SOCKET_READABLE | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
			hg_wire_client_socket(hg_device.client), left, PG_WAIT_EXTENSION);
		if (events & WL_LATCH_SET)
			ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return state;
}

/* The engine in the process that runs now, for hg_ranges.h. */
static HgEngine *
hg_device_remote(void *arg pg_attribute_unused())
{
	if (hg_device_poll(NULL) != HG_DEVICE_READY)
		return NULL;
	return hg_wire_client_engine(hg_device.client);
}

HgEngine *
hg_device_engine(void)
{
	static HgRanges ranges;

	if (hg_device_remote(NULL) == NULL)
		return NULL;
	if (ranges.target == NULL)
		hg_ranges_init(&ranges, "cuda", hg_device_remote, NULL);
	return &ranges.engine;
}

void
hg_device_discard_lost(void)
{
	if (hg_device.client != NULL && hg_wire_client_state(hg_device.client, NULL) == HG_WIRE_LOST)
		hg_device_discard();
}

/* The devices of the process that runs now; 0 with *error filled on failure. */
static int
hg_device_ask(HgDeviceInfo *infos, int capacity, HgError *error)
{
	HgPgHost host;
	HgStatus status;
	int count = 0;

	hg_host_init(&host, CurrentMemoryContext);
	status = hg_wire_client_devices(hg_device.client, &host.host, infos, capacity, &count, error);
	hg_host_rethrow(&host);
	return status == HG_OK ? count : 0;
}

int
hg_device_list(HgDeviceInfo *infos, int capacity, HgError *error)
{
	if (hg_device_state(true, error) != HG_DEVICE_READY)
		return 0;
	return hg_device_ask(infos, capacity, error);
}

const char *
hg_device_name(void)
{
	HgDeviceInfo infos[16];
	int count;

	if (hg_device.client == NULL || hg_device.name[0] != '\0')
		return hg_device.name;
	count = hg_device_ask(infos, lengthof(infos), NULL);
	for (int i = 0; i < count; i++)
		if (strcmp(infos[i].state, "ready") == 0)
		{
			strlcpy(hg_device.name, infos[i].name, sizeof(hg_device.name));
			break;
		}
	return hg_device.name;
}
