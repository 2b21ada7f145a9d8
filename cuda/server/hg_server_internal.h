/*-------------------------------------------------------------------------
 *
 * hg_server_internal.h
 *	  A connection's two halves: its messages, and the jobs that they are about.
 *
 *	hg_server_session.c		messages in and out, what is a sane request
 *	hg_server_request.c		what a request has the engine do
 *	hg_server_job.c			a job's life: opened, evicted, closed
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SERVER_INTERNAL_H
#define HG_SERVER_INTERNAL_H

#include "hg_server_session.h"

typedef struct HgServerJob
{
	struct HgServerJob *next;
	HgServerSession *session;
	uint32_t id;
	HgJobSpec spec;
	HgTableTrial trial;		   /* where the spec has one: that points here ... */
	HgReplicaSpec new_replica; /* ... and the same of these */
	HgReplicaUse replica[2];
	HgReplicaColumnSpec new_column;
	HgReplicaColumnUse replica_columns[2][HG_MAX_COLUMNS];
	HgReplicaLookup lookups[2][HG_MAX_LOOKUPS];
	HgPageSpec pages[2];
	HgProgram programs[2][HG_MAX_PROGRAMS];
	HgRowFilters filters[2];
	HgEngine *engine;	   /* of the process, or of shared jobs */
	HgJob *job;			   /* the engine's; NULL once it has been evicted */
	HgHost host;		   /* what the engine gets; its arg is this struct */
	HgQueueEntry entry;	   /* its reservation, and its lease until all keys are there */
	uint64_t reserved[2];  /* by HgSide: rows that there was memory reserved for, beyond those
							* expected; a participant has them itself */
	HgError failure;	   /* status HG_OK while all is well */
	HgJobStats last_stats; /* of a job that has been evicted */

	uint32_t record_words; /* of the last REDUCE; 0 where there was none */

	/* the graph that is being exported; arrays NULL where none is */
	HgSide exported_side;
	void *exported[3]; /* by HgWirePart */
} HgServerJob;

/*
 * Messages that are taken in before their turn, at most.  A client sends two requests of one job
 * and keys of another ahead, and then a note that must be seen.
 */
#define HG_SERVER_AHEAD 8

struct HgServerSession
{
	const HgServerConfig *config;
	HgServerQueue *queue;
	int socket;
	int wake; /* eventfd, for waits in the queue */
	bool is_control;
	HgSessionState state;
	HgServerJob *jobs;
	HgQueueEntry results;	/* the room of the last answer's results, until the next message */
	uint64_t sequence;		/* of the last request received */
	HgWireMessage received; /* the message being worked on */
	HgWireMessage ahead[HG_SERVER_AHEAD]; /* those that come next */
	int ahead_count;
	HgWireMessage answer;

	/*
	 * For jobs, which stand below their session: is there a reason for work on a job to stop, a
	 * note behind the requests that wait, or the end of the connection?
	 */
	bool (*stops)(HgServerSession *session, uint32_t job);
};

/* hg_server_job.c */

/*
 * Open a job, waiting for its turn: on HG_OK it is one of session->jobs, and the reply
 * names its lease.
 */
extern HgStatus hg_server_job_open(HgServerSession *session, const HgWireOpening *opening,
								   HgWireReply *reply);

/* The job with this number; NULL where there is none. */
extern HgServerJob *hg_server_job_find(HgServerSession *session, uint32_t id);

/* Nothing more is to be done for the job but to close it. */
extern void hg_server_job_cancel(HgServerJob *job);

/* What it has done so far. */
extern void hg_server_job_stats(const HgServerJob *job, HgJobStats *stats);

/* Evict the job if the queue wants that: whatever is asked of it later is answered HG_EVICTED. */
extern void hg_server_job_yield(HgServerJob *job);

extern void hg_server_job_close(HgServerJob *job);

/* How the connection waits for a job's turn. */
extern HgQueueWaiter hg_server_job_waiter(HgServerJob *job);

/* No graph is being exported any more. */
extern void hg_server_job_drop_export(HgServerJob *job);

/* hg_server_room.c */

/* Do count elements of so many bytes lie in the job's lease, from where a request says on? */
extern bool hg_server_room_in_lease(const HgServerJob *job, const HgWireRequest *request,
									uint64_t count, uint64_t width);

/*
 * Room for results of so many bytes, or fewer: *results is where it begins, until the
 * next message.
 */
extern HgStatus hg_server_room_take(HgServerJob *job, uint64_t bytes, unsigned char **results,
									HgError *error);

/*
 * Name the room for results in the answer, or give it back where there are none, unless a device
 * that has failed may still write there.
 */
extern void hg_server_room_answer(HgServerSession *session, HgStatus status, HgWireReply *reply);

/*
 * Reserve what count rows more of a side need, where the job has not been admitted with them, nor
 * were they reserved for pages that had fewer than they had room for.
 */
extern HgStatus hg_server_room_reserve_rows(HgServerJob *job, HgSide side, uint64_t count,
											HgError *error);

/* The same where so many rows of a side are all that a shard will have. */
extern HgStatus hg_server_room_reserve_arrivals(HgServerJob *job, HgSide side, uint64_t count,
												HgError *error);

/* hg_server_exchange.c */

/* Is what a request asks of a shard what it can be asked for, and in its lease what is put? */
extern bool hg_server_exchange_is_sane(const HgServerJob *job, const HgWireRequest *request);

extern HgStatus hg_server_exchange_tally(HgServerJob *job, const HgWireRequest *request,
										 HgWireReply *reply);
extern HgStatus hg_server_exchange_expect(HgServerJob *job, const HgWireRequest *request,
										  HgError *error);
extern HgStatus hg_server_exchange_take(HgServerJob *job, const HgWireRequest *request,
										HgWireReply *reply);
extern HgStatus hg_server_exchange_put(HgServerJob *job, const HgWireRequest *request,
									   HgError *error);

/* On HG_OK the descriptor in the answer's offer is the caller's. */
extern HgStatus hg_server_exchange_offer(HgServerJob *job, const HgWireRequest *request,
										 HgWireReply *reply);
extern HgStatus hg_server_exchange_send(HgServerJob *job, const HgWireRequest *request,
										HgError *error);

/* hg_server_request.c */

/* Have the engine do what a sane request for an open job asks. */
extern HgStatus hg_server_job_serve(HgServerJob *job, const HgWireRequest *request,
									HgWireReply *reply);

/* Does what a request to append names exist in the job, and lie within its lease? */
extern bool hg_server_job_can_append(const HgServerJob *job, const HgWireRequest *request);

/* The same of pages ... */
extern bool hg_server_job_can_append_pages(const HgServerJob *job, const HgWireRequest *request);

/* ... of edges of a new graph replica, of values of a new column replica ... */
extern bool hg_server_job_can_put_edges(const HgServerJob *job, const HgWireRequest *request);
extern bool hg_server_job_can_put_values(const HgServerJob *job, const HgWireRequest *request);

/* ... and of words of a mask. */
extern bool hg_server_job_can_mask(const HgServerJob *job, const HgWireRequest *request);

#endif /* HG_SERVER_INTERNAL_H */
