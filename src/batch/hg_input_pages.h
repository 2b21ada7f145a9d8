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
 * of its batches; false where they can't be offered.
 */
extern bool hg_input_offer_pages(HgInput *input, int ncolumns, const int *columns,
								 HgPageOffer *offer);

/* All of it was sent and joined, and so many rows with a key, and without, were there. */
extern void hg_input_end_pages(HgInput *input, HgPageOffer *offer, uint64 rows, uint64 null_keys);

#endif /* HG_INPUT_PAGES_H */
