/*-------------------------------------------------------------------------
 *
 * hg_engine.c
 *	  Common parts of all engines: errors, use of the host, the clock and the names of algorithms.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#endif

#include "hg_engine.h"

#include <inttypes.h>
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

HgStatus
hg_host_memory_alloc(const HgHost *host, uint64_t bytes, void **ptr, HgError *error)
{
	char detail[160];

	*ptr = bytes <= SIZE_MAX ? host->alloc(host->arg, (size_t) bytes) : NULL;
	if (*ptr != NULL)
		return HG_OK;
	snprintf(detail, sizeof(detail), "An allocation of %" PRIu64 " bytes failed.", bytes);
	return hg_error_set(error, HG_OUT_OF_MEMORY, detail, "out of memory");
}

void
hg_host_memory_free(const HgHost *host, void *ptr, uint64_t bytes)
{
	if (ptr != NULL)
		host->free(host->arg, ptr, (size_t) bytes);
}

HgStatus
hg_host_memory_check(uint64_t limit, uint64_t held, uint64_t bytes, HgError *error)
{
	char detail[160];

	if (limit == 0 || (bytes <= limit && held <= limit - bytes))
		return HG_OK;
	snprintf(detail, sizeof(detail),
			 "%" PRIu64 " bytes were wanted in addition to %" PRIu64 " bytes held.", bytes, held);
	return hg_error_set(error, HG_OUT_OF_MEMORY, detail,
						"memory limit of %" PRIu64 " bytes reached", limit);
}

HgStatus
hg_host_check_cancel(const HgHost *host, HgError *error)
{
	if (host->cancelled(host->arg))
		return hg_error_set(error, HG_CANCELLED, NULL, "cancelled");
	return HG_OK;
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
