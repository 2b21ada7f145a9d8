/*-------------------------------------------------------------------------
 *
 * hg_join_star.h
 *	  A tree of joins whose covered rows a device joins at once.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_STAR_H
#define HG_JOIN_STAR_H

#include "hg_compat.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/*
 * What a device has joined at once, the last time that it did: so many tables; 0: it never has.
 * And why not in the last execution; NULL: it has, or nobody wanted it to, or the record's fallback
 * tells.
 */
typedef struct HgJoinAtOnce
{
	int tables;
	const char *why_not;
} HgJoinAtOnce;

/* What a join at the top of such a tree knows of it; opaque. */
typedef struct HgJoinStar HgJoinStar;

/*
 * An execution begins, and nothing was read: asks a device about the covered rows of all tables
 * below the join.  True: those of one of the tables, the facts, are joined; they have gone up in
 * groups, or are so many empty rows of the output, and the joins are for its delta rows alone.
 * False: the joins are for all rows.
 */
extern bool hg_join_ask_star(HgJoinState *state);

/* Before a rescan: where a device has answered, no join of the tree keeps anything. */
extern void hg_join_forget_star(HgJoinState *state);

#endif /* HG_JOIN_STAR_H */
