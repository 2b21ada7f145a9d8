/*-------------------------------------------------------------------------
 *
 * hg_sql_compare_graph.c
 *	  Compares the graphs of a table's keys with its valid blocks.
 *
 * A graph and the segment versions are both copies of the table's rows; hg_sql_compare.c compares
 * the versions with the table.  All edges of the graph are read, bin by bin.  An edge of a valid
 * version must have the key that the version has, and lie in that key's bin.  A bit marks rows for
 * which an edge was seen.  Edges of versions that are not valid, which no join gets, must be of a
 * segment that the graph lists.
 *
 * MEMORY.  The keys of as many segments are held at a time as the statistics functions have memory
 * for, at least one.  The edges are read once for each time.
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

/* A segment; it is not compared if the graph has other rows of it, or none. */
typedef struct HgComparedPart
{
	bool compared;
	uint32 nrows;
	int64 *keys;  /* [nrows] */
	uint64 *seen; /* [nrows] bits; set for rows without a key */
} HgComparedPart;

/* Begins to compare a segment, whose words are begun. */
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
 * Begins to compare segments of the valid blocks that a graph has rows of, in
 * parts[graph->nsegments]: from the *next-th on, as many as fit in memory.  Advances *next.
 */
static void
hg_compared_parts_begin(const HgPinnedGraph *graph, HgGraphWords *words, const HgValidBlocks *valid,
						HgComparedPart *parts, int *next)
{
	uint64 limit = hg_sql_memory_limit() / (sizeof(int64) + 1); /* in rows */
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

/* Returns true if a graph may have an edge with this key in this bin, and lists its segment. */
static bool
hg_graph_edge_may_be(const HgPinnedGraph *graph, uint32 bin, int64 key, uint32 segment)
{
	uint32 hash = hg_hash_of_mixed64(hg_mix64((uint64) key));

	return segment < graph->nsegments && graph->serials[segment] != 0 &&
		   (graph->serials[segment] & HG_GRAPH_PASSED) == 0 &&
		   hg_vertex_of_hash(hash, graph->flat.shape.bins_log2) == bin;
}

/* Returns true if a segment has a row with this key, for which no edge was seen before. */
static bool
hg_compared_part_takes(HgComparedPart *part, uint32 number, int64 key)
{
	uint64 bit = UINT64CONST(1) << (number % 64);

	if (number >= part->nrows || part->keys[number] != key || (part->seen[number / 64] & bit) != 0)
		return false;
	part->seen[number / 64] |= bit;
	return true;
}

/* Ends a segment.  Returns the number of rows that have a key, and for which no edge was seen. */
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

/* Returns the number of wrong edges of compared segments; with all, adds impossible edges. */
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

/* Returns the number of rows that a graph lacks, has more than once, or should not have. */
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

		/* no join uses a graph whose columns are hashed in another way now */
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
