/*-------------------------------------------------------------------------
 *
 * hg_cpu_run_impl.h
 *	  The kernels of binning for one key width and one instruction set: included by hg_cpu_run.c
 *	  only.
 *
 * Expects HG_KEY_BITS; HG_ISA, the name of the set; and HG_TARGET, the attribute of functions that
 * may use it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

#define KEY HG_CPU_T(HgCpuKey)
#define EDGE HG_CPU_T(HgCpuEdge)
#define LINE_EDGES HG_CPU_T(LINE_EDGES)
#define MIX HG_CPU_T(hg_mix)
#define VERTEX(mixed, log2) hg_vertex_of_hash(HG_CPU_T(hg_hash_of_mixed)(mixed), log2)
#define PASTE3(name, bits, isa) name##bits##_##isa
#define PASTE2(name, bits, isa) PASTE3(name, bits, isa)
#define KERNEL(name) PASTE2(name, HG_KEY_BITS, HG_ISA)
#define STREAM_LINE PASTE2(stream_line, , HG_ISA)

HG_TARGET static void
KERNEL(count_keys)(const void *from, uint32_t n, uint32_t log2, uint32_t *counts)
{
	const KEY *keys = from;
	uint32_t bins[BLOCK];
	uint32_t i;

	for (i = 0; i + BLOCK <= n; i += BLOCK)
	{
		const KEY *block = keys + i; /* an index that cannot wrap, for the vectoriser */

		for (uint32_t k = 0; k < BLOCK; k++)
			bins[k] = HG_CPU_T(hg_hash_of_mixed)(MIX(block[k]));
		for (uint32_t k = 0; k < BLOCK; k++)
			counts[hg_vertex_of_hash(bins[k], log2) + 1]++;
	}
	for (; i < n; i++)
		counts[VERTEX(MIX(keys[i]), log2) + 1]++;
}

/* Moves one row. */
HG_TARGET static inline void
KERNEL(move_row)(KEY mixed, uint32_t row, uint32_t log2, uint32_t *cursors, EDGE *lines,
				 EDGE *edges)
{
	uint32_t bin = VERTEX(mixed, log2);
	uint32_t position = cursors[bin]++;
	EDGE *line = lines + (size_t) bin * LINE_EDGES;

	HG_CPU_T(hg_cpu_edge_set)(&line[position % LINE_EDGES], mixed, row);
	if (position % LINE_EDGES == LINE_EDGES - 1)
	{
		char *to = (char *) (edges + (position - (LINE_EDGES - 1)));

		for (size_t at = 0; at < LINE_EDGES * sizeof(EDGE); at += 64)
			STREAM_LINE(to + at, (const char *) line + at);
	}
}

HG_TARGET static void
KERNEL(move_keys)(const void *from, uint32_t n, uint32_t row, uint32_t log2, uint32_t *cursors,
				  void *lines, void *edges)
{
	const KEY *keys = from;
	KEY mixed[BLOCK];
	uint32_t i;

	for (i = 0; i + BLOCK <= n; i += BLOCK)
	{
		const KEY *block = keys + i;

		for (uint32_t k = 0; k < BLOCK; k++)
			mixed[k] = MIX(block[k]);
		for (uint32_t k = 0; k < BLOCK; k++)
			KERNEL(move_row)(mixed[k], row + i + k, log2, cursors, lines, edges);
	}
	for (; i < n; i++)
		KERNEL(move_row)(MIX(keys[i]), row + i, log2, cursors, lines, edges);
}

#undef KEY
#undef EDGE
#undef LINE_EDGES
#undef MIX
#undef VERTEX
#undef PASTE3
#undef PASTE2
#undef KERNEL
#undef STREAM_LINE
