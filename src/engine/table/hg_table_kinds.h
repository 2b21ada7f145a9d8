/*-------------------------------------------------------------------------
 *
 * hg_table_kinds.h
 *	  The kinds of tables of the CPU: the calls of each.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_KINDS_H
#define HG_TABLE_KINDS_H

#include "hg_table_base.h"

/* hg_table_static.c: csr, ellpack, sliced ellpack */
extern const HgTableCalls hg_table_static_calls;

#endif /* HG_TABLE_KINDS_H */
