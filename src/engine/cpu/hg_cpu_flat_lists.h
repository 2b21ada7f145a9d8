/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_lists.h
 *	  Compares lists with one outer key after the other: for instruction sets without masks,
 *	  included by hg_cpu_flat_compare.c only.
 *
 * Expects HG_TARGET, KERNEL and KERNEL(equal_8). Provides what hg_cpu_flat_kernels.h expects.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

/* Compares an outer row, which counts if row_counts, with inner edges low .. high - 1. */
HG_TARGET static HG_CPU_FLAT_INLINE size_t
KERNEL(meet_list)(const HgFlatJoin *join, int64_t key, uint32_t row, bool row_counts,
				  const void *keys, const uint32_t *numbers, uint32_t low, uint32_t high, size_t n,
				  HgCpuFlatPairs *pairs, Kind kind)
{
	const HgFlatMask *outer_mask = join->filters[HG_OUTER].mask;
	const HgFlatMask *inner_mask = join->filters[HG_INNER].mask;
	size_t first = n;
	uint64_t counted = 0;

	if (kind.inner_width == 4 && key != (int32_t) key)
		return n;
	for (uint32_t at = low; at < high; at += 8)
	{
		uint32_t left = high - at;
		uint32_t equal = KERNEL(equal_8)((const char *) keys + (size_t) at * kind.inner_width,
										 kind.inner_width, key);

		equal &= left < 8 ? (1U << left) - 1 : 0xff;
		if (!kind.filtered && !kind.written && kind.mode == HG_MATCH_ALL)
		{
			counted += count_bits(equal);
			continue;
		}
		while (equal != 0)
		{
			uint32_t number = at + lowest_bit(equal);

			equal &= equal - 1;
			if (kind.filtered && !row_counts)
			{
				if (!hg_cpu_flat_counts(outer_mask, row))
					return first;
				row_counts = true;
			}
			if (kind.filtered && !hg_cpu_flat_counts(inner_mask, numbers[number]))
				continue;
			counted++;
			if (kind.written)
			{
				pairs->outer[n] = row;
				if (pairs->inner != NULL)
					pairs->inner[n] = numbers[number];
				n++;
			}
			if (kind.mode == HG_MATCH_FIRST)
			{
				pairs->counted += 1;
				return n;
			}
		}
	}
	pairs->counted += counted;
	return n;
}

/* Unused: all pairs are counted in pairs->counted. */
typedef struct KERNEL(Sums)
{
	uint64_t pairs;
} KERNEL(Sums);

HG_TARGET static HG_CPU_FLAT_INLINE
KERNEL(Sums) KERNEL(sums)(void)
{
	return (KERNEL(Sums)){0};
}

HG_TARGET static HG_CPU_FLAT_INLINE uint64_t
KERNEL(sum)(const KERNEL(Sums) * sums, Kind kind)
{
	(void) kind;
	return sums->pairs;
}

HG_TARGET static HG_CPU_FLAT_INLINE size_t
KERNEL(meet)(const HgFlatJoin *join, const HgCpuFlatStretch *stretch, const Cell *cell,
			 uint32_t count, size_t n, HgCpuFlatPairs *pairs, KERNEL(Sums) * sums, Kind kind)
{
	const HgCpuFlatBin *outer = &stretch->bins[HG_OUTER];
	const HgCpuFlatBin *inner = &stretch->bins[HG_INNER];

	(void) sums;
	for (uint32_t i = cell->outer_low; i < cell->outer_low + count; i++)
		n = KERNEL(meet_list)(join, hg_cpu_flat_key(outer->keys, kind.outer_width, i),
							  outer->numbers[i], join->filters[HG_OUTER].mask == NULL, inner->keys,
							  inner->numbers, cell->inner_low, cell->inner_high, n, pairs, kind);
	return n;
}

/* The row of a probe counts. */
HG_TARGET static HG_CPU_FLAT_INLINE size_t
KERNEL(meet_row)(const HgFlatJoin *join, const HgCpuFlatProbe *probe, size_t n,
				 HgCpuFlatPairs *pairs, Kind kind)
{
	return KERNEL(meet_list)(join, probe->key, probe->row, true, probe->keys, probe->numbers,
							 probe->at, probe->end, n, pairs, kind);
}
