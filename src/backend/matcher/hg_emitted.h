/*-------------------------------------------------------------------------
 *
 * hg_emitted.h
 *	  The matches of a stream that have been returned, so that another engine can continue it.
 *
 * Under backend auto, a device that fails or evicts an idle job hands over to the CPU, even if
 * part of its matches have been returned. Under cuda an evicted job is run again, as often as
 * needed. The next engine enumerates the same matches in another order, so exactly those already
 * returned must be skipped. The engine guarantees that all matches of one outer row are
 * contiguous. It is therefore enough to remember
 *
 *	rows		a bit for each outer row of which a match was returned,
 *	last_outer	the outer row of the last match, which may have more matches,
 *	last_inner	the inner rows that were returned for it.
 *
 * A stream that is handed over first returns the remaining matches of last_outer, so that they
 * stay contiguous: its key is compared with every inner key. Then it returns the other engine's
 * matches, except those of outer rows that had matches before. The calls are
 *
 *	hg_emitted_record		for every chunk that is about to be returned, except by the CPU
 *	hg_emitted_resume		before another engine continues
 *	hg_emitted_next_rest	until nothing is left for the last outer row
 *	hg_emitted_filter		for every chunk of the other engine, before it is recorded
 *	hg_emitted_reset		to begin another stream, at any time
 *
 * Memory: a bit for each outer row, 4 bytes for each match of the last outer row, and after a
 * handover a bit for each inner row. Each is allocated when first needed, from the context given
 * at the start, and lives as long as that. Row numbers must be dense, so the job must be one
 * process's alone.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_EMITTED_H
#define HG_EMITTED_H

#include "backend/matcher/hg_matcher_spec.h"

typedef struct HgEmitted
{
	MemoryContext context;
	const HgKeySet *sides; /* [2], by HgSide */
	uint32 key_width;
	HgMatchMode mode;

	bool any;	   /* a match of this stream was returned */
	bool resumed;  /* another engine has taken over */
	bool recorded; /* matches of the current engine were recorded, so last_outer is its row */
	uint8 *rows;   /* bits of outer rows; NULL before the first match */
	uint32 last_outer;
	uint32 *last_inner;
	size_t last_count;
	size_t last_capacity;

	/* the remaining matches of last_outer */
	bool in_rest;
	uint8 *last_rows; /* bits of the inner rows in last_inner */
	int rest_piece;	  /* next inner key to compare */
	uint64 rest_at;
	uint32 rest_row;
} HgEmitted;

/* Begins a stream of a join. The caller keeps sides; memory comes from context. */
extern void hg_emitted_init(HgEmitted *emitted, MemoryContext context, const HgMatcherSpec *spec,
							const HgKeySet *sides);

/* Begins the stream again: no match has been returned. */
extern void hg_emitted_reset(HgEmitted *emitted);

/*
 * Records matches that are about to be returned, in the order of the stream; count > 0. Returns
 * false, recording none, if they break the engine's guarantee: matches of one outer row are not
 * contiguous, or are more than possible.
 */
extern bool hg_emitted_record(HgEmitted *emitted, const uint32 *outer, const uint32 *inner,
							  size_t count);

/*
 * Called before another engine continues the stream: hg_emitted_next_rest and hg_emitted_filter
 * then know what to return and remove. Does nothing if no match was returned.
 */
extern void hg_emitted_resume(HgEmitted *emitted);

/*
 * Fills outer and inner with at most capacity remaining matches of the last outer row. Returns
 * their number; 0 if there are no more or the stream was not handed over.
 */
extern size_t hg_emitted_next_rest(HgEmitted *emitted, uint32 *outer, uint32 *inner,
								   size_t capacity);

/*
 * Removes matches of the current engine that were already returned, moving the others to the
 * front. Returns how many are left: all if the stream was not handed over.
 */
extern size_t hg_emitted_filter(const HgEmitted *emitted, uint32 *outer, uint32 *inner,
								size_t count);

#endif /* HG_EMITTED_H */
