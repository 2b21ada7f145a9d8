/*-------------------------------------------------------------------------
 *
 * hg_cuda_peers.h
 *	  Access of one device to another one's memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PEERS_H
#define HG_CUDA_PEERS_H

#include "hg_cuda_device.h"

/*
 * Lets the device number `other` read and write the memory of this device. *reached is false if it
 * cannot reach it; copies between the two then go through host memory.
 */
HgStatus hg_cuda_peers_admit(HgCudaDevice *device, int other, bool *reached, HgError *error);

#endif /* HG_CUDA_PEERS_H */
