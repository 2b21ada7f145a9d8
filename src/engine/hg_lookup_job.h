/*-------------------------------------------------------------------------
 *
 * hg_lookup_job.h
 *	  A job that can have its inner rows in a table: declarations shared by its files.
 *
 *	hg_lookup.c			the calls: checked, then done here or by the wrapped engine
 *	hg_lookup_build.c	builds the table of the inner rows
 *	hg_lookup_match.c	looks outer rows up: pairs, or their number
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOOKUP_JOB_H
#define HG_LOOKUP_JOB_H

#include "hg_host_job.h"
#include "hg_lookup.h"

/* Position of the stream of matches. */
typedef struct HgLookupCursor
{
	HgMatchMode mode;
	size_t piece;
	uint64_t at;		   /* index of the next key in the piece */
	uint64_t row;		   /* row number of the first key of the piece */
	uint32_t last;		   /* outer row of the last match */
	HgTableStream *stream; /* for the piece's keys; or NULL */
} HgLookupCursor;

typedef struct HgLookupJob
{
	HgHostJob base; /* first: calls get its address */
	HgLookup *lookup;
	HgJob *graphs; /* the wrapped engine's job, to which all calls go, or NULL */
	HgTable *table;
	HgTableContent content;
	HgLookupCursor cursor;
} HgLookupJob;

/* hg_lookup_build.c */

/* Builds the table of the inner rows; HG_INVALID if its kind can not hold them. */
extern HgStatus hg_lookup_build(HgLookupJob *job, HgError *error);

/* Frees the table, if there is one. */
extern void hg_lookup_close_table(HgLookupJob *job);

/* hg_lookup_match.c */

/* Starts a stream of matches. */
extern void hg_lookup_begin(HgLookupJob *job, HgMatchMode mode);

/* Returns the next matches; count is 0 at the end. */
extern HgStatus hg_lookup_next(HgLookupJob *job, HgMatches *matches, HgError *error);

/* Sets *matches to the number of all matches. */
extern HgStatus hg_lookup_count(HgLookupJob *job, HgMatchMode mode, uint64_t *matches,
								HgError *error);

/* Ends the table's stream, if there is one. */
extern void hg_lookup_end_stream(HgLookupJob *job);

#endif /* HG_LOOKUP_JOB_H */
