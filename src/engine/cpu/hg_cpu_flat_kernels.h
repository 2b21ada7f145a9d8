/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_kernels.h
 *	  The kernels of one instruction set, for each kind: for hg_cpu_flat_compare.c only.
 *
 * Expects HG_TARGET, KERNEL, and the functions of the set:
 *
 *	meet(join, stretch, cell, count, n, pairs, sums, kind)
 *		compares the first count outer edges of a cell, at most HG_CPU_FLAT_BLOCK, with its inner
 *		list
 *	meet_row(join, probe, n, pairs, kind)
 *		compares a probe with its list
 *
 * Both write pairs from position n on, and return the next position; or they count pairs, in
 * pairs->counted or in KERNEL(Sums), which KERNEL(sum) adds up.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

/* Intersects the cells of a stretch before `until`; *n is the position of the next pair. */
HG_TARGET static HG_CPU_FLAT_INLINE HgCpuFlatEnd
KERNEL(cells)(const HgFlatJoin *join, HgCpuFlatStretch *stretch, uint32_t until, int *left,
			  size_t *n, HgCpuFlatPairs *pairs, KERNEL(Sums) * sums, Kind kind)
{
	for (; stretch->cell < until; stretch->cell++)
	{
		Cell cell = cell_at(stretch, stretch->cell);
		uint32_t length = cell.inner_high - cell.inner_low;

		if (HG_CPU_UNLIKELY(length > HG_CPU_FLAT_SHORT))
			return HG_CPU_FLAT_LONG_LIST;
		if (length == 0)
			continue;
		while (cell.outer_low < cell.outer_high)
		{
			uint32_t count = cell.outer_high - cell.outer_low;

			if (HG_CPU_UNLIKELY(--*left < 0))
				return HG_CPU_FLAT_POLL;
			if (kind.written && HG_CPU_UNLIKELY(!has_room(pairs, *n, length * HG_CPU_FLAT_BLOCK)))
				return HG_CPU_FLAT_NO_ROOM;
			count = count < HG_CPU_FLAT_BLOCK ? count : HG_CPU_FLAT_BLOCK;
			*n = KERNEL(meet)(join, stretch, &cell, count, *n, pairs, sums, kind);
			cell.outer_low += count;
			stretch->outer_at = cell.outer_low;
		}
	}
	return HG_CPU_FLAT_DONE;
}

/*
 * Intersects the cells of the join's stretch. With a mask, runs of cells without masked rows
 * alternate with runs that may have some. Each kind has a loop of its own, so that the former take
 * no longer than without a mask.
 */
HG_TARGET static HG_CPU_FLAT_INLINE HgCpuFlatEnd
KERNEL(intersect)(HgFlatJoin *join, HgCpuFlatPairs *pairs, Kind kind)
{
	HgCpuFlatStretch stretch = join->cursor.stretch; /* a copy, which nothing else can write to */
	HgCpuFlatEnd end = HG_CPU_FLAT_DONE;
	size_t n = pairs->count;
	KERNEL(Sums) sums = KERNEL(sums)();
	const Kind plain = {kind.outer_width, kind.inner_width, false, kind.written, kind.mode};
	int left = POLL_CELLS;
	uint64_t masked = 0; /* cells from looked_from up to looked, a bit each */
	uint32_t looked_from = stretch.cell;
	uint32_t looked = stretch.cell;

	if (!kind.filtered)
		end = KERNEL(cells)(join, &stretch, stretch.cells, &left, &n, pairs, &sums, kind);
	while (kind.filtered && end == HG_CPU_FLAT_DONE && stretch.cell < stretch.cells)
	{
		uint32_t at;
		bool is_masked;

		for (bool look = stretch.cell == looked; look; look = masked == 0 && looked < stretch.cells)
		{
			uint32_t cells = stretch.cells - looked < 64 ? stretch.cells - looked : 64;

			masked = masked_cells(join, &stretch, looked, cells);
			ask_for_rows(&stretch, looked, masked);
			looked_from = looked;
			looked += cells;
		}
		/* no cell before looked_from is masked */
		at = stretch.cell > looked_from ? stretch.cell - looked_from : 0;
		is_masked = stretch.cell >= looked_from && (masked >> at & 1) != 0;
		at += run_length(masked >> at, is_masked, looked - looked_from - at);
		if (is_masked)
			end = KERNEL(cells)(join, &stretch, looked_from + at, &left, &n, pairs, &sums, kind);
		else
			end = KERNEL(cells)(join, &stretch, looked_from + at, &left, &n, pairs, &sums, plain);
	}
	join->cursor.stretch.cell = stretch.cell;
	join->cursor.stretch.outer_at = stretch.outer_at;
	pairs->count = n;
	pairs->counted += KERNEL(sum)(&sums, kind);
	return end;
}

/* Compares the probes of the join's group. */
HG_TARGET static HG_CPU_FLAT_INLINE HgCpuFlatEnd
KERNEL(compare)(HgFlatJoin *join, HgCpuFlatPairs *pairs, Kind kind)
{
	const HgCpuFlatGroup *group = hg_cpu_flat_group(join);
	const HgCpuFlatProbe *probes = group->probes;
	HgCpuFlatEnd end = HG_CPU_FLAT_DONE;
	size_t n = pairs->count;
	uint32_t i;

	for (i = join->cursor.done; i < group->count; i++)
	{
		uint32_t length = probes[i].end - probes[i].at;

		if (HG_CPU_UNLIKELY(length > HG_CPU_FLAT_SHORT))
		{
			end = HG_CPU_FLAT_LONG_LIST;
			break;
		}
		if (kind.written && HG_CPU_UNLIKELY(!has_room(pairs, n, length)))
		{
			end = HG_CPU_FLAT_NO_ROOM;
			break;
		}
		n = KERNEL(meet_row)(join, &probes[i], n, pairs, kind);
	}
	join->cursor.done = i;
	pairs->count = n;
	return end;
}

/* One function for each kind, and tables of them. */
#define INTERSECT_NAME(outer, inner, filtered, written, mode)                                      \
	KERNEL(intersect_##outer##inner##filtered##written##mode)
#define INTERSECT(outer, inner, filtered, written, mode)                                           \
	HG_TARGET static HgCpuFlatEnd INTERSECT_NAME(outer, inner, filtered, written,                  \
												 mode)(HgFlatJoin * join, HgCpuFlatPairs * pairs)  \
	{                                                                                              \
		return KERNEL(intersect)(                                                                  \
			join, pairs,                                                                           \
			(Kind){4 + 4 * outer, 4 + 4 * inner, filtered, written, (HgMatchMode) mode});          \
	}
#define COMPARE_NAME(inner, filtered, written, mode)                                               \
	KERNEL(compare_##inner##filtered##written##mode)
#define COMPARE(inner, filtered, written, mode)                                                    \
	HG_TARGET static HgCpuFlatEnd COMPARE_NAME(inner, filtered, written,                           \
											   mode)(HgFlatJoin * join, HgCpuFlatPairs * pairs)    \
	{                                                                                              \
		return KERNEL(compare)(join, pairs,                                                        \
							   (Kind){8, 4 + 4 * inner, filtered, written, (HgMatchMode) mode});   \
	}
#define EACH2(macro, ...) macro(__VA_ARGS__, 0) macro(__VA_ARGS__, 1)
#define EACH4(macro, ...) EACH2(macro, __VA_ARGS__, 0) EACH2(macro, __VA_ARGS__, 1)
#define EACH8(macro, ...) EACH4(macro, __VA_ARGS__, 0) EACH4(macro, __VA_ARGS__, 1)
#define EACH16(macro, ...) EACH8(macro, __VA_ARGS__, 0) EACH8(macro, __VA_ARGS__, 1)

EACH16(INTERSECT, 0)
EACH16(INTERSECT, 1)
EACH8(COMPARE, 0)
EACH8(COMPARE, 1)

#define MODES(name, ...)                                                                           \
	{                                                                                              \
		name(__VA_ARGS__, 0), name(__VA_ARGS__, 1)                                                 \
	}
#define WRITTEN(name, ...)                                                                         \
	{                                                                                              \
		MODES(name, __VA_ARGS__, 0), MODES(name, __VA_ARGS__, 1)                                   \
	}
#define FILTERED(name, ...)                                                                        \
	{                                                                                              \
		WRITTEN(name, __VA_ARGS__, 0), WRITTEN(name, __VA_ARGS__, 1)                               \
	}

static const IntersectKernel KERNEL(intersect_kernels)[2][2][2][2][2] = {
	{FILTERED(INTERSECT_NAME, 0, 0), FILTERED(INTERSECT_NAME, 0, 1)},
	{FILTERED(INTERSECT_NAME, 1, 0), FILTERED(INTERSECT_NAME, 1, 1)}};
static const CompareKernel KERNEL(compare_kernels)[2][2][2][2] = {FILTERED(COMPARE_NAME, 0),
																  FILTERED(COMPARE_NAME, 1)};

#undef INTERSECT_NAME
#undef INTERSECT
#undef COMPARE_NAME
#undef COMPARE
#undef EACH2
#undef EACH4
#undef EACH8
#undef EACH16
#undef MODES
#undef WRITTEN
#undef FILTERED
