/*-------------------------------------------------------------------------
 *
 * hg_cuda_peers.h
 *	  Devices that reach each other's memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PEERS_H
#define HG_CUDA_PEERS_H

#include "hg_cuda_device.h"

/*
 * Have a device read and write the memory of this one, where the two can reach each other:
 * *reached. Else copies between them go through the host's memory.
 */
HgStatus hg_cuda_peers_admit(HgCudaDevice *device, int other, bool *reached, HgError *error);

#endif /* HG_CUDA_PEERS_H */
