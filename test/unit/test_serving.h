/*-------------------------------------------------------------------------
 *
 * test_serving.h
 *	  Device processes that serve many sessions, for tests: starting them, and speaking to them.
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

/* Rows that fill a stand-in's memory if it starts with FULL_BUDGET: it takes 32 bytes a row. */
#define FULL_ROWS 1000000
#define FULL_BUDGET "--memory-budget", "32000000"

/* Time to wait for something that must not happen. */
#define TEST_QUIET_MS 50

/* A stand-in that listens for sessions. */
typedef struct TestServer
{
	pid_t process;
	HgWireClient *control;
	struct sockaddr_un address;
	socklen_t address_length;
} TestServer;

/* A session whose messages the test sends itself. */
typedef struct TestSpeaker
{
	int fd;
	uint64_t sequence;
	HgWireMessage answer; /* the last one received */
} TestSpeaker;

/*
 * launch starts a stand-in that listens, with up to four more options, and does not wait for its
 * greeting.  start waits until it is ready.
 */
extern void test_launch_server(TestServer *server, const char *const *options);
extern void test_start_server(TestServer *server, const char *const *options);

/* Starts a stand-in with a variable of its environment, which tells it to misbehave. */
extern void test_start_server_env(TestServer *server, const char *name, const char *value);

/* Makes an empty file, and returns its name, which is static.  The caller removes the file. */
extern const char *test_new_file(void);

/* Closes the control connection.  Returns true if the process then ends in time with status 0. */
extern bool test_stop_server(TestServer *server);

/* Returns true if the process ends in time, with this exit status. */
extern bool test_server_ends(TestServer *server, int exit_status);

/* Returns the status of the process; zeroed if it does not answer. */
extern HgDeviceStatus test_status_of(TestServer *server);

/*
 * Waits until the process has these numbers of connections, open jobs and queued jobs.  Returns
 * false, after an explanation, if time runs out.
 */
extern bool test_counts_become(TestServer *server, uint32_t connections, uint32_t open,
							   uint32_t queued);

/* The same with the number of jobs, open and queued together. */
extern bool test_counts_jobs(TestServer *server, uint32_t jobs);

/* Connects to the process, and returns the socket. */
extern int test_connect_to(TestServer *server);

/* Starts a session, and waits until it is ready. */
extern HgWireClient *test_start_client(TestServer *server);

/* Starts a session with messages by hand, and receives the greeting. */
extern void test_start_speaker(TestServer *server, TestSpeaker *speaker);

/* Sets the kinds of an opening's sides and product: what is described, is. */
extern void test_set_kinds(HgWireMessage *message);

/* Send a request: with this message, or with a plain one, whose count is 1. */
extern void test_ask(TestSpeaker *speaker, HgWireType type, uint32_t job, HgWireMessage *message);
extern void test_ask_plainly(TestSpeaker *speaker, HgWireType type, uint32_t job);

/* Sends a note, which has no answer. */
extern void test_send_note(TestSpeaker *speaker, HgWireType type, uint32_t job);

/* Requests to open a job that expects rows rows. */
extern void test_ask_open(TestSpeaker *speaker, uint32_t job, uint64_t rows, uint64_t group);

/* Returns true if the last request is answered in time, with this status. */
extern bool test_is_answered(TestSpeaker *speaker, HgStatus status);

/* Returns true if no message comes for a while after the process has read the request. */
extern bool test_is_waiting(TestSpeaker *speaker);

/* Returns true if the process closes the connection in time. */
extern bool test_is_cut_off(TestSpeaker *speaker);

/* Closes the session. */
extern void test_end_speaker(TestSpeaker *speaker);

#endif /* TEST_SERVING_H */
