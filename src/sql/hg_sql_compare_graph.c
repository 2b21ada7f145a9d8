/*-------------------------------------------------------------------------
 *
 * hg_sql_compare_graph.c
 *	  Has a resident HashGraph each row that has its key once, and no other?
 *
 * A graph and the versions of segments are both copies of the table's rows; that the versions have
 * the table's is compared elsewhere (hg_sql_compare.c).  All edges of the graph are looked at, bin
 * by bin: one of a valid version must have the key that the version has, and lie in that key's
 * bin, and a bit tells whether there was one of this row before.  Edges of versions that are not
 * valid, which nobody is given, must be of a segment that the graph lists.
 *
 * MEMORY.  The keys of as many segments as the statistics functions have memory for, one at least,
 * are held at a time, and the edges are gone over once for each time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "batch/hg_graph_key.h"
#include "engine/hg_hash.h"
#include "resident/hg_resident_graph.h"
#include "sql/hg_sql_compare_graph.h"
#include "sql/hg_sql_relation.h"

/* A segment that is compared: those of which the graph has other rows, or none, are not. */
typedef struct HgComparedPart
{
	bool compared;
	uint32 nrows;
	int64 *keys;  /* [nrows] */
	uint64 *seen; /* [nrows] bits; of rows without a key they are set */
} HgComparedPart;

/* Begin with a segment that is compared, whose words are begun. */
static void
hg_compared_part_begin(HgComparedPart *part, HgGraphWords *words, uint32 key_width)
{
	part->compared = true;
	part->nrows = words->nrows;
	part->keys = palloc(Max(words->nrows, 1) * sizeof(int64));
	part->seen = palloc0(Max(hg_segment_bits_bytes(words->nrows), 1));
	for (uint32 first = 0; first < words->nrows;)
	{
		int n = hg_graph_words_next(words, first);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++, first++)
		{
			part->keys[first] =
				key_width == sizeof(int64) ? (int64) words->words[i] : (int32) words->words[i];
			if (words->nulls[i])
				part->seen[first / 64] |= UINT64CONST(1) << (first % 64);
		}
	}
}

/*
 * Begins with the segments of the valid blocks that a graph has rows of, from the *next-th on and
 * as many as there is memory for, in parts[graph->nsegments]; *next is behind them then.
 */
static void
hg_compared_parts_begin(const HgPinnedGraph *graph, HgGraphWords *words, const HgValidBlocks *valid,
						HgComparedPart *parts, int *next)
{
	uint64 limit = hg_sql_memory_limit() / (sizeof(int64) + 1); /* rows */
	uint64 rows = 0;

	for (; *next < valid->nsegments; (*next)++)
	{
		const HgSegmentVersion *version = valid->segments[*next].version;
		uint32 segment = version->first / HG_SEGMENT_BLOCKS;

		if (segment >= graph->nsegments || graph->serials[segment] != version->serial ||
			!hg_graph_words_begin(words, version))
			continue;
		if (rows > 0 && rows + version->nrows > limit)
			return;
		hg_compared_part_begin(&parts[segment], words, graph->flat.shape.key_width);
		rows += version->nrows;
	}
}

/* May a graph have an edge in a bin: by its key, and of a segment that it lists? */
static bool
hg_graph_edge_may_be(const HgPinnedGraph *graph, uint32 bin, int64 key, uint32 segment)
{
	uint32 hash = hg_hash_of_mixed64(hg_mix64((uint64) key));

	return segment < graph->nsegments && graph->serials[segment] != 0 &&
		   (graph->serials[segment] & HG_GRAPH_PASSED) == 0 &&
		   hg_vertex_of_hash(hash, graph->flat.shape.bins_log2) == bin;
}

/* Has a segment that is compared a row with this key, of which there was no edge before? */
static bool
hg_compared_part_takes(HgComparedPart *part, uint32 number, int64 key)
{
	uint64 bit = UINT64CONST(1) << (number % 64);

	if (number >= part->nrows || part->keys[number] != key || (part->seen[number / 64] & bit) != 0)
		return false;
	part->seen[number / 64] |= bit;
	return true;
}

/* How many rows of a segment have a key, and were not seen; it is done with. */
static uint64
hg_compared_part_end(HgComparedPart *part)
{
	uint64 missing = 0;

	if (!part->compared)
		return 0;
	for (uint32 row = 0; row < part->nrows; row++)
		missing += !hg_segment_bit(part->seen, row);
	pfree(part->keys);
	pfree(part->seen);
	part->compared = false;
	return missing;
}

/* How many edges are wrong: of segments that are compared, and, if so, such as may not be at all.
 */
static uint64
hg_graph_compare_edges(const HgPinnedGraph *graph, HgComparedPart *parts, bool all)
{
	bool wide = graph->flat.shape.key_width == sizeof(int64);
	uint64 different = 0;

	for (uint32 bin = 0; bin < (uint32) 1 << graph->flat.shape.bins_log2; bin++)
	{
		const void *keys;
		const uint32 *rows;
		uint64 n = hg_flat_scan(&graph->flat, bin, &keys, &rows);

		CHECK_FOR_INTERRUPTS();
		for (uint64 i = 0; i < n; i++)
		{
			int64 key = wide ? ((const int64 *) keys)[i] : ((const int32 *) keys)[i];
			uint32 segment = HG_FLAT_PART(rows[i]);

			if (!hg_graph_edge_may_be(graph, bin, key, segment))
				different += all;
			else if (parts[segment].compared)
				different += !hg_compared_part_takes(&parts[segment], HG_FLAT_NUMBER(rows[i]), key);
		}
	}
	return different;
}

/* How many rows a graph has not, has more than once, or should not have. */
static uint64
hg_graph_compare(const HgPinnedGraph *graph, HgGraphWords *words, const HgValidBlocks *valid)
{
	HgComparedPart *parts = palloc0(Max(graph->nsegments, 1) * sizeof(HgComparedPart));
	uint64 different = 0;
	int next = 0;

	for (bool first = true; first || next < valid->nsegments; first = false)
	{
		hg_compared_parts_begin(graph, words, valid, parts, &next);
		different += hg_graph_compare_edges(graph, parts, first);
		for (uint32 i = 0; i < graph->nsegments; i++)
		{
			CHECK_FOR_INTERRUPTS();
			different += hg_compared_part_end(&parts[i]);
		}
	}
	return different;
}

uint64
hg_sql_compare_graphs(Relation rel, const HgValidBlocks *valid)
{
	HgGraphKey *keys;
	int nkeys = hg_resident_graph_keys(rel, &keys);
	MemoryContext context = AllocSetContextCreate(
		CurrentMemoryContext, "HashGraph that is compared", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	uint64 different = 0;

	for (int i = 0; i < nkeys; i++)
	{
		HgPinnedGraph *graph = hg_resident_graph_peek(rel, &keys[i]);
		HgGraphWords *words = hg_graph_words_create(keys[i].ncolumns, keys[i].columns);

		/* no join has another one, if what the columns are hashed by has changed */
		if (graph != NULL && words != NULL && hg_graph_key_equal(&words->key, &keys[i]))
			different += hg_graph_compare(graph, words, valid);
		if (graph != NULL)
			hg_resident_graph_unpin(graph);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
	return different;
}
