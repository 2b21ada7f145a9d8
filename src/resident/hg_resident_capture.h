/*-------------------------------------------------------------------------
 *
 * hg_resident_capture.h
 *	  Loads a segment: from before its first page is read until its version has joined the chain.
 *
 * The caller holds a registered snapshot from before the first call until the last one has
 * returned: nobody else watches what has been read and not been published (hg_resident_validity.c,
 * "A loader's own snapshot").  During each call it holds the relation's AccessShareLock.  To
 * release that lock in between, so that others can lock the table, the caller calls
 * hg_capture_let_go first.  After it has locked and opened the relation again, which must still
 * have the same file, it calls hg_capture_go_on.
 *
 *	hg_capture_begin
 *	for each block of capture.wanted: hg_capture_page, and load the rows of the copy
 *	make a version of the rows
 *	hg_capture_join
 *	hg_capture_let_go, also after giving up; no call is needed after an error
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_CAPTURE_H
#define HG_RESIDENT_CAPTURE_H

#include "hg_compat.h"

#include "storage/bufmgr.h"

#include "resident/hg_resident_chain.h"
#include "resident/hg_resident_directory.h"

typedef struct HgCapture
{
	Relation rel;
	uint32 segment;
	HgBlockBits wanted;		   /* blocks that were all-visible at begin and at each go_on */
	XLogRecPtr map_lsn;		   /* LSN of the map's page at begin */
	FullTransactionId horizon; /* rows that come to blocks later have no older id */
	Buffer map;				   /* the map's page, pinned; or InvalidBuffer */
	int refused;			   /* number of all-visible blocks whose page has no plausible LSN */
	BufferAccessStrategy strategy;
} HgCapture;

/* Copy of one block at the time it was read. */
typedef struct HgCapturedPage
{
	PGAlignedBlock content;
	XLogRecPtr lsn;
	Buffer buffer; /* where the page was, and may be again; not pinned */
} HgCapturedPage;

/*
 * Sets up *capture for a segment, and pins its page of the visibility map.  Returns false if there
 * is nothing to load: there is no such page, or its LSN can't be relied on.  strategy is for
 * reading the table's blocks.
 */
extern bool hg_capture_begin(HgCapture *capture, Relation rel, uint32 segment,
							 BufferAccessStrategy strategy);

/*
 * Copies a block that capture->wanted has to *page.  Returns false if the block is not all-visible
 * any more, or its page's LSN can't be relied on; the latter counts in capture->refused.
 */
extern bool hg_capture_page(HgCapture *capture, BlockNumber block, HgCapturedPage *page);

/*
 * Publishes a version of the segment, and joins it to the chain.  Returns false if there is no
 * chain, or the directory does not want the segment any more.  The version is the directory's if
 * the result is true, and still the caller's if it is false.
 */
extern bool hg_capture_join(HgCapture *capture, dsa_pointer version);

/* Releases the pin of the map's page, and forgets the relation.  May be called more than once. */
extern void hg_capture_let_go(HgCapture *capture);
/*
 * Continues with the relation, and removes blocks from capture->wanted that are not all-visible
 * any more.  Returns false if the segment has no page of the map any more.
 */
extern bool hg_capture_go_on(HgCapture *capture, Relation rel);

/*
 * Makes the directory's version of the segment valid again after its record has become void.
 * Blocks that rule L (hg_resident_validity.c) shows to be unchanged get a new record.  Returns
 * their number, or -1 if there is no such version.  Used instead of hg_capture_page and
 * hg_capture_join.
 */
extern int hg_capture_readmit(HgCapture *capture);

#endif /* HG_RESIDENT_CAPTURE_H */
