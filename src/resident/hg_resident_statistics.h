/*-------------------------------------------------------------------------
 *
 * hg_resident_statistics.h
 *	  What has been done with residents since the server started, or since somebody reset it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_STATISTICS_H
#define HG_RESIDENT_STATISTICS_H

#include "hg_compat.h"

#include "datatype/timestamp.h"

#include "resident/hg_resident_directory.h"

typedef enum HgResidentCounter
{
	HG_COUNT_SCANS = 0,			/* scans that read from cached columns */
	HG_COUNT_ROWS_SERVED,		/* from versions, before their quals */
	HG_COUNT_BLOCKS_SERVED,		/* of these scans */
	HG_COUNT_BLOCKS_FROM_HEAP,	/* of these scans */
	HG_COUNT_CHAINS_BROKEN,		/* of snapshots: no block was valid until the next one */
	HG_COUNT_BLOCKS_READMITTED, /* that rule L has brought back */
	HG_COUNT_LOADS,				/* segments that were taken in */
	HG_COUNT_EVICTIONS,			/* columns of segments, and graphs, that have gone */
	HG_COUNT_GRAPHS_MADE,		/* of columns alone */
	HG_COUNT_GRAPHS_MERGED,		/* of older graphs, and of what had changed */
	HG_COUNT_GRAPHS_REPLICATED, /* copies that a device was given */
	HG_COUNT_GRAPHS_MISSED,		/* that it was asked for, and had no more */
	HG_COUNT_BLOCKS_LOOKED_AT,	/* that have changed, for the rows of theirs that have not ... */
	HG_COUNT_LOOKS_RECALLED,	/* blocks whose rows were known from the page visibility cache */
	HG_COUNT_DECLINES,			/* tables; by reason: below */
	HG_RESIDENT_COUNTERS		/* their number */
} HgResidentCounter;

typedef struct HgResidentStatistics
{
	uint64 counters[HG_RESIDENT_COUNTERS];
	uint64 declines[HG_RESIDENT_REASONS];
	TimestampTz reset_at; /* 0: never */
} HgResidentStatistics;

/* While shared memory is requested, and made. */
extern void hg_resident_statistics_request(void);
extern void hg_resident_statistics_startup(void);

extern void hg_resident_count(HgResidentCounter counter, uint64 n);
/* A table is declined. */
extern void hg_resident_count_decline(HgResidentReason reason);

extern HgResidentStatistics hg_resident_statistics(void);
extern void hg_resident_statistics_reset(void);

#endif /* HG_RESIDENT_STATISTICS_H */
