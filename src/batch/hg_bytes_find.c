/*-------------------------------------------------------------------------
 *
 * hg_bytes_find.c
 *	  Where bytes are in others.
 *
 * Texts of tables are short, so that a search is to begin at once: there are no tables of the part.
 * Its first and its last byte are looked for together, at sixteen places at a time, and where both
 * are what is between them is compared.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "port/pg_bitutils.h"

#include "batch/hg_bytes_find.h"

/* Places that are looked at together: compilers have vectors of so many bytes on every processor.
 */
#define HG_PLACES 16

typedef uint8 HgPlaces __attribute__((vector_size(HG_PLACES)));

/* The first of the bytes of a word of memory that is not 0; there is one. */
static inline int
hg_word_first(uint64 word)
{
#ifdef WORDS_BIGENDIAN
	return 7 - pg_leftmost_one_pos64(word) / BITS_PER_BYTE;
#else
	return pg_rightmost_one_pos64(word) / BITS_PER_BYTE;
#endif
}

static inline HgPlaces
hg_places_load(const char *at)
{
	HgPlaces places;

	memcpy(&places, at, HG_PLACES);
	return places;
}

/* Is part, whose first and last byte are known to be there, at a place? */
static inline bool
hg_bytes_are_at(const char *at, HgBytes part)
{
	return part.length <= 2 || memcmp(at + 1, part.data + 1, part.length - 2) == 0;
}

/* The first of HG_PLACES places from at on where part is; NULL where there is none. */
static inline const char *
hg_bytes_find_here(const char *at, HgBytes part, HgPlaces first, HgPlaces last)
{
	HgPlaces both =
		(HgPlaces) ((hg_places_load(at) == first) & (hg_places_load(at + part.length - 1) == last));
	uint64 words[HG_PLACES / sizeof(uint64)];

	memcpy(words, &both, sizeof(words));
	if (likely((words[0] | words[1]) == 0))
		return NULL;
	for (int w = 0; w < (int) lengthof(words); w++)
		while (words[w] != 0)
		{
			int byte = hg_word_first(words[w]);
			const char *place = at + w * sizeof(uint64) + byte;

			if (hg_bytes_are_at(place, part))
				return place;
			((uint8 *) &words[w])[byte] = 0;
		}
	return NULL;
}

const char *
hg_bytes_find(HgBytes value, HgBytes part)
{
	const char *at = value.data;
	const char *end = value.data + value.length - part.length + 1; /* behind the last place */
	char first = part.data[0];
	char last = part.data[part.length - 1];

	if (value.length - part.length + 1 >= HG_PLACES)
	{
		HgPlaces firsts = (HgPlaces){0} + (uint8) first;
		HgPlaces lasts = (HgPlaces){0} + (uint8) last;
		const char *found;

		for (; end - at > HG_PLACES; at += HG_PLACES)
			if ((found = hg_bytes_find_here(at, part, firsts, lasts)) != NULL)
				return found;
		/* with some places that it is not at */
		return hg_bytes_find_here(end - HG_PLACES, part, firsts, lasts);
	}
	for (; at < end; at++)
		if (*at == first && at[part.length - 1] == last && hg_bytes_are_at(at, part))
			return at;
	return NULL;
}
