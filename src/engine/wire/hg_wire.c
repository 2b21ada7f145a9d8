/*-------------------------------------------------------------------------
 *
 * hg_wire.c
 *	  Sends and receives messages, for both ends.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* struct ucred */
#endif

#include "hg_wire.h"

#include "../hg_reduce.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Returns the size of messages of a type; 0 for a type that does not exist. */
static size_t
size_of_type(uint16_t type)
{
	switch ((HgWireType) type)
	{
		case HG_WIRE_HELLO:
		case HG_WIRE_DEVICES:
			return sizeof(HgWireDevices);
		case HG_WIRE_LOAD:
			return sizeof(HgWireStatus);
		case HG_WIRE_REPLY:
			return sizeof(HgWireReply);
		case HG_WIRE_OPEN:
			return sizeof(HgWireOpening);
		case HG_WIRE_LIST:
		case HG_WIRE_STATUS:
		case HG_WIRE_APPEND:
		case HG_WIRE_APPEND_ROWS:
		case HG_WIRE_APPEND_COLUMN:
		case HG_WIRE_APPEND_PAGES:
		case HG_WIRE_PUT_VALUES:
		case HG_WIRE_END_APPEND:
		case HG_WIRE_BUILD:
		case HG_WIRE_MATCH:
		case HG_WIRE_NEXT:
		case HG_WIRE_COUNT:
		case HG_WIRE_REDUCE:
		case HG_WIRE_NEXT_GROUPS:
		case HG_WIRE_DESCRIBE:
		case HG_WIRE_EXPORT:
		case HG_WIRE_MEASURE:
		case HG_WIRE_PUT_EDGES:
		case HG_WIRE_MASK:
		case HG_WIRE_TALLY:
		case HG_WIRE_EXPECT:
		case HG_WIRE_TAKE_ROWS:
		case HG_WIRE_PUT_ROWS:
		case HG_WIRE_ARRIVED:
		case HG_WIRE_PEER_WINDOW:
		case HG_WIRE_SEND_ROWS:
		case HG_WIRE_CANCEL:
		case HG_WIRE_CLOSE:
		case HG_WIRE_RELEASE:
		case HG_WIRE_DROP:
			return sizeof(HgWireRequest);
	}
	return 0;
}

void
hg_wire_header(HgWireHeader *header, HgWireType type, uint32_t job, uint64_t sequence)
{
	header->magic = HG_WIRE_MAGIC;
	header->version = HG_WIRE_VERSION;
	header->type = (uint16_t) type;
	header->length = (uint32_t) size_of_type((uint16_t) type);
	header->job = job;
	header->sequence = sequence;
}

/* ------------------------------------------------------------------------
 * Openings
 * ------------------------------------------------------------------------ */

/* Returns the bytes of a block of an opening. */
static size_t
bytes_of_block(size_t block)
{
	const size_t left = HG_WIRE_OPENING_BYTES - block * HG_WIRE_BLOCK;

	return left < HG_WIRE_BLOCK ? left : HG_WIRE_BLOCK;
}

/* Packs an opening: sets the part of *packed that is sent. */
static void
pack(const HgWireOpening *opening, HgWirePacked *packed)
{
	static const unsigned char zeros[HG_WIRE_BLOCK];
	const unsigned char *from = (const unsigned char *) opening + sizeof(HgWireHeader);
	unsigned char *to = packed->blocks;

	memset(packed->present, 0, sizeof(packed->present));
	for (size_t block = 0; block < HG_WIRE_OPENING_BLOCKS; block++)
	{
		const size_t bytes = bytes_of_block(block);

		if (memcmp(from, zeros, bytes) != 0)
		{
			packed->present[block / 64] |= UINT64_C(1) << block % 64;
			memcpy(to, from, bytes);
			to += bytes;
		}
		from += bytes;
	}
	packed->header = opening->request.header;
	packed->header.length = (uint32_t) (to - (unsigned char *) packed);
}

/* Unpacks a received opening in place.  Returns false if its length does not match its blocks. */
static bool
unpack(HgWireMessage *message, size_t received)
{
	const size_t least = offsetof(HgWirePacked, blocks);
	unsigned char *to = (unsigned char *) &message->opening + sizeof(HgWireHeader);
	HgWirePacked packed;
	size_t length = least;
	const unsigned char *from = packed.blocks;

	if (received < least || received > sizeof(packed))
		return false;
	memcpy(&packed, &message->packed, received);
	for (size_t block = 0; block < 64 * (sizeof(packed.present) / sizeof(uint64_t)); block++)
		if (packed.present[block / 64] >> block % 64 & 1)
		{
			if (block >= HG_WIRE_OPENING_BLOCKS)
				return false;
			length += bytes_of_block(block);
		}
	if (length != received)
		return false;
	for (size_t block = 0; block < HG_WIRE_OPENING_BLOCKS; block++)
	{
		const size_t bytes = bytes_of_block(block);

		if (packed.present[block / 64] >> block % 64 & 1)
		{
			memcpy(to, from, bytes);
			from += bytes;
		}
		else
			memset(to, 0, bytes);
		to += bytes;
	}
	message->header.length = sizeof(HgWireOpening);
	return true;
}

/* ------------------------------------------------------------------------
 * The socket
 * ------------------------------------------------------------------------ */

/* Returns what a failed call on the socket means. */
static HgWireResult
result_of_errno(void)
{
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return HG_WIRE_NOTHING;
	if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
		return HG_WIRE_EOF;
	return HG_WIRE_ERROR;
}

/* Sends length bytes of a message. */
static HgWireResult
send_bytes(int fd, const void *bytes, size_t length, int attached)
{
	union
	{
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part;
	struct msghdr packet;
	ssize_t sent;

	memset(&packet, 0, sizeof(packet));
	part.iov_base = (void *) bytes;
	part.iov_len = length;
	packet.msg_iov = &part;
	packet.msg_iovlen = 1;

	if (attached >= 0)
	{
		struct cmsghdr *rights;

		memset(&control, 0, sizeof(control));
		packet.msg_control = control.bytes;
		packet.msg_controllen = sizeof(control.bytes);
		rights = CMSG_FIRSTHDR(&packet);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(rights), &attached, sizeof(int));
	}

	do
		sent = sendmsg(fd, &packet, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);

	return sent < 0 ? result_of_errno() : HG_WIRE_DONE;
}

HgWireResult
hg_wire_send(int fd, const HgWireMessage *message, int attached)
{
	HgWirePacked packed;

	if (message->header.type != HG_WIRE_OPEN || message->header.length != sizeof(HgWireOpening))
		return send_bytes(fd, message, message->header.length, attached);
	pack(&message->opening, &packed);
	return send_bytes(fd, &packed, packed.header.length, attached);
}

void
hg_wire_decline(int fd, const HgError *error)
{
	HgWireMessage hello;

	memset(&hello, 0, sizeof(hello));
	hg_wire_header(&hello.header, HG_WIRE_HELLO, 0, 0);
	hello.devices.error = *error;
	hello.devices.error.status = HG_UNAVAILABLE;
	hg_wire_send(fd, &hello, -1);
}

/* Returns the descriptor of a packet, or -1; closes others, which might fill our table. */
static int
take_descriptor(struct msghdr *packet)
{
	int taken = -1;

	for (struct cmsghdr *rights = CMSG_FIRSTHDR(packet); rights != NULL;
		 rights = CMSG_NXTHDR(packet, rights))
	{
		size_t count;

		if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS)
			continue;
		count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++)
		{
			int fd;

			memcpy(&fd, CMSG_DATA(rights) + i * sizeof(int), sizeof(int));
			if (taken < 0)
				taken = fd;
			else
				close(fd);
		}
	}
	return taken;
}

HgWireResult
hg_wire_receive(int fd, HgWireMessage *message, int *attached)
{
	union
	{
		struct cmsghdr align;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec part;
	struct msghdr packet;
	const HgWireHeader *header = &message->header;
	ssize_t received;

	*attached = -1;
	memset(&packet, 0, sizeof(packet));
	part.iov_base = message;
	part.iov_len = sizeof(*message);
	packet.msg_iov = &part;
	packet.msg_iovlen = 1;
	packet.msg_control = control.bytes;
	packet.msg_controllen = sizeof(control.bytes);

	do
		received = recvmsg(fd, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (received < 0 && errno == EINTR);

	if (received < 0)
		return result_of_errno();
	*attached = take_descriptor(&packet);
	if ((packet.msg_flags & MSG_TRUNC) == 0 && (size_t) received >= sizeof(HgWireHeader) &&
		header->magic == HG_WIRE_MAGIC && header->version == HG_WIRE_VERSION &&
		header->length == (size_t) received &&
		(header->type == HG_WIRE_OPEN ? unpack(message, (size_t) received)
									  : size_of_type(header->type) == (size_t) received))
		return HG_WIRE_DONE;

	if (*attached >= 0)
		close(*attached);
	*attached = -1;
	/* an empty packet looks like the end of the connection: neither end sends one */
	return received == 0 ? HG_WIRE_EOF : HG_WIRE_NONSENSE;
}

bool
hg_wire_peer_is_trusted(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && length == sizeof(peer) &&
		   peer.uid == geteuid();
}

/* ------------------------------------------------------------------------
 * Results
 * ------------------------------------------------------------------------ */

uint32_t
hg_wire_columns(const HgJobSpec *spec)
{
	uint32_t columns = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < spec->sides[side].ncolumns; column++)
			columns |= HG_WIRE_COLUMN(side, column);
	return columns;
}

uint64_t
hg_wire_match_bytes(const HgJobSpec *spec, uint32_t columns)
{
	uint64_t bytes = 2 * sizeof(uint32_t);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < spec->sides[side].ncolumns; column++)
			if (columns & HG_WIRE_COLUMN(side, column))
				bytes += spec->sides[side].column_width[column] + 1;
	return bytes;
}

void
hg_wire_lay_out_matches(const HgJobSpec *spec, uint32_t columns, unsigned char *results,
						uint64_t bytes, HgMatches *matches)
{
	/* a multiple of 8, so that each array is aligned for any value */
	const uint64_t capacity = bytes / hg_wire_match_bytes(spec, columns) / 8 * 8;

	memset(matches, 0, sizeof(*matches));
	matches->capacity = (size_t) capacity;
	matches->outer = (uint32_t *) results;
	matches->inner = matches->outer + capacity;
	results += capacity * 2 * sizeof(uint32_t);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < spec->sides[side].ncolumns; column++)
		{
			if ((columns & HG_WIRE_COLUMN(side, column)) == 0)
				continue;
			matches->values[side][column] = results;
			results += capacity * spec->sides[side].column_width[column];
			matches->nulls[side][column] = results;
			results += capacity;
		}
}

uint64_t
hg_wire_row_bytes(const HgJobSpec *spec, HgSide side)
{
	return spec->key_width + sizeof(uint32_t) + hg_reduce_row_bytes(spec, side);
}

void
hg_wire_lay_out_rows(const HgJobSpec *spec, HgSide side, uint64_t capacity, unsigned char *at,
					 HgExchangeRows *rows)
{
	memset(rows, 0, sizeof(*rows));
	rows->capacity = (size_t) capacity;
	rows->keys = at;
	at += capacity * spec->key_width;
	rows->numbers = (uint32_t *) (void *) at;
	at += capacity * sizeof(uint32_t);
	for (uint32_t column = 0; column < spec->sides[side].ncolumns; column++)
	{
		rows->values[column] = at;
		at += capacity * spec->sides[side].column_width[column];
		rows->nulls[column] = at;
		at += capacity;
	}
}
