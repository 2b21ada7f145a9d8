/*-------------------------------------------------------------------------
 *
 * hg_join_star.h
 *	  Multi-way join: a device joins the covered rows of all tables below a tree of joins at once.
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
 * The last multi-way join.  tables: number of tables that a device joined at once; 0: never.
 * why_not: why it did not in the last execution; NULL: it did, it was not tried, or the record's
 * fallback has the reason.
 */
typedef struct HgJoinMultiway
{
	int tables;
	const char *why_not;
} HgJoinMultiway;

/* State of the topmost join of such a tree; opaque. */
typedef struct HgJoinStar HgJoinStar;

/*
 * Asks a device, at the start of an execution, to join the covered rows of all tables below the
 * join.  If it returns true, the covered rows of the fact relation, except stale probes, are
 * joined: they were handed up in groups, or *rows is their number.  The joins then return only
 * rows for delta rows of the fact relation and stale probes.  If it returns false, the joins return
 * all rows.
 */
extern bool hg_join_ask_star(HgJoinState *state, uint64 *rows);

/* Resets all joins of the tree before a rescan, if a device has answered. */
extern void hg_join_forget_star(HgJoinState *state);

#endif /* HG_JOIN_STAR_H */
