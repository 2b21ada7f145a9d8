/*-------------------------------------------------------------------------
 *
 * test_session.h
 *	  Sessions with device processes, and their jobs, for tests.
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

/* Upper bound on the time of anything that must not take long. */
#define TEST_TIMEOUT_MS 10000

/* The path of the device process that is tested. */
extern char test_device_path[4096];

/*
 * Sets test_device_path: the program's argument, or else the stand-in beside the program.  Returns
 * true if it is the stand-in, which can be told to misbehave.
 */
extern bool test_choose_device(int argc, char **argv);

/* Returns the time of a monotonic clock in milliseconds. */
extern double test_now_ms(void);

/* Returns true if the process ends in time; otherwise kills it.  *status is that of waitpid. */
extern bool test_process_ends(pid_t process, int *status);

/* Waits until the process has greeted, or has failed. */
extern HgWireState test_started_state(HgWireClient *client, HgError *error);

/* Waits for a message of the process, and receives it; an attached descriptor is closed. */
extern HgWireResult test_receive(int fd, HgWireMessage *message);

/* A spec with keys of 4 bytes, and nothing else. */
extern const HgJobSpec test_plain_spec;

/* Returns a built job with these keys; NULL on failure, with *error set. */
extern HgJob *test_build_job(HgEngine *engine, const HgHost *host, const TestData *data,
							 HgError *error);

/* Returns true if a job on this engine streams the right matches. */
extern bool test_stream_works(HgEngine *engine, const TestData *data);

/* Makes enough keys to fill several slots of staging. */
extern void test_create_long_data(TestData *data);

/* A host whose wait times out. */
typedef struct TestTimeoutHost
{
	HgHost host;
	double deadline;
	pid_t victim; /* killed at the deadline, in place of a timeout; 0: none */
} TestTimeoutHost;

/* Initializes a host that times out after wait_ms milliseconds. */
extern void test_timeout_init(TestTimeoutHost *impatient, double wait_ms);

#endif /* TEST_SESSION_H */
