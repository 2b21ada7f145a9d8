/*-------------------------------------------------------------------------
 *
 * hg_delivered.h
 *	  What has been delivered of a stream of matches, so that another engine can go on with it.
 *
 * Under backend auto a device that fails, or evicts a job that was idle, hands over to the CPU,
 * even when part of its matches have been delivered already; under cuda a job that was evicted is
 * run again, as often as that befalls it.  Whichever engine goes on enumerates the same matches in
 * another order, so that the delivered ones must be left out, and no other.  What makes that cheap
 * is the engine's promise that all matches of one outer row follow each other: it is enough to
 * remember
 *
 *	rows		a bit for each outer row of which a match was delivered,
 *	last_outer	the outer row of the last match, which may have more to come,
 *	last_inner	the inner rows that were delivered for it.
 *
 * A stream that is handed over goes on with what that last outer row still has to get, so that its
 * matches follow each other: the inner keys are compared with its key, one by one.  Then come the
 * other engine's matches, without those of outer rows that were delivered before it began.  The
 * steps are
 *
 *	hg_delivered_note		with every chunk that is about to be delivered, but for the CPU's
 *	hg_delivered_resume		when another engine is to go on
 *	hg_delivered_next_rest	until there is nothing left for the last outer row
 *	hg_delivered_filter		with every chunk of the other engine, before it is noted
 *
 * and hg_delivered_forget begins another stream at any time.
 *
 * It takes a bit for an outer row; for the last outer row 4 bytes for each of its matches, and a
 * bit for an inner row in a stream that is handed over.  None of it is taken before it is needed.
 * All memory comes from the context given at the start, and goes with it.  Row numbers must be
 * dense: the job is one process's alone.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DELIVERED_H
#define HG_DELIVERED_H

#include "backend/matcher/hg_matcher_spec.h"

typedef struct HgDelivered
{
	MemoryContext context;
	const HgKeySet *sides; /* [2], by HgSide */
	uint32 key_width;
	HgMatchMode mode;

	bool any;	  /* something was delivered of this stream */
	bool resumed; /* ... and another engine has taken over */
	bool noted;	  /* ... of whose matches some were noted: last_outer is its own */
	uint8 *rows;  /* NULL before the first match of all */
	uint32 last_outer;
	uint32 *last_inner;
	size_t last_count;
	size_t last_capacity;

	/* where the last outer row gets the rest of its matches */
	bool in_rest;
	uint8 *last_rows; /* last_inner as a bit for each inner row */
	int rest_piece;	  /* inner keys that are still to be compared */
	uint64 rest_at;
	uint32 rest_row;
} HgDelivered;

/* A stream begins of the join of these sides, which stay in place; memory comes from context. */
extern void hg_delivered_init(HgDelivered *delivered, MemoryContext context,
							  const HgMatcherSpec *spec, const HgKeySet *sides);

/* The stream begins again: nothing has been delivered. */
extern void hg_delivered_forget(HgDelivered *delivered);

/*
 * Remember matches that are about to be delivered, in the order of the stream; count > 0.  False,
 * and nothing is remembered of them, where they are not those that the engine promises: one outer
 * row's do not follow each other, or are more than there can be.
 */
extern bool hg_delivered_note(HgDelivered *delivered, const uint32 *outer, const uint32 *inner,
							  size_t count);

/* From now on the matches come from another engine, which begins with its first one. */
extern void hg_delivered_resume(HgDelivered *delivered);

/*
 * Fill outer and inner with at most capacity matches that the last outer row still has to get;
 * returns their number, 0 where that is all, or the stream has not been handed over.
 */
extern size_t hg_delivered_next_rest(HgDelivered *delivered, uint32 *outer, uint32 *inner,
									 size_t capacity);

/*
 * Drop those of the other engine's matches that are not to be delivered any more; returns how many
 * are left, moved to the front.  Of a stream that has not been handed over, all are.
 */
extern size_t hg_delivered_filter(const HgDelivered *delivered, uint32 *outer, uint32 *inner,
								  size_t count);

#endif /* HG_DELIVERED_H */
