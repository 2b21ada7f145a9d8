/*-------------------------------------------------------------------------
 *
 * hg_device_spawn.c
 *	  Start the program hashgraph_device, and see it off.
 *
 * posix_spawn needs no copy of this process's page tables.  The program closes every descriptor
 * but those that it is told of, and sets its signals itself.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/procsignal.h"

#include "backend/device/hg_device_spawn.h"
#include "hg_guc.h"

#define HG_DEVICE_PROGRAM "hashgraph_device"

/* The descriptors that the device process finds its sockets on. */
#define HG_DEVICE_SOCKET 3
#define HG_DEVICE_LISTENER 4

extern char **environ;

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
	launch->device = hg_gpu_device;
	launch->idle_timeout = hg_gpu_idle_timeout;
}

bool
hg_device_launch_equal(const HgDeviceLaunch *a, const HgDeviceLaunch *b)
{
	return strcmp(a->program, b->program) == 0 && a->staging_bytes == b->staging_bytes &&
		   a->memory_budget == b->memory_budget && a->device == b->device &&
		   a->idle_timeout == b->idle_timeout;
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

int
hg_device_spawn(const HgDeviceLaunch *launch, int listening, int connected, pid_t *pid)
{
	char socket_fd[16];
	char listen_fd[16];
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
					listening >= 0 ? "--listen-fd" : NULL,
					listen_fd,
					NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	sigset_t all;
	int above = -1;
	int rc;

	/* out of the way of the other one's place */
	if (listening >= 0 && (above = fcntl(listening, F_DUPFD_CLOEXEC, HG_DEVICE_LISTENER + 1)) < 0)
		return errno;

	snprintf(socket_fd, sizeof(socket_fd), "%d", HG_DEVICE_SOCKET);
	snprintf(listen_fd, sizeof(listen_fd), "%d", HG_DEVICE_LISTENER);
	snprintf(staging, sizeof(staging), UINT64_FORMAT, launch->staging_bytes);
	snprintf(budget, sizeof(budget), UINT64_FORMAT, launch->memory_budget);
	snprintf(device, sizeof(device), "%d", launch->device);
	snprintf(idle, sizeof(idle), "%d", launch->idle_timeout);

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, connected, HG_DEVICE_SOCKET);
	if (listening >= 0)
		posix_spawn_file_actions_adddup2(&actions, above, HG_DEVICE_LISTENER);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes,
							 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	rc = posix_spawn(pid, launch->program, &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	if (above >= 0)
		close(above);
	return rc;
}

int
hg_device_reap(pid_t pid, int grace_ms)
{
	for (int waited = 0;; waited++)
	{
		int status;
		pid_t done = waitpid(pid, &status, WNOHANG);

		if (done == pid)
			return status;
		if (done < 0 && errno != EINTR)
			return -1;
		/* one that does not go by itself is killed halfway; no wait is for ever */
		if (waited == grace_ms / 2)
			kill(pid, SIGKILL);
		if (waited == grace_ms)
			return -1;
		/* who waits for all processes of the server does not wait for this one */
		if (ProcSignalBarrierPending && INTERRUPTS_CAN_BE_PROCESSED())
			ProcessProcSignalBarrier();
		pg_usleep(1000);
	}
}
