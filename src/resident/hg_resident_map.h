/*-------------------------------------------------------------------------
 *
 * hg_resident_map.h
 *	  Reads the visibility map, without extending or changing it.
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

/* Returns true if a block is all-visible now; map is the pinned page of its segment. */
extern bool hg_map_peek(Buffer map, BlockNumber block);

#endif /* HG_RESIDENT_MAP_H */
