/*-------------------------------------------------------------------------
 *
 * hg_fault_cuda.c
 *	  Faults of the CUDA runtime.
 *
 * Every call that can fail is an event; one that frees something does so and then says
 * that it failed.  A kernel that is not launched leaves its error for cudaGetLastError, as
 * a real one does.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_fault.h"

#include <cuda_runtime_api.h>

/* What cudaGetLastError has to say, and whether the device is broken for good. */
static cudaError_t last_error = cudaSuccess;
static bool stuck = false;

/* How this call fails; cudaSuccess where it does not. */
static cudaError_t
failure_of_call(bool allocates)
{
	static const HgFaultKind kinds[] = {HG_FAULT_CUDA, HG_FAULT_CUDA_STUCK};

	switch (hg_fault_due_of(kinds, 2))
	{
		case HG_FAULT_CUDA:
			last_error = allocates ? cudaErrorMemoryAllocation : cudaErrorLaunchFailure;
			return last_error;
		case HG_FAULT_CUDA_STUCK:
			stuck = true;
			break;
		default:
			break;
	}
	if (!stuck)
		return cudaSuccess;
	last_error = cudaErrorIllegalAddress;
	return last_error;
}

#define HG_CUDA_FAILING(name, parameters, arguments, allocates)                                    \
	HG_WRAPPED(cudaError_t, name, parameters);                                                     \
	cudaError_t __wrap_##name parameters                                                           \
	{                                                                                              \
		cudaError_t failure = failure_of_call(allocates);                                          \
		return failure != cudaSuccess ? failure : __real_##name arguments;                         \
	}

#define HG_CUDA_CALL(name, parameters, arguments)                                                  \
	HG_CUDA_FAILING(name, parameters, arguments, false)
#define HG_CUDA_ALLOC(name, parameters, arguments)                                                 \
	HG_CUDA_FAILING(name, parameters, arguments, true)

#define HG_CUDA_FREE(name, parameters, arguments)                                                  \
	HG_WRAPPED(cudaError_t, name, parameters);                                                     \
	cudaError_t __wrap_##name parameters                                                           \
	{                                                                                              \
		cudaError_t freed = __real_##name arguments;                                               \
		cudaError_t failure = failure_of_call(false);                                              \
		return failure != cudaSuccess ? failure : freed;                                           \
	}

/* hg_fault_wraps finds the names at the start of these lines. */
HG_CUDA_CALL(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attribute, int device),
			 (value, attribute, device))
HG_CUDA_CALL(cudaDriverGetVersion, (int *version), (version))
HG_CUDA_CALL(cudaRuntimeGetVersion, (int *version), (version))
HG_CUDA_CALL(cudaEventCreate, (cudaEvent_t * event), (event))
HG_CUDA_CALL(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags))
HG_CUDA_CALL(cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t end),
			 (ms, start, end))
HG_CUDA_CALL(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
HG_CUDA_CALL(cudaFuncGetAttributes, (struct cudaFuncAttributes * attributes, const void *kernel),
			 (attributes, kernel))
HG_CUDA_CALL(cudaFuncSetAttribute,
			 (const void *kernel, enum cudaFuncAttribute attribute, int value),
			 (kernel, attribute, value))
HG_CUDA_CALL(cudaGetDevice, (int *device), (device))
HG_CUDA_CALL(cudaGetDeviceCount, (int *count), (count))
HG_CUDA_CALL(cudaGetDeviceProperties, (struct cudaDeviceProp * properties, int device),
			 (properties, device))
HG_CUDA_CALL(cudaLaunchKernelExC,
			 (const cudaLaunchConfig_t *config, const void *kernel, void **arguments),
			 (config, kernel, arguments))
HG_CUDA_CALL(cudaMemGetInfo, (size_t * available, size_t *total), (available, total))
HG_CUDA_CALL(cudaMemPoolCreate, (cudaMemPool_t * pool, const struct cudaMemPoolProps *properties),
			 (pool, properties))
HG_CUDA_CALL(cudaMemPoolGetAttribute,
			 (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value),
			 (pool, attribute, value))
HG_CUDA_CALL(cudaMemPoolSetAttribute,
			 (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value),
			 (pool, attribute, value))
HG_CUDA_CALL(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t bytes), (pool, bytes))
HG_CUDA_CALL(cudaMemcpyAsync,
			 (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
			  cudaStream_t stream),
			 (to, from, bytes, kind, stream))
HG_CUDA_CALL(cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream),
			 (to, value, bytes, stream))
HG_CUDA_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
			 (int *blocks, const void *kernel, int threads, size_t shared, unsigned flags),
			 (blocks, kernel, threads, shared, flags))
HG_CUDA_CALL(cudaSetDevice, (int device), (device))
HG_CUDA_CALL(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags), (stream, flags))
HG_CUDA_CALL(cudaStreamSynchronize, (cudaStream_t stream), (stream))
HG_CUDA_CALL(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
			 (stream, event, flags))

HG_CUDA_ALLOC(cudaMalloc, (void **memory, size_t bytes), (memory, bytes))
HG_CUDA_ALLOC(cudaMallocFromPoolAsync,
			  (void **memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
			  (memory, bytes, pool, stream))
HG_CUDA_ALLOC(cudaMallocHost, (void **memory, size_t bytes), (memory, bytes))
HG_CUDA_ALLOC(cudaHostRegister, (void *memory, size_t bytes, unsigned flags),
			  (memory, bytes, flags))

HG_CUDA_FREE(cudaEventDestroy, (cudaEvent_t event), (event))
HG_CUDA_FREE(cudaFree, (void *memory), (memory))
HG_CUDA_FREE(cudaFreeAsync, (void *memory, cudaStream_t stream), (memory, stream))
HG_CUDA_FREE(cudaFreeHost, (void *memory), (memory))
HG_CUDA_FREE(cudaMemPoolDestroy, (cudaMemPool_t pool), (pool))
HG_CUDA_FREE(cudaStreamDestroy, (cudaStream_t stream), (stream))

/* How often work is not done yet depends on the weather: that is no event. */
HG_WRAPPED(cudaError_t, cudaEventQuery, (cudaEvent_t event));

cudaError_t
__wrap_cudaEventQuery(cudaEvent_t event)
{
	cudaError_t code = stuck ? cudaSuccess : __real_cudaEventQuery(event);
	cudaError_t failure = code == cudaErrorNotReady ? cudaSuccess : failure_of_call(false);

	return failure != cudaSuccess ? failure : code;
}

HG_WRAPPED(cudaError_t, cudaStreamQuery, (cudaStream_t stream));

cudaError_t
__wrap_cudaStreamQuery(cudaStream_t stream)
{
	cudaError_t code = stuck ? cudaSuccess : __real_cudaStreamQuery(stream);
	cudaError_t failure = code == cudaErrorNotReady ? cudaSuccess : failure_of_call(false);

	return failure != cudaSuccess ? failure : code;
}

/* The launch of a kernel, as compilers up to CUDA 12 write it, and as later ones do. */
HG_WRAPPED_IN_SOME(cudaError_t, cudaLaunchKernel,
				   (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
					cudaStream_t stream));
HG_WRAPPED_IN_SOME(cudaError_t, __cudaLaunchKernel,
				   (void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
					cudaStream_t stream));

cudaError_t
__wrap_cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
						cudaStream_t stream)
{
	cudaError_t failure = failure_of_call(false);

	if (failure != cudaSuccess)
		return failure;
	return __real_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t
__wrap___cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
						  cudaStream_t stream)
{
	cudaError_t failure = failure_of_call(false);

	if (failure != cudaSuccess)
		return failure;
	return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

HG_WRAPPED(cudaError_t, cudaGetLastError, (void) );
HG_WRAPPED(cudaError_t, cudaPeekAtLastError, (void) );

cudaError_t
__wrap_cudaGetLastError(void)
{
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	return error != cudaSuccess ? error : __real_cudaGetLastError();
}

cudaError_t
__wrap_cudaPeekAtLastError(void)
{
	return last_error != cudaSuccess ? last_error : __real_cudaPeekAtLastError();
}
