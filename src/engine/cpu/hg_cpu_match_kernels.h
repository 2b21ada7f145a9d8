/*-------------------------------------------------------------------------
 *
 * hg_cpu_match_kernels.h
 *	  The inner loops of matching, for one key width and one instruction set: included by
 *	  hg_cpu_match.c only.
 *
 * Expects HG_KEY_BITS, HG_ISA, HG_TARGET, SHORT_LIST (the edges of a list that are compared at
 * once) and two functions of the set and width, as EQUAL_EDGES and WRITE_EDGES:
 *
 *	uint32_t equal_edges(const EDGE *list, uint32_t length, KEY mixed)
 *		returns bit e set if edge e of a list of length <= SHORT_LIST has the key
 *	void write_edges(const EDGE *list, uint32_t equal, uint32_t *inner)
 *		writes the rows of the edges of equal, packed; it may write up to SHORT_LIST entries
 *
 * Both may read HG_CPU_EDGE_PADDING edges after a list.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

/*
 * Counts the matches of a group's rows, except those with longer lists, whose indexes it stores in
 * longer; returns their number.
 */
HG_TARGET static inline uint32_t
KERNEL(count_short_mode)(HgCpuCursor *cursor, const EDGE *edges, HgMatchMode mode, uint32_t *longer,
						 uint64_t *matches)
{
	const KEY *mixed = GROUP_KEYS(cursor);
	uint64_t total = 0;
	uint64_t comparisons = 0;
	uint32_t noted = 0;

	for (uint32_t i = 0; i < cursor->count; i++)
	{
		uint32_t length = cursor->high[i] - cursor->low[i];
		uint32_t equal;

		if (HG_CPU_UNLIKELY(length > SHORT_LIST))
		{
			longer[noted++] = i;
			continue;
		}
		equal = EQUAL_EDGES(edges + cursor->low[i], length, mixed[i]);
		if (mode == HG_MATCH_FIRST)
		{
			total += equal != 0;
			comparisons += equal != 0 ? lowest_bit(equal) + 1 : length;
		}
		else
		{
			total += count_bits(equal);
			comparisons += length;
		}
	}
	cursor->comparisons += comparisons;
	*matches += total;
	return noted;
}

HG_TARGET static uint32_t
KERNEL(count_short)(HgCpuCursor *cursor, const void *edges, uint32_t *longer, uint64_t *matches)
{
	if (cursor->mode == HG_MATCH_FIRST)
		return KERNEL(count_short_mode)(cursor, edges, HG_MATCH_FIRST, longer, matches);
	return KERNEL(count_short_mode)(cursor, edges, HG_MATCH_ALL, longer, matches);
}

/*
 * Writes the matches of the rows of the group from cursor->at on, as long as their lists are short
 * and there is room for SHORT_LIST matches.
 */
HG_TARGET static inline void
KERNEL(write_short_mode)(HgCpuCursor *cursor, const EDGE *edges, HgMatchMode mode,
						 HgMatches *matches)
{
	const KEY *mixed = GROUP_KEYS(cursor);
	size_t n = matches->count;
	uint64_t comparisons = 0;
	uint32_t i;

	for (i = cursor->at; i < cursor->count && matches->capacity - n >= SHORT_LIST; i++)
	{
		const EDGE *list = edges + cursor->low[i];
		uint32_t length = cursor->high[i] - cursor->low[i];
		uint32_t equal;

		if (HG_CPU_UNLIKELY(length > SHORT_LIST))
			break;
		equal = EQUAL_EDGES(list, length, mixed[i]);

		/* a row that does not match is written too, and overwritten later */
		if (mode == HG_MATCH_FIRST)
		{
			uint32_t first = equal != 0 ? lowest_bit(equal) : 0;

			matches->outer[n] = cursor->rows[i];
			matches->inner[n] = list[first].row;
			n += equal != 0;
			comparisons += equal != 0 ? first + 1 : length;
		}
		else
		{
			for (uint32_t e = 0; e < SHORT_LIST; e++)
				matches->outer[n + e] = cursor->rows[i];
			WRITE_EDGES(list, equal, matches->inner + n);
			n += count_bits(equal);
			comparisons += length;
		}
	}
	cursor->at = i;
	cursor->comparisons += comparisons;
	matches->count = n;
}

HG_TARGET static void
KERNEL(write_short)(HgCpuCursor *cursor, const void *edges, HgMatches *matches)
{
	if (cursor->mode == HG_MATCH_FIRST)
		KERNEL(write_short_mode)(cursor, edges, HG_MATCH_FIRST, matches);
	else
		KERNEL(write_short_mode)(cursor, edges, HG_MATCH_ALL, matches);
}
