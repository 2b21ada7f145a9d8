/*-------------------------------------------------------------------------
 *
 * hg_loader_replica_partitions.c
 *	  Computes partitionings of graphs, and sends partitions.
 *
 * To partition a graph its edges are read twice: for the number of bits of each part, and to set
 * the bits.  They determine the number of each row in its partition, as long as the version
 * exists.  To send a partition the edges are read once more.
 *
 * To co-partition a graph with another one (resident/hg_resident_graph.h) its edges
 * are read to count its rows in each of the other's partitions.  Both graphs have the same rows of
 * a segment if they were made from the same version of it.  Rows of other segments are in no
 * partition: no join uses rows of a segment unless all of its graphs list the same version.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "loader/hg_loader_replica.h"
#include "resident/hg_resident_eviction.h"

/* Number of edges that are sent at a time. */
#define HG_PARTITION_EDGES 65536

static uint32
hg_replica_bins(const HgFlatGraph *graph)
{
	return (uint32) 1 << graph->shape.bins_log2;
}

static int64
hg_replica_key(const HgFlatGraph *graph, const void *keys, uint64 i)
{
	return graph->shape.key_width == sizeof(int32) ? ((const int32 *) keys)[i]
												   : ((const int64 *) keys)[i];
}

/* ---------------------------------------------------------------------
 * Partitioning ---------------------------------------------------------------------
 */

/* Reads the next bin; returns false if is_left returned true. */
static bool
hg_replica_scan(const HgFlatGraph *graph, uint32 bin, bool (*is_left)(void), const void **keys,
				const uint32_t **rows, uint64 *count)
{
	CHECK_FOR_INTERRUPTS();
	if (is_left())
		return false;
	*count = hg_flat_scan(graph, bin, keys, rows);
	return true;
}

/* Computes how many words of bits each part needs; returns false if is_left returned true. */
static bool
hg_replica_measure(const HgFlatGraph *graph, uint32 parts, uint32 *words, bool (*is_left)(void))
{
	memset(words, 0, parts * sizeof(uint32));
	for (uint32 bin = 0; bin < hg_replica_bins(graph); bin++)
	{
		const void *keys;
		const uint32_t *rows;
		uint64 count;

		if (!hg_replica_scan(graph, bin, is_left, &keys, &rows, &count))
			return false;
		for (uint64 i = 0; i < count; i++)
		{
			const uint32 part = HG_FLAT_PART(rows[i]);

			Assert(part < parts);
			words[part] = Max(words[part], HG_FLAT_NUMBER(rows[i]) / 64 + 1);
		}
	}
	return true;
}

/* Sets the bit of each row in its partition; returns false if is_left returned true. */
static bool
hg_replica_mark(const HgFlatGraph *graph, const HgPartitioning *view, bool (*is_left)(void))
{
	for (uint32 bin = 0; bin < hg_replica_bins(graph); bin++)
	{
		const void *keys;
		const uint32_t *rows;
		uint64 count;

		if (!hg_replica_scan(graph, bin, is_left, &keys, &rows, &count))
			return false;
		for (uint64 i = 0; i < count; i++)
		{
			const uint32 partition = hg_partition_of(view->count, hg_replica_key(graph, keys, i));
			const uint32 number = HG_FLAT_NUMBER(rows[i]);
			uint64 *bits =
				unconstify(uint64 *, hg_partition_bits(view, partition, HG_FLAT_PART(rows[i])));

			bits[number / 64] |= UINT64CONST(1) << number % 64;
		}
	}
	return true;
}

/*
 * Allocates a partitioning over these devices, in the claim.  It is complete if the version has
 * been partitioned into as many partitions before.  Returns invalid if there is no room.
 */
static dsa_pointer
hg_replica_make_room(HgResidentClaim *claim, HgResidentRelation key, const HgPinnedGraph *graph,
					 HgDeviceSet device_set, const uint32 *words)
{
	const uint32 count = (uint32) pg_popcount32(device_set);
	const HgGraphPartitions *like =
		hg_graph_version_partitions_into(hg_graph_version(graph->pointer), count);
	const uint32 parts = Max(graph->nsegments, 1);
	Size bytes = sizeof(HgGraphPartitions);

	for (uint32 part = 0; part < parts && like == NULL; part++)
		bytes += (Size) count * (words[part] + 1) * sizeof(uint64);
	for (;;)
	{
		dsa_pointer pointer = like != NULL
								  ? hg_graph_partitions_make_like(claim, device_set, like)
								  : hg_graph_partitions_make(claim, device_set, parts, words);

		if (DsaPointerIsValid(pointer))
			return pointer;
		hg_resident_claim_release(claim);
		if (hg_eviction_make_room(key, bytes, false) == 0)
			return InvalidDsaPointer;
	}
}

/* Computes a partitioning, in the claim; returns false if is_left returned true. */
static bool
hg_replica_partition_new(HgResidentClaim *claim, HgResidentRelation key, const HgPinnedGraph *graph,
						 HgDeviceSet device_set, bool (*is_left)(void))
{
	HgResidentGraph *version = hg_graph_version(graph->pointer);
	const uint32 parts = Max(graph->nsegments, 1);
	uint32 *words = palloc(parts * sizeof(uint32));
	dsa_pointer pointer;

	if (!hg_replica_measure(&graph->flat, parts, words, is_left))
		return false;
	pointer = hg_replica_make_room(claim, key, graph, device_set, words);
	if (!DsaPointerIsValid(pointer))
		ereport(DEBUG1, (errmsg_internal("there is no room to tell how a HashGraph is cut")));
	else if (!hg_graph_partitions(pointer)->shares_arrays)
	{
		HgPartitioning view;

		hg_graph_partitions_view(hg_graph_partitions(pointer), CurrentMemoryContext, &view);
		if (!hg_replica_mark(&graph->flat, &view, is_left))
			return false;
		hg_graph_partitions_count(hg_graph_partitions(pointer), &view);
	}
	hg_graph_version_link_partitions(version, pointer);
	hg_resident_claim_keep(claim);
	return true;
}

bool
hg_replica_partition(HgResidentRelation key, const HgPinnedGraph *graph, HgDeviceSet device_set,
					 bool (*is_left)(void))
{
	HgResidentGraph *version = hg_graph_version(graph->pointer);
	const dsa_pointer pointer = hg_graph_version_partitions_over(version, device_set);
	HgResidentClaim *claim;

	if (DsaPointerIsValid(pointer))
	{
		hg_graph_version_link_partitions(version, pointer);
		return true;
	}
	claim = palloc(sizeof(HgResidentClaim));
	hg_resident_claim_open(claim, CurrentMemoryContext);
	if (hg_replica_partition_new(claim, key, graph, device_set, is_left))
		return true;
	hg_resident_claim_release(claim);
	return false;
}

/* ---------------------------------------------------------------------
 * Co-partitioning ---------------------------------------------------------------------
 */

/* Returns true if a partition of with has this row of graph, which is co-partitioned with it. */
static bool
hg_replica_has_copartition(const HgPinnedGraph *graph, const HgPinnedGraph *with,
						   const HgPartitioning *partitions, uint32 partition, uint32 row)
{
	const uint32 part = HG_FLAT_PART(row);
	const uint32 number = HG_FLAT_NUMBER(row);

	return part < with->nsegments && graph->serials[part] == with->serials[part] &&
		   number / 64 < partitions->words[part] &&
		   (hg_partition_bits(partitions, partition, part)[number / 64] >> number % 64 & 1) != 0;
}

bool
hg_replica_count_copartition(const HgPinnedGraph *graph, const HgPinnedGraph *with,
							 const HgPartitioning *partitions, uint64 *rows, bool (*is_left)(void))
{
	memset(rows, 0, partitions->count * sizeof(uint64));
	for (uint32 bin = 0; bin < hg_replica_bins(&graph->flat); bin++)
	{
		const void *keys;
		const uint32_t *of_bin;
		uint64 count;

		if (!hg_replica_scan(&graph->flat, bin, is_left, &keys, &of_bin, &count))
			return false;
		for (uint64 i = 0; i < count; i++)
			for (uint32 partition = 0; partition < partitions->count; partition++)
				rows[partition] +=
					hg_replica_has_copartition(graph, with, partitions, partition, of_bin[i]);
	}
	return true;
}

/* ---------------------------------------------------------------------
 * Sending
 * ---------------------------------------------------------------------
 */

/* Returns the ranks of a partition's bits in all parts, [parts]. */
static uint32 **
hg_replica_ranks(const HgPartitioning *partitions, uint32 partition)
{
	uint32 **ranks = palloc(partitions->parts * sizeof(uint32 *));

	for (uint32 part = 0; part < partitions->parts; part++)
	{
		ranks[part] = palloc(hg_partition_ranks(partitions->words[part]) * sizeof(uint32));
		hg_partition_rank_all(hg_partition_bits(partitions, partition, part),
							  partitions->words[part], ranks[part]);
	}
	return ranks;
}

static void
hg_replica_free_ranks(uint32 **ranks, uint32 parts)
{
	for (uint32 part = 0; part < parts; part++)
		pfree(ranks[part]);
	pfree(ranks);
}

/* Edges of a partition that are collected for sending. */
typedef struct HgPartitionEdges
{
	char *keys;
	uint32 *rows;
	uint64 count;
} HgPartitionEdges;

static HgStatus
hg_replica_flush(HgEngine *engine, HgJob *job, HgPartitionEdges *edges, HgError *error)
{
	const uint64 count = edges->count;

	edges->count = 0;
	return count > 0 ? engine->store->put_edges(job, edges->keys, edges->rows, count, error)
					 : HG_OK;
}

/* Returns true if the i-th edge is of the partition. */
static bool
hg_replica_is_of(const HgReplicaPartition *partition, const void *keys, const uint32_t *rows,
				 uint64 i)
{
	if (partition->with != NULL)
		return hg_replica_has_copartition(partition->graph, partition->with, partition->partitions,
										  partition->partition, rows[i]);
	return hg_partition_of(partition->partitions->count,
						   hg_replica_key(&partition->graph->flat, keys, i)) ==
		   partition->partition;
}

/* Sends those edges of a bin that are of the partition, with their row numbers in it. */
static HgStatus
hg_replica_put_bin(HgEngine *engine, HgJob *job, const HgReplicaPartition *partition, uint32 bin,
				   uint32 **ranks, HgPartitionEdges *edges, HgError *error)
{
	const HgPartitioning *partitions = partition->partitions;
	const uint32 width = partition->graph->flat.shape.key_width;
	const void *keys;
	const uint32_t *rows;
	const uint64 count = hg_flat_scan(&partition->graph->flat, bin, &keys, &rows);
	HgStatus status = HG_OK;

	for (uint64 i = 0; i < count && status == HG_OK; i++)
	{
		const uint32 part = HG_FLAT_PART(rows[i]);

		if (!hg_replica_is_of(partition, keys, rows, i))
			continue;
		memcpy(edges->keys + edges->count * width, (const char *) keys + i * width, width);
		edges->rows[edges->count++] =
			(uint32) hg_partition_before(partitions, partition->partition, part) +
			hg_partition_rank(hg_partition_bits(partitions, partition->partition, part),
							  ranks[part], HG_FLAT_NUMBER(rows[i]));
		if (edges->count == HG_PARTITION_EDGES)
			status = hg_replica_flush(engine, job, edges, error);
	}
	return status;
}

HgStatus
hg_replica_put_partition(HgEngine *engine, HgJob *job, const HgReplicaPartition *partition,
						 HgError *error)
{
	const HgFlatGraph *graph = &partition->graph->flat;
	uint32 **ranks = hg_replica_ranks(partition->partitions, partition->partition);
	HgPartitionEdges edges = {.keys = palloc((Size) HG_PARTITION_EDGES * graph->shape.key_width),
							  .rows = palloc(HG_PARTITION_EDGES * sizeof(uint32))};
	HgStatus status = HG_OK;

	for (uint32 bin = 0; bin < hg_replica_bins(graph) && status == HG_OK; bin++)
		status = hg_replica_put_bin(engine, job, partition, bin, ranks, &edges, error);
	if (status == HG_OK)
		status = hg_replica_flush(engine, job, &edges, error);
	hg_replica_free_ranks(ranks, partition->partitions->parts);
	pfree(edges.keys);
	pfree(edges.rows);
	return status;
}

uint32
hg_replica_select_partition(const HgPartitioning *partitions, uint32 partition, uint32 part,
							uint32 first, uint32 count, uint32 width, const void *values,
							const uint8 *nulls, void *to, uint8 *nulls_to, uint64 *number)
{
	const uint64_t *bits = hg_partition_bits(partitions, partition, part);
	const uint32 end = Min((first + count + 63) / 64, partitions->words[part]);
	uint32 selected = 0;

	*number = hg_partition_before(partitions, partition, part);
	for (uint32 word = 0; word < Min(first / 64, partitions->words[part]); word++)
		*number += pg_popcount64(bits[word]);
	for (uint32 word = first / 64; word < end; word++)
		for (uint64 left = bits[word]; left != 0; left &= left - 1)
		{
			const uint32 row = word * 64 + (uint32) pg_rightmost_one_pos64(left) - first;

			memcpy((char *) to + (Size) selected * width,
				   (const char *) values + (Size) row * width, width);
			if (nulls != NULL)
				nulls_to[selected] = nulls[row];
			selected++;
		}
	return selected;
}
