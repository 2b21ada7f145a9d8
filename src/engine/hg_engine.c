/*-------------------------------------------------------------------------
 *
 * hg_engine.c
 *	  Common parts of all engines: errors, the clock and the names of algorithms.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#endif

#include "hg_engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

HgStatus
hg_error_set(HgError *error, HgStatus status, const char *detail, const char *format, ...)
{
	va_list args;

	if (error == NULL)
		return status;

	error->status = status;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	snprintf(error->detail, sizeof(error->detail), "%s", detail != NULL ? detail : "");
	return status;
}

double
hg_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

const char *
hg_build_name(HgBuildAlgorithm build)
{
	switch (build)
	{
		case HG_BUILD_AUTO:
			return "auto";
		case HG_BUILD_V1:
			return "v1";
		case HG_BUILD_V2:
			return "v2";
		case HG_BUILD_DIRECT:
			return "direct";
		case HG_BUILD_RESIDENT:
			return "resident";
		case HG_BUILD_TABLE:
			return "table";
	}
	return "unknown";
}

const char *
hg_probe_name(HgProbeAlgorithm probe)
{
	switch (probe)
	{
		case HG_PROBE_AUTO:
			return "auto";
		case HG_PROBE_STANDARD:
			return "standard";
		case HG_PROBE_INTERSECT:
			return "intersect";
	}
	return "unknown";
}
