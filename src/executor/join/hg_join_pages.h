/*-------------------------------------------------------------------------
 *
 * hg_join_pages.h
 *	  A join of two tables that a device takes the rows out of the pages of.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_PAGES_H
#define HG_JOIN_PAGES_H

#include "hg_compat.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

typedef struct HgJoinPages
{
	bool sent;		   /* a device has them, or has joined them, in this execution */
	bool declined;	   /* they are not worth it, or can't be sent, in any execution */
	char failure[160]; /* why pages were sent in vain, the last time that they were; or "" */
} HgJoinPages;

/*
 * An execution begins, and nothing was read: have a device join what it takes out of the pages of
 * both tables, where nobody here needs the rows.  True: all are joined; they have gone up in
 * groups, or are so many empty rows of the output.  False: nothing was read.
 */
extern bool hg_join_ask_pages(HgJoinState *state);

#endif /* HG_JOIN_PAGES_H */
