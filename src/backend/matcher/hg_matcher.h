/*-------------------------------------------------------------------------
 *
 * hg_matcher.h
 *	  Match the keys of two sides on whichever backend there is.
 *
 * A matcher is the border between PostgreSQL and the engine.  It chooses the
 * backend (hashgraph.backend), runs one engine job on it, turns statuses into
 * errors, answers cancels, and under backend auto carries on with the CPU when
 * the device is absent, full or lost, or has evicted its job, even in the middle of the
 * stream: no match is delivered twice and none is left out.  Under backend cuda a job that was
 * evicted is run again.
 *
 * Every function may ereport.  Whatever a matcher holds is freed by
 * hg_matcher_destroy, by the reset of the memory context that it was created in,
 * or by the release of the resource owner that was current then, whichever comes
 * first.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCHER_H
#define HG_MATCHER_H

#include "backend/hg_report.h"
#include "backend/matcher/hg_matcher_spec.h"

typedef struct HgMatcher HgMatcher;

/*
 * Build the HashGraphs of the two sides; with other participants, wait for them.  The key pieces
 * must stay in place until the matcher is destroyed.  Memory comes from CurrentMemoryContext.
 */
extern HgMatcher *hg_matcher_create(const HgMatcherSpec *spec, const HgKeySet *outer,
									const HgKeySet *inner);

/*
 * The next matches: *outer and *inner point to arrays of *count row numbers that
 * stay valid until the next call.  False at the end.  All matches of one outer
 * row follow each other.
 */
extern bool hg_matcher_next(HgMatcher *matcher, const uint32 **outer, const uint32 **inner,
							size_t *count);

/*
 * The values of spec.columns of a side that came with the matches which hg_matcher_next() has
 * returned last, valid as long as these; NULL where they did not come.
 */
extern const HgMatchValues *hg_matcher_values(const HgMatcher *matcher, HgSide side);

/*
 * Can it have outer rows a few at a time?  Where it was made for that, and there are too many inner
 * rows for it, there are no matches at all: another has to be made, with all outer rows.
 */
extern bool hg_matcher_streams(const HgMatcher *matcher);

/*
 * Go on with the matches of other outer rows, count keys of which are numbered from 0; they stay in
 * place until the next call.
 */
extern void hg_matcher_renew(HgMatcher *matcher, const void *keys, uint64 count);

/* Start the stream again from its beginning; not with other participants. */
extern void hg_matcher_rewind(HgMatcher *matcher);

/* The number of matches; nothing is streamed. */
extern uint64 hg_matcher_count(HgMatcher *matcher);

/*
 * Returns how many covered rows of a side have a match, where no other rows are there.  If told is
 * true they are reported as matches are, else nobody is told.
 */
extern uint64 hg_matcher_count_matched(HgMatcher *matcher, HgSide side, bool told);

/*
 * Reduce all matches, as spec.reduction says.  False: they are not reduced, for want of a device,
 * of memory on it, or because there would be more groups than may be; then they can be streamed.
 * The groups are the matcher's; where they are partial the other matches can be.  With other
 * participants: in all of its processes or in none, and one of them gets the groups.
 */
extern bool hg_matcher_reduce(HgMatcher *matcher, HgGroupSet *groups);

/* Describe the HashGraph of a side; false where build made none. */
extern bool hg_matcher_describe(HgMatcher *matcher, HgSide side, HgGraphStats *stats);

/*
 * Of spec.trial: has a device measured it?  If so, *status is HG_OK, or HG_INVALID with an
 * explanation where the table can't have these keys.  False: it is the caller's to do, on the CPU.
 */
extern bool hg_matcher_measured(const HgMatcher *matcher, HgTableMeasure *measure, HgStatus *status,
								HgError *error);

/*
 * The matches that have been found so far, and "cpu" or "cuda", where they come from: these may be
 * asked for while the engine works (HgMatcherSpec.progress).
 */
extern uint64 hg_matcher_matches(const HgMatcher *matcher);
extern const char *hg_matcher_backend(const HgMatcher *matcher);

/*
 * The devices that did not have the replicas any more that spec.replica names, and which replicas
 * these are.
 */
extern HgDeviceSet hg_matcher_missed(const HgMatcher *matcher, HgMissingReplicas *missing);

/* The most of this process's memory that the job has used, without the keys it was given. */
extern uint64 hg_matcher_job_bytes(const HgMatcher *matcher);

/* Memory of the matches that have come from a device all at once. */
extern uint64 hg_matcher_fetched_bytes(const HgMatcher *matcher);

extern void hg_matcher_report(HgMatcher *matcher, HgMatcherReport *report);

extern void hg_matcher_destroy(HgMatcher *matcher);

#endif /* HG_MATCHER_H */
