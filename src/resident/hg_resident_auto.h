/*-------------------------------------------------------------------------
 *
 * hg_resident_auto.h
 *	  Columns that joins have scanned twice are taken in without being asked for, and HashGraphs are
 *	  made of those whose values joins have hashed twice.
 *
 * What was scanned once is noted in a table of fixed size, where one column may push out another:
 * a scan that is forgotten has to come a third time.
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

/* While shared memory is requested, and made. */
extern void hg_auto_request(void);
extern void hg_auto_startup(void);

/*
 * Note that a join scans these columns of a table, once for each execution: in a transaction, the
 * table locked.  Where hashgraph.resident_auto is off, there is no memory, or the table can't be
 * resident, nothing is noted.  Costs a look at the directory where all of them are resident, or are
 * to be.
 */
extern void hg_auto_note_scan(Relation rel, const AttrNumber *columns, int ncolumns);

/* Is it of use to note what a join does with a table? */
extern bool hg_auto_may_note(Relation rel);

/*
 * Note that a join hashes the values of columns of a table, all that it joins that side by, and
 * such as a graph can be of, under the same conditions.  Tables that are smaller than a segment are
 * hashed sooner than a graph is found.
 */
extern void hg_auto_note_key(Relation rel, const HgKeyNumbers *key);

#endif /* HG_RESIDENT_AUTO_H */
