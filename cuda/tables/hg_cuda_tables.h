/*-------------------------------------------------------------------------
 *
 * hg_cuda_tables.h
 *	  The tables of a device, for callers with arrays on the host.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLES_H
#define HG_CUDA_TABLES_H

#include "../../src/engine/hg_table.h"
#include "../device/hg_cuda_device.h"

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

#endif /* HG_CUDA_TABLES_H */
