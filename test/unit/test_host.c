/*-------------------------------------------------------------------------
 *
 * test_host.c
 *	  A host that counts, and that cancels or fails on demand.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include "test_engine_suite.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Before each block stands its size; blocks stay aligned. */
#define HEADER_BYTES 64

/* What an engine finds in memory that it has not written. */
#define RUBBISH 0xa5

static void *
counting_alloc(void *arg, size_t bytes)
{
	TestHost *host = arg;
	char *block;

	host->allocations++;
	if (host->allocations == host->fail_allocation)
		return NULL;

	block = host->base->alloc(host->base->arg, bytes + HEADER_BYTES);
	if (block == NULL)
		return NULL;
	memcpy(block, &bytes, sizeof(bytes));
	memset(block + HEADER_BYTES, RUBBISH, bytes);
	host->held_bytes += bytes;
	if (host->held_bytes > host->peak_bytes)
		host->peak_bytes = host->held_bytes;
	return block + HEADER_BYTES;
}

static void
counting_free(void *arg, void *ptr, size_t bytes)
{
	TestHost *host = arg;
	char *block = (char *) ptr - HEADER_BYTES;
	size_t allocated;

	memcpy(&allocated, block, sizeof(allocated));
	if (allocated != bytes)
		host->misused = true;
	host->held_bytes -= allocated;
	host->base->free(host->base->arg, block, allocated + HEADER_BYTES);
}

static bool
counting_cancelled(void *arg)
{
	TestHost *host = arg;

	host->polls++;
	return host->cancel_poll != 0 && host->polls >= host->cancel_poll;
}

static bool
counting_wait_readable(void *arg, int fd)
{
	TestHost *host = arg;

	if (counting_cancelled(arg))
		return false;
	return host->base->wait_readable(host->base->arg, fd);
}

void
test_host_init(TestHost *host, const HgHost *base)
{
	memset(host, 0, sizeof(*host));
	host->base = base;
	host->host.alloc = counting_alloc;
	host->host.free = counting_free;
	host->host.cancelled = counting_cancelled;
	host->host.wait_readable = base->wait_readable != NULL ? counting_wait_readable : NULL;
	host->host.arg = host;
}

static void *
plain_alloc(void *arg, size_t bytes)
{
	void *ptr;

	(void) arg;
	return posix_memalign(&ptr, 64, bytes) == 0 ? ptr : NULL;
}

static void
plain_free(void *arg, void *ptr, size_t bytes)
{
	(void) arg;
	(void) bytes;
	free(ptr);
}

static bool
plain_cancelled(void *arg)
{
	(void) arg;
	return false;
}

static bool
plain_wait_readable(void *arg, int fd)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	(void) arg;
	while (poll(&pollfd, 1, -1) < 0)
		continue; /* interrupted by a signal */
	return true;
}

const HgHost *
test_host_plain(void)
{
	static const HgHost host = {
		.alloc = plain_alloc,
		.free = plain_free,
		.cancelled = plain_cancelled,
		.wait_readable = plain_wait_readable,
	};

	return &host;
}
