/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_bin.h
 *	  Makes a bin of a flat HashGraph.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_FLAT_BIN_H
#define HG_CPU_FLAT_BIN_H

#include "hg_cpu_flat.h"

/*
 * Makes a bin of its rows, at least one, whose numbers are given, in memory of hg_flat_bin_bytes.
 * offsets[vertices + 1] is scratch of the caller's.
 */
extern HgStatus hg_cpu_flat_bin_make(const HgHost *host, const HgFlatShape *shape,
									 const HgFlatRows *rows, uint32_t *offsets, HgFlatBin *bin,
									 HgError *error);

#endif /* HG_CPU_FLAT_BIN_H */
