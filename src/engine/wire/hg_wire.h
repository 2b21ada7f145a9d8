/*-------------------------------------------------------------------------
 *
 * hg_wire.h
 *	  Messages and staging layout between a session and the device process.
 *
 * FRAMING
 *
 * The two ends share a connected Unix socket of type SOCK_SEQPACKET: what is sent
 * is received whole or not at all.  Every message is one of three structs of fixed
 * size, native byte order and layout (both ends come from one build on one
 * machine), that starts with an HgWireHeader.  Magic, version, type and length are
 * checked on receipt, and a message that fails ends the connection: nothing is
 * resynchronised.
 *
 * WHO SENDS WHAT WHEN
 *
 *	hello		The device process, once, as its first message: when its device is
 *				ready, with the staging area's descriptor attached, or when it knows
 *				that there is none, with the reason.  Until then the client regards
 *				it as starting and sends nothing.
 *	request		The client.  Each has a sequence number, one more than the last.
 *	reply,		The device process: exactly one for each request, in the order and
 *	devices		with the sequence number of the requests, whether the request did
 *				its work, failed or was cancelled.  HG_DEVICE_FAILED is the last
 *				answer: the process, of no more use, ends.
 *	note		The client: CANCEL stops the request that runs for a job (which
 *				is then answered with HG_CANCELLED) and fails all later ones; CLOSE
 *				frees the job, whatever runs for it.  Notes are not answered and carry
 *				the sequence number of the last request.
 *
 * Requests are answered one at a time.  The client waits for each answer before it
 * goes on, but for APPEND: there it goes on filling the next slot of the staging
 * area, and looks at the answer when it needs the slot again.  A client that stops
 * waiting (its query was cancelled, say) sends a note and may start another job at
 * once: the answer that it did not wait for is recognised by its sequence number
 * when it arrives, and dropped.  A connection can have any number of open jobs; the
 * client numbers them.
 *
 * STAGING
 *
 * One memfd, made and sized by the device process, sealed against shrinking and
 * growing, and mapped by both.  The client decides what lies where: requests carry
 * the offset at which the device process shall read keys (APPEND) or write results
 * (NEXT, EXPORT), and nothing in staging is kept beyond the request.  The client
 * cuts the area into two slots, used in turn.  A slot is busy from the sending of the
 * request that names it until that request's answer has arrived: also where nobody
 * waits for the answer any more, because until then the device process may still
 * read or write there.  Results are copied out before a call returns, so that
 * between calls no job has a claim on staging.
 *
 *	APPEND		keys[count], key_width bytes each
 *	NEXT		outer[count] then inner[count], 32 bits each, where count is the
 *				capacity that was asked for; the answer says how many are filled
 *	EXPORT		elements first .. first + count - 1 of one array of the graph
 *
 * WHAT IS TRUSTED
 *
 * Both ends check that the peer runs under their own user id.  Offsets and lengths
 * are 64-bit, and each end checks them before use: the device process against the
 * staging area, the client against what it asked for.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WIRE_H
#define HG_WIRE_H

#include "hg_wire_client.h"

#define HG_WIRE_MAGIC UINT32_C(0x48475752)
#define HG_WIRE_VERSION 1

/* Devices that one message has room for. */
#define HG_WIRE_MAX_DEVICES 16

/* The client uses at most this much of a slot: copying it must stay a matter of a
 * millisecond or so, because cancellation is looked at only between slots. */
#define HG_WIRE_SLOT_MAX (UINT64_C(8) << 20)

/* Less staging than this would make no useful slots. */
#define HG_WIRE_STAGING_MIN (UINT64_C(64) << 10)

typedef enum HgWireType
{
	/* device process to client */
	HG_WIRE_HELLO = 1, /* HgWireDevices */
	HG_WIRE_DEVICES,   /* HgWireDevices: the answer to HG_WIRE_LIST */
	HG_WIRE_REPLY,	   /* HgWireReply: the answer to any other request */

	/* client to device process, all HgWireRequest: requests ... */
	HG_WIRE_LIST, /* of devices; belongs to no job */
	HG_WIRE_OPEN,
	HG_WIRE_APPEND,
	HG_WIRE_BUILD,
	HG_WIRE_MATCH,
	HG_WIRE_NEXT,
	HG_WIRE_COUNT,
	HG_WIRE_DESCRIBE,
	HG_WIRE_EXPORT,

	/* ... and notes */
	HG_WIRE_CANCEL,
	HG_WIRE_CLOSE
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

/* Everything that a client sends.  Members that a type does not name are 0. */
typedef struct HgWireRequest
{
	HgWireHeader header;
	HgJobSpec spec;	 /* OPEN */
	uint32_t side;	 /* APPEND, DESCRIBE, EXPORT: HgSide */
	uint32_t mode;	 /* MATCH, COUNT: HgMatchMode */
	uint32_t part;	 /* EXPORT: HgWirePart */
	uint32_t unused; /* 0 */
	uint64_t offset; /* APPEND, NEXT, EXPORT: in staging, a multiple of 8 */
	uint64_t count;	 /* APPEND, NEXT, EXPORT: keys, pairs, elements */
	uint64_t first;	 /* EXPORT: the first element wanted */
} HgWireRequest;

typedef struct HgWireReply
{
	HgWireHeader header;
	HgError error;		/* error.status is HG_OK on success */
	uint64_t count;		/* NEXT: pairs in staging; COUNT: matches */
	HgJobStats stats;	/* of the job, as it is now; zero where it is none */
	HgGraphStats graph; /* DESCRIBE */
} HgWireReply;

/* Hello, and the answer to LIST. */
typedef struct HgWireDevices
{
	HgWireHeader header;
	HgError error;			/* hello: why there is no usable device, or HG_OK */
	uint64_t staging_bytes; /* hello: size of the attached descriptor; 0 for none */
	uint32_t count;
	uint32_t unused; /* 0 */
	HgDeviceInfo infos[HG_WIRE_MAX_DEVICES];
} HgWireDevices;

/* Room for any message. */
typedef union HgWireMessage
{
	HgWireHeader header;
	HgWireRequest request;
	HgWireReply reply;
	HgWireDevices devices;
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
 * Send a message whole, without waiting and without SIGPIPE.  attached is a descriptor
 * to send along, or -1.
 */
extern HgWireResult hg_wire_send(int fd, const HgWireMessage *message, int attached);

/*
 * Receive one message, without waiting.  *attached is the descriptor that came along
 * (close-on-exec, the caller's), or -1: always -1 unless HG_WIRE_DONE.
 */
extern HgWireResult hg_wire_receive(int fd, HgWireMessage *message, int *attached);

/* Look at the header of the next message, leaving it where it is. */
extern HgWireResult hg_wire_peek(int fd, HgWireHeader *header);

/* Does the process at the other end run under our user id? */
extern bool hg_wire_peer_is_trusted(int fd);

#endif /* HG_WIRE_H */
