/*-------------------------------------------------------------------------
 *
 * hg_lookup.h
 *	  An engine whose jobs can have their inner rows in a table, in which they look outer rows up.
 *
 * It wraps an engine that builds HashGraphs for a join.  A job that requests a table
 * (HgJobShape.table) gets one of hg_table.h.  The table is a multimap.  If no outer row needs more
 * than one match, it is a map, or a set if the caller also ignores inner rows.
 *
 * All other jobs pass through to the wrapped engine.  So do jobs that request bins, another probe
 * or build v2, that are shared, or that number their rows themselves.  A job also passes through
 * at build if the kind can not hold its rows, or has no memory for them.
 *
 * The promises of hg_engine.h hold for a job with a table, with one exception: matching allocates
 * memory if an outer row can have several matches.
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

/* Sets up *lookup, whose engine then opens jobs; lookup, graphs and tables outlive the jobs. */
extern void hg_lookup_init(HgLookup *lookup, HgEngine *graphs, HgTables *tables);

#endif /* HG_LOOKUP_H */
