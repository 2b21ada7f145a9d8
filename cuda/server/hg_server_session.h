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
	HG_SESSION_CLOSED,		 /* closed by the other end */
	HG_SESSION_BROKEN,		 /* it broke the protocol, or the socket failed */
	HG_SESSION_DEVICE_FAILED /* the answer that reported it was the last */
} HgSessionState;

/*
 * Creates a session for a socket, which stays the caller's. Sends hello, whose header it fills in,
 * as the first message. A hello without staging makes a control connection, which can't have jobs.
 * NULL if the process is out of memory or descriptors.
 */
extern HgServerSession *hg_server_session_create(const HgServerConfig *config, HgServerQueue *queue,
												 int socket, const HgWireDevices *hello);

/* Returns whether the session is open, or why it ended. */
extern HgSessionState hg_server_session_state(const HgServerSession *session);

/* Receives a message, if one has arrived, and serves it and those that were received with it. */
extern void hg_server_session_serve(HgServerSession *session);

/* Returns an eventfd, readable if another connection has work for hg_server_session_yield(). */
extern int hg_server_session_wake(const HgServerSession *session);

/* Evicts idle jobs whose memory others wait for; to be called without pending messages. */
extern void hg_server_session_yield(HgServerSession *session);

/* Closes all jobs and frees the session. */
extern void hg_server_session_destroy(HgServerSession *session);

#endif /* HG_SERVER_SESSION_H */
