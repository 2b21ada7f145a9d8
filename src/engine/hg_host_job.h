/*-------------------------------------------------------------------------
 *
 * hg_host_job.h
 *	  The common part of a job of an engine on the host: checks of its calls, its keys, its
 *	  memory.
 *
 * Engines that work in their caller's thread (cpu, and hg_lookup.h around it) keep the same
 * contract: which call may follow which, how much memory the job may hold, where its keys are.
 * This file implements it.  HgHostJob is the first member of the engine's own job struct; the
 * engine does the join itself.
 *
 * All memory, the job itself included, comes from the host's callbacks and is counted.  Before it
 * closes the HgHostJob, an engine frees everything except the job and its pieces.
 *
 * Each call of the engine first calls a check, then does its work, and returns by way of
 * hg_host_finish.
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
	HG_HOST_MATCHING, /* built, and a stream is open */
	HG_HOST_FAILED	  /* only close is allowed */
} HgHostState;

/* Keys of one append; the array belongs to the caller. */
typedef struct HgHostPiece
{
	const void *keys;
	uint64_t count;
	uint32_t first_row; /* row number of the first key */
} HgHostPiece;

typedef struct HgHostSide
{
	HgHostPiece *pieces;
	size_t piece_count;
	size_t piece_capacity;
	uint64_t rows; /* in all pieces */
} HgHostSide;

typedef struct HgHostJob
{
	const HgHost *host;
	HgJobSpec spec;
	HgHostState state;	 /* set by the engine's calls; hg_host_finish sets FAILED */
	HgHostSide sides[2]; /* by HgSide */
	HgJobStats stats;	 /* this file maintains rows and peak_bytes, the engine all else */
	uint64_t held_bytes; /* memory that the job holds now */
	size_t bytes;		 /* size of the engine's own struct */
} HgHostJob;

/*
 * Checks spec, allocates the engine's own struct, of bytes bytes, and initializes its first member,
 * *job; the rest is zero.  HG_INVALID if the spec is not valid, or has columns, a trial, replicas,
 * pages or shards; HG_OUT_OF_MEMORY.
 */
extern HgStatus hg_host_open(const HgHost *host, const HgJobSpec *spec, size_t bytes,
							 HgHostJob **job, HgError *error);

/* Frees the pieces and the job.  The engine has freed everything else. */
extern void hg_host_close(HgHostJob *job);

/*
 * Ends a call and returns its status.  A failure other than HG_INVALID makes the job fail for
 * good; a call that answers HG_INVALID has changed nothing.
 */
extern HgStatus hg_host_finish(HgHostJob *job, HgStatus status);

/*
 * Return HG_OK, or HG_INVALID if the job's state or the arguments do not allow a call:
 *
 *	appending	the job is not built yet and has not failed
 *	append		the same, for a side that exists and is not the outer one of a streamed job
 *	built		the job is built and has not failed
 *	mode		the same, for a valid match mode
 *	next		the same, with a stream, and with matches that the job can fill
 */
extern HgStatus hg_host_check_appending(const HgHostJob *job, HgError *error);
extern HgStatus hg_host_check_append(const HgHostJob *job, HgSide which, HgError *error);
extern HgStatus hg_host_check_built(const HgHostJob *job, HgError *error);
extern HgStatus hg_host_check_mode(const HgHostJob *job, HgMatchMode mode, HgError *error);
extern HgStatus hg_host_check_next(const HgHostJob *job, const HgMatches *matches, HgError *error);

/* Makes room for one more piece of a side, so that the next hg_host_append allocates nothing. */
extern HgStatus hg_host_reserve(HgHostJob *job, HgSide which, HgError *error);

/*
 * Adds a piece to a side; the array stays the caller's, and its rows have numbers from first_row
 * on.  HG_TOO_MANY_ROWS or HG_OUT_OF_MEMORY makes the job fail.
 */
extern HgStatus hg_host_append(HgHostJob *job, HgSide which, const void *keys, uint64_t count,
							   uint64_t first_row, HgError *error);

/* Replaces the outer rows by these count rows, numbered from 0. */
extern HgStatus hg_host_renew(HgHostJob *job, const void *keys, uint64_t count, HgError *error);

/*
 * Allocate and free memory of the job's host, counted against memory_limit.  On failure *ptr is
 * NULL.  hg_host_free gets the size that was allocated; freeing NULL does nothing.
 */
extern HgStatus hg_host_alloc(HgHostJob *job, uint64_t bytes, void **ptr, HgError *error);
extern void hg_host_free(HgHostJob *job, void *ptr, uint64_t bytes);

/* Returns HG_OK, or HG_OUT_OF_MEMORY if the job would exceed memory_limit by bytes more. */
extern HgStatus hg_host_check_limit(HgHostJob *job, uint64_t bytes, HgError *error);

/*
 * hg_host_hold adds bytes that were allocated elsewhere to those that the job holds, and raises the
 * peak if needed; it does not check memory_limit. hg_host_note_peak raises stats.peak_bytes to
 * bytes if it was lower.
 */
extern void hg_host_hold(HgHostJob *job, uint64_t bytes);
extern void hg_host_note_peak(HgHostJob *job, uint64_t bytes);

/*
 * Returns the bytes that a table may take under the job's limits (memory_limit and direct_limit)
 * beside what the job holds and the will_hold bytes to come; UINT64_MAX if it has no limit.
 */
extern uint64_t hg_host_room(const HgHostJob *job, uint64_t will_hold);

/* Returns HG_OK, or HG_CANCELLED if the host's cancelled() is true. */
extern HgStatus hg_host_poll(HgHostJob *job, HgError *error);

#endif /* HG_HOST_JOB_H */
