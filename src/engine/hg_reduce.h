/*-------------------------------------------------------------------------
 *
 * hg_reduce.h
 *	  Columns and groups of matches: their records, and what can be asked for.
 *
 * hg_engine.h says what reduce does; here is what engines and their callers share of it.
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

	/* Words of an item's part of a record. */
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

	/* Words of a record: keys, their nulls, pairs, items. */
	static inline uint32_t
	hg_reduce_words(const HgReduceSpec *spec)
	{
		uint32_t words = spec->nkeys + 2;

		for (uint32_t i = 0; i < spec->nitems; i++)
			words += hg_reduce_item_words(&spec->items[i]);
		return words;
	}

	/* The most words that a record can have. */
#define HG_MAX_REDUCE_WORDS (HG_MAX_REDUCE_KEYS + 2 + 3 * HG_MAX_REDUCE_ITEMS)

	/* Bytes that a row of a side takes in its columns, each with a byte that tells NULL. */
	static inline uint64_t
	hg_reduce_row_bytes(const HgJobSpec *spec, HgSide side)
	{
		uint64_t bytes = spec->ncolumns[side];

		for (uint32_t column = 0; column < spec->ncolumns[side]; column++)
			bytes += spec->column_width[side][column];
		return bytes;
	}

	/* Can matches of a job come with these columns?  HG_OK, or HG_INVALID with an explanation. */
	extern HgStatus hg_matches_check(const HgJobSpec *job, const HgMatches *matches,
									 HgError *error);

	/* Can this be asked of a job?  HG_OK, or HG_INVALID with an explanation. */
	extern HgStatus hg_reduce_check(const HgJobSpec *job, const HgReduceSpec *spec, HgError *error);

	/*
	 * Can this be the record of a group?  Its numbers of pairs and arguments agree, and its values
	 * could have come from the columns.
	 */
	extern bool hg_reduce_record_check(const HgJobSpec *job, const HgReduceSpec *spec,
									   const uint64_t *record);

#ifdef __cplusplus
}
#endif

#endif /* HG_REDUCE_H */
