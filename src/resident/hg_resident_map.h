/*-------------------------------------------------------------------------
 *
 * hg_resident_map.h
 *	  Looks at the visibility map, which extend and change nothing.
 *
 * A map that has not been made, or ends before a block, has no bit set for it. visibilitymap_pin()
 * would make the missing pages, which neither a reader may nor a standby can: nothing here calls
 * it.
 *
 * Four looks, for four uses:
 *
 *	-	a COPY takes the bits of many segments, each page of the map pinned once, without the
 *		page's lock.  A byte of the map is written at once, and what a copy must not miss has been
 *		written before a transaction ended that the caller's snapshot has seen end
 *		(hg_resident_validity.c).  From 17.11 and 18.6 on whoever clears a bit holds the page's
 *		lock until the WAL has the record: readers that took it would wait for writers, and these
 *		for them.
 *	-	a LOOK takes the bits of one segment together with the page's position in the WAL, which
 *		needs the lock: neither may change without the other.
 *	-	a SURVEY is a copy of all segments below some pages of the map, for who does not need the
 *		bits of a page where all are set: that is told while the page is read, which costs no more
 *		than the reading.  A table that rests has few other pages.
 *	-	a PEEK tells of one block, under whatever lock the caller has.
 *
 * This file alone looks into the visibility map (make lint).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_MAP_H
#define HG_RESIDENT_MAP_H

#include "hg_compat.h"

#include "access/xlogdefs.h"
#include "storage/buf.h"
#include "utils/rel.h"

#include "resident/hg_resident_key.h"

/* bits[i] = which blocks of segment first + i are all-visible, for i < n. */
extern void hg_map_copy(Relation rel, uint32 first, uint32 n, HgBlockBits *bits);

/*
 * The same of all segments below npages pages of the map, but where full[i] tells that all of the
 * i-th page's blocks are: bits[i * HG_SEGMENTS_PER_MAP_PAGE] and what follows is as it was then.
 */
extern void hg_map_survey(Relation rel, uint32 first_page, uint32 npages, bool *full,
						  HgBlockBits *bits);

/*
 * The bits of one segment, with the position in the WAL of the map's page; false where there is no
 * such page.  The page stays pinned as *map, for peeks; the caller releases it.
 */
extern bool hg_map_look(Relation rel, uint32 segment, HgBlockBits *bits, XLogRecPtr *lsn,
						Buffer *map);

/* Is a block all-visible, as the pinned page of its segment says now? */
extern bool hg_map_peek(Buffer map, BlockNumber block);

#endif /* HG_RESIDENT_MAP_H */
