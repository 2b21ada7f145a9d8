/*-------------------------------------------------------------------------
 *
 * hg_host_window.c
 *	  Rows that jobs of hg_host_exchange.h send each other, through memory of the host.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif

#include "hg_host_window.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Rows that are sent or taken between two polls of cancelled(). */
#define POLL_ROWS 65536

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static HgStatus
refuse(HgError *error, const char *why)
{
	return hg_error_set(error, HG_INVALID, NULL, "%s", why);
}

static unsigned char *
map(int memory, uint64_t bytes)
{
	void *mapped = mmap(NULL, (size_t) bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);

	return mapped != MAP_FAILED ? mapped : NULL;
}

HgHostSendFault
hg_host_send_fault(const char *name)
{
	static const char *const names[] = {
		[HG_SEND_NOT] = "not",		 [HG_SEND_FAILS] = "fails",		[HG_SEND_DIES] = "dies",
		[HG_SEND_ALTERS] = "alters", [HG_SEND_NUMBERS] = "numbers", [HG_SEND_SHORT] = "short",
		[HG_SEND_SILENT] = "silent"};

	for (int fault = HG_SEND_NOT; name != NULL && fault <= HG_SEND_SILENT; fault++)
		if (strcmp(name, names[fault]) == 0)
			return (HgHostSendFault) fault;
	return HG_SEND_WELL;
}

/* ------------------------------------------------------------------------
 * Who offers
 * ------------------------------------------------------------------------ */

void
hg_host_window_expect(HgHostWindow *window, const HgJobSpec *spec, HgSide side,
					  const HgExchange *exchange)
{
	window->exchange = *exchange;
	hg_peer_window_lay_out(spec, side, exchange, &window->head);
}

HgStatus
hg_host_window_make(HgHostWindow *window, HgPeerWindow *made, HgError *error)
{
	int memory;
	HgStatus status;

	if (window->exchange.shards == 0 || window->memory != NULL)
		return refuse(error, "this is not the time to offer memory");
	status = hg_peer_window_make_token(window->head.token, error);
	if (status != HG_OK)
		return status;
	memory = memfd_create("offer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (memory >= 0 && ftruncate(memory, (off_t) window->head.bytes) == 0 &&
		fcntl(memory, F_ADD_SEALS, SEALS) == 0)
		window->memory = map(memory, window->head.bytes);
	if (window->memory == NULL)
	{
		if (memory >= 0)
			close(memory);
		return refuse(error, "no memory could be offered");
	}
	memcpy(window->memory, &window->head, sizeof(window->head));
	memset(made, 0, sizeof(*made));
	memcpy(made->token, window->head.token, sizeof(made->token));
	made->bytes = window->head.bytes;
	made->memory = memory;
	return HG_OK;
}

void
hg_host_window_free(HgHostWindow *window)
{
	if (window->memory != NULL)
		munmap(window->memory, (size_t) window->head.bytes);
	window->memory = NULL;
}

/* Take the rows of one shard that are said to be there. */
static HgStatus
take_rows(HgHostWindow *window, HgEngine *engine, HgJob *job, HgHostReduce *reduce, HgSide side,
		  uint32_t shard, const HgPeerWindowTrailer *trailer, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint64_t done = 0; done < trailer->rows && status == HG_OK;)
	{
		const uint64_t left = trailer->rows - done;
		HgExchangeRows rows;

		hg_peer_window_rows_at(&window->head, window->memory, window->head.first[shard] + done,
							   &rows);
		rows.count = (size_t) (left < POLL_ROWS ? left : POLL_ROWS);
		for (uint32_t column = 0; column < window->head.ncolumns; column++)
			rows.has_nulls[column] = (trailer->nulls >> column & 1) != 0;
		status = hg_host_exchange_put(engine, job, reduce, side, &rows, error);
		done += rows.count;
	}
	return status;
}

HgStatus
hg_host_window_take(HgHostWindow *window, HgEngine *engine, HgJob *job, HgHostReduce *reduce,
					HgSide side, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32_t shard = 0;
		 window->memory != NULL && shard < window->head.shards && status == HG_OK; shard++)
	{
		HgPeerWindowTrailer trailer;
		uint64_t rows;

		memcpy(&trailer, window->memory + hg_peer_window_trailer_at(shard), sizeof(trailer));
		status = hg_peer_window_read_trailer(&window->head, shard, &trailer, &rows, error);
		if (status == HG_OK && rows > 0)
			status = take_rows(window, engine, job, reduce, side, shard, &trailer, error);
	}
	return status;
}

/* ------------------------------------------------------------------------
 * Who sends
 * ------------------------------------------------------------------------ */

/* Map what was offered, if it is that; NULL where it is not. */
static unsigned char *
map_window(const HgPeerWindow *window)
{
	const int seals = fcntl(window->memory, F_GET_SEALS);
	struct stat file;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(window->memory, &file) != 0 ||
		(uint64_t) file.st_size != window->bytes || window->bytes < HG_PEER_WINDOW_ROWS)
		return NULL;
	return map(window->memory, window->bytes);
}

/* Do to rows that are there what a fault says; returns whether a trailer follows them. */
static bool
spoil(const HgPeerWindowHead *head, unsigned char *memory, uint64_t first, uint64_t count,
	  HgHostSendFault fault)
{
	HgExchangeRows rows;

	hg_peer_window_rows_at(head, memory, first, &rows);
	if (fault == HG_SEND_ALTERS)
		for (uint64_t i = 0; i < count * head->key_width; i++)
			((unsigned char *) rows.keys)[i] ^= 0x5A;
	if (fault == HG_SEND_NUMBERS)
		rows.numbers[0] = UINT32_MAX;
	return fault != HG_SEND_SILENT;
}

/* Send rows to where the head says. */
static HgStatus
send_to(const HgPeerWindowHead *head, unsigned char *memory, HgEngine *engine, HgJob *job,
		const HgHostReduce *reduce, HgSide side, uint32_t self, uint64_t count,
		HgHostSendFault fault, HgError *error)
{
	const uint64_t first = head->first[self];
	const uint64_t half = count / 2 + 1;
	HgPeerWindowTrailer trailer;
	uint64_t nulls = 0;

	for (uint64_t done = 0; done < count;)
	{
		HgExchangeRows rows;
		HgStatus status;

		hg_peer_window_rows_at(head, memory, first + done, &rows);
		rows.capacity = (size_t) (count - done < half ? count - done : half);
		status = hg_host_exchange_take(engine, job, reduce, side, head->self, &rows, error);
		if (status != HG_OK)
			return status;
		for (uint32_t column = 0; column < head->ncolumns; column++)
			nulls |= (uint64_t) rows.has_nulls[column] << column;
		done += rows.count;
		if (fault == HG_SEND_FAILS)
			return refuse(error, "the stand-in was told to fail");
		if (fault == HG_SEND_DIES)
			raise(SIGKILL);
	}
	if (!spoil(head, memory, first, count, fault))
		return HG_OK;
	hg_peer_window_make_trailer(head, count - (fault == HG_SEND_SHORT), nulls, &trailer);
	memcpy(memory + hg_peer_window_trailer_at(self), &trailer, sizeof(trailer));
	return HG_OK;
}

HgStatus
hg_host_window_send(const HgHostWindow *own, HgEngine *engine, HgJob *job,
					const HgHostReduce *reduce, HgSide side, uint32_t shard,
					const HgPeerWindow *window, HgHostSendFault fault, HgError *error)
{
	const uint32_t self = own->exchange.self;
	HgPeerWindowHead head;
	unsigned char *memory;
	uint64_t count;
	HgStatus status = hg_host_exchange_count(job, side, shard, &count, error);

	if (status != HG_OK)
		return status;
	memory = fault != HG_SEND_NOT ? map_window(window) : NULL;
	if (memory == NULL)
		return refuse(error, "what was offered can not be used");
	memcpy(&head, memory, sizeof(head));
	status = hg_peer_window_check(&head, window, &reduce->job, side, self, shard, count, error);
	if (status == HG_OK)
	{
		status = send_to(&head, memory, engine, job, reduce, side, self, count, fault, error);
		if (status != HG_OK)
			hg_host_exchange_rewind(job, side, shard);
	}
	munmap(memory, (size_t) window->bytes);
	return status;
}
