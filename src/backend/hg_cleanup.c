/*-------------------------------------------------------------------------
 *
 * hg_cleanup.c
 *	  Releases what lies outside of a memory context, on each way out of a statement.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "backend/hg_cleanup.h"

static dlist_head hg_cleanups = DLIST_STATIC_INIT(hg_cleanups);

static void
hg_cleanup_run(HgCleanup *cleanup)
{
	if (!cleanup->pending)
		return;
	cleanup->pending = false;
	dlist_delete(&cleanup->node);
	cleanup->release(cleanup->arg);
}

static void
hg_cleanup_context_reset(void *arg)
{
	hg_cleanup_run(arg);
}

/* Returns the object of an owner that was registered last; NULL if none is left. */
static HgCleanup *
hg_cleanup_last(ResourceOwner owner)
{
	dlist_iter iter;

	dlist_foreach(iter, &hg_cleanups)
	{
		HgCleanup *cleanup = dlist_container(HgCleanup, node, iter.cur);

		if (cleanup->owner == owner)
			return cleanup;
	}
	return NULL;
}

static void
hg_cleanup_owner_release(ResourceReleasePhase phase, bool is_commit pg_attribute_unused(),
						 bool is_top_level pg_attribute_unused(), void *arg pg_attribute_unused())
{
	ResourceOwner owner = CurrentResourceOwner;
	HgCleanup *cleanup;

	if (phase != RESOURCE_RELEASE_BEFORE_LOCKS)
		return;
	/* a release function may change the list, so each search begins at its head */
	while ((cleanup = hg_cleanup_last(owner)) != NULL)
		hg_cleanup_run(cleanup);
}

/* Registers release(arg) for the reset of context or the release of owner. */
static void
hg_cleanup_add(HgCleanup *cleanup, MemoryContext context, ResourceOwner owner,
			   void (*release)(void *arg), void *arg)
{
	static bool owner_callback_registered = false;

	if (!owner_callback_registered)
	{
		RegisterResourceReleaseCallback(hg_cleanup_owner_release, NULL);
		owner_callback_registered = true;
	}
	cleanup->owner = owner;
	cleanup->release = release;
	cleanup->arg = arg;
	cleanup->pending = true;
	dlist_push_head(&hg_cleanups, &cleanup->node);
	cleanup->callback.func = hg_cleanup_context_reset;
	cleanup->callback.arg = cleanup;
	MemoryContextRegisterResetCallback(context, &cleanup->callback);
}

void
hg_cleanup_register(HgCleanup *cleanup, MemoryContext context, void (*release)(void *arg),
					void *arg)
{
	hg_cleanup_add(cleanup, context, CurrentResourceOwner, release, arg);
}

void
hg_cleanup_register_transaction(HgCleanup *cleanup, void (*release)(void *arg), void *arg)
{
	hg_cleanup_add(cleanup, TopTransactionContext, TopTransactionResourceOwner, release, arg);
}
