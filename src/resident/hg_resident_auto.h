/*-------------------------------------------------------------------------
 *
 * hg_resident_auto.h
 *	  Requests columns that joins have scanned twice, and keys that joins have hashed twice.
 *
 * A first scan is noted in a hash table of fixed size, where one note may overwrite another.  A
 * scan whose note was overwritten has to come a third time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_AUTO_H
#define HG_RESIDENT_AUTO_H

#include "hg_compat.h"

#include "utils/rel.h"

#include "resident/hg_resident_graph_key.h"

/* Requests shared memory for the notes, while the server starts. */
extern void hg_auto_request(void);
/* Attaches to that shared memory, and initializes it if it is new. */
extern void hg_auto_startup(void);

/*
 * Notes that a join scans these columns of a table; call it once for each execution, in a
 * transaction, with the table locked.  Columns that were scanned twice are requested from the
 * directory.  Does nothing unless hg_auto_may_note().  If all columns are requested already this
 * costs one lookup in the directory.
 */
extern void hg_auto_note_scan(Relation rel, const AttrNumber *columns, int ncolumns);

/*
 * Returns true if hashgraph.resident_auto is on, there is memory for cached columns, the table can
 * be cached, and this transaction has not made it or its file.
 */
extern bool hg_auto_may_note(Relation rel);

/*
 * Notes that a join hashes these columns of a table, under the same conditions as
 * hg_auto_note_scan.  They must be the whole key of that side, and of a kind that a graph can
 * have.  Tables smaller than a segment are ignored: hashing one is faster than finding its graph.
 */
extern void hg_auto_note_key(Relation rel, const HgKeyNumbers *key);

#endif /* HG_RESIDENT_AUTO_H */
