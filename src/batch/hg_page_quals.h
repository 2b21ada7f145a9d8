/*-------------------------------------------------------------------------
 *
 * hg_page_quals.h
 *	  The qual of a table scan as an engine can ask it of the table's pages.
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
 * Enter all clauses of a qual, an implicitly ANDed list over rows of desc, into quals of pages;
 * false where the engine can't ask one of them.
 */
extern bool hg_page_quals_fill(TupleDesc desc, List *qual, HgPageSpec *spec);

#endif /* HG_PAGE_QUALS_H */
