/*-------------------------------------------------------------------------
 *
 * hg_loader_shared.h
 *	  Which processes work for the residents of which database.
 *
 * A POST for each database that has residents, or is rid of them: two witnesses and, while there
 * is something to take in, loaders.  The launcher gives posts to databases and starts the
 * processes; each of them takes its place when it has come up, and leaves it as the last thing
 * that it does.  Who is to go is told so (leave), and goes by itself.
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

/* Most loaders of a database at a time. */
#define HG_LOADERS 4

typedef enum HgPlace
{
	HG_PLACE_WITNESS = 0,
	HG_PLACE_OTHER_WITNESS,
	HG_PLACE_LOADER, /* the first one of HG_LOADERS */
	HG_PLACES = HG_PLACE_LOADER + HG_LOADERS
} HgPlace;

/* What the launcher reads of a post. */
typedef struct HgPost
{
	Oid database;
	bool leave;
	pid_t pids[HG_PLACES];	 /* 0: nobody is there */
	uint32 taken[HG_PLACES]; /* how often somebody has taken it */
} HgPost;

/* Request shared memory, and have it made; while shared_preload_libraries are loaded. */
extern void hg_loader_shared_init(void);

/* Tell the launcher that there is something to do. */
extern void hg_loader_wake(void);

/* Has there been a launcher since the server started?  Without a slot for it there is none. */
extern bool hg_loader_has_launcher(void);

/*
 * Keep workers away from a database, until as many calls have let them; the caller's release comes
 * on each way out.  False: there are too many who do so already.
 */
extern bool hg_post_hold_off(Oid database);
extern void hg_post_let_on(Oid database);
extern bool hg_post_is_held_off(Oid database);

/* Have those who work for a database leave.  True: nobody is there. */
extern bool hg_post_send_away(Oid database);

/* The launcher's: from now on this process is the one to wake. */
extern void hg_loader_shared_attach(void);

/* The launcher's: how many posts there may be, and what one of them is.  False: it is nobody's. */
extern int hg_post_count(void);
extern bool hg_post_read(int number, HgPost *post);

/* The launcher's: the post of a database, given to it where it has none.  -1: none is free. */
extern int hg_post_assign(Oid database);
/* The launcher's: nobody is there any more.  False: somebody is. */
extern bool hg_post_unassign(int number);
/* The launcher's: have those who are there leave, or have them stay. */
extern void hg_post_set_leave(int number, bool leave);

/*
 * A worker's: take the place that it was started for, until it exits.  False: the post is another
 * database's, is to be left, or the place is taken.
 */
extern bool hg_post_take(int number, Oid database, HgPlace place);
/* A worker's: is it to go? */
extern bool hg_post_is_left(int number);
/* A worker's: wake another one. */
extern void hg_post_wake(int number, HgPlace place);

/*
 * The witnesses': who has made the last round that is done, and when it was done.  It says whose
 * turn is next, and no more than that: a witness that comes late, with a round of a chain that is
 * broken, is not heeded.
 */
typedef struct HgLastRound
{
	uint64 round;
	HgPlace place;
	TimestampTz ended_at;
} HgLastRound;

extern void hg_post_set_last_round(int number, const HgLastRound *last);
extern HgLastRound hg_post_last_round(int number);

#endif /* HG_LOADER_SHARED_H */
