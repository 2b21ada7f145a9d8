/*-------------------------------------------------------------------------
 *
 * hg_resident_eviction.h
 *	  Makes room in the area by evicting what was not used for the longest time.
 *
 * The page visibility caches (hg_page_vis.h) of segments that nobody reads go first, of any table
 * and whenever they were used: the next join computes them again.  Then graphs go, each as a
 * whole: they are made again from columns, without reading the table.  A graph counts as used when
 * its columns were, or itself.  Then the columns of single segments go.  Loading works segment by
 * segment too, so a table may be cached in parts.  Not evicted are
 *
 *	-	what is pinned, by a process that reads it or by hashgraph_resident_add();
 *	-	what was made less than a minute ago, so that tables do not take turns in the area;
 *	-	what was used after the table that needs the room was requested, and what is of that table:
 *		a table that is too large would evict itself.
 *
 * A column that has lost a segment is loaded again after a scan or a user requests it, and a graph
 * is made again after a join does.
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
 * Evicts until this many bytes are freed for the table.  now is true if somebody requests the
 * table now; otherwise what was used after its last request stays.  Returns the number of freed
 * bytes; 0 if only page visibility caches were freed, and fewer bytes than wanted.  Joins fill
 * those again, so that a caller that retried until there is room would never end.  The caller
 * holds no lock of the directory.
 */
extern Size hg_eviction_make_room(HgResidentRelation table, Size wanted, bool now);

/* Returns how long new versions are not evicted, in ms. */
extern long hg_eviction_rest_ms(void);

/*
 * Returns how long the directory remembers, in ms, an entry that only scans requested, after all
 * of it was evicted and no scan has missed it.
 */
extern long hg_eviction_forget_ms(void);

#endif /* HG_RESIDENT_EVICTION_H */
