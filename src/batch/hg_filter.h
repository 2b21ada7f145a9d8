/*-------------------------------------------------------------------------
 *
 * hg_filter.h
 *	  Which rows of one side can match at all: told by the keys of the other, while it is read.
 *
 * A filter is made of all keys of a join's inner side.  Outer rows that it refuses match
 * nothing, and need not be stored, binned or written to disk.  It is made of keys in memory, or
 * while they go to disk, and takes one of two forms:
 *
 *	bitmap	a bit for each word between the least and the greatest, where these are known and
 *			not too far apart: exact;
 *	Bloom	blocks of 64 bits, four of which each word sets: lets some rows in 40 through that
 *			match nothing.
 *
 * What a filter costs for each row is worth it only if it refuses enough of them.  That is
 * found out with the first rows it sees; one that refuses few is not asked any more.
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
	HgCharge charge;	   /* hg_filter_charge() */
	HgFilterForm form;
	uint64 sign;   /* words are ordered once this bit is turned */
	uint64 least;  /* of the ordered words, or 0 where that is not known */
	uint64 extent; /* the greatest less the least */
	uint64 *bits;  /* bitmap: [extent / 64 + 1]; Bloom: [blocks] */
	uint64 blocks;
	bool shared;	/* other processes set bits too */
	bool pays;		/* rows are to be asked for */
	uint64 tested;	/* rows asked for so far */
	uint64 refused; /* ... that match nothing */
} HgFilter;

/*
 * A filter of keys, in a context of its own below CurrentMemoryContext; NULL where it would
 * take more than max_bytes, or there are no keys.
 */
extern HgFilter *hg_filter_create(const HgKeySet *keys, uint32 key_width, uint64 max_bytes);

/*
 * A Bloom filter of these keys and of more that are added, whose number nobody knows, with bits
 * in so many bytes.  The more keys there are the fewer rows it refuses, and no others.
 */
extern HgFilter *hg_filter_begin(const HgKeySet *keys, uint32 key_width, uint64 bytes);

/* Add words[which[nwords]], or the first nwords where which is NULL, to a begun filter. */
extern void hg_filter_add(HgFilter *filter, const uint64 *words, const uint16 *which, int nwords);

/* Charge one of so many parts of a filter's memory to a budget, until it is destroyed. */
extern void hg_filter_charge(HgFilter *filter, HgBudget *budget, int parts);

/*
 * Which of words[which[nwords]], or of the first nwords where which is NULL, may match: their
 * places go to selected, in the same order; returns how many.  selected may be the array which.
 */
extern int hg_filter_apply(HgFilter *filter, const uint64 *words, const uint16 *which, int nwords,
						   uint16 *selected);

/* The share of rows that a filter lets through; 1 where it has not seen enough of them. */
extern double hg_filter_share(const HgFilter *filter);

extern void hg_filter_destroy(HgFilter *filter);

/*
 * A filter that several processes fill, each with its own keys; in shared memory, no pointers.
 * All measure their keys, then one creates the filter, then all open it, and then all may
 * apply what they have opened: the caller sees to it that none begins a step before all others
 * are done with the one before.
 */
typedef struct HgSharedFilter
{
	pg_atomic_uint64 rows;	   /* keys of all */
	pg_atomic_uint64 least;	   /* of the ordered words */
	pg_atomic_uint64 greatest; /* likewise */
	HgFilterForm form;
	uint64 blocks;
	dsa_pointer bits; /* InvalidDsaPointer: there is no filter */
} HgSharedFilter;

extern void hg_shared_filter_init(HgSharedFilter *shared);
extern void hg_shared_filter_measure(HgSharedFilter *shared, const HgKeySet *keys,
									 uint32 key_width);

/* No filter is created where it would take more than max_bytes; returns what it takes, or 0. */
extern uint64 hg_shared_filter_create(HgSharedFilter *shared, dsa_area *area, uint64 max_bytes);

/* The filter, with these keys added, in a context of its own; NULL where there is none. */
extern HgFilter *hg_shared_filter_open(const HgSharedFilter *shared, dsa_area *area,
									   const HgKeySet *keys, uint32 key_width);

/* Free it, when nobody uses it any more, and be ready for the next one. */
extern void hg_shared_filter_release(HgSharedFilter *shared, dsa_area *area);

#endif /* HG_FILTER_H */
