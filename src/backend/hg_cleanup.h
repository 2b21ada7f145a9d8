/*-------------------------------------------------------------------------
 *
 * hg_cleanup.h
 *	  Releases what no memory context frees, on each way out of a statement.
 *
 * An object may own something that no memory context frees, such as a job in another process.  It
 * is registered with the memory context that it lives in and the current resource owner.  Its
 * release function is called when the context is reset or the owner is released, whichever comes
 * first, and never twice.  A commit, an error, a cancel, the abort of a subtransaction and the end
 * of a portal all do one of the two.
 *
 * A release function must not raise errors, nor rely on another registered object: objects of one
 * owner are released in reverse order of registration.  It may register further objects with the
 * same owner; they are released too.  It may also reset a context that has registered objects.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CLEANUP_H
#define HG_CLEANUP_H

#include "lib/ilist.h"
#include "utils/resowner.h"

typedef struct HgCleanup
{
	MemoryContextCallback callback;
	dlist_node node; /* in the list of all owners' objects, while pending */
	ResourceOwner owner;
	bool pending; /* release has not been called yet */
	void (*release)(void *arg);
	void *arg;
} HgCleanup;

/*
 * Makes the reset of context or the release of CurrentResourceOwner call release(arg), whichever
 * comes first.  *cleanup must be allocated in that context.
 */
extern void hg_cleanup_register(HgCleanup *cleanup, MemoryContext context,
								void (*release)(void *arg), void *arg);

/*
 * Makes the end of the top-level transaction call release(arg), whichever statement or
 * subtransaction calls this.  *cleanup must be allocated in TopTransactionContext.
 */
extern void hg_cleanup_register_transaction(HgCleanup *cleanup, void (*release)(void *arg),
											void *arg);

#endif /* HG_CLEANUP_H */
