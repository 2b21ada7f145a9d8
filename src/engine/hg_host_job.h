/*-------------------------------------------------------------------------
 *
 * hg_host_job.h
 *	  A job of an engine on the host: what its calls check, the keys that it was given, its memory.
 *
 * Engines that work in their caller's thread (cpu, and hg_lookup.h around it) have the same
 * contract to watch over: which call may follow which, what is held under the job's limit, where the
 * keys stand. That is here, as the first member of an engine's own job; what is done with the keys
 * is theirs.
 *
 * All memory, the job itself included, comes from the host's callbacks and is counted; what an
 * engine holds beside its job and its pieces it frees before it closes this.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_JOB_H
#define HG_HOST_JOB_H

#include "hg_engine.h"

typedef enum HgHostState
{
	HG_HOST_APPENDING,
	HG_HOST_BUILT,
	HG_HOST_MATCHING, /* built, and there is a stream */
	HG_HOST_FAILED	  /* only close is left */
} HgHostState;

/* Keys that one append brought; the memory is the caller's. */
typedef struct HgHostPiece
{
	const void *keys;
	uint64_t count;
	uint32_t first_row; /* the number of the first key's row */
} HgHostPiece;

typedef struct HgHostSide
{
	HgHostPiece *pieces;
	size_t piece_count;
	size_t piece_capacity;
	uint64_t rows; /* in pieces */
} HgHostSide;

typedef struct HgHostJob
{
	const HgHost *host;
	HgJobSpec spec;
	HgHostState state;	 /* the engine's calls change it; a failure does in hg_host_finish */
	HgHostSide sides[2]; /* by HgSide */
	HgJobStats stats;	 /* rows and peak_bytes are kept here, all else is the engine's */
	uint64_t held_bytes;
	size_t bytes; /* of the engine's own struct */
} HgHostJob;

/* The table of calls of such an engine, each function of which is named for its call. */
#define HG_HOST_ENGINE_CALLS                                                                       \
	.open = engine_open, .append = engine_append, .build = engine_build, .match = engine_match,    \
	.next = engine_next, .count = engine_count, .describe = engine_describe,                       \
	.export_graph = engine_export_graph, .stats = engine_stats, .close = engine_close,             \
	.share = engine_share, .append_rows = engine_append_rows, .renew = engine_renew,               \
	.append_bits = engine_append_bits

/*
 * Open a job, the first member of a struct of so many bytes that is zero otherwise.  HG_INVALID
 * where the spec is none, or one with columns or a table to be measured.
 */
extern HgStatus hg_host_open(const HgHost *host, const HgJobSpec *spec, size_t bytes,
							 HgHostJob **job, HgError *error);

/* Free the pieces and the job, which is the last thing that it holds. */
extern void hg_host_close(HgHostJob *job);

/*
 * Close a call: a job that has failed stays failed, except that a call which the
 * contract forbids (HG_INVALID) has done nothing.
 */
extern HgStatus hg_host_finish(HgHostJob *job, HgStatus status);

/* HG_OK, or HG_INVALID where the job is not there for the call. */
extern HgStatus hg_host_check_appending(const HgHostJob *job, HgError *error);
extern HgStatus hg_host_check_append(const HgHostJob *job, HgSide which, HgError *error);
extern HgStatus hg_host_check_built(const HgHostJob *job, HgError *error);
extern HgStatus hg_host_check_mode(const HgHostJob *job, HgMatchMode mode, HgError *error);
extern HgStatus hg_host_check_next(const HgHostJob *job, const HgMatches *matches, HgError *error);

/* Have room for one more piece of a side: the next append allocates nothing. */
extern HgStatus hg_host_reserve(HgHostJob *job, HgSide which, HgError *error);

/* Note keys of a side, whose rows are numbered from first_row on. */
extern HgStatus hg_host_append(HgHostJob *job, HgSide which, const void *keys, uint64_t count,
							   uint64_t first_row, HgError *error);

/* Forget the outer rows, and note others if there are any. */
extern HgStatus hg_host_renew(HgHostJob *job, const void *keys, uint64_t count, HgError *error);

/*
 * Memory of the job's host, counted against the job's limit.  On failure *ptr is
 * NULL.  Freeing NULL does nothing.
 */
extern HgStatus hg_host_alloc(HgHostJob *job, uint64_t bytes, void **ptr, HgError *error);
extern void hg_host_free(HgHostJob *job, void *ptr, uint64_t bytes);

/* HG_OK, or HG_OUT_OF_MEMORY where bytes more would pass the job's limit. */
extern HgStatus hg_host_check_limit(HgHostJob *job, uint64_t bytes, HgError *error);

/* The job holds bytes more; or has held so many at some time. */
extern void hg_host_hold(HgHostJob *job, uint64_t bytes);
extern void hg_host_note_peak(HgHostJob *job, uint64_t bytes);

/*
 * What is left of the job's limits for a table (HgJobSpec.direct_limit) beside what it holds and
 * will hold; UINT64_MAX where nothing limits it.
 */
extern uint64_t hg_host_room(const HgHostJob *job, uint64_t will_hold);

/* HG_OK, or HG_CANCELLED when the host wants the work to stop. */
extern HgStatus hg_host_poll(HgHostJob *job, HgError *error);

#endif /* HG_HOST_JOB_H */
