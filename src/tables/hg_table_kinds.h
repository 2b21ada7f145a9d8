/*-------------------------------------------------------------------------
 *
 * hg_table_kinds.h
 *	  The calls of each kind of table of the CPU.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_KINDS_H
#define HG_TABLE_KINDS_H

#include "hg_table_base.h"

/* hg_table_static.c: CSR, Ellpack, Sliced Ellpack */
extern const HgTableCalls hg_table_static_calls;

/* hg_table_dynamic.c */
extern const HgTableCalls hg_table_dynamic_calls;

/* hg_table_cuckoo.c, and hg_table_groups.c for multimaps */
extern const HgTableCalls hg_table_cuckoo_calls;
extern const HgTableCalls hg_table_groups_calls;

/* hg_table_dycuckoo.c */
extern const HgTableCalls hg_table_dycuckoo_calls;

#endif /* HG_TABLE_KINDS_H */
