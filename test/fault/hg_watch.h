/*-------------------------------------------------------------------------
 *
 * hg_watch.h
 *	  How long a session computes without a look at interrupts.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WATCH_H
#define HG_WATCH_H

/* Define the setting hashgraph.watch_interrupts. */
extern void hg_watch_init(void);

#endif /* HG_WATCH_H */
