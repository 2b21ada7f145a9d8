/*-------------------------------------------------------------------------
 *
 * hg_input_pages.h
 *	  An input whose rows a device takes out of the pages of its table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_PAGES_H
#define HG_INPUT_PAGES_H

#include "batch/hg_input.h"
#include "batch/hg_page_offer.h"

/*
 * Offer the pages of the child's table, none of whose rows was read, with its key and these columns
 * of its batches; together: those that this process gets.  False where they can't be offered.
 */
extern bool hg_input_offer_pages(HgInput *input, bool together, int ncolumns, const int *columns,
								 HgPageOffer *offer);

/* All of it was sent and joined. */
extern void hg_input_end_pages(HgInput *input, HgPageOffer *offer);

/* So many rows were in the pages that are there, and so many with a key, and without, were left. */
extern void hg_input_tell_pages(HgInput *input, HgPageOffer *offer, uint64 sent_rows, uint64 rows,
								uint64 null_keys);

#endif /* HG_INPUT_PAGES_H */
