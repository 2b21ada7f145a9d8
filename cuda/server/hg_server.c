/*-------------------------------------------------------------------------
 *
 * hg_server.c
 *	  The device process's end of its connections: one, or many.
 *
 * A private process serves its only connection in its only thread. A server's process has a thread
 * for each session. Its first thread does what must never wait for a job: it serves the control
 * connection and the listening socket, and watches the time without a job.
 *
 * When the process ends, the first thread shuts down all sessions, which their threads notice at
 * the next poll for a cancel, and gives them a moment. If a thread is stuck in its device's
 * driver, the process ends without it, and the thread's resources go with the process.
 *
 * After a failure of the device nothing is freed, neither by the thread that met it nor at exit.
 * The driver might never answer, and might still write to the staging area, which no other session
 * may get.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4 */
#endif

#include "hg_server.h"

#include "hg_server_session.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The engine rests after so long without a job. */
#define REST_MS 1000

/*
 * The longest sleep of the first thread, in ms, while there are jobs or other threads: jobs do not
 * wake it when they end.
 */
#define TICK_MS 1000

/* After a failure to accept a session no new ones are accepted for so long. */
#define BACKOFF_MS 100

/* How long the process waits for threads at the end. */
#define CLOSING_MS 100

typedef struct Server Server;

/* A session that connected, and its thread. */
typedef struct Connection
{
	struct Connection *next;
	Server *server;
	int socket;
} Connection;

struct Server
{
	const HgServerConfig *config;
	HgServerQueue *queue;
	HgWireDevices hello; /* of every connection, except the header */
	bool rested;		 /* the engine rests, and there was no job since */

	int wake; /* eventfd, written to with device_failed */

	pthread_mutex_t lock; /* guards all fields below */
	Connection *connections;
	bool device_failed;
};

/* ------------------------------------------------------------------------
 * Time between jobs
 * ------------------------------------------------------------------------ */

/*
 * Lets the engine rest after a time without jobs, or tidy up while there are jobs. Returns the
 * milliseconds until the next call is due: -1 for never, 0 if the process must end.
 */
static int
pass_idle_time(Server *server)
{
	const HgServerConfig *config = server->config;
	const int64_t timeout = (int64_t) config->idle_timeout * 1000;
	int64_t idle = hg_server_queue_idle_ms(server->queue);

	if (idle < 0)
	{
		server->rested = false;
		config->tidy(config->arg);
		return TICK_MS;
	}
	if (timeout > 0 && idle >= timeout)
		return 0;
	if (idle < REST_MS)
		server->rested = false;
	else if (!server->rested)
	{
		config->rest(config->arg);
		server->rested = true;
	}
	if (!server->rested && (timeout == 0 || timeout > REST_MS))
		return (int) (REST_MS - idle);
	return timeout > 0 ? (int) (timeout - idle) : -1;
}

/* ------------------------------------------------------------------------
 * One session
 * ------------------------------------------------------------------------ */

/* Returns the exit status after the end of a process's first connection. */
static int
exit_status_of(HgSessionState state)
{
	switch (state)
	{
		case HG_SESSION_OPEN:
		case HG_SESSION_CLOSED:
			return 0;
		case HG_SESSION_BROKEN:
			break;
		case HG_SESSION_DEVICE_FAILED:
			return HG_EXIT_DEVICE_FAILED;
	}
	return 1;
}

/* Serves the only session. */
static int
serve_one(Server *server)
{
	struct pollfd readable = {.fd = server->config->socket, .events = POLLIN};
	HgServerSession *session =
		hg_server_session_create(server->config, server->queue, readable.fd, &server->hello);
	HgSessionState state;
	int wait_ms;

	if (session == NULL)
		return 1;
	hg_server_queue_count_connections(server->queue, 1);
	while ((state = hg_server_session_state(session)) == HG_SESSION_OPEN &&
		   (wait_ms = pass_idle_time(server)) != 0)
		if (poll(&readable, 1, wait_ms) > 0)
			hg_server_session_serve(session);
	if (state == HG_SESSION_DEVICE_FAILED)
		_exit(HG_EXIT_DEVICE_FAILED);
	hg_server_session_destroy(session);
	return exit_status_of(state);
}

/* ------------------------------------------------------------------------
 * Many sessions
 * ------------------------------------------------------------------------ */

/* Reports a failure of the device to the first thread. */
static void
report_failure(Server *server)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&server->lock);
	server->device_failed = true;
	if (write(server->wake, &one, sizeof(one)) < 0)
		abort(); /* a counter of 64 bits is never full */
	pthread_mutex_unlock(&server->lock);
}

/* The thread of a connection. */
static void *
serve_connection(void *arg)
{
	Connection *connection = arg;
	Server *server = connection->server;
	struct pollfd ends[2] = {{.fd = connection->socket, .events = POLLIN}, {.events = POLLIN}};
	HgServerSession *session =
		hg_server_session_create(server->config, server->queue, connection->socket, &server->hello);
	HgSessionState state;

	if (session != NULL)
	{
		ends[1].fd = hg_server_session_wake(session);
		while ((state = hg_server_session_state(session)) == HG_SESSION_OPEN)
		{
			if (poll(ends, 2, -1) <= 0)
				continue;
			/* a request comes before an eviction: its job is not idle */
			if (ends[0].revents != 0)
				hg_server_session_serve(session);
			else
				hg_server_session_yield(session);
		}
		if (state == HG_SESSION_DEVICE_FAILED)
		{
			report_failure(server);
			return NULL;
		}
		hg_server_session_destroy(session);
	}
	hg_server_queue_count_connections(server->queue, -1);

	pthread_mutex_lock(&server->lock);
	for (Connection **link = &server->connections;; link = &(*link)->next)
		if (*link == connection)
		{
			*link = connection->next;
			break;
		}
	close(connection->socket);
	free(connection);
	pthread_mutex_unlock(&server->lock);
	return NULL;
}

/* Starts the thread of a connection. Takes over the socket, and closes it on failure. */
static void
start_connection(Server *server, int socket)
{
	Connection *connection = malloc(sizeof(*connection));
	pthread_t thread;
	int failure = ENOMEM;

	if (connection != NULL)
	{
		/* its thread may end, and count it out, before this thread goes on */
		hg_server_queue_count_connections(server->queue, 1);
		pthread_mutex_lock(&server->lock);
		connection->server = server;
		connection->socket = socket;
		connection->next = server->connections;
		failure = pthread_create(&thread, NULL, serve_connection, connection);
		if (failure == 0)
		{
			/* its thread takes the lock before it ends, so that it still exists */
			server->connections = connection;
			pthread_detach(thread);
		}
		pthread_mutex_unlock(&server->lock);
		if (failure != 0)
			hg_server_queue_count_connections(server->queue, -1);
	}
	if (failure != 0)
	{
		free(connection);
		close(socket);
	}
}

/* Accepts all pending connections. Returns false after a failure. */
static bool
accept_connections(Server *server)
{
	for (;;)
	{
		int socket = accept4(server->config->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (socket >= 0)
			start_connection(server, socket);
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			return true;
		else if (errno != EINTR && errno != ECONNABORTED)
			return false;
	}
}

/* Returns true if an engine has lost its device. */
static bool
device_has_failed(Server *server)
{
	bool failed;

	pthread_mutex_lock(&server->lock);
	failed = server->device_failed;
	pthread_mutex_unlock(&server->lock);
	return failed;
}

/* Closes all connections and waits for their threads. Returns true if all have ended. */
static bool
close_connections(Server *server)
{
	const struct timespec millisecond = {.tv_nsec = 1000000};
	bool all = false;

	for (int waited = 0; !all && waited < CLOSING_MS; waited++)
	{
		if (waited > 0)
			nanosleep(&millisecond, NULL);
		pthread_mutex_lock(&server->lock);
		for (Connection *connection = server->connections; connection != NULL;
			 connection = connection->next)
			shutdown(connection->socket, SHUT_RDWR);
		all = server->connections == NULL;
		pthread_mutex_unlock(&server->lock);
	}
	return all;
}

/* Listens until the control connection or the device is gone, or the idle timeout has passed. */
static int
serve_many(Server *server)
{
	const HgServerConfig *config = server->config;
	HgWireDevices hello = server->hello;
	HgServerSession *control;
	int backoff_ms = -1;
	int status = -1;

	hello.staging_bytes = 0;
	control = hg_server_session_create(config, server->queue, config->socket, &hello);
	if (control == NULL)
		return 1;
	while (status < 0)
	{
		struct pollfd ends[3] = {{.fd = config->socket, .events = POLLIN},
								 {.fd = server->wake, .events = POLLIN},
								 {.fd = backoff_ms < 0 ? config->listen : -1, .events = POLLIN}};
		int wait_ms = pass_idle_time(server);

		if (wait_ms == 0)
		{
			status = 0;
			break;
		}
		if (wait_ms < 0 || wait_ms > TICK_MS)
			wait_ms = TICK_MS;
		if (backoff_ms > 0 && wait_ms > backoff_ms)
			wait_ms = backoff_ms;
		if (poll(ends, 3, wait_ms) < 0)
			continue;

		if (ends[0].revents != 0)
			hg_server_session_serve(control);
		if (ends[2].fd < 0)
			backoff_ms = -1;
		else if (ends[2].revents != 0 && !accept_connections(server))
			backoff_ms = BACKOFF_MS;

		if (device_has_failed(server))
			status = HG_EXIT_DEVICE_FAILED;
		else if (hg_server_session_state(control) != HG_SESSION_OPEN)
			status = exit_status_of(hg_server_session_state(control));
	}
	if (!close_connections(server) || status == HG_EXIT_DEVICE_FAILED)
		_exit(status);
	hg_server_session_destroy(control);
	return status;
}

int
hg_server_run(const HgServerConfig *config)
{
	Server server = {.config = config, .lock = PTHREAD_MUTEX_INITIALIZER};
	int status = 1;

	server.queue = hg_server_queue_create(config);
	server.wake = eventfd(0, EFD_CLOEXEC);
	if (server.queue != NULL && server.wake >= 0)
	{
		server.hello.staging_bytes = config->staging_bytes;
		server.hello.costs = config->costs;
		server.hello.count =
			(uint32_t) config->list_devices(config->arg, server.hello.infos, HG_WIRE_MAX_DEVICES);
		status = config->listen >= 0 ? serve_many(&server) : serve_one(&server);
	}
	if (server.wake >= 0)
		close(server.wake);
	if (server.queue != NULL)
		hg_server_queue_destroy(server.queue);
	return status;
}
