/*-------------------------------------------------------------------------
 *
 * hg_page_offer.h
 *	  The pages of a table scan, for a device that takes the rows out of them.
 *
 * A scan whose rows nobody here looks at can be offered as the pages of its table
 * (engine/hg_pages.h): they are copied as they are, but for rows that the scan's snapshot does not
 * see, and the scan's qual is the device's to ask.  Then the scan has come to its end.  How many
 * rows it has returned, for those who count them, is what the device has found.
 *
 * Where the device does not take them in the end the scan is where it was, and it is as if it had
 * not been offered.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PAGE_OFFER_H
#define HG_PAGE_OFFER_H

#include "hg_compat.h"

#include "executor/instrument.h"

#include "backend/matcher/hg_page_job.h"
#include "batch/hg_scan_table.h"

typedef struct HgPageOffer
{
	HgScanTable *table;
	bool together; /* it is a parallel scan, of whose pages each process gets some */
	HgPageSpec spec;
	uint64 expected; /* rows, as the planner expects them */

	/* what the table is known to be like */
	double blocks;
	double rows;	/* in all of them ... */
	double visible; /* ... and the share of blocks all of whose rows all see */

	/* what was sent */
	uint64 pages;
	uint64 sent_rows;
	bool begun;
	NodeInstrumentation before; /* of the scan, where it is instrumented */
} HgPageOffer;

/*
 * Offer the pages of a table of whose columns the key is the first of wanted[nwanted], and the
 * others come along; together: of a parallel scan, those that this process gets.  False: they can't
 * be offered.  Nothing is done yet.
 */
extern bool hg_page_offer_init(HgPageOffer *offer, HgScanTable *table, bool together, int nwanted,
							   const int *wanted);

/* How long it takes to take the rows out of the pages here, in ms. */
extern double hg_page_offer_reading_ms(const HgPageOffer *offer);

/* How much less time it takes to copy the pages than to take them apart here, in ms. */
extern double hg_page_offer_saved_ms(const HgPageOffer *offer);

/*
 * Begin to send all pages of the scan, none of which was read; false, and nothing is begun: they
 * can't be sent after all.
 */
extern bool hg_page_offer_begin(HgPageOffer *offer);

/* Send them; false: they were not all sent. */
extern bool hg_page_offer_send(HgPageOffer *offer, HgPageJob *job, HgSide side);

/* The device has joined them: count what was read of the table. */
extern void hg_page_offer_count(HgPageOffer *offer);

/* Tell that so many rows have come out of sent_rows that were read, of all processes. */
extern void hg_page_offer_tell(HgPageOffer *offer, uint64 sent_rows, uint64 rows);

/* The pages were sent for nothing: the scan begins again, as one that was not read. */
extern void hg_page_offer_forget(HgPageOffer *offer);

/* The same, for one of the processes that have sent them: the others are to get them again, too. */
extern void hg_page_offer_deal_again(HgPageOffer *offer);

#endif /* HG_PAGE_OFFER_H */
