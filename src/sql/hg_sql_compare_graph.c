/*-------------------------------------------------------------------------
 *
 * hg_sql_compare_graph.c
 *	  Has a resident HashGraph each row that has its key once, and no other?
 *
 * A graph and the versions of segments are both copies of the table's rows; that the versions have
 * the table's is compared elsewhere (hg_sql_compare.c).  All edges of the graph are looked at, bin
 * by bin: one of a version that is served must have the key that the version has, and lie in that
 * key's bin, and a bit tells whether there was one of this row before.  Edges of versions that are
 * not served, which nobody is given, must be of a segment that the graph lists.
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

/* Find the segments of what is served that a graph has rows of, in parts[graph->nsegments]. */
static HgComparedPart *
hg_compared_parts(const HgPinnedGraph *graph, HgGraphWords *words, const HgServed *served)
{
	HgComparedPart *parts = palloc0(Max(graph->nsegments, 1) * sizeof(HgComparedPart));

	for (int i = 0; i < served->nsegments; i++)
	{
		const HgSegmentVersion *version = served->segments[i].version;
		uint32 segment = version->first / HG_SEGMENT_BLOCKS;

		if (segment < graph->nsegments && graph->serials[segment] == version->serial &&
			hg_graph_words_begin(words, version))
			hg_compared_part_begin(&parts[segment], words, graph->flat.shape.key_width);
	}
	return parts;
}

/* Is an edge of a bin one that should be there? */
static bool
hg_graph_edge_is_right(const HgPinnedGraph *graph, HgComparedPart *parts, uint32 bin, int64 key,
					   uint32 row)
{
	uint32 segment = HG_FLAT_PART(row);
	uint32 number = HG_FLAT_NUMBER(row);
	uint32 hash = hg_hash_of_mixed64(hg_mix64((uint64) key));
	HgComparedPart *part;
	uint64 bit = UINT64CONST(1) << (number % 64);

	if (segment >= graph->nsegments || graph->serials[segment] == 0 ||
		(graph->serials[segment] & HG_GRAPH_PASSED) != 0 ||
		hg_vertex_of_hash(hash, graph->flat.shape.bins_log2) != bin)
		return false;
	part = &parts[segment];
	if (!part->compared)
		return true;
	if (number >= part->nrows || part->keys[number] != key || (part->seen[number / 64] & bit) != 0)
		return false;
	part->seen[number / 64] |= bit;
	return true;
}

/* How many rows of a segment have a key, and were not seen. */
static uint64
hg_graph_count_missing(const HgComparedPart *part)
{
	uint64 missing = 0;

	if (!part->compared)
		return 0;
	for (uint32 row = 0; row < part->nrows; row++)
		missing += !hg_segment_bit(part->seen, row);
	return missing;
}

/* The same of one graph. */
static uint64
hg_graph_compare(const HgPinnedGraph *graph, HgGraphWords *words, const HgServed *served)
{
	HgComparedPart *parts = hg_compared_parts(graph, words, served);
	uint64 different = 0;

	for (uint32 bin = 0; bin < (uint32) 1 << graph->flat.shape.bins_log2; bin++)
	{
		const void *keys;
		const uint32 *rows;
		uint64 n = hg_flat_scan(&graph->flat, bin, &keys, &rows);

		CHECK_FOR_INTERRUPTS();
		for (uint64 i = 0; i < n; i++)
			different += !hg_graph_edge_is_right(graph, parts, bin,
												 graph->flat.shape.key_width == sizeof(int64)
													 ? ((const int64 *) keys)[i]
													 : ((const int32 *) keys)[i],
												 rows[i]);
	}
	for (uint32 i = 0; i < graph->nsegments; i++)
	{
		CHECK_FOR_INTERRUPTS();
		different += hg_graph_count_missing(&parts[i]);
		if (parts[i].compared)
		{
			pfree(parts[i].keys);
			pfree(parts[i].seen);
		}
	}
	pfree(parts);
	return different;
}

uint64
hg_sql_compare_graphs(Relation rel, const HgServed *served)
{
	HgGraphKey *keys;
	int nkeys = hg_resident_graph_keys(rel, &keys);
	uint64 different = 0;

	for (int i = 0; i < nkeys; i++)
	{
		HgPinnedGraph *graph = hg_resident_graph_look(rel, &keys[i]);
		HgGraphWords *words;

		if (graph == NULL)
			continue;
		words = hg_graph_words_create(keys[i].ncolumns, keys[i].columns);
		/* no join has another one, if what the columns are hashed by has changed */
		if (words != NULL && hg_graph_key_equal(&words->key, &keys[i]))
			different += hg_graph_compare(graph, words, served);
		hg_resident_graph_unpin(graph);
	}
	return different;
}
