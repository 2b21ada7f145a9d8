/*-------------------------------------------------------------------------
 *
 * hg_fault.c
 *	  What is due to fail, and faults of the C library.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif

#include "hg_fault.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Names the page to a device process. */
#define HG_FAULT_ENVIRONMENT "HG_FAULT_PAGE"

/* Descriptors that a dropped message may have brought. */
#define HG_FAULT_ATTACHED 16

static const char *const hg_fault_names[HG_FAULT_KINDS] = {
	[HG_FAULT_ALLOC] = "alloc",			  [HG_FAULT_SYSTEM] = "system",	  [HG_FAULT_SEND] = "send",
	[HG_FAULT_HANGUP] = "hangup",		  [HG_FAULT_RECEIVE] = "receive", [HG_FAULT_END] = "end",
	[HG_FAULT_TRUNCATE] = "truncate",	  [HG_FAULT_WRITE] = "write",	  [HG_FAULT_READ] = "read",
	[HG_FAULT_CANCEL] = "cancel",		  [HG_FAULT_KILL] = "kill",		  [HG_FAULT_CUDA] = "cuda",
	[HG_FAULT_CUDA_STUCK] = "cuda_stuck",
};

HgFaultPage *hg_fault_page = NULL;
void (*hg_fault_cancel)(void) = NULL;

/* This process is a device process that was given a page. */
static bool in_device = false;

HG_WRAPPED(int, memfd_create, (const char *name, unsigned flags));
HG_WRAPPED(int, ftruncate, (int fd, off_t length));
HG_WRAPPED(void *, mmap,
		   (void *address, size_t length, int protection, int flags, int fd, off_t offset));
HG_WRAPPED(int, socketpair, (int domain, int type, int protocol, int sockets[2]));
HG_WRAPPED(int, fcntl, (int fd, int command, ...));
HG_WRAPPED(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *length));
HG_WRAPPED(int, dup2, (int from, int to));
HG_WRAPPED(pid_t, fork, (void) );
HG_WRAPPED(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags));
HG_WRAPPED(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags));
HG_WRAPPED(void *, malloc, (size_t bytes));
HG_WRAPPED(void *, calloc, (size_t count, size_t bytes));
HG_WRAPPED(void *, aligned_alloc, (size_t alignment, size_t bytes));

/* ------------------------------------------------------------------------
 * The page
 * ------------------------------------------------------------------------ */

bool
hg_fault_make_page(void)
{
	int fd = __real_memfd_create("hashgraph faults", MFD_CLOEXEC);
	char path[64];
	void *page;

	if (fd < 0)
		return false;
	if (__real_ftruncate(fd, sizeof(HgFaultPage)) != 0 ||
		(page = __real_mmap(NULL, sizeof(HgFaultPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
							0)) == MAP_FAILED)
	{
		close(fd);
		return false;
	}
	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long) getpid(), fd);
	setenv(HG_FAULT_ENVIRONMENT, path, 1);
	hg_fault_page = page;
	return true;
}

/* A device process maps the page of the session that started it. */
__attribute__((constructor)) static void
find_page(void)
{
	const char *path = getenv(HG_FAULT_ENVIRONMENT);
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *page;

	if (fd < 0)
		return;
	page = __real_mmap(NULL, sizeof(HgFaultPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (page != MAP_FAILED)
		hg_fault_page = page;
	in_device = page != MAP_FAILED;
}

bool
hg_fault_parse(const char *text, HgFaultPage *page)
{
	static const char prefix[] = "device_";
	const char *colon = strchr(text, ':');
	size_t length;
	char *end;

	memset(page, 0, sizeof(*page));
	if (colon == NULL)
		return false;
	if (strncmp(text, prefix, sizeof(prefix) - 1) == 0)
	{
		page->in_device = true;
		text += sizeof(prefix) - 1;
	}
	length = (size_t) (colon - text);
	for (int kind = HG_FAULT_NONE + 1; kind < HG_FAULT_KINDS; kind++)
		if (strlen(hg_fault_names[kind]) == length &&
			strncmp(hg_fault_names[kind], text, length) == 0)
			page->kind = (HgFaultKind) kind;
	page->wanted = strtoull(colon + 1, &end, 10);
	return page->kind != HG_FAULT_NONE && page->wanted > 0 && *end == '\0';
}

/* Count an event of exactly this kind. */
static bool
count_event(HgFaultKind kind)
{
	HgFaultPage *page = hg_fault_page;

	if (page == NULL || page->kind != kind || page->in_device != in_device || page->fired ||
		++page->seen < page->wanted)
		return false;
	page->fired = true;
	return true;
}

HgFaultKind
hg_fault_due_of(const HgFaultKind *kinds, int count)
{
	if (count_event(HG_FAULT_KILL))
		raise(SIGKILL);
	if (count_event(HG_FAULT_CANCEL) && hg_fault_cancel != NULL)
		hg_fault_cancel();
	for (int i = 0; i < count; i++)
		if (count_event(kinds[i]))
			return kinds[i];
	return HG_FAULT_NONE;
}

bool
hg_fault_due(HgFaultKind kind)
{
	return hg_fault_due_of(&kind, 1) != HG_FAULT_NONE;
}

/* A system call that is due sets errno. */
static bool
refused(int why)
{
	if (!hg_fault_due(HG_FAULT_SYSTEM))
		return false;
	errno = why;
	return true;
}

/* ------------------------------------------------------------------------
 * The C library
 * ------------------------------------------------------------------------ */

void *
__wrap_malloc(size_t bytes)
{
	return hg_fault_due(HG_FAULT_ALLOC) ? NULL : __real_malloc(bytes);
}

void *
__wrap_calloc(size_t count, size_t bytes)
{
	return hg_fault_due(HG_FAULT_ALLOC) ? NULL : __real_calloc(count, bytes);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return hg_fault_due(HG_FAULT_ALLOC) ? NULL : __real_aligned_alloc(alignment, bytes);
}

int
__wrap_memfd_create(const char *name, unsigned flags)
{
	return refused(EMFILE) ? -1 : __real_memfd_create(name, flags);
}

int
__wrap_ftruncate(int fd, off_t length)
{
	return refused(ENOSPC) ? -1 : __real_ftruncate(fd, length);
}

void *
__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	return refused(ENOMEM) ? MAP_FAILED
						   : __real_mmap(address, length, protection, flags, fd, offset);
}

int
__wrap_socketpair(int domain, int type, int protocol, int sockets[2])
{
	return refused(EMFILE) ? -1 : __real_socketpair(domain, type, protocol, sockets);
}

/* Our calls have one more argument, a number, or none. */
int
__wrap_fcntl(int fd, int command, ...)
{
	va_list arguments;
	long argument;

	va_start(arguments, command);
	argument = va_arg(arguments, long);
	va_end(arguments);
	return refused(EINVAL) ? -1 : __real_fcntl(fd, command, argument);
}

int
__wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
	return refused(EINVAL) ? -1 : __real_getsockopt(fd, level, name, value, length);
}

int
__wrap_dup2(int from, int to)
{
	return refused(EBUSY) ? -1 : __real_dup2(from, to);
}

pid_t
__wrap_fork(void)
{
	return refused(EAGAIN) ? -1 : __real_fork();
}

ssize_t
__wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	static const HgFaultKind kinds[] = {HG_FAULT_SEND, HG_FAULT_HANGUP};

	switch (hg_fault_due_of(kinds, 2))
	{
		case HG_FAULT_SEND:
			errno = ENOBUFS;
			return -1;
		case HG_FAULT_HANGUP:
			shutdown(fd, SHUT_RDWR);
			errno = EPIPE;
			return -1;
		default:
			return __real_sendmsg(fd, message, flags);
	}
}

/* Close what came with a message that nobody will see. */
static void
drop_attached(struct msghdr *message)
{
	for (struct cmsghdr *rights = CMSG_FIRSTHDR(message); rights != NULL;
		 rights = CMSG_NXTHDR(message, rights))
	{
		int fds[HG_FAULT_ATTACHED];
		size_t bytes = rights->cmsg_len - CMSG_LEN(0);

		if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS ||
			bytes > sizeof(fds))
			continue;
		memcpy(fds, CMSG_DATA(rights), bytes);
		for (size_t i = 0; i < bytes / sizeof(int); i++)
			close(fds[i]);
	}
	message->msg_controllen = 0;
}

/* How often there is nothing to receive depends on the weather: that is no event. */
ssize_t
__wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
	static const HgFaultKind kinds[] = {HG_FAULT_RECEIVE, HG_FAULT_END, HG_FAULT_TRUNCATE};
	ssize_t received = __real_recvmsg(fd, message, flags);

	if (received <= 0)
		return received;
	switch (hg_fault_due_of(kinds, 3))
	{
		case HG_FAULT_RECEIVE:
			drop_attached(message);
			errno = EIO;
			return -1;
		case HG_FAULT_END:
			drop_attached(message);
			shutdown(fd, SHUT_RDWR);
			return 0;
		case HG_FAULT_TRUNCATE:
			return received / 2;
		default:
			return received;
	}
}
