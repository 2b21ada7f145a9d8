/*-------------------------------------------------------------------------
 *
 * hg_table_cpu.h
 *	  The CPU's hash tables, in the memory of the calling process.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_CPU_H
#define HG_TABLE_CPU_H

#include "../engine/hg_table.h"

/*
 * Returns the calls of the CPU's tables: a static struct. Never fails. Several threads may use it
 * at once, each with tables of its own.
 */
extern HgTables *hg_table_cpu(void);

#endif /* HG_TABLE_CPU_H */
