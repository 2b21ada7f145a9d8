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
#include "batch/hg_page_source.h"

/*
 * Makes the child's table, which must be unread, a page source of the key and of columns[ncolumns]
 * of the child's batches.  If together is true, it has the pages that this process gets of a
 * parallel scan.  Returns false if that is impossible.
 */
extern bool hg_input_init_page_source(HgInput *input, bool parallel, int ncolumns,
									  const int *columns, HgPageSource *page_source);

/* Counts the pages, after all of them were sent and joined. */
extern void hg_input_end_pages(HgInput *input, HgPageSource *page_source);

/* Counts the rows of uploaded_rows that passed the qual, with a key and with a NULL key. */
extern void hg_input_report_pages(HgInput *input, HgPageSource *page_source, uint64 uploaded_rows,
								  uint64 rows, uint64 null_keys);

#endif /* HG_INPUT_PAGES_H */
