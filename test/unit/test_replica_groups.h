/*-------------------------------------------------------------------------
 *
 * test_replica_groups.h
 *	  Groups of the matches of sides with columns, and values that come with the matches.
 *
 * The right groups come from sorting all pairs by their keys: that shares nothing with what it
 * tests.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_REPLICA_GROUPS_H
#define TEST_REPLICA_GROUPS_H

#include "test_replica_side.h"

#include "../../src/engine/hg_reduce.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Records, sorted, with 0 for what is undefined in them. */
	typedef struct TestReplicaGroups
	{
		uint64_t *words;
		uint64_t count;
	} TestReplicaGroups;

	/*
	 * Draw what to ask: of the columns of two sides, or of the outer one alone, by so many keys,
	 * where there are any columns.
	 */
	extern void test_replica_draw_reduce(HgReduceSpec *spec, const TestReplicaSide *outer,
										 const TestReplicaSide *inner, bool outer_alone,
										 uint32_t nkeys, uint64_t *state);

	/* The groups of sorted pairs: of FIRST, where only outer columns are asked for. */
	extern void test_replica_naive_groups(const TestReplicaSide *outer,
										  const TestReplicaSide *inner,
										  const TestReplicaPairs *pairs, HgMatchMode mode,
										  const HgReduceSpec *spec, TestReplicaGroups *groups);

	/*
	 * Fetch count groups, in chunks of some capacity, and sort them.  HG_INVALID where they are not
	 * as many.
	 */
	extern HgStatus test_replica_fetch_groups(HgEngine *engine, HgJob *job,
											  const HgReduceSpec *spec, uint64_t count,
											  size_t capacity, TestReplicaGroups *groups,
											  HgError *error);

	extern bool test_replica_groups_equal(const TestReplicaGroups *groups,
										  const TestReplicaGroups *wanted,
										  const HgReduceSpec *spec);

	/*
	 * Take the next pairs of a stream, at most so many chunks of capacity, with the values of all
	 * columns but those that a number says, bit side * HG_MAX_COLUMNS + column.  HG_INVALID where
	 * one is wrong.
	 */
	extern HgStatus test_replica_read_values(HgEngine *engine, HgJob *job,
											 const TestReplicaSide *outer,
											 const TestReplicaSide *inner, size_t capacity,
											 uint64_t chunks, uint32_t unwanted,
											 TestReplicaPairs *pairs, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_REPLICA_GROUPS_H */
