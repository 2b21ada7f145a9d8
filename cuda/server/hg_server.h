/*-------------------------------------------------------------------------
 *
 * hg_server.h
 *	  The device process's end of its connections.
 *
 *	hg_server.c			one connection, or a socket to listen on and a thread for each
 *	hg_server_session.c	a connection: messages, jobs, what an engine is lent
 *	hg_server_queue.c	what connections share: device memory, replicas, staging;
 *						on hg_queue_*.c
 *
 * Nothing here knows what kind of engine does the work.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SERVER_H
#define HG_SERVER_H

#include "../../src/engine/wire/hg_wire.h"

/* How long a job may be idle on a device that others want: longer than a busy client takes. */
#define HG_SERVER_EVICT_MS 2000

/* Device memory, in bytes. */
typedef struct HgMemoryUse
{
	uint64_t budget; /* the memory of jobs and replicas together; less while other processes
					  * have more */
	uint64_t held;	 /* what they hold */
	uint64_t peak;	 /* the most that they held */
} HgMemoryUse;

/* The callbacks get arg.  Any thread may call them, several at a time. */
typedef struct HgServerConfig
{
	int socket; /* connected, SOCK_SEQPACKET: the only session, or the control connection */
	int listen; /* listening, SOCK_SEQPACKET: where sessions connect; -1 for one session alone */

	/*
	 * The engine that does the work: any thread may use it, and a job one thread at a time.
	 * HgEngine lets an engine read the appended keys until close, but those in staging are
	 * gone as soon as append is answered: this one takes copies.
	 */
	HgEngine *engine;

	unsigned char *staging;
	uint64_t staging_bytes;
	int staging_fd;

	int64_t replica_limit; /* device memory for replicas; 0 = half of the budget, -1 = none */

	int idle_timeout; /* seconds without a job until it ends, and the replicas with it; 0 = never */
	int evict_ms;	  /* how long a job is idle until it may be evicted: hg_queue_idle.h */

	HgEngineCosts costs; /* for the hello */

	/* Fill at most capacity of infos and return their number. */
	int (*list_devices)(void *arg, HgDeviceInfo *infos, int capacity);

	/* The device memory that a job needs at least, as far as its spec tells. */
	uint64_t (*job_bytes)(void *arg, const HgJobSpec *spec);

	void (*memory_use)(void *arg, HgMemoryUse *use);

	/*
	 * Called when a job is to be admitted: see what other processes have left of the budget, where
	 * that has not been seen for a while.  It may take a millisecond or so, memory_use may not.
	 */
	void (*measure)(void *arg);

	/*
	 * Called when there has been no job for a second: release the memory that is pooled only for
	 * the next job's speed.  Replicas stay.
	 */
	void (*rest)(void *arg);

	/* Called about each second while there are jobs: give back what these have no use for. */
	void (*tidy)(void *arg);
	void *arg;
} HgServerConfig;

/* The exit status of the process after a failure of its device, which is then of no more use. */
#define HG_EXIT_DEVICE_FAILED 3

/*
 * Say hello on config->socket, then serve until its other end closes it or speaks nonsense,
 * the device fails, or there was no job for idle_timeout seconds.  Returns the exit status for
 * the process, 0 where all went as it should, with all jobs closed; where threads are still at
 * work that do not end at once, or the device has failed, it ends the process itself.
 */
extern int hg_server_run(const HgServerConfig *config);

#endif /* HG_SERVER_H */
