/*-------------------------------------------------------------------------
 *
 * hg_report.h
 *	  What a matcher tells of what it did, for EXPLAIN and the statistics.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_REPORT_H
#define HG_REPORT_H

#include "engine/hg_engine.h"

/* What a matcher did and where. */
typedef struct HgMatcherReport
{
	char backend[8];	/* "cuda" where a device has answered any part of it, else "cpu" */
	char device[96];	/* name of the device, "" on the CPU */
	char fallback[160]; /* why auto used the CPU although it tried the device,
						 * "" where it did not */
	char left[160];		/* why one device alone has cut a join that is too large for it, although
						 * there are others; "" where none has */
	HgJobStats job;
	uint64 sent_rows;  /* keys that the device got while the sides were read */
	uint64 sent_pages; /* pages of tables, in place of keys */
	double start_ms;   /* choosing the backend, waiting for the device */
	double device_ms;  /* what the job was expected to take on the device ... */
	double cpu_ms;	   /* ... and on the CPU; both 0 where there was no such choice */
	uint32 gathered;   /* columns whose values came with the matches */
	uint32 filters;	   /* tables whose quals the device has decided */
} HgMatcherReport;

/* Why a join did not run as it was to, for users; "" where it did. */
static inline const char *
hg_report_fallback(const HgMatcherReport *report)
{
	return report->fallback[0] != '\0' ? report->fallback : report->left;
}

#endif /* HG_REPORT_H */
