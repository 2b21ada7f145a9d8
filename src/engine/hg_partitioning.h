/*-------------------------------------------------------------------------
 *
 * hg_partitioning.h
 *	  Partitioned graph replicas: each of several devices has one partition.
 *
 * A graph that is too large for one device is divided into PARTITIONS by key, along the parts of
 * hg_exchange.h: partition s of n has the parts from s * HG_EXCHANGE_PARTS / n on.  All rows of a
 * key are in one partition.  Another graph with as many partitions has its rows of that key in the
 * partition of the same number.  So two such graphs are joined partition by partition without an
 * exchange of rows, and so is a partitioned graph with a graph that each device has whole.
 *
 * ROWS of a partition are renumbered 0, 1, 2 and so on, in the order of their numbers in the
 * graph.  A partition is then a graph replica like any other (hg_replica.h), and a row's ordinal
 * in columns is its number.  Columns of partitions have no gaps, and all partitions together are
 * as large as the graph.  Rows that the graph does not have, because their keys are NULL, are in
 * no partition.
 *
 * MEMBERSHIP of each partition is a bit for each row number, for each part of the graph.  A row's
 * number in its partition is the number of the partition's bits that are set before its own.
 *
 * CO-PARTITIONING.  Rows of a partitioned graph can look up other rows (hg_replica.h).  The graph
 * that they use for that has the same rows by another key, and is CO-PARTITIONED: each of its rows
 * is in the partition, and has the number there, that it has in the partitioned graph.  Rows that
 * the partitioned graph does not have are in no partition.  The rows that are looked up are either
 * whole on each device, or partitioned by the keys that find them.  In the latter case the rows
 * that look up must be partitioned by these keys too, so that a row finds only rows in the
 * partition of the same number.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PARTITIONING_H
#define HG_PARTITIONING_H

#include "hg_exchange.h"
#include "hg_replica.h"

/* The partitioning of a graph.  The arrays belong to its owner. */
typedef struct HgPartitioning
{
	uint32_t count; /* 2 .. HG_MAX_SHARDS */
	uint32_t parts; /* of the graph */

	/* [parts]: number of words of one partition's bits for a part */
	const uint32_t *words;

	/* [parts] of [count * words[part]]: bits of partition s are from word s * words[part] on */
	const uint64_t *const *bits;

	/* [count * (parts + 1)]: before[s * (parts + 1) + p] rows of partition s are before part p */
	const uint64_t *before;
} HgPartitioning;

/* How the rows of a partitioned side look others up. */
typedef struct HgCopartition
{
	/*
	 * Number of the side's partitioning, part of the replica's name, below HG_MAX_COPARTITIONS.
	 * 0: the lookup's own graph is the partitioned graph itself.
	 */
	uint32_t partitioning;
	const HgPartitioning *found; /* of the graph that is looked up; or NULL */
	const uint64_t *rows;		 /* [count] rows of the own graph, if it is another */
} HgCopartition;

/* Upper bound, exclusive, of the numbers of co-partitionings of a graph. */
#define HG_MAX_COPARTITIONS 256

/* Returns the partition, of count, of the rows with this key. */
static inline uint32_t
hg_partition_of(uint32_t count, int64_t key)
{
	return hg_exchange_part64(hg_mix64((uint64_t) key)) * count >> HG_EXCHANGE_BITS;
}

/* Returns the bits of a partition for a part. */
static inline const uint64_t *
hg_partition_bits(const HgPartitioning *partitions, uint32_t partition, uint32_t part)
{
	return partitions->bits[part] + (size_t) partition * partitions->words[part];
}

/*
 * hg_partition_before returns how many rows of a partition are in parts before this one;
 * hg_partition_rows returns how many rows the partition has.
 */
static inline uint64_t
hg_partition_before(const HgPartitioning *partitions, uint32_t partition, uint32_t part)
{
	return partitions->before[(size_t) partition * (partitions->parts + 1) + part];
}

static inline uint64_t
hg_partition_rows(const HgPartitioning *partitions, uint32_t partition)
{
	return hg_partition_before(partitions, partition, partitions->parts);
}

/* Counts the rows before each part into before[count * (parts + 1)], once all bits are set. */
extern void hg_partitions_count(const HgPartitioning *partitions, uint64_t *before);

/* Returns the partition field of a partition's name (HgReplicaName), which is never 0. */
extern uint32_t hg_partition_number(uint32_t count, uint32_t partition);

/* Returns that field for a co-partitioned graph; partitioning is as in HgCopartition. */
extern uint32_t hg_copartition_number(uint32_t partitioning, uint32_t count, uint32_t partition);

/* Return the shape of a partition with keys of this width, and of a column of its rows. */
extern HgReplicaShape hg_partition_shape(const HgPartitioning *partitions, uint32_t partition,
										 uint32_t key_width);
extern HgReplicaColumnShape hg_partition_column_shape(const HgPartitioning *partitions,
													  uint32_t partition, uint32_t width);

/* Returns the shape of a partition of a graph co-partitioned with partitions; it has rows rows. */
extern HgReplicaShape hg_copartition_shape(const HgPartitioning *partitions, uint32_t partition,
										   uint32_t key_width, uint64_t rows);

/*
 * RANKS speed up the computation of many rows' numbers in a partition.  A part has one rank for
 * each HG_PARTITION_RANK_WORDS words of its bits; hg_partition_ranks returns the size of the
 * array.
 */
#define HG_PARTITION_RANK_WORDS 8

static inline uint32_t
hg_partition_ranks(uint32_t words)
{
	return words / HG_PARTITION_RANK_WORDS + 1;
}

/* Sets ranks[hg_partition_ranks(words)]: bits set before every HG_PARTITION_RANK_WORDS words. */
extern void hg_partition_rank_all(const uint64_t *bits, uint32_t words, uint32_t *ranks);

/* Returns how many bits are set before bit `number` in bits, whose ranks were set. */
extern uint32_t hg_partition_rank(const uint64_t *bits, const uint32_t *ranks, uint32_t number);

/*
 * Copies words[count] of the mask of a part of the whole graph, from the part's word first on, to
 * mask, the mask of a partition, whose bits are by the rows' numbers there.  words NULL means that
 * all bits are 0.
 */
extern void hg_partition_mask(const HgPartitioning *partitions, uint32_t partition, uint32_t part,
							  uint32_t first, const uint64_t *words, uint32_t count,
							  uint64_t *mask);

/*
 * hg_partition_mask_words returns the words of a partition's mask; hg_partitions_mask_bytes
 * returns the bytes of the masks of all partitions.
 */
static inline uint64_t
hg_partition_mask_words(const HgPartitioning *partitions, uint32_t partition)
{
	return (hg_partition_rows(partitions, partition) + 63) / 64;
}

extern uint64_t hg_partitions_mask_bytes(const HgPartitioning *partitions);

#endif /* HG_PARTITIONING_H */
