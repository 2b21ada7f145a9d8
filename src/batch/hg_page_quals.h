/*-------------------------------------------------------------------------
 *
 * hg_page_quals.h
 *	  Compiles the qual of a table scan for an engine that takes rows out of the table's pages.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PAGE_QUALS_H
#define HG_PAGE_QUALS_H

#include "access/tupdesc.h"
#include "nodes/pg_list.h"

#include "engine/hg_pages.h"

/*
 * Adds all clauses of a qual, an implicitly ANDed list over rows of desc, to spec->quals.  Returns
 * false if a clause is not supported.
 */
extern bool hg_page_quals_fill(TupleDesc desc, List *qual, HgPageSpec *spec);

#endif /* HG_PAGE_QUALS_H */
