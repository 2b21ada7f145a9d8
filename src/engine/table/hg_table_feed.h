/*-------------------------------------------------------------------------
 *
 * hg_table_feed.h
 *	  The rows that a table is made of: of an older one, less those erased, and of a batch.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_FEED_H
#define HG_TABLE_FEED_H

#include "hg_table_erased.h"

/*
 * Rows in their order: first those of a table, or of what stands for one, that are not erased, then
 * the batch's.  Each part may be missing.
 */
typedef struct HgTableFeed
{
	HgTable *old;		   /* scanned by its kind's call; NULL: nothing */
	HgTableErased *erased; /* NULL: nothing */
	HgTableSource *in;	   /* from where it stands; NULL: nothing */
	uint64_t batch_from;   /* where that is */
	uint64_t place;		   /* in old */
	bool old_ended;
	uint64_t old_rows; /* rows of old that were passed on, or not, since the last rewind */
	uint64_t erased_rows;
} HgTableFeed;

extern void hg_feed_init(HgTableFeed *feed, HgTable *old, HgTableErased *erased, HgTableSource *in);

/* Begin again. */
extern void hg_feed_rewind(HgTableFeed *feed);

/* At most so many rows come. */
extern uint64_t hg_feed_most(const HgTableFeed *feed);

/*
 * The next rows, at most HG_TABLE_CHUNK; *count 0 at the end.  It polls.  The arrays have
 * HG_TABLE_CHUNK entries.
 */
extern HgStatus hg_feed_next(HgTable *table, HgTableFeed *feed, uint64_t *words, uint32_t *rows,
							 uint32_t *count, HgError *error);

#endif /* HG_TABLE_FEED_H */
