/*-------------------------------------------------------------------------
 *
 * hg_reduce.h
 *	  Columns and groups of matches: their records, and checks of requests and records.
 *
 * hg_engine.h says what reduce does; engines and their callers share what is here.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_REDUCE_H
#define HG_REDUCE_H

#include "hg_engine.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Returns the words of an item in a record. */
	static inline uint32_t
	hg_reduce_item_words(const HgReduceItem *item)
	{
		switch ((HgReduceKind) item->kind)
		{
			case HG_REDUCE_COUNT:
				return 1;
			case HG_REDUCE_SUM:
				return 3;
			case HG_REDUCE_MIN:
			case HG_REDUCE_MAX:
				break;
		}
		return 2;
	}

	/* Returns the words of a record: keys, their nulls, pairs, items. */
	static inline uint32_t
	hg_reduce_words(const HgReduceSpec *spec)
	{
		uint32_t words = spec->nkeys + 2;

		for (uint32_t i = 0; i < spec->nitems; i++)
			words += hg_reduce_item_words(&spec->items[i]);
		return words;
	}

	/* Maximum words of a record. */
#define HG_MAX_REDUCE_WORDS (HG_MAX_REDUCE_KEYS + 2 + 3 * HG_MAX_REDUCE_ITEMS)

	/* Returns the bytes of a row of a side in its columns, with a byte of each for NULL. */
	static inline uint64_t
	hg_reduce_row_bytes(const HgJobSpec *spec, HgSide side)
	{
		uint64_t bytes = spec->sides[side].ncolumns;

		for (uint32_t column = 0; column < spec->sides[side].ncolumns; column++)
			bytes += spec->sides[side].column_width[column];
		return bytes;
	}

	/* Checks the columns of matches.  Returns HG_OK, or HG_INVALID with an explanation. */
	extern HgStatus hg_matches_check(const HgJobSpec *job, const HgMatches *matches,
									 HgError *error);

	/* Checks a spec of reduce.  Returns HG_OK, or HG_INVALID with an explanation. */
	extern HgStatus hg_reduce_check(const HgJobSpec *job, const HgReduceSpec *spec, HgError *error);

	/*
	 * Returns true if a record can be a group's: its numbers of pairs and arguments agree, and its
	 * values could have come from the columns.
	 */
	extern bool hg_reduce_record_check(const HgJobSpec *job, const HgReduceSpec *spec,
									   const uint64_t *record);

#ifdef __cplusplus
}
#endif

#endif /* HG_REDUCE_H */
