/*-------------------------------------------------------------------------
 *
 * hg_table_feed.c
 *	  The input of a rebuild: the rows of an older table that are not erased, then those of a
 *	  batch.
 *
 * The order decides which of equal keys come first: those of the table, and then the batch's in
 * its order.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_feed.h"

void
hg_feed_init(HgTableFeed *feed, HgTable *old, HgTableErased *erased, HgTableSource *in)
{
	feed->old = old;
	feed->erased = erased;
	feed->in = in;
	feed->batch_from = in != NULL ? in->at : 0;
	hg_feed_rewind(feed);
}

void
hg_feed_rewind(HgTableFeed *feed)
{
	feed->cursor = 0;
	feed->old_ended = feed->old == NULL;
	feed->old_rows = 0;
	feed->erased_rows = 0;
	if (feed->in != NULL)
		feed->in->at = feed->batch_from;
}

uint64_t
hg_feed_most(const HgTableFeed *feed)
{
	return (feed->old != NULL ? feed->old->rows : 0) +
		   (feed->in != NULL ? feed->in->batch->count - feed->batch_from : 0);
}

HgStatus
hg_feed_next(HgTable *table, HgTableFeed *feed, uint64_t *words, uint32_t *rows, uint32_t *count,
			 HgError *error)
{
	HgStatus status;

	*count = 0;
	while (!feed->old_ended && *count == 0)
	{
		uint32_t found;
		uint32_t kept = 0;

		status = hg_table_poll(table, error);
		if (status != HG_OK)
			return status;
		found = feed->old->calls->scan(feed->old, &feed->cursor, words, rows, &feed->old_ended);
		if (feed->erased != NULL)
		{
			for (uint32_t i = 0; i < found; i++)
				if (!hg_erased_has(feed->erased, words[i], rows[i]))
				{
					words[kept] = words[i];
					rows[kept++] = rows[i];
				}
		}
		else
			kept = found;
		feed->old_rows += kept;
		feed->erased_rows += found - kept;
		*count = kept;
	}
	if (*count > 0 || feed->in == NULL)
		return HG_OK;
	return hg_source_next(table, feed->in, words, rows, count, error);
}
