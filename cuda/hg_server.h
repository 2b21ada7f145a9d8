/*-------------------------------------------------------------------------
 *
 * hg_server.h
 *	  The device process's end of a connection: serves one socket.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SERVER_H
#define HG_SERVER_H

#include "../src/engine/wire/hg_wire.h"

typedef struct HgServerConfig
{
	int socket; /* connected, SOCK_SEQPACKET */

	/*
	 * The engine that does the work.  HgEngine lets an engine read the appended keys
	 * until close, but those in staging are gone as soon as append is answered: an
	 * engine that does not take a copy of its own gets one kept for it.
	 */
	HgEngine *engine;
	bool engine_copies_keys;

	unsigned char *staging;
	uint64_t staging_bytes;
	int staging_fd;

	int idle_timeout; /* seconds without a job until it ends; 0 = never */

	/* Fill at most capacity of infos and return their number. */
	int (*list_devices)(void *arg, HgDeviceInfo *infos, int capacity);

	/*
	 * Called when there has been no job for a second: give back what is kept for the next
	 * one's speed alone.  May be NULL.
	 */
	void (*rest)(void *arg);
	void *arg;
} HgServerConfig;

/*
 * Say that there is no device, and why.  The process can end afterwards: the client
 * reads the message all the same.
 */
extern void hg_server_decline(int socket, const HgError *error);

/*
 * Say hello, then serve until the other end closes the socket or speaks nonsense, the
 * device fails, or nothing was asked for idle_timeout seconds.  All jobs are closed on
 * return.  Returns the exit status for the process: 0 where all went as it should.
 */
extern int hg_server_run(const HgServerConfig *config);

#endif /* HG_SERVER_H */
