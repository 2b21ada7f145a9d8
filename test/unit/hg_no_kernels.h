/*-------------------------------------------------------------------------
 *
 * hg_no_kernels.h
 *	  Stubs of the functions that nvcc's objects call when they are loaded, without CUDA's library.
 *
 * For programs none of whose objects has a kernel.  One file of the program includes it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_NO_KERNELS_H
#define HG_NO_KERNELS_H

extern "C" void **
__cudaRegisterFatBinary(void *)
{
	static void *handle;

	return &handle;
}

extern "C" void
__cudaRegisterFatBinaryEnd(void **)
{
}

extern "C" void
__cudaUnregisterFatBinary(void **)
{
}

#endif /* HG_NO_KERNELS_H */
