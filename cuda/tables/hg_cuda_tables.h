/*-------------------------------------------------------------------------
 *
 * hg_cuda_tables.h
 *	  The tables of a device, for callers with arrays on the host, and measurements of a
 *	  table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLES_H
#define HG_CUDA_TABLES_H

#include "../../src/engine/hg_table.h"
#include "../../src/engine/hg_table_measure.h"
#include "../device/hg_cuda_device.h"
#include "../device/hg_cuda_work.h"

/* Makes tables on a device. */
struct HgCudaTables
{
	HgTables tables; /* first: its calls get its address */
	HgCudaDevice *device;
};

/*
 * Initializes the calls.  The device must outlive all of their tables.  Several threads may have
 * tables of it at once.
 */
void hg_cuda_tables_init(HgCudaTables *tables, HgCudaDevice *device);

/*
 * hg_cuda_table_measure.cu: measures a table in device memory: hg_table_measure.h, with keys
 * that are on the device
 */

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

#endif /* HG_CUDA_TABLES_H */
