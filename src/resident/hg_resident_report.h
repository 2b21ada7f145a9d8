/*-------------------------------------------------------------------------
 *
 * hg_resident_report.h
 *	  What there is of a table, for people to look at: an estimate, and no decision.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_REPORT_H
#define HG_RESIDENT_REPORT_H

#include "hg_compat.h"

#include "resident/hg_resident_directory.h"

typedef struct HgResidentReport
{
	AttrNumber number;
	HgKeyNumbers key;		 /* of a HashGraph, and not of the column's values, if it has any */
	HgResidentState state;	 /* of the column, as far as it is told from the table's */
	HgResidentReason reason; /* of the column, else of the table */
	BlockNumber total;		 /* blocks of the table */
	BlockNumber visible;	 /* of these, such as are all-visible */
	BlockNumber resident;	 /* blocks that may be valid */
	BlockNumber stale;		 /* blocks that are there, and are not valid any more */
	Size bytes;				 /* of the column's arrays */
	bool has_replica;		 /* a device has a copy, as far as is known, ... */
	Size replica_bytes;		 /* ... which takes that there */
	bool pinned;
	TimestampTz used_at;   /* when a scan used it last; 0: never */
	TimestampTz loaded_at; /* 0: never */
} HgResidentReport;

/* Reports of the columns of a table, and of their graphs, in CurrentMemoryContext; returns their
 * number. */
extern int hg_resident_report(HgResidentRelation key, HgResidentReport **reports);

/* Returns true if the directory has a table of a database whose residents can be used. */
extern bool hg_resident_is_known(HgResidentRelation key);

/*
 * Returns the share of a table's blocks that may be valid in all of these columns, by their
 * numbers: 0 to 1.
 */
extern double hg_resident_share(HgResidentRelation key, int nnumbers, const AttrNumber *numbers);

extern const char *hg_resident_state_name(HgResidentState state);
/* NULL for HG_REASON_NONE. */
extern const char *hg_resident_reason_text(HgResidentReason reason);

#endif /* HG_RESIDENT_REPORT_H */
