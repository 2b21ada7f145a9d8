/*-------------------------------------------------------------------------
 *
 * hg_server_internal.h
 *	  A connection's messages and its jobs: shared by the files of a session.
 *
 *	hg_server_session.c		receives, checks and answers messages
 *	hg_server_request.c		calls the engine for a request, also to a shard; leases, room for
 *							results, memory for more rows
 *	hg_server_job.c			a job's life: opened, evicted, closed
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SERVER_INTERNAL_H
#define HG_SERVER_INTERNAL_H

#include "../../src/engine/hg_engine.h"
#include "hg_server_session.h"

typedef struct HgServerJob
{
	struct HgServerJob *next;
	HgServerSession *session;
	uint32_t id;
	HgJobSpec spec;
	HgTableTrial trial;		   /* if the spec has one: spec.product points here */
	HgReplicaSpec new_replica; /* this and the next members likewise */
	HgReplicaUse replica[2];
	HgReplicaColumnSpec new_column;
	HgReplicaColumnUse replica_columns[2][HG_MAX_COLUMNS];
	HgReplicaLookup lookups[2][HG_MAX_LOOKUPS];
	HgPageSpec pages[2];
	HgProgram programs[2][HG_MAX_PROGRAMS];
	HgRowFilters filters[2];
	HgEngine *engine;	/* the process's engine, or that of shared jobs */
	HgJob *job;			/* the engine's; NULL once it was evicted */
	HgHost host;		/* given to the engine; its arg is this struct */
	HgQueueEntry entry; /* its reservation, and its lease until all keys have arrived */
	/* by HgSide; rows with reserved memory beyond the expected ones; a participant's own part */
	uint64_t reserved[2];
	HgError failure;	   /* status HG_OK while all is well */
	HgJobStats last_stats; /* of a job that was evicted */

	uint32_t record_words; /* words of a record of the last REDUCE; 0: none */

	/* the graph that is being exported; the arrays are NULL if there is none */
	HgSide exported_side;
	void *exported[3]; /* by HgWirePart */
} HgServerJob;

/*
 * Most messages that are received before their turn. A client sends two requests of one job and
 * keys of another ahead, and then a note that must be seen.
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
	HgQueueEntry results;	/* room of the last answer's results, until the next message */
	uint64_t sequence;		/* of the last request received */
	HgWireMessage received; /* the message being served */
	HgWireMessage ahead[HG_SERVER_AHEAD]; /* messages to serve next */
	int ahead_count;
	HgWireMessage answer;

	/*
	 * For jobs, which stand below their session: returns true if work on a job must stop, because
	 * of a note behind the waiting requests, or the end of the connection.
	 */
	bool (*stops)(HgServerSession *session, uint32_t job);
};

/* hg_server_job.c */

/*
 * Opens a job, and waits for its turn. On HG_OK the job is in session->jobs, and the reply names
 * its lease. On HG_NO_REPLICA the reply names the missing replicas.
 */
extern HgStatus hg_server_job_open(HgServerSession *session, const HgWireOpening *opening,
								   HgWireReply *reply);

/* Returns the job with this number, or NULL. */
extern HgServerJob *hg_server_job_find(HgServerSession *session, uint32_t id);

/* Marks the job as cancelled: it can only be closed. */
extern void hg_server_job_cancel(HgServerJob *job);

/* Stores the statistics of the job so far. */
extern void hg_server_job_stats(const HgServerJob *job, HgJobStats *stats);

/* Evicts the job if the queue requires it; later requests for it are answered HG_EVICTED. */
extern void hg_server_job_yield(HgServerJob *job);

/* Closes a job and frees it. */
extern void hg_server_job_close(HgServerJob *job);

/* Returns how the connection waits for a job's turn. */
extern HgQueueWaiter hg_server_job_waiter(HgServerJob *job);

/* Frees the arrays of an exported graph. */
extern void hg_server_job_drop_export(HgServerJob *job);

/* hg_server_request.c */

/* Returns true if a request to a shard is valid, and the rows that it puts lie in its lease. */
extern bool hg_server_exchange_is_sane(const HgServerJob *job, const HgWireRequest *request);

/* Calls the engine for a valid request for an open job. */
extern HgStatus hg_server_job_serve(HgServerJob *job, const HgWireRequest *request,
									HgWireReply *reply);

/* Returns true if the keys or the column to append exist in the job, and lie in its lease. */
extern bool hg_server_job_can_append(const HgServerJob *job, const HgWireRequest *request);

/* Returns true if the pages to append lie in the job's lease, and that side comes as pages. */
extern bool hg_server_job_can_append_pages(const HgServerJob *job, const HgWireRequest *request);

/* Returns true if the job makes a graph replica, and the edges to put lie in its lease. */
extern bool hg_server_job_can_put_edges(const HgServerJob *job, const HgWireRequest *request);

/* Returns true if the job makes a column replica, and the values to put lie in its lease. */
extern bool hg_server_job_can_put_values(const HgServerJob *job, const HgWireRequest *request);

/* Returns true if the job has the mask to set, and its words lie in the lease. */
extern bool hg_server_job_can_mask(const HgServerJob *job, const HgWireRequest *request);

/*
 * Shared jobs: one job of the engine for several connections.
 *
 * The participants of a shared job have one job of the engine. Each of them is a job of another
 * engine, the shared engine. That one does some calls once (build, count, match, reduce): for the
 * first participant that makes them. The others get the same answer, except that the first one
 * gets all groups. Other calls (append_rows, append_column, append_pages, next) are done for one
 * participant after the other; only the transfer of pages to the device runs for several at a
 * time. hg_wire.h has the rules.
 *
 * Any thread may call any function, for each participant one at a time.
 */

/* Returns the engine of participants; its open is hg_server_participants_join. */
extern HgEngine *hg_server_participants_engine(void);

/*
 * Makes a participant of the shared job spec->participants_id, whose job is one of engine. If
 * *first is set, the caller calls hg_server_participants_open or hg_server_participants_give_up
 * next. The others wait here until then. They get the first one's failure, or HG_INVALID if their
 * keys or columns have other widths. host must outlive the participant.
 */
extern HgStatus hg_server_participants_join(HgEngine *engine, const HgHost *host,
											const HgJobSpec *spec, HgJob **participant, bool *first,
											HgError *error);

/* Opens the job for all; only for the first participant. After a failure it must give up. */
extern HgStatus hg_server_participants_open(HgJob *participant, const HgJobSpec *spec,
											HgError *error);

/*
 * Announces that a participant will append count rows to a side, or pages that hold at most count.
 * *wanted is the number of rows that all participants have then announced for the side. rows[2]
 * are the largest numbers announced before, by side. *spec is the first participant's, and stays
 * valid as long as the participant.
 */
extern HgStatus hg_server_participants_announce(HgJob *participant, HgSide side, uint64_t count,
												HgJobSpec *spec, uint64_t rows[2], uint64_t *wanted,
												HgError *error);

/* Makes the job fail: all later calls of any participant return status with *why. */
extern void hg_server_participants_give_up(HgJob *participant, HgStatus status, const HgError *why);

#endif /* HG_SERVER_INTERNAL_H */
