/*-------------------------------------------------------------------------
 *
 * hg_wire.h
 *	  Messages and staging layout between a session and the device process.
 *
 * FRAMING
 *
 * The two ends share a connected Unix socket of type SOCK_SEQPACKET: a message is received whole
 * or not at all.  Every message is one of five structs in native byte order and layout (both ends
 * come from one build on one machine), and starts with an HgWireHeader.  All have a fixed size,
 * except OPEN, which is sent packed.  The receiver checks magic, version, type and length.  A
 * message that fails the check ends the connection; there is no resynchronisation.
 *
 * HgWireOpening has room for all parameters of a job, 23 kB, nearly all of which is 0.  It is sent
 * as HgWirePacked: what follows the header is divided into blocks, and blocks of zeros are left
 * out.
 *
 * TWO WAYS TO RUN
 *
 * A private device process serves one connection, that of the session which started it, and ends
 * with it.  A server's device process was started by a supervising process.  It has a control
 * connection to that process, and a listening socket on which any number of sessions connect, each
 * served by a thread of its own.  Both kinds speak the same messages, except that the control
 * connection has no staging area and no jobs.  Its requests, LIST and STATUS, are answered at once
 * whatever jobs do.  A supervisor that gets no answer there knows that the process hangs.
 *
 * A peer that breaks a rule of this page ends its own connection, and no other.  The end of the
 * control connection, or a failing device, ends the process.
 *
 * WHO SENDS WHAT WHEN
 *
 *	hello		The device process, once, as its first message: when its device is ready, with
 *				the staging area's descriptor attached unless it is the control connection; or
 *				when it knows that there is no device, with the reason.  Until then the client
 *				regards it as starting and sends nothing.
 *	request		The client.  Each has a sequence number, one more than the last.
 *	reply,		The device process: exactly one for each request, in the order and with the
 *	devices,	sequence number of the requests, whether the request succeeded, failed or was
 *	status		cancelled.  HG_DEVICE_FAILED is the last answer: the process is of no more
 *				use and ends.
 *	note		The client: CANCEL stops the running or queued request of a job (which is then
 *				answered with HG_CANCELLED) and fails all later ones.  CLOSE frees the job, even
 *				while a request of it runs.  RELEASE frees results in staging.  DROP drops a
 *				replica.  Notes are not answered; they carry the sequence number of the last
 *				request.
 *
 * Requests are answered one at a time, and the client waits for each answer before it goes on,
 * with these exceptions.  After APPEND and similar requests it fills the other slot of its lease,
 * and reads the answer when it needs the slot again.  After BUILD, MATCH, COUNT, REDUCE and
 * SEND_ROWS it may go on with another job.  After the OPEN of a job whose keys are not complete it
 * may do other work, but sends no other request on this connection until that is answered.
 *
 * While requests wait, the device process also reads the messages after them, to find notes.  A
 * client that stops waiting, for example because its query was cancelled, sends a note and may
 * start another job at once.  It recognises the answer that it did not wait for by its sequence
 * number, and drops it.  A connection can have any number of open jobs; the client numbers them.
 *
 * SHARED JOBS
 *
 * The connections of several processes can do one job together, as its participants: they open it
 * with the same HgJobSpec.participants_id, which no other job has.  The first participant is
 * admitted, in its turn, with the expected rows of all; the others wait for that, and share the
 * result.  Each has a lease of its own, appends its rows with APPEND_ROWS and APPEND_COLUMN, or
 * APPEND_PAGES, and closes the job for itself; the job ends with the last.  Keys, columns and
 * pages have the same layout for all participants.  The clients ensure that all rows are appended
 * before the first BUILD, and to this process: a process that replaced another one has none of the
 * other's rows.  The answer to BUILD has the rows of all participants.
 *
 * A request that several participants send is carried out once.  Later senders of BUILD, COUNT and
 * MATCH get the answer of the first.  The first sender of REDUCE gets all groups, the others 0.
 * NEXT gives each chunk to one participant, and an outer row may have its matches in several
 * chunks.  A request that fails for one participant, unless because it was invalid, fails the job
 * for all; a cancel affects only its sender.
 *
 * A participant that has appended all of its rows sends END_APPEND, and has no lease after the
 * answer.  A participant waits for free staging even if its group has other jobs open.  This
 * cannot deadlock: the holders of staging free it without waiting.
 *
 * TABLES
 *
 * A job whose OPEN names a table gets MEASURE in place of BUILD, and no other request after its
 * keys.  It is admitted with the least device memory that its keys and the table need.
 *
 * REPLICAS
 *
 * A job whose OPEN names a new graph replica (engine/hg_replica.h) gets its edges by PUT_EDGES,
 * and one that names a new column its values by PUT_VALUES.  BUILD makes the replica.  From then
 * on the device process has a replica of that name: this one, or another that was made under that
 * name meanwhile.  Replicas share a limited part of device memory.  When that is full, or when
 * jobs need the memory, the least recently used replicas that no job uses are evicted.  DROP drops
 * a replica: jobs cannot find it any more, and its memory is freed when no job uses it.  A replica
 * larger than that part of the memory, or than open jobs leave of it, is refused with
 * HG_DEVICE_OUT_OF_MEMORY.  DROP of a graph also drops its columns.  A graph and its columns are
 * not evicted for each other.
 *
 * A job whose OPEN names graph replicas has them as sides, with the columns that it names of them.
 * The job is refused with HG_NO_REPLICA, at once or in its turn, if one of them is missing or has
 * another shape.  The same applies to the graphs of lookups.  The answer names what is missing.
 * An admitted job keeps its replicas until it is closed.  MASK says which rows of the graphs
 * count, and so do filters (engine/hg_row_filter.h), whose columns are named and kept likewise.
 * Columns with a program have no name, and are computed (engine/hg_computed.h).  BUILD is answered
 * with HG_NOT_UNIQUE if a row that looks up finds two rows, and with HG_OVERFLOW if a number
 * computed for a column or by a filter overflows.
 *
 * In answers a job that makes a replica has no rows, and a side that is a graph replica has the
 * rows of the replica, whatever masks and lookups say.
 *
 * These requests are invalid:
 *
 * - to name a replica with serial 0, a graph by a column's number, a column without one, or a
 *   computed column;
 *
 * - to name columns, lookups or filters of a side that is no graph replica;
 *
 * - to append keys or columns to a side that is a graph replica;
 *
 * - to put values beyond the ordinals of a column;
 *
 * - to send a job that makes a replica anything but PUT_EDGES or PUT_VALUES, END_APPEND and BUILD.
 *
 * PAGES
 *
 * A side whose OPEN describes pages (engine/hg_pages.h) gets them by APPEND_PAGES, and no keys or
 * columns.  BUILD is answered with HG_BAD_PAGE if a page is damaged; in a shared job all later
 * requests are, too.  Before BUILD, the row count of such a side in answers is an upper bound: the
 * rows that the pages have room for.  After BUILD it is the real number.
 *
 * SHARDS
 *
 * A job whose OPEN says that it is a shard (HG_PRODUCT_SHARD, engine/hg_exchange.h) is admitted
 * with its expected rows and the memory of their exchange.  It gets TALLY, EXPECT, TAKE_ROWS,
 * PUT_ROWS and ARRIVED before BUILD; no other job does.  The other shards are jobs of other
 * connections, mostly to other processes, and shards know nothing of each other.  The client moves
 * rows from one to another.  Or it makes a shard open a peer window by PEER_WINDOW, whose answer
 * has a descriptor attached, and attaches that to SEND_ROWS for another shard
 * (engine/hg_peer_window.h).  Both may be answered with HG_INVALID, and the client may go on to
 * another job before SEND_ROWS is answered.  An answer or request whose descriptor is missing does
 * no harm and has no effect: a process without a free descriptor number does not receive it.
 * EXPECT reserves memory for more rows than were expected.  No memory is reserved for a peer
 * window.  It is opened only while there is room.  In answers the job has the rows that it was
 * sent until ARRIVED, and then its share.  A built shard may be idle for longer than other jobs
 * before it is evicted: its client may be reading from the other shards.
 *
 * THE QUEUE
 *
 * OPEN is answered when the job is admitted: when the device memory for its expected rows is not
 * reserved by other jobs, and a part of staging is free.  Until then it waits in a FIFO queue;
 * small jobs do not overtake large ones.  Two kinds of jobs never wait: a job larger than the
 * whole budget, and a job whose group (HgJobSpec) or connection has another job open, because what
 * it waited for might wait for it.  Instead of waiting, both are refused with
 * HG_DEVICE_OUT_OF_MEMORY, as a smaller job may work.  A job opened ahead (HgJobSpec), while
 * another of its connection is at work, is also refused if any job waits.  So no client holds a
 * resource while it waits in the queue, and deadlocks are impossible.
 *
 * A job may get more rows than were expected.  Their memory is reserved as they are appended; if
 * other jobs have reserved it, the append fails with HG_DEVICE_OUT_OF_MEMORY.
 *
 * A built job without a request for some seconds is evicted if a queued job needs its memory: its
 * device memory is freed, and further requests are answered with HG_EVICTED.  The client closes it
 * and may open another, which waits in the queue.  A job that was opened ahead and is not built is
 * evicted likewise if its whole connection has been idle; its lease stays until the client closes
 * it.  No shared job is evicted, nor one whose group or connection has another job open, because
 * its client could not wait beside that.
 *
 * STAGING
 *
 * One memfd, made and sized by the device process, sealed against shrinking and growing, and
 * mapped by both ends.  The device process decides which part belongs to whom:
 *
 *	lease		The answer to OPEN names a part of staging that belongs to the job until its
 *				BUILD, MEASURE or END_APPEND is answered or it is closed.  The client divides
 *				it into two slots, used in turn, and APPEND names the offset at which the device
 *				process reads keys.  A slot is busy from the sending of the request that names
 *				it until the answer arrives.
 *	results		The answers to NEXT, NEXT_GROUPS, EXPORT, TALLY and TAKE_ROWS name a part of
 *				staging that holds the results.  It belongs to the client until its next
 *				message; a client without another message sends RELEASE.  Results are copied
 *				out before a call returns, so that between calls no job occupies that part.
 *
 * Three quarters of staging are for leases and one for results.  A request that waits for room for
 * results waits only for other clients' copying.  The layout there:
 *
 *	APPEND, APPEND_ROWS
 *				keys[count], key_width bytes each
 *	APPEND_COLUMN
 *				values[count] of the column's width, then, if nulls is set, a byte for each
 *				of them, not 0 where it is NULL
 *	APPEND_PAGES
 *				pages[count], each of the side's page_size
 *	NEXT		outer[n], inner[n], 32 bits each, and for each requested column, the outer side's
 *				first, values[n] of its width and then nulls[n], a byte each.  n is the greatest
 *				multiple of 8 that fits; the first count entries (the answer's) of each array are
 *				set (hg_wire_lay_out_matches)
 *	NEXT_GROUPS	records[count] of the last REDUCE, from lease_offset on (hg_reduce.h)
 *	EXPORT		elements first .. first + count - 1 of one array of the graph; the answer's
 *				count may be smaller than requested
 *	PUT_EDGES	rows[count], 32 bits each, and from the next multiple of 8 bytes on keys[count],
 *				of the graph replica's key width
 *	PUT_VALUES	as APPEND_COLUMN, with the first ordinal for a row number
 *	MASK		words[count], 64 bits each, unless they are all 0
 *	TALLY		counts[HG_EXCHANGE_PARTS], 64 bits each
 *	TAKE_ROWS, PUT_ROWS
 *				keys[n], key_width bytes each, numbers[n], 32 bits each, and for each column of the
 *				side values[n] of its width and then nulls[n], a byte each.  NULL bytes are set
 *				only for columns in the answer's nulls (TAKE_ROWS) or the request's columns
 *				(PUT_ROWS).  n is in results the greatest multiple of 8 that fits, and in a lease
 *				count rounded up to a multiple of 8.  The first count entries of each array are set
 *				(hg_wire_lay_out_rows)
 *
 * WHAT IS TRUSTED
 *
 * Both ends check that the peer runs under their own user id.  Beyond that no end trusts the
 * other.  Offsets and lengths are 64-bit, and each end checks them before use: the device process
 * against the job's lease, the client against staging and its request.  Other numbers are checked
 * for plausibility (hg_wire_answer.c says what a client detects, and what it believes).  The other
 * end may write to staging at any time: a reader copies data first, checks the copy and uses that,
 * and a writer does not read back what it wrote there.  All clients map the whole of staging.  They
 * are processes of one PostgreSQL server, which share its buffers too.
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
#include "../hg_peer_window.h"
#include "../hg_pages.h"
#include "../hg_row_filter.h"
#include "../hg_table_measure.h"
#include "hg_wire_client.h"

#define HG_WIRE_MAGIC UINT32_C(0x48475752)
#define HG_WIRE_VERSION 16

/* Offsets and lengths of leases and results are multiples of this. */
#define HG_WIRE_PAGE UINT64_C(4096)

/*
 * Maximum bytes of a slot, or of the results of one answer.  Copying them must take about a
 * millisecond at most, because cancellation is polled only in between.
 */
#define HG_WIRE_SLOT_MAX (UINT64_C(8) << 20)

/* Minimum bytes of staging; less would make no useful slots. */
#define HG_WIRE_STAGING_MIN (UINT64_C(64) << 10)

typedef enum HgWireType
{
	/* device process to client */
	HG_WIRE_HELLO = 1, /* HgWireDevices */
	HG_WIRE_DEVICES,   /* HgWireDevices: the answer to HG_WIRE_LIST */
	HG_WIRE_LOAD,	   /* HgWireStatus: the answer to HG_WIRE_STATUS */
	HG_WIRE_REPLY,	   /* HgWireReply: the answer to any other request */

	/* client to device process, all HgWireRequest except OPEN: requests */
	HG_WIRE_LIST,	/* of devices; for no job */
	HG_WIRE_STATUS, /* of the process; for no job */
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
	HG_WIRE_PEER_WINDOW,
	HG_WIRE_SEND_ROWS,

	/* client to device process: notes */
	HG_WIRE_CANCEL,
	HG_WIRE_CLOSE,
	HG_WIRE_RELEASE,
	HG_WIRE_DROP /* for no job */
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
	uint32_t job;	   /* the client's number of the job, from 1; 0 for no job */
	uint64_t sequence; /* of the request, from 1; hello: 0 */
} HgWireHeader;

/* A message of a client, or its beginning.  Members that its type does not use are 0. */
typedef struct HgWireRequest
{
	HgWireHeader header;
	HgJobSpec spec;	  /* OPEN; all pointers are NULL */
	uint32_t side;	  /* APPEND, TALLY and the like, DESCRIBE, EXPORT, MASK: HgSide */
	uint32_t mode;	  /* MATCH, COUNT, REDUCE: HgMatchMode */
	uint32_t part;	  /* EXPORT: HgWirePart */
	uint32_t column;  /* APPEND_COLUMN */
	uint32_t nulls;	  /* APPEND_COLUMN, PUT_VALUES: 1 if NULL bytes follow the values, else 0 */
	uint32_t zero;	  /* MASK: 1 if the words are all 0 and not in staging, else 0 */
	uint32_t lookup;  /* MASK: 0 for the side itself; n: for rows that lookup n - 1 looks up */
	uint32_t columns; /* HG_WIRE_COLUMN bits: NEXT: columns whose values are requested; PUT_ROWS:
					   * columns with a NULL, whose bytes are set */
	uint32_t shard;	  /* TAKE_ROWS, SEND_ROWS: the shard whose rows are requested or sent */
	uint32_t unused;  /* 0 */
	uint64_t offset;  /* APPEND and the like, PUT_EDGES, PUT_VALUES, MASK, PUT_ROWS: in staging, a
					   * multiple of 8 */

	/*
	 * APPEND and the like, PUT_EDGES, PUT_VALUES, MASK, PUT_ROWS: number of keys, values, pages,
	 * edges, words, rows.  NEXT, NEXT_GROUPS, EXPORT, TALLY, TAKE_ROWS: maximum number of pairs,
	 * records, elements, parts, rows requested.
	 */
	uint64_t count;

	/*
	 * APPEND_ROWS, APPEND_COLUMN: row number of the first key or value.  APPEND_PAGES: ordinal of
	 * the first page.  PUT_VALUES: ordinal of the first value.  EXPORT: the first element.  MASK:
	 * the first word.
	 */
	uint64_t first;
	HgReduceSpec reduce; /* REDUCE */
	HgExchange exchange; /* EXPECT */
	HgPeerWindow
		window; /* SEND_ROWS: that shard's window; memory is 0, the descriptor is attached */
	HgTableTrial trial;		   /* OPEN: the table to measure, if spec.product is one */
	HgReplicaSpec new_replica; /* OPEN: likewise the new graph replica; DROP: a name, which may be a
								* column's */
	HgReplicaColumnSpec new_column; /* OPEN: likewise the new column replica */

	/* OPEN: by HgSide, of sides that are graph replicas.  Pointers from here on are NULL. */
	HgReplicaUse replica[2];
	HgReplicaColumnUse replica_columns[2][HG_MAX_COLUMNS]; /* OPEN: likewise */
} HgWireRequest;

/* The message OPEN. */
typedef struct HgWireOpening
{
	HgWireRequest request;
	HgReplicaLookup lookups[2][HG_MAX_LOOKUPS]; /* [nlookups], of replica sides */
	HgProgram programs[2][HG_MAX_PROGRAMS];		/* [nprograms], likewise */
	HgPageSpec pages[2];						/* by HgSide, of sides that come as pages */
	HgRowFilters filters[2];					/* by HgSide; nfilters is 0 for a side without */
} HgWireOpening;

/* The blocks that follow the header of an opening; the last one may be shorter. */
#define HG_WIRE_BLOCK 64
#define HG_WIRE_OPENING_BYTES (sizeof(HgWireOpening) - sizeof(HgWireHeader))
#define HG_WIRE_OPENING_BLOCKS ((HG_WIRE_OPENING_BYTES + HG_WIRE_BLOCK - 1) / HG_WIRE_BLOCK)

/* An opening as it is sent. */
typedef struct HgWirePacked
{
	HgWireHeader header; /* length is that of the packed message */
	uint64_t present[(HG_WIRE_OPENING_BLOCKS + 63) /
					 64];						 /* a bit for each block; blocks without are 0 */
	unsigned char blocks[HG_WIRE_OPENING_BYTES]; /* the present blocks, in order */
} HgWirePacked;

typedef struct HgWireReply
{
	HgWireHeader header;
	HgError error; /* error.status is HG_OK on success */

	/*
	 * NEXT, NEXT_GROUPS, EXPORT, TALLY, TAKE_ROWS: number of pairs, records, elements, parts, rows
	 * in staging.  COUNT: matches.  REDUCE: groups.  BUILD of a replica: bytes that it holds.
	 */
	uint64_t count;
	uint64_t lease_offset; /* OPEN: the job's lease; other answers: the results in staging */
	uint64_t lease_bytes;  /* 0 if there are none */
	uint64_t nulls; /* NEXT, TAKE_ROWS: HG_WIRE_COLUMN bits of columns with a NULL, whose bytes are
					 * set */
	HgJobStats stats;		   /* current statistics of the job; zero if there is none */
	HgGraphStats graph;		   /* DESCRIBE */
	HgTableMeasure table;	   /* MEASURE */
	HgPeerWindow window;	   /* PEER_WINDOW: memory is 0; the descriptor is attached */
	HgMissingReplicas missing; /* OPEN, with HG_NO_REPLICA: what is missing; else all 0 */
} HgWireReply;

/* Hello, and the answer to LIST. */
typedef struct HgWireDevices
{
	HgWireHeader header;
	HgError error;			/* hello: why there is no usable device, or HG_OK */
	uint64_t staging_bytes; /* hello: size of the attached staging; 0 if none is attached */
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

/* The bit of a column in a set of columns. */
#define HG_WIRE_COLUMN(side, column) (UINT32_C(1) << ((side) *HG_MAX_COLUMNS + (column)))

/* Returns the offset of the keys of count edges, behind their rows. */
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
	HgWirePacked packed; /* an opening in transfer */
	HgWireReply reply;
	HgWireDevices devices;
	HgWireStatus status;
} HgWireMessage;

typedef enum HgWireResult
{
	HG_WIRE_DONE,
	HG_WIRE_NOTHING,  /* it would have to wait */
	HG_WIRE_EOF,	  /* the other end is gone */
	HG_WIRE_NONSENSE, /* no valid message of this version */
	HG_WIRE_ERROR	  /* see errno */
} HgWireResult;

/* Fills in the header of a message, with the length of its type.  The caller zeroes the rest. */
extern void hg_wire_header(HgWireHeader *header, HgWireType type, uint32_t job, uint64_t sequence);

/*
 * Sends a message, an opening packed, without waiting or SIGPIPE.  attached is a descriptor that
 * goes along and stays the caller's, or -1.  HG_WIRE_NOTHING: the socket has no room for it.
 */
extern HgWireResult hg_wire_send(int fd, const HgWireMessage *message, int attached);

/*
 * Sends the hello of a device process that has no device, with the reason.  The process can end
 * afterwards: the client still reads the message.
 */
extern void hg_wire_decline(int fd, const HgError *error);

/*
 * Receives one message, an opening unpacked, without waiting.  HG_WIRE_NOTHING: none has arrived.
 * *attached is the descriptor that came along (close-on-exec, owned by the caller), or -1; always
 * -1 unless HG_WIRE_DONE.
 */
extern HgWireResult hg_wire_receive(int fd, HgWireMessage *message, int *attached);

/* Returns the HG_WIRE_COLUMN bits of all columns of a job. */
extern uint32_t hg_wire_columns(const HgJobSpec *spec);

/* Returns the bytes of a match: two row numbers, and each column's value and NULL byte. */
extern uint64_t hg_wire_match_bytes(const HgJobSpec *spec, uint32_t columns);

/*
 * Makes the arrays of *matches point into results[bytes], aligned to 8: row numbers, and values of
 * a set of columns.  capacity becomes the number of matches that fit, and count 0.
 */
extern void hg_wire_lay_out_matches(const HgJobSpec *spec, uint32_t columns, unsigned char *results,
									uint64_t bytes, HgMatches *matches);

/* Returns the bytes of a row in TAKE_ROWS or PUT_ROWS: key, number, values and NULL bytes. */
extern uint64_t hg_wire_row_bytes(const HgJobSpec *spec, HgSide side);

/*
 * Makes the arrays of *rows point into memory from at on, aligned to 8, for capacity rows in
 * TAKE_ROWS or PUT_ROWS, a multiple of 8.  count becomes 0 and has_nulls false.
 */
extern void hg_wire_lay_out_rows(const HgJobSpec *spec, HgSide side, uint64_t capacity,
								 unsigned char *at, HgExchangeRows *rows);

/*
 * Returns true if the process at the other end of the socket runs under our effective user id;
 * false also if that cannot be found out.
 */
extern bool hg_wire_peer_is_trusted(int fd);

#endif /* HG_WIRE_H */
