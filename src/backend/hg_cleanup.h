/*-------------------------------------------------------------------------
 *
 * hg_cleanup.h
 *	  Give back what lies outside of a memory context, on each way out of a statement.
 *
 * An object may hold what no memory context knows of: a job in another process has to be
 * closed there.  It is registered with the context that it lives in and the resource owner that
 * is current, and its release function is called at the reset of the one or the release of the
 * other, whichever comes first, and never twice.  A commit, an error, a cancel, the abort of a
 * subtransaction and the end of a portal all come by one of the two.
 *
 * A release function must not ereport, nor count on any other object that is registered: of those
 * of one owner the last that was registered goes first.  It may register objects with the same
 * owner, which are released too, and reset contexts that other objects are registered with.
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
	dlist_node node; /* among those of all owners, while pending */
	ResourceOwner owner;
	bool pending; /* release has not been called so far */
	void (*release)(void *arg);
	void *arg;
} HgCleanup;

/*
 * Have release(arg) called when context is reset or CurrentResourceOwner is released.  *cleanup is
 * in that context.
 */
extern void hg_cleanup_register(HgCleanup *cleanup, MemoryContext context,
								void (*release)(void *arg), void *arg);

/*
 * Have release(arg) called when the transaction ends, whichever statement or subtransaction of it
 * this is called in.  *cleanup is in TopTransactionContext.
 */
extern void hg_cleanup_register_transaction(HgCleanup *cleanup, void (*release)(void *arg),
											void *arg);

#endif /* HG_CLEANUP_H */
