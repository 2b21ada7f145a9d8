/*-------------------------------------------------------------------------
 *
 * hg_cpu_run_kernels.h
 *	  The kernels of binning for one instruction set: included by hg_cpu_run.c only.
 *
 * Expects HG_ISA, the name of the set, and HG_TARGET, the attribute of functions that may use it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

#define HG_KEY_BITS 32
#include "hg_cpu_run_impl.h"
#undef HG_KEY_BITS

#define HG_KEY_BITS 64
#include "hg_cpu_run_impl.h"
#undef HG_KEY_BITS
