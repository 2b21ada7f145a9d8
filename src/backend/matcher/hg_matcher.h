/*-------------------------------------------------------------------------
 *
 * hg_matcher.h
 *	  Matches the keys of two sides on any available backend.
 *
 * A matcher is the border between PostgreSQL and the engine. It chooses the backend
 * (hashgraph.backend), runs one engine job there, turns statuses into errors and answers cancels.
 * Under backend auto it continues on the CPU if the device is absent, full or lost, or has evicted
 * its job. This works even in the middle of the stream: each match is returned exactly once. Under
 * backend cuda an evicted job is run again.
 *
 * Every function may ereport. A matcher's resources are freed by hg_matcher_destroy, by the reset
 * of the memory context that it was created in, or by the release of the resource owner that was
 * current then, whichever comes first.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCHER_H
#define HG_MATCHER_H

#include "backend/hg_stats.h"
#include "backend/matcher/hg_matcher_spec.h"

typedef struct HgMatcher HgMatcher;

/*
 * Creates a matcher in CurrentMemoryContext and builds the HashGraphs of the two sides. Waits for
 * the other participants, if any. Copies *spec and both sets; the caller keeps the key pieces, and
 * what spec says, until the matcher is destroyed.
 */
extern HgMatcher *hg_matcher_create(const HgMatcherSpec *spec, const HgKeySet *outer,
									const HgKeySet *inner);

/*
 * Returns the next matches: *outer and *inner point to *count row numbers, valid until the next
 * call. Returns false at the end. All matches of one outer row are contiguous, unless its inner
 * side has both covered and delta rows (HgMatcherSpec.covered).
 */
extern bool hg_matcher_next(HgMatcher *matcher, const uint32 **outer, const uint32 **inner,
							size_t *count);

/*
 * Returns the values of spec.columns of a side for the last matches of hg_matcher_next(), with the
 * same lifetime; NULL if the values did not come with the matches.
 */
extern const HgMatchValues *hg_matcher_values(const HgMatcher *matcher, HgSide side);

/*
 * Returns true if the matcher takes outer rows in batches. If it was created for that
 * (streamed_rows) and returns false, there are too many inner rows. It then has no matches, and
 * the caller must create another one with all outer rows.
 */
extern bool hg_matcher_streams(const HgMatcher *matcher);

/*
 * Replaces the outer rows of a matcher that streams by count rows, numbered from 0, whose matches
 * hg_matcher_next() returns from now on. The caller keeps keys until the next call.
 */
extern void hg_matcher_renew(HgMatcher *matcher, const void *keys, uint64 count);

/* Makes hg_matcher_next() begin with the first match again; not with other participants. */
extern void hg_matcher_rewind(HgMatcher *matcher);

/*
 * Returns the number of matches in spec.mode, without streaming them: of a shared job this
 * process's share, of a streamed matcher those of the current outer rows.
 */
extern uint64 hg_matcher_count(HgMatcher *matcher);

/*
 * Returns how many covered rows of a side have at least one match; there must be no delta rows. If
 * reported is true, hg_matcher_matches() and the report count them as matches.
 */
extern uint64 hg_matcher_count_matched(HgMatcher *matcher, HgSide side, bool reported);

/*
 * Reduces all matches by spec.reduction. Returns true if groups were made, which the matcher owns.
 * If *groups is partial, the caller streams the remaining matches too. On false nothing was reduced
 * (no device, too little memory on it, or too many groups): the caller streams all matches. With
 * participants, the result is the same in all processes, but one of them gets the groups.
 */
extern bool hg_matcher_reduce(HgMatcher *matcher, HgGroupSet *groups);

/* Sets *stats to figures about the HashGraph of a side; false if none was built. */
extern bool hg_matcher_describe(HgMatcher *matcher, HgSide side, HgGraphStats *stats);

/*
 * Returns true if a device has measured spec.trial. *status is then HG_OK, or HG_INVALID with
 * *error filled if the table cannot hold these keys. On false the caller must measure on the CPU.
 */
extern bool hg_matcher_measured(const HgMatcher *matcher, HgTableMeasure *measure, HgStatus *status,
								HgError *error);

/* Returns the number of matches found so far. May be called while the engine works. */
extern uint64 hg_matcher_matches(const HgMatcher *matcher);

/*
 * Returns the backend of the current source of matches, a constant string: "cpu", "cuda", or ""
 * before the choice. It may change: to "cpu" if a device fails, to "cuda" once a device has
 * answered for covered rows. May be called while the engine works (HgMatcherSpec.progress).
 */
extern const char *hg_matcher_backend(const HgMatcher *matcher);

/* Returns the devices that no longer had replicas named by spec.replica; *missing says which. */
extern HgDeviceSet hg_matcher_missing_replicas(const HgMatcher *matcher,
											   HgMissingReplicas *missing);

/* Returns the job's peak memory in this process, in bytes without the keys; 0 on a device. */
extern uint64 hg_matcher_job_bytes(const HgMatcher *matcher);

/* Returns the memory of matches that a device returned in one piece, in bytes. */
extern uint64 hg_matcher_fetched_bytes(const HgMatcher *matcher);

/* Copies the report of what the matcher has done so far to *report. */
extern void hg_matcher_report(HgMatcher *matcher, HgMatcherReport *report);

/* Closes the job and frees the matcher. */
extern void hg_matcher_destroy(HgMatcher *matcher);

#endif /* HG_MATCHER_H */
