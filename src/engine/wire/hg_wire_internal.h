/*-------------------------------------------------------------------------
 *
 * hg_wire_internal.h
 *	  The parts of the client: its connection, and the jobs that use it.
 *
 * A client (hg_wire_client.h) is a session's end of the connection to a device process.  It sends
 * requests, which the process answers, and notes, which it does not answer.  hg_wire.h describes
 * both, and the staging memory that both ends map.  A function with an HgError fills it, unless it
 * is NULL, when it returns another status than HG_OK.
 *
 *	hg_wire_answer.c	checks of answers before they are used
 *	hg_wire_client.c	the connection: messages in and out, waiting, state
 *	hg_wire_job.c		common parts of calls of a job: requests, and results in staging
 *	hg_wire_open.c		opening a job
 *	hg_wire_send.c		before build: keys, columns, edges, values, masks
 *	hg_wire_pages.c		before build: pages
 *	hg_wire_exchange.c	before build of a shard: the exchange of rows
 *	hg_wire_remote.c	the remote engine: the calls of hg_engine.h
 *
 * Each file calls only those above it.  Invariants:
 *
 * - answered <= sequence: the numbers of requests answered and sent.  Answers arrive in order, so
 * one number says which slots are free.
 *
 * - An answer belongs to the request next in order, and is used only if it is plausible.
 *
 * - A failure of a job (the status and error of any answer, also of an append that no call waited
 * for) stays in the job, and every later call on it returns it.  Exception: HG_INVALID as the
 * answer to a request that the call waits for (hg_wire_job_ask).  It does not harm the job.
 *
 * - A failure of the connection stays in the client, and every later call on any job returns it.
 *
 * - A job's BUILD and its MATCH, COUNT or REDUCE may be sent ahead.  The engine's call then only
 * waits for the answer.
 *
 * - Only hg_wire_client_wait() waits for an answer, and only through host->wait_readable; it polls
 * cancelled() once for each wait.  A request waits for room in the socket, and polls cancelled()
 * meanwhile.  A note never waits: one that finds no room is sent ahead of the next message, or
 * when the connection is next read.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WIRE_INTERNAL_H
#define HG_WIRE_INTERNAL_H

#include "hg_wire.h"

/* The slots of a job's lease of staging. */
#define HG_WIRE_SLOTS 2

/*
 * Maximum number of requests without an answer.  A socket holds fewer, so one more means that the
 * other end has not read for long.
 */
#define HG_WIRE_WAITING 512

/* Maximum number of notes that have found no room in the socket. */
#define HG_WIRE_UNSENT 512

typedef struct HgRemoteJob HgRemoteJob;

/*
 * Maximum number of unanswered masks without words.  It limits requests that use no slot, so that
 * the device process still reads a note that is sent after them (hg_server_internal.h).
 */
#define HG_WIRE_MASKS 4

/* A request that is not answered yet. */
typedef struct HgWireAsked
{
	uint16_t type; /* HgWireType */
	uint16_t side; /* DESCRIBE: HgSide */
	uint32_t job;
	uint32_t mode;	/* COUNT, REDUCE: HgMatchMode */
	uint64_t count; /* NEXT, NEXT_GROUPS, EXPORT: maximum number of elements */
	uint64_t width; /* bytes of an element */
} HgWireAsked;

/* State of a job's groups. */
typedef struct HgRemoteGroups
{
	HgReduceSpec spec; /* of the last REDUCE that was sent */
	bool made;		   /* the last REDUCE has succeeded */
	uint64_t left;	   /* groups that are still to come */
	uint64_t pairs;	   /* the matches of these groups */
} HgRemoteGroups;

/* State of a shard's exchange, for one side. */
typedef struct HgRemoteExchange
{
	bool is_tallied; /* TALLY has succeeded: counts is set */
	bool expects;	 /* EXPECT has succeeded: rows, numbers, ends and left are set */
	bool arrived;	 /* ARRIVED has succeeded */
	uint64_t counts[HG_EXCHANGE_PARTS]; /* by part, as tallied */
	uint64_t rows;						/* rows that the shard will have */
	uint64_t numbers; /* upper bound, exclusive, of the numbers of all rows of the join */
	uint32_t ends[HG_MAX_SHARDS]; /* the parts of each shard: HgExchange */
	uint64_t left[HG_MAX_SHARDS]; /* by shard: rows of its parts that this one has not given yet */
	uint64_t sending;			  /* sequence number of a SEND_ROWS without an answer, or 0 */
	uint32_t sending_to;		  /* the shard that the rows are sent to */
} HgRemoteExchange;

struct HgRemoteJob
{
	HgWireClient *client; /* NULL after the client was destroyed */
	HgWireClient *past;	  /* the destroyed client, or NULL */
	HgRemoteJob *next;
	const HgHost *host;
	uint32_t id;
	HgJobSpec spec;
	HgTableTrial trial; /* copies of what the spec's pointers refer to; the spec points here */
	HgReplicaSpec new_replica;
	HgReplicaUse replica[2];
	HgReplicaColumnSpec new_column;
	HgReplicaColumnUse replica_columns[2][HG_MAX_COLUMNS];
	HgReplicaLookup lookups[2][HG_MAX_LOOKUPS];
	int64_t expected_bytes; /* of its keys and columns */
	HgProgram programs[2][HG_MAX_PROGRAMS];
	HgRowFilters filters[2];
	HgPageSpec pages[2];
	uint64_t page_rows[2]; /* by HgSide: upper bound, exclusive, of row numbers of the pages sent */
	uint64_t replica_bytes; /* of the replica that it has made */
	uint64_t rows[2]; /* by HgSide: rows of the graph replica, or rows sent so far; for pages an
					   * upper bound until the job is built, then the real number */
	bool appended;	  /* some rows were sent */
	bool numbered;	  /* rows were sent with their numbers */
	uint64_t edges;	  /* put so far */
	HgRemoteExchange exchange[2];
	bool built; /* or appending has ended: no more keys come */
	HgRemoteGroups groups;

	const HgRowNumbers *numbers[2]; /* by HgSide: valid row numbers; or NULL */

	uint64_t open_sequence; /* of its OPEN */
	uint64_t lease_offset;	/* in staging: slot 0, then slot 1 */
	uint64_t slot_bytes;
	uint64_t slot_sequence[HG_WIRE_SLOTS]; /* last request that named the slot */
	unsigned next_slot;

	/* Sequence numbers of requests of start() whose calls are still to come; or 0. */
	uint64_t started_build;
	uint64_t started_stream; /* MATCH */
	uint64_t started_count;	 /* COUNT */
	uint64_t started_groups; /* REDUCE of groups.spec */
	HgMatchMode started_mode;
	uint64_t count; /* of the last answer to COUNT or REDUCE */

	HgError failure;  /* HG_OK as long as the job has not failed */
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
	HgError error;	 /* the reason for UNAVAILABLE and LOST */
	bool distrusted; /* LOST because of invalid data */

	unsigned char *staging; /* NULL on a control connection */
	uint64_t staging_bytes;

	HgEngineCosts costs;

	uint64_t sequence;					/* of the last request sent */
	uint64_t answered;					/* of the last answer received */
	HgWireAsked asked[HG_WIRE_WAITING]; /* by sequence number modulo HG_WIRE_WAITING */
	uint32_t last_job;
	HgRemoteJob *jobs;

	HgWireNote unsent[HG_WIRE_UNSENT]; /* in order */
	int nunsent;

	void (*noted)(void *arg, int jobs,
				  int64_t bytes); /* called when jobs are opened or closed; or NULL */
	void *noted_arg;

	HgWireMessage message;	   /* the last message received */
	int attached;			   /* the descriptor that came with it, or -1 */
	HgWireDevices devices;	   /* the last list of devices received */
	HgMissingReplicas missing; /* of the last job refused with HG_NO_REPLICA */
};

/*
 * Terminates the texts of a received list of devices, and replaces what is not printable ASCII by
 * '?'.  Returns false if the list is not valid.
 */
extern bool hg_wire_answer_take_devices(HgWireDevices *devices);

/* Returns true if the costs are plausible. */
extern bool hg_wire_answer_has_costs(const HgEngineCosts *costs);

/*
 * Checks the reply to a request of a job and stores what it says in the job: lease, counts,
 * statistics, and as its failure any status but HG_OK; hg_wire_job_ask() clears HG_INVALID.
 * Of a reply to a job that has failed already it checks the status, and stores nothing.  Cleans
 * its error's texts.  Returns false if the reply is not plausible: the job may have changed, and
 * the connection must be given up.
 */
extern bool hg_wire_answer_take(HgRemoteJob *job, const HgWireAsked *asked, HgWireReply *reply,
								uint64_t staging_bytes);

/* Returns true if all row numbers of matches, copied out of staging, can be rows of the job. */
extern bool hg_wire_answer_has_matches(const HgRemoteJob *job, const HgMatches *matches);

/*
 * Checks rows that TAKE_ROWS returned for another shard: their numbers, that their keys are of that
 * shard's parts, and that they are no more than were tallied.  An empty answer is valid only when
 * no rows are left.  Subtracts the rows from those left.  Returns false if a check fails.
 */
extern bool hg_wire_answer_has_rows(HgRemoteJob *job, HgSide side, uint32_t shard,
									const HgExchangeRows *rows);

/* Returns true if counts[HG_EXCHANGE_PARTS] add up to the rows of a side that the job was sent. */
extern bool hg_wire_answer_has_tally(const HgRemoteJob *job, HgSide side, const uint64_t *counts);

/*
 * Checks the job's next groups, copied out of staging, and that the last ones cover all matches.
 * Subtracts them from those left.  Returns false if a check fails.
 */
extern bool hg_wire_answer_has_groups(HgRemoteJob *job, const HgGroupRecords *records);

/* Does what hg_wire_client_create does, but leaves client->engine for the caller to set. */
extern HgWireClient *hg_wire_client_connect(int fd);

/*
 * Reads what has arrived, without waiting.  Returns HG_OK if requests can be sent, else
 * HG_UNAVAILABLE or HG_CONNECTION_LOST.
 */
extern HgStatus hg_wire_client_check(HgWireClient *client, HgError *error);

/*
 * Sends a request for a job, or with 0 for none, without waiting for the answer.  client->sequence
 * becomes its sequence number.  The caller has zeroed the message and set the fields of the
 * request; this call sets the header.  attached is a descriptor, which stays the caller's, or -1.
 * width is the bytes of an element that the request returns in staging, or 0.  HG_CONNECTION_LOST
 * on failure; HG_CANCELLED, with nothing sent, if the host cancels the wait for room in the socket.
 */
extern HgStatus hg_wire_client_send(HgWireClient *client, const HgHost *host, HgWireType type,
									uint32_t job, HgWireMessage *message, int attached,
									uint64_t width, HgError *error);

/* Sends a note, or stores it to be sent later if the socket has no room.  Never waits. */
extern void hg_wire_client_note(HgWireClient *client, const HgWireNote *note);

/* Calls client->noted, if set: a job was opened (change 1) or closed (change -1). */
extern void hg_wire_client_report_job(const HgWireClient *client, const HgRemoteJob *job,
									  int change);

/*
 * Waits until the answer to the request with this sequence number has come.  HG_OK does not say
 * whether the request succeeded.  If it was the last request sent, the answer is in
 * client->message.  HG_CANCELLED if the host cancels the wait; HG_CONNECTION_LOST.
 */
extern HgStatus hg_wire_client_wait(HgWireClient *client, const HgHost *host, uint64_t sequence,
									HgError *error);

/*
 * Returns HG_OK if matches can be requested of the job, or why it is not usable.  HG_INVALID for a
 * job that makes a replica: for such a request the device process would end the connection.
 */
extern HgStatus hg_wire_job_joins(HgRemoteJob *job, HgError *error);

/* Sends a note of this type for a job.  A lost connection shows in the next call. */
extern void hg_wire_job_note(HgWireClient *client, HgWireType type, uint32_t job);

/* Returns HG_OK if a call on this job can go to the device process, or the reason. */
extern HgStatus hg_wire_job_usable(HgRemoteJob *job, HgError *error);

/*
 * As hg_wire_client_wait, but returns the job's failure if it has one.  If the wait is cancelled,
 * sends CANCEL, and HG_CANCELLED becomes the job's failure.
 */
extern HgStatus hg_wire_job_wait(HgRemoteJob *job, uint64_t sequence, HgError *error);

/*
 * Sends a request that returns no elements, without waiting for the answer, as hg_wire_client_send
 * does.  Afterwards client->sequence is its sequence number.
 */
extern HgStatus hg_wire_job_send(HgRemoteJob *job, HgWireType type, HgWireMessage *message,
								 HgError *error);

/* As hg_wire_job_send, with a descriptor, which stays the caller's. */
extern HgStatus hg_wire_job_send_descriptor(HgRemoteJob *job, HgWireType type,
											HgWireMessage *message, int descriptor, HgError *error);

/*
 * Sends a request and waits for its answer, which is in client->message.reply on HG_OK.  width is
 * the bytes of an element that the request returns in staging, or 0.  HG_INVALID does not harm the
 * job.
 */
extern HgStatus hg_wire_job_ask(HgRemoteJob *job, HgWireType type, HgWireMessage *message,
								uint64_t width, HgError *error);

/*
 * As hg_wire_job_ask, for a request whose only parameter is a side, or that has none.  Checks first
 * that the job is usable.
 */
extern HgStatus hg_wire_job_ask_side(HgRemoteJob *job, HgWireType type, HgSide side,
									 HgError *error);

/* Returns the elements in staging of the last answer; they are valid until the next message. */
static inline unsigned char *
hg_wire_job_results(const HgRemoteJob *job)
{
	return job->client->staging + job->client->message.reply.lease_offset;
}

/* Waits for the answer to OPEN, which sets the job's lease_offset and slot_bytes. */
extern HgStatus hg_wire_open_wait(HgRemoteJob *job, HgError *error);

/*
 * Returns HG_INVALID if the side does not exist, or the job is built or has ended its appends.
 * Returns the failure of a job that is not usable.  Checked here because no call waits for the
 * answer to an append.
 */
extern HgStatus hg_wire_send_check_side(HgRemoteJob *job, HgSide side, HgError *error);

/*
 * Waits until the next slot of the lease is free, and prepares a request that names it.  left is
 * the number of items (keys, values, pages) to send, most the number that fits a slot.
 * message->request.count becomes the smaller one.  The caller writes that many items to *to and
 * sends the message as its next request.
 */
extern HgStatus hg_wire_send_begin(HgRemoteJob *job, uint64_t most, uint64_t left,
								   HgWireMessage *message, unsigned char **to, HgError *error);

/*
 * The calls of the engine before build, with the contracts of hg_engine.h, hg_pages.h and
 * hg_replica.h.  They return when the data is copied to the lease and sent, so the caller may reuse
 * its arrays; a failure that the device process reports later shows in a later call.
 *
 *	open			opens a job and waits until it is admitted; *handle is set on HG_OK only
 *	append			adds count keys to a side, numbered by position
 *	append_rows		adds count keys, numbered from first_row on
 *	append_column	sets a column's values of rows from first_row on; nulls: bytes, or NULL
 *	append_pages	adds count whole pages, with ordinals from first_page on
 *	put_edges		adds edges of a new graph replica: keys[count] and row numbers
 *	put_values		sets values of a new column replica, for ordinals from first_ordinal on
 *	mask			sets a bit for each row number that counts: of the side's graph, or with
 *					lookup n of the graph in which lookup n - 1 finds rows; NULL: all 0
 */
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

/*
 * The calls of the exchange of rows between the shards of a join, for one side, with the contracts
 * of hg_exchange.h and hg_peer_window.h.  HG_INVALID out of their order:
 *
 *	tally		sets counts[HG_EXCHANGE_PARTS] to the job's rows in each part
 *	expect		says which parts the job gets, and how many rows of them come
 *	take_rows	copies the next rows for another shard to *rows; rows->count is 0 at the end
 *	put_rows	adds rows that were taken from another shard
 *	arrived		ends the exchange: the rows that have come are the job's
 *	window		allocates a peer window in the process and fills *window; the caller closes the
 *				descriptor window->memory
 *	send_rows	writes the rows for another shard to that shard's peer window, without waiting
 *	sent		waits until the rows of send_rows are there; HG_INVALID if none were sent
 */
extern HgStatus hg_wire_remote_tally(HgJob *handle, HgSide side, uint64_t *counts, HgError *error);
extern HgStatus hg_wire_remote_expect(HgJob *handle, HgSide side, const HgExchange *exchange,
									  HgError *error);
extern HgStatus hg_wire_remote_take_rows(HgJob *handle, HgSide side, uint32_t shard,
										 HgExchangeRows *rows, HgError *error);
extern HgStatus hg_wire_remote_put_rows(HgJob *handle, HgSide side, const HgExchangeRows *rows,
										HgError *error);
extern HgStatus hg_wire_remote_arrived(HgJob *handle, HgSide side, HgError *error);
extern HgStatus hg_wire_remote_window(HgJob *handle, HgSide side, HgPeerWindow *window,
									  HgError *error);
extern HgStatus hg_wire_remote_send_rows(HgJob *handle, HgSide side, uint32_t shard,
										 const HgPeerWindow *window, HgError *error);
extern HgStatus hg_wire_remote_sent(HgJob *handle, HgSide side, HgError *error);

/* The engine's close: frees the job in any state, and tells the device process if it is there. */
extern void hg_wire_remote_close(HgJob *handle);

/* Copies *from to *to, if to is not NULL; returns the status of *from. */
static inline HgStatus
hg_wire_copy_error(HgError *to, const HgError *from)
{
	if (to != NULL)
		*to = *from;
	return from->status;
}

#endif /* HG_WIRE_INTERNAL_H */
