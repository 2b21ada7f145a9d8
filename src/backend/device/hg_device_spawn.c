/*-------------------------------------------------------------------------
 *
 * hg_device_spawn.c
 *	  Starts the program hashgraph_device and reaps it.
 *
 * It uses fork and not posix_spawn. posix_spawn blocks its caller, with signals blocked, until the
 * program has been opened. A hanging file system, or a signal that stops the child, would block
 * it. The program closes every descriptor but those that its arguments name.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/procsignal.h"

#include "backend/device/hg_device_spawn.h"
#include "engine/wire/hg_wire.h"
#include "hg_guc.h"

#define HG_DEVICE_PROGRAM "hashgraph_device"

/* The descriptors on which the device process expects its sockets. */
#define HG_DEVICE_SOCKET 3
#define HG_DEVICE_LISTENER 4

/* Between two looks at a process that ends, in us. */
#define HG_DEVICE_END_STEP_US 1000

void
hg_device_launch_init(HgDeviceLaunch *launch)
{
	if (hg_device_program != NULL && hg_device_program[0] != '\0')
		strlcpy(launch->program, hg_device_program, MAXPGPATH);
	else
	{
		strlcpy(launch->program, my_exec_path, MAXPGPATH);
		get_parent_directory(launch->program);
		join_path_components(launch->program, launch->program, HG_DEVICE_PROGRAM);
	}
	launch->staging_bytes = (uint64) hg_staging_size * 1024;
	launch->memory_budget = (uint64) hg_gpu_memory_budget * 1024;
	launch->replica_bytes = hg_resident_gpu_memory < 0 ? -1 : (int64) hg_resident_gpu_memory * 1024;
	launch->device = hg_gpu_devices.count > 0 ? hg_gpu_devices.ordinals[0] : -1;
	launch->idle_timeout = hg_gpu_idle_timeout;
}

bool
hg_device_launch_equal(const HgDeviceLaunch *a, const HgDeviceLaunch *b)
{
	return strcmp(a->program, b->program) == 0 && a->staging_bytes == b->staging_bytes &&
		   a->memory_budget == b->memory_budget && a->replica_bytes == b->replica_bytes &&
		   a->device == b->device && a->idle_timeout == b->idle_timeout;
}

bool
hg_device_is_installed(const HgDeviceLaunch *launch)
{
	return access(launch->program, X_OK) == 0;
}

void
hg_device_set_missing(HgError *error)
{
	hg_error_set(error, HG_UNAVAILABLE,
				 hg_device_program != NULL && hg_device_program[0] != '\0'
					 ? "There is no program where hashgraph.device_program says."
					 : "There is no " HG_DEVICE_PROGRAM " beside the server's own programs.",
				 "hashgraph was installed without CUDA");
}

/* In the child: executes the program, or declines over the connection with the reason. */
pg_noreturn static void
hg_device_exec(const char *program, char **argv, int listening, int connected)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t none;
	int null;
	HgError error;

	/* signals stay blocked until none has a handler of the server's */
	for (int number = 1; number < NSIG; number++)
		sigaction(number, &standard, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();

	null = open("/dev/null", O_RDONLY);
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(connected, HG_DEVICE_SOCKET) >= 0 &&
		(listening < 0 || dup2(listening, HG_DEVICE_LISTENER) >= 0))
		execv(program, argv);
	hg_error_set(&error, HG_UNAVAILABLE, strerror(errno), "could not start the device process");
	hg_wire_decline(connected, &error);
	_exit(127);
}

int
hg_device_spawn(const HgDeviceLaunch *launch, int listening, int connected, pid_t *pid)
{
	char socket_fd[16];
	char listen_fd[16];
	char staging[32];
	char budget[32];
	char replica[32];
	char device[16];
	char idle[16];
	char *argv[] = {HG_DEVICE_PROGRAM,
					"--socket-fd",
					socket_fd,
					"--staging-bytes",
					staging,
					"--memory-budget",
					budget,
					"--kept-bytes",
					replica,
					"--device",
					device,
					"--idle-timeout",
					idle,
					listening >= 0 ? "--listen-fd" : NULL,
					listen_fd,
					NULL};
	sigset_t all;
	sigset_t before;
	int ends[2] = {-1, -1};
	int rc = 0;

	/* moves them away from the descriptors that the program expects */
	ends[0] = fcntl(connected, F_DUPFD_CLOEXEC, HG_DEVICE_LISTENER + 1);
	if (listening >= 0)
		ends[1] = fcntl(listening, F_DUPFD_CLOEXEC, HG_DEVICE_LISTENER + 1);
	if (ends[0] < 0 || (listening >= 0 && ends[1] < 0))
		rc = errno;

	snprintf(socket_fd, sizeof(socket_fd), "%d", HG_DEVICE_SOCKET);
	snprintf(listen_fd, sizeof(listen_fd), "%d", HG_DEVICE_LISTENER);
	snprintf(staging, sizeof(staging), UINT64_FORMAT, launch->staging_bytes);
	snprintf(budget, sizeof(budget), UINT64_FORMAT, launch->memory_budget);
	snprintf(replica, sizeof(replica), INT64_FORMAT, launch->replica_bytes);
	snprintf(device, sizeof(device), "%d", launch->device);
	snprintf(idle, sizeof(idle), "%d", launch->idle_timeout);

	if (rc == 0)
	{
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, &before);
		*pid = fork();
		if (*pid == 0)
			hg_device_exec(launch->program, argv, ends[1], ends[0]);
		if (*pid < 0)
			rc = errno;
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
	return rc;
}

int
hg_device_reap(pid_t pid, int grace_ms)
{
	double start = hg_clock_ms(); /* when the current half of the time began */
	bool killed = false;

	for (;;)
	{
		int status;
		pid_t done = waitpid(pid, &status, WNOHANG);

		if (done == pid)
			return status;
		if (done < 0 && errno != EINTR)
			return -1;
		/* one that does not end by itself is killed halfway; the wait is always bounded */
		if (hg_clock_ms() - start >= grace_ms / 2)
		{
			if (killed)
				return -1;
			kill(pid, SIGKILL);
			killed = true;
			start = hg_clock_ms();
		}
		/* other processes that wait for barriers must not wait for this one */
		if (ProcSignalBarrierPending && INTERRUPTS_CAN_BE_PROCESSED())
			ProcessProcSignalBarrier();
		pg_usleep(HG_DEVICE_END_STEP_US);
	}
}
