/*-------------------------------------------------------------------------
 *
 * hg_device_process.c
 *	  The parts of a device process that do not depend on the kind of its device.
 *
 * The process is forked from a PostgreSQL process. It closes what that one had open, and ignores
 * signals of its terminal: ^C is for the server. It ends when the socket closes that it was
 * started with, and at once on SIGTERM.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hg_device_process.h"

#define DEFAULT_STAGING_BYTES (UINT64_C(64) << 20)

static void
print_usage(const char *program)
{
	printf("%s serves HashGraph joins to PostgreSQL, which starts it.\n"
		   "\n"
		   "  --socket-fd N       the connected socket to serve\n"
		   "  --listen-fd N       a socket on which sessions connect: it serves all of them,\n"
		   "                      and --socket-fd is where it is controlled\n"
		   "  --staging-bytes N   size of the memory shared with sessions\n"
		   "  --memory-budget N   bytes of device memory to use at most (0: 80 %% of it)\n"
		   "  --kept-bytes N      of them for HashGraphs that are kept (0: half, -1: none)\n"
		   "  --device N          ordinal of the device (-1: any)\n"
		   "  --idle-timeout N    end after N seconds without a join (0: never)\n"
		   "\n"
		   "  --probe             print the devices, or why there is none, and exit\n"
		   "  --version           print the version and exit\n"
		   "  --help              print this and exit\n",
		   program);
}

/* Parses a whole number from low to high; returns false, with a message on stderr, if invalid. */
static bool
parse_number(const char *name, const char *text, int64_t low, int64_t high, int64_t *number)
{
	char *end;
	long long parsed;

	errno = 0;
	parsed = strtoll(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || parsed < low || parsed > high)
	{
		fprintf(stderr, "%s needs a number from %lld to %lld, not \"%s\"\n", name, (long long) low,
				(long long) high, text);
		return false;
	}
	*number = parsed;
	return true;
}

/* Reads the command line. Returns false, with a message on stderr, if it is invalid. */
static bool
parse_options(int argc, char **argv, HgDeviceOptions *options)
{
	const int64_t page = sysconf(_SC_PAGESIZE);

	memset(options, 0, sizeof(*options));
	options->socket = -1;
	options->listen = -1;
	options->device = -1;
	options->staging_bytes = DEFAULT_STAGING_BYTES;

	for (int i = 1; i < argc; i++)
	{
		const char *name = argv[i];
		int64_t number;

		if (strcmp(name, "--version") == 0)
			options->command = HG_COMMAND_VERSION;
		else if (strcmp(name, "--probe") == 0)
			options->command = HG_COMMAND_PROBE;
		else if (strcmp(name, "--help") == 0)
			options->command = HG_COMMAND_HELP;
		else if (i + 1 == argc)
		{
			fprintf(stderr, "unknown option, or one that needs a value: %s\n", name);
			return false;
		}
		else if (strcmp(name, "--socket-fd") == 0)
		{
			if (!parse_number(name, argv[++i], 0, INT32_MAX, &number))
				return false;
			options->socket = (int) number;
		}
		else if (strcmp(name, "--listen-fd") == 0)
		{
			if (!parse_number(name, argv[++i], 0, INT32_MAX, &number))
				return false;
			options->listen = (int) number;
		}
		else if (strcmp(name, "--staging-bytes") == 0)
		{
			if (!parse_number(name, argv[++i], HG_WIRE_STAGING_MIN, INT64_MAX / 2, &number))
				return false;
			options->staging_bytes = (uint64_t) ((number + page - 1) / page * page);
		}
		else if (strcmp(name, "--memory-budget") == 0)
		{
			if (!parse_number(name, argv[++i], 0, INT64_MAX, &number))
				return false;
			options->memory_budget = (uint64_t) number;
		}
		else if (strcmp(name, "--kept-bytes") == 0)
		{
			if (!parse_number(name, argv[++i], -1, INT64_MAX, &options->replica_bytes))
				return false;
		}
		else if (strcmp(name, "--device") == 0)
		{
			if (!parse_number(name, argv[++i], -1, INT32_MAX, &number))
				return false;
			options->device = (int) number;
		}
		else if (strcmp(name, "--idle-timeout") == 0)
		{
			if (!parse_number(name, argv[++i], 0, INT32_MAX / 1000, &number))
				return false;
			options->idle_timeout = (int) number;
		}
		else
		{
			fprintf(stderr, "unknown option: %s\n", name);
			return false;
		}
	}

	if (options->command == HG_COMMAND_SERVE && options->socket < 0)
	{
		fprintf(stderr, "--socket-fd is needed; PostgreSQL starts this program\n");
		return false;
	}
	return true;
}

/* Closes every descriptor but the two and the standard ones. */
static void
close_others(int socket, int listen)
{
	DIR *open_files = opendir("/proc/self/fd");
	struct dirent *entry;

	if (open_files == NULL)
	{
		long limit = sysconf(_SC_OPEN_MAX);

		for (int fd = STDERR_FILENO + 1; fd < limit; fd++)
			if (fd != socket && fd != listen)
				close(fd);
		return;
	}
	while ((entry = readdir(open_files)) != NULL)
	{
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != socket && fd != listen && fd != dirfd(open_files))
			close(fd);
	}
	closedir(open_files);
}

/* Raises the limit of descriptors as far as possible: each session takes one or two. */
static void
raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
	{
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/*
 * Detaches the process from the one that started it: closes every descriptor but its sockets and
 * the standard ones, and sets the signals.
 */
static void
detach(const HgDeviceOptions *options)
{
	sigset_t none;

	close_others(options->socket, options->listen);
	fcntl(options->socket, F_SETFD, FD_CLOEXEC);
	if (options->listen >= 0)
	{
		fcntl(options->listen, F_SETFD, FD_CLOEXEC);
		raise_descriptor_limit();
	}

	/* signals that the parent blocked or caught */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
}

/* Makes the listener non-blocking, so that accept does not wait for a vanished connection. */
static HgStatus
prepare_listener(int listen, HgError *error)
{
	if (listen >= 0 && fcntl(listen, F_SETFL, O_NONBLOCK) != 0)
		return hg_error_set(error, HG_UNAVAILABLE, strerror(errno),
							"the device process could not listen");
	return HG_OK;
}

/* Makes the staging area: a sealed memfd in *fd, mapped at *staging. */
static HgStatus
create_staging(uint64_t bytes, int *fd, unsigned char **staging, HgError *error)
{
	void *mapped;
	int made = memfd_create("hashgraph staging", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (made < 0)
		return hg_error_set(error, HG_UNAVAILABLE, strerror(errno),
							"could not create the staging area");
	if (ftruncate(made, (off_t) bytes) != 0 ||
		fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
	{
		hg_error_set(error, HG_UNAVAILABLE, strerror(errno), "could not size the staging area");
		close(made);
		return HG_UNAVAILABLE;
	}

	mapped = mmap(NULL, (size_t) bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0);
	if (mapped == MAP_FAILED)
	{
		hg_error_set(error, HG_UNAVAILABLE, strerror(errno), "could not map the staging area");
		close(made);
		return HG_UNAVAILABLE;
	}
	*fd = made;
	*staging = mapped;
	return HG_OK;
}

/* --probe: prints the devices for a human or a script, and returns the exit status. */
static int
print_devices(const HgDeviceKind *kind)
{
	HgDeviceInfo infos[HG_WIRE_MAX_DEVICES];
	HgError error;
	int count = kind->list(infos, HG_WIRE_MAX_DEVICES, &error);

	if (count == 0)
	{
		printf("no usable device: %s%s%s\n", error.message, error.detail[0] != '\0' ? ": " : "",
			   error.detail);
		return 1;
	}
	for (int i = 0; i < count; i++)
		printf("device %d: %s, compute capability %d.%d, %.0f MB, %s\n", (int) infos[i].ordinal,
			   infos[i].name, (int) infos[i].capability_major, (int) infos[i].capability_minor,
			   (double) infos[i].memory_total / (1024 * 1024), infos[i].state);
	return 0;
}

static int
list_for_server(void *arg, HgDeviceInfo *infos, int capacity)
{
	const HgDeviceKind *kind = arg;

	return kind->list(infos, capacity, NULL);
}

static void
rest_for_server(void *arg)
{
	const HgDeviceKind *kind = arg;

	kind->rest();
}

static uint64_t
job_bytes_for_server(void *arg, const HgJobSpec *spec)
{
	const HgDeviceKind *kind = arg;

	return kind->job_bytes(spec);
}

static void
memory_use_for_server(void *arg, HgMemoryUse *use)
{
	const HgDeviceKind *kind = arg;

	kind->memory_use(use);
}

static void
measure_for_server(void *arg)
{
	const HgDeviceKind *kind = arg;

	kind->measure_use();
}

static void
tidy_for_server(void *arg)
{
	const HgDeviceKind *kind = arg;

	kind->tidy();
}

/* Starts the engine, and serves until the connection or process ends; returns the exit status. */
static int
serve(const HgDeviceKind *kind, const HgDeviceOptions *options)
{
	HgServerConfig config;
	HgError error;

	memset(&config, 0, sizeof(config));
	config.socket = options->socket;
	config.listen = options->listen;
	config.staging_bytes = options->staging_bytes;
	config.replica_limit = options->replica_bytes;
	config.idle_timeout = options->idle_timeout;
	config.evict_ms = kind->evict_ms;
	config.list_devices = list_for_server;
	config.job_bytes = job_bytes_for_server;
	config.memory_use = memory_use_for_server;
	config.measure = measure_for_server;
	config.rest = rest_for_server;
	config.tidy = tidy_for_server;
	config.arg = (void *) kind;

	if (prepare_listener(config.listen, &error) != HG_OK ||
		create_staging(config.staging_bytes, &config.staging_fd, &config.staging, &error) !=
			HG_OK ||
		kind->start(options, &config.engine, &error) != HG_OK)
	{
		hg_wire_decline(options->socket, &error);
		return 1;
	}
	if (kind->pin(config.staging, config.staging_bytes, &error) != HG_OK)
		fprintf(stderr,
				"hashgraph_device: copies will be slower, as staging could not be pinned: "
				"%s: %s\n",
				error.message, error.detail);
	if (kind->measure(options, config.staging, &config.costs, &error) != HG_OK)
	{
		hg_wire_decline(options->socket, &error);
		return 1;
	}
	return hg_server_run(&config);
}

int
hg_device_process_main(int argc, char **argv, const HgDeviceKind *kind)
{
	HgDeviceOptions options;

	if (!parse_options(argc, argv, &options))
		return 2;
	switch (options.command)
	{
		case HG_COMMAND_VERSION:
			printf("hashgraph_device %s, %s\n", HG_VERSION, kind->description);
			return 0;
		case HG_COMMAND_HELP:
			print_usage(argv[0]);
			return 0;
		case HG_COMMAND_PROBE:
			return print_devices(kind);
		case HG_COMMAND_SERVE:
			break;
	}
	detach(&options);
	return serve(kind, &options);
}
