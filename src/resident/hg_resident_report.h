/*-------------------------------------------------------------------------
 *
 * hg_resident_report.h
 *	  Reports what is cached of a table, for users and the planner.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_REPORT_H
#define HG_RESIDENT_REPORT_H

#include "hg_compat.h"

#include "resident/hg_resident_directory.h"

/* The report of a column, or of a graph. */
typedef struct HgResidentReport
{
	AttrNumber number;
	HgKeyNumbers key;		 /* columns of the graph; n is 0 in the report of a column */
	HgResidentState state;	 /* of the column, or else of the table */
	HgResidentReason reason; /* of the column, or else of the table */
	BlockNumber total;		 /* blocks of the table */
	BlockNumber visible;	 /* number of all-visible blocks */
	BlockNumber resident;	 /* number of blocks that may be valid */
	BlockNumber stale;		 /* number of loaded blocks that are not valid any more */
	Size bytes;				 /* of the column's arrays, or of the graph */
	bool has_replica;		 /* a device is recorded to have a replica */
	Size replica_bytes;		 /* device memory of the graph's replicas */
	bool pinned;
	TimestampTz used_at;   /* when it was last used; 0: never */
	TimestampTz loaded_at; /* 0: never */
} HgResidentReport;

/*
 * Sets *reports to an array of reports in CurrentMemoryContext: of each column of a table's entry,
 * followed by the graphs whose first column it is.  Returns their number, 0 if there is no entry.
 */
extern int hg_resident_report(HgResidentRelation key, HgResidentReport **reports);

/* Returns true if the directory has the table and the database's chain is unbroken. */
extern bool hg_resident_is_known(HgResidentRelation key);

/* Returns the share of a table's blocks, 0 to 1, that may be valid and have all of the columns. */
extern double hg_resident_share(HgResidentRelation key, int nnumbers, const AttrNumber *numbers);

/* Returns the name of a state, for users. */
extern const char *hg_resident_state_name(HgResidentState state);
/* Returns what a reason means, for users; NULL for HG_REASON_NONE. */
extern const char *hg_resident_reason_text(HgResidentReason reason);

#endif /* HG_RESIDENT_REPORT_H */
