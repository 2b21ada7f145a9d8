/*-------------------------------------------------------------------------
 *
 * hg_loader_shared.h
 *	  Shared memory of the background workers: which processes work for which database.
 *
 * A database with cached tables has a POST: two WITNESSES, which observe visibility maps
 * (resident/hg_resident_chain.h), and, while there is something to load, LOADERS.  A post has a
 * number, and a place (HgPostSlot) for each process.  The LAUNCHER assigns posts to databases and
 * starts the processes.  Each process takes its place in the post when it has started, and leaves
 * it as the last thing it does.  A process that shall exit is asked to (leave), and exits itself.
 *
 * One lock protects all of it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_SHARED_H
#define HG_LOADER_SHARED_H

#include "hg_compat.h"

#include "datatype/timestamp.h"

/* Maximum number of loaders of a database at a time. */
#define HG_LOADERS 4

typedef enum HgPostSlot
{
	HG_POST_WITNESS = 0,
	HG_POST_OTHER_WITNESS,
	HG_POST_LOADER, /* first of HG_LOADERS */
	HG_POST_SLOTS = HG_POST_LOADER + HG_LOADERS
} HgPostSlot;

/* A copy of a post. */
typedef struct HgPost
{
	Oid database;
	/* the processes shall exit */
	bool leave;
	pid_t pids[HG_POST_SLOTS];	 /* 0: the place is empty */
	uint32 taken[HG_POST_SLOTS]; /* number of times that a process has taken the place */
} HgPost;

/* Installs the hooks for shared memory, while shared_preload_libraries are loaded. */
extern void hg_loader_shared_init(void);

/* Wakes the launcher. */
extern void hg_loader_wake(void);

/* Returns true if there was a launcher since the server's start, which needs a worker slot. */
extern bool hg_loader_has_launcher(void);

/*
 * Keeps workers away from a database until hg_post_let_on() was called as often as this.  Returns
 * false, and does nothing, if too many commands keep workers away.
 */
extern bool hg_post_hold_off(Oid database);
/* Ends what one hg_post_hold_off() has begun.  The caller of that calls it on each way out. */
extern void hg_post_let_on(Oid database);
/* Returns true while workers are kept away from a database. */
extern bool hg_post_is_held_off(Oid database);

/* Asks a database's workers to exit, without waiting for them.  Returns true if there are none. */
extern bool hg_post_send_away(Oid database);

/* For the launcher: makes this process the one that hg_loader_wake wakes. */
extern void hg_loader_shared_attach(void);

/* For the launcher: returns the number of posts. */
extern int hg_post_count(void);
/* For the launcher: copies a post.  Returns false if it is no database's. */
extern bool hg_post_read(int number, HgPost *post);

/* For the launcher: returns the post of a database, assigned if needed; -1 if none is free. */
extern int hg_post_assign(Oid database);
/* For the launcher: frees a post.  Returns false if processes are still there. */
extern bool hg_post_unassign(int number);
/* For the launcher: asks the processes of a post to exit, or not any more. */
extern void hg_post_set_leave(int number, bool leave);

/*
 * For a worker: takes the place that it was started for, until it exits.  Returns false if the
 * post is another database's or shall be left, the database is held off, or the place is taken.
 */
extern bool hg_post_take(int number, Oid database, HgPostSlot slot);
/* For a worker: returns true if the processes of its post have to exit. */
extern bool hg_post_is_left(int number);
/* For a worker: sets the latch of the process in a place of a post, if there is one. */
extern void hg_post_wake(int number, HgPostSlot slot);

/*
 * For witnesses: the last finished round, the place that made it, and when it ended.  It only says
 * whose turn is next.  A late round of a broken chain is not stored.
 */
typedef struct HgLastRound
{
	uint64 round;
	HgPostSlot slot;
	TimestampTz ended_at;
} HgLastRound;

/* Stores a round as the last one of the post with this number, unless it is older. */
extern void hg_post_set_last_round(int number, const HgLastRound *last);
/* Returns the last finished round of the post with this number. */
extern HgLastRound hg_post_last_round(int number);

#endif /* HG_LOADER_SHARED_H */
