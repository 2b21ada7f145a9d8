/*-------------------------------------------------------------------------
 *
 * hg_wire_internal.h
 *	  The client's two halves: its connection, and the jobs that use it.
 *
 *	hg_wire_client.c	the connection: messages in and out, waiting, state
 *	hg_wire_remote.c	the remote engine: the calls of hg_engine.h
 *
 * What always holds:
 *
 * - answered <= sequence: requests answered and sent.  Answers arrive in order, so
 *	 one number says which slots are free.
 * - A job's own failure (status and error of any answer, an append's that nobody
 *	 waited for too) is kept in the job and given to every later call on it.
 * - A failure of the connection is kept in the client and given to every later
 *	 call on any job.
 * - A job's requests BUILD, and MATCH or COUNT, may be sent before the calls that ask for them:
 *	 these then wait for the answers.
 * - Nothing waits but hg_wire_client_wait(), and that only through
 *	 host->wait_readable; it polls cancelled() once for each wait.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WIRE_INTERNAL_H
#define HG_WIRE_INTERNAL_H

#include "hg_wire.h"

/* The slots that a job's lease of staging is cut into. */
#define HG_WIRE_SLOTS 2

typedef struct HgRemoteJob HgRemoteJob;

struct HgRemoteJob
{
	HgWireClient *client; /* NULL once the client was destroyed */
	HgRemoteJob *next;
	const HgHost *host;
	uint32_t id;
	HgJobSpec spec;
	uint64_t rows[2];	   /* sent so far, by HgSide */
	bool numbered;		   /* ... with their numbers */
	bool built;			   /* or settled: there are no more to come */
	uint32_t record_words; /* of the last reduce; 0 where there was none */

	uint64_t open_sequence; /* of its OPEN */
	uint64_t lease_offset;	/* in staging: slot 0, then slot 1 */
	uint64_t slot_bytes;
	uint64_t slot_sequence[HG_WIRE_SLOTS]; /* the last request that named the slot */
	unsigned next_slot;

	/* requests of start(), whose calls are still to come: sequence numbers, 0 where there is none
	 */
	uint64_t started_build;
	uint64_t started_stream; /* MATCH, or ... */
	uint64_t started_count;	 /* ... COUNT, and the answer's count */
	uint64_t count;
	HgMatchMode started_mode;

	HgError failure;  /* status HG_OK while all is well */
	HgJobStats stats; /* as of the last answer */
};

struct HgWireClient
{
	HgEngine engine; /* first: engine calls get its address */
	int fd;
	HgWireState state;
	HgError error; /* why, for UNAVAILABLE and LOST */

	unsigned char *staging; /* NULL at a control connection */
	uint64_t staging_bytes;

	HgEngineCosts costs;

	uint64_t sequence; /* of the last request sent */
	uint64_t answered; /* of the last answer received */
	uint32_t last_job;
	HgRemoteJob *jobs;

	HgWireMessage message; /* the last message received */
	HgWireDevices devices; /* the last list of devices received */
};

/* Fill the engine in with the calls of the remote engine. */
extern void hg_wire_remote_init(HgEngine *engine);

/*
 * The job's answer to a request has come: keep what it says of the job.  False where it makes no
 * sense.
 */
extern bool hg_wire_remote_take(HgWireClient *client, HgWireReply *reply);

/* Can requests be sent?  HG_OK, or why not; takes in what has arrived, never waits. */
extern HgStatus hg_wire_client_check(HgWireClient *client, HgError *error);

/* Give the connection up because of a message that makes no sense. */
extern HgStatus hg_wire_client_reject(HgWireClient *client, HgError *error);

/*
 * Send a request (which gets the next sequence number) or a note for job; the message
 * is zero but for its own members.  HG_CONNECTION_LOST on failure.
 */
extern HgStatus hg_wire_client_send(HgWireClient *client, HgWireType type, uint32_t job,
									HgWireMessage *message, HgError *error);

/*
 * Wait until the answer to request sequence has come.  HG_OK says nothing about the
 * answer itself, which is in client->message when it was the last request sent.
 */
extern HgStatus hg_wire_client_wait(HgWireClient *client, const HgHost *host, uint64_t sequence,
									HgError *error);

/* *to = *from, where to is not NULL; returns its status. */
static inline HgStatus
hg_wire_copy_error(HgError *to, const HgError *from)
{
	if (to != NULL)
		*to = *from;
	return from->status;
}

#endif /* HG_WIRE_INTERNAL_H */
