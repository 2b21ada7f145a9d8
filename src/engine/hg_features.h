/*-------------------------------------------------------------------------
 *
 * hg_features.h
 *	  What instructions the kernels of the CPU may use.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_FEATURES_H
#define HG_FEATURES_H

/*
 * Where there may be more than plain instructions: what a function that uses them is declared with.
 * hg_cpu_features() asks for all of either.
 */
#if defined(__GNUC__) && defined(__x86_64__)
#define HG_CPU_X86 1
#define HG_CPU_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define HG_CPU_TARGET_AVX512                                                                       \
	__attribute__((target("avx2,bmi,bmi2,popcnt,avx512f,avx512dq,avx512bw,avx512vl")))
#endif

/* The instructions that kernels may use, in ascending order. */
typedef enum HgCpuFeatures
{
	HG_CPU_PORTABLE,
	HG_CPU_AVX2,
	HG_CPU_AVX512
} HgCpuFeatures;

/*
 * The best that this machine has, up to a limit that tests may set: kernels for less
 * are to be tested on machines that have more.
 */
extern HgCpuFeatures hg_cpu_features(void);
extern void hg_cpu_limit_features(HgCpuFeatures most);

#endif /* HG_FEATURES_H */
