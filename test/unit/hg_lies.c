/*-------------------------------------------------------------------------
 *
 * hg_lies.c
 *	  Lies on the wire: one end says what is not so, or writes where the other one reads.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* usleep */
#endif

#include "hg_lies.h"

#include "../../src/engine/hg_hash.h"
#include "../../src/engine/hg_reduce.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Connections whose requests are remembered, and how many of each. */
#define CONNECTIONS 1024
#define REQUESTS 16

typedef enum Kind
{
	LIES_NONE,
	LIES_ROW,
	LIES_TWICE,
	LIES_COUNT,
	LIES_FEWER,
	LIES_SEEN,
	LIES_ANY,
	LIES_MEMORY,
	LIES_KINDS
} Kind;

static const char *const kind_names[LIES_KINDS] = {"none",	"row",	"twice", "count",
												   "fewer", "seen", "any",	 "memory"};

static _Atomic int kind;
static unsigned one_in;
static unsigned char *area;
static uint64_t area_bytes;
static _Atomic uint64_t drawn;
static _Atomic uint64_t told;
static pthread_t scribbler;

/* What the other end has asked for: its last requests, and the words of its records. */
static struct
{
	HgWireRequest requests[REQUESTS];
	uint32_t record_words;
	uint32_t record_pairs; /* the word of a record that tells of its pairs */
} heard[CONNECTIONS];

extern HgWireResult __real_hg_wire_send(int fd, const HgWireMessage *message, int attached);
extern HgWireResult __wrap_hg_wire_send(int fd, const HgWireMessage *message, int attached);
extern HgWireResult __real_hg_wire_receive(int fd, HgWireMessage *message, int *attached);
extern HgWireResult __wrap_hg_wire_receive(int fd, HgWireMessage *message, int *attached);

uint64_t
hg_lies_random(void)
{
	return hg_mix64(atomic_fetch_add(&drawn, 1) * UINT64_C(0x9E3779B97F4A7C15));
}

void
hg_lies_seed(uint64_t seed)
{
	atomic_store(&drawn, seed << 32);
}

uint64_t
hg_lies_told(void)
{
	return atomic_load(&told);
}

static uint64_t
below(uint64_t end)
{
	return hg_lies_random() % end;
}

/* Another value for a word of so many bits: one that is likely to do harm. */
static uint64_t
altered(uint64_t value, unsigned bits)
{
	uint64_t lie;

	switch (below(8))
	{
		case 0:
			lie = value + 1;
			break;
		case 1:
			lie = value - 1;
			break;
		case 2:
			lie = value ^ UINT64_C(1) << below(bits);
			break;
		case 3:
			lie = 0;
			break;
		case 4:
			lie = UINT64_MAX - below(32);
			break;
		case 5:
			lie = UINT64_C(1) << below(bits);
			break;
		case 6:
			lie = below(64);
			break;
		default:
			lie = hg_lies_random();
	}
	return bits == 32 ? (uint32_t) lie : lie;
}

/* Alter a word of memory, of 4 or 8 bytes. */
static void
alter_word(unsigned char *memory, uint64_t bytes)
{
	uint64_t wide;
	uint32_t narrow;

	if (bytes >= sizeof(wide) && below(2) == 0)
	{
		memory += below(bytes / sizeof(wide)) * sizeof(wide);
		memcpy(&wide, memory, sizeof(wide));
		wide = altered(wide, 64);
		memcpy(memory, &wide, sizeof(wide));
	}
	else if (bytes >= sizeof(narrow))
	{
		memory += below(bytes / sizeof(narrow)) * sizeof(narrow);
		memcpy(&narrow, memory, sizeof(narrow));
		narrow = (uint32_t) altered(narrow, 32);
		memcpy(memory, &narrow, sizeof(narrow));
	}
}

/* A number that is neither this one nor far from what a row's could be. */
static uint32_t
no_row(void)
{
	return UINT32_MAX - (uint32_t) below(UINT64_C(1) << 31);
}

/* Is this a part of staging? */
static bool
lies_in_area(uint64_t offset, uint64_t bytes)
{
	return offset <= area_bytes && bytes <= area_bytes - offset;
}

/* ------------------------------------------------------------------------
 * What a client must see through
 * ------------------------------------------------------------------------ */

/* A match has a row that does not exist. */
static void
lie_about_rows(const HgWireRequest *request, const HgWireReply *reply)
{
	uint32_t *outer = (uint32_t *) (area + reply->lease_offset);
	uint32_t *rows = outer;

	/* where the inner rows begin is known without columns */
	if (request->columns == 0 && below(2) == 0)
		rows += reply->lease_bytes / (2 * sizeof(uint32_t)) / 8 * 8;
	rows[below(reply->count)] = no_row();
}

/*
 * Numbers that a client compares with each other are altered by bits of their own: two lies that
 * agree would have to be believed.
 */
#define ALTERED_COUNT (UINT64_C(1) << below(24))
#define ALTERED_SUM (UINT64_C(1) << (32 + below(32)))

/* More matches than any rows of a test can have. */
#define MANY (UINT64_C(1) << 40)

/* A group has another number of pairs. */
static void
lie_about_groups(int fd, const HgWireReply *reply)
{
	uint64_t *records = (uint64_t *) (area + reply->lease_offset);

	records[below(reply->count) * heard[fd].record_words + heard[fd].record_pairs] ^= ALTERED_COUNT;
}

/* The first outer row of a chunk comes once more, behind another one. */
static void
repeat_row(const HgWireReply *reply)
{
	uint32_t *outer = (uint32_t *) (area + reply->lease_offset);

	for (uint64_t i = 2; i < reply->count; i++)
		if (outer[i - 1] != outer[0])
		{
			outer[i] = outer[0];
			break;
		}
}

/* Matches are more by MANY than they are, whatever tells of them. */
static void
exaggerate(int fd, const HgWireRequest *request, HgWireReply *reply)
{
	if (reply->error.status != HG_OK)
		return;
	if (request->header.type == HG_WIRE_COUNT)
		reply->count += MANY;
	if (request->header.type == HG_WIRE_COUNT || request->header.type == HG_WIRE_REDUCE)
		reply->stats.matches += MANY;
	if (request->header.type == HG_WIRE_NEXT_GROUPS && reply->count > 0)
		((uint64_t *) (area + reply->lease_offset))[heard[fd].record_pairs] += MANY;
}

/* Returns whether there was anything to lie about. */
static bool
lie_about_results(int fd, const HgWireRequest *request, const HgWireReply *reply)
{
	if (reply->error.status != HG_OK || reply->count == 0 || request->spec.participants_id != 0)
		return false;
	if (request->header.type == HG_WIRE_NEXT)
		lie_about_rows(request, reply);
	else if (request->header.type == HG_WIRE_NEXT_GROUPS && heard[fd].record_words > 0)
		lie_about_groups(fd, reply);
	else
		return false;
	return true;
}

/* The header is not what was agreed on.  A message is not sent longer than it is. */
static void
lie_about_header(HgWireHeader *header)
{
	switch (below(6))
	{
		case 0:
			header->magic ^= 1 + (uint32_t) below(UINT32_MAX);
			break;
		case 1:
			header->version ^= 1 + (uint16_t) below(UINT16_MAX);
			break;
		case 2:
			header->type ^= 1 + (uint16_t) below(UINT16_MAX);
			break;
		case 3:
			header->length -= 1 + (uint32_t) below(header->length - 1);
			break;
		case 4:
			header->job ^= 1 + (uint32_t) below(UINT32_MAX);
			break;
		default:
			header->sequence ^= 1 + below(UINT64_MAX);
	}
}

/* A status that the answer has not. */
static HgStatus
another_status(void)
{
	return (HgStatus) (below(2) == 0 ? 1 + below(HG_CONNECTION_LOST) : 1 + below(INT32_MAX));
}

static void
lie_about_lease(HgWireReply *reply)
{
	switch (below(3))
	{
		case 0:
			reply->lease_offset += 1 + below(HG_WIRE_PAGE - 1);
			break;
		case 1:
			reply->lease_offset += (area_bytes / HG_WIRE_PAGE + below(1 << 20)) * HG_WIRE_PAGE;
			break;
		default:
			reply->lease_bytes += area_bytes + below(UINT64_MAX / 2);
	}
}

/* A table is not what can be made of the keys. */
static void
lie_about_table(HgTableMeasure *measure)
{
	switch (below(4))
	{
		case 0:
			measure->build_ns = below(2) == 0 ? -1 : INFINITY;
			break;
		case 1:
			measure->stats.rows ^= ALTERED_COUNT;
			break;
		case 2:
			measure->sampled ^= ALTERED_COUNT;
			break;
		default:
			measure->stats.slots = 0;
	}
}

static void
lie_about_message(const HgWireRequest *request, HgWireMessage *message)
{
	HgWireReply *reply = &message->reply;

	if (message->header.type != HG_WIRE_REPLY || reply->error.status != HG_OK)
	{
		lie_about_header(&message->header);
		return;
	}
	if (request->header.type == HG_WIRE_MEASURE && below(2) == 0)
	{
		lie_about_table(&reply->table);
		return;
	}
	switch (below(6))
	{
		case 0:
			reply->error.status = another_status();
			memset(reply->error.message, 1 + (int) below(255), sizeof(reply->error.message));
			break;
		case 1:
			reply->count ^= ALTERED_COUNT;
			break;
		case 2:
			if (reply->lease_bytes > 0)
				lie_about_lease(reply);
			break;
		case 3:
			reply->stats.matches ^= ALTERED_SUM;
			break;
		case 4:
			reply->stats.rows[below(2)] ^= UINT64_C(1) << below(64);
			break;
		default:
			lie_about_header(&message->header);
	}
}

/* ------------------------------------------------------------------------
 * The wire
 * ------------------------------------------------------------------------ */

static void *
scribble(void *arg)
{
	(void) arg;
	while (atomic_load(&kind) == LIES_MEMORY)
	{
		for (int i = 0; i < 1000; i++)
			alter_word(area + below(area_bytes / 64) * 64, 64);
		usleep(100);
	}
	return NULL;
}

void
hg_lies_begin(const char *what, unsigned char *staging, uint64_t staging_bytes)
{
	char name[16];
	unsigned long long seed;
	int chosen = LIES_NONE;

	if (sscanf(what, "%15s %u %llu", name, &one_in, &seed) == 3)
		while (chosen < LIES_KINDS && strcmp(name, kind_names[chosen]) != 0)
			chosen++;
	if (chosen == LIES_NONE || chosen == LIES_KINDS || one_in == 0)
	{
		fprintf(stderr, "unknown lies: %s\n", what);
		exit(2);
	}
	area = staging;
	area_bytes = staging_bytes;
	hg_lies_seed(seed);
	atomic_store(&told, 0);
	atomic_store(&kind, chosen);
	if (chosen == LIES_MEMORY && pthread_create(&scribbler, NULL, scribble, NULL) != 0)
		abort();
}

void
hg_lies_end(void)
{
	if (atomic_exchange(&kind, LIES_NONE) == LIES_MEMORY)
		pthread_join(scribbler, NULL);
}

/* Is a message the device process's? */
static bool
is_answer(const HgWireHeader *header)
{
	return header->type == HG_WIRE_HELLO || header->type == HG_WIRE_DEVICES ||
		   header->type == HG_WIRE_LOAD || header->type == HG_WIRE_REPLY;
}

/* The request that an answer is to, as far as it is known. */
static const HgWireRequest *
request_of(int fd, const HgWireHeader *answer)
{
	static const HgWireRequest none;

	return fd < CONNECTIONS ? &heard[fd].requests[answer->sequence % REQUESTS] : &none;
}

/* Alter a message that is about to be sent, or its results; returns how often it is sent. */
static int
lie(int fd, HgWireMessage *message)
{
	const HgWireRequest *request = request_of(fd, &message->header);
	const HgWireReply *reply = &message->reply;
	const bool has_results = message->header.type == HG_WIRE_REPLY && reply->count > 0 &&
							 reply->lease_bytes > 0 &&
							 lies_in_area(reply->lease_offset, reply->lease_bytes);

	switch ((Kind) atomic_load(&kind))
	{
		case LIES_ROW:
			if (has_results && request->header.type == HG_WIRE_NEXT)
				*(uint32_t *) (area + reply->lease_offset) = UINT32_C(0xFFFFFFF0);
			break;
		case LIES_TWICE:
			if (has_results && request->header.type == HG_WIRE_NEXT)
				repeat_row(reply);
			break;
		case LIES_COUNT:
			if (message->header.type == HG_WIRE_REPLY)
				exaggerate(fd, request, &message->reply);
			break;
		case LIES_FEWER:
			if (has_results && request->header.type == HG_WIRE_NEXT)
				message->reply.count--;
			break;
		case LIES_SEEN:
			/* who has not greeted has said nothing yet */
			if (!is_answer(&message->header) || message->header.type == HG_WIRE_HELLO)
				return 1;
			if (below(16) == 0)
				return 2;
			if (below(2) == 0 || !has_results || !lie_about_results(fd, request, reply))
				lie_about_message(request, message);
			break;
		default:
			if (has_results && below(2) == 0)
				for (uint64_t words = 1 + below(16); words > 0; words--)
					alter_word(area + reply->lease_offset, reply->lease_bytes);
			else
				alter_word((unsigned char *) message, message->header.length);
			/* what was sent along may be anything too */
			if (!is_answer(&message->header) && below(2) == 0)
				alter_word(area, area_bytes);
			/* no more is there to be sent */
			if (message->header.length > sizeof(*message) ||
				message->header.length < sizeof(HgWireHeader))
				message->header.length = sizeof(HgWireHeader);
	}
	return 1;
}

HgWireResult
__wrap_hg_wire_send(int fd, const HgWireMessage *message, int attached)
{
	HgWireMessage said;
	HgWireResult result = HG_WIRE_DONE;
	int times;

	if (atomic_load(&kind) == LIES_NONE || (atomic_load(&kind) != LIES_ROW && below(one_in) != 0))
		return __real_hg_wire_send(fd, message, attached);
	memset(&said, 0, sizeof(said));
	memcpy(&said, message, message->header.length);
	times = lie(fd, &said);
	atomic_fetch_add(&told, 1);
	while (times-- > 0 && result == HG_WIRE_DONE)
		result = __real_hg_wire_send(fd, &said, attached);
	return result;
}

HgWireResult
__wrap_hg_wire_receive(int fd, HgWireMessage *message, int *attached)
{
	HgWireResult result = __real_hg_wire_receive(fd, message, attached);
	const HgWireRequest *request = &message->request;

	if (atomic_load(&kind) == LIES_NONE || result != HG_WIRE_DONE || is_answer(&message->header) ||
		fd >= CONNECTIONS)
		return result;
	heard[fd].requests[request->header.sequence % REQUESTS] = *request;
	if (request->header.type == HG_WIRE_REDUCE)
	{
		heard[fd].record_words = hg_reduce_words(&request->reduce);
		heard[fd].record_pairs = request->reduce.nkeys + 1;
	}
	return result;
}
