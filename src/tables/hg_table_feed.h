/*-------------------------------------------------------------------------
 *
 * hg_table_feed.h
 *	  The input of a rebuild: the rows of an older table that are not erased, then those of a
 *	  batch.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_FEED_H
#define HG_TABLE_FEED_H

#include "hg_table_erased.h"

/* First the older table's rows that are not erased, then the batch's. Each part may be missing. */
typedef struct HgTableFeed
{
	HgTable *old;		   /* scanned by its kind's call; NULL: no older table */
	HgTableErased *erased; /* NULL: nothing is erased */
	HgTableSource *in;	   /* read from its current position; NULL: no batch */
	uint64_t batch_from;   /* position of in when the feed was made */
	uint64_t cursor;	   /* position in old */
	bool old_ended;
	/* rows of old since the last rewind that were returned, and that were erased */
	uint64_t old_rows;
	uint64_t erased_rows;
} HgTableFeed;

/* Makes a feed. Any of the three may be NULL; they must outlive the feed. */

extern void hg_feed_init(HgTableFeed *feed, HgTable *old, HgTableErased *erased, HgTableSource *in);

/* Starts again at the first row. */
extern void hg_feed_rewind(HgTableFeed *feed);

/* Returns an upper bound on the number of rows of the feed. */
extern uint64_t hg_feed_most(const HgTableFeed *feed);

/* Reads the next rows into arrays of HG_TABLE_CHUNK entries; *count is 0 at the end. It polls. */
extern HgStatus hg_feed_next(HgTable *table, HgTableFeed *feed, uint64_t *words, uint32_t *rows,
							 uint32_t *count, HgError *error);

#endif /* HG_TABLE_FEED_H */
