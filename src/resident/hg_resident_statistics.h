/*-------------------------------------------------------------------------
 *
 * hg_resident_statistics.h
 *	  Counters of the cache since the server's start or the last reset, in shared memory.
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
	HG_COUNT_ROWS_FROM_CACHE,	/* rows read from versions, before quals */
	HG_COUNT_BLOCKS_FROM_CACHE, /* blocks that such scans read from versions */
	HG_COUNT_BLOCKS_FROM_HEAP,	/* blocks that such scans read from the heap */
	HG_COUNT_CHAINS_BROKEN,		/* after a break no block is valid until a new chain starts */
	HG_COUNT_BLOCKS_READMITTED, /* valid again, by rule L of hg_resident_validity.c: same LSN */
	HG_COUNT_LOADS,				/* segments loaded */
	HG_COUNT_EVICTIONS,			/* columns of segments, and graphs, evicted */
	HG_COUNT_GRAPHS_MADE,		/* graphs made from columns alone */
	HG_COUNT_GRAPHS_MERGED,		/* graphs made from older ones and changes */
	HG_COUNT_GRAPHS_REPLICATED, /* replicas sent to devices */
	HG_COUNT_REPLICAS_MISSING,	/* replicas that a join requested and a device did not have */
	HG_COUNT_BLOCKS_EXAMINED,	/* changed blocks examined for their unchanged rows */
	HG_COUNT_PAGE_VIS_HITS,		/* changed blocks found in the page visibility cache */
	HG_COUNT_DECLINES,			/* tables and graphs declined */
	HG_RESIDENT_COUNTERS		/* number of counters */
} HgResidentCounter;

typedef struct HgResidentStatistics
{
	uint64 counters[HG_RESIDENT_COUNTERS];
	uint64 declines[HG_RESIDENT_REASONS]; /* HG_COUNT_DECLINES by reason */
	TimestampTz reset_at;				  /* 0: never */
} HgResidentStatistics;

/* Requests shared memory for the counters, while the server starts. */
extern void hg_resident_statistics_request(void);
/* Attaches to that shared memory, and initializes it if it is new. */
extern void hg_resident_statistics_startup(void);

/* Adds n to a counter. */
extern void hg_resident_count(HgResidentCounter counter, uint64 n);
/* Adds 1 to HG_COUNT_DECLINES and to the declines for a reason. */
extern void hg_resident_count_decline(HgResidentReason reason);

/* Returns the statistics; all 0 without memory for cached columns. */
extern HgResidentStatistics hg_resident_statistics(void);
/* Sets all counters to 0. */
extern void hg_resident_statistics_reset(void);

#endif /* HG_RESIDENT_STATISTICS_H */
