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

	/* Report one test, named printf-like; returns passed. */
	extern bool hg_tap_ok(bool passed, const char *format, ...) HG_TAP_PRINTF(2, 3);

	/* Report a test that this machine or engine cannot run, and why. */
	extern void hg_tap_skip(const char *reason, const char *format, ...) HG_TAP_PRINTF(2, 3);

	/* Explain a failure: a comment line of the output. */
	extern void hg_tap_diag(const char *format, ...) HG_TAP_PRINTF(1, 2);

	/* How much is to be tested: HG_SUITE in the environment says tiny, small or large. */
	typedef enum HgTapSuite
	{
		HG_SUITE_TINY, /* for tools that make a job a hundred times as long */
		HG_SUITE_SMALL,
		HG_SUITE_WHOLE, /* what there is without HG_SUITE */
		HG_SUITE_LARGE
	} HgTapSuite;

	extern HgTapSuite hg_tap_suite(void);

	/*
	 * Of many events, each of which a test makes fail in turn, every n-th is taken, and the first
	 * and the last: n is HG_STRIDE in the environment; without, 1, or 7 in a small
	 * suite under AddressSanitizer.
	 */
	extern unsigned hg_tap_stride(void);

	/*
	 * Does what follows fall to this process?  HG_PART=I/N in the environment makes it part I, from
	 * 1, of N, to which what asks is dealt out in turn; without, all of it does.
	 */
	extern bool hg_tap_turn(void);

	/* The number of failures so far. */
	extern int hg_tap_failures(void);

	/* Print the plan; returns the exit status of the program: 0 or 1. */
	extern int hg_tap_done(void);

#ifdef __cplusplus
}
#endif

#endif /* HG_TAP_H */
