/*-------------------------------------------------------------------------
 *
 * hg_partitioning.h
 *	  Partitioned graph replicas: each of several devices has one partition.
 *
 * A graph that is too large for one device is divided into PARTITIONS by the ranges that its keys
 * are in (hg_exchange.h): partition s of n has those from s * HG_EXCHANGE_PARTS / n on.  All rows
 * of a key are in one partition, and those of the same key of another graph in the partition of the
 * same number, if that is partitioned into as many.  So two such graphs are joined partition by
 * partition, with nothing exchanged; and one of them is so with a graph that each of the devices
 * has whole.
 *
 * ROWS of a partition have numbers of their own: 0, 1, 2 ... in the order of those that the graph
 * has for them.  A partition is a graph replica like any other then (hg_replica.h), whose rows'
 * ordinals in columns are their numbers: columns of partitions have no gaps, and all partitions
 * together are as large as the graph.  Rows that the graph has not, as their keys are NULL, are in
 * none.
 *
 * WHICH ROWS a partition has is told by a bit for each row number, part of the graph by part of it.
 * A row's number in the partition is how many of the partition's bits are set before its own.
 *
 * ALONG. Where rows of a graph that is partitioned look others up (hg_replica.h), the graph by
 * which they do it is one of the same rows by another key, and is CO-PARTITIONED with it: each of
 * its rows is in the partition, and has the number there, that it has of the graph that is
 * partitioned.  Those that this one has not are in none.  Rows that are looked up are whole on each
 * device; or they are partitioned by the keys that they are found by, where those that look up are
 * partitioned by these too: what a row finds is in the partition of the same number then.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PARTITIONING_H
#define HG_PARTITIONING_H

#include "hg_exchange.h"
#include "hg_replica.h"

/* The partitioning of a graph.  The arrays are the owner's. */
typedef struct HgPartitioning
{
	uint32_t count; /* 2 .. HG_MAX_SHARDS */
	uint32_t parts; /* of the graph */

	/* [parts]: words that a partition's bits of a part take */
	const uint32_t *words;

	/* [parts] of [count * words[part]], those of partition s from word s * words[part] on */
	const uint64_t *const *bits;

	/*
	 * [count * (parts + 1)]: rows of partition s in parts before p are before[s * (parts + 1) + p]
	 */
	const uint64_t *before;
} HgPartitioning;

/*
 * How rows of partitions look others up: a graph by another key of theirs is co-partitioned with
 * theirs.
 */
typedef struct HgCopartition
{
	uint32_t
		partitioning; /* of those of the other graph: part of the names of partitions, below
					   * HG_MAX_COPARTITIONS; 0: it is the graph that is partitioned itself ... */
	const HgPartitioning
		*found;			  /* ... and then how what is looked up is partitioned; NULL: it is whole */
	const uint64_t *rows; /* [count] that another graph has in each partition */
} HgCopartition;

/* One graph is co-partitioned with others, or with the same anew, less often than that. */
#define HG_MAX_COPARTITIONS 256

/* The partition, of so many, of the rows with this key. */
static inline uint32_t
hg_partition_of(uint32_t count, int64_t key)
{
	return hg_exchange_part64(hg_mix64((uint64_t) key)) * count >> HG_EXCHANGE_BITS;
}

/* The bits of a partition in a part. */
static inline const uint64_t *
hg_partition_bits(const HgPartitioning *partitions, uint32_t partition, uint32_t part)
{
	return partitions->bits[part] + (size_t) partition * partitions->words[part];
}

/* The rows of a partition in parts before this one; and of the whole partition. */
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

/* Count the rows before each part, before[count * (parts + 1)], once all bits are set. */
extern void hg_partitions_count(const HgPartitioning *partitions, uint64_t *before);

/* What a partition of something of this name goes by: a number that is never 0. */
extern uint32_t hg_partition_number(uint32_t count, uint32_t partition);

/* The same of a graph that is co-partitioned with others: by the number of its cut, or 0. */
extern uint32_t hg_copartition_number(uint32_t partitioning, uint32_t count, uint32_t partition);

/* The shape of a partition, of keys that are so wide; and that of a column of its rows. */
extern HgReplicaShape hg_partition_shape(const HgPartitioning *partitions, uint32_t partition,
										 uint32_t key_width);
extern HgReplicaColumnShape hg_partition_column_shape(const HgPartitioning *partitions,
													  uint32_t partition, uint32_t width);

/* The shape of the partition of a graph that is co-partitioned, with so many of its rows. */
extern HgReplicaShape hg_copartition_shape(const HgPartitioning *partitions, uint32_t partition,
										   uint32_t key_width, uint64_t rows);

/*
 * NUMBERS of many rows in a partition: with the ranks of a part, which are those of every
 * HG_PARTITION_RANK_WORDS words of its bits.
 */
#define HG_PARTITION_RANK_WORDS 8

static inline uint32_t
hg_partition_ranks(uint32_t words)
{
	return words / HG_PARTITION_RANK_WORDS + 1;
}

/*
 * Count them, ranks[hg_partition_ranks(words)]: bits that are set before the first of these words.
 */
extern void hg_partition_rank_all(const uint64_t *bits, uint32_t words, uint32_t *ranks);

/* Bits that are set before this one. */
extern uint32_t hg_partition_rank(const uint64_t *bits, const uint32_t *ranks, uint32_t number);

/*
 * MASKS. Which rows of a part count is told by count of its words, from this one on, or, where
 * words are NULL, none does.  Have the mask of a partition tell it: bits by the numbers that its
 * rows have there.
 */
extern void hg_partition_mask(const HgPartitioning *partitions, uint32_t partition, uint32_t part,
							  uint32_t first, const uint64_t *words, uint32_t count,
							  uint64_t *mask);

/* Words of the mask of a partition; and bytes of those of all partitions together. */
static inline uint64_t
hg_partition_mask_words(const HgPartitioning *partitions, uint32_t partition)
{
	return (hg_partition_rows(partitions, partition) + 63) / 64;
}

extern uint64_t hg_partitions_mask_bytes(const HgPartitioning *partitions);

#endif /* HG_PARTITIONING_H */
