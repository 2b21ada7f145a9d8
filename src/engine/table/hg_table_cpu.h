/*-------------------------------------------------------------------------
 *
 * hg_table_cpu.h
 *	  The tables of the CPU, in the memory of the calling process.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_CPU_H
#define HG_TABLE_CPU_H

#include "../hg_table.h"

/* Their calls; never fails.  Several threads may have tables of it at once. */
extern HgTables *hg_table_cpu(void);

#endif /* HG_TABLE_CPU_H */
