/*-------------------------------------------------------------------------
 *
 * hg_features.h
 *	  Which instructions the kernels of the CPU engine may use.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_FEATURES_H
#define HG_FEATURES_H

/*
 * Attributes for functions that use more than the baseline instructions.  hg_cpu_features()
 * returns a level only if the machine has all instructions that its attribute lists.
 */
#if defined(__GNUC__) && defined(__x86_64__)
#define HG_CPU_X86 1
#define HG_CPU_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define HG_CPU_TARGET_AVX512                                                                       \
	__attribute__((target("avx2,bmi,bmi2,popcnt,avx512f,avx512dq,avx512bw,avx512vl")))
#endif

/* Levels of instructions, in ascending order. */
typedef enum HgCpuFeatures
{
	HG_CPU_PORTABLE,
	HG_CPU_AVX2,
	HG_CPU_AVX512
} HgCpuFeatures;

/*
 * hg_cpu_features returns the best level of this machine, up to a limit.  hg_cpu_limit_features
 * sets the limit, so that tests can run kernels for lower levels on machines that have more.
 */
extern HgCpuFeatures hg_cpu_features(void);
extern void hg_cpu_limit_features(HgCpuFeatures most);

#endif /* HG_FEATURES_H */
