/*-------------------------------------------------------------------------
 *
 * hg_cpu.h
 *	  The CPU engine.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_H
#define HG_CPU_H

#include "../hg_engine.h"

/* The CPU engine: one static object, always there, usable by any thread. */
extern HgEngine *hg_cpu_engine(void);

#endif /* HG_CPU_H */
