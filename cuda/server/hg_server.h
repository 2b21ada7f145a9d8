/*-------------------------------------------------------------------------
 *
 * hg_server.h
 *	  The device process's end of its connections.
 *
 *	hg_server.c			one connection, or a listening socket and a thread for each connection
 *	hg_server_session.c	a connection: messages, jobs, hosts of engines
 *	hg_server_queue.c	what connections share: device memory, replicas, staging;
 *						uses hg_queue_*.c
 *
 * Nothing here depends on the kind of engine that does the work.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SERVER_H
#define HG_SERVER_H

#include "../../src/engine/wire/hg_wire.h"

/* Idle time after which others' need may evict a job: longer than a busy client takes. */
#define HG_SERVER_EVICT_MS 2000

/* Device memory, in bytes. */
typedef struct HgMemoryUse
{
	/* memory of jobs and replicas together; less while other processes use more */
	uint64_t budget;
	uint64_t held; /* bytes that they hold */
	uint64_t peak; /* most bytes that they held */
} HgMemoryUse;

/* The callbacks get arg. Any thread may call them, several at a time. */
typedef struct HgServerConfig
{
	int socket; /* connected, SOCK_SEQPACKET: the only session, or the control connection */
	int listen; /* listening, SOCK_SEQPACKET, where sessions connect; -1: only one session */

	/*
	 * The engine that does the work: any thread may use it, and a job one thread at a time.
	 * HgEngine allows an engine to read appended keys until close, but keys in staging are
	 * overwritten once append is answered. So this engine must copy them.
	 */
	HgEngine *engine;

	unsigned char *staging;
	uint64_t staging_bytes;
	int staging_fd;

	/* bytes of device memory for replicas; 0 = half of the budget, -1 = none */
	int64_t replica_limit;

	/* seconds without a job after which the process, and its replicas, end; 0 = never */
	int idle_timeout;
	int evict_ms; /* idle time after which a job may be evicted (hg_queue_memory.c) */

	HgEngineCosts costs; /* sent with the hello */

	/* Fills up to capacity infos and returns their number. */
	int (*list_devices)(void *arg, HgDeviceInfo *infos, int capacity);

	/* Returns the device memory that a job needs at least, as far as its spec says. */
	uint64_t (*job_bytes)(void *arg, const HgJobSpec *spec);

	/* Stores the current use. It must be fast. */
	void (*memory_use)(void *arg, HgMemoryUse *use);

	/*
	 * Called when a job asks for admission: measures what other processes have left of the budget,
	 * unless that was done recently. It may take a millisecond or so, which memory_use may not.
	 */
	void (*measure)(void *arg);

	/* Called after a second without a job: frees pooled memory, but no replicas. */
	void (*rest)(void *arg);

	/* Called about each second while there are jobs: frees memory that they do not need. */
	void (*tidy)(void *arg);
	void *arg;
} HgServerConfig;

/* The exit status after a failure of the device, which is not used any more. */
#define HG_EXIT_DEVICE_FAILED 3

/*
 * Says hello on config->socket, then serves until its other end closes it or breaks the protocol,
 * the device fails, or there was no job for idle_timeout seconds. Returns the exit status for the
 * process, with all jobs closed; 0 is success. If threads do not end at once, or the device has
 * failed, it ends the process itself.
 */
extern int hg_server_run(const HgServerConfig *config);

#endif /* HG_SERVER_H */
