/*-------------------------------------------------------------------------
 *
 * hg_server_session.h
 *	  One connection of the device process: its messages and its jobs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SERVER_SESSION_H
#define HG_SERVER_SESSION_H

#include "hg_server_queue.h"

typedef struct HgServerSession HgServerSession;

typedef enum HgSessionState
{
	HG_SESSION_OPEN,
	HG_SESSION_CLOSED,		 /* by the other end */
	HG_SESSION_BROKEN,		 /* it broke the rules, or the socket failed */
	HG_SESSION_DEVICE_FAILED /* the answer that says so was the last */
} HgSessionState;

/*
 * Serve socket, which stays the caller's.  hello is the first message, but for the header;
 * one without staging makes a control connection, which can't have jobs.  NULL
 * where the process is out of memory or descriptors.
 */
extern HgServerSession *hg_server_session_create(const HgServerConfig *config, HgServerQueue *queue,
												 int socket, const HgWireDevices *hello);

extern HgSessionState hg_server_session_state(const HgServerSession *session);

/* Take one message from the socket, if one is there, and do what it asks. */
extern void hg_server_session_serve(HgServerSession *session);

/* Readable where another connection has something for hg_server_session_yield() to do. */
extern int hg_server_session_wake(const HgServerSession *session);

/* Evict idle jobs that others wait for the memory of; called when nothing is there to be served. */
extern void hg_server_session_yield(HgServerSession *session);

/* Close all jobs and forget the connection. */
extern void hg_server_session_destroy(HgServerSession *session);

#endif /* HG_SERVER_SESSION_H */
