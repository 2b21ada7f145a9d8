/*-------------------------------------------------------------------------
 *
 * hg_tap.c
 *	  Test results in the Test Anything Protocol, on stdout.
 *
 * Every line is flushed, so that the output of a program that crashes ends where
 * it crashed; the plan is missing then, which a TAP reader counts as a failure.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tests;
static int failures;

bool
hg_tap_ok(bool passed, const char *format, ...)
{
	va_list args;

	tests++;
	if (!passed)
		failures++;
	printf("%s %d - ", passed ? "ok" : "not ok", tests);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	return passed;
}

void
hg_tap_skip(const char *reason, const char *format, ...)
{
	va_list args;

	tests++;
	printf("ok %d - ", tests);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(" # SKIP %s\n", reason);
	fflush(stdout);
}

void
hg_tap_diag(const char *format, ...)
{
	va_list args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

HgTapSuite
hg_tap_suite(void)
{
	const char *suite = getenv("HG_SUITE");

	if (suite != NULL && strcmp(suite, "tiny") == 0)
		return HG_SUITE_TINY;
	if (suite != NULL && strcmp(suite, "small") == 0)
		return HG_SUITE_SMALL;
	return suite != NULL && strcmp(suite, "large") == 0 ? HG_SUITE_LARGE : HG_SUITE_WHOLE;
}

unsigned
hg_tap_stride(void)
{
	const char *value = getenv("HG_STRIDE");
	unsigned stride = 1;

#if defined(__SANITIZE_ADDRESS__)
	/* the same test without a sanitizer takes each of them */
	if (hg_tap_suite() <= HG_SUITE_SMALL)
		stride = 7;
#endif

	if (value != NULL && (sscanf(value, "%u", &stride) != 1 || stride < 1))
	{
		printf("Bail out! HG_STRIDE is \"%s\", not a number from 1\n", value);
		exit(1);
	}
	return stride;
}

bool
hg_tap_turn(void)
{
	static unsigned part;
	static unsigned parts;
	static unsigned turn;

	if (parts == 0)
	{
		const char *value = getenv("HG_PART");

		if (value == NULL)
			part = parts = 1;
		else if (sscanf(value, "%u/%u", &part, &parts) != 2 || part < 1 || part > parts)
		{
			printf("Bail out! HG_PART is \"%s\", not a part and their number\n", value);
			exit(1);
		}
	}
	return turn++ % parts == part - 1;
}

int
hg_tap_failures(void)
{
	return failures;
}

int
hg_tap_done(void)
{
	printf("1..%d\n", tests);
	if (failures > 0)
		hg_tap_diag("%d of %d tests failed", failures, tests);
	fflush(stdout);
	return failures > 0 ? 1 : 0;
}
