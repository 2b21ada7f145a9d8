/*-------------------------------------------------------------------------
 *
 * hg_wire.h
 *	  Messages and staging layout between a session and the device process.
 *
 * FRAMING
 *
 * The two ends share a connected Unix socket of type SOCK_SEQPACKET: what is sent
 * is received whole or not at all.  Every message is one of five structs of fixed
 * size, native byte order and layout (both ends come from one build on one
 * machine), that starts with an HgWireHeader.  Magic, version, type and length are
 * checked on receipt, and a message that fails ends the connection: nothing is
 * resynchronised.
 *
 * HgWireOpening has room for all that a job can be told, which is 23 kB, and next to all of it is
 * 0.  It is sent as HgWirePacked: what is behind the header is partitioned into blocks, and those
 * of which each byte is 0 are left out.
 *
 * TWO WAYS TO RUN
 *
 * A private device process serves one connection, that of the session which started it, and
 * ends with it.  A server's device process was started by a process that looks after it:
 * it has a control connection to that one, and a listening socket on which any number
 * of sessions connect, each of them served by a thread of its own.  Both speak the same
 * messages, but that the control connection has no staging area and no jobs.  Its
 * requests, LIST and STATUS, are answered at once whatever jobs do, so that
 * whoever gets no answer there knows that the process hangs.
 *
 * What breaks a rule of this page ends its own connection, and no other.  The end of the
 * control connection, or a failing device, ends the process.
 *
 * WHO SENDS WHAT WHEN
 *
 *	hello		The device process, once, as its first message: when its device is
 *				ready, with the staging area's descriptor attached unless it is for the
 *				control connection, or when it knows that there is none, with the
 *				reason.  Until then the client regards it as starting and sends nothing.
 *	request		The client.  Each has a sequence number, one more than the last.
 *	reply,		The device process: exactly one for each request, in the order and
 *	devices,	with the sequence number of the requests, whether the request did
 *	status		its work, failed or was cancelled.  HG_DEVICE_FAILED is the last
 *				answer: the process, of no more use, ends.
 *	note		The client: CANCEL stops the request that runs, or waits in the queue,
 *				for a job (which is then answered with HG_CANCELLED) and fails all
 *				later ones; CLOSE frees the job, whatever runs for it; RELEASE gives
 *				staging back (below).  Notes are not answered and carry the sequence
 *				number of the last request.
 *
 * Requests are answered one at a time.  The client waits for each answer before it
 * goes on, but for APPEND and its like: there it goes on filling the other slot of its lease, and
 * looks at the answer when it needs the slot again; for BUILD, MATCH, COUNT and SEND_ROWS, where it
 * may go on with another job; and for the OPEN of a job whose keys are not all there yet: until
 * that is answered it asks for nothing else on this connection.  The device process looks for
 * notes behind the requests that wait.  A client that stops
 * waiting (its query was cancelled, say) sends a note and may start another job at
 * once: the answer that it did not wait for is recognised by its sequence number
 * when it arrives, and dropped.  A connection can have any number of open jobs; the
 * client numbers them.
 *
 * SHARED JOBS
 *
 * The connections of several processes can have one job together: they open it with the same number
 * in HgJobSpec.participants_id, which nobody else uses.  The first of them is admitted, in its
 * turn, with the expected rows of all; the others wait for that, and share its fate.  Each has a
 * lease of its own, appends the rows that it has with APPEND_ROWS and APPEND_COLUMN, or
 * APPEND_PAGES, and closes the job for itself: it ends with the last.  Keys and columns are of the
 * same widths in all of them, and pages have the same in the same places.  That all rows are
 * appended before the first BUILD is the clients' business, and that they were appended to this
 * process: one that took the place of another has none that the other was given.  The rows in the
 * answer to BUILD are those of all shards.  What is asked for by several is done once: BUILD, COUNT
 * and MATCH, whose later askers get the answer of the first, and REDUCE, whose groups are all the
 * first one's: to the others it answers 0.  NEXT gives each chunk to one of them, and an outer row
 * may have its matches in several.  A request that fails for one of them, but for nonsense of its
 * own, fails the job for all; a cancel is its own.
 *
 * A shard that has appended all of its rows says so with END_APPEND, and has no lease any more when
 * that is answered.  One that finds no staging free waits for it, whatever else its group has open:
 * those that have some give it back without waiting for anybody.
 *
 * TABLES
 *
 * A job whose OPEN names a table has it measured by MEASURE in place of BUILD, and nothing else is
 * asked of it.  It is admitted with what its keys and the table need of device memory at least.
 *
 * REPLICAS
 *
 * A job whose OPEN names a new graph replica (engine/hg_replica.h) gets its edges by PUT_EDGES, one
 * that names a column its values by PUT_VALUES, and BUILD makes it: from then on the device process
 * has the replica under its name, or another one which it got of that name meanwhile.  Replicas
 * have memory of their own; where that is full, what was used least lately goes, and no job has.
 * So it does where jobs want the memory, and when DROP says so: nobody finds it any more, and where
 * a job has it, it goes with the last of these.  What is larger than all of that memory, or than
 * jobs leave of it with what they have, is refused with HG_DEVICE_OUT_OF_MEMORY. When DROP names a
 * graph its columns go as well; memory is not taken from one of a graph and its columns for
 * another.
 *
 * A job whose OPEN names graph replicas has them for sides, with the columns that it names of them,
 * or is refused with HG_NO_REPLICA, at once or when its turn has come, where one of all these is
 * not there, or of another shape than it says.  So it is with the graphs by which rows of a side
 * look up others, and with those that are looked up.  The answer names what is not there.  From
 * then on they stay until the job is closed.  MASK tells which of the graphs' rows count, and so do
 * filters (engine/hg_row_filter.h), whose columns are named and stay as those of the sides do.
 * Columns that have a program have no name, and are computed (engine/hg_computed.h).  BUILD is
 * answered with HG_NOT_UNIQUE where a row that looks up finds two, and with HG_OVERFLOW where a
 * number that is computed, for a column or by a filter, does not fit.
 *
 * In answers a job that makes a replica has no rows, and a side that is a graph replica has the
 * rows of that, whatever a mask says and whatever its rows find.
 *
 * It is nonsense to name anything whose serial is 0, a graph by the number of a column or a column
 * without one, what is computed, or columns, lookups or filters of a side that is no graph replica;
 * to append keys or columns to one that is; to put values beyond the places of a column; or to ask
 * more of a job that makes a replica than PUT_EDGES or PUT_VALUES, END_APPEND and BUILD.
 *
 * PAGES
 *
 * A side whose OPEN says how it comes as pages (engine/hg_pages.h) gets them by APPEND_PAGES, and
 * neither keys nor columns otherwise.  BUILD is answered with HG_BAD_PAGE where one of them makes
 * no sense; in a shared job whatever is asked for afterwards is, too.  In answers such a side has
 * the rows that have been found in its pages, which may be as many as pages have room for until it
 * is built; then they are as many as BUILD says.
 *
 * SHARDS
 *
 * A job whose OPEN says that it is one of several (HgJobSpec.shards, engine/hg_exchange.h) is
 * admitted with the rows that it expects, and what the exchange of as many takes.  It is asked for
 * TALLY, EXPECT, TAKE_ROWS, PUT_ROWS and ARRIVED before BUILD; the others are jobs of other
 * connections, mostly to other processes, which know nothing of each other: rows that are to go
 * from one to another are the client's in between, or it has the one make memory for them by OFFER,
 * whose answer has a descriptor attached, and attaches that to SEND_ROWS for the other
 * (engine/hg_offer.h).  Both may be answered with HG_INVALID, and the client may go on to another
 * job before SEND_ROWS is answered.  An answer or a request without its descriptor is worth
 * nothing, and no harm: who has no number free for one does not get it.  EXPECT reserves what more
 * rows than were expected need; what is offered is reserved by nobody, and only had while there is
 * room.  In answers the job has the rows that it was sent until ARRIVED, and then those that it
 * has.  No other job is asked for any of these.  Once it is built it may be idle for longer than
 * others before it is evicted: its client may be fetching what the other shards have.
 *
 * THE QUEUE
 *
 * OPEN is answered when the job is admitted: when the device memory that its expected rows
 * need is not spoken for by other jobs, and a part of staging is free.  Until then it
 * waits its turn, first come, first served, and small jobs do not overtake large
 * ones.  Two jobs never wait: one that is larger than the whole budget, and one
 * that would wait while its own group (HgJobSpec), or its connection, has another
 * job open, because what it waited for might be waiting for it.  Both are
 * refused with HG_DEVICE_OUT_OF_MEMORY, as a smaller job may do.  A job that is opened ahead
 * (HgJobSpec), while another of its connection is at work, is also refused where anyone
 * waits.  So nobody holds anything while he waits in the queue, and it can't come to a
 * deadlock.
 *
 * A job may turn out to have more rows than were expected.  What they need is reserved as
 * they are appended; where others have it, the append fails with HG_DEVICE_OUT_OF_MEMORY.
 *
 * A built job that its client has asked for nothing for some seconds is evicted where one that
 * waits in the queue needs its memory: it is closed as far as the device is concerned, and whatever
 * is asked of it is answered with HG_EVICTED. The client closes it and may open another, which
 * waits its turn.  So is one that was opened ahead and is not built, where its whole connection has
 * been idle; its lease stays the client's until it closes it.  No shared job is, nor one whose
 * group or connection has another open, beside which its client could not wait.
 *
 * STAGING
 *
 * One memfd, made and sized by the device process, sealed against shrinking and
 * growing, and mapped by all ends.  The device process decides who has which part of it:
 *
 *	lease		The answer to OPEN names a part of staging that is the job's until its BUILD,
 *				MEASURE or END_APPEND is answered or it is closed.  The client partitions it into
 *				two
 *				slots, used in turn, and APPEND names the offset at which the device process shall
 *				read keys.  A slot is busy from the sending of the request that names it until that
 *				request's answer has arrived.
 *	results		The answers to NEXT, NEXT_GROUPS, EXPORT, TALLY and TAKE_ROWS name a part of
 *				staging that holds what was asked for.  It is the client's until its next message,
 *				whichever that is: a client that has nothing else to say sends RELEASE.  Results
 *				are copied out before a call returns, so that between calls no job has a claim on
 *				that part of staging.
 *
 * Three quarters of staging are for leases and one for results, and what waits for room for
 * results waits for nothing but other clients' copying.  The layout there:
 *
 *	APPEND, APPEND_ROWS
 *				keys[count], key_width bytes each
 *	APPEND_COLUMN
 *				values[count] of the column's width, then, where nulls says so, a byte for each
 *				of them, not 0 where it is NULL
 *	APPEND_PAGES
 *				pages[count], each of the side's page_size
 *	NEXT		outer[n], inner[n], 32 bits each, and for each column that is wanted, those of the
 *				outer side first, values[n] of its width and then nulls[n], a byte each: n is
 *				the greatest multiple of 8 that there is room for, and count, the answer's,
 *				of each array are set (hg_wire_place_matches)
 *	NEXT_GROUPS	records[count] of the last REDUCE, from lease_offset on (hg_reduce.h)
 *	EXPORT		elements first .. first + count - 1 of one array of the graph; the answer's
 *				count may be smaller than what was asked for
 *	PUT_EDGES	rows[count], 32 bits each, and from the next multiple of 8 bytes on keys[count],
 *				of the graph replica's key width
 *	PUT_VALUES	as APPEND_COLUMN, with the first ordinal for a row number
 *	MASK		words[count], 64 bits each, unless they are all 0
 *	TALLY		counts[HG_EXCHANGE_PARTS], 64 bits each
 *	TAKE_ROWS, PUT_ROWS
 *				keys[n], key_width bytes each, numbers[n], 32 bits each, and for each column of the
 *				side values[n] of its width and then nulls[n], a byte each, which are set where
 *				nulls, the answer's, or columns, the request's, says so: n is the greatest multiple
 *				of 8 that there is room for in results, and the least that is not below count in a
 *				lease; count of each array are set (hg_wire_place_rows)
 *
 * WHAT IS TRUSTED
 *
 * Both ends check that the peer runs under their own user id.  Beyond that no end relies on the
 * other's sanity.  Offsets and lengths are 64-bit, and each end checks them before use: the device
 * process against the job's lease, the client against staging and what it asked for; and each
 * number beside them against what it can be (hg_wire_answer.c says what a client sees through, and
 * what it believes).  The other end may write to staging at any time: who reads what lies there
 * copies it first, checks the copy and uses that, and nobody reads back what he has written there.
 * All clients map the whole of staging: they are processes of one PostgreSQL server, who share its
 * buffers too.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WIRE_H
#define HG_WIRE_H

#include "../hg_computed.h"
#include "../hg_exchange.h"
#include "../hg_replica.h"
#include "../hg_offer.h"
#include "../hg_pages.h"
#include "../hg_row_filter.h"
#include "../hg_table_measure.h"
#include "hg_wire_client.h"

#define HG_WIRE_MAGIC UINT32_C(0x48475752)
#define HG_WIRE_VERSION 14

/* Offsets and lengths of leases and results are multiples of this. */
#define HG_WIRE_PAGE UINT64_C(4096)

/*
 * A slot, or the results of one answer, are this at most: copying them must stay a matter of a
 * millisecond or so, because cancellation is looked at only in between.
 */
#define HG_WIRE_SLOT_MAX (UINT64_C(8) << 20)

/* Less staging than this would make no useful slots. */
#define HG_WIRE_STAGING_MIN (UINT64_C(64) << 10)

typedef enum HgWireType
{
	/* device process to client */
	HG_WIRE_HELLO = 1, /* HgWireDevices */
	HG_WIRE_DEVICES,   /* HgWireDevices: the answer to HG_WIRE_LIST */
	HG_WIRE_LOAD,	   /* HgWireStatus: the answer to HG_WIRE_STATUS */
	HG_WIRE_REPLY,	   /* HgWireReply: the answer to any other request */

	/* client to device process, all HgWireRequest but for OPEN: requests ... */
	HG_WIRE_LIST,	/* of devices; belongs to no job */
	HG_WIRE_STATUS, /* of the process; belongs to no job */
	HG_WIRE_OPEN,	/* HgWireOpening */
	HG_WIRE_APPEND,
	HG_WIRE_APPEND_ROWS,
	HG_WIRE_APPEND_COLUMN,
	HG_WIRE_APPEND_PAGES,
	HG_WIRE_END_APPEND,
	HG_WIRE_BUILD,
	HG_WIRE_MATCH,
	HG_WIRE_NEXT,
	HG_WIRE_COUNT,
	HG_WIRE_REDUCE,
	HG_WIRE_NEXT_GROUPS,
	HG_WIRE_DESCRIBE,
	HG_WIRE_EXPORT,
	HG_WIRE_MEASURE,
	HG_WIRE_PUT_EDGES,
	HG_WIRE_PUT_VALUES,
	HG_WIRE_MASK,
	HG_WIRE_TALLY,
	HG_WIRE_EXPECT,
	HG_WIRE_TAKE_ROWS,
	HG_WIRE_PUT_ROWS,
	HG_WIRE_ARRIVED,
	HG_WIRE_OFFER,
	HG_WIRE_SEND_ROWS,

	/* ... and notes */
	HG_WIRE_CANCEL,
	HG_WIRE_CLOSE,
	HG_WIRE_RELEASE,
	HG_WIRE_DROP /* belongs to no job */
} HgWireType;

/* The arrays of a graph, for EXPORT. */
typedef enum HgWirePart
{
	HG_WIRE_OFFSETS = 0,
	HG_WIRE_EDGE_KEYS,
	HG_WIRE_EDGE_ROWS
} HgWirePart;

typedef struct HgWireHeader
{
	uint32_t magic;
	uint16_t version;
	uint16_t type;	   /* HgWireType */
	uint32_t length;   /* of the whole message, in bytes */
	uint32_t job;	   /* the client's number of the job, from 1; 0 where none */
	uint64_t sequence; /* of the request, from 1; hello: 0 */
} HgWireHeader;

/* What a client sends, or the beginning of it.  Members that a type does not name are 0. */
typedef struct HgWireRequest
{
	HgWireHeader header;
	HgJobSpec spec;	  /* OPEN: but for the pointers in it, which are NULL */
	uint32_t side;	  /* APPEND, TALLY and their like, DESCRIBE, EXPORT, MASK: HgSide */
	uint32_t mode;	  /* MATCH, COUNT, REDUCE: HgMatchMode */
	uint32_t part;	  /* EXPORT: HgWirePart */
	uint32_t column;  /* APPEND_COLUMN */
	uint32_t nulls;	  /* APPEND_COLUMN, PUT_VALUES: 1 where bytes that tell NULL follow the
					   * values, else 0 */
	uint32_t zero;	  /* MASK: 1 where the words are all 0, and none are in staging, else 0 */
	uint32_t lookup;  /* MASK: 0 for the side's own, else the number of the lookup, from 1, of
					   * whose rows that are looked up it is */
	uint32_t columns; /* HG_WIRE_COLUMN: NEXT: of those whose values are wanted; PUT_ROWS: of
					   * those with a NULL, whose bytes are set */
	uint32_t shard;	  /* TAKE_ROWS, SEND_ROWS: of whose parts rows are wanted, or sent */
	uint32_t unused;  /* 0 */
	uint64_t offset;  /* APPEND and its like, PUT_EDGES, PUT_VALUES, MASK, PUT_ROWS: in staging, a
					   * multiple of 8 */
	uint64_t count;	  /* APPEND and its like, PUT_EDGES, PUT_VALUES, MASK, PUT_ROWS: keys, values,
					   * pages, edges, words, rows; NEXT, NEXT_GROUPS, EXPORT, TALLY, TAKE_ROWS:
					   * pairs, records, elements, parts, rows wanted at most */
	uint64_t first;	  /* APPEND_ROWS, APPEND_COLUMN: the row number of the first key, value;
					   * APPEND_PAGES: the ordinal of the first page; PUT_VALUES: the ordinal of the
					   * first   value; EXPORT: the first element	  wanted; MASK: the first word */
	HgReduceSpec reduce; /* REDUCE */
	HgExchange exchange; /* EXPECT */
	HgOffer offer;		 /* SEND_ROWS: that shard's, whose descriptor is attached, and no number */
	HgTableTrial trial;	 /* OPEN: the table to be measured; spec.key_width in it is 0 for none */
	HgReplicaSpec new_replica; /* OPEN: the new graph replica; shape.key_width in it is 0 for none;
								* DROP: a name, which may be a column's */
	HgReplicaUse replica[2]; /* OPEN: by HgSide, the same of graph replicas that are sides; but for
							  * the pointer in it, which is NULL, as in all that follows */
	HgReplicaColumnSpec
		new_column; /* OPEN: the new column replica; shape.width in it is 0 for none */
	HgReplicaColumnUse replica_columns[2][HG_MAX_COLUMNS]; /* OPEN: of sides that are replicas, as
															* many as the spec has columns */
} HgWireRequest;

/* OPEN. */
typedef struct HgWireOpening
{
	HgWireRequest request;
	HgReplicaLookup
		lookups[2][HG_MAX_LOOKUPS]; /* of sides that are replicas, as many as the spec says ... */
	HgProgram programs[2][HG_MAX_PROGRAMS]; /* ... and so are these */
	HgPageSpec pages[2];					/* by HgSide; page_size is 0 of one that has none */
	HgRowFilters filters[2];				/* by HgSide; nfilters is 0 of one that has none */
} HgWireOpening;

/* The blocks behind the header of an opening, the last of which may be a shorter one. */
#define HG_WIRE_BLOCK 64
#define HG_WIRE_OPENING_BYTES (sizeof(HgWireOpening) - sizeof(HgWireHeader))
#define HG_WIRE_OPENING_BLOCKS ((HG_WIRE_OPENING_BYTES + HG_WIRE_BLOCK - 1) / HG_WIRE_BLOCK)

/* An opening as it is sent. */
typedef struct HgWirePacked
{
	HgWireHeader header;								  /* length is that of what is sent */
	uint64_t present[(HG_WIRE_OPENING_BLOCKS + 63) / 64]; /* bits of blocks, others are 0 */
	unsigned char blocks[HG_WIRE_OPENING_BYTES];		  /* those that are present, in order */
} HgWirePacked;

typedef struct HgWireReply
{
	HgWireHeader header;
	HgError error;		   /* error.status is HG_OK on success */
	uint64_t count;		   /* NEXT, NEXT_GROUPS, EXPORT, TALLY, TAKE_ROWS: pairs, records,
							* elements, parts, rows in staging;
							* COUNT: matches; REDUCE: groups; BUILD of a replica: bytes that
							* it holds */
	uint64_t lease_offset; /* OPEN: the job's lease; where something is in staging: the results */
	uint64_t lease_bytes;  /* 0 where there is none */
	uint64_t nulls;		   /* NEXT, TAKE_ROWS: HG_WIRE_COLUMN of those with a NULL, whose bytes
							* are set */
	HgJobStats stats;	   /* of the job, as it is now; zero where it is none */
	HgGraphStats graph;	   /* DESCRIBE */
	HgTableMeasure table;  /* MEASURE */
	HgOffer offer;		   /* OFFER: whose descriptor is attached, and no number */
	HgMissingReplicas missing; /* OPEN: with HG_NO_REPLICA, what is not there; else all 0 */
} HgWireReply;

/* Hello, and the answer to LIST. */
typedef struct HgWireDevices
{
	HgWireHeader header;
	HgError error;			/* hello: why there is no usable device, or HG_OK */
	uint64_t staging_bytes; /* hello: size of the attached descriptor; 0 where none is */
	uint32_t count;
	uint32_t unused;	 /* 0 */
	HgEngineCosts costs; /* hello: measured by the device process; else 0 */
	HgDeviceInfo infos[HG_WIRE_MAX_DEVICES];
} HgWireDevices;

/* The answer to STATUS. */
typedef struct HgWireStatus
{
	HgWireHeader header;
	HgDeviceStatus status;
} HgWireStatus;

/* A column's bit in a set of columns. */
#define HG_WIRE_COLUMN(side, column) (UINT32_C(1) << ((side) *HG_MAX_COLUMNS + (column)))

/* Where the keys of so many edges begin behind their rows. */
static inline uint64_t
hg_wire_edge_keys(uint64_t count)
{
	return (count * sizeof(uint32_t) + 7) / 8 * 8;
}

/* Room for any message. */
typedef union HgWireMessage
{
	HgWireHeader header;
	HgWireRequest request;
	HgWireOpening opening;
	HgWirePacked packed; /* no message but on its way */
	HgWireReply reply;
	HgWireDevices devices;
	HgWireStatus status;
} HgWireMessage;

typedef enum HgWireResult
{
	HG_WIRE_DONE,
	HG_WIRE_NOTHING,  /* it would have to wait */
	HG_WIRE_EOF,	  /* the other end is gone */
	HG_WIRE_NONSENSE, /* what arrived is no message of this version */
	HG_WIRE_ERROR	  /* see errno */
} HgWireResult;

/*
 * Fill in the header of a message, whose other bytes the caller has zeroed.
 */
extern void hg_wire_header(HgWireHeader *header, HgWireType type, uint32_t job, uint64_t sequence);

/*
 * Send a message whole, an opening packed, without waiting and without SIGPIPE.  attached is a
 * descriptor to send along, or -1.
 */
extern HgWireResult hg_wire_send(int fd, const HgWireMessage *message, int attached);

/*
 * Say hello for a device process that has no device, and why.  It can end afterwards: the client
 * reads the message all the same.
 */
extern void hg_wire_decline(int fd, const HgError *error);

/*
 * Receive one message, an opening unpacked, without waiting.  *attached is the descriptor that came
 * along (close-on-exec, the caller's), or -1: always -1 unless HG_WIRE_DONE.
 */
extern HgWireResult hg_wire_receive(int fd, HgWireMessage *message, int *attached);

/* The bits of all columns of a job. */
extern uint32_t hg_wire_columns(const HgJobSpec *spec);

/* Bytes of a match with its values of a set of columns. */
extern uint64_t hg_wire_match_bytes(const HgJobSpec *spec, uint32_t columns);

/*
 * Lay out matches with their values of a set of columns in bytes of results, which begin where 64
 * bits can be: all members but count are set.
 */
extern void hg_wire_place_matches(const HgJobSpec *spec, uint32_t columns, unsigned char *results,
								  uint64_t bytes, HgMatches *matches);

/* Bytes of a row of a side on its way from one shard to another. */
extern uint64_t hg_wire_row_bytes(const HgJobSpec *spec, HgSide side);

/*
 * Lay such rows out, a multiple of 8 of them, where 64 bits can be: all members but count and
 * has_nulls are set.
 */
extern void hg_wire_place_rows(const HgJobSpec *spec, HgSide side, uint64_t capacity,
							   unsigned char *at, HgExchangeRows *rows);

/* Does the process at the other end run under our user id? */
extern bool hg_wire_peer_is_trusted(int fd);

#endif /* HG_WIRE_H */
