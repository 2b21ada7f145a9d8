/*-------------------------------------------------------------------------
 *
 * test_serving.h
 *	  A device process that serves many sessions, for tests: started, connected to, spoken to.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_SERVING_H
#define TEST_SERVING_H

#include "test_session.h"

#include <sys/socket.h>
#include <sys/un.h>

/* What fills the stand-in's memory when it is started with FULL_BUDGET: it takes 32 bytes a row. */
#define FULL_ROWS 1000000
#define FULL_BUDGET "--memory-budget", "32000000"

/* How long something that must not happen is waited for. */
#define TEST_QUIET_MS 50

/* A stand-in that listens. */
typedef struct TestServer
{
	pid_t process;
	HgWireClient *control;
	struct sockaddr_un address;
	socklen_t address_length;
} TestServer;

/* A session that speaks by hand. */
typedef struct TestSpeaker
{
	int fd;
	uint64_t sequence;
	HgWireMessage answer; /* the last one received */
} TestSpeaker;

/*
 * Start a stand-in that listens, with more options, four strings at most: it may greet or not ...
 */
extern void test_launch_server(TestServer *server, const char *const *options);

/* ... or greets. */
extern void test_start_server(TestServer *server, const char *const *options);

/* Start one that is told how to misbehave, by a variable of its environment. */
extern void test_start_server_told(TestServer *server, const char *name, const char *value);

/* Make an empty file, and return its name, which the caller is to remove. */
extern const char *test_new_file(void);

/* Leave it alone, and report whether it then ends in time and as it should. */
extern bool test_stop_server(TestServer *server);

/* Does it end in time, with this status? */
extern bool test_server_ends(TestServer *server, int exit_status);

extern HgDeviceStatus test_status_of(TestServer *server);

/* Wait until the process has so many jobs open and queued, and so many connections. */
extern bool test_counts_become(TestServer *server, uint32_t connections, uint32_t open,
							   uint32_t queued);

/* Wait until it has so many jobs, open and queued together. */
extern bool test_counts_jobs(TestServer *server, uint32_t jobs);

extern int test_connect_to(TestServer *server);

/* A session that is ready. */
extern HgWireClient *test_start_client(TestServer *server);

extern void test_start_speaker(TestServer *server, TestSpeaker *speaker);

/* Send a request. */
extern void test_ask(TestSpeaker *speaker, HgWireType type, uint32_t job, HgWireMessage *message);

extern void test_ask_plainly(TestSpeaker *speaker, HgWireType type, uint32_t job);

extern void test_send_note(TestSpeaker *speaker, HgWireType type, uint32_t job);

/* Ask for a job that expects so many rows. */
extern void test_ask_open(TestSpeaker *speaker, uint32_t job, uint64_t rows, uint64_t group);

/* Has the last request been answered like this, or is it in time? */
extern bool test_is_answered(TestSpeaker *speaker, HgStatus status);

/* Does nothing come for a while, once the process has taken what was sent? */
extern bool test_is_waiting(TestSpeaker *speaker);

/* Is the connection at its end? */
extern bool test_is_cut_off(TestSpeaker *speaker);

extern void test_end_speaker(TestSpeaker *speaker);

#endif /* TEST_SERVING_H */
