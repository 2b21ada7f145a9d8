/*-------------------------------------------------------------------------
 *
 * hg_loader_shared.c
 *	  Shared memory of the background workers: which processes work for which database.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/proc.h"

#include "loader/hg_loader_shared.h"
#include "resident/hg_resident_memory.h"

typedef struct HgSharedPost
{
	HgPost post; /* database is InvalidOid: free */
	Latch *latches[HG_POST_SLOTS];
	HgLastRound last;
} HgSharedPost;

/* Maximum number of commands that keep workers away at the same time. */
#define HG_HOLD_OFFS 32

typedef struct HgLoaderShared
{
	Latch *launcher;
	Oid held_off[HG_HOLD_OFFS]; /* one element for each command; InvalidOid: free */
	int count;
	HgSharedPost posts[FLEXIBLE_ARRAY_MEMBER];
} HgLoaderShared;

static HgLoaderShared *shared = NULL;

static shmem_request_hook_type previous_shmem_request = NULL;
static shmem_startup_hook_type previous_shmem_startup = NULL;

/* Enough for as many databases as can have two witnesses. */
static int
hg_loader_posts(void)
{
	return max_worker_processes / 2 + 1;
}

static Size
hg_loader_shared_size(void)
{
	return add_size(offsetof(HgLoaderShared, posts),
					mul_size(hg_loader_posts(), sizeof(HgSharedPost)));
}

static void
hg_loader_shmem_request(void)
{
	if (previous_shmem_request)
		previous_shmem_request();
	hg_resident_shared_request(hg_loader_shared_size());
}

static void
hg_loader_shmem_startup(void)
{
	bool is_new;

	if (previous_shmem_startup)
		previous_shmem_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = hg_resident_shared_startup("hashgraph loaders", hg_loader_shared_size(), &is_new);
	if (is_new)
		shared->count = hg_loader_posts();
	LWLockRelease(AddinShmemInitLock);
}

void
hg_loader_shared_init(void)
{
	previous_shmem_request = shmem_request_hook;
	shmem_request_hook = hg_loader_shmem_request;
	previous_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = hg_loader_shmem_startup;
}

static void
hg_loader_shared_lock(LWLockMode mode)
{
	LWLockAcquire(hg_resident_lock(HG_RESIDENT_LOCK_LOADERS), mode);
}

static void
hg_loader_shared_unlock(void)
{
	LWLockRelease(hg_resident_lock(HG_RESIDENT_LOCK_LOADERS));
}

/* Latches belong to process slots, which outlive processes: setting one in vain does no harm. */
static void
hg_loader_set_latch(Latch *latch)
{
	if (latch != NULL)
		SetLatch(latch);
}

/* Returns the index of a database among those held off; -1 if it is not.  The lock is held. */
static int
hg_hold_off_find(Oid database)
{
	for (int i = 0; i < HG_HOLD_OFFS; i++)
		if (shared->held_off[i] == database)
			return i;
	return -1;
}

/* Replaces one element by another; returns false if there is none. */
static bool
hg_hold_off_replace(Oid before, Oid after)
{
	int at;

	hg_loader_shared_lock(LW_EXCLUSIVE);
	at = hg_hold_off_find(before);
	if (at >= 0)
		shared->held_off[at] = after;
	hg_loader_shared_unlock();
	return at >= 0;
}

bool
hg_post_hold_off(Oid database)
{
	return hg_hold_off_replace(InvalidOid, database);
}

void
hg_post_let_on(Oid database)
{
	(void) hg_hold_off_replace(database, InvalidOid);
}

bool
hg_post_is_held_off(Oid database)
{
	bool held_off;

	hg_loader_shared_lock(LW_SHARED);
	held_off = hg_hold_off_find(database) >= 0;
	hg_loader_shared_unlock();
	return held_off;
}

void
hg_loader_wake(void)
{
	Latch *latch;

	hg_loader_shared_lock(LW_SHARED);
	latch = shared->launcher;
	hg_loader_shared_unlock();
	hg_loader_set_latch(latch);
}

bool
hg_loader_has_launcher(void)
{
	bool has;

	hg_loader_shared_lock(LW_SHARED);
	has = shared->launcher != NULL;
	hg_loader_shared_unlock();
	return has;
}

void
hg_loader_shared_attach(void)
{
	hg_loader_shared_lock(LW_EXCLUSIVE);
	shared->launcher = MyLatch;
	hg_loader_shared_unlock();
}

int
hg_post_count(void)
{
	return shared->count;
}

bool
hg_post_read(int number, HgPost *post)
{
	hg_loader_shared_lock(LW_SHARED);
	*post = shared->posts[number].post;
	hg_loader_shared_unlock();
	return OidIsValid(post->database);
}

int
hg_post_assign(Oid database)
{
	int number = -1;

	hg_loader_shared_lock(LW_EXCLUSIVE);
	for (int i = 0; i < shared->count; i++)
	{
		Oid of = shared->posts[i].post.database;

		if (of == database)
		{
			number = i;
			break;
		}
		if (!OidIsValid(of) && number < 0)
			number = i;
	}
	if (number >= 0 && !OidIsValid(shared->posts[number].post.database))
	{
		memset(&shared->posts[number], 0, sizeof(HgSharedPost));
		shared->posts[number].post.database = database;
	}
	hg_loader_shared_unlock();
	return number;
}

bool
hg_post_unassign(int number)
{
	HgPost *post = &shared->posts[number].post;
	bool empty = true;

	hg_loader_shared_lock(LW_EXCLUSIVE);
	for (int i = 0; i < HG_POST_SLOTS; i++)
		empty &= post->pids[i] == 0;
	if (empty)
		post->database = InvalidOid;
	hg_loader_shared_unlock();
	return empty;
}

void
hg_post_set_leave(int number, bool leave)
{
	HgSharedPost *post = &shared->posts[number];

	hg_loader_shared_lock(LW_EXCLUSIVE);
	post->post.leave = leave;
	hg_loader_shared_unlock();
	if (leave)
		for (int i = 0; i < HG_POST_SLOTS; i++)
			hg_post_wake(number, i);
}

bool
hg_post_send_away(Oid database)
{
	bool empty = true;

	for (int number = 0; number < shared->count; number++)
	{
		HgPost post;

		if (!hg_post_read(number, &post) || post.database != database)
			continue;
		hg_post_set_leave(number, true);
		for (int i = 0; i < HG_POST_SLOTS; i++)
			empty &= post.pids[i] == 0;
	}
	return empty;
}

/* The place of this process. */
static int own_post = -1;
static HgPostSlot own_slot;

static void
hg_post_release_slot(int code pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	hg_loader_shared_lock(LW_EXCLUSIVE);
	shared->posts[own_post].post.pids[own_slot] = 0;
	shared->posts[own_post].latches[own_slot] = NULL;
	hg_loader_shared_unlock();
	hg_loader_wake();
}

bool
hg_post_take(int number, Oid database, HgPostSlot slot)
{
	HgSharedPost *post = &shared->posts[number];
	bool taken = false;

	hg_loader_shared_lock(LW_EXCLUSIVE);
	if (post->post.database == database && !post->post.leave && post->post.pids[slot] == 0 &&
		hg_hold_off_find(database) < 0)
	{
		post->post.pids[slot] = MyProcPid;
		post->post.taken[slot]++;
		post->latches[slot] = MyLatch;
		taken = true;
	}
	hg_loader_shared_unlock();
	if (taken)
	{
		own_post = number;
		own_slot = slot;
		/* after the transaction's end, which is a before_shmem_exit callback */
		on_shmem_exit(hg_post_release_slot, 0);
	}
	return taken;
}

bool
hg_post_is_left(int number)
{
	bool leave;

	hg_loader_shared_lock(LW_SHARED);
	leave = shared->posts[number].post.leave;
	hg_loader_shared_unlock();
	return leave;
}

void
hg_post_wake(int number, HgPostSlot slot)
{
	Latch *latch;

	hg_loader_shared_lock(LW_SHARED);
	latch = shared->posts[number].latches[slot];
	hg_loader_shared_unlock();
	hg_loader_set_latch(latch);
}

void
hg_post_set_last_round(int number, const HgLastRound *last)
{
	hg_loader_shared_lock(LW_EXCLUSIVE);
	if (shared->posts[number].last.round < last->round)
		shared->posts[number].last = *last;
	hg_loader_shared_unlock();
}

HgLastRound
hg_post_last_round(int number)
{
	HgLastRound last;

	hg_loader_shared_lock(LW_SHARED);
	last = shared->posts[number].last;
	hg_loader_shared_unlock();
	return last;
}
