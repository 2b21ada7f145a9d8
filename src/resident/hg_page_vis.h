/*-------------------------------------------------------------------------
 *
 * hg_page_vis.h
 *	  Page visibility cache: which rows of changed blocks of a segment version snapshots see.
 *
 * A block that has changed is not valid.  But a user of something that was made of the version
 * needs to know which of the version's rows a snapshot still sees, and which others there are in
 * the block (batch/hg_scan_changed.h).  If every fifth block of a table has changed, each of these
 * has one row that is not what it was, and two hundred rows whose headers are read to find that
 * out.  So the result is cached beside the version, block by block, with the page's position in
 * the WAL.  It is found again as long as that position stays the same.
 *
 * THE CLAIM.  If a page has the position that it had when an entry was stored, and all ids that
 * the entry relies on precede the xmin of a snapshot, then that snapshot sees the rows that the
 * entry says.
 *
 * Proof.  Relations with cached columns are logged, and their files were made by transactions that
 * have ended.  Whatever changes a page's line pointers, the rows under them, or the ids and bits
 * that decide their visibility, writes WAL and sets the page's position under its exclusive lock.
 * Positions ascend, and do not repeat as long as shared memory is there.  Hints are the exception:
 * they say of an id in the page how its transaction has ended.  An entry is stored only if each id
 * of the page had such a hint by then, or preceded the xmin of the snapshot that was used, and the
 * commit log says how it ended: what is committed or aborted stays so.  An aborted transaction has
 * done nothing, for every snapshot.  A committed transaction whose id precedes a snapshot's xmin
 * is seen by it, and the snapshot that was used is one of those.  Locks delete nothing.  No entry
 * is stored for a page with any other id: that of a running transaction, of several (a multixact),
 * or of one that moved rows before 9.0.
 *
 * The ids of a page that has an entry are not half of all ids apart: those that grow so old are
 * frozen before, which changes the page.  Frozen rows are seen by all, and an entry does not rely
 * on their ids.
 *
 * A slot is a cache line, written and read without a lock: a reader of a slot that is being
 * written finds no entry.  The slot also has the buffer that had the page, which spares the next
 * reader a search.  The reader checks that the buffer still has the page.
 *
 * MEMORY.  Entries can be computed again, so they take only memory that nothing else wants.  None
 * is stored where less than a sixteenth of the area would stay free.  They are the first to go
 * where a loader, or a request for a table, finds no room (hg_resident_eviction.h).
 *
 * test/t/cache_visibility.pl has several snapshots check blocks that were changed in each way.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PAGE_VIS_H
#define HG_PAGE_VIS_H

#include "hg_compat.h"

#include "access/xlogdefs.h"
#include "port/atomics.h"
#include "storage/buf.h"

/* An entry names at most so many rows of a block.  A block with more has no entry. */
#define HG_PAGE_VIS_ROWS 20

typedef struct HgPageVis
{
	XLogRecPtr lsn;		  /* of the page */
	TransactionId newest; /* of the ids it relies on; or invalid */
	bool gone;	   /* true: the rows named are not seen, and all others are; false: the opposite */
	uint8 nothers; /* rows that are seen, and are not the version's */
	uint16 nrows;  /* number of the version's rows that are named */
	uint16 rows[HG_PAGE_VIS_ROWS]; /* their numbers, then line pointers of the other rows */
} HgPageVis;

/* The cache of a version's blocks: part of the version, zeroes at first. */
typedef struct HgPageVisCache
{
	pg_atomic_uint64 place; /* a dsa_pointer to the slots; invalid until an entry is stored */
} HgPageVisCache;

extern void hg_page_vis_init(HgPageVisCache *cache);

/* Frees the slots, when nobody reads the version; returns their bytes. */
extern Size hg_page_vis_free(HgPageVisCache *cache);

/*
 * Finds the entry of a block, whose number is that in its segment, for the page's current position
 * and a snapshot of this xmin.  Returns false if there is none.
 */
extern bool hg_page_vis_find(HgPageVisCache *cache, int block, XLogRecPtr lsn, TransactionId xmin,
							 HgPageVis *vis);

/*
 * Stores an entry that was computed with a snapshot of that xmin, and the page's buffer, if there
 * is room.
 */
extern void hg_page_vis_store(HgPageVisCache *cache, int block, TransactionId xmin,
							  const HgPageVis *vis, Buffer buffer);

/*
 * Returns the buffer that had the block's page last, if it is known: the page may have gone
 * meanwhile.  The second function sets it.
 */
extern Buffer hg_page_vis_buffer(HgPageVisCache *cache, int block);
extern void hg_page_vis_set_buffer(HgPageVisCache *cache, int block, Buffer buffer);

/* Prefetches the slot of a block. */
extern void hg_page_vis_prefetch(HgPageVisCache *cache, int block);

#endif /* HG_PAGE_VIS_H */
