/*-------------------------------------------------------------------------
 *
 * hg_no_kernels.h
 *	  What objects of nvcc call when they are loaded, for a program without CUDA's library.
 *
 * None of its objects has a kernel.  For one file of the program.
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
