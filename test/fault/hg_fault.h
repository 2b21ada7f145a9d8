/*-------------------------------------------------------------------------
 *
 * hg_fault.h
 *	  Faults on purpose: the N-th event of a kind fails, once.
 *
 * A build with HG_DEBUG=1 links the files of this folder into hashgraph.so and into
 * the device process.  They stand between our code and what it calls (the linker's
 * --wrap): memory, sockets, temporary files, the CUDA runtime.  The source tree itself
 * knows nothing of them, so that a build without HG_DEBUG holds no trace of them.
 *
 *	hg_fault.c			what is due, and the C library
 *	hg_fault_server.c	PostgreSQL, and the setting hashgraph.inject_fault
 *	hg_fault_cuda.c		the CUDA runtime
 *	hg_fault_resident.c	what keeps tables resident: places to be held at, rules to be broken
 *	hg_fault_at_once.c	no fault, but everything resident
 *	hg_fault_cleanup.c	no fault, but objects that change what is registered while they are released
 *	hg_watch.c			no fault, but how long a session computes without a look at interrupts
 *
 * THE SETTING is 'KIND:N' or 'device_KIND:N': the N-th event of that kind in the session
 * or in its device process, counted from the moment when the setting was set, fails.
 * SHOW says besides what became of it: 'KIND:N fired', or 'KIND:N seen M'.
 *
 *	alloc		palloc and its relatives where our code calls them itself (what other
 *				functions of PostgreSQL allocate inside is not ours), calloc, malloc,
 *				aligned_alloc, dsa_allocate_extended: out of memory
 *	system		socketpair, fork, dup2, fcntl, mmap, memfd_create, ftruncate, getsockopt,
 *				AcquireExternalFD: refused
 *	send		sendmsg: fails with ENOBUFS
 *	hangup		sendmsg: the connection is gone
 *	receive		recvmsg, where a message is there: fails with EIO
 *	end			... finds the end of the connection
 *	truncate	... finds half a message
 *	write		BufFileCreateTemp and BufFileCreateFileSet, BufFileWrite, tuplestore_putvalues,
 *				dsa_allocate_extended: the disk is full
 *	read		BufFileOpenFileSet, BufFileSeek, BufFileRead and its relatives: EIO
 *	cancel		any of the above, in a session: works, and a cancel arrives
 *	kill		any of the above, in a device process: it dies of SIGKILL
 *	cuda		a call to CUDA, or a launch: out of memory where it allocates, else failed
 *	cuda_stuck	... fails, and every call after it
 *
 * THE COUNT lies in a page that a session shares with its device process, so that it
 * goes on where a device process is replaced by another.  The server's device process has no such
 * session: it takes the file that HG_FAULT_PAGE names in its environment for the page, and whoever
 * writes that file decides what fails, and when.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_FAULT_H
#define HG_FAULT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum HgFaultKind
{
	HG_FAULT_NONE,
	HG_FAULT_ALLOC,
	HG_FAULT_SYSTEM,
	HG_FAULT_SEND,
	HG_FAULT_HANGUP,
	HG_FAULT_RECEIVE,
	HG_FAULT_END,
	HG_FAULT_TRUNCATE,
	HG_FAULT_WRITE,
	HG_FAULT_READ,
	HG_FAULT_CANCEL,
	HG_FAULT_KILL,
	HG_FAULT_CUDA,
	HG_FAULT_CUDA_STUCK,
	HG_FAULT_KINDS /* number of kinds, not a kind */
} HgFaultKind;

/*
 * A function that we stand in front of: itself, and what our code calls in its place.  One
 * that not every version of PostgreSQL or of CUDA has may be missing.
 */
#define HG_WRAPPED(result, name, arguments)                                                        \
	extern result __real_##name arguments;                                                         \
	extern result __wrap_##name arguments
#define HG_WRAPPED_IN_SOME(result, name, arguments)                                                \
	extern __attribute__((weak)) result __real_##name arguments;                                   \
	extern result __wrap_##name arguments

/* What is to fail, and what came of it. */
typedef struct HgFaultPage
{
	HgFaultKind kind; /* HG_FAULT_NONE where nothing is to fail */
	bool in_device;	  /* in the device process, else in the session */
	bool fired;
	uint64_t wanted; /* the event that fails, from 1 */
	uint64_t seen;	 /* events so far */
} HgFaultPage;

/* A session's or device process's page; NULL where none was made. */
extern HgFaultPage *hg_fault_page;

/* What a cancel is to a session; NULL in a device process. */
extern void (*hg_fault_cancel)(void);

/* Make this session's page, where a device process that starts from now on finds it. */
extern bool hg_fault_make_page(void);

/* 'KIND:N' or 'device_KIND:N' into a page; false where it is neither. */
extern bool hg_fault_parse(const char *text, HgFaultPage *page);

/*
 * An event of a kind happens now: is it the one that fails?  Events that are not CUDA's
 * count as cancel and kill too, which are acted upon here.
 */
extern bool hg_fault_due(HgFaultKind kind);

/* An event of several kinds: the one that is due, or HG_FAULT_NONE. */
extern HgFaultKind hg_fault_due_of(const HgFaultKind *kinds, int count);

/* Declare what hg_fault_resident.c is set by. */
extern void hg_fault_resident_init(void);

/* Declare the setting of hg_fault_at_once.c. */
extern void hg_fault_at_once_init(void);

#endif /* HG_FAULT_H */
