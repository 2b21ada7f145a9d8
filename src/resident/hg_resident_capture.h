/*-------------------------------------------------------------------------
 *
 * hg_resident_capture.h
 *	  Taking a segment in: from before its first page is read until its version is in the chain.
 *
 * Whoever captures holds a registered snapshot from before the first call until the last one has
 * returned: nobody else watches over what has been read and not been published
 * (hg_resident_validity.c, "A loader's own snapshot").  During each call it holds the relation's
 * AccessShareLock; where it lets go of that in between, so that others get at the table, it calls
 * hg_capture_let_go before, and hg_capture_go_on with the relation that it has opened then, which
 * must have the same file still.
 *
 *		hg_capture_begin
 *		for each block of capture.wanted: hg_capture_page, and take the rows of the copy
 *		make a version of what was taken
 *		hg_capture_join
 *		hg_capture_end					also where it is given up; an error does it too
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
	HgBlockBits wanted;		   /* blocks that were all-visible when it began, and when it went on */
	XLogRecPtr map_lsn;		   /* of the map's page then */
	FullTransactionId horizon; /* rows that come to blocks from then on have no older id */
	Buffer map;				   /* that page */
	int refused;			   /* blocks that are all-visible, and have no position in the WAL */
	BufferAccessStrategy strategy;
} HgCapture;

/* What one block was when it was read. */
typedef struct HgCapturedPage
{
	PGAlignedBlock content;
	XLogRecPtr lsn;
	Buffer buffer; /* where it was, and may be again */
} HgCapturedPage;

/* False: there is nothing to take in, as no block below this page of the map can be relied on. */
extern bool hg_capture_begin(HgCapture *capture, Relation rel, uint32 segment,
							 BufferAccessStrategy strategy);

/* Copy a block that capture->wanted has.  False: it is not all-visible, or can't be relied on. */
extern bool hg_capture_page(HgCapture *capture, BlockNumber block, HgCapturedPage *page);

/*
 * Publish a version of the segment, and have it join the chain.  False: not published, because
 * there is no chain, or the directory does not want it any more; the version is still the caller's.
 */
extern bool hg_capture_join(HgCapture *capture, dsa_pointer version);

extern void hg_capture_end(HgCapture *capture);

/* Hold nothing of the table any more; end may follow, or go_on. */
extern void hg_capture_let_go(HgCapture *capture);
/* False: the table's map has gone. */
extern bool hg_capture_go_on(HgCapture *capture, Relation rel);

/*
 * Makes the version that the directory has for the segment valid again, after its record has
 * become void: those of its blocks which rule L shows to be unchanged get a new record.  Returns
 * their number; -1: there is no such version.  Takes the place of all calls between begin and end.
 */
extern int hg_capture_readmit(HgCapture *capture);

#endif /* HG_RESIDENT_CAPTURE_H */
