/*-------------------------------------------------------------------------
 *
 * hg_cuda_devices.h
 *	  The devices of this machine (hg_cuda_engine.h has the rest of it).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_DEVICES_H
#define HG_CUDA_DEVICES_H

#include "../device/hg_cuda_check.h"
#include "hg_cuda_engine.h"

/*
 * Choose a device and make it the current one, with a context, and no other has one: wanted, or
 * HG_CUDA_EMPTIEST or HG_CUDA_FIRST.  HG_UNAVAILABLE where it can't be used.
 */
HgStatus hg_cuda_devices_choose(int wanted, int *ordinal, HgError *error);

#endif /* HG_CUDA_DEVICES_H */
