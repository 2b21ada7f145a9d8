/*-------------------------------------------------------------------------
 *
 * hg_cuda_launch.h
 *	  The one way in which the engine launches kernels.
 *
 * A kernel that uses more than 48 kB of dynamic shared memory must be allowed that first. The
 * allowance is a property of the kernel on its device, which all threads share: a thread that set
 * it for one launch would take it away from another thread's launch. So it is set once, when a
 * device is opened, to the most that the device has for a block. The kernels concerned are those
 * that hg_cuda_launch_shared launches: each instantiation enters its kernel in a list, which is
 * complete before main begins.
 *
 * A launch reports its own failure only, and not cudaGetLastError's from earlier calls.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_LAUNCH_H
#define HG_CUDA_LAUNCH_H

#include <cuda_runtime.h>
#include <utility>

#include "../../src/engine/hg_engine.h"

/*
 * Turns a failure into an error and returns its status: HG_DEVICE_OUT_OF_MEMORY for refused
 * memory, else HG_DEVICE_FAILED. call is the text of the failed call; its name goes into the
 * detail. Clears CUDA's last error.
 */
HgStatus hg_cuda_error(cudaError_t code, const char *call, HgError *error);

/* Returns from the calling function, which returns HgStatus, if a CUDA call fails. */
#define HG_CUDA_TRY(call, error)                                                                   \
	do                                                                                             \
	{                                                                                              \
		cudaError_t code_ = (call);                                                                \
		if (code_ != cudaSuccess)                                                                  \
			return hg_cuda_error(code_, #call, (error));                                           \
	} while (0)

/* An entry of the list of kernels that use dynamic shared memory. */
struct HgCudaSharingKernel
{
	const void *kernel;
	const HgCudaSharingKernel *next;

	explicit HgCudaSharingKernel(const void *kernel);
};

/* The entry of one kernel. */
template <auto KERNEL> struct HgCudaSharing
{
	static const HgCudaSharingKernel entry;
};

template <auto KERNEL>
const HgCudaSharingKernel HgCudaSharing<KERNEL>::entry(reinterpret_cast<const void *>(KERNEL));

/*
 * Allows all kernels of the list the current device's shared memory of a block, shared_limit
 * bytes, less each kernel's static shared memory.
 */
HgStatus hg_cuda_launch_prepare(size_t shared_limit, HgError *error);

/* The types that a kernel's arguments are converted to: those of its parameters. */
template <typename Type> struct HgCudaParameter
{
	typedef Type type;
};

/* Launches a kernel that is given as a pointer; the functions below are for callers. */
template <typename... Parameters>
static inline HgStatus
hg_cuda_launch_kernel(cudaStream_t stream, const char *name, void (*kernel)(Parameters...),
					  unsigned blocks, unsigned threads, size_t shared, HgError *error,
					  typename HgCudaParameter<Parameters>::type... arguments)
{
	void *pointers[] = {&arguments...};
	cudaError_t code = cudaLaunchKernel(reinterpret_cast<const void *>(kernel), dim3(blocks),
										dim3(threads), pointers, shared, stream);

	return code == cudaSuccess ? HG_OK : hg_cuda_error(code, name, error);
}

/*
 * Launches a kernel in a stream, with `blocks` blocks of `threads` threads and no dynamic shared
 * memory. name is the kernel's name, for errors. Does not wait.
 */
template <auto KERNEL, typename... Arguments>
static inline HgStatus
hg_cuda_launch(cudaStream_t stream, const char *name, unsigned blocks, unsigned threads,
			   HgError *error, Arguments &&...arguments)
{
	return hg_cuda_launch_kernel(stream, name, KERNEL, blocks, threads, 0, error,
								 std::forward<Arguments>(arguments)...);
}

/* Launches a kernel as hg_cuda_launch() does, with `shared` bytes of shared memory a block. */
template <auto KERNEL, typename... Arguments>
static inline HgStatus
hg_cuda_launch_shared(cudaStream_t stream, const char *name, unsigned blocks, unsigned threads,
					  size_t shared, HgError *error, Arguments &&...arguments)
{
	/* instantiates the kernel's entry of the list */
	static_cast<void>(&HgCudaSharing<KERNEL>::entry);
	return hg_cuda_launch_kernel(stream, name, KERNEL, blocks, threads, shared, error,
								 std::forward<Arguments>(arguments)...);
}

#endif /* HG_CUDA_LAUNCH_H */
