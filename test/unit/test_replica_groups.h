/*-------------------------------------------------------------------------
 *
 * test_replica_groups.h
 *	  Groups of the matches of sides with columns, and values that come with matches.
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

	/* Sorted records, in which undefined values are 0. */
	typedef struct TestReplicaGroups
	{
		uint64_t *words;
		uint64_t count;
	} TestReplicaGroups;

	/*
	 * Draws a reduction with nkeys keys over columns of two sides, or of the outer one only.
	 * Without columns it has neither keys nor items.
	 */
	extern void test_replica_draw_reduce(HgReduceSpec *spec, const TestReplicaSide *outer,
										 const TestReplicaSide *inner, bool outer_alone,
										 uint32_t nkeys, uint64_t *state);

	/* Computes the groups of sorted pairs; with HG_MATCH_FIRST only outer columns may be used. */
	extern void test_replica_naive_groups(const TestReplicaSide *outer,
										  const TestReplicaSide *inner,
										  const TestReplicaPairs *pairs, HgMatchMode mode,
										  const HgReduceSpec *spec, TestReplicaGroups *groups);

	/*
	 * Fetches count groups, in chunks of capacity, and sorts them.  Returns HG_INVALID if their
	 * number is not count.
	 */
	extern HgStatus test_replica_fetch_groups(HgEngine *engine, HgJob *job,
											  const HgReduceSpec *spec, uint64_t count,
											  size_t capacity, TestReplicaGroups *groups,
											  HgError *error);

	/* Returns true if two results of a reduction are the same. */
	extern bool test_replica_groups_equal(const TestReplicaGroups *groups,
										  const TestReplicaGroups *wanted,
										  const HgReduceSpec *spec);

	/*
	 * Reads the next pairs of a stream, at most chunks chunks of capacity, with the values of all
	 * columns except those with bit side * HG_MAX_COLUMNS + column of unwanted.  Returns
	 * HG_INVALID if a value is wrong.
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
