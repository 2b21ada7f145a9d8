/*-------------------------------------------------------------------------
 *
 * hg_lookup.h
 *	  An engine whose jobs may have their inner rows in a table, and look outer rows up there.
 *
 * It wraps an engine that builds HashGraphs of a join's own.  A job for which a table is asked
 * (HgJobSpec.table) gets one of hg_table.h: a multimap; or where no outer row is to have more than
 * one match a map, or a set if nobody looks at inner rows either.  All others pass straight
 * through, and so do jobs that ask for bins, for another probe or for build v2, that are shared,
 * or that number their rows themselves; and when it is built one whose rows the kind can't hold,
 * or has no memory for.
 *
 * The promises of hg_engine.h hold for a job with a table, but that it allocates memory when
 * matches are asked for, where an outer row may have several.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOOKUP_H
#define HG_LOOKUP_H

#include "hg_table.h"

typedef struct HgLookup
{
	HgEngine engine;  /* first: engine calls get its address */
	HgEngine *graphs; /* the wrapped engine */
	HgTables *tables;
} HgLookup;

/* Set up *lookup, whose engine then opens jobs; it and what it stands on must outlive them. */
extern void hg_lookup_init(HgLookup *lookup, HgEngine *graphs, HgTables *tables);

#endif /* HG_LOOKUP_H */
