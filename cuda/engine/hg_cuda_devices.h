/*-------------------------------------------------------------------------
 *
 * hg_cuda_devices.h
 *	  Chooses one of the machine's devices (hg_cuda_engine.h has the rest about them).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_DEVICES_H
#define HG_CUDA_DEVICES_H

#include "../device/hg_cuda_launch.h"
#include "hg_cuda_engine.h"

/*
 * Chooses device `wanted`, or HG_CUDA_EMPTIEST or HG_CUDA_FIRST, and makes it current; only it
 * keeps a context. Stores its number in *ordinal. HG_UNAVAILABLE if it cannot be used.
 */
HgStatus hg_cuda_devices_choose(int wanted, int *ordinal, HgError *error);

#endif /* HG_CUDA_DEVICES_H */
