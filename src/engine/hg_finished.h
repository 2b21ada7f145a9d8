/*-------------------------------------------------------------------------
 *
 * hg_finished.h
 *	  Outer rows that may be finished before all of their matches have been returned.
 *
 * A row's matches are returned in parts (HgMatches.is_finished): first a few, and then as many
 * again as there were before.  So a row that is finished by its first match costs little, however
 * many it has.  For a row whose matches are all examined in vain, the callback is called at most a
 * logarithm of their number.  Rows with few matches are usually returned whole, without a
 * callback.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_FINISHED_H
#define HG_FINISHED_H

#include "hg_engine.h"

/* Number of matches of the first part. */
#define HG_MATCHES_FIRST_PART 16

/* Returns true if the caller needs no more matches of a row. */
static inline bool
hg_matches_row_is_finished(const HgMatches *matches, uint32_t outer_row)
{
	return matches->is_finished != NULL && matches->is_finished(matches->finished_arg, outer_row);
}

/* Returns the number of matches in a row's next part, after written of them. */
static inline size_t
hg_matches_part_size(uint32_t written)
{
	return written > HG_MATCHES_FIRST_PART ? written : HG_MATCHES_FIRST_PART;
}

/* Returns the capacity for the next part of a row's matches; all of it without a callback. */
static inline size_t
hg_matches_part_capacity(const HgMatches *matches, uint32_t written)
{
	const size_t room = matches->capacity - matches->count;
	const size_t part = hg_matches_part_size(written);

	return matches->is_finished != NULL && part < room ? matches->count + part : matches->capacity;
}

#endif /* HG_FINISHED_H */
