/*-------------------------------------------------------------------------
 *
 * test_partitions.h
 *	  Partitions of a side of a join, each as a side of its own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_PARTITIONS_H
#define TEST_PARTITIONS_H

#include "../../src/engine/hg_partitioning.h"
#include "test_replica_side.h"

/* The partitions of a side. */
typedef struct TestPartitions
{
	const TestReplicaSide *side;
	HgPartitioning partitions;
	uint32_t *words;
	uint64_t **bits;
	uint64_t *before;
	TestReplicaSide partition[HG_MAX_SHARDS];
} TestPartitions;

/*
 * create divides a side, and makes replicas of its partitions.  Returns true if each partition has
 * its rows, numbered from 0 without gaps.  destroy releases and frees all.
 */
extern bool test_partitions_create(TestPartitions *partitioning, HgEngine *engine,
								   const HgHost *host, const TestReplicaSide *side, uint32_t count);
extern void test_partitions_destroy(TestPartitions *partitioning, HgEngine *engine);

/* Return whether a partition has a row of the side, and the number of that row in it. */
extern bool test_partitions_has(const TestPartitions *partitioning, uint32_t partition,
								uint32_t row);
extern uint32_t test_partitions_number(const TestPartitions *partitioning, uint32_t partition,
									   uint32_t row);

#endif /* TEST_PARTITIONS_H */
