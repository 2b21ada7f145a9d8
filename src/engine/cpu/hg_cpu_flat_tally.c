/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_tally.c
 *	  The rows of one side of a join's pairs, in order of their numbers.
 *
 * Pairs come in order of vertices, which is random for rows: fetching a value for each of many
 * rows would wait for memory each time. So the pairs are read first, and each row's pairs are
 * counted in half a byte; a cache holds eight times as many of these as of values. Then the counts
 * are read in order, and so is everything that lies in the order of rows.
 *
 * If a count is full, its rows are returned at once and the count is reset; nothing else is
 * returned before the end of the pairs. So counts stay small however many pairs a row has, and
 * nothing grows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../hg_flat.h"

#include <string.h>

#include "hg_cpu_job.h"

#define COUNT_BITS 4
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)
#define COUNTS_OF_WORD (64 / COUNT_BITS)

/* A word whose counts are all 0 or 1 has no other bits set. */
#define ONES UINT64_C(0x1111111111111111)

/* Pairs that are read at once, in a near cache. */
#define CHUNK_PAIRS 2048

/* Counts are prefetched this many pairs ahead. */
#define AHEAD 32

/* Words that are cleared, or read, between two polls. */
#define POLL_WORDS (UINT64_C(1) << 17)

struct HgFlatTally
{
	const HgHost *host;
	HgFlatJoin *join;
	HgSide side;
	uint64_t words;	 /* words of counts */
	bool walked;	 /* all pairs have been counted */
	uint64_t next;	 /* once walked: the words before this one were returned */
	HgMatches chunk; /* the current pairs */
	size_t chunk_at; /* the next pair of the chunk to be counted */
	uint32_t pairs[2][CHUNK_PAIRS];
	uint64_t counts[]; /* [words] of COUNTS_OF_WORD rows each */
};

static uint64_t
tally_words(uint64_t end)
{
	return (end + COUNTS_OF_WORD - 1) / COUNTS_OF_WORD;
}

uint64_t
hg_flat_tally_bytes(uint64_t end)
{
	return sizeof(HgFlatTally) + tally_words(end) * sizeof(uint64_t);
}

HgStatus
hg_flat_tally_open(const HgHost *host, HgFlatJoin *join, HgSide side, uint64_t end,
				   HgFlatTally **tally, HgError *error)
{
	void *memory;
	HgStatus status = HG_OK;
	HgFlatTally *made;

	*tally = NULL;
	HG_TRY(hg_host_memory_alloc(host, hg_flat_tally_bytes(end), &memory, error));
	made = memory;
	memset(made, 0, sizeof(*made));
	made->host = host;
	made->join = join;
	made->side = side;
	made->words = tally_words(end);
	made->chunk.outer = made->pairs[HG_OUTER];
	made->chunk.inner = side == HG_INNER ? made->pairs[HG_INNER] : NULL;
	made->chunk.capacity = CHUNK_PAIRS;
	for (uint64_t at = 0; at < made->words && status == HG_OK; at += POLL_WORDS)
	{
		uint64_t words = made->words - at < POLL_WORDS ? made->words - at : POLL_WORDS;

		memset(made->counts + at, 0, words * sizeof(uint64_t));
		status = hg_host_check_cancel(host, error);
	}
	if (status != HG_OK)
	{
		hg_flat_tally_close(made);
		return status;
	}
	*tally = made;
	return HG_OK;
}

void
hg_flat_tally_close(HgFlatTally *tally)
{
	if (tally != NULL)
		hg_host_memory_free(tally->host, tally,
							sizeof(HgFlatTally) + tally->words * sizeof(uint64_t));
}

/* Counts the rows of the chunk, while full counts have room; returns how many rows it wrote. */
static size_t
count_chunk(HgFlatTally *tally, uint32_t *rows, size_t capacity)
{
	const uint32_t *found = tally->pairs[tally->side];
	uint64_t *counts = tally->counts;
	size_t pairs = tally->chunk.count;
	size_t at = tally->chunk_at;
	size_t n = 0;

	for (; at < pairs; at++)
	{
		uint32_t row = found[at];
		uint64_t *word = &counts[row / COUNTS_OF_WORD];
		uint32_t shift = row % COUNTS_OF_WORD * COUNT_BITS;

		HG_CPU_PREFETCH(&counts[found[at + AHEAD < pairs ? at + AHEAD : at] / COUNTS_OF_WORD]);
		if ((*word >> shift & COUNT_MASK) < HG_FLAT_TALLY_MOST)
		{
			*word += UINT64_C(1) << shift;
			continue;
		}
		if (capacity - n < HG_FLAT_TALLY_MOST + 1)
			break;
		*word &= ~(COUNT_MASK << shift);
		for (int i = 0; i <= HG_FLAT_TALLY_MOST; i++)
			rows[n++] = row;
	}
	tally->chunk_at = at;
	return n;
}

/* Writes the rows of a word of counts, each as often as it was counted; returns how many. */
static inline size_t
word_rows(uint64_t word, uint32_t first, uint32_t *rows)
{
	size_t n = 0;

	if ((word & ~ONES) == 0)
	{
		for (uint32_t i = 0; i < COUNTS_OF_WORD; i++)
		{
			rows[n] = first + i;
			n += word >> (i * COUNT_BITS) & 1;
		}
		return n;
	}
	for (uint32_t i = 0; i < COUNTS_OF_WORD; i++)
		for (uint64_t count = word >> (i * COUNT_BITS) & COUNT_MASK; count > 0; count--)
			rows[n++] = first + i;
	return n;
}

HgStatus
hg_flat_tally_next(HgFlatTally *tally, HgMatchMode mode, uint32_t *rows, size_t capacity,
				   size_t *count, HgError *error)
{
	size_t n = 0;

	*count = 0;
	while (!tally->walked && n == 0)
	{
		if (tally->chunk_at == tally->chunk.count)
		{
			HG_TRY(hg_flat_next(tally->join, mode, &tally->chunk, error));
			tally->chunk_at = 0;
			tally->walked = tally->chunk.count == 0;
		}
		n = count_chunk(tally, rows, capacity);
	}
	while (tally->walked && tally->next < tally->words &&
		   capacity - n >= COUNTS_OF_WORD * HG_FLAT_TALLY_MOST)
	{
		uint64_t word = tally->counts[tally->next];

		if (word != 0)
			n += word_rows(word, (uint32_t) (tally->next * COUNTS_OF_WORD), rows + n);
		if (++tally->next % POLL_WORDS == 0)
			HG_TRY(hg_host_check_cancel(tally->host, error));
	}
	*count = n;
	return HG_OK;
}
