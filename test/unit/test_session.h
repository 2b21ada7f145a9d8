/*-------------------------------------------------------------------------
 *
 * test_session.h
 *	  What tests of device processes have in common: sessions, and their jobs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_SESSION_H
#define TEST_SESSION_H

#include "../../src/engine/wire/hg_wire.h"
#include "test_engine_suite.h"

#include <sys/types.h>

/* Longer than anything may take that must not take long. */
#define TEST_TIMEOUT_MS 10000

/* The device process to be tested. */
extern char test_device_path[4096];

/*
 * It is the one that a test program's argument names, or else the stand-in beside the program,
 * which may be told to misbehave: returns whether it is that.
 */
extern bool test_choose_device(int argc, char **argv);

extern double test_now_ms(void);

/* Has the process ended in time?  If not it is killed.  *status as of waitpid. */
extern bool test_process_ends(pid_t process, int *status);

/* Wait until the process has said hello, or can't any more. */
extern HgWireState test_started_state(HgWireClient *client, HgError *error);

/* Receive a message of the process, waiting; its descriptor is closed. */
extern HgWireResult test_receive(int fd, HgWireMessage *message);

extern const HgJobSpec test_plain_spec;

/* A job with these keys, appended and built; NULL with *error filled on failure. */
extern HgJob *test_build_job(HgEngine *engine, const HgHost *host, const TestData *data,
							 HgError *error);

/* Does a job on this engine stream the right matches? */
extern bool test_stream_works(HgEngine *engine, const TestData *data);

/* Enough keys to fill several slots of staging. */
extern void test_create_long_data(TestData *data);

/* A host that gives up waiting after the first few milliseconds. */
typedef struct TestTimeoutHost
{
	HgHost host;
	double deadline;
	pid_t victim; /* killed when the deadline is over, rather than cancelled; 0 = none */
} TestTimeoutHost;

extern void test_timeout_init(TestTimeoutHost *impatient, double wait_ms);

#endif /* TEST_SESSION_H */
