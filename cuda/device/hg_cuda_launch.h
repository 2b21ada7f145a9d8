/*-------------------------------------------------------------------------
 *
 * hg_cuda_launch.h
 *	  Launching kernels: the only way that the engine does it.
 *
 * A kernel that asks for more than 48 kB of dynamic shared memory has to be allowed that first.
 * What it is allowed is a property of the kernel on its device, which all threads share: whoever
 * sets it for a launch of his own takes it away from another thread that is about to launch.  So
 * it is set once for each device, when that is opened, to the most that the device has for a
 * block, and never changes.  The kernels concerned are those that hg_cuda_launch_shared launches:
 * each instantiation of it enters its kernel in a list, which is complete before main begins.
 *
 * A launch tells of its own failure alone, not of what cudaGetLastError has from calls before.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_LAUNCH_H
#define HG_CUDA_LAUNCH_H

#include "hg_cuda_check.h"

#include <utility>

/* A kernel that takes dynamic shared memory, in the list of all of them. */
struct HgCudaSharingKernel
{
	const void *kernel;
	const HgCudaSharingKernel *next;

	explicit HgCudaSharingKernel(const void *kernel);
};

/* The entry of a kernel. */
template <auto KERNEL> struct HgCudaSharing
{
	static const HgCudaSharingKernel entry;
};

template <auto KERNEL>
const HgCudaSharingKernel HgCudaSharing<KERNEL>::entry(reinterpret_cast<const void *>(KERNEL));

/*
 * Allow all kernels of the list the shared memory that a block of the current device can have,
 * shared_limit bytes, but for what each has of static shared memory.
 */
HgStatus hg_cuda_launch_prepare(size_t shared_limit, HgError *error);

/* A kernel's parameters decide what its arguments are converted to. */
template <typename Type> struct HgCudaParameter
{
	typedef Type type;
};

template <typename... Parameters>
static inline HgStatus
hg_cuda_launch_kernel(cudaStream_t stream, const char *name, void (*kernel)(Parameters...),
					  unsigned blocks, unsigned threads, size_t shared, HgError *error,
					  typename HgCudaParameter<Parameters>::type... arguments)
{
	void *places[] = {&arguments...};
	cudaError_t code = cudaLaunchKernel(reinterpret_cast<const void *>(kernel), dim3(blocks),
										dim3(threads), places, shared, stream);

	return code == cudaSuccess ? HG_OK : hg_cuda_error(code, name, error);
}

/*
 * Launch a kernel in a stream: so many blocks of so many threads, without dynamic
 * shared memory.  name is the kernel's, for an error.
 */
template <auto KERNEL, typename... Arguments>
static inline HgStatus
hg_cuda_launch(cudaStream_t stream, const char *name, unsigned blocks, unsigned threads,
			   HgError *error, Arguments &&...arguments)
{
	return hg_cuda_launch_kernel(stream, name, KERNEL, blocks, threads, 0, error,
								 std::forward<Arguments>(arguments)...);
}

/* The same with shared bytes of dynamic shared memory for each block. */
template <auto KERNEL, typename... Arguments>
static inline HgStatus
hg_cuda_launch_shared(cudaStream_t stream, const char *name, unsigned blocks, unsigned threads,
					  size_t shared, HgError *error, Arguments &&...arguments)
{
	static_cast<void>(&HgCudaSharing<KERNEL>::entry); /* has the kernel entered in the list */
	return hg_cuda_launch_kernel(stream, name, KERNEL, blocks, threads, shared, error,
								 std::forward<Arguments>(arguments)...);
}

#endif /* HG_CUDA_LAUNCH_H */
