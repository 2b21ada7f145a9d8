/*-------------------------------------------------------------------------
 *
 * hg_wire_internal.h
 *	  The parts of the client: its connection, and the jobs that use it.
 *
 *	hg_wire_answer.c	what the device process says, before it is believed
 *	hg_wire_client.c	the connection: messages in and out, waiting, state
 *	hg_wire_job.c		what calls of a job have in common: requests, and results in staging
 *	hg_wire_open.c		a job is opened
 *	hg_wire_send.c		and is not built: keys, columns, edges, values, masks
 *	hg_wire_exchange.c	and of a shard: the exchange of rows
 *	hg_wire_remote.c	the remote engine: the calls of hg_engine.h
 *
 * Each stands on those above it.  What always holds:
 *
 * - answered <= sequence: requests answered and sent.  Answers arrive in order, so
 *	 one number says which slots are free.
 * - What is answered is what was asked, and no answer is used that makes no sense.
 * - A job's own failure (status and error of any answer, an append's that nobody
 *	 waited for too) is kept in the job and given to every later call on it.
 * - A failure of the connection is kept in the client and given to every later
 *	 call on any job.
 * - A job's requests BUILD, and MATCH or COUNT, may be sent before the calls that ask for them:
 *	 these then wait for the answers.
 * - Nothing waits for an answer but hg_wire_client_wait(), and that only through
 *	 host->wait_readable; it polls cancelled() once for each wait.  A request waits for room in the
 *	 socket, and polls cancelled() meanwhile.  A note never waits: one that finds no room is sent
 *	 ahead of the next message, or when the connection is looked at.
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

/*
 * Requests that wait for their answers, at most.  A socket holds fewer, so that one more has gone
 * unread for long.
 */
#define HG_WIRE_WAITING 512

/* Notes that have found no room in the socket, at most. */
#define HG_WIRE_UNSENT 512

typedef struct HgRemoteJob HgRemoteJob;

/*
 * Masks without words, which need no slot, that wait for their answers, at most: a note behind them
 * must be seen (hg_server_internal.h).
 */
#define HG_WIRE_MASKS 4

/* What was asked for, until it is answered. */
typedef struct HgWireAsked
{
	uint16_t type; /* HgWireType */
	uint16_t side; /* DESCRIBE: HgSide */
	uint32_t job;
	uint32_t mode;	/* COUNT, REDUCE: HgMatchMode */
	uint64_t count; /* NEXT, NEXT_GROUPS, EXPORT: elements at most ... */
	uint64_t width; /* ... and bytes of each */
} HgWireAsked;

/* What is known of the groups of a job. */
typedef struct HgRemoteGroups
{
	HgReduceSpec spec; /* of the last REDUCE that was sent */
	bool made;		   /* ... and that has made them */
	uint64_t left;	   /* that are still to come ... */
	uint64_t pairs;	   /* ... and the matches they are made of */
} HgRemoteGroups;

/* What a shard expects of a side. */
typedef struct HgRemoteExchange
{
	bool is_tallied;
	bool expects;
	bool arrived;
	uint64_t counts[HG_EXCHANGE_PARTS]; /* as tallied */
	uint64_t rows;						/* that it will have */
	uint64_t numbers;					/* those of all rows of the join are below this */
	uint32_t ends[HG_MAX_SHARDS];		/* whose which parts are: HgExchange */
	uint64_t left[HG_MAX_SHARDS];		/* rows of each one's parts that it has still to give */
	uint64_t sending;					/* the request that sends some, 0 where none does ... */
	uint32_t sending_to;				/* ... and to whom */
} HgRemoteExchange;

struct HgRemoteJob
{
	HgWireClient *client; /* NULL once the client was destroyed ... */
	HgWireClient *past;	  /* ... which is that one then, else NULL */
	HgRemoteJob *next;
	const HgHost *host;
	uint32_t id;
	HgJobSpec spec;
	HgTableTrial trial;		   /* where the spec has one: that points here ... */
	HgReplicaSpec new_replica; /* ... and the same of these ... */
	HgReplicaUse replica[2];
	HgReplicaColumnSpec new_column;
	HgReplicaColumnUse replica_columns[2][HG_MAX_COLUMNS];
	HgReplicaLookup lookups[2][HG_MAX_LOOKUPS];
	int64_t expected_bytes; /* of its keys and columns */
	HgProgram programs[2][HG_MAX_PROGRAMS];
	HgRowFilters filters[2];
	HgPageSpec pages[2];
	uint64_t page_rows[2];	/* by HgSide: what numbers of rows of the pages sent are below */
	uint64_t replica_bytes; /* of the replica that it has made */
	uint64_t rows[2]; /* by HgSide: of its graph replica, or sent so far; of pages at most, until it
					   * is built */
	bool appended;	  /* some were sent */
	bool numbered;	  /* ... with their numbers */
	uint64_t edges;	  /* put so far */
	HgRemoteExchange exchange[2];
	bool built; /* or appending has ended: no more keys come */
	HgRemoteGroups groups;

	const HgRowNumbers *numbers[2]; /* by HgSide: that rows may have, of a shared job; or NULL */

	uint64_t open_sequence; /* of its OPEN */
	uint64_t lease_offset;	/* in staging: slot 0, then slot 1 */
	uint64_t slot_bytes;
	uint64_t slot_sequence[HG_WIRE_SLOTS]; /* the last request that named the slot */
	unsigned next_slot;

	/*
	 * requests of start(), whose calls are still to come: sequence numbers, 0 where there is none
	 */
	uint64_t started_build;
	uint64_t started_stream; /* MATCH, or ... */
	uint64_t started_count;	 /* ... COUNT, or ... */
	uint64_t started_groups; /* ... REDUCE, of groups.spec */
	HgMatchMode started_mode;
	uint64_t count; /* of the last answer to COUNT or REDUCE */

	HgError failure;  /* status HG_OK while all is well */
	HgJobStats stats; /* as of the last answer */
};

/* A note that has not been sent. */
typedef struct HgWireNote
{
	HgWireType type;
	uint32_t job;
	HgReplicaName name; /* DROP */
} HgWireNote;

struct HgWireClient
{
	HgEngine engine; /* first: engine calls get its address */
	int fd;
	HgWireState state;
	HgError error;	 /* why, for UNAVAILABLE and LOST */
	bool distrusted; /* LOST because it made no sense */

	unsigned char *staging; /* NULL at a control connection */
	uint64_t staging_bytes;

	HgEngineCosts costs;

	uint64_t sequence;					/* of the last request sent */
	uint64_t answered;					/* of the last answer received */
	HgWireAsked asked[HG_WIRE_WAITING]; /* by sequence number, modulo their number */
	uint32_t last_job;
	HgRemoteJob *jobs;

	HgWireNote unsent[HG_WIRE_UNSENT]; /* in their order */
	int nunsent;

	void (*noted)(void *arg, int jobs, int64_t bytes); /* of jobs that come and go; or NULL */
	void *noted_arg;

	HgWireMessage message;	   /* the last message received ... */
	int attached;			   /* ... and the descriptor that came along, or -1 */
	HgWireDevices devices;	   /* the last list of devices received */
	HgMissingReplicas missing; /* of the last job that was refused for it */
};

/* Have the texts of a received error be printable ones. */
extern void hg_wire_answer_clean_error(HgError *error);

/* The same of devices; false where they make no sense. */
extern bool hg_wire_answer_take_devices(HgWireDevices *devices);

/* Can costs have been measured? */
extern bool hg_wire_answer_has_costs(const HgEngineCosts *costs);

/*
 * The answer to a request of the job has come: keep what it says of the job.  False where it makes
 * no sense.
 */
extern bool hg_wire_answer_take(HgRemoteJob *job, const HgWireAsked *asked, HgWireReply *reply,
								uint64_t staging_bytes);

/* Are matches, in memory that nobody else writes to, of rows that the job has? */
extern bool hg_wire_answer_has_matches(const HgRemoteJob *job, const HgMatches *matches);

/*
 * Can these be the next rows that the job has for another shard: numbers of the join, keys of that
 * one's parts, and not more than were tallied, or none before these have come?
 */
extern bool hg_wire_answer_has_rows(HgRemoteJob *job, HgSide side, uint32_t shard,
									const HgExchangeRows *rows);

/* Have the rows of a side that the job was sent been tallied, and no others? */
extern bool hg_wire_answer_has_tally(const HgRemoteJob *job, HgSide side, const uint64_t *counts);

/* Are these the next groups of the job, and, when they are the last, are they of all matches? */
extern bool hg_wire_answer_has_groups(HgRemoteJob *job, const HgGroupRecords *records);

/* A client of a connected socket, as hg_wire_client_create makes it, but for its engine. */
extern HgWireClient *hg_wire_client_connect(int fd);

/* Can requests be sent?  HG_OK, or why not; takes in what has arrived, never waits. */
extern HgStatus hg_wire_client_check(HgWireClient *client, HgError *error);

/*
 * Send a request for job, which gets the next sequence number; the message is zero but for its own
 * members.  attached is a descriptor, which stays the caller's, or -1; width is that of the
 * elements in staging that the request asks for, if it does.  HG_CONNECTION_LOST on failure, and
 * HG_CANCELLED where the host says so before there is room for it: it is not sent then.
 */
extern HgStatus hg_wire_client_send(HgWireClient *client, const HgHost *host, HgWireType type,
									uint32_t job, HgWireMessage *message, int attached,
									uint64_t width, HgError *error);

/* Send a note, now or later. */
extern void hg_wire_client_note(HgWireClient *client, const HgWireNote *note);

/* Tell who watches the client that a job has come, 1, or gone, -1. */
extern void hg_wire_client_tell(const HgWireClient *client, const HgRemoteJob *job, int change);

/*
 * Wait until the answer to request sequence has come.  HG_OK says nothing about the
 * answer itself, which is in client->message when it was the last request sent.
 */
extern HgStatus hg_wire_client_wait(HgWireClient *client, const HgHost *host, uint64_t sequence,
									HgError *error);

/*
 * May matches be asked for, as far as the job's kind goes?  HG_INVALID of one that makes a replica:
 * the device process would end the connection of who asks for them.
 */
extern HgStatus hg_wire_job_joins(HgRemoteJob *job, HgError *error);

/*
 * Send a note of a job.  It can't fail in a way that matters: a lost connection shows in the next
 * call.
 */
extern void hg_wire_job_note(HgWireClient *client, HgWireType type, uint32_t job);

/* May a call on this job go to the device process?  If not, why. */
extern HgStatus hg_wire_job_usable(HgRemoteJob *job, HgError *error);

/* hg_wire_client_wait, and what its failure does to the job. */
extern HgStatus hg_wire_job_wait(HgRemoteJob *job, uint64_t sequence, HgError *error);

/*
 * Send a request that asks for nothing in staging.  Its sequence number is then client->sequence.
 */
extern HgStatus hg_wire_job_send(HgRemoteJob *job, HgWireType type, HgWireMessage *message,
								 HgError *error);

/* The same with a descriptor, which stays the caller's. */
extern HgStatus hg_wire_job_send_along(HgRemoteJob *job, HgWireType type, HgWireMessage *message,
									   int attached, HgError *error);

/*
 * Send a request and wait for its answer, whose failure is this call's.  On HG_OK
 * the answer is in client->message.reply.
 */
extern HgStatus hg_wire_job_ask(HgRemoteJob *job, HgWireType type, HgWireMessage *message,
								uint64_t width, HgError *error);

/*
 * The same of a request for elements of width bytes: *results is where in staging they are, until
 * the next message.
 */
extern HgStatus hg_wire_job_fetch(HgRemoteJob *job, HgWireType type, HgWireMessage *message,
								  uint64_t width, unsigned char **results, HgError *error);

/* The same with a request that carries no more than these two numbers. */
extern HgStatus hg_wire_job_ask_plainly(HgRemoteJob *job, HgWireType type, uint32_t side,
										uint32_t mode, HgError *error);

/* Wait until the job is admitted: the answer names its lease. */
extern HgStatus hg_wire_open_wait(HgRemoteJob *job, HgError *error);

/*
 * Can anything be appended to a side?  What the engine would refuse must be told now: its answer
 * comes too late for us.
 */
extern HgStatus hg_wire_send_check_side(HgRemoteJob *job, HgSide side, HgError *error);

/*
 * Begin a request with as many items as there are left, but no more than most, in the slot whose
 * turn it is, once what was in it has been taken: *to is where they go.  The caller sends it next.
 */
extern HgStatus hg_wire_send_begin(HgRemoteJob *job, uint64_t most, uint64_t left,
								   HgWireMessage *message, unsigned char **to, HgError *error);

/* The calls of the engine for a job that is not built; see hg_engine.h. */
extern HgStatus hg_wire_remote_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec,
									HgJob **handle, HgError *error);
extern HgStatus hg_wire_remote_append(HgJob *handle, HgSide side, const void *keys, uint64_t count,
									  HgError *error);
extern HgStatus hg_wire_remote_append_rows(HgJob *handle, HgSide side, const void *keys,
										   uint64_t count, uint64_t first_row, HgError *error);
extern HgStatus hg_wire_remote_append_column(HgJob *handle, HgSide side, uint32_t column,
											 const void *values, const uint8_t *nulls,
											 uint64_t count, uint64_t first_row, HgError *error);
extern HgStatus hg_wire_remote_append_pages(HgJob *handle, HgSide side, const void *pages,
											uint64_t count, uint64_t first_page, HgError *error);
extern HgStatus hg_wire_remote_put_edges(HgJob *handle, const void *keys, const uint32_t *rows,
										 uint64_t count, HgError *error);
extern HgStatus hg_wire_remote_put_values(HgJob *handle, const void *values, const uint8_t *nulls,
										  uint64_t count, uint64_t first_ordinal, HgError *error);
extern HgStatus hg_wire_remote_mask(HgJob *handle, HgSide side, uint32_t lookup,
									uint64_t first_word, uint64_t count, const uint64_t *words,
									HgError *error);

/* Those of the exchange, in hg_wire_exchange.c; see hg_exchange.h. */
extern HgStatus hg_wire_remote_tally(HgJob *handle, HgSide side, uint64_t *counts, HgError *error);
extern HgStatus hg_wire_remote_expect(HgJob *handle, HgSide side, const HgExchange *exchange,
									  HgError *error);
extern HgStatus hg_wire_remote_take_rows(HgJob *handle, HgSide side, uint32_t shard,
										 HgExchangeRows *rows, HgError *error);
extern HgStatus hg_wire_remote_put_rows(HgJob *handle, HgSide side, const HgExchangeRows *rows,
										HgError *error);
extern HgStatus hg_wire_remote_arrived(HgJob *handle, HgSide side, HgError *error);
extern HgStatus hg_wire_remote_offer(HgJob *handle, HgSide side, HgOffer *offer, HgError *error);
extern HgStatus hg_wire_remote_send_rows(HgJob *handle, HgSide side, uint32_t shard,
										 const HgOffer *offer, HgError *error);
extern HgStatus hg_wire_remote_sent(HgJob *handle, HgSide side, HgError *error);

/* ... and its end. */
extern void hg_wire_job_close(HgJob *handle);

/* *to = *from, where to is not NULL; returns its status. */
static inline HgStatus
hg_wire_copy_error(HgError *to, const HgError *from)
{
	if (to != NULL)
		*to = *from;
	return from->status;
}

#endif /* HG_WIRE_INTERNAL_H */
