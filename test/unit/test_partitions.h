/*-------------------------------------------------------------------------
 *
 * test_partitions.h
 *	  Sides of joins that are partitioned, each a side of its own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_PARTITIONS_H
#define TEST_PARTITIONS_H

#include "../../src/engine/hg_partitioning.h"
#include "test_replica_side.h"

/* A side that is partitioned, and its partitions. */
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
 * Cut a side, and make replicas of its partitions; true where each row has a number of its own, in
 * order.
 */
extern bool test_partitions_create(TestPartitions *partitioning, HgEngine *engine,
								   const HgHost *host, const TestReplicaSide *side, uint32_t count);
extern void test_partitions_destroy(TestPartitions *partitioning, HgEngine *engine);

/* Has a partition this row?  And the number of one that it has. */
extern bool test_partitions_has(const TestPartitions *partitioning, uint32_t partition,
								uint32_t row);
extern uint32_t test_partitions_number(const TestPartitions *partitioning, uint32_t partition,
									   uint32_t row);

#endif /* TEST_PARTITIONS_H */
