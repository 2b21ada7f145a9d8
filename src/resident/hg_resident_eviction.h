/*-------------------------------------------------------------------------
 *
 * hg_resident_eviction.h
 *	  Making room in the area: what was not used for the longest time goes.
 *
 * The page visibility cache (hg_page_vis.h) goes before all else, of any table and whenever it was
 * used, as far as room is wanted and nobody reads the segment: the next join computes it again.
 * Of the rest HashGraphs go first, each as a whole: they are made again of columns, without
 * reading the table.  A graph was used when its column was, or itself.  Then goes a column of a
 * segment: the arrays that it has there.  What is taken in again comes segment by segment too, so
 * that a table may be resident in parts.  It stays
 *
 *	-	what is pinned, by a process that reads it or by hashgraph_resident_add();
 *	-	what was made less than a minute ago, so that tables do not take turns in the area;
 *	-	what was used later than whoever wants the room was asked for, and what is of the same
 *		table: a table that is too large would evict itself.
 *
 * A column that has lost a segment is not taken in again before a scan asks for it, or a user, nor
 * is a graph made again before a join does.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_EVICTION_H
#define HG_RESIDENT_EVICTION_H

#include "hg_compat.h"

#include "resident/hg_resident_directory.h"

/*
 * Make room for so many bytes that a table wants, which somebody asks for now, or was asked for
 * when its entry says.  Returns how many have been freed: 0 if nothing may go but page
 * visibility caches, and fewer bytes of these than are wanted.  They come back as joins go on, and
 * who asks until there is room would never end: after that it is tried once more.  No lock of the
 * directory is held.
 */
extern Size hg_eviction_make_room(HgResidentRelation table, Size wanted, bool now);

/* How long nothing is evicted that was taken in, in ms. */
extern long hg_eviction_rest_ms(void);

/*
 * How long what scans have asked for, and nobody else, is remembered when all of it has been
 * evicted and no scan has missed it, in ms.
 */
extern long hg_eviction_forget_ms(void);

#endif /* HG_RESIDENT_EVICTION_H */
