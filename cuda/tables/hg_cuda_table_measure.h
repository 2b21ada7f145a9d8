/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_measure.h
 *	  Measures a table in device memory: hg_table_measure.h, with keys that are on the device.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_MEASURE_H
#define HG_CUDA_TABLE_MEASURE_H

#include "../../src/engine/hg_table_measure.h"
#include "../device/hg_cuda_work.h"

/* Returns the least device memory to measure a table over this many keys, beside the keys. */
uint64_t hg_cuda_table_measure_bytes(const HgTableTrial *trial, uint64_t nkeys);

/*
 * Measures a table over keys[nkeys], an array of work's that its stream has filled, on the current
 * device.  Times are the device's, from the first kernel of a phase to the end of the last.  The
 * table may use what work's limit leaves.  After the return nothing reads the keys any more,
 * whatever the status.
 */
HgStatus hg_cuda_table_measure(HgCudaWork *work, const HgTableTrial *trial, const void *keys,
							   uint64_t nkeys, HgTableMeasure *measure, HgError *error);

#endif /* HG_CUDA_TABLE_MEASURE_H */
