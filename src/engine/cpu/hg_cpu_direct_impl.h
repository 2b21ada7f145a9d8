/*-------------------------------------------------------------------------
 *
 * hg_cpu_direct_impl.h
 *	  The inner loops of direct addressing, for one key width and one instruction set: included by
 *	  hg_cpu_direct_kernels.c only.
 *
 * Expects HG_KEY_BITS, HG_ISA and HG_TARGET. hg_cpu_direct_<isa>.h may define functions that do
 * several rows at once. They have the names of the functions here with "many" before, and HG_MANY
 * says that they exist. The remaining rows, or all, are done here one by one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

#define KEY HG_CPU_T(HgCpuKey)
#define PASTE3(name, bits, isa) name##bits##_##isa
#define PASTE2(name, bits, isa) PASTE3(name, bits, isa)
#define KERNEL(name) PASTE2(name, HG_KEY_BITS, HG_ISA)
#define DIFFERENCE_PASTE(bits) int##bits##_t
#define DIFFERENCE_OF(bits) DIFFERENCE_PASTE(bits)
#define DIFFERENCE DIFFERENCE_OF(HG_KEY_BITS)

/* The vertex of an inner key; for an outer key, only if it is not above the last vertex. */
#define VERTEX(key) ((KEY) ((key) - (KEY) table->least))

HG_TARGET static void
KERNEL(key_bounds)(const void *from, uint32_t n, uint64_t first, HgCpuBounds *bounds)
{
	const KEY *keys = from;
	DIFFERENCE low = (DIFFERENCE) bounds->least;
	DIFFERENCE high = (DIFFERENCE) bounds->greatest;
	uint32_t i;

	for (i = 0; i + HG_CPU_DIRECT_BLOCK <= n; i += HG_CPU_DIRECT_BLOCK)
	{
		const KEY *block = keys + i; /* an index that cannot wrap, for the vectoriser */

		for (uint32_t k = 0; k < HG_CPU_DIRECT_BLOCK; k++)
		{
			DIFFERENCE difference = (DIFFERENCE) (KEY) (block[k] - (KEY) first);

			low = difference < low ? difference : low;
			high = difference > high ? difference : high;
		}
	}
	for (; i < n; i++)
	{
		DIFFERENCE difference = (DIFFERENCE) (KEY) (keys[i] - (KEY) first);

		low = difference < low ? difference : low;
		high = difference > high ? difference : high;
	}
	bounds->least = low;
	bounds->greatest = high;
}

HG_TARGET static uint32_t
KERNEL(edge_keys)(const void *from, uint32_t n, void *to, uint32_t *row)
{
	const HG_CPU_T(HgCpuEdge) *edges = from;
	KEY *keys = to;
	uint32_t i;

	*row = edges[0].row;
	for (i = 0; i < n && edges[i].row == *row + i; i++)
		keys[i] = HG_CPU_T(hg_unmix)(HG_CPU_T(hg_cpu_mixed)(&edges[i]));
	return i;
}

HG_TARGET static bool
KERNEL(enter_bits)(const HgCpuDirectTable *table, const void *from, uint32_t n, uint32_t row)
{
	const KEY *keys = from;
	uint32_t *bits = table->entries;
	uint32_t repeats = 0;

	(void) row;
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t vertex = (uint32_t) VERTEX(keys[i]);
		uint32_t word = bits[vertex / 32];
		uint32_t bit = UINT32_C(1) << vertex % 32;

		repeats |= word & bit;
		bits[vertex / 32] = word | bit;
	}
	return repeats != 0;
}

HG_TARGET static bool
KERNEL(enter_counts)(const HgCpuDirectTable *table, const void *from, uint32_t n, uint32_t row)
{
	const KEY *keys = from;
	uint32_t *counts = table->entries;

	(void) row;
	for (uint32_t i = 0; i < n; i++)
		counts[VERTEX(keys[i])]++;
	return false;
}

HG_TARGET static bool
KERNEL(enter_rows)(const HgCpuDirectTable *table, const void *from, uint32_t n, uint32_t row)
{
	const KEY *keys = from;
	uint32_t *rows = table->entries;
	bool repeats = false;

	for (uint32_t i = 0; i < n; i++)
	{
		KEY vertex = VERTEX(keys[i]);
		uint32_t before = rows[vertex];

		repeats |= before != HG_CPU_NO_ROW;
		rows[vertex] = before != HG_CPU_NO_ROW ? before : row + i;
	}
	return repeats;
}

/* Counts the rows of lists, two entries further on: hg_cpu_graph.c says why. */
HG_TARGET static bool
KERNEL(enter_lists)(const HgCpuDirectTable *table, const void *from, uint32_t n, uint32_t row)
{
	const KEY *keys = from;
	uint32_t *counts = table->entries + 2;

	(void) row;
	for (uint32_t i = 0; i < n; i++)
		counts[VERTEX(keys[i])]++;
	return false;
}

HG_TARGET static bool
KERNEL(scatter_lists)(const HgCpuDirectTable *table, const void *from, uint32_t n, uint32_t row)
{
	const KEY *keys = from;
	uint32_t *entries = table->entries + 1;

	for (uint32_t i = 0; i < n; i++)
		table->rows[entries[VERTEX(keys[i])]++] = row + i;
	return false;
}

HG_TARGET static void
KERNEL(count_in_bits)(const HgCpuDirectTable *table, const void *from, uint32_t n,
					  HgCpuDirectTally *tally)
{
	const KEY *keys = from;
	const uint32_t *bits = table->entries;
	uint32_t i = 0;
	uint32_t matches = 0;

#ifdef HG_MANY
	i = KERNEL(many_count_in_bits)(table, keys, n, &matches);
#endif
	for (; i < n; i++)
	{
		KEY vertex = VERTEX(keys[i]);
		bool inside = vertex <= (KEY) table->last;
		uint32_t at = inside ? (uint32_t) vertex : 0;

		matches += inside & bits[at / 32] >> at % 32;
	}
	tally->matches += matches;
	tally->lists += matches;
}

HG_TARGET static void
KERNEL(count_in_counts)(const HgCpuDirectTable *table, const void *from, uint32_t n,
						HgCpuDirectTally *tally)
{
	const KEY *keys = from;
	const uint32_t *counts = table->entries;
	uint32_t i = 0;

#ifdef HG_MANY
	i = KERNEL(many_count_in_counts)(table, keys, n, tally);
#endif
	for (; i < n; i++)
	{
		KEY vertex = VERTEX(keys[i]);
		bool inside = vertex <= (KEY) table->last;
		uint32_t count = inside ? counts[vertex] : 0;

		tally->matches += count;
		tally->lists += count > 0;
	}
}

/* As write_from_rows, without inner rows. */
HG_TARGET static uint32_t
KERNEL(write_from_bits)(const HgCpuDirectTable *table, const void *from, uint32_t n, uint32_t row,
						uint32_t *list_at, HgMatches *matches, HgCpuDirectTally *tally)
{
	const KEY *keys = from;
	const uint32_t *bits = table->entries;
	const size_t before = matches->count;
	uint32_t i = 0;
	size_t m;

	(void) list_at;
#ifdef HG_MANY
	i = KERNEL(many_write_from_bits)(table, keys, n, row, matches);
#endif
	for (m = matches->count; i < n && m < matches->capacity; i++)
	{
		KEY vertex = VERTEX(keys[i]);
		bool inside = vertex <= (KEY) table->last;
		uint32_t at = inside ? (uint32_t) vertex : 0;

		matches->outer[m] = row + i;
		m += inside & bits[at / 32] >> at % 32;
	}
	matches->count = m;
	tally->lists += m - before;
	return i;
}

/* The same for keys that repeat: as write_from_lists. */
HG_TARGET static uint32_t
KERNEL(write_from_counts)(const HgCpuDirectTable *table, const void *from, uint32_t n, uint32_t row,
						  uint32_t *list_at, HgMatches *matches, HgCpuDirectTally *tally)
{
	const KEY *keys = from;
	const uint32_t *counts = table->entries;

	for (uint32_t i = 0; i < n; i++)
	{
		KEY vertex = VERTEX(keys[i]);
		uint32_t count = vertex <= (KEY) table->last ? counts[vertex] : 0;
		uint32_t *outer = matches->outer + matches->count;
		size_t room = matches->capacity - matches->count;
		uint32_t left = count - *list_at;
		uint32_t step = left < room ? left : (uint32_t) room;

		tally->lists += count > 0 && *list_at == 0;
		for (uint32_t k = 0; k < step; k++)
			outer[k] = row + i;
		matches->count += step;
		if (step < left)
		{
			*list_at += step;
			return i;
		}
		*list_at = 0;
	}
	return n;
}

HG_TARGET static uint32_t
KERNEL(write_from_rows)(const HgCpuDirectTable *table, const void *from, uint32_t n, uint32_t row,
						uint32_t *list_at, HgMatches *matches, HgCpuDirectTally *tally)
{
	const KEY *keys = from;
	const uint32_t *rows = table->entries;
	const size_t before = matches->count;
	uint32_t i = 0;
	size_t m;

	(void) list_at;
#ifdef HG_MANY
	i = KERNEL(many_write_from_rows)(table, keys, n, row, matches);
#endif
	for (m = matches->count; i < n && m < matches->capacity; i++)
	{
		KEY vertex = VERTEX(keys[i]);
		bool inside = vertex <= (KEY) table->last;
		uint32_t inner = inside ? rows[vertex] : HG_CPU_NO_ROW;

		/* a row that does not match is written too, and overwritten later */
		matches->outer[m] = row + i;
		matches->inner[m] = inner;
		m += inner != HG_CPU_NO_ROW;
	}
	matches->count = m;
	tally->lists += m - before;
	return i;
}

HG_TARGET static uint32_t
KERNEL(write_from_lists)(const HgCpuDirectTable *table, const void *from, uint32_t n, uint32_t row,
						 uint32_t *list_at, HgMatches *matches, HgCpuDirectTally *tally)
{
	const KEY *keys = from;
	const uint32_t *offsets = table->entries;

	for (uint32_t i = 0; i < n; i++)
	{
		KEY vertex = VERTEX(keys[i]);
		uint32_t length;

		if (table->far && n - i > 2 * FAR_AHEAD)
		{
			KEY near = VERTEX(keys[i + FAR_AHEAD]);
			KEY later = VERTEX(keys[i + 2 * FAR_AHEAD]);

			HG_CPU_PREFETCH(&offsets[later <= (KEY) table->last ? later : 0]);
			HG_CPU_PREFETCH(&table->rows[offsets[near <= (KEY) table->last ? near : 0]]);
		}
		if (vertex > (KEY) table->last)
			continue;
		length = offsets[vertex + 1] - offsets[vertex];
		tally->lists += length > 0 && *list_at == 0;
		if (HG_CPU_UNLIKELY(length > HG_MATCHES_FIRST_PART)
				? !write_part(table->rows + offsets[vertex], length, row + i, list_at, matches)
				: !write_list(table->rows + offsets[vertex], length, row + i, list_at, matches))
			return i;
	}
	return n;
}

#undef KEY
#undef PASTE3
#undef PASTE2
#undef KERNEL
#undef DIFFERENCE_PASTE
#undef DIFFERENCE_OF
#undef DIFFERENCE
#undef VERTEX
#undef HG_MANY
