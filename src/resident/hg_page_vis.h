/*-------------------------------------------------------------------------
 *
 * hg_page_vis.h
 *	  The visibility map, and the page visibility cache: which rows of a segment version's
 *	  changed blocks a snapshot sees.
 *
 * A block that has changed since it was loaded is not valid.  A user of something that was made of
 * the version (batch/hg_scan_resident.h) still needs to know which of the version's rows a snapshot
 * sees, and which other rows the block has.  In a table where every fifth block has one changed
 * row, that takes reading the headers of some two hundred rows in each of them.  So the cache
 * remembers the result for each block, with the LSN of its page.  A lookup finds the entry as long
 * as the page's LSN stays the same.
 *
 * THE CLAIM.  If a page has the LSN that it had when an entry was stored, and all ids that the
 * entry relies on precede the xmin of a snapshot, then that snapshot sees exactly the rows that
 * the entry says.
 *
 * Proof.  Relations with cached columns are logged, and transactions that have ended made their
 * files.  Whatever changes a page's line pointers, the rows under them, or the ids and bits that
 * decide their visibility, writes WAL and sets the page's LSN under its exclusive lock.  LSNs
 * ascend, and do not repeat as long as shared memory exists.  Hint bits are the exception: they
 * say how the transaction of an id in the page has ended.  An entry is stored only if each id of
 * the page had such a hint by then, or preceded the xmin of the snapshot that was used, and the
 * commit log says how it ended.  What is committed or aborted stays so.  An aborted transaction
 * has done nothing, for every snapshot.  A snapshot sees a committed transaction whose id precedes
 * its xmin, and the snapshot that was used is one of those.  Row locks delete nothing.  No entry
 * is stored for a page with any other id: that of a running transaction, a multixact, or an id
 * that moved rows before 9.0.
 *
 * Comparing the ids of a page with an xmin is right as long as they are less than half of all ids
 * apart.  They are: an id is frozen before it grows so old, which changes the page.  All snapshots
 * see frozen rows, and an entry does not rely on their ids.
 *
 * A slot is one cache line, written and read without a lock.  A reader of a slot that is being
 * written finds no entry.  The slot also has the number of the buffer that had the page, which
 * spares the next reader a lookup in the buffer table.  The reader checks that the buffer still
 * has the page.
 *
 * MEMORY.  Entries can be computed again, so they take only memory that nothing else needs.  No
 * slots are allocated where less than a sixteenth of the area would stay free.  Caches are the
 * first to be freed where a loader, or a request for a table, finds no memory
 * (hg_resident_eviction.h).
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
#include "utils/rel.h"

#include "resident/hg_resident_key.h"

/*
 * Reads the visibility map, without extending or changing it.
 *
 * A map that does not exist, or ends before a block, has no bit set for it.  visibilitymap_pin()
 * would extend the map, which neither a reader nor a standby may do, so nothing here calls it.
 * There are four ways to read:
 *
 *	-	a COPY reads the bits of many segments.  It pins each page of the map once, and does not
 *		lock it.  A byte of the map is written at once.  What a copy must not miss was written
 *		before a transaction ended that the caller's snapshot has seen end
 *		(hg_resident_validity.c).  Since 17.11 and 18.6 a process that clears a bit holds the
 *		page's lock until the WAL has the record: readers that locked the page would wait for
 *		writers, and writers for them.
 *	-	a LOOK reads the bits of one segment together with the page's LSN.  That needs the page's
 *		lock, so that neither changes without the other.
 *	-	a SURVEY copies all segments below some pages of the map, except below pages with all bits
 *		set.  Those are detected while the page is read, at no extra cost.  A table at rest has few
 *		other pages.
 *	-	a PEEK reads the bit of one block, under whatever lock the caller has.
 *
 * This file alone reads the visibility map (make lint).
 */

/* Sets bits[i] to the all-visible blocks of segment first + i, for i < n. */
extern void hg_map_copy(Relation rel, uint32 first, uint32 n, HgBlockBits *bits);

/*
 * Copies the bits of all segments below npages pages of the map.  full[i] becomes true if all bits
 * of the i-th page are set; then bits[i * HG_SEGMENTS_PER_MAP_PAGE] and on are not written.
 */
extern void hg_map_survey(Relation rel, uint32 first_page, uint32 npages, bool *full,
						  HgBlockBits *bits);

/*
 * Reads the bits of one segment, with the LSN of the map's page.  Returns false if there is no
 * such page.  On true the page stays pinned as *map, for peeks, and the caller releases it.
 */
extern bool hg_map_look(Relation rel, uint32 segment, HgBlockBits *bits, XLogRecPtr *lsn,
						Buffer *map);

/* Returns true if a block is all-visible now; map is the page pinned by hg_map_look(). */
extern bool hg_map_peek(Buffer map, BlockNumber block);

/*
 * hg_page_vis.c: page visibility cache: which rows of a segment version's changed blocks a
 * snapshot sees
 */

/* Maximum number of rows that an entry names.  A block that needs more has no entry. */
#define HG_PAGE_VIS_ROWS 20

typedef struct HgPageVis
{
	XLogRecPtr lsn;		  /* of the page */
	TransactionId newest; /* newest id that the entry relies on; or invalid */
	bool gone;	   /* true: the rows named are not seen, and all others are; false: the opposite */
	uint8 nothers; /* number of visible rows that are not the version's */
	uint16 nrows;  /* number of the version's rows that are named */
	uint16 rows[HG_PAGE_VIS_ROWS]; /* their numbers, then line pointers of the other rows */
} HgPageVis;

/* The cache of a segment version's blocks.  It is a part of the version. */
typedef struct HgPageVisCache
{
	pg_atomic_uint64 slots; /* dsa_pointer to the blocks' slots, or invalid */
} HgPageVisCache;

/* Initializes an empty cache, which has no slots. */
extern void hg_page_vis_init(HgPageVisCache *cache);

/* Frees the slots with all entries.  Returns their bytes, or 0.  The version must not be pinned. */
extern Size hg_page_vis_free(HgPageVisCache *cache);

/*
 * Finds the entry of a block (0 to HG_SEGMENT_BLOCKS - 1) for the page's current LSN and a
 * snapshot with this xmin.  Copies it to *vis and returns true; returns false if there is none.
 */
extern bool hg_page_vis_find(HgPageVisCache *cache, int block, XLogRecPtr lsn, TransactionId xmin,
							 HgPageVis *vis);

/*
 * Stores an entry that was computed with a snapshot of this xmin, and the page's buffer.  Does
 * nothing if there is no memory for slots, or if the entry does not hold for that xmin.
 */
extern void hg_page_vis_store(HgPageVisCache *cache, int block, TransactionId xmin,
							  const HgPageVis *vis, Buffer buffer);

/*
 * Returns the buffer that had the block's page last, or InvalidBuffer.  This is a hint: the page
 * may have left the buffer.
 */
extern Buffer hg_page_vis_buffer(HgPageVisCache *cache, int block);

/* Stores that a buffer has the block's page, if there are slots. */
extern void hg_page_vis_set_buffer(HgPageVisCache *cache, int block, Buffer buffer);

/* Prefetches the slot of a block, if there are slots. */
extern void hg_page_vis_prefetch(HgPageVisCache *cache, int block);

#endif /* HG_PAGE_VIS_H */
