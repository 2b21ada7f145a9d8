/*-------------------------------------------------------------------------
 *
 * hg_features.c
 *	  Which instructions the kernels of the CPU engine may use.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_features.h"

static HgCpuFeatures features_limit = HG_CPU_AVX512;

void
hg_cpu_limit_features(HgCpuFeatures most)
{
	features_limit = most;
}

HgCpuFeatures
hg_cpu_features(void)
{
#ifdef HG_CPU_X86
	/* the full list that the kernels are compiled for: a virtual machine may lack any of it */
	if (features_limit >= HG_CPU_AVX512 && __builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx2") &&
		__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
		__builtin_cpu_supports("popcnt"))
		return HG_CPU_AVX512;
	if (features_limit >= HG_CPU_AVX2 && __builtin_cpu_supports("avx2") &&
		__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
		__builtin_cpu_supports("popcnt"))
		return HG_CPU_AVX2;
#endif
	return HG_CPU_PORTABLE;
}
