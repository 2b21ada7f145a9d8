/*-------------------------------------------------------------------------
 *
 * test_cut.h
 *	  Sides of joins that are cut into slices, each a side of its own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUT_H
#define TEST_CUT_H

#include "../../src/engine/hg_slices.h"
#include "test_replica_side.h"

/* A side that is cut, and its slices. */
typedef struct TestCut
{
	const TestReplicaSide *side;
	HgSlices slices;
	uint32_t *words;
	uint64_t **bits;
	uint64_t *before;
	TestReplicaSide slice[HG_MAX_SHARDS];
} TestCut;

/*
 * Cut a side, and make replicas of its slices; true where each row has a number of its own, in
 * order.
 */
extern bool test_cut_create(TestCut *cut, HgEngine *engine, const HgHost *host,
							const TestReplicaSide *side, uint32_t count);
extern void test_cut_destroy(TestCut *cut, HgEngine *engine);

/* Has a slice this row?  And the number of one that it has. */
extern bool test_cut_has(const TestCut *cut, uint32_t slice, uint32_t row);
extern uint32_t test_cut_number(const TestCut *cut, uint32_t slice, uint32_t row);

#endif /* TEST_CUT_H */
