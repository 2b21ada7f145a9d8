/*-------------------------------------------------------------------------
 *
 * hg_cpu_match_portable.h
 *	  Compares a short list with plain instructions: included by hg_cpu_match.c only.
 *
 * Expects HG_KEY_BITS, and SHORT_LIST, which is 4.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

static inline uint32_t
EQUAL_EDGES(const EDGE *list, uint32_t length, KEY mixed)
{
	uint32_t equal = 0;

	for (uint32_t e = 0; e < SHORT_LIST; e++)
		equal |= (uint32_t) (MIXED(&list[e]) == mixed) << e;
	return equal & ((1U << length) - 1);
}

static inline void
WRITE_EDGES(const EDGE *list, uint32_t equal, uint32_t *inner)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < SHORT_LIST; e++)
	{
		inner[n] = list[e].row;
		n += equal >> e & 1;
	}
}
