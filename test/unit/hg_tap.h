/*-------------------------------------------------------------------------
 *
 * hg_tap.h
 *	  Test results in the Test Anything Protocol, on stdout.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TAP_H
#define HG_TAP_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C"
{
#endif

#if defined(__GNUC__)
#define HG_TAP_PRINTF(string, first) __attribute__((format(printf, string, first)))
#else
#define HG_TAP_PRINTF(string, first)
#endif

	/* Reports one test, with a name as of printf.  Returns passed. */
	extern bool hg_tap_ok(bool passed, const char *format, ...) HG_TAP_PRINTF(2, 3);

	/* Reports a test that this machine or engine cannot run, and why. */
	extern void hg_tap_skip(const char *reason, const char *format, ...) HG_TAP_PRINTF(2, 3);

	/* Explains a failure, in a comment line of the output. */
	extern void hg_tap_diag(const char *format, ...) HG_TAP_PRINTF(1, 2);

	/* How much is tested: HG_SUITE in the environment is tiny, small or large. */
	typedef enum HgTapSuite
	{
		HG_SUITE_TINY, /* for tools that make a program a hundred times as slow */
		HG_SUITE_SMALL,
		HG_SUITE_WHOLE, /* without HG_SUITE */
		HG_SUITE_LARGE
	} HgTapSuite;

	/* Returns the suite. */
	extern HgTapSuite hg_tap_suite(void);

	/*
	 * Returns n, where a test makes every n-th of many events fail in turn, and the first and the
	 * last.  HG_STRIDE in the environment sets it.  Without, it is 1, or 7 in a tiny or small
	 * suite under AddressSanitizer.
	 */
	extern unsigned hg_tap_stride(void);

	/*
	 * Returns true if this process does the next part of the work.  With HG_PART=I/N in the
	 * environment, I from 1, every N-th call returns true; without, all do.
	 */
	extern bool hg_tap_turn(void);

	/* Returns the number of failures so far. */
	extern int hg_tap_failures(void);

	/* Prints the plan.  Returns the exit status of the program: 0 or 1. */
	extern int hg_tap_done(void);

#ifdef __cplusplus
}
#endif

#endif /* HG_TAP_H */
