/*-------------------------------------------------------------------------
 *
 * hg_lookup_job.h
 *	  A job that may have its inner rows in a table: what its files have for each other.
 *
 * 	hg_lookup.c			the calls: checked, done here or handed on to the wrapped engine
 * 	hg_lookup_build.c	the table of the inner rows
 * 	hg_lookup_match.c	outer rows looked up: pairs, or their number
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOOKUP_JOB_H
#define HG_LOOKUP_JOB_H

#include "hg_host_job.h"
#include "hg_lookup.h"

/* Where the stream of matches stands. */
typedef struct HgLookupCursor
{
	HgMatchMode mode;
	size_t piece;
	uint64_t at;		   /* the next key of the piece */
	uint64_t row;		   /* of the first key of the piece */
	uint32_t last;		   /* outer row of the last match */
	HgTableStream *stream; /* of the piece's keys; or NULL */
} HgLookupCursor;

typedef struct HgLookupJob
{
	HgHostJob base; /* first: calls get its address */
	HgLookup *lookup;
	HgJob *graphs; /* the wrapped engine's job, which has all to do, or NULL */
	HgTable *table;
	HgTableContent content;
	HgLookupCursor cursor;
} HgLookupJob;

/* hg_lookup_build.c */

/* Make the table of the inner rows; HG_INVALID where its kind can't hold them. */
extern HgStatus hg_lookup_build(HgLookupJob *job, HgError *error);
extern void hg_lookup_close_table(HgLookupJob *job);

/* hg_lookup_match.c */

/* Begin a stream of matches. */
extern void hg_lookup_begin(HgLookupJob *job, HgMatchMode mode);

/* The next matches; none at the end. */
extern HgStatus hg_lookup_next(HgLookupJob *job, HgMatches *matches, HgError *error);

/* The number of all matches. */
extern HgStatus hg_lookup_count(HgLookupJob *job, HgMatchMode mode, uint64_t *matches,
								HgError *error);

/* There is no stream of the table any more, if there was one. */
extern void hg_lookup_end_stream(HgLookupJob *job);

#endif /* HG_LOOKUP_JOB_H */
