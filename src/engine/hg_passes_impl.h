/*-------------------------------------------------------------------------
 *
 * hg_passes_impl.h
 *	  Loops over the keys of one width: included by hg_passes_parts.c only.
 *
 * The includer defines HG_KEY_BITS, 32 or 64.  Callers limit the number of keys of each loop, so
 * that the loops need not poll for cancellation.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

#define PASTE2(name, bits) name##bits
#define PASTE(name, bits) PASTE2(name, bits)
#define T(name) PASTE(name, HG_KEY_BITS)
#if HG_KEY_BITS == 32
#define KEY uint32_t
#else
#define KEY uint64_t
#endif

/* Adds the number of keys of range r to counts[r]. */
static void
T(count_keys)(const void *from, uint64_t n, uint64_t *counts)
{
	const KEY *keys = from;

	for (uint64_t i = 0; i < n; i++)
		counts[T(hg_mix)(keys[i]) >> (HG_KEY_BITS - HG_PASSES_RANGE_BITS)]++;
}

/*
 * Writes the mixed keys and row numbers of the chosen ranges to mixed and rows, which have room
 * for n, and returns how many.  Rows are numbered from first on.  It also writes a row of another
 * range, and overwrites it later: that avoids a branch that can not be predicted.
 */
static uint64_t
T(select_keys)(const void *from, uint64_t n, uint32_t first, const uint8_t *chosen, void *mixed_to,
			   uint32_t *rows)
{
	const KEY *keys = from;
	KEY *mixed = mixed_to;
	uint64_t selected = 0;

	for (uint64_t i = 0; i < n; i++)
	{
		KEY word = T(hg_mix)(keys[i]);

		mixed[selected] = word;
		rows[selected] = first + (uint32_t) i;
		selected += chosen[word >> (HG_KEY_BITS - HG_PASSES_RANGE_BITS)];
	}
	return selected;
}

/* Appends n mixed keys and their rows to their ranges, at next[range]. */
static void
T(scatter_keys)(const void *mixed_from, const uint32_t *rows, uint64_t n, uint64_t *next,
				void *mixed_to, uint32_t *rows_to)
{
	const KEY *from = mixed_from;
	KEY *mixed = mixed_to;

	for (uint64_t i = 0; i < n; i++)
	{
		KEY word = from[i];
		uint64_t at = next[word >> (HG_KEY_BITS - HG_PASSES_RANGE_BITS)]++;

		mixed[at] = word;
		rows_to[at] = rows[i];
	}
}

/*
 * Makes keys whose mixed words are mixed[at + i] rotated left by bits.  The first bits, which all
 * words of the part share, go to the end, so that the remaining bits choose among all vertices.
 * Equal keys stay equal, and different keys different.
 */
static void
T(make_keys)(const void *mixed_from, uint64_t at, uint64_t n, uint32_t bits, void *to)
{
	const KEY *mixed = (const KEY *) mixed_from + at;
	uint32_t left = bits % HG_KEY_BITS;
	uint32_t right = (HG_KEY_BITS - left) % HG_KEY_BITS;
	KEY *keys = to;

	for (uint64_t i = 0; i < n; i++)
		keys[i] = T(hg_unmix)(mixed[i] << left | mixed[i] >> right);
}

/* Returns the bits in which mixed words at .. at + n - 1 differ from word. */
static uint64_t
T(differing_bits)(const void *mixed_from, uint64_t at, uint64_t n, uint64_t word)
{
	const KEY *mixed = (const KEY *) mixed_from + at;
	KEY differing = 0;

	for (uint64_t i = 0; i < n; i++)
		differing |= mixed[i] ^ (KEY) word;
	return differing;
}

/*
 * Continues to partition the rows *low .. *high - 1 in place: first the rows whose mixed word has
 * bit clear, then those that have it set.  Handles at most n rows; done when *low equals *high.
 */
static void
T(partition_rows)(void *mixed_in, uint32_t *rows, uint64_t *low, uint64_t *high, uint64_t bit,
				  uint64_t n)
{
	KEY *mixed = mixed_in;
	uint64_t i = *low;
	uint64_t j = *high;

	for (; n > 0 && i < j; n--)
	{
		if ((mixed[i] & (KEY) bit) == 0)
			i++;
		else
		{
			KEY word = mixed[--j];
			uint32_t row = rows[j];

			mixed[j] = mixed[i];
			rows[j] = rows[i];
			mixed[i] = word;
			rows[i] = row;
		}
	}
	*low = i;
	*high = j;
}

/* Returns the mixed word at an index. */
static uint64_t
T(mixed_at)(const void *mixed, uint64_t at)
{
	return ((const KEY *) mixed)[at];
}

#undef PASTE2
#undef PASTE
#undef T
#undef KEY
