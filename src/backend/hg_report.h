/*-------------------------------------------------------------------------
 *
 * hg_report.h
 *	  What a matcher did, for EXPLAIN and the statistics.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_REPORT_H
#define HG_REPORT_H

#include "engine/hg_engine.h"

typedef struct HgMatcherReport
{
	char backend[8];	/* "cuda" if a device has answered any part, or else "cpu" */
	char device[96];	/* name of the device; "" on the CPU */
	char fallback[160]; /* why auto used the CPU after trying a device; or "" */
	/* why a join in partition passes used one device although the server has several; or "" */
	char left[160];
	HgJobStats job;
	uint64 uploaded_rows;  /* keys sent to the device while the sides were read */
	uint64 uploaded_pages; /* pages of tables sent instead of keys */
	double start_ms;	   /* time to choose the backend and wait for the device */
	double device_ms;	   /* expected time of the job on the device */
	double cpu_ms;		   /* the same on the CPU; both 0 if there was no choice */
	uint32 gathered;	   /* number of columns whose values came with the matches */
	uint32 filters;		   /* number of tables whose quals the device has applied */
} HgMatcherReport;

/* Returns why a join did not run as intended, for users; "" if it did. */
static inline const char *
hg_report_fallback(const HgMatcherReport *report)
{
	return report->fallback[0] != '\0' ? report->fallback : report->left;
}

#endif /* HG_REPORT_H */
