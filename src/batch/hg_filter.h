/*-------------------------------------------------------------------------
 *
 * hg_filter.h
 *	  Runtime filters: the keys of one side reject rows of the other side that cannot match.
 *
 * A filter has all keys of one side of a join, usually the inner one, as words (hg_key.h).  Rows of
 * the other side that it rejects need not be stored, binned or written to disk.  It is built from
 * keys in memory (hg_filter_create()), or while they go to disk (hg_filter_begin(),
 * hg_filter_add()), in one of two forms:
 *
 * - bitmap: one bit for each word from the least to the greatest, if they are known and not too
 *   far apart.  It is exact.
 * - Bloom: blocks of 64 bits; each word sets four bits of one block.  It lets through about one in
 *   40 rows that match nothing.
 *
 * A filter pays only if it rejects enough rows.  After its first rows, a filter that
 * rejects few is not applied any more.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_FILTER_H
#define HG_FILTER_H

#include "port/atomics.h"
#include "utils/dsa.h"

#include "backend/hg_budget.h"
#include "backend/matcher/hg_matcher_spec.h"

typedef enum HgFilterForm
{
	HG_FILTER_BITMAP,
	HG_FILTER_BLOOM
} HgFilterForm;

typedef struct HgFilter
{
	MemoryContext context; /* owns the filter */
	HgCharge charge;	   /* set by hg_filter_charge() */
	HgFilterForm form;
	uint64 sign;   /* mask that is XORed with words, so that they are ordered as unsigned */
	uint64 least;  /* of the ordered words; 0 if unknown */
	uint64 extent; /* the greatest minus the least */
	uint64 *bits;  /* bitmap: [extent / 64 + 1]; Bloom: [blocks] */
	uint64 blocks;
	bool shared;	/* other processes set bits too */
	bool pays;		/* false: stop applying it */
	uint64 tested;	/* rows tested so far */
	uint64 refused; /* rows rejected so far */
} HgFilter;

/*
 * Creates a filter of keys, whose words have key_width (4 or 8) bytes, in its own context below
 * CurrentMemoryContext.  Chooses the form.  Returns NULL if it would take more than max_bytes, if
 * memory is short, or if there are no keys.
 */
extern HgFilter *hg_filter_create(const HgKeySet *keys, uint32 key_width, uint64 max_bytes);

/*
 * Creates a Bloom filter that takes `bytes` bytes, in CurrentMemoryContext, and adds the given
 * keys. hg_filter_add() may add more; with more keys it rejects fewer rows.  Returns NULL if memory
 * is short.
 */
extern HgFilter *hg_filter_begin(const HgKeySet *keys, uint32 key_width, uint64 bytes);

/* Adds words[which[nwords]], or words[nwords] if which is NULL, after hg_filter_begin(). */
extern void hg_filter_add(HgFilter *filter, const uint64 *words, const uint16 *which, int nwords);

/* Charges 1/parts of a filter's memory to a budget, until the filter is destroyed. */
extern void hg_filter_charge(HgFilter *filter, HgBudget *budget, int parts);

/*
 * Tests words[which[nwords]], or words[nwords] if which is NULL, at most HG_BATCH_ROWS.  Writes the
 * indexes in words of those that may match to selected, in order, and returns their number.
 * selected may be the array which.  Clears pays if the filter rejects few.
 */
extern int hg_filter_apply(HgFilter *filter, const uint64 *words, const uint16 *which, int nwords,
						   uint16 *selected);

/* Returns the share of tested rows that have passed, 0 to 1; 1 before it has tested enough rows. */
extern double hg_filter_share(const HgFilter *filter);

/* Frees the filter and its charge; shared bits stay. */
extern void hg_filter_destroy(HgFilter *filter);

/*
 * A filter that several processes fill, each with its own keys, in shared memory.  All processes
 * measure their keys; one then creates the filter; all open it; then all may apply it.  The caller
 * synchronizes the processes between the steps.
 */
typedef struct HgSharedFilter
{
	pg_atomic_uint64 rows;	   /* keys of all processes */
	pg_atomic_uint64 least;	   /* of the ordered words */
	pg_atomic_uint64 greatest; /* of the ordered words */
	HgFilterForm form;
	uint64 blocks;
	dsa_pointer bits; /* InvalidDsaPointer if there is no filter */
} HgSharedFilter;

/* Initializes the shared state. */
extern void hg_shared_filter_init(HgSharedFilter *shared);
/* Adds this process's keys to the number and range of all keys. */
extern void hg_shared_filter_measure(HgSharedFilter *shared, const HgKeySet *keys,
									 uint32 key_width);

/* Allocates an empty filter of up to max_bytes.  Returns its bytes, or 0 if there is none. */
extern uint64 hg_shared_filter_create(HgSharedFilter *shared, dsa_area *area, uint64 max_bytes);

/*
 * Adds this process's keys, and returns its HgFilter of the shared bits, in a context as
 * hg_filter_create() does; NULL if there is none.
 */
extern HgFilter *hg_shared_filter_open(const HgSharedFilter *shared, dsa_area *area,
									   const HgKeySet *keys, uint32 key_width);

/* Frees the filter after all processes are done, and initializes the state for the next one. */
extern void hg_shared_filter_release(HgSharedFilter *shared, dsa_area *area);

#endif /* HG_FILTER_H */
